"""The error of an implicit step of second order."""

from __future__ import annotations

import numpy as np

from tacit.flow.implicit_steps import GAMMA, Landed
from tacit.flow.motion import RELEASE
from tacit.flow.sizes import rates, sizes
from tacit.flow.state import State
from tacit.flow.tolerances import STEP


def second_order_errors(
    state: State, begin: np.ndarray, early: Landed, landed: Landed, h: float
) -> np.ndarray:
    """The error of a step whose p is linear: what a parabola through p would change.

    It changes the mean of p, but only so far as the margins do not answer: p at the end is such
    that they are right, whatever it was on the way, so the error is filtered by Newton's matrix
    (Shampine & Baca 1984). What is left is that the neurons were pulled in another order: they grow
    and turn on the way, and, twice as much, they may meet a hyperplane.
    """
    new, events = landed.state, landed.state.events.rows
    first, c = early.now.p, 1 / 6 - GAMMA / 2
    wrong = c * ((landed.now.p - first) / (1 - GAMMA) - (first - begin) / GAMMA)

    def error(p: np.ndarray) -> np.ndarray:
        moved = h * np.maximum(*(rates(at, p) for at in (state, new)))
        return np.asarray(moved / np.maximum(sizes(new), 1e-300))

    order = error(wrong)
    kinks = np.zeros(len(order))
    met = events[(events[:, 2] != RELEASE) | (events[:, 3] > 0)]
    np.maximum.at(kinks, met[:, 0].astype(int), np.minimum(met[:, 4], STEP.most_bend))
    if landed.now.log_L >= STEP.filtered:
        return order + 2 * kinks * order
    grown = h * float((rates(new, landed.now.p) / np.maximum(sizes(new), 1e-300)).max())
    left = error(_left(wrong, early, landed, h))
    return np.minimum(2 * left + 4 * grown * order, order) + 2 * kinks * order


def _left(wrong: np.ndarray, early: Landed, landed: Landed, h: float) -> np.ndarray:
    """What is left of an error of the mean of p when p at the end has answered to it.

    With δq = R h (wrong + γ δp), and δ log p = −bend δq + the same for all samples, so that Σ p
    stays as it is.
    """
    found = [one for one in (landed.answer, early.answer) if one is not None]
    known = [float(np.abs(wrong[one.rows]).sum()) for one in found]
    if not found or max(known) < (1 - STEP.unknown) * float(np.abs(wrong).sum()):
        return wrong
    answer = found[int(np.argmax(known))]
    rows, p = answer.rows, landed.now.p[answer.rows]
    matrix = np.eye(len(rows)) + (GAMMA * h * p * landed.now.bend[rows])[:, None] * answer.rate
    try:
        solved = np.linalg.solve(matrix, np.column_stack([wrong[rows], p]))
    except np.linalg.LinAlgError:
        return wrong
    more = (wrong[rows] - solved[:, 0]).sum() / max(float(solved[:, 1].sum()), 1e-300)
    left = wrong.copy()
    left[rows] = solved[:, 0] + more * solved[:, 1]
    # Where the answer is not that of a path that damps, it says nothing of what is left.
    return left if float(np.abs(left).sum()) <= float(np.abs(wrong).sum()) else wrong
