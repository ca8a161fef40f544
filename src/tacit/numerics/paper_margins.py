"""The max-margin problems of the papers: each as rows for `max_margin`, its answer translated back.

The bounds of `max_margin` allow for entries that were rounded once, as α·x is here; a proof that
nothing separates does not, so such a "no" is repeated on rows without α.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tacit.numerics.farkas import EPS
from tacit.numerics.max_margin import TINY, MaxMargin, Separability, max_margin, support

SUPPORT_TOLERANCE = 1e-7
"""A point whose margin is larger than the smallest by this share is no support example."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """What the problems share: the optimal value lies in [lower, upper]."""

    status: Separability
    """`separable` when the problem has a solution; `undecided` when floating point cannot tell."""
    lower: float
    upper: float
    support: np.ndarray | None
    """Rows of X on the margin, to `SUPPORT_TOLERANCE` of it: none without a solution, and None when
    it is not known well enough to tell them."""
    multipliers: np.ndarray
    """λ ≥ 0, one per row of X: of sum 1, with a solution along Σ λ_i z_i or a proof of none."""

    @property
    def gap(self) -> float:
        """upper − lower relative to the larger of their sizes."""
        if self.upper == self.lower:
            return 0.0
        size = max(abs(self.lower), abs(self.upper))
        return 1.0 if size == np.inf else (self.upper - self.lower) / size


@dataclass(frozen=True, eq=False)
class ClassMargin(Optimum):
    """The bounds are those of ‖w‖; both are inf when there is no w."""

    w: np.ndarray | None
    """w·x ≥ 1 for every point of the class; None unless `separable`."""
    rank: int | None
    """Dimensions that the support spans, to 1e-10 of the points' lengths."""


@dataclass(frozen=True, eq=False)
class Par(Optimum):
    """The bounds are those of ‖w‖² + ‖u‖²; both are inf when there are no w and u."""

    w: np.ndarray | None
    u: np.ndarray | None

    @property
    def boundary(self) -> np.ndarray | None:
        """Unit vector along w − u; zero where nothing is known about it, as when w = u.

        For α > 0 the network σ(w·x) − σ(u·x) decides like it (sarussi2021 Corollary 6.1).
        """
        apart = self._apart()
        if apart is None:
            return None
        return apart / np.linalg.norm(apart) if self.boundary_error < np.pi else 0 * apart

    @property
    def boundary_error(self) -> float:
        """Angle between `boundary` and the exact one at most; π where nothing is known.

        Of points that satisfy the constraints, one with the value upper is no farther than
        √(upper − lower) from the optimum.
        """
        apart = self._apart()
        if apart is None or not (length := np.linalg.norm(apart)) > 0:
            return np.pi
        sine = math.sqrt(2 * (self.gap + 4 * EPS)) / length
        return math.asin(sine) if sine < 1 else np.pi

    def _apart(self) -> np.ndarray | None:
        """(w − u)/√(‖w‖² + ‖u‖²); zero where these are too large for a float."""
        if self.w is None or self.u is None:
            return None
        both = np.append(self.w, self.u)
        if not np.isfinite(both).all():
            return np.zeros(len(self.w))
        w, u = np.split(both / np.abs(both).max(), 2)
        return (w - u) / math.hypot(*w, *u)


@dataclass(frozen=True, eq=False)
class ScaledMargin(Optimum):
    """The bounds are those of γ⁺ (or γ⁻); not positive when nothing separates."""

    w: np.ndarray
    """Unit vector w⁺ (or w⁻); without a margin, one that comes near."""


def class_margin(X: np.ndarray, y: np.ndarray, label: int) -> ClassMargin:
    """w₊ (or w₋) of phuong2021: min ‖w‖ subject to w·x ≥ 1 for the points x of one class.

    Without such a point w = 0 is the answer.
    """
    X = np.asarray(X, dtype=np.float64)
    rows = np.flatnonzero(np.asarray(y) == label)
    multipliers = np.zeros(len(X))
    if len(rows) == 0:
        return ClassMargin("separable", 0.0, 0.0, rows, multipliers, np.zeros(X.shape[1]), 0)
    found = max_margin(X[rows])  # (6), (7)
    multipliers[rows] = found.multipliers
    chosen = _support(X[rows], found)
    return ClassMargin(
        found.status,
        _inverse(found.upper, 1, 0.0),
        _inverse(found.lower, 1, np.inf),
        None if chosen is None else rows[chosen],
        multipliers,
        _solution(found),
        None if chosen is None else _rank(X[rows[chosen]]),
    )


def par_features(X: np.ndarray, y: np.ndarray, alpha: float) -> np.ndarray:
    """φ(x) = [σ'(w*·x) x, −σ'(−w*·x) x] of sarussi2021 §6.2, where y = sign(w*·x).

    That is (x, −αx) for y = +1 and (αx, −x) for y = −1; the paper's appendix has y·φ(x) there.
    """
    X = np.asarray(X, dtype=np.float64)
    positive = (np.asarray(y) == 1)[:, None]
    return np.hstack([np.where(positive, X, alpha * X), -np.where(positive, alpha * X, X)])


