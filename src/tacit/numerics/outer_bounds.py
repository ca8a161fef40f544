"""Bounds of max Σ c_i φ(u·x_i) over the unit ball that need no arrangement.

They are valid for any number of points and dimensions, and sharp on data such as orthogonally
separable sets (wang2022 Prop. 4); elsewhere they may be far above the maximum.
"""

from __future__ import annotations

import heapq

import numpy as np

from tacit.numerics.float64 import EPS
from tacit.numerics.tolerances import OUTER_BOUND


def outer_bound(X: np.ndarray, c: np.ndarray, alpha: float, u: np.ndarray) -> float:
    """The smaller of the two bounds below; u is a direction in which the function is large."""
    return min(subsets_bound(X, c, alpha), quadratic_bound(X, c, alpha, u))


def subsets_bound(
    X: np.ndarray, c: np.ndarray, alpha: float, most_sets: int | None = None
) -> float:
    """max over sets S of ‖Σ_S w_i z_i‖, z_i = sign(c_i) x_i, w_i = c_i or, where c_i < 0, α|c_i|.

    c_i φ(u·x_i) ≤ w_i (z_i·u)₊, and with S = {i : z_i·u > 0} these add up to at most ‖Σ_S w_i z_i‖.
    When all z_i·z_j ≥ 0 the best S has all points in it; otherwise branch and bound looks for it,
    and what it could not exclude in time is counted with its bound.
    """
    w = np.where(c > 0, c, -alpha * c)
    rows = np.flatnonzero(w)
    if len(rows) == 0:
        return 0.0
    scaled = (np.sign(c[rows]) * w[rows])[:, None] * X[rows]
    lengths = float(np.linalg.norm(scaled, axis=1).sum())
    steps = X.shape[1] + 4 * len(rows) + 8
    total = (
        _largest_subset(scaled @ scaled.T, most_sets or OUTER_BOUND.most_sets)
        + steps * EPS * lengths**2
    )
    return float(np.sqrt(max(total, 0.0))) * (1 + 4 * EPS)


def _largest_subset(A: np.ndarray, most_sets: int) -> float:
    """An upper bound of Σ_{i,j ∈ S} A_ij over all sets S; mostly the largest value itself."""
    up, down = np.maximum(A, 0), np.minimum(A, 0)
    np.fill_diagonal(up, 0)
    np.fill_diagonal(down, 0)
    best = 0.0
    # Of sets that are still open: what is in adds up to `inside`; i would add `gain`, and more with
    # others that are `free`. The number only keeps equal bounds apart.
    heap = [(-np.inf, 0, 0.0, np.diag(A).copy(), np.ones(len(A), dtype=bool))]
    for number in range(1, most_sets):
        if not heap or -heap[0][0] <= best:
            return best
        _, _, inside, gain, free = heapq.heappop(heap)
        while (sure := free & (gain + 2 * (down @ free) >= 0)).any():  # in the best set
            inside += float(gain[sure].sum() + A[np.ix_(sure, sure)].sum() - A[sure, sure].sum())
            gain = gain + 2 * A[:, sure].sum(axis=1)
            free = free & ~sure
        best = max(best, inside)
        free = free & (gain + 2 * (up @ free) > 0)  # the others are not in it
        if not free.any():
            continue
        i = int(np.flatnonzero(free)[np.abs(A[free]).sum(axis=1).argmax()])
        free[i] = False
        for side, (value, more) in enumerate(
            ((inside + gain[i], gain + 2 * A[:, i]), (inside, gain))
        ):
            rest = float(np.maximum(more + up @ free, 0)[free].sum())
            heapq.heappush(heap, (-(value + rest), 2 * number + side, value, more, free))
    return max(best, -heap[0][0]) if heap else best


def quadratic_bound(X: np.ndarray, c: np.ndarray, alpha: float, u: np.ndarray) -> float:
    """A quadratic function above it, sharp at ±u, maximised over the ball.

    φ(t) = (1+α)/2·t + (1−α)/2·|t|, and |t| ≤ (t²/τ + τ)/2 for every τ > 0 where c_i > 0, while
    |t| ≥ t²/‖x_i‖ where c_i < 0. For every µ above the largest eigenvalue of Q

        max uᵀQu + b·u ≤ µ + bᵀ(µ − Q)⁻¹b/4.
    """
    if X.shape[1] > len(X):
        return _in_row_space(X, c, alpha, u)
    lengths = np.linalg.norm(X, axis=1)
    tau = np.maximum(np.abs(X @ u), OUTER_BOUND.least_tau * lengths)
    up = c > 0
    weight = np.where(
        up, c / (2 * np.where(tau > 0, tau, 1.0)), c / np.where(lengths > 0, lengths, 1.0)
    )
    half = (1 - alpha) / 2
    Q = half * (X.T * weight) @ X
    b = (1 + alpha) / 2 * (c @ X)
    values, vectors = np.linalg.eigh((Q + Q.T) / 2)
    b2 = (vectors.T @ b) ** 2
    error = (
        (len(c) + 20 * X.shape[1]) * EPS * float(np.abs(weight) @ lengths**2 + np.abs(c) @ lengths)
    )
    top = float(values[-1]) + error
    shifts = np.geomspace(OUTER_BOUND.first_shift, OUTER_BOUND.last_shift, OUTER_BOUND.shifts)
    distances = shifts * max(abs(top), float(np.sqrt(b2.sum())), 1e-300)
    mu = np.maximum(top, 0.0) + distances
    bounds = mu + (b2 / (mu[:, None] - values)).sum(axis=1) / 4
    return float(bounds.min()) + half * float(c[up] @ tau[up]) / 2 + error


def _in_row_space(X: np.ndarray, c: np.ndarray, alpha: float, u: np.ndarray) -> float:
    """The quadratic bound in a basis of the rows' span, where its matrix is n×n instead of d×d.

    With columns q of the computed basis x_i = Σ r_ij q_j + e_i. For a unit vector v the coordinates
    v·q_j have length at most ‖Q‖ ≤ 1 + ‖QᵀQ − 1‖, and φ changes by at most |v·e_i|.
    """
    Q, R = np.linalg.qr(X.T)
    lengths = np.linalg.norm(X, axis=1)
    rounding = 4 * (X.shape[1] + len(X)) * EPS
    left_out = np.linalg.norm(X - R.T @ Q.T, axis=1) + rounding * lengths
    stretch = 1 + float(np.linalg.norm(Q.T @ Q - np.eye(len(R)))) + rounding * len(R)
    inside = quadratic_bound(R.T, c, alpha, Q.T @ u)
    return max(inside, 0.0) * stretch + float(np.abs(c) @ left_out) * (1 + rounding)
