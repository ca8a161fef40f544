"""Bounds of max Σ c_i φ(u·x_i) over the unit ball that need no arrangement.

They are valid for any number of points and dimensions, and sharp on data such as orthogonally
separable sets (wang2022 Prop. 4); elsewhere they may be far above the maximum.
"""

import heapq

import numpy as np

from tacit.numerics.float64 import EPS
from tacit.numerics.tolerances import OUTER_BOUND


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
    # Rounded up: sums over subsets cancel, and their error was added before the root.
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
        # Branch on the row with the largest entries: in or out, it changes the bound most.
        i = int(np.flatnonzero(free)[np.abs(A[free]).sum(axis=1).argmax()])
        free[i] = False
        for side, (value, more) in enumerate(
            ((inside + gain[i], gain + 2 * A[:, i]), (inside, gain))
        ):
            rest = float(np.maximum(more + up @ free, 0)[free].sum())
            heapq.heappush(heap, (-(value + rest), 2 * number + side, value, more, free))
    return max(best, -heap[0][0]) if heap else best
