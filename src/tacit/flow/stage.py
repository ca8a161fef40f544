"""One stage: while the weights p of the samples are held fixed, neurons move in closed form.

With a fixed pull g (the sum over the hyperplanes that a neuron is not on, projected on those that
it slides along)

    w' = a g,   a' = g·w:      w∥ = ĝ·w and a turn hyperbolically at the rate ‖g‖, w⊥ stays,

(first layer only: w moves on a straight line), so the time at which each neuron meets each
activation hyperplane is known exactly. There it crosses, or slides: both sides push it back, which
takes a·(κ₊ − κ₋) < 0. Where it slides along several hyperplanes the velocity is the shortest in
Clarke's subdifferential, a box-constrained least-squares problem; hyperplanes whose multiplier is
at its bound are released. Neurons do not interact during a stage, so each has its own clock.
"""

from __future__ import annotations

import numpy as np

from tacit.flow.hyperplanes import Face
from tacit.flow.state import Met, State, check_time
from tacit.flow.tolerances import STAGE
from tacit.numerics.least_squares import boxed_least_squares


class Undecided(Exception):
    """Floating point cannot tell how the flow goes on; the message says why."""


class Fork(Undecided):
    """A sliding neuron comes to w = 0, or to a = 0, where its hyperplane begins to repel it."""

    def __init__(self, neuron: int, what: str, share: float) -> None:
        super().__init__(f"neuron {neuron} comes to {what} = 0")
        self.neuron, self.what = neuron, what
        self.share = share
        """When it does, as a share of the stage."""


def advance(state: State, c: np.ndarray, time: float) -> None:
    """Move the state by `time` with c_i = p_i y_i held fixed; its events are appended."""
    check_time(state)
    plus, minus = state.planes.pulls(c)
    none = STAGE.still * float(np.maximum(np.abs(plus), np.abs(minus)).sum())
    left = np.full(len(state.a), float(time))
    velocity = state.pull(plus, minus)
    _hold(state, velocity, plus, minus)
    speed = np.linalg.norm(velocity, axis=1)
    if state.both and float(speed.max(initial=0.0)) * time > STAGE.most_turn:
        raise Undecided("the stage is too long for floating point")
    moving = np.flatnonzero(speed > none)
    for _ in range(STAGE.most_events):
        if len(moving) == 0:
            return
        check_time(state)
        times, plane = _next_plane(state, moving, velocity[moving], left[moving])
        step = np.minimum(times, left[moving])
        W, a = state.W[moving], state.a[moving]
        _move(state, moving, velocity[moving], step)
        _look_for_forks(state, moving, W, a, 1 - (left[moving] - step) / time)
        hit = np.flatnonzero(times < left[moving])
        left[moving] -= step
        moving, plane = moving[hit], plane[hit]
        if len(moving) == 0:
            return
        known = len(state.events)
        crossed = _cross(state, moving, plane, velocity, plus - minus)
        for k, met in zip(moving[~crossed].tolist(), plane[~crossed].tolist(), strict=True):
            check_time(state)
            _meet(state, k, met, plus, minus)
            velocity[k] = _settle(state, k, plus, minus)
        state.events[known:] = [
            met._replace(when=time - left[met.neuron]) for met in state.events[known:]
        ]
        moving = moving[np.linalg.norm(velocity[moving], axis=1) > none]
    raise Undecided("a neuron meets activation hyperplanes without end")


def hold(state: State, c: np.ndarray) -> None:
    """Release sliding neurons that these pulls do not hold on their hyperplanes."""
    plus, minus = state.planes.pulls(c)
    _hold(state, state.pull(plus, minus), plus, minus)


def velocities(state: State, c: np.ndarray) -> np.ndarray:
    """w_k'/a_k of every neuron, projected on the hyperplanes along which it slides."""
    g = state.pull(*state.planes.pulls(c))
    one, plane, several = sliding(state)
    e = state.planes.e[plane]
    g[one] -= (g[one] * e).sum(axis=1)[:, None] * e
    for k in several:
        check_time(state)
        g[k] = projected(state, k, g[k])
    return g


