"""Steps of the flow: stages with fixed p, put together so that p follows the margins.

Explicit steps use means of p over the halves of the step, which trial stages give (fourth order).
Implicit steps use the p of their end. They are for the late phase, in which the system is stiff: p
answers to the margins ever faster while the path itself becomes slow (the rates grow like log(1/L),
and the steps need not shrink).
"""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

import numpy as np

from tacit.flow import _tail, newton, sensitivity
from tacit.flow._faces import Faces
from tacit.flow._lines import sees, square_slopes
from tacit.flow.exponential_tail import Kind, Weights
from tacit.flow.motion import RELEASE
from tacit.flow.sizes import norms, rates, sizes
from tacit.flow.stage import Undecided, advance, by_pieces, hold, pull, velocities
from tacit.flow.state import State
from tacit.flow.tolerances import PATH, STEP
from tacit.numerics.float64 import EPS

GAMMA = 1 - math.sqrt(0.5)
"""The share of a step of second order at which its first stage ends."""


def _nowhere_negative(mean: np.ndarray, rate: np.ndarray, h: float) -> np.ndarray:
    """The rate at which p changes in a step with this mean, cut where p would be negative."""
    most = 2 * mean / h
    return np.clip(rate, -most, most)


def rounding(state: State) -> float:
    """About the rounding error of the margins, which are sums that may cancel."""
    terms = state.copies * np.abs(state.a) * norms(state.W)
    return EPS * float(terms.sum()) * float(state.planes.lengths.max())


def is_deep(state: State) -> bool:
    """Whether rounding of the margins would show in p: then p is integrated as a state."""
    return rounding(state) > STEP.deep


def seen_by(state: State) -> np.ndarray:
    """Samples on which some neuron is active; one that slides along their hyperplane is not.

    A Leaky neuron is active on every sample: it leaves the hyperplane when the others are fitted.
    """
    live = state.W.any(axis=1) & ((state.a != 0) | state.both)
    if state.planes.alpha > 0:
        return (state.planes.r != 0) & live.any()
    return sees(state.side, live, state.planes.lines)


def stiffness(state: State, now: Weights) -> float:
    """The stiffness estimate Σ p_i bend_i ‖∂q_i‖², a bound of the rate at which p answers to p."""
    inner, outer = state.copies * state.a**2, state.copies * float(state.both)
    T, lines = state.products(), state.planes.lines
    return float(now.p * now.bend @ square_slopes(T, state.side, inner, outer, lines))


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
    if not seen.any():
        return Weights(np.zeros(len(q)), 0.0, np.zeros(len(q)))
    return Weights(*_tail.weigh(q, seen, state.planes.lengths, kind == "exponential"))


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
    y, lengths = state.planes.lines.y, state.planes.lengths
    seen = seen_by(state)

    def after(start: State, p: np.ndarray, change: np.ndarray | None = None) -> State:
        new = start.copy()
        advance(new, p * y, h, None if change is None else change * y / h)
        return new

    def weighed(at: State) -> Weights:
        there = weigh(at, kind, seen)
        # Margins of 0 and ∞ have a loss: the weights say it.
        if not (math.isfinite(there.log_L) and np.isfinite(at.W).all() and np.isfinite(at.a).all()):
            raise Undecided("a step leads beyond floating point")
        return there

    one = now.p
    early = after(state, one / 2)
    half = weighed(early)
    two = half.p
    if h * float(_turns(state, two - one).max()) > STEP.steady:
        middle = after(state, two / 2)
        half = weighed(middle)
        three = half.p
        four = weighed(after(early, three - one / 2)).p
        first = after(state, one / 4 + (two + three) / 6 - four / 12, (three - one) / 2)
        new = after(first, four / 4 + (two + three) / 6 - one / 12, (four - three) / 2)
        end = weighed(new)
        drift = _coarse(_turns(state, one - 2 * three + end.p)) / 16  # p is taken to be linear
        # The mean of p up to the middle is that of a parabola, not `two`, which led there.
        late = h * ((5 * one + 8 * three - end.p) / 24 - two / 2)
        half = half._replace(log_L=half.log_L - _work(middle, three, late))
        errors = _coarse(_turns(state, four - end.p)) * h / 6
        errors = np.maximum(errors, STEP.chance * (h * drift) ** (4 / 3))
    else:
        first, new = early, after(early, one / 2)
        end = weighed(new)
        drift = _coarse(_turns(state, end.p - one)) / 2
        errors = drift * h
    # A sample that no neuron saw pulls as before when one sees it, but where its p was cut.
    cut = ~seen & (one * lengths >= float(one[seen] @ lengths[seen]))
    kinks, leverage = [], _leverage(state)
    for begin, events in ((0.0, first.events.rows), (h / 2, new.events.rows)):
        k, plane = events[:, 0].astype(int), events[:, 1].astype(int)
        when = begin + events[:, 3] / 2
        late = np.where(
            np.isin(plane, state.planes.line[cut]), float(one @ lengths) * (h - when), 0.0
        )
        bend, t = np.minimum(events[:, 4], STEP.most_bend), events[:, 3]
        bent = drift[k] * bend * t * (1 - t / h) + late * leverage[k]
        kinks += list(zip(k.tolist(), when.tolist(), bent.tolist(), strict=True))
    released = new.copy()
    hold(released, end.p * y)
    released.events = new.events + released.events
    # What is released in the course of a stage is released in time; at its beginning it is late.
    rows = released.events.rows
    left = rows[(rows[:, 2] == RELEASE) & (rows[:, 3] == 0)]
    late = left[:, 4] * leverage[left[:, 0].astype(int)]
    overdue = float(late.max(initial=0.0)) * h / 4  # of a velocity that grows from 0
    released.events = first.events + released.events
    return Step(released, end, errors, kinks, overdue, half.log_L)


