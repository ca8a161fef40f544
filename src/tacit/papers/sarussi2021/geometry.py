"""Assumption 4 of sarussi2021 Theorem 6.2: V⁺_β and V⁻_β are empty.

V⁺_β holds the directions that give every positive point and some negative point a margin of β. One
exists iff, for some negative x, the hull of x and the positive points is at least β away from 0. So
V⁺_β is empty exactly for β > β*₊, the largest margin of the positive points joined by one negative
point (0 when none of these sets can be separated from 0). V⁻_β and β*₋ are the same with the
classes changing places.
"""

from dataclasses import dataclass, field

import numpy as np

from tacit.geometry.predicate import Finding, TooLarge, View, predicate, row_norms
from tacit.numerics.float64 import EPS
from tacit.numerics.max_margin import TINY, MaxMargin, max_margin

TOLERANCE = 1e-10
"""A point that can raise β* by no more than this share is not tried."""
FEW_DIMENSIONS = 20
"""Dimensions up to which a proof that one point is opposite to a class may do for others."""

NAMES = {1: ("V⁺_β", "β*₊", "negative"), -1: ("V⁻_β", "β*₋", "positive")}


@dataclass(frozen=True)
class Threshold:
    """β* of one class."""

    lower: float
    upper: float
    row: int | None = None
    """The point of the other class that reaches `lower`."""
    left: int = 0
    """Points that were not tried because it would have taken too long."""


@predicate("sarussi2021:assumption4", "sarussi2021 Theorem 6.2, Assumption 4")
def assumption_4(view: View) -> Finding:
    """V⁺_β = V⁻_β = ∅ for every β > 0; the slack is −max β*: they are empty for β > β* only."""
    view.need_two_classes()
    thresholds = {label: _threshold(view, label) for label in (1, -1)}
    lower = max(one.lower for one in thresholds.values())
    upper = max(one.upper for one in thresholds.values())
    if upper == 0 and len(set(view.data.y.tolist())) == 2:
        return Finding(True, 0.0, "V⁺_β = V⁻_β = ∅ for every β > 0")
    left = sum(one.left for one in thresholds.values())
    if lower == 0 and left:
        raise TooLarge(f"joining {left:,} points to the other class one by one takes long")
    note = "; ".join(_in_words(view, label, one) for label, one in thresholds.items())
    holds = True if upper == 0 else False if lower > 0 else None
    return Finding(holds, -lower, note, upper - lower)


def _in_words(view: View, label: int, threshold: Threshold) -> str:
    V, beta, other = NAMES[label]
    if (view.data.y == label).all():
        return f"{V} = ∅, as there is no {other} point"
    if threshold.upper == 0:
        return f"{V} = ∅ for every β > 0"
    if threshold.lower == 0:
        return f"floating point cannot tell whether {V} = ∅ for β ≤ {threshold.upper:.1e}"
    said = f"{V} = ∅ for β > {threshold.lower:.4g} ({beta}, row {threshold.row})"
    if threshold.left:
        said = (
            f"{V} = ∅ for β > {beta} between {threshold.lower:.4g} (row {threshold.row}) and "
            f"{threshold.upper:.4g} ({threshold.left:,} points were not tried)"
        )
    if (view.data.y != label).all():
        said += f", where one class is missing and one {other} point is enough"
    return said


def _threshold(view: View, label: int) -> Threshold:
    """Try the points of the other class, those first that may reach farthest."""
    search = _Search(view, label)
    if not search.open().any():
        return Threshold(0.0, 0.0)
    if len(search.own):
        base = max_margin(view.data.X[search.own])
        if base.status != "separable":
            return Threshold(0.0, base.margin_bounds.upper)
        search.begin(base)
    spent = 0.0
    while search.open().any():
        spent += _cost(view)
        try:
            view.allow(spent, "")
        except TooLarge:
            break
        search.attempt()
    upper = max(search.best, float(search.reach.max()))
    return Threshold(search.best, upper, search.row, int(search.open().sum()))


def _cost(view: View) -> float:
    """What trying one point costs, in the operations that `View.allow` counts (measured)."""
    n, d = view.X.shape
    return 8.0 * n * d**2 + 800.0 * n * d + 1e8


