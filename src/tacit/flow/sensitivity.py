"""How the margins after a stage answer to p, also where neurons meet hyperplanes on the way.

A neuron's way is a sequence of closed forms. Its derivative is carried along it: through a piece by
the derivative of the closed form, and past an event by that of the time at which it happens, which
is how much later or earlier e·w = 0 is met,

    δt = −e·δw / e·w',

so that the pieces before and after are that much longer and shorter. Everything here is plain
Python over arrays that Numba compiles.
"""

from __future__ import annotations

import numpy as np

from tacit.flow._faces import DEPENDENT, dot
from tacit.flow.motion import CROSS, RELEASE, SLIDE
from tacit.numerics.compiled import compiled

Array = np.ndarray
SHORT = 1e-12
"""Hyperbolic angles up to which a piece of the way is straight."""
GRAZES = 1e-9
"""The sine of the angle to a hyperplane below which a neuron runs along it: the time at which it
meets it says nothing then."""


@compiled
def turned(
    w: Array,
    a: float,
    side: Array,
    end: Array,
    met: Array,
    plane: Array,
    when: Array,
    e: Array,
    plus: Array,
    minus: Array,
    X: Array,
    line: Array,
    r: Array,
    y: Array,
    alpha: float,
    both: bool,
    h: float,
) -> Array:
    """∂w and ∂a (samples × d + 1) of a neuron that `met` hyperplanes, by the p of these samples.

    `side` and `end` are its sides at the beginning and at the end of the stage.
    """
    d = len(w)
    w, side = w.copy(), side.copy()
    g, Q = np.zeros(d), np.zeros((min(len(e), d), d))
    D, pushed, late = np.zeros((len(X), d + 1)), np.zeros((len(X), d)), np.zeros(len(X))
    now = 0.0
    for step in range(len(met) + 1):
        last = step == len(met)
        rank = _pull(g, side, e, plus, minus, Q)
        if last or met[step] != RELEASE:
            time = max((h if last else when[step]) - now, 0.0)
            now += time
            _push(pushed, side, X, line, r, y, alpha, Q, rank)
            a = _piece(w, a, g, time, D, pushed, both)
            rate = dot(g, w) if both else 0.0
            normal = e[0 if last else plane[step]]
            speed = a * dot(normal, g)
            grazes = abs(speed) <= GRAZES * abs(a) * np.sqrt(dot(g, g))
            for i in range(len(X)):
                wait = -late[i]
                if not last:
                    wait = 0.0 if grazes else -dot(normal, D[i]) / speed
                late[i] += wait
                for x in range(d):
                    D[i, x] += a * g[x] * wait
                D[i, d] += rate * wait
        if last:
            break
        where = plane[step]
        if met[step] == CROSS:
            side[where] = -side[where]
        elif met[step] == SLIDE:
            side[where] = 0
        else:
            speed = a * (dot(e[where], g) + plus[where])
            side[where] = _released(step, met, plane, end, speed)
    return D


@compiled
def _along(v: Array, Q: Array, rank: int) -> None:
    """Project v, in place, on the face whose normals are rows of Q."""
    for j in range(rank):
        part = dot(Q[j], v)
        for x in range(len(v)):
            v[x] -= part * Q[j, x]


@compiled
def _released(step: int, met: Array, plane: Array, end: Array, speed: float) -> int:
    """The side to which a neuron was released: the events after tell, or else the speed there."""
    here = end[plane[step]]
    for later in range(step + 1, len(met)):
        if plane[later] == plane[step]:
            if met[later] == SLIDE:
                return 1 if speed > 0 else -1
            if met[later] == CROSS:
                here = -here
    return here


@compiled
def _pull(g: Array, side: Array, e: Array, plus: Array, minus: Array, Q: Array) -> int:
    """Make g the velocity over a of a neuron with these sides, and Q the normals of its face."""
    rank = 0
    g[:] = 0.0
    for i in range(len(e)):
        if side[i] != 0:
            pull = plus[i] if side[i] > 0 else minus[i]
            for x in range(len(g)):
                g[x] += pull * e[i, x]
        elif rank < len(Q):
            Q[rank] = e[i]
            _along(Q[rank], Q, rank)
            _along(Q[rank], Q, rank)
            length = np.sqrt(dot(Q[rank], Q[rank]))
            if length > DEPENDENT:
                for x in range(len(g)):
                    Q[rank, x] /= length
                rank += 1
    _along(g, Q, rank)
    return rank


@compiled
def _push(
    pushed: Array,
    side: Array,
    X: Array,
    line: Array,
    r: Array,
    y: Array,
    alpha: float,
    Q: Array,
    rank: int,
) -> None:
    """∂g by the p of every sample: y_i φ'_i x_i along the face."""
    for i in range(len(X)):
        towards = side[line[i]] * r[i]
        factor = y[i] * (1.0 if towards > 0 else (alpha if towards < 0 else 0.0))
        for x in range(X.shape[1]):
            pushed[i, x] = factor * X[i, x]
        _along(pushed[i], Q, rank)


@compiled
def _piece(w: Array, a: float, g: Array, time: float, D: Array, pushed: Array, both: bool) -> float:
    """Move w along a piece of its way, and D with it; a at its end is returned."""
    d = len(w)
    size = np.sqrt(dot(g, g))
    if not both or size * time < SHORT:
        for i in range(len(D)):
            more = time * dot(pushed[i], w) if both else 0.0
            for x in range(d):
                D[i, x] += time * (a * pushed[i, x] + D[i, d] * g[x])
            D[i, d] += more
        more = time * dot(g, w) if both else 0.0
        for x in range(d):
            w[x] += a * time * g[x]
        return a + more
    along = dot(g, w) / size
    C, S, half = np.cosh(size * time), np.sinh(size * time), np.sinh(size * time / 2)
    far = 2 * half * half * along + S * a  # how far it goes along g
    for i in range(len(D)):
        faster = dot(g, pushed[i]) / size
        before = dot(g, D[i]) / size + (dot(w, pushed[i]) - along * faster) / size  # ∂w∥
        after = C * before + S * D[i, d] + (S * along + C * a) * time * faster
        for x in range(d):
            unit = g[x] / size
            D[i, x] += unit * (after - before) + far * (pushed[i, x] - unit * faster) / size
        D[i, d] = C * D[i, d] + S * before + (S * a + C * along) * time * faster
    for x in range(d):
        w[x] += far * g[x] / size
    return C * a + S * along
