"""Each neuron's own way through a stage: closed form between hyperplanes, events at them.

`flow.stage` has the mathematics in words. Everything here is plain Python over arrays that Numba
compiles; `NUMBA_DISABLE_JIT=1` runs it as it stands. Arrays are changed in place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.flow._closed_forms import decayed, decays, forth, next_plane, reach
from tacit.flow._faces import Faces, add, boxed, dot, face_of, project, put, unbounded
from tacit.flow._lines import SampleLines, free_pulls, pulls_of
from tacit.flow.tolerances import STAGE
from tacit.numerics.compiled import compiled, compiled_in_place

ON_PLANE, AT_ORIGIN = STAGE.on_plane, STAGE.at_origin
TIE, STILL = STAGE.tie, STAGE.still
MOST_EVENTS, MOST_TURN = STAGE.most_events, STAGE.most_turn
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
    gram: Array
    plus: Array
    minus: Array
    plus_rate: Array
    minus_rate: Array
    free: Array
    """The pull on each neuron of the hyperplanes that it is not on, on the mean …"""
    rate: Array
    """… and how fast it changes."""
    velocity: Array
    """w'/a of each neuron."""
    changes: bool
    """Whether a rate is not 0."""
    here: Array
    """Room for a pull, …"""
    turn: Array
    """… for how it changes …"""
    turned: Array
    """… and for the products of all normals with that, …"""
    kappa: Array
    """… and for the κ of a face and their rates."""
    products: Array
    """The products of all normals with `free` and with `rate` of the neuron that moves, which are
    kept up to date where the normals have a Gram matrix."""


@compiled_in_place
def bounds_of(plane: int, pulls: Pulls, moment: float) -> tuple[float, float]:
    """The pulls of a hyperplane on its positive and on its negative side."""
    one = pulls.plus[plane] + moment * pulls.plus_rate[plane]
    return one, pulls.minus[plane] + moment * pulls.minus_rate[plane]


@compiled_in_place
def settle(
    k: int,
    W: Array,
    side: Array,
    pulls: Pulls,
    moment: float,
    theta: float,
    faces: Faces,
    log: Log,
    when: float,
) -> bool:
    """Find the velocity of neuron k, the mean at θ, and release it where nothing holds it now.

    The pull of the hyperplanes that it is not on is kept up to date. False where there is no room.
    """
    e, velocity = pulls.e, pulls.velocity[k]
    put(velocity, pulls.free[k])
    if theta != 0:
        add(velocity, theta, pulls.rate[k])
    at = face_of(k, side, faces, e)
    if at < 0:
        return False
    many = faces.size[at]
    if many == 0:
        return True
    kappa, inside = pulls.kappa[0], True
    pull_at(k, pulls, moment)
    unbounded(faces, at, pulls.here, kappa)
    for j in range(many):
        one, other = bounds_of(faces.on[at, j], pulls, moment)
        inside = inside and min(one, other) < kappa[j] < max(one, other)
    if not inside:
        release(k, side, pulls, moment, faces, log, when)
        put(velocity, pulls.free[k])
        if theta != 0:
            add(velocity, theta, pulls.rate[k])
    project(faces, at, velocity)
    project(faces, at, W[k])  # stay on the hyperplanes exactly
    return True


@compiled_in_place
def pull_at(k: int, pulls: Pulls, moment: float) -> None:
    """`pulls.here` becomes what pulls on neuron k, of the hyperplanes that it is not on."""
    for x in range(len(pulls.here)):
        pulls.here[x] = pulls.free[k, x] + moment * pulls.rate[k, x]


@compiled
def release(
    k: int, side: Array, pulls: Pulls, moment: float, faces: Faces, log: Log, when: float
) -> None:
    """Release neuron k from the hyperplanes that do not hold it at this moment."""
    at, e, g = face_of(k, side, faces, pulls.e), pulls.e, pulls.here
    pull_at(k, pulls, moment)
    many = faces.size[at]
    on = faces.on[at, :many].copy()
    low, high = np.empty(many), np.empty(many)
    ahead = np.empty(many, np.bool_)  # whether the pull on the positive side is the upper bound
    for j in range(many):
        one, other = bounds_of(on[j], pulls, moment)
        low[j], high[j], ahead[j] = min(one, other), max(one, other), one > other
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
            off(k, on[j], side[k, on[j]], 1.0, pulls)
            # In the course of a stage it is released because it met another hyperplane.
            note(log, k, on[j], RELEASE, when, excess if when == 0 else 1.0)
    face_of(k, side, faces, e)


