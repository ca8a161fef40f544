"""Two Newton fits that look at large data first; nothing they say is believed without a check.

Both stay in the span of the rows: where that has fewer dimensions, they work in a basis of it.
"""

from collections.abc import Callable

import numpy as np


def logistic_fit(
    Z: np.ndarray, ridge: float, w: np.ndarray | None = None, most_steps: int = 50
) -> tuple[np.ndarray, np.ndarray]:
    """(w, λ) of min Σ log(1 + exp(−z_i·w)) + ridge·‖w‖²/2, beginning at w.

    At the minimum Σ λ_i z_i = ridge·w with λ_i = 1/(1 + exp(z_i·w)), so on data that cannot be
    separated λ tends to Farkas' proof as the ridge goes to 0. Stops as soon as w separates.
    """
    w = np.zeros(Z.shape[1]) if w is None else w
    if Z.shape[1] > len(Z):
        Q, R = np.linalg.qr(Z.T)
        flat, lam = logistic_fit(R.T, ridge, Q.T @ w, most_steps)
        return Q @ flat, lam

    def value(w: np.ndarray) -> float:
        return float(np.logaddexp(0, -(Z @ w)).sum() + ridge / 2 * w @ w)

    for _ in range(most_steps):
        margins = Z @ w
        # 1/(1 + e^m), without overflow for large m and without 0 for small ones.
        lam = np.exp(-np.logaddexp(0, margins))
        gradient = ridge * w - lam @ Z
        # What λ proves is checked elsewhere: a thousandth of the ridge's pull is exact enough.
        if margins.min() > 0 or np.linalg.norm(gradient) <= 1e-3 * ridge * np.linalg.norm(w):
            break
        bend = lam * (1 - lam)
        rows = bend > 1e-9 * bend.max()  # most rows are soon far from the boundary
        curvature = Z[rows].T @ (bend[rows, None] * Z[rows]) + ridge * np.eye(len(w))
        step = -np.linalg.solve(curvature, gradient)
        length = _line_search(value, w, step, float(gradient @ step))
        if length is None:
            break
        w = w + length * step
    return w, lam


def squared_hinge_fit(Z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A w near the max-margin one, beginning at one that separates.

    min ‖w‖²/2 + C/2 Σ max(1 − z_i·w, 0)² for growing C. Rows with z_i·w ≥ 1 play no part, so the
    steps become cheap as the others become few: in the end, the support.
    """
    if Z.shape[1] > len(Z):
        Q, R = np.linalg.qr(Z.T)
        return Q @ squared_hinge_fit(R.T, Q.T @ w)
    w = w / (Z @ w).min()
    # Each fit begins where the last one ended; with C = 1e8 at once, Newton's steps would be tiny.
    for C in (1e2, 1e4, 1e6, 1e8):

        def value(w: np.ndarray, C: float = C) -> float:
            room = np.maximum(1 - Z @ w, 0)
            return float(w @ w + C * room @ room) / 2

        before = None
        for _ in range(30):
            rows = np.flatnonzero(Z @ w < 1)
            if before is not None and np.array_equal(rows, before):
                break
            before = rows
            A = Z[rows]
            best = np.linalg.solve(A.T @ A + np.eye(len(w)) / C, A.sum(axis=0))
            slope = float(w @ (best - w) - C * (1 - A @ w) @ (A @ (best - w)))
            length = _line_search(value, w, best - w, slope)
            if length is None:
                break
            w = w + length * (best - w)
    return w


def _line_search(
    value: Callable[[np.ndarray], float], w: np.ndarray, step: np.ndarray, slope: float
) -> float | None:
    """The first of 1, ½, ¼, … that lowers the value enough; None when none does."""
    start, length = value(w), 1.0
    # Armijo's condition. After 33 halvings the step is below what rounding does to the value.
    while value(w + length * step) > start + 1e-4 * length * slope:
        length /= 2
        if length < 1e-10:
            return None
    return length
