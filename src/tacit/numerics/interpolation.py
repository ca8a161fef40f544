"""Weights of fixed directions that fit every point, where solvers of programs lose their digits.

Points of different classes that nearly coincide need weights of 10⁸ and more, whose margins drown
in the tolerances of a linear or conic program. Least squares do not have that trouble: H c = b is
solved up to rounding errors of the size of ε‖c‖, whatever the condition of H.
"""

from __future__ import annotations

from collections.abc import Sequence

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
) -> Neurons | None:
    """A network with y_i f(x_i) = 1 at every point, of small size; None where none comes out.

    A neuron tells two close points apart if its activation hyperplane runs between them, so that
    directions perpendicular to each point join those given. With both signs, least squares with
    new weights |c| of the columns, again and again, lead to the least Σ|c|; with one sign,
    non-negative least squares have to do.
    """
    n, d = X.shape
    lengths = np.linalg.norm(X, axis=1)
    unit = X / lengths[:, None]
    along = np.repeat(unit, INTERPOLATION.perpendicular, axis=0)
    across = rng.standard_normal((len(along), d))
    for _ in range(2):  # the second time removes the rounding errors of the first
        across -= (across * along).sum(axis=1)[:, None] * along
    U = np.vstack([directions, unit, -unit, across, -across])
    norms = np.linalg.norm(U, axis=1)
    U = U[norms > 0] / norms[norms > 0, None]
    t = unit @ U.T
    H = y[:, None] * np.maximum(t, alpha * t)
    goal = lengths.min() / lengths
    if len(signs) == 1:
        from scipy.optimize import nnls

        try:
            c = signs[0] * nnls(signs[0] * H, goal)[0]
        except RuntimeError:  # too many steps
            return None
    else:
        c = np.linalg.lstsq(H, goal, rcond=INTERPOLATION.singular)[0]
        for _ in range(INTERPOLATION.reweightings):
            weights = np.sqrt(np.abs(c) + INTERPOLATION.least_weight * np.abs(c).max())
            c = weights * np.linalg.lstsq(H * weights, goal, rcond=INTERPOLATION.singular)[0]
    used = np.abs(c) > 0
    return Neurons(U[used] * np.abs(c[used])[:, None], np.sign(c[used]).astype(int))