@compiled_in_place
def off(k: int, plane: int, here: int, factor: float, pulls: Pulls) -> None:
    """Let a hyperplane pull on neuron k as it does on this side of it, times a factor."""
    mean, rate = pulls.plus[plane], pulls.plus_rate[plane]
    if here < 0:
        mean, rate = pulls.minus[plane], pulls.minus_rate[plane]
    add(pulls.free[k], factor * mean, pulls.e[plane])
    if pulls.changes:
        add(pulls.rate[k], factor * rate, pulls.e[plane])
    if len(pulls.gram):
        add(pulls.products[0], factor * mean, pulls.gram[plane])
        if pulls.changes:
            add(pulls.products[1], factor * rate, pulls.gram[plane])


@compiled_in_place
def normal_parts(e: Array, v: Array, products: Array) -> None:
    """The products of all normals with a vector."""
    for i in range(len(e)):
        products[i] = dot(e[i], v)


@compiled_in_place
def turning(
    k: int, S: Array, side: Array, pulls: Pulls, begin: float, theta: float, faces: Faces
) -> None:
    """Make S the products of all normals with `begin` times the mean pull of neuron k, plus θ times
    how it changes, along its face.

    With a Gram matrix of the normals that takes as many operations as there are hyperplanes, for
    each hyperplane of the face.
    """
    at = face_of(k, side, faces, pulls.e)
    v, mean, rate = pulls.here, pulls.free[k], pulls.rate[k]
    for x in range(len(v)):
        v[x] = begin * mean[x] + theta * rate[x]
    if len(pulls.gram) == 0:
        project(faces, at, v)
        normal_parts(pulls.e, v, S)
        return
    mean, rate, kappa = pulls.products[0], pulls.products[1], pulls.kappa[0]
    for i in range(len(S)):
        S[i] = begin * mean[i] + theta * rate[i]
    unbounded(faces, at, v, kappa)
    for j in range(faces.size[at]):
        add(S, kappa[j], pulls.gram[faces.on[at, j]])


@compiled_in_place
def note(log: Log, k: int, plane: int, what: int, when: float, bend: float) -> None:
    """Write down an event; where the log is full it is only counted."""
    count = log.number[0]
    if count < len(log.rows):
        row = log.rows[count]
        row[0], row[1], row[2], row[3], row[4] = k, plane, what, when, bend
    log.number[0] += 1


@compiled_in_place
def meet(
    k: int,
    plane: int,
    a: Array,
    side: Array,
    pulls: Pulls,
    moment: float,
    faces: Faces,
    log: Log,
    when: float,
    speed: float,
) -> bool:
    """Let neuron k, which has come to this hyperplane at this speed, cross it or begin to slide."""
    here, normal = side[k, plane], pulls.e[plane]
    one, other = bounds_of(plane, pulls, moment)
    at = face_of(k, side, faces, pulls.e)
    if at < 0:
        return False
    free = faces.size[at] == 0
    side[k, plane] = -here
    off(k, plane, here, -1.0, pulls)
    off(k, plane, -here, 1.0, pulls)
    pull_at(k, pulls, moment)
    project(faces, at, pulls.here)
    on = a[k] * dot(normal, pulls.here) * -here > 0
    if not on and a[k] * (one - other) < 0:  # both sides push it back
        side[k, plane] = 0
        off(k, plane, -here, -1.0, pulls)
        note(log, k, plane, SLIDE, when, 1.0)
        return True
    bend = abs(one - other) / max(abs(speed), 1e-300) if free and on else 1.0
    note(log, k, plane, CROSS, when, bend)
    return True


@compiled_in_place
def next_release(
    k: int, side: Array, pulls: Pulls, moment: float, faces: Faces
) -> tuple[float, int, int]:
    """When κ of a hyperplane comes to its bound, which hyperplane, and the side beyond.

    Along a face κ does not depend on where the neuron is: it changes as evenly as p does.
    """
    soonest, freed, beyond = np.inf, -1, 0
    at = face_of(k, side, faces, pulls.e)
    many = faces.size[at]
    if many == 0 or faces.rank[at] < many:  # κ of dependent normals is not unique
        return soonest, freed, beyond
    kappa, rate = pulls.kappa
    pull_at(k, pulls, moment)
    unbounded(faces, at, pulls.here, kappa)
    unbounded(faces, at, pulls.rate[k], rate)
    for j in range(many):
        plane = faces.on[at, j]
        one, other = bounds_of(plane, pulls, moment)
        upper = 1 if one > other else -1
        for here in (-1, 1):
            bound, faster = (
                (one, pulls.plus_rate[plane]) if here > 0 else (other, pulls.minus_rate[plane])
            )
            outward = 1 if here == upper else -1
            room, closing = outward * (bound - kappa[j]), outward * (rate[j] - faster)
            if closing > 0 and max(room, 0.0) < soonest * closing:
                soonest, freed, beyond = max(room, 0.0) / closing, plane, here
    return soonest, freed, beyond


