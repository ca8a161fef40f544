"""Least squares over a cone or a box, and linear programs, for small dense problems.

SciPy's optimisers enter here for the packages above. No status is believed: the caller gets the
residual of the point that came back, and a linear program that fails gives None.
"""

from collections.abc import Sequence

import numpy as np
from scipy import optimize


def nnls(A: np.ndarray, b: np.ndarray, most_steps: int | None = None) -> tuple[np.ndarray, float]:
    """x ≥ 0 that makes ‖Ax − b‖ smallest, and that distance."""
    x, _ = optimize.nnls(A, b, maxiter=most_steps)
    return x, float(np.linalg.norm(A @ x - b))


def boxed_least_squares(
    A: np.ndarray, b: np.ndarray, low: np.ndarray | float, high: np.ndarray | float
) -> np.ndarray:
    """x between `low` and `high` that makes ‖Ax − b‖ smallest."""
    # SciPy refuses a box that is flat in some direction, as where opposite points pull alike.
    high = np.maximum(high, np.nextafter(low, np.inf))
    # With SciPy's own tolerance, 1e-10, it stops while residuals could still fall to rounding size.
    return optimize.lsq_linear(A, b, bounds=(low, high), method="bvls", tol=1e-14).x


def linear_program(
    costs: np.ndarray,
    at_most: tuple[np.ndarray, np.ndarray],
    equal: tuple[np.ndarray, np.ndarray],
    bounds: Sequence[tuple[float | None, float | None]],
) -> np.ndarray | None:
    """A minimiser of costs·x with Ax ≤ b, Cx = d and bounds; None where none came back."""
    answer = optimize.linprog(costs, *at_most, *equal, bounds)
    return answer.x
