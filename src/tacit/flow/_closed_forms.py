"""Closed forms of a neuron's way: how far it goes, and when it meets its next hyperplane.

With a fixed pull g of length γ, w∥ = ĝ·w and a turn hyperbolically at the rate γ, and the rest of w
stays; with a fixed output layer the neuron goes straight on. Far down the weights are divided by
e^(shrink·t) meanwhile, which changes neither where they point to nor what they meet.
"""

from __future__ import annotations

import numpy as np

from tacit.flow.tolerances import STAGE
from tacit.numerics.compiled import compiled_in_place

ON_PLANE, SAME_ROOT = STAGE.on_plane, STAGE.same_root
FAR, FARTHEST, BALANCED = STAGE.most_turn, STAGE.farthest, STAGE.balanced
Array = np.ndarray


@compiled_in_place
def hyperbolic(angle: float, shrunk: float) -> tuple[float, float, float]:
    """cosh − 1, sinh and 1, all divided by e^shrunk."""
    if angle > FAR:  # they overflow before they are divided
        keep, up, down = np.exp(-shrunk), np.exp(angle - shrunk), np.exp(-angle - shrunk)
        return (up + down) / 2 - keep, (up - down) / 2, keep
    # cosh − 1 is 2 sinh² of the half: as a difference it loses all digits of a short way.
    half, sinh = np.sinh(angle / 2), np.sinh(angle)
    if shrunk == 0:
        return 2 * half * half, sinh, 1.0
    keep = np.exp(-shrunk)
    return 2 * half * half * keep, sinh * keep, keep


@compiled_in_place
def forth(
    gamma: float, along: float, a: float, time: float, shrink: float, both: bool
) -> tuple[float, float, float]:
    """Where a neuron is after a time: what is left of its w, how far along g it goes, w += way·g,
    and its output weight."""
    if not both:
        return 1.0, a * time, a
    less, sinh, keep = hyperbolic(gamma * time, shrink * time)
    return keep, (less * along + sinh * a) / gamma, a * (keep + less) + along * sinh


@compiled_in_place
def decays(along: float, a: float, dimensions: int) -> bool:
    """Whether a neuron that can move in so many dimensions shrinks towards 0 for ever.

    Its layers are balanced then, and on a line it cannot turn. Rounding could: it grows like
    e^(γt) beside what is left, e^(−γt). Where weights are not divided, `Fork` is raised before.
    """
    return dimensions == 1 and abs(along + a) <= BALANCED * abs(a)


@compiled_in_place
def decayed(gamma: float, a: float, time: float, shrink: float) -> tuple[float, float, float]:
    """What `forth` says of such a neuron."""
    keep = np.exp(-(gamma + shrink) * time)
    return keep, 0.0, a * keep


@compiled_in_place
def reach(gamma: float, along: float, a: float, time: float, both: bool) -> float:
    """How far along g, in units of g, a neuron can have been until then."""
    if not both:
        return abs(a) * time
    angle = min(gamma * time, FARTHEST)
    less = 2 * np.sinh(angle / 2) ** 2
    return (abs(along) * less + abs(a) * np.sinh(angle)) / gamma


@compiled_in_place
def first_root(t: float, s: float, along: float, a: float, leaving: bool) -> float:
    """The first τ > 0 with t⊥ + s (w∥ cosh τ + a sinh τ) = 0: a quadratic equation for e^τ."""
    rest = t - s * along
    A, C = s * (along + a) / 2, s * (along - a) / 2
    square = rest * rest - 4 * A * C
    if not square >= 0:
        return np.inf
    root = np.sqrt(square)
    # The root that does not cancel; the other follows from the product of both.
    half = -(rest + (root if rest >= 0 else -root)) / 2
    first = np.inf
    for number in range(2):
        E = half / A if number == 0 else C / half
        if 1 < E < first and not (leaving and E - 1 < SAME_ROOT):
            first = E
    return np.log(first)


@compiled_in_place
def next_plane(
    T: Array,
    S: Array,
    side: Array,
    gamma: float,
    along: float,
    a: float,
    length: float,
    left: float,
    both: bool,
) -> tuple[float, int]:
    """When the neuron meets its next hyperplane, and which; inf when not in the time left.

    T and S are the products of all normals with w and with the velocity; `along` is ĝ·w.
    """
    far, near = reach(gamma, along, a, left, both), ON_PLANE * np.hypot(length, a)
    # In units of the neuron: the square in `first_root` may under- or overflow.
    unit = max(np.hypot(length, a), 1e-300)
    along, a, length = along / unit, a / unit, length / unit
    until = min(left, FARTHEST / gamma) if both else left
    _, way, after = forth(gamma, along, a, until, 0.0, both)
    way *= gamma
    turns = a * after < 0  # it turns around on the way
    soonest, met = np.inf, -1
    for plane in range(len(T)):
        here = side[plane]
        # Most hyperplanes are out of reach, and this is far cheaper than the logarithm of a root.
        if here == 0 or here * T[plane] > abs(S[plane]) * far + near:
            continue
        t, s = T[plane] / unit, S[plane] / gamma
        at = abs(t) <= ON_PLANE * length
        towards = here * s * a  # the sign of the rate at which it goes away from the plane
        if not (at or here * (t + s * way) < 0 or here * t < 0 or turns):
            continue
        if (at and towards < 0) or (not at and here * t < 0):
            when = 0.0
        elif both:
            when = first_root(t, s, along, a, at and towards > 0) / gamma
        else:
            when = np.inf if at else -t / (s * a * gamma)
            if not when > 0:
                when = np.inf
        if when <= soonest and when < np.inf:
            soonest, met = when, plane
    return soonest, met
