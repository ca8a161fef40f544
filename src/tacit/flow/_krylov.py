"""Large linear systems whose matrix is near the identity but for a few directions, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.numerics.compiled import compiled

Array = np.ndarray


class Response(NamedTuple):
    """The matrix 1 + diag(bend) rate diag(pushed) of some samples, which is never written out."""

    rate: Array
    """For more samples than these …"""
    at: Array
    """… and where these are in it."""
    bend: Array
    pushed: Array


@compiled
def product(response: Response, v: Array) -> Array:
    """The matrix times v."""
    pushed = np.zeros(len(response.rate))
    pushed[response.at] = response.pushed * v
    return v + response.bend * np.dot(response.rate, pushed)[response.at]


@compiled
def gmres(matrix: Response, b: Array, share: float, most: int) -> tuple[Array, bool]:
    """x with ‖b − matrix x‖ ≤ share ‖b‖, and whether `most` products were enough for it.

    GMRES (Saad & Schultz 1986): the best x in the span of b, matrix b, matrix² b, … A product takes
    n² operations, where elimination takes n³/3.
    """
    n = len(b)
    basis, H = np.zeros((most + 1, n)), np.zeros((most + 1, most))
    cos, sin, rest = np.zeros(most), np.zeros(most), np.zeros(most + 1)
    size = np.sqrt(np.dot(b, b))
    if size == 0:
        return np.zeros(n), True
    basis[0], rest[0] = b / size, size
    used = 0
    for j in range(most):
        ahead = product(matrix, basis[j])
        for _ in range(2):  # the second pass removes what rounding of the first has left
            for i in range(j + 1):
                part = np.dot(basis[i], ahead)
                H[i, j] += part
                ahead -= part * basis[i]
        length = np.sqrt(np.dot(ahead, ahead))
        for i in range(j):  # the rotations that made the columns before triangular
            one, other = H[i, j], H[i + 1, j]
            H[i, j], H[i + 1, j] = cos[i] * one + sin[i] * other, cos[i] * other - sin[i] * one
        radius = np.hypot(H[j, j], length)
        if not radius > 0:
            break
        cos[j], sin[j], H[j, j] = H[j, j] / radius, length / radius, radius
        rest[j + 1], rest[j] = -sin[j] * rest[j], cos[j] * rest[j]
        used = j + 1
        if abs(rest[used]) <= share * size or length == 0:
            break
        basis[used] = ahead / length
    weights = np.zeros(used)
    for i in range(used - 1, -1, -1):
        total = rest[i]
        for later in range(i + 1, used):
            total -= H[i, later] * weights[later]
        weights[i] = total / H[i, i]
    x = np.dot(weights, basis[:used])
    return x, bool(abs(rest[used]) <= share * size)
