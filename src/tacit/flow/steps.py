"""Steps of the flow: stages with fixed p, put together so that p follows the margins.

Explicit steps use means of p over the halves of the step, which trial stages give (fourth order).
Implicit steps use the p of their end. They are for the late phase, in which the system is stiff: p
answers to the margins ever faster while the path itself becomes slow (the rates grow like log(1/L),
and the steps need not shrink).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tacit.flow.exponential_tail import Kind, Weights, margins_at, terms, weights
from tacit.flow.motion import KINDS
from tacit.flow.sensitivity import turned
from tacit.flow.stage import Undecided, advance, face_bases, hold, pull, velocities
from tacit.flow.state import Met, State
from tacit.flow.tolerances import STEP
from tacit.numerics.float64 import EPS


def rounding(state: State) -> float:
    """About the rounding error of the margins, which are sums that may cancel."""
    terms = state.copies * np.abs(state.a) * np.linalg.norm(state.W, axis=1)
    return EPS * float(terms.sum()) * float(np.abs(state.planes.r).max())


def is_deep(state: State) -> bool:
    """Whether rounding of the margins would show in p: then p is integrated as a state."""
    return rounding(state) > STEP.deep


def seen_by(state: State) -> np.ndarray:
    """Samples on which some neuron is active; one that slides along their hyperplane is not.

    A Leaky neuron is active on every sample: it leaves the hyperplane when the others are fitted.
    """
    live = state.W.any(axis=1) & ((state.a != 0) | state.both)
    if state.planes.alpha > 0:
        return state.planes.X.any(axis=1) & live.any()
    active = state.planes.slopes(state.side[live]) > 0
    return np.asarray(active.any(axis=0))


def stiffness(state: State, now: Weights) -> float:
    """The stiffness estimate Σ p_i bend_i ‖∂q_i‖², a bound of the rate at which p answers to p."""
    planes = state.planes
    slopes = planes.slopes(state.side)
    t = slopes * (state.W @ planes.X.T)
    first = (state.copies * state.a**2) @ slopes**2 * planes.r**2
    second = state.copies @ t**2 if state.both else 0.0
    return float(now.p * now.bend @ (first + second))


def weigh(
    state: State, kind: Kind, seen: np.ndarray | None = None, q: np.ndarray | None = None
) -> Weights:
    """p relative to the loss of the samples on which some neuron is active.

    The others keep their loss, and would stop the clock. Their p, which could be beyond all bounds,
    is cut where their pull outweighs that of all others: it matters only to a neuron on their
    hyperplane.
    """
    q = state.outputs() if q is None else q
    seen = seen_by(state) if seen is None else seen
    if seen.all():
        return weights(q, kind)
    if not seen.any():
        return Weights(np.zeros(len(q)), 0.0, np.zeros(len(q)))
    known, rest = weights(q[seen], kind), weights(q[~seen], kind)
    p, bend = np.empty(len(q)), np.empty(len(q))
    p[seen], bend[seen] = known.p, known.bend
    lengths = np.abs(state.planes.r)
    most = 2 * float(known.p @ lengths[seen]) / np.maximum(lengths[~seen], 1e-300)
    # exp overflows at 709; what is that large is cut below anyway.
    shift = min(rest.log_L - known.log_L, 700.0)
    p[~seen], bend[~seen] = np.minimum(rest.p * math.exp(shift), most), 0.0
    return Weights(p, known.log_L, bend)


class Step(NamedTuple):
    """An explicit step and its errors."""

    state: State
    now: Weights
    """p and the loss at its end."""
    errors: np.ndarray
    """The error of the smooth motion of each neuron, relative to it."""
    kinks: list[tuple[int, float, float]]
    """(neuron, time since the step's beginning, error) of every event at a hyperplane: while p is
    replaced by its mean the neurons are a little off, and so is the time at which they meet it."""
    overdue: float
    """The error of neurons that ought to have left their hyperplane during the step."""
    middle: float
    """log L half way."""


def explicit(state: State, now: Weights, h: float, kind: Kind) -> Step:
    """A step of fourth order, commutator-free (Celledoni, Marthinsen & Owren 2003).

    With p known the flow is linear, which is what such methods are for. There are five stages; the
    error is that of the third-order formula inside. While the network is so small that p hardly
    changes, two stages with the p of the beginning do.
    """
    y, lengths = state.planes.y, np.abs(state.planes.r)
    seen = seen_by(state)

    def after(start: State, p: np.ndarray, change: np.ndarray | None = None) -> State:
        new = start.copy()
        advance(new, p * y, h, None if change is None else change * y / h)
        return new

    one = now.p
    early = after(state, one / 2)
    half = weigh(early, kind, seen)
    two = half.p
    if h * float(_turns(state, two - one).max()) > STEP.steady:
        middle = after(state, two / 2)
        half = weigh(middle, kind, seen)
        three = half.p
        four = weigh(after(early, three - one / 2), kind, seen).p
        first = after(state, one / 4 + (two + three) / 6 - four / 12, (three - one) / 2)
        new = after(first, four / 4 + (two + three) / 6 - one / 12, (four - three) / 2)
        end = weigh(new, kind, seen)
        drift = _turns(state, one - 2 * three + end.p) / 16  # p is taken to change linearly
        # The mean of p up to the middle is that of a parabola, not `two`, which led there.
        late = h * ((5 * one + 8 * three - end.p) / 24 - two / 2)
        half = half._replace(log_L=half.log_L - _work(middle, three, late))
        errors = _turns(state, four - end.p) * h / 6
    else:
        first, new = early, after(early, one / 2)
        end = weigh(new, kind, seen)
        drift = _turns(state, end.p - one) / 2
        errors = drift * h
    strange = set(state.planes.line[~seen].tolist())
    kinks = []
    for begin, events in ((0.0, first.events), (h / 2, new.events)):
        for k, plane, _, t, bend in events:
            when = begin + t / 2
            late = float(one @ lengths) * (h - when) if plane in strange else 0.0
            bent = drift[k] * min(bend, STEP.most_bend) * t * (1 - t / h)
            kinks.append((k, when, bent + late))
    released = new.copy()
    hold(released, end.p * y)
    released.events = new.events + released.events
    # What is released in the course of a stage is released in time; at its beginning it is late.
    left = [met.bend for met in released.events if met.what == "release" and not met.when]
    overdue = max(left, default=0.0) * h / 4  # of a velocity that grows from 0
    released.events = first.events + released.events
    return Step(released, end, errors, kinks, overdue, half.log_L)


def _work(state: State, p: np.ndarray, impulse: np.ndarray) -> float:
    """The fall of log L while p pulls along what an impulse of other weights moves."""
    one, other = (velocities(state, c * state.planes.y) for c in (p, impulse))
    work = state.a**2 * (one * other).sum(axis=1)
    if state.both:
        work += (one * state.W).sum(axis=1) * (other * state.W).sum(axis=1)
    return float(state.copies @ work)


def _turns(state: State, p: np.ndarray) -> np.ndarray:
    """‖Σ p_i y_i φ'_ki x_i‖ of every neuron: what a change p makes of its velocity over a_k."""
    return np.linalg.norm(pull(state, p * state.planes.y), axis=1)


class Landed(NamedTuple):
    """The end of an implicit step."""

    state: State
    now: Weights
    middle: float | None = None
    """log L half way, where it was made as two half steps."""
    answer: Answer | None = None
    """How the margins answered to p."""


class Answer(NamedTuple):
    """∂q/∂p over the length of the step, for some samples."""

    rows: np.ndarray
    rate: np.ndarray

    def of(self, rows: np.ndarray) -> np.ndarray | None:
        """The same for some of the samples; None where one of them is missing."""
        at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return self.rate[np.ix_(at, at)] if (self.rows[at] == rows).all() else None


def implicit(
    state: State,
    h: float,
    kind: Kind,
    guess: np.ndarray,
    answer: Answer | None = None,
    factor: float = 1.0,
) -> Landed | float:
    """Solve z₁ = factor · stage(z₀, p, h) with p that of z₁, by Newton's method from a guess.

    Where it fails, the share of the step up to the first hyperplane that was met is returned, 0 if
    none was.

    The margins answer smoothly to p, but p to the margins by e^(−q). So what is solved for is
    u = log p and ℓ = log L, as in interior-point methods:

        u_i + ℓ = log |ℓ'(q_i)|,      Σ p_i ρ(q_i) = 1  with ρ = ℓ/|ℓ'|, which is 1 in the tail.

    Where q is so large that rounding hides p in it, p still follows from how the margins must grow,
    and Newton's steps, not the residual, tell when it is known.

    On large data what takes longest is how the margins answer to p. It hardly changes from one of
    Newton's steps to the next, nor to the next step of the path, and is then computed anew only
    where the error does not fall quickly.
    """
    y, seen = state.planes.y, seen_by(state)
    now = weigh(state, kind, seen)
    with np.errstate(divide="ignore"):
        rest = np.maximum(np.log(now.p), STEP.least_log)
    u = np.where(seen, np.clip(guess, STEP.least_log, 1.0), rest)
    first, errors, halved = 0.0, [], 0
    good, least, before_it = np.exp(u), math.inf, math.inf
    predicted = good_level = now.log_L
    log_values, log_slopes, _ = terms(state.outputs(), kind)
    before = np.exp(np.minimum(log_values - log_slopes, 100.0))
    for attempt in range(STEP.most_newton):
        total = math.log(max(float(np.exp(u[seen]) @ before[seen]), 1e-300))  # about 0 in the end
        if abs(total) > STEP.far_total:
            u[seen] -= total
        with np.errstate(under="ignore"):
            p = np.exp(u)
        new = state.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                advance(new, p * y, h)
            except Undecided:
                return first
            if factor != 1:
                new.scale(factor)
            q = new.outputs()
        if attempt == 0:
            first = min((met.when for met in new.events), default=0.0) / h
        if not np.isfinite(q).all():
            return first
        log_values, log_slopes, bend = terms(q, kind)
        level = float(p[seen] @ (log_slopes - u)[seen] / p[seen].sum())  # ℓ, where it fits best
        implied = np.where(seen, np.maximum(log_slopes - level, STEP.least_log), rest)
        rows = np.flatnonzero(seen & (np.maximum(u, implied) > STEP.light))
        if len(rows) == 0:  # the margins have lost all digits that tell the samples apart
            return first
        wrong = log_slopes - level - u
        wanted = margins_at(u + predicted, kind)
        below = (bend < STEP.flat) & (wanted > q + STEP.far_below)
        if below[rows].any():
            # p hardly answers to margins that are far below 0. There Newton's method starts from
            # the margin that belongs to p, not from that to which p has led.
            level, below = predicted, wanted > q
            log_values, log_slopes, bend = terms(np.where(below, wanted, q), kind)
            missing = np.where(below, wanted, q) - q
            wrong = np.where(below, bend * missing, log_slopes - level - u)
        ratio = np.exp((log_values - log_slopes)[rows])
        residual = np.append(wrong[rows], 1 - float(p[rows] @ ratio))
        error = float(p[rows] @ np.abs(residual[:-1])) / float(p[rows].sum()) + abs(residual[-1])
        if error > STEP.rise * least and halved < STEP.most_halvings and not is_deep(new):
            halved += 1
            # Half way in p, not in log p, in which a sample that was sent to 0 would stay there.
            u, predicted = np.log((good + p) / 2), (good_level + predicted) / 2
            answer = None
            continue
        good, good_level, least, halved = p, level, min(error, least), 0
        errors.append(error)
        if len(errors) > STEP.patience and error > errors[-STEP.patience] / 2:
            return first
        # No sample, however light, may be nearer than the nearest ones.
        behind = float(implied[seen].max()) > 1 + STEP.newton * abs(level)
        # Rounding of the margins is an error of log p that no iteration can remove.
        small = max(STEP.newton, min(100 * rounding(new), 10 * STEP.deep))
        if error <= small and not behind:
            return Landed(new, Weights(p, level, np.where(seen, bend, 0.0)), answer=answer)
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                if error > STEP.quick * before_it or len(rows) ** 2 * state.W.size < STEP.costly:
                    answer = None
                before_it = error
                rate = answer.of(rows) if answer else None
                if rate is None:
                    rate = factor * _response(state, new, p * y, h, rows) / h
                    answer = Answer(rows, rate)
                response = rate * h
                step, rise = _newton(response, p[rows], bend[rows], ratio, residual)
                predicted = level + rise
                was = np.maximum(np.log(p[rows]), STEP.least_log)
                u = implied.copy()
                u[rows] = _moved(was, step, bend[rows] * response.diagonal())
        except np.linalg.LinAlgError:
            return first
        if not np.isfinite(u).all():
            return first
        known = float(np.abs(np.exp(u[rows]) - p[rows]).sum()) <= STEP.newton
        if known and not behind:
            return Landed(new, Weights(p, level, np.where(seen, bend, 0.0)), answer=answer)
    return first


def _moved(u: np.ndarray, step: np.ndarray, stiff: np.ndarray) -> np.ndarray:
    """log p after Newton's step, which is made in v = stiff·p + log p.

    A sample is one of the nearest, and its p is what has to change, or it is not, and its margin
    is. In v each of the two is linear in its own way, and a sample may become the other in one
    step, as in active-set methods; steps of log p alone would have to be short.
    """
    stiff = np.maximum(stiff, STEP.light_answer * float(stiff.max(initial=0.0)) + 1e-300)
    v = np.maximum(stiff * np.exp(u) * (1 + step) + u + step, STEP.least_log)
    # stiff e^u + u is convex in u: Newton's method from above falls to its root.
    u = np.where(v > 1, np.minimum(v, np.log(np.maximum(v, 1.0)) - np.log(stiff)), v)
    for _ in range(STEP.most_newton):
        steep = stiff * np.exp(u)
        change = (v - steep - u) / (1 + steep)
        u = u + change
        if np.abs(change).max(initial=0.0) < STEP.newton:
            break
    return np.asarray(u)


def _newton(
    response: np.ndarray, p: np.ndarray, bend: np.ndarray, ratio: np.ndarray, residual: np.ndarray
) -> tuple[np.ndarray, float]:
    """δu and δℓ with δu + bend·δq + δℓ = the residual of every point, and Σ p ρ kept at 1."""
    answer = response * p  # δq = answer δu
    below = p * ratio + (p * (ratio * bend - 1)) @ answer
    both = np.column_stack([residual[:-1], np.ones(len(p))])
    free, level = np.linalg.solve(np.eye(len(p)) + bend[:, None] * answer, both).T
    rise = float((below @ free - residual[-1]) / (below @ level))
    return free - level * rise, rise


def _response(state: State, new: State, c: np.ndarray, h: float, rows: np.ndarray) -> np.ndarray:
    """∂q₁/∂p for these samples.

    Where it would take too long to carry it through the events, those early in the step are taken
    to have happened before it: Newton's method then takes more of its steps, each in less time.
    """
    met: dict[int, list[Met]] = {}
    for event in new.events:
        met.setdefault(event.neuron, []).append(event)
    d, on = state.W.shape[1], (new.side[list(met)] == 0).sum(axis=1).max(initial=0)
    if len(rows) * d * (on + 4) * (len(new.events) + len(met)) > STEP.most_work:
        if any(event.when < h / 2 for event in new.events):
            state = replace(state, side=new.side)
        return _calm_response(state, new, c, h, rows)
    calm = np.ones(len(state.a), dtype=bool)
    calm[list(met)] = False
    response = _calm_response(state.part(calm), new.part(calm), c, h, rows)
    planes = state.planes
    X, y = planes.X[rows], planes.y[rows]
    data = (planes.e, *planes.pulls(c), X, planes.line[rows], planes.r[rows], y)
    for k, events in met.items():
        codes = np.array([KINDS.index(event.what) for event in events])
        where = np.array([event.plane for event in events])
        when = np.array([event.when for event in events])
        way = (state.W[k], state.a[k], state.side[k], new.side[k], codes, where, when)
        D = turned(*way, *data, planes.alpha, state.both, h)
        moved = new.a[k] * (X @ D[:, :-1].T) + np.outer(X @ new.W[k], D[:, -1])
        felt = planes.slopes(new.side[[k]])[0, rows] * y * new.copies[k]
        response += felt[:, None] * moved
    return response


def _calm_response(
    state: State, new: State, c: np.ndarray, h: float, rows: np.ndarray
) -> np.ndarray:
    """The same for neurons that met no hyperplane, from the derivative of the closed form.

    A neuron answers to a change δg of its pull along its face by way·δg, and by what the change of
    its speed does to w∥ and a.
    """
    planes = state.planes
    X, y = planes.X[rows], planes.y[rows]
    live = np.flatnonzero(planes.slopes(state.side)[:, rows].any(axis=1) & (state.a != 0))
    if len(live) == 0:
        return np.zeros((len(rows), len(rows)))
    state, new = state.part(live), new.part(live)
    pulled = planes.slopes(state.side)[:, rows] * y
    felt = planes.slopes(new.side)[:, rows] * y
    W, a, g = state.W, state.a, velocities(state, c)
    weight = new.copies * new.a
    way = a * h  # w₁ − w = way g
    if state.both:
        gamma = np.maximum(np.linalg.norm(g, axis=1), 1e-300)
        ghat = g / gamma[:, None]
        along = (ghat * W).sum(axis=1)
        # The digits that C − 1 loses for short ways do no harm here: this only directs Newton's
        # method.
        C, S = np.cosh(gamma * h), np.sinh(gamma * h)
        way = ((C - 1) * along + S * a) / gamma
    turn = weight * way
    response = ((felt * turn[:, None]).T @ pulled) * (X @ X.T)
    bases, owner = face_bases(state)  # it can move along its hyperplanes only
    across = bases @ X.T
    response -= (felt[owner] * turn[owner, None] * across).T @ (pulled[owner] * across)
    if state.both:
        aside = (W - along[:, None] * ghat) @ X.T / gamma[:, None]  # ∂w∥/∂g
        forth = ghat @ X.T
        straight = ((S * along + C * a) * h - way)[:, None] * forth + (C - 1)[:, None] * aside
        output = ((S * a + C * along) * h)[:, None] * forth + S[:, None] * aside  # ∂a/∂g
        response += (felt * weight[:, None] * forth).T @ (pulled * straight)
        response += (felt * new.copies[:, None] * (new.W @ X.T)).T @ (pulled * output)
    return np.asarray(response)
