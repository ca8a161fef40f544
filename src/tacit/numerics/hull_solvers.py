"""The point of conv(Z) nearest to 0, as two solvers propose it; neither is believed.

DAQP is the faster one, non-negative least squares the one that seldom gives up.
"""

from collections.abc import Callable

import numpy as np

from tacit.numerics.tolerances import MARGIN

Solver = Callable[[np.ndarray, float], np.ndarray | None]


def hull_weights(Z: np.ndarray, solve: Solver) -> tuple[np.ndarray, bool]:
    """λ of sum 1 along the minimum over λ ≥ 0 of ‖Zᵀλ‖² + c²(1 − Σλ)²; False if `solve` gave up.

    It has the same direction for every c; c near the margin keeps both terms in sight of each other
    when the margin is tiny.
    """
    if Z.shape[1] > len(Z):  # λ depends on products of rows only, and they span no more dimensions
        Z = np.linalg.qr(Z.T)[1].T
    weights = np.full(len(Z), 1 / len(Z))
    c = 1.0
    # c follows the distance from 0; two corrections bring it near enough, whatever the margin.
    for _ in range(3):
        lam = solve(Z, c)
        if lam is None or not 0 < lam.sum() < np.inf:
            return weights, False  # still a valid dual point
        weights = lam / lam.sum()
        distance = np.linalg.norm(weights @ Z)
        if distance > MARGIN.rescale * c or distance < MARGIN.rescale_until:
            break
        c = float(distance)
    return weights, True


def by_active_set(Z: np.ndarray, c: float) -> np.ndarray | None:
    """DAQP on min ‖w‖² + s² subject to z_i·w + cs ≥ c, which always has a solution; its λ."""
    import daqp

    n, d = Z.shape
    rows = np.column_stack([Z, np.full(n, c)])
    above, at_least, kind = np.full(n, np.inf), np.full(n, c), np.zeros(n, dtype=np.intc)
    # Degenerate rows can make DAQP cycle; a solution takes it about as many steps as rows.
    options = {"primal_tol": MARGIN.feasible * c, "iter_limit": 100 + 3 * n}
    try:
        _, _, flag, more = daqp.solve(
            np.eye(d + 1), np.zeros(d + 1), rows, above, at_least, kind, **options
        )
    except Exception:  # whatever it is, there is another solver
        return None
    return np.maximum(-more["lam"], 0) if flag == 1 else None


def by_least_squares(Z: np.ndarray, c: float) -> np.ndarray | None:
    """Non-negative least squares as it stands."""
    from scipy.optimize import nnls

    # The last row keeps λ away from 0; its weight c only sets where along the ray λ ends.
    A = np.vstack([Z.T, np.full(len(Z), c)])
    try:
        return nnls(A, np.append(np.zeros(Z.shape[1]), c))[0]
    except RuntimeError:  # too many iterations
        return None
