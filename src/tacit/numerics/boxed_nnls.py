"""Non-negative least squares over a cone that has too many rays to list them.

min ‖Gλ + Bt − b‖ over λ ≥ 0 and 0 ≤ t_j ≤ λ_i, where every t_j belongs to one point i: the (λ, t)
of point i form a cone with the 2^r rays λ_i = 1, t in {0, 1}^r, and a sum of rays with
non-negative weights is all there is. The ray of a point that helps most is known at once from the
signs of Bᵀ(b − Gλ − Bt). So rays are asked for as they are needed, and the least-squares problem
over those in hand is solved by an active-set method on orthogonal factors, to rounding precision.
Points without a t have one ray, and then this is non-negative least squares with a working set.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tacit.numerics.float64 import EPS
from tacit.numerics.tolerances import RAYS


@dataclass(frozen=True, eq=False)
class Combination:
    """A sum of unit columns with positive weights; several rays may be of one point."""

    points: np.ndarray
    rays: np.ndarray
    weights: np.ndarray


class Columns(Protocol):
    """One column for every ray; a ray is a row of numbers that only this object understands."""

    def best(self, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ray of each point that helps most, and (its column / its length)·residual."""
        ...

    def matrix(self, points: np.ndarray, rays: np.ndarray) -> np.ndarray:
        """The columns of these rays, each divided by its length (zero columns stay zero)."""
        ...


COPIED = 50.0
"""Operations that take as long as the copies that are made of an entry."""


def nnls_over_rays(
    columns: Columns,
    target: np.ndarray,
    first: np.ndarray,
    spend: Callable[[float], None] = lambda operations: None,
    likely: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None,
) -> Combination:
    """The weights ≥ 0 that bring the sum of columns nearest to `target`.

    `first` are the points to begin with, the likeliest to get a weight in front. `spend` is told
    before every round how many operations it will take, which nobody knows before it is its turn.
    Where points need many rays at corners, `likely` is asked once for points and rays between them.
    """
    rays, _ = columns.best(target)
    points = first[: RAYS.first_points]
    rays = rays[points]
    A = columns.matrix(points, rays)
    combination = Combination(points[:0], rays[:0], np.zeros(0))
    smallest = np.inf
    for _ in range(RAYS.most_rounds):
        spend(_operations(len(first), *A.shape))
        weights = nonnegative(A, target)
        residual = target - A @ weights
        norm = float(np.linalg.norm(residual))
        if not norm < smallest:
            break  # rounding is all that is left
        smallest = norm
        used = weights > 0
        A, points, rays = A[:, used], points[used], rays[used]
        combination = Combination(points, rays, weights[used])
        more_rays, slopes = columns.best(residual)
        more = np.flatnonzero(slopes > RAYS.flat * norm)
        if len(more) == 0 or norm <= EPS * np.linalg.norm(target):
            break
        # No more than are in use, or a first set: the cost of a round then at most doubles.
        more = more[np.argsort(-slopes[more])[: max(RAYS.first_points, len(points))]]
        new = [(more, more_rays[more])]
        if likely is not None and A.shape[1] > max(len(first), RAYS.first_points):
            new.append(likely())
            likely = None
        for more, more_rays in new:
            A = np.hstack([A, columns.matrix(more, more_rays)])
            points, rays = np.concatenate([points, more]), np.vstack([rays, more_rays])
    return combination


def _operations(points: int, rows: int, columns: int) -> float:
    """Factors and copies of the columns in hand, their active sets, and the slopes of all."""
    factors = rows * columns * (2.0 * columns + COPIED)
    return factors + 3.0 * columns**3 + 2.0 * points * rows


def nonnegative(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """min ‖Ax − b‖ over x ≥ 0, for columns of length 1 or 0."""
    from scipy.optimize import nnls

    rows, n = A.shape
    if n == 0:
        return np.zeros(0)
    if rows > n + 1:  # an orthogonal change of the rows leaves n + 1 of them
        R: np.ndarray = np.linalg.qr(np.column_stack([A, b]), mode="r")  # type: ignore[assignment]
        A, b = R[:, :-1], R[:, -1]
    try:
        x = nnls(A, b, maxiter=30 * n)[0]
    except RuntimeError:
        x = np.zeros(n)
    # SciPy's answer is wrong now and then, without a word (seen in 1.17).
    return x if _optimal(A, b, x) else _active_set(A, b, x)


def _optimal(A: np.ndarray, b: np.ndarray, x: np.ndarray) -> bool:
    residual = b - A @ x
    slopes = A.T @ residual
    rounding = RAYS.rounding * EPS * (np.linalg.norm(b) + x.sum())
    tolerance = RAYS.flat * np.linalg.norm(residual) + rounding
    return bool(slopes.max() <= tolerance and (np.abs(slopes[x > 0]) <= tolerance).all())


def _active_set(A: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The method of Lawson and Hanson, from x ≥ 0 on: slow and sure."""
    if np.linalg.norm(b - A @ x) >= np.linalg.norm(b):
        x = np.zeros_like(x)
    x = _best_on(A, b, x, x > 0)
    for _ in range(3 * len(x)):
        norm = np.linalg.norm(b - A @ x)
        slopes = np.where(x > 0, 0.0, A.T @ (b - A @ x))
        # The steepest column may be one that rounding has freed: then the next one is tried.
        for j in np.argsort(-slopes):
            if slopes[j] <= RAYS.flat * norm:
                return x
            candidate = _best_on(A, b, x, (x > 0) | (np.arange(len(x)) == j))
            if np.linalg.norm(b - A @ candidate) < norm:
                x = candidate
                break
        else:
            return x
    return x


def _best_on(A: np.ndarray, b: np.ndarray, x: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Move towards the least-squares solution on the used columns; drop those that reach 0."""
    while used.any():
        z = np.zeros_like(x)
        z[used] = np.linalg.lstsq(A[:, used], b, rcond=None)[0]
        if (z[used] > 0).all():
            return z
        down = np.flatnonzero(used & (z <= 0))
        ways = x[down] - z[down]  # 0 for a column at 0 that stays there
        steps = np.divide(x[down], ways, out=np.zeros(len(down)), where=ways > 0)
        x = np.maximum(x + steps.min() * (z - x), 0.0)
        x[down[steps <= steps.min()]] = 0.0
        used = used & (x > 0)
    return x
