"""The rectified ellipsoid Q = {(Xu)₊ : ‖u‖ ≤ 1} of two points in the plane, in closed form.

X has two independent rows. On the circle λᵀ(Xu)₊ consists of four arcs, on each of which it is g·u
for one gradient g = XᵀDλ; so it is largest at a g/‖g‖ or where two arcs meet (wang2022 (11), (12)).
"""

from typing import NamedTuple

import numpy as np


class Extreme(NamedTuple):
    """Where λᵀ(Xu)₊ is largest, or smallest, on a closed cell and the unit disc."""

    u: np.ndarray
    value: float
    largest: bool


def on_circle(angles: np.ndarray) -> np.ndarray:
    """The unit vectors at these angles, one in each row."""
    return np.column_stack([np.cos(angles), np.sin(angles)])


def hyperplane_directions(X: np.ndarray) -> np.ndarray:
    """Unit vectors along the activation hyperplanes u·x_i = 0: one each, then their opposites."""
    across = X[:, ::-1] * [1, -1] / np.linalg.norm(X, axis=1)[:, None]
    return np.vstack([across, -across])


def rectified_image(X: np.ndarray, U: np.ndarray) -> np.ndarray:
    """(Xu)₊ for rows u."""
    return np.maximum(U @ X.T, 0)


def gauge(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """The length of the shortest u with (Xu)₊ = z, for rows z ≥ 0: at most 1 for those in Q.

    With z_j = 0 any u·x_j ≤ 0 will do: then u is along x_i, unless that makes an acute angle.
    """
    both = np.linalg.norm(np.linalg.solve(X, Z.T), axis=0)
    one = (Z / np.linalg.norm(X, axis=1)).max(axis=1)
    return np.where((Z > 0).all(axis=1) | (X[0] @ X[1] > 0), both, one)


def spikes(X: np.ndarray) -> list[np.ndarray]:
    """The parts of the axes that are in Q and not in the ellipsoid {Xu}: their two ends."""
    tips, ends = 1 / gauge(X, np.eye(2)), 1 / np.linalg.norm(np.linalg.inv(X), axis=0)
    axes = zip(ends, tips, np.eye(2), strict=True)
    # Shorter spikes are rounding: there tip and end are the same number, computed in two ways.
    return [np.outer([end, tip], axis) for end, tip, axis in axes if tip > end * (1 + 1e-9)]


def support(X: np.ndarray, L: np.ndarray) -> np.ndarray:
    """max λᵀ(Xu)₊ over the unit disc, for rows λ.

    It is attained on an activation hyperplane or at the gradient of a cell.
    """
    best = (L @ rectified_image(X, hyperplane_directions(X)).T).max(axis=1, initial=0.0)
    for mask in ([1, 1], [1, 0], [0, 1]):
        G = (L * mask) @ X
        size = np.maximum(np.linalg.norm(G, axis=1), 1e-300)
        best = np.maximum(best, (L * rectified_image(X, G)).sum(axis=1) / size)
    return best


def polar_radius(X: np.ndarray, E: np.ndarray) -> np.ndarray:
    """How far the polar set {λ : |λ·z| ≤ 1 for all z in Q} reaches along unit rows (10)."""
    return 1 / np.maximum(support(X, E), support(X, -E))


def largest_by_force(X: np.ndarray, L: np.ndarray, count: int) -> np.ndarray:
    """max |λᵀ(Xu)₊| for rows λ, over `count` directions and the hyperplanes: checks `support`.

    Where it is largest between two directions, π/count or less from one, (π/count)²/2 is missed.
    """
    U = np.vstack([on_circle(np.linspace(-np.pi, np.pi, count)), hyperplane_directions(X)])
    Z = rectified_image(X, U).T
    return np.array([np.abs(row @ Z).max() for row in L])


def cell_extremes(X: np.ndarray, lam: np.ndarray) -> list[Extreme]:
    """Largest and smallest λᵀDXu, ‖u‖ ≤ 1, (2D − I)Xu ≥ 0, of each cell with an active point."""
    extremes = []
    for sides in np.array([[1, 1], [1, -1], [-1, 1]]):
        g = (lam * (sides > 0)) @ X
        top = g / max(float(np.linalg.norm(g)), 1e-300)
        possible = np.vstack([np.zeros(2), hyperplane_directions(X), top, -top])
        # Directions of hyperplanes lie on them up to rounding only.
        inside = possible[((possible @ X.T) * sides >= -1e-12).all(axis=1)]
        values = inside @ g
        for k, largest in ((values.argmax(), True), (values.argmin(), False)):
            extremes.append(Extreme(inside[k], float(values[k]), largest))
    return extremes
