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
from tacit.flow.sizes import sizes
from tacit.flow.state import State
from tacit.flow.steps import rounding
from tacit.flow.tolerances import LOWEST, PATH, STEP


def growth(state: State, now: Weights) -> float:
    """d log‖θ‖/ds: the margins are homogeneous of degree 2, so ‖θ‖² grows by 4 Σ p_i q_i."""
    return 2 * float(now.p @ state.outputs()) / square_norm(state)


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
    size = sizes(state)
    share, factor = PATH.underflows, math.sqrt(PATH.underflows)
    small = (size < share * size.max()) & (size > 0)
    again = (state.copies < 1) & (size > math.sqrt(factor) * size.max())
    for rows, turn in ((small, 1 / factor), (again, factor)):
        if rows.any():
            state.W[rows], state.a[rows] = state.W[rows] * turn, state.a[rows] * turn
            # Beyond the last digit they count as more than they are, and would be back too soon.
            copies = np.maximum(state.copies[rows] / turn**2, share**2)
            state.copies = state.copies.copy()
            state.copies[rows] = np.minimum(copies, 1.0)
            state.known = None


def shown(log_scale: float, log_L: float) -> tuple[float, float]:
    """log_scale up to where floating point ends, and what is beyond it."""
    most = math.log(LOWEST / log_L) if log_L < -1 else 0.0
    return min(log_scale, most), max(log_scale - most, 0.0)
