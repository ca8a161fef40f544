"""What the flow did, as theorems are shown it."""

from bisect import bisect_left
from dataclasses import replace

from tacit.flow import Limit
from tacit.flow.path import Path
from tacit.flow.tolerances import LOWEST
from tacit.theorems import Observation, PathPoint
from tacit.values import Network

DEEPEST = LOWEST * (1 - 1e-9)
"""The log loss of moments that lie deeper is this, up to rounding."""


def observe(limit: Limit) -> Observation:
    """A limit and the path to it, as an observation."""
    way = observe_path(limit.path, limit.setting.alpha)
    return replace(way, limit=limit.network, outcome=limit.outcome, proved=limit.proved)


def observe_path(path: Path, alpha: float) -> Observation:
    """A path that was cut off, as an observation, as far down as weights are what they are.

    Deeper, beyond floating point, they are shown divided by their own growth.
    """
    moments = [moment for moment in path.moments if moment.log_L > DEEPEST]
    points = tuple(
        PathPoint(
            moment.log_t,
            moment.log_L,
            Network(moment.state.W, moment.state.a, alpha),
            moment.errors,
        )
        for moment in moments
    )
    times = [moment.s for moment in moments]
    events = tuple(
        (points[min(bisect_left(times, event.s), len(times) - 1)].time, event.neuron, event.what)
        for event in path.events
    )
    return Observation(points, None, "undecided", events=events)
