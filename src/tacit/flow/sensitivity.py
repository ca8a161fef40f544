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
from tacit.flow._faces import DEPENDENT, Faces, add, dot, face_of, project, put
from tacit.flow._lines import SampleLines, free_pulls, pulls_of, slope
from tacit.flow.motion import CROSS, RELEASE, SLIDE
from tacit.flow.tolerances import STEP
from tacit.numerics.compiled import compiled, compiled_in_place

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

    alone: Array
    """The answer of neurons that met hyperplanes, and less what the hyperplanes along which the
    others slide take of theirs."""
    left: Array
    right: Array
    """leftᵀ right is what the other neurons do for the change of their speed, …"""
    felt: Array
    pulled: Array
    """… and feltᵀ pulled, times x_i·x_j, that their pulls turn them."""

    def total(self, lines: SampleLines, rows: Array) -> Array:
        """∂q₁/∂p."""
        X = lines.X[rows]
        turned = (self.felt.T @ self.pulled) * (X @ X.T)
        return np.asarray(self.alone + self.left.T @ self.right + turned)


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
    left, right, felt, pulled, total = _calm(
        calm, before, after, copies, plus, minus, some, faces, both, h, shrink
    )
    active, felt_by = np.empty(len(rows), np.int64), np.empty(len(rows))
    for k in range(m):
        if met[k] == 0:
            continue
        G = np.zeros((len(rows), d))  # ∂(a w) of all neurons that end in the cell of this one …
        pulls = np.zeros(len(rows), np.bool_)  # … by the p of samples that pull on one of them
        for other in range(k, m):
            if met[other] == 0 or not np.all(after[2][other] == after[2][k]):
                continue
            way = np.empty((met[other], 3))
            met[other] = 0
            for event in events:
                if event[0] == other:
                    way[met[other]] = event[1:4]
                    met[other] += 1
            mine = _pulling(before[2][other], way, some)
            own = SampleLines(
                X[mine], y[mine], lines.alpha, lines.e, line[mine], r[mine], lines.gram
            )
            D = turned(other, before, after[2][k], way, plus, minus, own, both, h, shrink[other])
            met[other], w, a = 0, after[0][other], after[1][other]
            for row in range(len(mine)):
                pulls[mine[row]] = True
                for x in range(d):
                    G[mine[row], x] += copies[other] * (a * D[row, x] + w[x] * D[row, d])
        many, by = 0, np.flatnonzero(pulls)
        for i in range(len(rows)):
            acts = slope(after[2][k, some.line[i]], some.r[i], lines.alpha)
            if acts != 0:
                active[many], felt_by[many] = i, acts * some.y[i]
                many += 1
        moved = np.dot(some.X[active[:many]], G[by].T)
        for i in range(many):
            for j in range(len(by)):
                total[active[i], by[j]] += felt_by[i] * moved[i, j]
    return Parts(total, left, right, felt, pulled)


