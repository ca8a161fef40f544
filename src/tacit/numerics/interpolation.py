"""Weights of fixed directions that fit every point, where solvers of programs lose their digits.

Points of different classes that nearly coincide need weights of 10⁸ and more, whose margins drown
in the tolerances of a linear or conic program. Least squares do not have that trouble: H c = b is
solved up to rounding errors of the size of ε‖c‖, whatever the condition of H.
"""

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from tacit.numerics.neurons import Neurons
from tacit.numerics.tolerances import INTERPOLATION


def interpolate(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    signs: Sequence[int],
    directions: np.ndarray,
    rng: np.random.Generator,
    deadline: float,
) -> Neurons | None:
    """A network with y_i f(x_i) = 1 at every point, of small size; None where none comes out.

    A neuron tells two close points apart if its activation hyperplane runs between them, so that
    directions perpendicular to each point join those given. With both signs, least squares with
    new weights |c| of the columns, again and again, lead to the least Σ|c|; with one sign,
    non-negative least squares have to do, and y_i f(x_i) ≥ 1, since f or −f is convex.
    """
    from scipy.linalg import lstsq, qr
    from scipy.optimize import nnls

    lengths = np.linalg.norm(X, axis=1)
    unit = X / lengths[:, None]
    U = _directions(unit, directions, rng)
    t = unit @ U.T
    H = y[:, None] * np.maximum(t, alpha * t)
    goal = lengths.min() / lengths
    if len(signs) == 1:
        try:
            beyond = -np.eye(len(X))  # how much larger than 1 margins are
            c = signs[0] * nnls(np.hstack([signs[0] * H, beyond]), goal)[0][: len(U)]
        except RuntimeError:  # too many steps
            return None
    else:
        weights = np.ones(len(U))
        for _ in range(INTERPOLATION.reweightings):
            program = lstsq(H * weights, goal, INTERPOLATION.singular, lapack_driver="gelsy")
            c = weights * program[0]
            # √|c| as weights turns Σc² into Σ|c| at the fixed point; the least one keeps columns
            # alive.
            weights = np.sqrt(np.abs(c) + INTERPOLATION.least_weight * np.abs(c).max())
            if perf_counter() + seconds_of_interpolation(X) / 2 > deadline:
                break
        # A basic solution: the columns that pivoting prefers, as many as there are points.
        columns = qr(H * weights, mode="r", pivoting=True)[1][: len(X)]
        basic = lstsq(H[:, columns], goal, INTERPOLATION.singular, lapack_driver="gelsy")[0]
        if (H[:, columns] @ basic > 0).all():  # as many neurons as points
            c = np.zeros(len(U))
            c[columns] = basic
    used = np.abs(c) > 0
    return Neurons(U[used] * np.abs(c[used])[:, None], np.sign(c[used]).astype(int))


def _directions(unit: np.ndarray, given: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Unit vectors: those given, the points, and random ones perpendicular to each point."""
    few = len(unit) <= INTERPOLATION.most_points
    along = np.repeat(unit, INTERPOLATION.perpendicular if few else 1, axis=0)
    across = rng.standard_normal(along.shape)
    for _ in range(2):  # the second time removes the rounding errors of the first
        across -= (across * along).sum(axis=1)[:, None] * along
    U = np.vstack([given, unit, -unit, across, -across] if few else [across, -across])
    norms = np.linalg.norm(U, axis=1)
    return U[norms > 0] / norms[norms > 0, None]


def seconds_of_interpolation(X: np.ndarray) -> float:
    """Estimate how long least squares, and a choice of columns, take."""
    n = len(X)
    few = n <= INTERPOLATION.most_points
    columns = (2 * INTERPOLATION.perpendicular + 2 if few else 2) * n
    return 4 * columns * n**2 / INTERPOLATION.products_per_second