def _coarse(errors: np.ndarray) -> np.ndarray:
    """Errors, which are differences, rounded up to six bits: the others may be rounding."""
    mantissa, exponent = np.frexp(errors)
    return np.ldexp(np.ceil(64 * mantissa) / 64, exponent)


def _work(state: State, p: np.ndarray, impulse: np.ndarray) -> float:
    """The fall of log L while p pulls along what an impulse of other weights moves."""
    one, other = (velocities(state, c * state.planes.y) for c in (p, impulse))
    work = state.a**2 * (one * other).sum(axis=1)
    if state.both:
        work += (one * state.W).sum(axis=1) * (other * state.W).sum(axis=1)
    return float(state.copies @ work)


def _turns(state: State, p: np.ndarray) -> np.ndarray:
    """What a change p of the weights makes of the velocity of every neuron, relative to it."""
    return norms(pull(state, p * state.planes.y)) * _leverage(state)


def _leverage(state: State) -> np.ndarray:
    """By what a pull on a neuron is multiplied to move it, relative to it; 1 is an upper bound
    where both layers are trained."""
    if state.both:
        return np.ones(len(state.a))
    return np.asarray(np.abs(state.a) / np.maximum(sizes(state), 1e-300))


class Shrink(NamedTuple):
    """By what weights are divided while they grow."""

    rate: float
    """The rate at which the network grows …"""
    own: np.ndarray
    """… and that at which each neuron is divided. If it is slower, the neuron counts as less."""

    def fade(self, state: State, h: float) -> None:
        """Make the neurons count as what they do after a step."""
        faded = 2 * (self.rate - self.own) * h
        if faded.any():
            count(state, np.log(state.copies) - state.less - faded)


def count(state: State, counts: np.ndarray) -> None:
    """Let the rows count as the exponentials of these."""
    least = math.log(PATH.underflows**2)
    state.copies, state.less = np.exp(np.maximum(counts, least)), np.maximum(least - counts, 0.0)


class Landed(NamedTuple):
    """The end of an implicit step."""

    state: State
    now: Weights
    answer: Answer | None = None
    """How the margins answered to p."""
    first: np.ndarray = np.zeros(0)
    """Of a step of second order: p at γh …"""
    errors: np.ndarray = np.zeros(0)
    """… and the error of each neuron, relative to it."""