@compiled_in_place
def slides(side: Array) -> bool:
    """Whether the neuron slides along a hyperplane."""
    many = 0
    for here in side:  # without branches, so that it is vectorised
        many += here == 0
    return many > 0


@compiled_in_place
def dimensions(k: int, side: Array, faces: Faces, e: Array) -> int:
    """How many dimensions neuron k can move in along its hyperplanes."""
    at = face_of(k, side, faces, e)
    return e.shape[1] - faces.rank[at] if at >= 0 else e.shape[1]


@compiled_in_place
def travel(
    k: int,
    net: tuple[Array, Array, Array],
    products: tuple[Array, Array],
    pulls: Pulls,
    faces: Faces,
    log: Log,
    both: bool,
    time: float,
    shrink: float,
    none: float,
) -> tuple[int, float]:
    """Move neuron k by `time`. Returns how it went, and, where it went wrong, when."""
    W, a, side = net
    w, g, e = W[k], pulls.velocity[k], pulls.e
    T, S = products[0][k], products[1][k]
    now, met = 0.0, 0
    sliding = slides(side[k])
    gamma = np.sqrt(dot(g, g))
    while now < time:
        if met > MOST_EVENTS:
            return ENDLESS, 0.0
        left, length, moment = time - now, np.sqrt(dot(w, w)), now - time / 2
        when, plane, along, freed, beyond = np.inf, -1, 0.0, -1, 0
        dies = False
        if gamma > none:
            along = dot(g, w) / gamma
            if sliding and shrink != 0:
                dies = decays(along, a[k], dimensions(k, side, faces, e))
            if not dies:
                when, plane = next_plane(T, S, side[k], gamma, along, a[k], length, left, both)
        if sliding and pulls.changes:
            release, freed, beyond = next_release(k, side, pulls, moment, faces)
            if release < min(when, left):
                when, plane = release, -1
        if met == 0 and when < left and len(pulls.gram):
            if sliding:
                normal_parts(e, pulls.free[k], pulls.products[0])
            else:
                put(pulls.products[0], S)
            if pulls.changes:
                normal_parts(e, pulls.rate[k], pulls.products[1])
        # The pull until then is not that of the rest of the stage.
        if 0 < when < left and pulls.changes:
            turn, turned = pulls.turn, pulls.turned  # how g changes with θ, and how S does
            put(turn, pulls.rate[k])
            project(faces, face_of(k, side, faces, e), turn)
            turning(k, turned, side, pulls, 0.0, 1.0, faces)
            earlier = (when - left) / 2
            add(g, earlier, turn)
            add(S, earlier, turned)
            gamma = np.sqrt(dot(g, g))
            again, which = np.inf, -1
            if gamma > none:
                along = dot(g, w) / gamma
                again, which = next_plane(T, S, side[k], gamma, along, a[k], length, left, both)
            if 0 < again < (when if plane < 0 else left):
                when, plane = again, which
            elif again == 0 or plane >= 0:
                # It is not met, or the neuron would be led back at once to where it has just been.
                add(g, -earlier, turn)
                add(S, -earlier, turned)
                gamma = np.sqrt(dot(g, g))
                along = dot(g, w) / gamma
        met += 1
        step, output, inner = min(when, left), a[k], along * gamma
        keep, way = np.exp(-shrink * step), 0.0
        if gamma > none:
            if dies:
                keep, way, a[k] = decayed(gamma, output, step, shrink)
            else:
                _, way, a[k] = forth(gamma, along, output, step, shrink, both)
        else:
            a[k] *= keep
        if keep != 1:
            for x in range(len(w)):
                w[x] *= keep
            for i in range(len(T)):
                T[i] *= keep
        if gamma > none:
            add(w, way, g)
            add(T, way, S)
        now += step
        if sliding and gamma > none and not dies:
            at_origin = np.sqrt(dot(w, w)) <= AT_ORIGIN * keep * length
            # In a plane it moves on a line.
            back = len(w) == 2 and keep * length * length + way * inner < 0
            if at_origin or back:
                return FORK_W, now / time
            if a[k] * output < 0:
                return FORK_A, now / time
        if not when < left:
            break
        for i in range(len(e)):
            if side[k, i] == 0:
                T[i] = 0.0  # where it is released, it starts
        theta = now / 2 if pulls.changes else 0.0
        # One that is released just now, but not by the pull of the rest, is back at once.
        moment = now - time / 2 if pulls.changes and step > 0 else theta
        if plane < 0:
            side[k, freed] = beyond
            off(k, freed, beyond, 1.0, pulls)
            note(log, k, freed, RELEASE, now, 1.0 if now > 0 else 0.0)
        else:
            T[plane] = 0.0
            if not meet(k, plane, a, side, pulls, moment, faces, log, now, dot(g, e[plane])):
                return NO_ROOM, 0.0
        if not settle(k, W, side, pulls, moment, theta, faces, log, now):
            return NO_ROOM, 0.0
        sliding = slides(side[k])
        turning(k, S, side, pulls, 1.0, theta, faces)
        gamma = np.sqrt(dot(g, g))
    return FINE, 0.0


