"""How far data is from being separable: the best direction among those that all fail.

max over unit w of min_i z_i·w is negative or 0 here, and hard to compute: minus 1 over the length
of the longest vector in the polytope {w : z_i·w ≥ −1}. Walking from vertex to longer vertex by
linear programs finds a good one, which bounds the value from below; 0 bounds it from above.
"""

import numpy as np

MOST_ENTRIES = 20_000
"""Rows times columns up to which the walk is tried."""
MOST_STARTS = 12
"""Directions that it starts from, both ways."""
MOST_STEPS = 20
"""Vertices of one walk."""


def nearest_miss(Z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A unit vector at least as good as w; as good for every order of the rows."""
    if not w.any():
        w = np.eye(1, Z.shape[1])[0]
    if Z.size > MOST_ENTRIES or not Z.any():
        return w
    from scipy.optimize import linprog

    # Sorted, so that the order of the rows does not decide between equal vertices.
    Z = np.unique(Z, axis=0)
    Z = Z / np.abs(Z).max()
    singular = np.linalg.svd(Z, full_matrices=True)[2]
    starts = [w, Z.mean(axis=0), *singular[::-1], *np.eye(Z.shape[1])][:MOST_STARTS]
    best = w
    for start in [sign * start for start in starts for sign in (1, -1)]:
        for _ in range(MOST_STEPS):
            vertex = linprog(-start, A_ub=-Z, b_ub=np.ones(len(Z)), bounds=(None, None))
            if vertex.status == 3:  # unbounded: along some direction no row fails at all
                vertex = linprog(-start, A_ub=-Z, b_ub=np.zeros(len(Z)), bounds=(-1, 1))
            if vertex.x is None or not vertex.x.any():
                break
            better = vertex.x / np.linalg.norm(vertex.x)
            if _worst(Z, better) <= _worst(Z, best):
                break
            best = start = better
    return best


def _worst(Z: np.ndarray, w: np.ndarray) -> float:
    return float((Z @ w).min() / np.linalg.norm(w))