class Failed(Enum):
    """Why an implicit step is not found."""

    GUESS = "with the p that was guessed there is no stage"
    STEP = "Newton's method does not converge"


class Answer(NamedTuple):
    """∂q/∂p over the length of the step, for some samples."""

    rows: np.ndarray
    rate: np.ndarray

    def places(self, rows: np.ndarray) -> np.ndarray | None:
        """Where these samples are; None where one of them is missing."""
        at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return at if (self.rows[at] == rows).all() else None


def implicit(
    state: State,
    h: float,
    kind: Kind,
    guess: np.ndarray,
    answer: Answer | None = None,
    shrink: Shrink | None = None,
    earlier: np.ndarray | None = None,
) -> Landed | Failed:
    """Solve z₁ = stage(z₀, p, h) with p that of z₁, by Newton's method from a guess.

    With an `earlier` p, that of the time γh, the stage has the p that changes linearly from there
    to that of z₁.

    Where a neuron meets a hyperplane that repels it there may be no solution: with p of the end,
    which answers to the crossing, it would not cross.

    The margins answer smoothly to p, but p to the margins by e^(−q). So what is solved for is
    u = log p and ℓ = log L, as in interior-point methods:

        u_i + ℓ = log |ℓ'(q_i)|,      Σ p_i ρ(q_i) = 1  with ρ = ℓ/|ℓ'|, which is 1 in the tail.

    Where q is so large that rounding hides p in it, p still follows from how the margins must grow,
    and Newton's steps, not the residual, tell when it is known.

    On large data what takes longest is how the margins answer to p. It hardly changes from one of
    Newton's steps to the next, nor to the next step of the path, and is then computed anew only
    where the error does not fall quickly.
    """
    y, seen, exponential = state.planes.lines.y, seen_by(state), kind == "exponential"
    q = state.outputs()
    now = weigh(state, kind, seen, q)
    with np.errstate(divide="ignore"):
        rest = np.maximum(np.log(now.p), STEP.least_log)
    u = np.where(seen, np.clip(guess, STEP.least_log, 1.0), rest)
    errors: list[float] = []
    linear, before_it = False, math.inf
    tried: list[tuple[np.ndarray, np.ndarray, float]] = []
    segment: newton.Segment | None = None
    gained, since = math.inf, 0
    predicted = now.log_L
    log_values, log_slopes, _ = _tail.terms(q, exponential)
    ratio = np.exp(np.minimum(log_values - log_slopes, 100.0))
    for attempt in range(STEP.most_newton):
        p = newton.scaled(u, seen, ratio)
        new = state.copy()
        mean = p if earlier is None else earlier + GAMMA * (p - earlier)
        if earlier is not None and attempt < STEP.turning:
            rate = _nowhere_negative(mean, (p - earlier) / ((1 - GAMMA) * h), h)
        try:
            changing = None if earlier is None else rate * y
            advance(new, mean * y, h, changing, shrink.own if shrink else None)
        except Undecided:
            return Failed.STEP if attempt else Failed.GUESS
        if shrink:
            shrink.fade(new, h)
        q = new.outputs()
        if not np.isfinite(q).all():
            return Failed.STEP if attempt else Failed.GUESS
        found = newton.compare(u, p, q, seen, rest, predicted, exponential)
        level, rows, error = found.level, found.rows, found.error
        if len(rows) == 0:  # the margins have lost all digits that tell the samples apart
            return Failed.STEP
        if segment is not None and (share := segment.share(p, found)):
            u, predicted = segment.between(share)
            tried = []
            continue
        if error < gained / 2:
            gained, since = error, attempt
        if attempt - since > STEP.patience:
            return Failed.STEP
        segment = newton.Segment(p, found, segment)
        errors.append(error)
        # No sample, however light, may be nearer than the nearest ones.
        behind = found.top > 1 + STEP.newton * abs(level)
        # Rounding of the margins is an error of log p that no iteration can remove.
        small = error <= 10 * STEP.deep and error <= max(STEP.newton, 100 * rounding(new))
        if small and not behind:
            return Landed(new, Weights(p, level, np.where(seen, found.bend, 0.0)), answer=answer)
        work = len(rows) ** 2 * state.W.size
        fall = STEP.quick if work < STEP.dear else STEP.slow
        if error > fall * before_it or work < STEP.costly:
            answer = None
        before_it = error
        at = answer.places(rows) if answer else None
        if answer is None or at is None:
            answer = Answer(rows, _response(state, new, mean * y, h, rows, shrink) / h)
            at = np.arange(len(rows))
        try:
            way = float(h) if earlier is None else GAMMA * h
            better, rise = newton.improve(answer.rate, at, way, p, found)
        except np.linalg.LinAlgError:
            return Failed.STEP
        tried = [*tried[-STEP.most_mixed :], (u, better, level + rise)]
        slow = len(errors) > 2 and min(error / errors[-2], errors[-2] / errors[-3]) > STEP.linear
        linear = linear or slow
        u, predicted = _mixed(tried, p, rows) if linear else (better, level + rise)
        if not np.isfinite(u).all():
            return Failed.STEP
        with np.errstate(over="ignore"):  # far off, terms that are finite may have no finite sum
            known = float(np.abs(np.exp(u[rows]) - p[rows]).sum()) <= STEP.newton
        # What neurons grow by is off by the length of the step times the error of p.
        known = known and (shrink is None or error <= STEP.deep * abs(level))
        if known and not behind:
            return Landed(new, Weights(p, level, np.where(seen, found.bend, 0.0)), answer=answer)
    return Failed.STEP


