"""Where gradient flow can end in an agreement regime of sarussi2021: is its limit inside?"""

import numpy as np

from tacit.numerics.max_margin import max_margin


def regime_margin(
    X: np.ndarray, y: np.ndarray, c_w: np.ndarray, c_u: np.ndarray, alpha: float
) -> float:
    """The margin in the NAR (c_w, c_u) of the only limit that it can have; negative if outside.

    Where all neurons of a type are on the sides c, σ is linear on the data and the limit solves
    min ‖w‖² + ‖u‖² subject to y_i(σ'(c_w,i) w·x_i − σ'(c_u,i) u·x_i) ≥ 1. With the sides y and −y,
    those of the PAR, this is (7).
    """
    slope_w, slope_u = (np.where(c > 0, 1.0, alpha)[:, None] for c in (c_w, c_u))
    best = max_margin(y[:, None] * np.hstack([slope_w * X, -slope_u * X]))
    if best.status != "separable":
        return -np.inf
    sides = zip((c_w, c_u), np.split(best.direction, 2), strict=True)
    return min(float((c * (X @ w)).min() / np.linalg.norm(w)) for c, w in sides)
