"""Each neuron's own way through a stage: closed form between hyperplanes, events at them.

`flow.stage` has the mathematics in words. Everything here is plain Python over arrays that Numba
compiles; `NUMBA_DISABLE_JIT=1` runs it as it stands. Arrays are changed in place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.flow._faces import Faces, add, boxed, dot, face_of, project, unbounded
from tacit.flow._lines import SampleLines, free_pulls, pulls_of
from tacit.flow.tolerances import STAGE
from tacit.numerics.compiled import compiled

ON_PLANE, AT_ORIGIN = STAGE.on_plane, STAGE.at_origin
TIE, STILL = STAGE.tie, STAGE.still
SAME_ROOT, MOST_EVENTS, MOST_TURN = STAGE.same_root, STAGE.most_events, STAGE.most_turn
CROSS, SLIDE, RELEASE = 0, 1, 2
KINDS = ("cross", "slide", "release")
"""Kinds of events, by their numbers."""
FINE, TOO_LONG, ENDLESS, NO_ROOM, FORK_W, FORK_A = 0, 1, 2, 3, 4, 5
"""How a stage went: the last two are a sliding neuron that came to w = 0 or a = 0."""
Array = np.ndarray


class Log(NamedTuple):
    """Room for the events of a stage."""

    rows: Array
    """Neuron, hyperplane, kind, time, bend."""
    number: Array
    """How many there were."""


class Pulls(NamedTuple):
    """What pulls on the neurons during a stage: its mean over the stage, and how fast it changes.

    Neurons that meet no hyperplane need the mean only. For others the pull of a piece of the stage
    is that of the mean plus θ times its change, where θ is how much later than that of the stage
    the middle of the piece is.
    """

    e: Array
    plus: Array
    minus: Array
    plus_rate: Array
    minus_rate: Array
    free: Array
    """The pull on each neuron of the hyperplanes that it is not on, on the mean …"""
    rate: Array
    """… and how fast it changes; it is computed for neurons that meet a hyperplane."""
    velocity: Array
    """w'/a of each neuron."""
    changes: bool
    """Whether a rate is not 0."""


@compiled
def settle(
    k: int,
    W: Array,
    side: Array,
    pulls: Pulls,
    theta: float,
    faces: Faces,
    log: Log,
    when: float,
) -> bool:
    """Find the velocity of neuron k, and release it where nothing holds it.

    The pull of the hyperplanes that it is not on is kept up to date. False where there is no room.
    """
    e, velocity = pulls.e, pulls.velocity[k]
    g = pulls.free[k].copy()
    if theta != 0:
        add(g, theta, pulls.rate[k])
    velocity[:] = g
    at = face_of(k, side, faces, e)
    if at < 0:
        return False
    many = faces.size[at]
    if many == 0:
        return True
    on = faces.on[at, :many].copy()
    kappa, low, high = np.empty(many), np.empty(many), np.empty(many)
    ahead = np.empty(many, np.bool_)  # whether the pull on the positive side is the upper bound
    unbounded(faces, at, g, kappa)
    inside = True
    for j in range(many):
        one = pulls.plus[on[j]] + theta * pulls.plus_rate[on[j]]
        other = pulls.minus[on[j]] + theta * pulls.minus_rate[on[j]]
        low[j], high[j], ahead[j] = min(one, other), max(one, other), one > other
        inside = inside and low[j] < kappa[j] < high[j]
    if not inside:
        kappa = boxed(faces, at, e, g, on, low, high)
        rest = g.copy()
        size = np.sqrt(dot(g, g))
        for j in range(many):
            add(rest, kappa[j], e[on[j]])
            size += abs(kappa[j])
        for j in range(many):
            # With κ at its bound a hyperplane is left, if the velocity really leads away from it.
            excess = abs(dot(e[on[j]], rest))
            if excess > TIE * size:
                upper = kappa[j] - low[j] > high[j] - kappa[j]
                side[k, on[j]] = 1 if ahead[j] == upper else -1
                off(k, on[j], side[k, on[j]], pulls)
                note(log, k, on[j], RELEASE, when, excess)
        face_of(k, side, faces, e)
        velocity[:] = pulls.free[k]
        if theta != 0:
            add(velocity, theta, pulls.rate[k])
    project(faces, at, velocity)
    project(faces, at, W[k])  # stay on the hyperplanes exactly
    return True


@compiled
def off(k: int, plane: int, here: int, pulls: Pulls) -> None:
    """Let a hyperplane pull on neuron k, which is on this side of it now."""
    mean, rate = pulls.plus[plane], pulls.plus_rate[plane]
    if here < 0:
        mean, rate = pulls.minus[plane], pulls.minus_rate[plane]
    add(pulls.free[k], mean, pulls.e[plane])
    add(pulls.rate[k], rate, pulls.e[plane])


