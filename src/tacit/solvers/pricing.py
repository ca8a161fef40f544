"""How large λ can make a neuron: max over ‖u‖ ≤ 1 of s·Σ λ_i y_i φ(u·x_i), with a proof.

That number, M_s, is what the dual of the convex program is about (wang2022 (15), (17)): for every
λ ≥ 0, Σλ / max(M₊, M₋) is a lower bound of the optimum. Only points with λ_i > 0 matter, so the
arrangement of these few has to be looked at, not that of all points. On a cell with signs σ the
function is g·u, and for every z ≥ 0

    max over the cell   ≤   ‖g + Σ_i z_i σ_i x_i‖,

with equality for the best z. Walls with s·y_i > 0 can be left out: beyond such a wall the function
is larger than g·u, so what g·u reaches there is counted for the next cell anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.solvers.farkas import EPS

PURSUIT_STEPS = 4
"""Times d: cheap steps towards the best z, for all cells at once, before exact ones."""


@dataclass(frozen=True, eq=False)
class Priced:
    """M_s ≤ `bound`, and where the function is large."""

    bound: float
    """Rounding errors included."""
    directions: np.ndarray
    """Unit vectors u, best first, where the function exceeds the floor; distinct."""
    values: np.ndarray
    """The function there."""
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

    c_i = s λ_i y_i, none of them 0. `floor` is a value that interests nobody: cells proved to stay
    below it are not looked at further, and `bound` is at least that. The search ends when `enough`
    cells above the floor have been found; the bound is valid all the same, but not sharp.
    """
    g = np.where(cells > 0, c, alpha * c) @ X
    norms = np.linalg.norm(g, axis=1)
    error = (len(c) + X.shape[1] + 8) * EPS * float(np.abs(c) @ np.linalg.norm(X, axis=1))
    ceiling = floor - error
    rows = np.flatnonzero(norms > ceiling)
    z, left = _pursue(X, c, cells[rows], g[rows], ceiling)
    above = np.zeros(len(rows), dtype=bool)
    for k in left:
        z[k] = _exact(X, c, cells[rows[k]], g[rows[k]])
        above[k] = np.linalg.norm(g[rows[k]] + (z[k] * cells[rows[k]]) @ X) > floor
        if above.sum() == enough:
            break
    r = g[rows] + (z * cells[rows]) @ X
    values = np.linalg.norm(r, axis=1)
    lengths = z @ np.linalg.norm(X, axis=1)  # the sum has a larger error where z is large
    bounds = values + error + (len(c) + 8) * EPS * lengths
    u, found = _distinct(r[above], values[above])
    return Priced(max(floor, float(bounds.max(initial=0.0))), u, found, cells[rows], z)


def climb(X: np.ndarray, c: np.ndarray, alpha: float, u: np.ndarray) -> tuple[np.ndarray, float]:
    """Go up from u, cell by cell, to a local maximum of Σ c_i φ(u·x_i) on the unit sphere."""
    value = -np.inf
    for _ in range(100):
        signs = np.where(X @ u > 0, 1, -1)
        g = np.where(signs > 0, c, alpha * c) @ X
        r = g + (_exact(X, c, signs, g) * signs) @ X
        length = float(np.linalg.norm(r))
        if length <= value * (1 + 1e-12) or length == 0:
            break
        u, value = r / length, length
    return u, function(X, c, alpha, u)


def function(X: np.ndarray, c: np.ndarray, alpha: float, u: np.ndarray) -> float:
    """Σ c_i φ(u·x_i)."""
    t = X @ u
    return float(c @ np.maximum(t, alpha * t))


def best_in_cell(
    X: np.ndarray, c: np.ndarray, alpha: float, signs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """r = g + Σ z_i σ_i x_i for the best z: the best u times its value; and the rows with z > 0."""
    g = np.where(signs > 0, c, alpha * c) @ X
    z = _exact(X, c, signs, g)
    size = z * np.linalg.norm(X, axis=1)
    return g + (z * signs) @ X, np.flatnonzero(size > 1e-8 * np.linalg.norm(g))


def _pursue(
    X: np.ndarray, c: np.ndarray, signs: np.ndarray, g: np.ndarray, ceiling: float
) -> tuple[np.ndarray, np.ndarray]:
    """For every cell a z ≥ 0 by matching pursuit; the cells left above the ceiling, worst first."""
    z, r = np.zeros(signs.shape), g.copy()
    alive = np.arange(len(signs))
    walls = np.flatnonzero(c < 0)
    if len(walls) == 0:
        return z, alive
    lengths = np.linalg.norm(X[walls], axis=1)
    units = X[walls] / np.where(lengths > 0, lengths, 1.0)[:, None]
    for _ in range(PURSUIT_STEPS * X.shape[1]):
        alive = alive[np.linalg.norm(r[alive], axis=1) > ceiling]
        if len(alive) == 0:
            break
        inside = (r[alive] @ units.T) * signs[np.ix_(alive, walls)]
        worst = inside.argmin(axis=1)
        step = np.maximum(-inside[np.arange(len(alive)), worst], 0.0)
        z[alive, walls[worst]] += step / np.maximum(lengths[worst], 1e-300)
        r[alive] += (step * signs[alive, walls[worst]])[:, None] * units[worst]
    values = np.linalg.norm(r[alive], axis=1)
    order = np.argsort(-values)
    return z, alive[order[values[order] > ceiling]]


def _exact(X: np.ndarray, c: np.ndarray, signs: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The z ≥ 0 on the walls that makes ‖g + Σ z_i σ_i x_i‖ smallest."""
    from scipy.optimize import nnls

    z = np.zeros(len(c))
    walls = np.flatnonzero(c < 0)
    if len(walls):
        lengths = np.linalg.norm(X[walls], axis=1)
        lengths[lengths == 0] = 1.0
        try:
            found, _ = nnls((X[walls] * (signs[walls] / lengths)[:, None]).T, -g)
            z[walls] = found / lengths
        except RuntimeError:  # too many iterations: z = 0 is valid too
            pass
    return z


def _distinct(r: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions, best first, each once (cells share their best faces)."""
    order = np.argsort(-values)
    u = r[order] / values[order][:, None]
    kept: list[int] = []
    for k in range(len(u)):
        if not kept or (u[kept] @ u[k]).max() < 1 - 1e-10:
            kept.append(k)
    return u[kept], values[order][kept]
