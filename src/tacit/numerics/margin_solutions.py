"""Max-margin problems in the words of the papers: rows for `max_margin`, its answer put back.

The bounds of `max_margin` allow for entries that were rounded once, as α·x is in these rows; a
proof that nothing separates does not, so such a "no" is repeated on rows without α.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.numerics.float64 import EPS, TINY
from tacit.numerics.max_margin import MaxMargin, Separability, max_margin, support
from tacit.numerics.tolerances import MARGIN
from tacit.values import Interval


@dataclass(frozen=True, eq=False)
class MarginSolution:
    """What the solutions of problems min ‖w‖ subject to z_i·w ≥ 1 share."""

    status: Separability
    """`separable` when the problem has a solution; `undecided` when floating point cannot tell."""
    objective_bounds: Interval
    """Bounds of the smallest norm, or of its square: the subclass says which."""
    support: np.ndarray | None
    """Rows of X on the margin, to `MARGIN.support` of it: none without a solution, and None when it
    is not known well enough to tell them."""
    multipliers: np.ndarray
    """λ ≥ 0, one per row of X: of sum 1, with a solution along Σ λ_i z_i or a proof of none."""

    @property
    def gap(self) -> float:
        """(upper − lower)/upper; 0 where both are 0 or both are inf."""
        lower, upper = self.objective_bounds
        return 0.0 if lower == upper else self.objective_bounds.gap


def support_rows(Z: np.ndarray, answer: MaxMargin) -> np.ndarray | None:
    """The rows of Z on the margin; None when it is not known well enough to tell them."""
    if answer.status == Separability.NOT_SEPARABLE:
        return np.array([], dtype=np.intp)
    if answer.status == Separability.UNDECIDED or answer.gap > MARGIN.support:
        return None
    return support(Z, answer)


def smallest_separator(answer: MaxMargin) -> np.ndarray | None:
    """The smallest w with z_i·w ≥ 1; inf where no float can hold it."""
    if answer.status != Separability.SEPARABLE:
        return None
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        w = answer.direction / np.float64(answer.margin_bounds.lower)
        return np.where(answer.direction == 0, 0.0, w)


def objective_bounds(answer: MaxMargin, power: int) -> Interval:
    """Bounds of the smallest norm of a w with z_i·w ≥ 1 (power 1), or of its square (power 2)."""
    lower, upper = answer.margin_bounds
    return Interval(_inverse_margin(upper, power, 0.0), _inverse_margin(lower, power, np.inf))


def _inverse_margin(margin: float, power: int, towards: float) -> float:
    """margin^(−power) for power 1 or 2, rounded in the given direction; inf for no margin."""
    if margin <= 0:
        return np.inf
    value = 1 / margin
    value = value * value if power == 2 else value
    for _ in range(4):  # the result is off by less than four units in the last place
        value = math.nextafter(value, towards)
    return value


def confirm_without_alpha(
    answer: MaxMargin, rows: np.ndarray, parts: Sequence[np.ndarray], lengths: np.ndarray
) -> MaxMargin:
    """Repeat a "no" on rows without α: it is true iff one of these parts has no margin, either.

    A proof for `rows` becomes one for rows of other `lengths`.
    """
    if answer.status == Separability.SEPARABLE:
        return answer
    for part in parts:
        plain = max_margin(rows[part])
        if plain.status == Separability.NOT_SEPARABLE:
            multipliers = np.zeros(len(rows))
            # λ_i of rows with other lengths: λ_i z_i must stay the same up to one common factor.
            multipliers[part] = plain.multipliers * (lengths.min() / lengths[part])
            multipliers /= multipliers.sum()
            return replace(
                answer,
                status=Separability.NOT_SEPARABLE,
                margin_bounds=answer.margin_bounds._replace(upper=0.0),
                multipliers=multipliers,
            )
    if answer.status == Separability.UNDECIDED:
        return answer
    # Rows within rounding of these have no margin, so theirs is not larger than the rounding.
    rounding = EPS * math.sqrt(rows.shape[1]) * float(np.abs(rows).max()) + TINY * rows.shape[1]
    bounds = answer.margin_bounds._replace(upper=rounding)
    return replace(answer, status=Separability.UNDECIDED, margin_bounds=bounds)