@compiled
def note(log: Log, k: int, plane: int, what: int, when: float, bend: float) -> None:
    """Write down an event; where the log is full it is only counted."""
    count = log.number[0]
    if count < len(log.rows):
        row = log.rows[count]
        row[0], row[1], row[2], row[3], row[4] = k, plane, what, when, bend
    log.number[0] += 1


@compiled
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


@compiled
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
    # In units of the neuron: the square in `first_root` may under- or overflow.
    unit = max(np.hypot(length, a), 1e-300)
    along, a, length = along / unit, a / unit, length / unit
    if both:
        cosh, sinh = np.cosh(gamma * left), np.sinh(gamma * left)
        way = along * (cosh - 1) + a * sinh  # along ĝ, in the time that is left
        most = abs(along) * (cosh - 1) + abs(a) * sinh
        turns = a * (along * sinh + a * cosh) < 0  # it turns around on the way
    else:
        way = a * gamma * left
        most = abs(way)
        turns = False
    reach, near = most * unit / gamma, ON_PLANE * unit
    soonest, met, within = np.inf, -1, 0
    for plane in range(len(T)):  # without branches, so that it is vectorised
        within += (side[plane] != 0) & (side[plane] * T[plane] <= abs(S[plane]) * reach + near)
    if within == 0:
        return soonest, met
    for plane in range(len(T)):
        here = side[plane]
        # Most hyperplanes are out of reach, and this is far cheaper than the logarithm of a root.
        if here == 0 or here * T[plane] > abs(S[plane]) * reach + near:
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


@compiled
def meet(
    k: int,
    plane: int,
    a: Array,
    side: Array,
    pulls: Pulls,
    theta: float,
    faces: Faces,
    log: Log,
    when: float,
    speed: float,
) -> bool:
    """Let neuron k, which has come to this hyperplane at this speed, cross it or begin to slide."""
    here, normal = side[k, plane], pulls.e[plane]
    one = pulls.plus[plane] + theta * pulls.plus_rate[plane]
    other = pulls.minus[plane] + theta * pulls.minus_rate[plane]
    at = face_of(k, side, faces, pulls.e)
    if at < 0:
        return False
    free = faces.size[at] == 0
    side[k, plane] = -here
    add(pulls.free[k], -here * (pulls.plus[plane] - pulls.minus[plane]), normal)
    add(pulls.rate[k], -here * (pulls.plus_rate[plane] - pulls.minus_rate[plane]), normal)
    ahead = pulls.free[k].copy()
    add(ahead, theta, pulls.rate[k])
    project(faces, at, ahead)
    on = a[k] * dot(normal, ahead) * -here > 0
    if not on and a[k] * (one - other) < 0:  # both sides push it back
        side[k, plane] = 0
        add(pulls.free[k], -pulls.minus[plane] if here > 0 else -pulls.plus[plane], normal)
        add(
            pulls.rate[k], -pulls.minus_rate[plane] if here > 0 else -pulls.plus_rate[plane], normal
        )
        note(log, k, plane, SLIDE, when, 1.0)
        return True
    bend = abs(one - other) / max(abs(speed), 1e-300) if free and on else 1.0
    note(log, k, plane, CROSS, when, bend)
    return True


@compiled
def slides(side: Array) -> bool:
    """Whether the neuron slides along a hyperplane."""
    for here in side:
        if here == 0:
            return True
    return False