def sliding(state: State) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Neurons that slide along one hyperplane, with its number, and those on several."""
    inside = state.side == 0
    count = inside.sum(axis=1)
    one = np.flatnonzero(count == 1)
    return one, inside[one].argmax(axis=1), np.flatnonzero(count > 1).tolist()


def _hold(state: State, velocity: np.ndarray, plus: np.ndarray, minus: np.ndarray) -> None:
    """Correct the velocities of sliding neurons, or release them.

    `velocity` comes without the pulls of the hyperplanes that they are on.
    """
    one, plane, several = sliding(state)
    for k in several:
        check_time(state)
        velocity[k] = _settle(state, k, plus, minus)
    if len(one) == 0:
        return
    e, v = state.planes.e[plane], velocity[one]
    across = (v * e).sum(axis=1)
    low, high = np.minimum(plus, minus)[plane], np.maximum(plus, minus)[plane]
    kappa = np.clip(-across, low, high)
    excess = np.abs(across + kappa)
    away = excess > STAGE.tie * (np.linalg.norm(v, axis=1) + np.abs(kappa))
    upper = kappa - low > high - kappa
    side = np.where((plus[plane] == high) == upper, 1, -1)
    for j in np.flatnonzero(away).tolist():
        state.side[one[j], plane[j]] = side[j]
        state.events.append(Met(int(one[j]), int(plane[j]), "release", bend=float(excess[j])))
    velocity[one] = (
        v + np.where(away, np.where(side > 0, plus[plane], minus[plane]), -across)[:, None] * e
    )
    kept, e = one[~away], e[~away]
    state.W[kept] -= (state.W[kept] * e).sum(axis=1)[:, None] * e  # stay on the hyperplane exactly


def _look_for_forks(
    state: State, rows: np.ndarray, W: np.ndarray, a: np.ndarray, share: np.ndarray
) -> None:
    """Raise Fork for sliding neurons that have just come to w = 0 or a = 0 from W and a."""
    slides = (state.side[rows] == 0).any(axis=1)
    if not slides.any():
        return
    new, lengths = state.W[rows], np.linalg.norm(W, axis=1)
    gone = np.linalg.norm(new, axis=1) <= STAGE.at_origin * lengths
    if W.shape[1] == 2:  # there it moves on a line
        gone |= (new * W).sum(axis=1) < 0
    turned = state.a[rows] * a < 0
    for which, what in ((gone, "w"), (turned, "a")):
        for j in np.flatnonzero(slides & which)[:1]:
            raise Fork(int(rows[j]), what, float(share[j]))


def _next_plane(
    state: State, rows: np.ndarray, g: np.ndarray, left: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """When each neuron meets its next hyperplane, and which; inf when not in the time left."""
    lengths = np.linalg.norm(state.W[rows], axis=1)
    unit = np.maximum(np.hypot(lengths, state.a[rows]), 1e-300)
    W, a = state.W[rows] / unit[:, None], state.a[rows] / unit
    side, normals = state.side[rows], state.planes.e.T
    gamma = np.linalg.norm(g, axis=1)
    ghat = g / np.maximum(gamma, 1e-300)[:, None]
    t, s = W @ normals, ghat @ normals
    along = (ghat * W).sum(axis=1)
    if state.both:
        cosh, sinh = np.cosh(gamma * left), np.sinh(gamma * left)
        way = along * (cosh - 1) + a * sinh  # along ĝ, in the time that is left
        most = np.abs(along) * (cosh - 1) + np.abs(a) * sinh
    else:
        way = a * gamma * left
        most = np.abs(way)
    reach = np.abs(s) * most[:, None] + STAGE.on_plane
    k, plane = np.nonzero((side * t <= reach) & (side != 0))
    t, s, side, along, a = t[k, plane], s[k, plane], side[k, plane], along[k], a[k]
    rate = s * a  # of t, over ‖g‖
    at = np.abs(t) <= STAGE.on_plane * (lengths / unit)[k]
    meets = at | (side * (t + s * way[k]) < 0) | (side * t < 0)
    if state.both:
        meets |= rate * s * (along * sinh[k] + a * cosh[k]) < 0  # it turns around on the way
    k, plane, t, s, side, rate, at = (v[meets] for v in (k, plane, t, s, side, rate, at))
    with np.errstate(all="ignore"):
        if state.both:
            leaving = at & (side * rate > 0)
            when = _hyperbolic(t, s, along[meets], a[meets], leaving) / gamma[k]
        else:
            when = -t / (rate * gamma[k])
            when[~(when > 0) | at] = np.inf
    when[(at & (side * rate < 0)) | (~at & (side * t < 0))] = 0.0
    when[np.isnan(when)] = np.inf
    times, met = np.full(len(rows), np.inf), np.zeros(len(rows), dtype=int)
    last = np.lexsort((-when, k))  # written in this order, the first to be met stays
    times[k[last]], met[k[last]] = when[last], plane[last]
    return times, met


def _hyperbolic(
    t: np.ndarray, s: np.ndarray, along: np.ndarray, a: np.ndarray, leaving: np.ndarray
) -> np.ndarray:
    """The first τ > 0 with t⊥ + s (w∥ cosh τ + a sinh τ) = 0: a quadratic equation for e^τ."""
    rest = t - s * along
    A, C = s * (along + a) / 2, s * (along - a) / 2
    root = np.sqrt(rest * rest - 4 * A * C)  # NaN: no root
    half = -(rest + np.where(rest >= 0, root, -root)) / 2
    first = np.full(t.shape, np.inf)
    for E in (half / A, C / half):
        later = (E > 1) & np.isfinite(E) & ~(leaving & (np.abs(E - 1) < STAGE.same_root))
        first = np.where(later & (E < first), E, first)
    return np.log(first)


def _move(state: State, rows: np.ndarray, g: np.ndarray, step: np.ndarray) -> None:
    W, a = state.W[rows], state.a[rows]
    if not state.both:
        state.W[rows] = W + g * (a * step)[:, None]
        return
    gamma = np.linalg.norm(g, axis=1)
    ghat = g / np.maximum(gamma, 1e-300)[:, None]
    along = (ghat * W).sum(axis=1)
    cosh, sinh = np.cosh(gamma * step), np.sinh(gamma * step)
    versine = 2 * np.sinh(gamma * step / 2) ** 2  # cosh − 1
    state.W[rows] = W + ghat * (versine * along + sinh * a)[:, None]
    state.a[rows] = a * cosh + along * sinh


def _cross(
    state: State, rows: np.ndarray, plane: np.ndarray, velocity: np.ndarray, jump: np.ndarray
) -> np.ndarray:
    """Let neurons cross the hyperplane they meet, where that is all they do; True for those."""
    before = state.side[rows, plane].astype(float)
    beyond = velocity[rows] - (before * jump[plane])[:, None] * state.planes.e[plane]
    on = state.a[rows] * (beyond * state.planes.e[plane]).sum(axis=1) * -before > 0
    crossed = on & (state.side[rows] != 0).all(axis=1)
    speed = np.abs((velocity[rows] * state.planes.e[plane]).sum(axis=1))
    bend = np.abs(jump[plane]) / np.maximum(speed, 1e-300)
    velocity[rows[crossed]] = beyond[crossed]
    state.side[rows[crossed], plane[crossed]] *= -1
    state.events += [
        Met(k, met, "cross", bend=sharp)
        for k, met, sharp in zip(
            rows[crossed].tolist(), plane[crossed].tolist(), bend[crossed].tolist(), strict=True
        )
    ]
    return crossed


def _meet(state: State, k: int, plane: int, plus: np.ndarray, minus: np.ndarray) -> None:
    """Let neuron k, which has come to this hyperplane, cross it or begin to slide."""
    before = int(state.side[k, plane])
    if state.a[k] * (plus[plane] - minus[plane]) >= 0:  # refraction: it goes on as it came
        state.side[k, plane] = -before
        state.events.append(Met(k, plane, "cross", bend=1.0))
        return
    state.side[k, plane] = -before
    beyond = projected(state, k, state.pull_of(k, plus, minus))
    if state.a[k] * (state.planes.e[plane] @ beyond) * -before > 0:
        state.events.append(Met(k, plane, "cross", bend=1.0))
    else:
        state.side[k, plane] = 0
        state.events.append(Met(k, plane, "slide", bend=1.0))


def _settle(state: State, k: int, plus: np.ndarray, minus: np.ndarray) -> np.ndarray:
    """The velocity of neuron k over a_k; it is released from hyperplanes that do not hold it."""
    g = state.pull_of(k, plus, minus)
    on = np.flatnonzero(state.side[k] == 0)
    if len(on) == 0:
        return g
    face = state.planes.face(on)
    low, high = np.minimum(plus, minus)[on], np.maximum(plus, minus)[on]
    kappa = nearest_pulls(face, g, low, high)
    # With κ at its bound a hyperplane is left, if the velocity really leads away from it.
    excess = np.abs(face.e @ (g + kappa @ face.e))
    away = excess > STAGE.tie * (np.linalg.norm(g) + np.abs(kappa).sum())
    if not away.any():
        state.W[k] = face.along(state.W[k])  # stay on the hyperplanes exactly
        return face.along(g)
    for j in np.flatnonzero(away):
        upper = kappa[j] - low[j] > high[j] - kappa[j]
        at_plus = (plus[on[j]] == high[j]) == bool(upper)
        state.side[k, on[j]] = 1 if at_plus else -1
        state.events.append(Met(k, int(on[j]), "release", bend=float(excess[j])))
    state.W[k] = projected(state, k, state.W[k])
    return projected(state, k, state.pull_of(k, plus, minus))


def projected(state: State, k: int, g: np.ndarray) -> np.ndarray:
    """Project vectors (the last axis) on the hyperplanes along which neuron k slides."""
    on = np.flatnonzero(state.side[k] == 0)
    return state.planes.face(on).along(g) if len(on) else g


def nearest_pulls(face: Face, g: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """κ in [low, high] that makes ‖g + Σ κ e‖ smallest."""
    free = -(face.solve @ g)
    if len(free) == 1:
        return np.clip(free, low, high)
    if ((free > low) & (free < high)).all():
        return free
    width = np.maximum(high - low, 1e-300)
    return boxed_least_squares(face.e.T, -g, low, low + width)
