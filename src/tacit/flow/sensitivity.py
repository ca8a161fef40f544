"""How the margins after a stage answer to p, also where neurons meet hyperplanes on the way.

A neuron's way is a sequence of closed forms. Its derivative is carried along it: through a piece by
the derivative of the closed form, and past an event by that of the time at which it happens, which
is how much later or earlier e·w = 0 is met,

    δt = −e·δw / e·w',

so that the pieces before and after are that much longer and shorter. Everything here is plain
Python over arrays that Numba compiles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.flow._closed_forms import hyperbolic
from tacit.flow._faces import DEPENDENT, Faces, dot, face_of, project
from tacit.flow._lines import SampleLines, free_pulls, pulls_of, slope
from tacit.flow.motion import CROSS, RELEASE, SLIDE
from tacit.flow.tolerances import STEP
from tacit.numerics.compiled import compiled

Array = np.ndarray
SHORT = 1e-12
"""Hyperbolic angles up to which a piece of the way is straight."""
GRAZES = 1e-9
"""The sine of the angle to a hyperplane below which a neuron runs along it: the time at which it
meets it says nothing then."""
MOST_WORK = STEP.most_work
Net = tuple[Array, Array, Array]
"""W, a, and the sides of all neurons."""


class Parts(NamedTuple):
    """How the margins answer, in parts: NumPy has the faster products."""

    events: Array
    """The answer of neurons that met hyperplanes."""
    left: Array
    right: Array
    """leftᵀ right is what the other neurons do for the change of their speed, …"""
    felt: Array
    pulled: Array
    """… feltᵀ pulled, times x_i·x_j, that their pulls turn them, …"""
    across: Array
    """… and acrossᵀ across what the hyperplanes along which they slide take of that."""

    def total(self, lines: SampleLines, rows: Array) -> Array:
        """∂q₁/∂p."""
        X = lines.X[rows]
        total = self.events + self.left.T @ self.right
        total += (self.felt.T @ self.pulled) * (X @ X.T)
        # The product of a matrix with itself takes half of the time of another one.
        return np.asarray(total - self.across.T @ self.across)


@compiled
def response(
    before: Net,
    after: Net,
    copies: Array,
    events: Array,
    lines: SampleLines,
    c: Array,
    rows: Array,
    faces: Faces,
    both: bool,
    h: float,
    shrink: Array,
) -> Parts:
    """∂q₁/∂p for these samples, where q₁ are the margins after a stage of length h.

    Where it would take too long to carry it through the events, those early in the step are taken
    to have happened before it: Newton's method then takes more of its steps, each in less time.
    """
    m, d = before[0].shape
    met, on, early = np.zeros(m, np.int64), 0, False
    for event in events:
        met[int(event[0])] += 1
        early = early or event[3] < h / 2
    for k in range(m):
        if met[k]:
            on = max(on, int(np.sum(after[2][k] == 0)))
    plus, minus = pulls_of(lines, c)
    X, y, line, r = lines.X[rows], lines.y[rows], lines.line[rows], lines.r[rows]
    some = SampleLines(X, y, lines.alpha, lines.e, line, r, lines.gram)
    if len(rows) * d * (on + 4) * (len(events) + np.sum(met > 0)) > MOST_WORK:
        met[:] = 0
        if early:
            before = (before[0], before[1], after[2])
    calm = np.flatnonzero((met == 0) & (before[1] != 0))
    left, right, felt, pulled, across = _calm(
        calm, before, after, copies, plus, minus, some, faces, both, h, shrink
    )
    total = np.zeros((len(rows), len(rows)))
    active, felt_by = np.empty(len(rows), np.int64), np.empty(len(rows))
    for k in range(m):
        if met[k] == 0:
            continue
        G = np.zeros((len(rows), d))  # ∂(a w) of all neurons that end in the cell of this one
        for other in range(k, m):
            if met[other] == 0 or not np.all(after[2][other] == after[2][k]):
                continue
            way = np.empty((met[other], 3))
            met[other] = 0
            for event in events:
                if event[0] == other:
                    way[met[other]] = event[1:4]
                    met[other] += 1
            ways = way, plus, minus, some, both, h, shrink[other]
            D = turned(other, before, after[2][k], *ways)
            met[other] = 0
            for i in range(len(rows)):
                for x in range(d):
                    w, a = after[0][other, x], after[1][other]
                    G[i, x] += copies[other] * (a * D[i, x] + w * D[i, d])
        many = 0
        for i in range(len(rows)):
            acts = slope(after[2][k, some.line[i]], some.r[i], lines.alpha)
            if acts != 0:
                active[many], felt_by[many] = i, acts * some.y[i]
                many += 1
        moved = np.dot(some.X[active[:many]], G.T)
        for i in range(many):
            for j in range(len(rows)):
                total[active[i], j] += felt_by[i] * moved[i, j]
    return Parts(total, left, right, felt, pulled, across)


@compiled
def _calm(
    calm: Array,
    before: Net,
    after: Net,
    copies: Array,
    plus: Array,
    minus: Array,
    lines: SampleLines,
    faces: Faces,
    both: bool,
    h: float,
    shrink: Array,
) -> tuple[Array, Array, Array, Array, Array]:
    """The same for neurons that met no hyperplane, from the derivative of the closed form.

    A neuron answers to a change δg of its pull along its face by way·δg, and by what the change of
    its speed does to w∥ and a.
    """
    (W, a, side), X, n = before, lines.X, len(lines.y)
    pulled, felt, live = np.empty((len(calm), n)), np.empty((len(calm), n)), 0
    same = np.empty(len(calm), np.bool_)  # what pulls on it feels it
    for k in calm:
        acts, same[live] = False, True
        for i in range(n):
            y, r, line = lines.y[i], lines.r[i], lines.line[i]
            pulled[live, i] = y * slope(side[k, line], r, lines.alpha)
            felt[live, i] = y * slope(after[2][k, line], r, lines.alpha)
            acts = acts or pulled[live, i] != 0
            same[live] = same[live] and pulled[live, i] == felt[live, i]
        calm[live] = k
        live += acts
    calm, pulled, felt = calm[:live], pulled[:live], felt[:live]
    g = free_pulls(side[calm], lines.e, plus, minus)
    XT = np.ascontiguousarray(X.T)
    products, ends = np.dot(W[calm], XT), np.dot(after[0][calm], XT)
    most = 2 * live
    for j in range(live):
        at = face_of(calm[j], side, faces, lines.e)
        project(faces, at, g[j])
        most += faces.rank[at]
    forth = np.dot(g, XT)
    # Every summand is a sum of products of what one sample feels and another one pulls.
    left, right, across = np.empty((most, n)), np.empty((most, n)), np.empty((most, n))
    at, mine = 0, 0
    for j in range(live):
        k = calm[j]
        weight, way = copies[k] * after[1][k], a[k] * h  # w₁ − w = way g
        if both:
            size = max(np.sqrt(dot(g[j], g[j])), 1e-300)
            along = dot(g[j], W[k]) / size
            less, S, keep = hyperbolic(size * h, shrink[k] * h)
            C = less + keep
            way = (less * along + S * a[k]) / size
            inner, outer = (S * along + C * a[k]) * h - way, (S * a[k] + C * along) * h
            for i in range(n):
                ahead = forth[j, i] / size
                aside = (products[j, i] - along * ahead) / size  # ∂w∥/∂g
                left[at, i] = felt[j, i] * weight * ahead
                right[at, i] = pulled[j, i] * (inner * ahead + less * aside)
                left[at + 1, i] = felt[j, i] * copies[k] * ends[j, i]
                right[at + 1, i] = pulled[j, i] * (outer * ahead + S * aside)  # ∂a/∂g
            at += 2
        for i in range(n):
            pulled[j, i] *= weight * way
        face = face_of(k, side, faces, lines.e)
        rank, by = faces.rank[face], np.sqrt(max(weight * way, 0.0))
        cut = np.dot(faces.Q[face][:rank], XT)  # it can move along its hyperplanes only
        for row in range(rank):
            if same[j] and weight * way >= 0:
                for i in range(n):
                    across[mine, i] = by * felt[j, i] * cut[row, i]
                mine += 1
            else:
                for i in range(n):
                    left[at, i] = -felt[j, i] * cut[row, i]
                    right[at, i] = pulled[j, i] * cut[row, i]
                at += 1
    return left[:at], right[:at], felt, pulled, across[:mine]


@compiled
def turned(
    k: int,
    before: Net,
    end: Array,
    way: Array,
    plus: Array,
    minus: Array,
    lines: SampleLines,
    both: bool,
    h: float,
    shrink: float,
) -> Array:
    """∂w and ∂a (samples × d + 1) of neuron k, which met hyperplanes, by the p of these samples.

    Its way has the hyperplane, the kind and the time of every event; `end` are its last sides.
    """
    w, a, side = before[0][k].copy(), before[1][k], before[2][k].copy()
    plane, met, when = way[:, 0].astype(np.int64), way[:, 1].astype(np.int64), way[:, 2]
    X, e, d = lines.X, lines.e, len(w)
    g, Q = np.zeros(d), np.zeros((min(len(e), d), d))
    D, pushed, late = np.zeros((len(X), d + 1)), np.zeros((len(X), d)), np.zeros(len(X))
    now = 0.0
    for step in range(len(met) + 1):
        last = step == len(met)
        rank = _pull(g, side, e, plus, minus, Q)
        if last or met[step] != RELEASE or when[step] > now:
            time = max((h if last else when[step]) - now, 0.0)
            now += time
            _push(pushed, side, lines, Q, rank)
            a = _piece(w, a, g, time, shrink, D, pushed, both)
            rate = dot(g, w) if both else 0.0
            normal = e[0 if last else plane[step]]
            speed = a * dot(normal, g)
            # At a release the velocity does not jump: when it happens says nothing either.
            still = abs(speed) <= GRAZES * abs(a) * np.sqrt(dot(g, g))
            still = still or (not last and met[step] == RELEASE)
            for i in range(len(X)):
                wait = -late[i]
                if not last:
                    wait = 0.0 if still else -dot(normal, D[i]) / speed
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
def _push(pushed: Array, side: Array, lines: SampleLines, Q: Array, rank: int) -> None:
    """∂g by the p of every sample: y_i φ'_i x_i along the face."""
    for i in range(len(pushed)):
        factor = lines.y[i] * slope(side[lines.line[i]], lines.r[i], lines.alpha)
        if factor == 0:
            pushed[i] = 0.0
            continue
        for x in range(pushed.shape[1]):
            pushed[i, x] = factor * lines.X[i, x]
        _along(pushed[i], Q, rank)


@compiled
def _piece(
    w: Array, a: float, g: Array, time: float, shrink: float, D: Array, pushed: Array, both: bool
) -> float:
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
        keep = np.exp(-shrink * time)
        D *= keep
        for x in range(d):
            w[x] = keep * (w[x] + a * time * g[x])
        return keep * (a + more)
    along = dot(g, w) / size
    less, S, keep = hyperbolic(size * time, shrink * time)
    C, far = less + keep, less * along + S * a  # how far it goes along g
    for i in range(len(D)):
        faster = dot(g, pushed[i]) / size
        before = dot(g, D[i]) / size + (dot(w, pushed[i]) - along * faster) / size  # ∂w∥
        after = C * before + S * D[i, d] + (S * along + C * a) * time * faster
        for x in range(d):
            unit = g[x] / size
            ahead = unit * (after - keep * before)
            D[i, x] = keep * D[i, x] + ahead + far * (pushed[i, x] - unit * faster) / size
        D[i, d] = C * D[i, d] + S * before + (S * a + C * along) * time * faster
    for x in range(d):
        w[x] = keep * w[x] + far * g[x] / size
    return C * a + S * along
