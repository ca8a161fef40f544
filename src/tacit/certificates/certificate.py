"""Is this network the best one? The KKT certificate and the global bounds, joined to a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.certificates.kkt import KKT
from tacit.certificates.kkt_two_layer import two_layer_kkt
from tacit.certificates.optima import Progress, Train, inverse
from tacit.numerics.convex_program import bracket, optimum
from tacit.numerics.fixed_output import fixed_optimum
from tacit.numerics.neurons import Neurons
from tacit.values import BadInput

Optimality = Literal["certified", "suboptimal", "bounded", "infeasible"]

SMALLEST_TOLERANCE = 1e-12
"""The margin of the weights is computed without a bound of its rounding error, which is smaller."""
TOLERANCE = 1e-6
"""Residuals, shortfalls of the margin and sines of angles to a kink up to this count as none."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """What given weights are: the KKT residuals, and where the margin stands among all networks."""

    kkt: KKT
    tolerance: float
    lower: float
    upper: float
    """The widest margin any network of the kind can have is between these; 0 and 0: there is none
    that fits the labels."""
    optimality: Optimality
    """certified: the margin is the widest, up to the tolerance; suboptimal: a network with a wider
    margin exists; bounded: neither was proved; infeasible: no network fits the labels."""

    @property
    def margin(self) -> float:
        return self.kkt.margin

    @property
    def is_kkt(self) -> bool:
        return self.kkt.holds(self.tolerance)

    @property
    def gap(self) -> float:
        """By what share the margin may be, or is, below the widest."""
        return 1 - max(self.margin, 0.0) / self.upper if self.upper > 0 else 0.0

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.kkt.feasibility > 0:
            return "Not a KKT point: it does not give every training point its label."
        if not self.is_kkt:
            residual = max(self.kkt.stationarity, self.kkt.complementarity)
            return f"Not a KKT point: the residual is {residual:.1e}; {self._wider}."
        if self.optimality == "certified":
            return f"A KKT point and the global optimum (at most {self.gap:.1e} short of it)."
        if self.optimality == "suboptimal":
            return f"A KKT point, not the global optimum: {self._wider}."
        return f"A KKT point; whether it is the global optimum is open: {self._wider}."

    @property
    def _wider(self) -> str:
        if self.upper - self.lower <= self.tolerance * self.upper:
            widest = f"the widest margin of all is {self.lower:.6g}"
        else:
            widest = f"the widest margin of all is between {self.lower:.6g} and {self.upper:.6g}"
        return f"{widest}, this one is {self.margin:.6g}"


def certify(
    W: np.ndarray,
    a: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    alpha: float = 0.0,
    train: Train = "both",
    tolerance: float = TOLERANCE,
    progress: Progress | None = None,
    seconds: float = math.inf,
) -> Certificate:
    """The certificate of the two-layer network f(x) = Σ a_k φ(w_k·x) on data with labels ±1."""
    if not SMALLEST_TOLERANCE <= tolerance < 1:
        raise BadInput(
            f"the tolerance {tolerance} must be at least {SMALLEST_TOLERANCE} and below 1"
        )
    kkt = two_layer_kkt(W, a, X, y, alpha, train, boundary=tolerance)
    W, a, X = (np.asarray(array, dtype=float) for array in (W, a, X))
    y = np.asarray(y)
    if train == "both":
        lower, upper = _both(W, a, X, y, alpha, kkt, tolerance, progress, seconds)
    else:
        lower, upper = _first(a, X, y, alpha, progress, seconds)
    lower = max(lower, kkt.margin)
    optimality: Optimality = "infeasible" if upper == 0 else "bounded"
    if kkt.margin >= (1 - tolerance) * upper and upper > 0:
        optimality = "certified"
    elif kkt.margin < (1 - tolerance) * lower:
        optimality = "suboptimal"
    return Certificate(kkt, tolerance, lower, upper, optimality)


def _both(
    W: np.ndarray,
    a: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    kkt: KKT,
    tolerance: float,
    progress: Progress | None,
    seconds: float,
) -> tuple[float, float]:
    """Bounds of the widest margin; the weights' own λ is tried first (wang2022 Thm. 3)."""
    if kkt.holds(tolerance):
        live = (a != 0) & W.any(axis=1)
        with np.errstate(all="ignore"):
            V = (W[live] / np.abs(W).max()) * (np.abs(a[live]) / np.abs(a).max())[:, None]
        net = Neurons(V, np.sign(a[live]).astype(int))
        own = bracket(X, y, alpha, net, kkt.multipliers)
        if own.gap <= tolerance:
            return inverse(2 * own.upper), inverse(2 * own.lower)
    best = optimum(X, y, alpha, progress=progress, seconds=seconds)
    return inverse(2 * best.upper), inverse(2 * best.lower)


def _first(
    a: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    progress: Progress | None,
    seconds: float,
) -> tuple[float, float]:
    """The same for a fixed output layer; when it is not ±v, half of each, only some of it is known.

    More units can only widen the margin, so the larger of the two numbers of units bounds it from
    above, and the largest |a_k| does.
    """
    counts = int((a > 0).sum()), int((a < 0).sum())
    v = float(np.abs(a).max())
    if not v > 0:
        return 0.0, math.inf
    best = fixed_optimum(X, y, alpha, max(counts), v, progress, seconds)
    even = counts[0] == counts[1] and bool(np.all(np.abs(a) == v))
    return (inverse(best.upper) if even else 0.0), inverse(best.lower)
