"""The best network by a linear program over directions: slow, and no code of tacit.

With directions u_j fixed, min Σ c_j such that y_i Σ_j s_j c_j φ(x_i·u_j) ≥ 1 is a linear program.
The normals of d − 1 points each decide whether any network fits, since φ(Xu) is linear between
activation hyperplanes; more directions are then taken where the multipliers ask for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

MOST_RAYS = 300
LEAST = 1e-6
"""Of the largest margin: asked of very long points too, whose margins rounding would decide."""
STARTS = 200
"""Directions from which the next neurons are looked for in every round."""


@dataclass(frozen=True)
class Solution:
    """A network, and the multipliers of the points, each of them up to a positive factor."""

    W: np.ndarray
    a: np.ndarray
    dual: np.ndarray


def unit(U: np.ndarray) -> np.ndarray:
    """The directions of the rows that are not zero."""
    return _directions(U[U.any(axis=1)])[0]


def _directions(U: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Directions, and lengths as numbers near 1 with exponents of two, which never overflow."""
    exponents = np.frexp(np.abs(U).max(axis=1, initial=0.0))[1]
    near = np.ldexp(U, -exponents[:, None])
    lengths = np.linalg.norm(near, axis=1)
    return near / lengths[:, None], lengths, exponents


def rays(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Unit normals of d − 1 points each, both ways (a sample where there are many)."""
    d = X.shape[1]
    rows = unit(X)
    subsets = list(combinations(range(len(rows)), d - 1)) if d <= 4 else []
    if len(subsets) > MOST_RAYS:
        subsets = [subsets[k] for k in rng.choice(len(subsets), MOST_RAYS, replace=False)]
    normals = [np.linalg.svd(rows[list(subset)])[2][-1] for subset in subsets if subset]
    if d == 1 or not normals:
        normals = list(np.eye(d))
    both = np.array(normals)
    return np.concatenate([both, -both])


def best_network(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    rng: np.random.Generator,
    signs: Sequence[int] = (1, -1),
    rounds: int = 12,
) -> Solution | None:
    """A network that is nearly the best; None where the program has no solution."""
    if not X.any(axis=1).all():
        return None
    rows, lengths, exponents = _directions(X)
    short = int(np.argmin(exponents))
    # The lengths of points lie up to 600 decades apart: only their ratios are computed.
    inverse = np.ldexp(lengths[short] / lengths, exponents[short] - exponents)
    directions = np.concatenate([rays(X, rng), unit(rows), unit(y[:, None] * rows)])
    solution = None
    for _ in range(rounds):
        z = rows @ directions.T
        active = y[:, None] * np.maximum(z, alpha * z)
        columns = np.hstack([s * active for s in signs])
        asked = np.maximum(inverse, LEAST)
        program = linprog(np.ones(columns.shape[1]), -columns, -asked, method="highs")
        if program.status != 0:
            return solution
        weights = program.x.reshape(len(signs), -1)
        used = [(k, j) for k in range(len(signs)) for j in np.flatnonzero(weights[k])]
        W = np.array([directions[j] * weights[k, j] for k, j in used])
        a = np.array([float(signs[k]) for k, _ in used])
        marginals = np.maximum(-program.ineqlin.marginals, 0)
        solution = Solution(W, a, marginals * inverse)
        more = _climb(rows, y, marginals, alpha, rng, signs)
        if not len(more):
            return solution
        directions = np.unique(np.concatenate([directions, more]).round(14), axis=0)
    return solution


def _climb(
    rows: np.ndarray,
    y: np.ndarray,
    dual: np.ndarray,
    alpha: float,
    rng: np.random.Generator,
    signs: Sequence[int],
) -> np.ndarray:
    """Directions where s Σ λ_i y_i φ(x_i·u) is above 1: climbs u ← g(u)/‖g(u)‖ from all over."""
    start = unit(rng.normal(size=(STARTS, rows.shape[1])))
    better = []
    for sign in signs:
        U = start
        for _ in range(30):
            slopes = np.where(rows @ U.T > 0, 1.0, alpha)
            G = sign * (slopes * (dual * y)[:, None]).T @ rows
            norms = np.linalg.norm(G, axis=1)
            U = np.where(norms[:, None] > 0, G / np.where(norms > 0, norms, 1)[:, None], U)
        z = rows @ U.T
        heights = sign * (dual * y) @ np.maximum(z, alpha * z)
        best = np.argsort(-heights)[:20]
        better.append(U[best[heights[best] > 1 + 1e-9]])
    return np.concatenate(better)
