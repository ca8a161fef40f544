"""How large λ can make a neuron: max over ‖u‖ ≤ 1 of s·Σ λ_i y_i φ(u·x_i), with a proof.

That number, M_s, is what the dual of the convex program is about (wang2022 (15), (17)): for every
λ ≥ 0, Σλ / max(M₊, M₋) is a lower bound of the optimum. Only points with λ_i > 0 matter, so the
arrangement of these few has to be looked at, not that of all points. On a cell with signs σ the
function is g·u, and for every z ≥ 0

    max over the cell   ≤   ‖g + Σ_i z_i σ_i x_i‖,

with equality for the best z. Hyperplanes with s·y_i > 0 can be left out: beyond one the function
is larger than g·u, so what g·u reaches there is counted for the next cell anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.numerics.float64 import EPS
from tacit.numerics.tolerances import PRICING


@dataclass(frozen=True, eq=False)
class Priced:
    """M_s ≤ `bound`, and where the function is large."""

    bound: float
    """The upper bound of M_s, rounding errors included."""
    directions: np.ndarray
    """Unit vectors u, best first, where the function exceeds the floor; distinct."""
    values: np.ndarray
    """The function in these directions."""
    cells: np.ndarray
    """Cells (rows of signs over the support) that need a z to get below the bound …"""
    z: np.ndarray
    """… and their z ≥ 0, one row each over the support."""


def price(
    X: np.ndarray,
    c: np.ndarray,
    alpha: float,
    cells: np.ndarray,
    floor: float,
    enough: int | None = None,
) -> Priced:
    """Bound max Σ c_i φ(u·x_i) over the unit ball, given all cells of the rows of X.

    c_i = s λ_i y_i, none of them 0. Cells proved to stay below
    `floor` are not looked at further, and `bound` is at least that. The search ends when `enough`
    cells above the floor have been found; the bound is valid all the same, but not sharp.
    """
    g = np.where(cells > 0, c, alpha * c) @ X
    norms = np.linalg.norm(g, axis=1)
    lengths = np.linalg.norm(X, axis=1)
    steps = (len(c) + X.shape[1] + 8) * EPS
    error = steps * float(np.abs(c) @ lengths)
    # Cells that stay this far below the floor cannot exceed it by rounding either.
    ceiling = floor - error
    rows = np.flatnonzero(norms > ceiling)
    planes = _hyperplanes(X, c)
    z, left = _descend(planes, cells[rows], g[rows], ceiling)
    above: list[int] = []
    for k in left.tolist():
        z[k] = planes.best(cells[rows[k]], g[rows[k]])
        # From z itself, not from what the solver says its residual is.
        value = np.linalg.norm(g[rows[k]] + (z[k] * cells[rows[k]]) @ X)
        if value > max(floor * PRICING.above, error):
            above.append(k)
        if len(above) == enough:
            break
    r = g[rows] + (z * cells[rows]) @ X
    values = np.linalg.norm(r, axis=1)
    bounds = values + error + steps * (z @ lengths)  # the sum has a larger error where z is large
    high = np.flatnonzero(bounds > floor)
    if error > PRICING.coarse * floor:  # points that nearly coincide: large c_i that cancel
        bounds[high] = np.minimum(bounds[high], _longer(X, c, alpha, cells[rows[high]], z[high]))
    u, tops = distinct(r[above], values[above])
    return Priced(max(floor, float(bounds.max(initial=0.0))), u, tops, cells[rows], z)


def _longer(
    X: np.ndarray, c: np.ndarray, alpha: float, cells: np.ndarray, z: np.ndarray
) -> np.ndarray:
    """The bounds ‖g + Σ z_i σ_i x_i‖ once more, in long doubles, whose rounding errors are less.

    They hold also for c that are scaled, and rounded as doubles then.
    """
    X, c = X.astype(np.longdouble), c.astype(np.longdouble)
    r = (np.where(cells > 0, c, alpha * c) + z * cells) @ X
    lengths = np.sqrt((X * X).sum(axis=1))
    steps = 2 * (len(c) + X.shape[1] + 8) * np.finfo(np.longdouble).eps
    bounds = np.sqrt((r * r).sum(axis=1)) * (1 + steps) + steps * ((np.abs(c) + z) @ lengths)
    bounds += EPS * (np.abs(c) @ lengths)
    return np.nextafter(bounds.astype(np.float64), np.inf)


def climb(X: np.ndarray, c: np.ndarray, alpha: float, u: np.ndarray) -> tuple[np.ndarray, float]:
    """Go up from u on the unit sphere, cell by cell, to where Σ c_i φ(u·x_i) is large."""
    value = 0.0
    planes = _hyperplanes(X, c)
    for _ in range(PRICING.most_climbs):
        signs = np.where(X @ u > 0, 1, -1)
        g = np.where(signs > 0, c, alpha * c) @ X
        r = g + (planes.best(signs, g) * signs) @ X
        length = float(np.linalg.norm(r))
        if length <= value * PRICING.climb:
            break
        u, value = r / length, length
    return u, function(X, c, alpha, u)


def function(X: np.ndarray, c: np.ndarray, alpha: float, u: np.ndarray) -> float:
    """The function Σ c_i φ(u·x_i)."""
    t = X @ u
    return float(c @ np.maximum(t, alpha * t))


def best_in_cell(
    X: np.ndarray, c: np.ndarray, alpha: float, signs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """r = g + Σ z_i σ_i x_i for the best z: the best u times its value; and the rows with z > 0."""
    g = np.where(signs > 0, c, alpha * c) @ X
    z = _hyperplanes(X, c).best(signs, g)
    size = z * np.linalg.norm(X, axis=1)
    return g + (z * signs) @ X, np.flatnonzero(size > PRICING.on_face * np.linalg.norm(g))


def _descend(
    planes: _Hyperplanes, signs: np.ndarray, g: np.ndarray, ceiling: float
) -> tuple[np.ndarray, np.ndarray]:
    """For every cell a z ≥ 0 by coordinate descent; the cells left above the ceiling, worst first.

    In every step the hyperplane that helps most gets its best z, until the cell is below it.
    """
    z = np.zeros(signs.shape)
    alive, r = np.arange(len(signs)), g
    sides = signs[:, planes.rows].astype(float)
    steps = np.zeros(sides.shape)  # z_i times ‖x_i‖
    for _ in range(PRICING.descent_steps * min(g.shape[1], len(planes.rows))):
        above = np.linalg.norm(r, axis=1) > ceiling
        if not above.all():
            z[np.ix_(alive[~above], planes.rows)] = steps[~above] / planes.lengths
            alive, r, sides, steps = alive[above], r[above], sides[above], steps[above]
        # The best step for one hyperplane alone, but z stays ≥ 0.
        change = np.maximum(-(r @ planes.units) * sides, -steps)
        best = np.abs(change).argmax(axis=1)
        where = np.arange(len(alive))
        steps[where, best] += change[where, best]
        r = r + (change[where, best] * sides[where, best])[:, None] * planes.units.T[best]
    if len(planes.rows):
        z[np.ix_(alive, planes.rows)] = steps / planes.lengths
    return z, alive[np.argsort(-np.linalg.norm(r, axis=1))]


@dataclass(frozen=True, eq=False)
class _Hyperplanes:
    """The hyperplanes of points with c_i < 0."""

    rows: np.ndarray
    units: np.ndarray
    """The x_i of these points divided by their lengths, as columns."""
    lengths: np.ndarray
    count: int

    def best(self, signs: np.ndarray, g: np.ndarray) -> np.ndarray:
        """The z ≥ 0 on the hyperplanes that makes ‖g + Σ z_i σ_i x_i‖ smallest."""
        from scipy.optimize import nnls

        z = np.zeros(self.count)
        if len(self.rows):
            try:
                z[self.rows] = nnls(self.units * signs[self.rows], -g)[0] / self.lengths
            except RuntimeError:  # too many iterations: z = 0 is valid too
                pass
        return z


def _hyperplanes(X: np.ndarray, c: np.ndarray) -> _Hyperplanes:
    rows = np.flatnonzero(c < 0)
    lengths = np.linalg.norm(X[rows], axis=1)
    lengths[lengths == 0] = 1.0
    return _Hyperplanes(rows, X[rows].T / lengths, lengths, len(c))


def distinct(r: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows r as unit vectors, those with the largest values first, each once."""
    order = np.argsort(-values)
    u = r[order] / np.linalg.norm(r[order], axis=1)[:, None]
    kept: list[int] = []
    for k in range(len(u)):
        if not kept or (u[kept] @ u[k]).max() < PRICING.same:
            kept.append(k)
    return u[kept], values[order][kept]