@compiled
def travel(
    k: int,
    net: tuple[Array, Array, Array],
    products: tuple[Array, Array],
    pulls: Pulls,
    faces: Faces,
    log: Log,
    both: bool,
    time: float,
    none: float,
) -> tuple[int, float]:
    """Move neuron k by `time`. Returns how it went, and, where it went wrong, when."""
    W, a, side = net
    w, g, e = W[k], pulls.velocity[k], pulls.e
    T, S = products[0][k], products[1][k]
    now, met = 0.0, 0
    gamma = np.sqrt(dot(g, g))
    while gamma > none and now < time:
        if met > MOST_EVENTS:
            return ENDLESS, 0.0
        left = time - now
        along, length = dot(g, w) / gamma, np.sqrt(dot(w, w))
        when, plane = next_plane(T, S, side[k], gamma, along, a[k], length, left, both)
        if when < left and met == 0:
            rates(k, side, pulls)
        # The pull until then is not that of the rest of the stage.
        if 0 < when < left and pulls.changes:
            turn = pulls.rate[k].copy()  # how g changes with θ, and how S does
            project(faces, face_of(k, side, faces, e), turn)
            turned = np.dot(e, turn)
            earlier = (when - left) / 2
            add(g, earlier, turn)
            add(S, earlier, turned)
            gamma = np.sqrt(dot(g, g))
            along = dot(g, w) / gamma
            again, which = next_plane(T, S, side[k], gamma, along, a[k], length, left, both)
            if again < left and gamma > none:
                when, plane = again, which
            else:
                add(g, -earlier, turn)
                add(S, -earlier, turned)
                gamma = np.sqrt(dot(g, g))
                along = dot(g, w) / gamma
        met += 1
        step, output, inner = min(when, left), a[k], along * gamma
        way = output * step
        if both:
            # cosh − 1 is 2 sinh² of the half: as a difference it loses all digits of a short way.
            half = np.sinh(gamma * step / 2)
            way = (2 * half * half * along + np.sinh(gamma * step) * output) / gamma
            a[k] = output * np.cosh(gamma * step) + along * np.sinh(gamma * step)
        add(w, way, g)
        add(T, way, S)
        now += step
        if slides(side[k]):
            back = len(w) == 2 and length * length + way * inner < 0  # there it moves on a line
            if np.sqrt(dot(w, w)) <= AT_ORIGIN * length or back:
                return FORK_W, now / time
            if a[k] * output < 0:
                return FORK_A, now / time
        if not when < left:
            break
        for i in range(len(e)):
            if side[k, i] == 0:
                T[i] = 0.0  # where it is released, it starts
        T[plane] = 0.0
        theta = now / 2
        room = meet(k, plane, a, side, pulls, theta, faces, log, now, dot(g, e[plane]))
        if not room or not settle(k, W, side, pulls, theta, faces, log, now):
            return NO_ROOM, 0.0
        for i in range(len(e)):
            S[i] = dot(e[i], g)
        gamma = np.sqrt(dot(g, g))
    return FINE, 0.0


@compiled
def rates(k: int, side: Array, pulls: Pulls) -> None:
    """How fast the pull on neuron k changes, of the hyperplanes that it is not on."""
    pulls.rate[k] = 0.0
    for plane in range(len(pulls.e)):
        here = side[k, plane]
        rate = pulls.plus_rate[plane] if here > 0 else pulls.minus_rate[plane]
        if here != 0 and rate != 0:
            add(pulls.rate[k], rate, pulls.e[plane])


@compiled
def pulls_on(side: Array, lines: SampleLines, c: Array, rate: Array) -> Pulls:
    """The pulls on neurons with these sides, where the samples weigh c_i = p_i y_i."""
    plus, minus = pulls_of(lines, c)
    plus_rate, minus_rate = pulls_of(lines, rate)
    free = free_pulls(side, lines.e, plus, minus)
    none, velocity, changes = np.zeros(free.shape), np.empty(free.shape), bool(rate.any())
    return Pulls(lines.e, plus, minus, plus_rate, minus_rate, free, none, velocity, changes)


@compiled
def settle_all(W: Array, side: Array, lines: SampleLines, c: Array, faces: Faces, log: Log) -> None:
    """Release neurons that these pulls do not hold on the hyperplanes along which they slide."""
    pulls = pulls_on(side, lines, c, np.zeros(len(c)))
    for k in range(len(W)):
        if not settle(k, W, side, pulls, 0.0, faces, log, 0.0):
            break


@compiled
def move(
    net: tuple[Array, Array, Array],
    T: Array,
    lines: SampleLines,
    c: Array,
    change: Array,
    faces: Faces,
    log: Log,
    both: bool,
    time: float,
) -> tuple[int, int, float]:
    """Move neurons by `time`. Returns how it went, the neuron that it went wrong with, and when."""
    W, a, side = net
    pulls = pulls_on(side, lines, c, change)
    none = STILL * np.maximum(np.abs(pulls.plus), np.abs(pulls.minus)).sum()
    for k in range(len(W)):
        if not settle(k, W, side, pulls, 0.0, faces, log, 0.0):
            return NO_ROOM, k, 0.0
        g = pulls.velocity[k]
        if both and np.sqrt(dot(g, g)) * time > MOST_TURN:
            return TOO_LONG, k, 0.0
    S = np.dot(pulls.velocity, lines.e.T)
    for k in range(len(W)):
        end, share = travel(k, net, (T, S), pulls, faces, log, both, time, none)
        if end != FINE:
            return end, k, share
    return FINE, -1, 0.0


@compiled
def velocities(side: Array, lines: SampleLines, c: Array, faces: Faces) -> Array:
    """w'/a of every neuron, projected on the hyperplanes along which it slides."""
    plus, minus = pulls_of(lines, c)
    g = free_pulls(side, lines.e, plus, minus)
    for k in range(len(side)):
        at = face_of(k, side, faces, lines.e)
        if at >= 0:
            project(faces, at, g[k])
    return g