def in_two(
    state: State,
    h: float,
    shrink: Shrink,
    kind: Kind,
    guess: np.ndarray,
    answer: Answer | None,
    earlier: np.ndarray,
) -> Landed | Failed:
    """A step of second order in two stages, with p of the time γh and with that of its end.

    Where a neuron turns by far more than 1 in a step it points to where p of the end pulls it. In
    one stage that would be the mean of p: p of the end would have to be beyond what it is.
    """
    new, late = state.copy(), (1 - GAMMA) * h
    try:
        advance(new, earlier * state.planes.y, late, None, shrink.own)
    except Undecided:
        return Failed.STEP
    shrink.fade(new, late)
    landed = implicit(new, GAMMA * h, kind, guess, answer, shrink)
    if isinstance(landed, Failed):
        return landed
    landed.state.events.rows[:, 3] += late
    landed.state.events = new.events + landed.state.events
    return landed


def _mixed(
    tried: list[tuple[np.ndarray, np.ndarray, float]], p: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, float]:
    """Where Newton's steps lead, from where they have led so far (Anderson 1965).

    Where the derivative misses something (events that are not carried through, neurons that are
    released in time), the error falls by the same factor again and again, in a few directions: the
    mean of the steps in which they cancel is far nearer.
    """
    u, better, level = tried[-1]
    if len(tried) < 2:
        return better, level
    weight = np.sqrt(p[rows])
    missing = weight * (better - u)[rows]
    change = np.array([missing - weight * (v - w)[rows] for w, v, _ in tried[:-1]])
    if not (np.isfinite(missing).all() and np.isfinite(change).all()):
        return better, level
    share = np.linalg.lstsq(change.T, missing, rcond=1e-6)[0]
    if not np.abs(share).sum() < STEP.most_share:
        return better, level
    mixed = better.copy()
    mixed[rows] -= share @ np.array([(better - v)[rows] for _, v, _ in tried[:-1]])
    np.clip(mixed, STEP.least_log, 1.0, out=mixed)
    return mixed, level - float(share @ np.array([level - other for *_, other in tried[:-1]]))