@dataclass
class _Search:
    """Bounds for the margin of one class joined by b, for every point b of the other class."""

    view: View
    label: int
    own: np.ndarray = field(init=False)
    others: np.ndarray = field(init=False)
    reach: np.ndarray = field(init=False)
    """The upper bounds; they fall."""
    along: np.ndarray = field(init=False)
    """Among points with the same bound, the one farthest along the separator is tried first."""
    tried: np.ndarray = field(init=False)
    matter: np.ndarray = field(init=False)
    """Points of the class that had a weight in some answer."""
    best: float = 0.0
    row: int | None = None

    def __post_init__(self) -> None:
        y, X = self.view.data.y, self.view.data.X
        self.own, self.others = np.flatnonzero(y == self.label), np.flatnonzero(y != self.label)
        self.along = np.zeros(len(self.others))
        self.tried = np.zeros(len(self.others), dtype=bool)
        self.matter = np.array([], dtype=np.intp)
        with np.errstate(over="ignore"):
            norms = row_norms(X[self.others]) * (1 + (X.shape[1] + 4) * EPS)
            longer = np.nextafter(norms, np.inf)
        self.reach = np.where(X[self.others].any(axis=1), longer, 0.0)

    def open(self) -> np.ndarray:
        """Which points may still raise `best`."""
        return ~self.tried & (self.reach > self.best * (1 + TOLERANCE))

    def begin(self, base: MaxMargin) -> None:
        """Use what is known about the class itself."""
        X = self.view.data.X
        self.reach = np.minimum(self.reach, base.margin_bounds.upper)
        self.reach[_opposites(X[self.own], X[self.others])] = 0
        self.along = self.view.X[self.others] @ base.direction
        self.learn(base.multipliers)

    def attempt(self) -> None:
        """Join the point that may reach farthest."""
        i = self.next()
        joined = np.append(self.own, self.others[i])
        separator = max_margin(self.view.data.X[joined], np.append(self.matter, len(self.own)))
        self.tried[i], self.reach[i] = True, min(self.reach[i], separator.margin_bounds.upper)
        if separator.margin_bounds.lower > self.best:
            self.best, self.row = separator.margin_bounds.lower, int(self.others[i])
        weights = separator.multipliers[:-1]
        if weights.any():
            self.learn(weights)
        if separator.status == "not separable":
            left = np.flatnonzero(self.open())
            also = _also_opposite(self.view, self.own[weights > 0], self.others[left])
            self.reach[left[also]] = 0

    def next(self) -> int:
        left = np.flatnonzero(self.open())
        # Equal up to rounding: the tie goes to the point farthest along the separator.
        farthest = left[self.reach[left] >= self.reach[left].max() * (1 - 1e-12)]
        return int(farthest[self.along[farthest].argmax()])

    def learn(self, weights: np.ndarray) -> None:
        """A point of the class's hull bounds what every b can reach."""
        self.matter = np.union1d(self.matter, np.flatnonzero(weights))
        left = np.flatnonzero(self.open())
        bounds = _reach(self.view, self.own, weights, self.others[left])
        self.reach[left] = np.minimum(self.reach[left], bounds)


def _reach(view: View, own: np.ndarray, weights: np.ndarray, others: np.ndarray) -> np.ndarray:
    """‖(1 − t)q + tb‖ for the q of the class's hull with these weights and the best t, all rounding
    errors added: the margin of the class joined by b is not larger."""
    rows = own[weights > 0]
    lam = weights[weights > 0] / weights.sum()
    q, B = lam @ view.X[rows], view.X[others]
    apart = B - q
    squared = np.einsum("ij,ij->i", apart, apart)
    t = np.clip(-(apart @ q) / np.where(squared > 0, squared, 1.0), 0, 1)
    nearest = row_norms(q + t[:, None] * apart)
    sizes = row_norms(lam @ np.abs(view.X[None, rows])) + view.norms[others]
    bounds = nearest + (len(rows) + view.data.d + 16) * (EPS * sizes + TINY)
    with np.errstate(over="ignore"):
        return np.nextafter(bounds * view.scale, np.inf)


def _opposites(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Which rows b of B have −b among those of A."""
    known = {row.tobytes() for row in A + 0.0}  # −0 becomes 0
    return np.array([row.tobytes() in known for row in 0.0 - B])


def _also_opposite(view: View, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which −b are for certain inside the cone of these d rows: −b = Σ μ_i a_i with μ > 0.

    The exact μ is not farther from a computed one than the residual over σ_min.
    """
    d = view.data.d
    none = np.zeros(len(others), dtype=bool)
    if len(rows) != d or d > FEW_DIMENSIONS:
        return none
    G, B = view.rows[rows], view.rows[others]  # cones do not change with the points' lengths
    both = np.append(rows, others)
    if (np.ldexp(view.rows[both], view.exponents[both, None]) != view.data.X[both]).any():
        return none  # entries got lost
    singular = np.linalg.svd(G, compute_uv=False)
    smallest = singular[-1] - 16 * d * EPS * singular[0]
    if smallest <= 0:
        return none
    mu = np.linalg.solve(G.T, -B.T).T
    sizes = np.linalg.norm(B, axis=1) + np.abs(mu) @ np.linalg.norm(G, axis=1)
    residual = np.linalg.norm(B + mu @ G, axis=1) + 4 * (d + 4) * EPS * sizes
    return mu.min(axis=1) > 2 * residual / smallest
