"""The max-margin direction of one class alone: w₊ and w₋ of phuong2021."""

from dataclasses import dataclass

import numpy as np

from tacit.numerics.margin_solutions import (
    MarginSolution,
    objective_bounds,
    smallest_separator,
    support_rows,
)
from tacit.numerics.max_margin import Separability, max_margin
from tacit.values import Interval


@dataclass(frozen=True, eq=False)
class ClassMargin(MarginSolution):
    """The bounds are those of ‖w‖; both are inf when there is no w."""

    w: np.ndarray | None
    """w·x ≥ 1 for every point of the class; None unless `separable`."""
    rank: int | None
    """Dimensions that the support spans, to 1e-10 of the points' lengths."""


def class_margin(X: np.ndarray, y: np.ndarray, label: int) -> ClassMargin:
    """Solve min ‖w‖ subject to w·x ≥ 1 for the points x of one class; w = 0 if it has none."""
    X = np.asarray(X, dtype=np.float64)
    rows = np.flatnonzero(np.asarray(y) == label)
    multipliers = np.zeros(len(X))
    if len(rows) == 0:
        return ClassMargin(
            Separability.SEPARABLE, Interval(0.0, 0.0), rows, multipliers, np.zeros(X.shape[1]), 0
        )
    answer = max_margin(X[rows])  # (6), (7)
    multipliers[rows] = answer.multipliers
    chosen = support_rows(X[rows], answer)
    return ClassMargin(
        answer.status,
        objective_bounds(answer, 1),
        None if chosen is None else rows[chosen],
        multipliers,
        smallest_separator(answer),
        None if chosen is None else _rank(X[rows[chosen]]),
    )


def _rank(points: np.ndarray) -> int:
    """The rank of the points; long and short ones count alike."""
    if len(points) == 0:
        return 0
    # First by the largest entry: squares of very short points would underflow in the norm.
    points = points / np.abs(points).max(axis=1, keepdims=True)
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    # Rows of length 1: far above what rounding leaves of a zero, far below what data has by chance.
    return int((np.linalg.svd(unit, compute_uv=False) > 1e-10).sum())