def second_order_errors(
    state: State, begin: np.ndarray, early: Landed, landed: Landed, h: float
) -> np.ndarray:
    """The error of a step whose p is linear: what a parabola through p would change.

    It changes the mean of p, but only so far as the margins do not answer: p at the end is such
    that they are right, whatever it was on the way, so the error is filtered by Newton's matrix
    (Shampine & Baca 1984). What is left is that the neurons were pulled in another order: they grow
    and turn on the way, and, twice as much, they may meet a hyperplane.
    """
    new, events = landed.state, landed.state.events.rows
    first, c = early.now.p, 1 / 6 - GAMMA / 2
    wrong = c * ((landed.now.p - first) / (1 - GAMMA) - (first - begin) / GAMMA)

    def error(p: np.ndarray) -> np.ndarray:
        moved = h * np.maximum(*(rates(at, p) for at in (state, new)))
        return np.asarray(moved / np.maximum(sizes(new), 1e-300))

    order = error(wrong)
    kinks = np.zeros(len(order))
    met = events[(events[:, 2] != RELEASE) | (events[:, 3] > 0)]
    np.maximum.at(kinks, met[:, 0].astype(int), np.minimum(met[:, 4], STEP.most_bend))
    if landed.now.log_L >= STEP.filtered:
        return order + 2 * kinks * order
    grown = h * float((rates(new, landed.now.p) / np.maximum(sizes(new), 1e-300)).max())
    left = error(_left(wrong, early, landed, h))
    return np.minimum(2 * left + 4 * grown * order, order) + 2 * kinks * order


def _left(wrong: np.ndarray, early: Landed, landed: Landed, h: float) -> np.ndarray:
    """What is left of an error of the mean of p when p at the end has answered to it.

    With δq = R h (wrong + γ δp), and δ log p = −bend δq + the same for all samples, so that Σ p
    stays as it is.
    """
    found = [one for one in (landed.answer, early.answer) if one is not None]
    known = [float(np.abs(wrong[one.rows]).sum()) for one in found]
    if not found or max(known) < (1 - STEP.unknown) * float(np.abs(wrong).sum()):
        return wrong
    answer = found[int(np.argmax(known))]
    rows, p = answer.rows, landed.now.p[answer.rows]
    matrix = np.eye(len(rows)) + (GAMMA * h * p * landed.now.bend[rows])[:, None] * answer.rate
    try:
        solved = np.linalg.solve(matrix, np.column_stack([wrong[rows], p]))
    except np.linalg.LinAlgError:
        return wrong
    more = (wrong[rows] - solved[:, 0]).sum() / max(float(solved[:, 1].sum()), 1e-300)
    left = wrong.copy()
    left[rows] = solved[:, 0] + more * solved[:, 1]
    # Where the answer is not that of a path that damps, it says nothing of what is left.
    return left if float(np.abs(left).sum()) <= float(np.abs(wrong).sum()) else wrong


def half_way(state: State, landed: Landed, h: float, kind: Kind) -> float | None:
    """log L half way through a step of second order; None where a hyperplane hides it."""
    first, rate = landed.first, (landed.now.p - landed.first) / ((1 - GAMMA) * h)
    mean = np.maximum(first + (1 / 4 - GAMMA) * h * rate, 0.0)
    new, y = state.copy(), state.planes.lines.y
    try:
        advance(new, mean * y, h / 2, _nowhere_negative(mean, rate, h / 2) * y)
    except Undecided:
        return None
    return weigh(new, kind, seen_by(state)).log_L


def _response(
    state: State,
    new: State,
    c: np.ndarray,
    h: float,
    rows: np.ndarray,
    shrink: Shrink | None = None,
) -> np.ndarray:
    """∂q₁/∂p for these samples."""
    lines, events = state.planes.lines, new.events.rows
    divided = shrink.own if shrink else np.zeros(len(new.a))

    def response(piece: slice, faces: Faces) -> np.ndarray:
        before, after = ((s.W[piece], s.a[piece], s.side[piece]) for s in (state, new))
        mine = events[(events[:, 0] >= piece.start) & (events[:, 0] < piece.stop)]
        mine[:, 0] -= piece.start
        rest = lines, c, rows, faces, state.both, float(h), divided[piece]
        parts = sensitivity.response(before, after, new.copies[piece], mine, *rest)
        return parts.total(lines, rows)

    return np.sum([part for _, part in by_pieces(new, response)], axis=0)
