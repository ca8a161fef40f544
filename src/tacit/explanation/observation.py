"""What the flow did, in the words of theorems."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from tacit.flow import Limit
from tacit.theorems import Moment, Network, Run


def run_of(found: Limit) -> Run:
    """A limit and its path as a run."""
    alpha = found.setting.alpha
    moments = tuple(
        Moment(moment.log_t, moment.log_L, Network(moment.state.W, moment.state.a, alpha))
        for moment in found.path.moments
    )
    times = [moment.s for moment in found.path.moments]
    events = tuple(
        (moments[min(bisect_left(times, event.s), len(times) - 1)].time, event.neuron, event.what)
        for event in found.path.events
    )
    limit = None
    if found.W is not None and found.a is not None:
        limit = Network(found.W, found.a, alpha)
    return Run(moments, limit, found.outcome, events=events)


def up_to(run: Run, log10_loss: float) -> Run:
    """The run as if it had ended when the loss was that large; its limit is not known then."""
    early = [m for m in run.moments if m.log_loss >= log10_loss * np.log(10)]
    return Run(tuple(early or run.moments[:1]), None, run.outcome, events=run.events)