@compiled
def pulls_on(side: Array, lines: SampleLines, c: Array, rate: Array) -> Pulls:
    """The pulls on neurons with these sides, where the samples weigh c_i = p_i y_i."""
    plus, minus = pulls_of(lines, c)
    plus_rate, minus_rate = pulls_of(lines, rate)
    e, changes = lines.e, bool(rate.any())
    free = free_pulls(side, e, plus, minus)
    turn = free_pulls(side, e, plus_rate, minus_rate) if changes else np.zeros(free.shape)
    bounds, (here, room) = (plus, minus, plus_rate, minus_rate), np.empty((2, e.shape[1]))
    turned, kappa, products = np.empty(len(e)), np.empty((2, len(e))), np.zeros((2, len(e)))
    pulled = bounds + (free, turn, free.copy(), changes)
    return Pulls(e, lines.gram, *pulled, here, room, turned, kappa, products)


@compiled
def settle_all(W: Array, side: Array, lines: SampleLines, c: Array, faces: Faces, log: Log) -> None:
    """Release neurons that these pulls do not hold on the hyperplanes along which they slide."""
    pulls = pulls_on(side, lines, c, np.zeros(len(c)))
    for k in range(len(W)):
        if not settle(k, W, side, pulls, 0.0, 0.0, faces, log, 0.0):
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
    shrink: Array,
) -> tuple[int, int, float]:
    """Move neurons by `time`. Returns how it went, the neuron that it went wrong with, and when.

    `shrink` are the rates at which each neuron is divided meanwhile.
    """
    W, a, side = net
    pulls = pulls_on(side, lines, c, change)
    none = STILL * np.maximum(np.abs(pulls.plus), np.abs(pulls.minus)).sum()
    begin = -time / 2 if pulls.changes else 0.0
    g, held = pulls.velocity, np.empty(len(W), np.bool_)
    for k in range(len(W)):
        held[k] = slides(side[k])
        if held[k] and not settle(k, W, side, pulls, begin, 0.0, faces, log, 0.0):
            return NO_ROOM, k, 0.0
    S = np.dot(g, lines.e.T)
    for k in range(len(W)):
        square, inner, length = 0.0, 0.0, 0.0
        for x in range(g.shape[1]):
            square += g[k, x] ** 2
            inner += g[k, x] * W[k, x]
            length += W[k, x] ** 2
        gamma = np.sqrt(square)
        dies = False
        if held[k] and shrink[k] != 0 and gamma > none:
            dies = decays(inner / gamma, a[k], dimensions(k, side, faces, lines.e))
        if both and not dies and (gamma - shrink[k]) * time > MOST_TURN:
            return TOO_LONG, k, 0.0
        if gamma <= none and not (held[k] and pulls.changes):
            if shrink[k] != 0:
                keep = np.exp(-shrink[k] * time)
                a[k] *= keep
                for x in range(g.shape[1]):
                    W[k, x] *= keep
                for plane in range(len(lines.e)):
                    T[k, plane] *= keep
            continue
        if gamma > none:
            # Most neurons meet no hyperplane in a stage, and are released from none.
            along, within = inner / gamma, 0
            far = reach(gamma, along, a[k], time, both)
            near = ON_PLANE * np.sqrt(length + a[k] ** 2)
            for plane in range(len(lines.e)):  # without branches, so that it is vectorised
                here = side[k, plane]
                within += (here != 0) & (here * T[k, plane] <= abs(S[k, plane]) * far + near)
            keep, way, after = forth(gamma, along, a[k], time, shrink[k], both)
            alone = within == 0
            if dies:
                keep, way, after = decayed(gamma, a[k], time, shrink[k])
                alone = True
            elif alone and held[k]:  # nor do they come to w = 0 or a = 0
                least = AT_ORIGIN * keep * length
                alone = keep * length + way * inner > least and after * a[k] > 0
            if alone and held[k] and pulls.changes:
                alone = next_release(k, side, pulls, begin, faces)[0] >= time
            if alone:
                a[k] = after
                for x in range(g.shape[1]):
                    W[k, x] = keep * W[k, x] + way * g[k, x]
                for plane in range(len(lines.e)):
                    T[k, plane] = keep * T[k, plane] + way * S[k, plane]
                continue
        end, share = travel(k, net, (T, S), pulls, faces, log, both, time, shrink[k], none)
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
