"""How near given weights are to a KKT point of the max-margin problem.

The problem is min ½‖θ‖² with q_i(θ) = y_i f_θ(x_i) ≥ 1 for all i, for a network that is homogeneous
of degree L in θ. A direction is a KKT point (lyu2021 Def. B.8) when all q_i are positive and θ is a
sum of λ_i ∂q_i(θ) with λ ≥ 0 that vanish off the smallest q_i. Everything here is said of
θ̂ = θ/‖θ‖ with q̂_i = q_i(θ̂), so that no scale enters, and of the best λ that could be found:

    stationarity     ‖θ̂ − Σ λ_i ∂q_i(θ̂)‖
    complementarity  L Σ λ_i (q̂_i − q̂_min)

Both are relative to 1: θ̂ has norm 1, and where both vanish Euler's identity gives L q̂_min Σλ = 1.
λ minimises the sum of their squares.
"""

from dataclasses import dataclass, field

import numpy as np

from tacit.numerics.float64 import EPS, TINY
from tacit.values import BadInput

FAR = 1e100
"""An excess q̂_i − q̂_min beyond this, relative to the point's gradient, never gets a multiplier."""


@dataclass(frozen=True, eq=False, repr=False)
class KKT:
    """Residuals of the KKT conditions, with the multipliers and masks they were computed from."""

    stationarity: float
    """‖θ̂ − Σ λ_i ∂q_i(θ̂)‖, from `multipliers` and `masks`."""
    feasibility: float
    """0 if and only if all q_i are positive beyond rounding, else |q_min| / max |q_i|, ≥ 5e-324."""
    complementarity: float
    """L Σ λ_i (q̂_i − q̂_min)."""
    multipliers: np.ndarray
    """λ ≥ 0, for θ̂."""
    margin: float
    """γ = q_min/‖θ‖^L, positive or not."""
    subdifferential: str
    """Which gradients of q_i were allowed at kinks, in words."""
    masks: dict[tuple[int, int], float] = field(default_factory=dict)
    """(neuron, point) → h in [α, 1], the slope used on the boundary w_k·x_i = 0; α without λ_i."""
    boundary: int = 0
    """Number of pairs on the boundary whose slope matters: a_k and x_i are not zero."""
    balance: float = float("nan")
    """Both layers trained: max | |a_k| − ‖w_k‖ | / ‖θ‖, 0 at KKT points (lyu2021 Lemma B.9)."""

    def __repr__(self) -> str:
        return (
            f"KKT residuals: stationarity {self.stationarity:.2e}, complementarity "
            f"{self.complementarity:.2e}, feasibility {self.feasibility:.2e}; "
            f"margin {self.margin:.6g}\n{self.subdifferential}"
        )

    @property
    def residual(self) -> float:
        """The largest of the three residuals."""
        return max(self.stationarity, self.complementarity, self.feasibility)

    def holds(self, tolerance: float) -> bool:
        """All q_i > 0, and both residuals are at most `tolerance`."""
        return self.feasibility == 0 and self.residual <= tolerance


def infeasibility(q: np.ndarray) -> float:
    """`KKT.feasibility` of margins q, in any unit."""
    smallest, largest = float(q.min()), float(np.abs(q).max())
    if smallest > 0:
        return 0.0
    # Never 0, which says that all q_i are positive.
    return max(-smallest / largest if largest > 0 else 0.0, TINY)


def excesses(q: np.ndarray, exponents: np.ndarray) -> tuple[np.ndarray, float]:
    """q̂_i − q̂_min in the unit 2^exponents_i of each point, and q̂_min in the largest unit.

    `q` is in these units too; they keep points of very different lengths apart from overflow.
    """
    largest = exponents.max()
    with np.errstate(over="ignore", under="ignore"):
        # All in the largest unit to find the smallest margin: what underflows there is smaller
        # anyway.
        smallest = float(np.ldexp(q, exponents - largest).min())
        excess = q - np.ldexp(smallest, largest - exponents)
    # A multiplier costs at least this much complementarity: infinite excesses would make nan of
    # 0·∞.
    return np.clip(excess, 0.0, FAR), smallest


def exponents_of(rows: np.ndarray) -> np.ndarray:
    """e with 2^e just above the largest entry of each row; rows of zeros get the largest e."""
    largest = np.maximum(rows.max(axis=1), -rows.min(axis=1))
    e = np.frexp(largest)[1].astype(np.int64)
    return np.where(largest > 0, e, e[largest > 0].max() if largest.any() else 0)


def without_rounding(values: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The values, with 0 for those that a relative error ε in terms of this size can explain."""
    return np.where(np.abs(values) > EPS * size, values, 0.0)


def lengths_of(rows: np.ndarray) -> np.ndarray:
    """Euclidean norms of rows with entries of ordinary size, without a copy of them."""
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))


def inverse(lengths: np.ndarray) -> np.ndarray:
    """1/length, and 0 where the length is 0, or so small that a float cannot hold this."""
    # The reciprocal of anything below 5.6e-309 is infinite; 1e-307 keeps products with it finite.
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths >= 1e-307)


def scaled(value: float | np.ndarray, exponents: int | np.ndarray) -> np.ndarray:
    """value · 2^exponents; infinite or 0 where a float ends."""
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(value, exponents)


def finite(name: str, array: object) -> np.ndarray:
    """The array as float64; BadInput unless every entry is a finite number."""
    try:
        values = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(f"{name} must be an array of numbers") from None
    if not np.isfinite(values).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise BadInput(
            f"{name} holds {values[place]} at {list(place)} (counted from 0); "
            "every entry must be a finite number"
        )
    return values


def labels(y: object, n: int) -> np.ndarray:
    """The labels as float64; BadInput unless there are n of them, each −1 or +1."""
    values = np.asarray(y)
    if values.shape != (n,) or n == 0:
        raise BadInput(f"y has shape {values.shape} and X has {n} rows; they must match, n ≥ 1")
    if not np.isin(values, (-1, 1)).all():
        raise BadInput("y holds other labels than −1 and +1; this problem has two classes")
    return values.astype(np.float64)
