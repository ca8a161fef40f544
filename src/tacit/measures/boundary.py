"""How far the decision boundary of a two-layer network is from a plane."""

import math

import numpy as np

DIRECTIONS = 2000
"""Random directions in which a boundary is looked at."""


def bend(W: np.ndarray, a: np.ndarray, alpha: float) -> float:
    """The degrees by which f = 0 leaves the plane that it would be if it were one.

    f(x) = Σ a_k φ(w_k·x) is the sum of an odd part u·x, u = (1+α)/2 Σ a_k w_k, and an even one,
    (1−α)/2 Σ a_k|w_k·x|. If f = 0 is a plane through 0, it is u·x = 0, and the even part is 0 on
    it. What this is there instead, at most, over ‖u‖ is the tangent of the angle. In two dimensions
    it is exact; in more it is the largest over random directions.
    """
    # The angle does not depend on the scale of the layers, which may be beyond squares of floats.
    W, a = W / np.abs(W).max(), a / np.abs(a).max()
    u = (1 + alpha) / 2 * a @ W
    if len(u) == 1 or not u.any():  # a point, or nothing that a plane could be told from
        return 0.0 if u.any() else 90.0
    plane = np.linalg.svd(u[None])[2][1:]
    # A fixed seed: the same network bends by the same angle.
    x = np.random.default_rng(0).standard_normal((DIRECTIONS, len(plane))) @ plane
    x /= np.linalg.norm(x, axis=1)[:, None]
    even = (1 - alpha) / 2 * np.abs(x @ W.T) @ a
    return math.degrees(math.atan2(float(np.abs(even).max()), float(np.linalg.norm(u))))
