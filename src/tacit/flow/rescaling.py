"""The late phase at any depth: the weights are divided by their own growth.

Far down, the direction of the weights follows the steepest ascent of the smallest margin, and that
does not depend on their size: with both layers trained, c·θ goes the way of θ, at the same pace in
s. So the weights are kept at the size at which rounding just does not hide p in the margins, and
what they are too small by is counted as a logarithm. The nearest samples then differ by about 1e-7
of their margin, where on the path itself, far below, they differ by less.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.flow.exponential_tail import Weights
from tacit.flow.implicit_steps import Shrink, count
from tacit.flow.sizes import norms, sizes
from tacit.flow.stage import velocities
from tacit.flow.state import State
from tacit.flow.steps import rounding
from tacit.flow.tolerances import LOWEST, PATH, STEP


def growth(state: State, now: Weights) -> float:
    """d log‖θ‖/ds: the margins are homogeneous of degree 2, so ‖θ‖² grows by 4 Σ p_i q_i."""
    return 2 * float(now.p @ state.outputs()) / square_norm(state)


def shrinking(state: State, now: Weights) -> tuple[Shrink, float]:
    """By what the weights are divided while they grow, and how fast neurons still grow or shrink.

    What counts as less than one neuron keeps its size.
    """
    g, rate = velocities(state, now.p * state.planes.y), growth(state, now)
    grows = 2 * state.a * np.vecdot(g, state.W) / np.maximum(sizes(state) ** 2, 1e-300)
    own = np.where(state.copies < 1, grows, rate)
    # Within some turns a neuron grows at the rate of its pull, if there is where to turn to.
    turns = (state.side == 0).sum(axis=1) < state.W.shape[1] - 1
    left = np.maximum(np.abs(grows - own), np.where(turns, norms(g) - own, 0.0))
    # What counts as less counts as more again until it counts as one.
    missing = np.maximum(state.less - np.log(state.copies), PATH.far_growth)
    left = np.maximum(left, 2 * (own - rate) * PATH.far_growth / missing)
    return Shrink(rate, own), max(float(left[sizes(state) > 0].max(initial=0.0)), 1e-300)


def square_norm(state: State) -> float:
    """‖θ‖² of both layers."""
    return float(state.copies @ ((state.W**2).sum(axis=1) + state.a**2))


def excess(state: State) -> float:
    """The factor by which the margins are larger than where rounding does not hide p yet."""
    return 4 * rounding(state) / STEP.deep


def raise_small(state: State) -> None:
    """Multiply neurons that are all but 0 beside the others, and count them as less than one.

    Their squares would underflow; and however small, they may grow faster than the others later.
    """
    size, counts = sizes(state), np.log(state.copies) - state.less
    up = -math.log(PATH.underflows) / 2
    small = (size < PATH.underflows * size.max()) & (size > 0)
    large = (counts > 0) | ((counts < 0) & (size > math.exp(-up / 2) * size.max()))
    turn = np.where(small, up, np.where(large, np.maximum(counts / 2, -up), 0.0))
    if turn.any():
        factor = np.exp(turn)
        state.W, state.a, state.known = state.W * factor[:, None], state.a * factor, None
        count(state, counts - 2 * turn)


def shown(log_scale: float, log_L: float) -> tuple[float, float]:
    """log_scale up to where floating point ends, and what is beyond it."""
    most = math.log(LOWEST / log_L) if log_L < -1 else 0.0
    return min(log_scale, most), max(log_scale - most, 0.0)
