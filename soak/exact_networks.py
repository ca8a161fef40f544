"""Networks and multipliers judged in fractions, with no code of tacit.

The problem: min Σ|a_k|‖w_k‖ such that y_i f(x_i) ≥ 1 for all i, f(x) = Σ a_k φ(w_k·x) and
φ(z) = max(z, αz). Any network with positive margins bounds it from above; λ ≥ 0 bounds it from
below by Σλ / max_u |Σ λ_i y_i φ(x_i·u)| over unit vectors u.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cmp_to_key

import numpy as np

Vector = list[Fraction]


def exact(vector: np.ndarray) -> Vector:
    return [Fraction(float(value)) for value in vector]


def dot(u: Vector, v: Vector) -> Fraction:
    return sum((p * q for p, q in zip(u, v, strict=True)), Fraction(0))


def root(square: Fraction) -> float:
    """√, up to an ulp or two, for fractions of every size; inf where no float is so large."""
    if square == 0:
        return 0.0
    shift = (square.numerator.bit_length() - square.denominator.bit_length() - 120) // 2
    if shift > 1100:
        return math.inf
    return float(np.ldexp(math.sqrt(float(square / Fraction(4) ** shift)), shift))


def activation(z: Fraction, alpha: Fraction) -> Fraction:
    return z if z > 0 else alpha * z


def smallest_margin(
    W: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray, alpha: float
) -> Fraction:
    """min y_i f(x_i), exactly."""
    slope, weights = Fraction(alpha), exact(a)
    neurons = [exact(w) for w in W]
    margins = []
    for x, label in zip(X, y.tolist(), strict=True):
        point = exact(x)
        outputs = (activation(dot(w, point), slope) for w in neurons)
        margins.append(label * sum((b * f for b, f in zip(weights, outputs, strict=True)), 0))
    return min(margins)


def size(W: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray, alpha: float) -> float:
    """Σ|a_k|‖w_k‖ of the network scaled to the smallest margin 1; inf where it does not fit."""
    margin = smallest_margin(W, a, X, y, alpha)
    if margin <= 0:
        return math.inf
    return math.fsum(
        root(dot(w, w) * (b / margin) ** 2) for w, b in zip(map(exact, W), exact(a), strict=True)
    )


def first_layer_size(
    W: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray, alpha: float
) -> float:
    """‖W‖ of the network scaled to the smallest margin 1 by its first layer."""
    margin = smallest_margin(W, a, X, y, alpha)
    if margin <= 0:
        return math.inf
    return root(sum((dot(w, w) for w in map(exact, W)), Fraction(0)) / margin**2)


def _cross(u: Vector, v: Vector) -> Fraction:
    return u[0] * v[1] - u[1] * v[0]


def _by_angle(u: Vector, v: Vector) -> int:
    """Order of directions in the plane, counted from the first axis."""
    halves = [(w[1] < 0 or (w[1] == 0 and w[0] < 0)) for w in (u, v)]
    if halves[0] != halves[1]:
        return 1 if halves[0] else -1
    turn = _cross(u, v)
    return -1 if turn > 0 else int(turn < 0)


def bound_in_plane(
    dual: np.ndarray, X: np.ndarray, y: np.ndarray, alpha: float, signs: Sequence[int] = (1, -1)
) -> float:
    """What multipliers of points in the plane prove that every network has at least."""
    square = _peak_squared(dual, X, y, alpha, signs)
    return root(sum(exact(dual), Fraction(0)) ** 2 / square) if square else 0.0


def _peak_squared(
    dual: np.ndarray, X: np.ndarray, y: np.ndarray, alpha: float, signs: Sequence[int]
) -> Fraction:
    """(max s Σ λ_i y_i φ(x_i·u))² over unit vectors u of the plane and signs s, arc by arc.

    Between two neighbouring activation hyperplanes the sum is g·u with one vector g, so its
    maximum is ‖g‖ if g lies between them, and else at one of the two.
    """
    slope = Fraction(alpha)
    rows = [exact(x) for x in X if x.any()]
    weights = [Fraction(float(v)) * int(s) for v, s, x in zip(dual, y, X, strict=True) if x.any()]
    rays = [[-t * x[1], t * x[0]] for x in rows for t in (1, -1)]
    rays.sort(key=cmp_to_key(_by_angle))
    rays = [ray for k, ray in enumerate(rays) if k == 0 or _by_angle(rays[k - 1], ray) != 0]
    best = Fraction(0)
    for k, ray in enumerate(rays):
        after = rays[(k + 1) % len(rays)]
        inside = [p + q for p, q in zip(ray, after, strict=True)]
        if len(rays) == 2:  # all points on one line: the arcs are half circles
            inside = [-ray[1], ray[0]]
        g = [Fraction(0), Fraction(0)]
        for weight, x in zip(weights, rows, strict=True):
            factor = weight if dot(x, inside) > 0 else slope * weight
            g = [p + factor * q for p, q in zip(g, x, strict=True)]
        for s in signs:
            best = max(best, _highest([s * p for p in g], ray, after, len(rays) == 2))
    return best


def _highest(g: Vector, ray: Vector, after: Vector, half: bool) -> Fraction:
    """The square of the largest g·u over the unit vectors between two rays, 0 if none is above."""
    within = _cross(ray, g) >= 0 and (half or _cross(g, after) >= 0)
    if within and any(g):
        return dot(g, g)
    ends = [dot(g, u) for u in (ray, after)]
    return max(
        (h * h / dot(u, u) for h, u in zip(ends, (ray, after), strict=True) if h > 0),
        default=Fraction(0),
    )
