"""Extremal directions: where the neurons of a network near zero turn to (phuong2021 §4.1).

They are the strict local maxima and minima on the unit sphere of

    G(w) = Σ c_i φ(w·x_i),   φ(z) = max(z, αz).   (12)

Rows on one line through 0 are taken together: line ℓ, along its row u, adds `up`·(u·w) to G on its
positive side and `down`·(u·w) on the other. On a sector σ, G is linear with the gradient g, the sum
of up·u or down·u over the lines with σ ≠ 0. Its only candidate is the direction of P g, P the
projection onto L = {w in the span : u·w = 0 where σ = 0} (Lemma A.1), except that L may be a line,
whose two directions are candidates whatever G is there. Near a candidate w, for v ⟂ w,

    G(w + v) = G(w) + F(v),   F(v) = g·v + Σ_{σ=0} up·(u·v)₊ − down·(u·v)₋,

so with G(w) > 0 it is a strict maximum if and only if F ≤ 0 (the sphere's curvature does the
rest), and with G(w) ≤ 0 if and only if F < 0 for all v ≠ 0, which needs data that spans the space
(or all but one dimension, with w orthogonal to the data and G(v) < 0 for all v ≠ 0 in its span).
F is linear between the lines, so in up to three dimensions it is enough to look at the v along
which a line vanishes. In one dimension the sphere is two points; ours: only those with G > 0 count
as maxima, and with G < 0 as minima, as if there were more dimensions.
"""

import math
from collections.abc import Iterator

import numpy as np

from tacit.numerics._extremal_result import Direction, Extremal, scaled_rows
from tacit.numerics._sector_climb import met
from tacit.numerics._sector_faces import enumerated, in_three
from tacit.numerics.arrangements import TooManyCells
from tacit.numerics.exact_signs import integer_rows
from tacit.numerics.float64 import EPS
from tacit.numerics.tolerances import EXTREMAL
from tacit.values import BadInput
from tacit.values.products import integer_product

__all__ = ["Direction", "Extremal", "extremal_directions", "lemma_2"]


def extremal_directions(
    X: np.ndarray, c: np.ndarray, alpha: float = 0.0, seed: int = 0, starts: int = 40
) -> Extremal:
    """The strict local maxima and minima of Σ c_i φ(w·x_i) on the unit sphere (Definition 2).

    All of them when X has rank 3 at most and not too many sectors: the entries of up to three
    columns are taken as the rational numbers that they are, and nothing is left to rounding. With
    more columns, or where rounding alone seems to keep the rank up, X is first projected onto its
    span, and a direction is `doubtful` when changes of 1e-8 could matter. Beyond that, what is met
    when going up (with G > 0) and down (G < 0) from `starts` directions each, or fewer where X is
    so large that they would take long; w·x_i = 0 and F ≤ 0 then mean up to 1e-8 as well.
    """
    X, c = _checked(X, c, alpha)
    if not (X.any(axis=1) & (c != 0)).any():
        return Extremal([], True)
    flat = in_three(X)
    if flat is not None:
        try:
            return enumerated(X, c, alpha, flat)
        except TooManyCells:
            pass
    few = int(EXTREMAL.most_work / (len(X) * X.size))
    return met(X, c, alpha, seed, min(starts, max(few, EXTREMAL.least_starts)))


def lemma_2(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The positive and the negative extremal sector of orthogonally separable data, for α = 0.

    None when the data is not orthogonally separable, or has one class only. Signs of inner
    products that floats cannot tell are decided exactly.
    """
    X, y = _checked(X, y, 0.0)
    if not np.isin(y, (-1, 1)).all():
        raise BadInput("labels must be −1 or +1")
    if len(np.unique(y)) < 2:
        return None
    below = np.zeros(len(X), dtype=bool)  # x_j·x_i < 0 for some i of the other class
    for rows, signs in _signs_of_products(X):
        same = y[rows, None] == y
        if (signs[same] <= 0).any() or (signs[~same] > 0).any():
            return None
        below[rows] = (signs < 0).any(axis=1)
    other = np.where(below, -1, 0)
    plus, minus = np.where(y > 0, 1, other), np.where(y < 0, 1, other)  # (13), (14)
    return plus.astype(np.int8), minus.astype(np.int8)


def _signs_of_products(X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """The signs of x_i·x_j, exactly, for blocks of rows i and all j."""
    scaled = scaled_rows(X)[0]
    n, d = X.shape
    step = max(1, EXTREMAL.block // n)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        gram, size = scaled[rows] @ scaled.T, np.abs(scaled[rows]) @ np.abs(scaled).T
        signs = np.sign(gram).astype(np.int8)
        unsure = np.abs(gram) <= (d + 4) * EPS * size + 1e-300  # what underflow may do
        if (size <= 1e-200).any():  # rows without a common column have the product 0
            unsure &= (X[rows] != 0).astype(float) @ (X != 0).astype(float).T > 0
        for i, j in np.argwhere(unsure):
            pair = integer_rows(X[[start + i, j]])
            product = integer_product(pair[0], pair[1])
            signs[i, j] = (product > 0) - (product < 0)
        yield rows, signs


def _checked(X: np.ndarray, c: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    X, c = np.asarray(X, dtype=np.float64), np.asarray(c, dtype=np.float64)
    if X.ndim != 2 or 0 in X.shape or c.shape != X.shape[:1]:
        raise BadInput(f"X has shape {X.shape} and c {c.shape}; they must be (n, d) and (n,)")
    if not (np.isfinite(X).all() and np.isfinite(c).all()):
        raise BadInput("X or c holds nan or inf; every entry must be a finite number")
    if not (math.isfinite(alpha) and alpha <= 1):
        raise BadInput(f"alpha={alpha} must be a number up to 1, since φ(z) = max(z, αz)")
    return X, c