def par_kernel(
    X: np.ndarray, y: np.ndarray, X2: np.ndarray, y2: np.ndarray, alpha: float
) -> np.ndarray:
    """φ(x)·φ(x') for all pairs: (1 + α²) x·x' for equal labels and 2α x·x' for different ones."""
    same = np.asarray(y)[:, None] == np.asarray(y2)
    return np.where(same, 1 + alpha**2, 2 * alpha) * (np.asarray(X) @ np.asarray(X2).T)


def par(X: np.ndarray, y: np.ndarray, alpha: float) -> Par:
    """sarussi2021 (7): min ‖w‖² + ‖u‖² subject to w·x − αu·x ≥ 1 for the positive points x and
    u·x − αw·x ≥ 1 for the negative ones."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    Z = y[:, None] * par_features(X, y, alpha)
    found = max_margin(Z)  # (7)
    # (w, u) ↦ (w − αu, u − αw) is invertible unless α = 1: each class may be separated by itself.
    parts = [np.flatnonzero(y == label) for label in (1, -1)] if alpha != 1 else [np.arange(len(y))]
    parts = [part for part in parts if len(part)]
    found = _without_alpha(found, y[:, None] * X, parts, np.ones(len(y)))
    both = _solution(found)
    w, u = (None, None) if both is None else np.split(both, 2)
    return Par(
        found.status,
        _inverse(found.upper, 2, 0.0),
        _inverse(found.lower, 2, np.inf),
        _support(Z, found),
        found.multipliers,
        w,
        u,
    )


def scaled_margin(
    X: np.ndarray, y: np.ndarray, alpha: float, sign: Literal[1, -1] = 1
) -> ScaledMargin:
    """w⁺, γ⁺ of lyu2021 App. A: the max-margin separator of (x⁺_i, y_i); for sign −1 w⁻, γ⁻.

    x⁺ is x for y = +1 and αx for y = −1, x⁻ the other way.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    rows = y[:, None] * X
    lengths = np.where(y == sign, 1.0, alpha)
    Z = lengths[:, None] * rows
    found = max_margin(Z)
    if alpha > 0:  # then a w separates these iff it separates the points as they are
        found = _without_alpha(found, rows, [np.arange(len(y))], lengths)
    chosen = _support(Z, found)
    return ScaledMargin(
        found.status, found.lower, found.upper, chosen, found.multipliers, found.direction
    )


def _without_alpha(
    found: MaxMargin, rows: np.ndarray, parts: list[np.ndarray], lengths: np.ndarray
) -> MaxMargin:
    """Without a margin, ask again: the truth is "no" iff one of these parts has none, too.

    A proof for `rows` becomes one for rows of other `lengths`.
    """
    if found.status == "separable":
        return found
    for part in parts:
        other = max_margin(rows[part])
        if other.status == "not separable":
            multipliers = np.zeros(len(rows))
            multipliers[part] = other.multipliers * (lengths.min() / lengths[part])
            multipliers /= multipliers.sum()
            return replace(found, status="not separable", upper=0.0, multipliers=multipliers)
    if found.status == "undecided":
        return found
    # Rows within rounding of these have no margin, so theirs is not larger than the rounding.
    rounding = EPS * math.sqrt(rows.shape[1]) * float(np.abs(rows).max()) + TINY * rows.shape[1]
    return replace(found, status="undecided", upper=rounding)


def _support(Z: np.ndarray, found: MaxMargin) -> np.ndarray | None:
    if found.status == "not separable":
        return np.array([], dtype=np.intp)
    if found.status == "undecided" or found.gap > SUPPORT_TOLERANCE:
        return None
    return support(Z, found, SUPPORT_TOLERANCE)


def _solution(found: MaxMargin) -> np.ndarray | None:
    """The smallest w with z_i·w ≥ 1; inf where no float can hold it."""
    if found.status != "separable":
        return None
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return np.where(found.direction == 0, 0.0, found.direction / np.float64(found.lower))


def _inverse(margin: float, power: int, towards: float) -> float:
    """margin^(−power) for power 1 or 2, rounded in the given direction; inf for no margin."""
    if margin <= 0:
        return np.inf
    value = 1 / margin
    value = value * value if power == 2 else value
    for _ in range(4):  # it is off by less than that
        value = math.nextafter(value, towards)
    return value


def _rank(points: np.ndarray) -> int:
    if len(points) == 0:
        return 0
    points = points / np.abs(points).max(axis=1, keepdims=True)
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    return int((np.linalg.svd(unit, compute_uv=False) > 1e-10).sum())