@compiled
def _pulling(side: Array, way: Array, lines: SampleLines) -> Array:
    """The samples that pull on a neuron on these sides, or may do so on its way."""
    mine, many = np.empty(len(lines.y), np.int64), 0
    for i in range(len(lines.y)):
        pulls = slope(side[lines.line[i]], lines.r[i], lines.alpha) != 0
        for event in range(len(way)):
            pulls = pulls or way[event, 0] == lines.line[i]
        mine[many] = i
        many += pulls
    return mine[:many].copy()


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
    left, right, at = np.empty((most, n)), np.empty((most, n)), 0
    taken = np.zeros((n, n))
    active, near = np.empty(n, np.int64), np.empty((n, X.shape[1]))
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
        rank = faces.rank[face]  # it can move along its hyperplanes only
        if rank == 0:
            continue
        if not same[j] or weight * way < 0:
            cut = np.dot(faces.Q[face][:rank], XT)
            for row in range(rank):
                for i in range(n):
                    left[at, i] = -felt[j, i] * cut[row, i]
                    right[at, i] = pulled[j, i] * cut[row, i]
                at += 1
            continue
        # About half of the samples: a quarter of the product.
        many, by = 0, np.sqrt(weight * way)
        for i in range(n):
            if felt[j, i] != 0:
                active[many] = i
                for x in range(X.shape[1]):
                    near[many, x] = by * felt[j, i] * X[i, x]
                many += 1
        cut = np.dot(near[:many], faces.Q[face][:rank].T)
        product = np.dot(cut, cut.T)
        for one in range(many):
            for other in range(many):
                taken[active[one], active[other]] -= product[one, other]
    return left[:at], right[:at], felt, pulled, taken


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
    D, late = np.zeros((len(X), d + 1)), np.zeros(len(X))
    rank, joined, now = _face(side, e, Q), 0, 0.0
    pushed = _pushes(side, lines, Q, rank)
    for step in range(len(met) + 1):
        last = step == len(met)
        _pull(g, side, e, plus, minus, Q, rank)
        if last or met[step] != RELEASE or when[step] > now:
            time = max((h if last else when[step]) - now, 0.0)
            now += time
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
        if met[step] == RELEASE:
            speed = a * (dot(e[where], g) + plus[where])
            side[where] = _released(step, met, plane, end, speed)
            rank = _face(side, e, Q)
            pushed = _pushes(side, lines, Q, rank)
        elif met[step] == SLIDE:
            side[where] = 0
            joined, rank = rank, _join(e[where], Q, rank)
        else:
            side[where] = -side[where]
        for i in range(len(X)):
            if met[step] != RELEASE and lines.line[i] == where:
                _push(i, pushed, side, lines, Q, rank)
            elif met[step] == SLIDE:
                _along(pushed[i], Q[joined:], rank - joined)
    return D


@compiled_in_place
def _along(v: Array, Q: Array, rank: int) -> None:
    """Project v, in place, on the face whose normals are rows of Q."""
    for j in range(rank):
        add(v, -dot(Q[j], v), Q[j])


@compiled_in_place
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


@compiled_in_place
def _face(side: Array, e: Array, Q: Array) -> int:
    """Make the rows of Q the orthonormal normals of a face, and tell how many they are."""
    rank = 0
    for i in range(len(e)):
        if side[i] == 0:
            rank = _join(e[i], Q, rank)
    return rank


@compiled_in_place
def _join(normal: Array, Q: Array, rank: int) -> int:
    """Let a hyperplane join the face, and tell how many rows of Q there are then."""
    if rank == len(Q):
        return rank
    put(Q[rank], normal)
    _along(Q[rank], Q, rank)
    _along(Q[rank], Q, rank)
    length = np.sqrt(dot(Q[rank], Q[rank]))
    if length <= DEPENDENT:
        return rank
    for x in range(len(normal)):
        Q[rank, x] /= length
    return rank + 1


@compiled_in_place
def _pull(g: Array, side: Array, e: Array, plus: Array, minus: Array, Q: Array, rank: int) -> None:
    """Make g the velocity over a of a neuron with these sides."""
    for x in range(len(g)):
        g[x] = 0.0
    for i in range(len(e)):
        if side[i] != 0:
            add(g, plus[i] if side[i] > 0 else minus[i], e[i])
    _along(g, Q, rank)


@compiled
def _pushes(side: Array, lines: SampleLines, Q: Array, rank: int) -> Array:
    """∂g by the p of every sample: y_i φ'_i x_i along the face."""
    pushed = lines.X.copy()
    for i in range(len(pushed)):
        pushed[i] *= lines.y[i] * slope(side[lines.line[i]], lines.r[i], lines.alpha)
    return pushed - np.dot(np.dot(pushed, Q[:rank].T), Q[:rank])


@compiled_in_place
def _push(i: int, pushed: Array, side: Array, lines: SampleLines, Q: Array, rank: int) -> None:
    """The same for one of them."""
    factor = lines.y[i] * slope(side[lines.line[i]], lines.r[i], lines.alpha)
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
