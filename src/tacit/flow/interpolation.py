"""What happens between two moments of a path, whose steps are long while p hardly changes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tacit.flow.exponential_tail import Kind, weights
from tacit.flow.path import Moment
from tacit.flow.stage import Undecided, advance, velocities
from tacit.flow.state import State

STEP = 0.03
"""The change of the fastest neuron in one step, relative to its size."""
MOST = 3000
"""The number of such steps; the rest is done in a hundred."""


def between(before: Moment, after: Moment, kind: Kind) -> Iterator[Moment]:
    """The moments from one up to, but without, the other, in closed form with p fixed in each step.

    This is of first order in the step, and within a few percent of where the path is.
    """
    state, s, log_t = before.state.copy(), before.s, before.log_t
    for count in range(MOST + 100):
        now = weights(state.outputs(), kind)
        yield Moment(s, log_t, now.log_L, state)
        c = now.p * state.planes.y
        # do.
        h = STEP / _fastest(state, c) if count < MOST else (after.s - before.s) / 100
        if not s + h < after.s:
            return
        state = state.copy()
        try:
            advance(state, c, h)
        except Undecided:  # the path itself took other steps
            return
        # dt = ds/L: at these losses t itself has no float.
        s, log_t = s + h, float(np.logaddexp(log_t, math.log(h) - now.log_L))


def _fastest(state: State, c: np.ndarray) -> float:
    """The largest speed of a neuron, relative to its size."""
    size = np.linalg.norm(state.W, axis=1)
    moved = np.abs(state.a) * np.linalg.norm(velocities(state, c), axis=1)
    here = (size > 0) & (moved > 0)
    return float((moved[here] / size[here]).max(initial=1e-300))
