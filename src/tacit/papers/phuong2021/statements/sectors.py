"""Sectors (Definition 1): signs of w·x_i, and what pulls on a neuron in its sector."""

import numpy as np

ON_HYPERPLANE = 1e-9
"""A neuron is on the activation hyperplane of a point when |cos(w, x)| is at most this."""


def cosines(W: np.ndarray, X: np.ndarray) -> np.ndarray:
    """m × n cosines of neurons and points; 0 for neurons that are 0."""
    lengths = np.outer(np.linalg.norm(W, axis=1), np.linalg.norm(X, axis=1))
    return np.divide(W @ X.T, lengths, out=np.zeros(lengths.shape), where=lengths > 0)


def sectors(W: np.ndarray, X: np.ndarray) -> np.ndarray:
    """m × n signs of w_k·x_i, 0 on the activation hyperplane (Definition 1)."""
    products = cosines(W, X)
    return np.where(np.abs(products) <= ON_HYPERPLANE, 0, np.sign(products)).astype(np.int8)  # (11)


Hyperplanes = list[tuple[int, np.ndarray, np.ndarray]]
"""For every neuron on hyperplanes: its number, the points of these, and their pseudoinverse."""


def hyperplanes_of(signs: np.ndarray, X: np.ndarray) -> Hyperplanes:
    """The hyperplanes that hold active neurons of these sectors."""
    rows = np.flatnonzero((signs == 0).any(axis=1) & (signs > 0).any(axis=1))
    return [(int(k), points := X[signs[k] == 0], np.linalg.pinv(points)) for k in rows]


def pulls(
    signs: np.ndarray, X: np.ndarray, c: np.ndarray, hyperplanes: Hyperplanes | None = None
) -> np.ndarray:
    """Σ c_i 1{w·x_i > 0} P_w x_i for every neuron, from its signs.

    P_w projects onto the hyperplanes that the neuron is on.
    """
    g = ((signs > 0) * c) @ X  # (31), (46)
    for k, points, inverse in hyperplanes_of(signs, X) if hyperplanes is None else hyperplanes:
        g[k] -= inverse @ (points @ g[k])
    return g
