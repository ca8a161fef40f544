"""Implicit steps of the flow, which use the p of their end.

They are for the late phase, in which the system is stiff: p answers to the margins ever faster
while the path itself becomes slow (the rates grow like log(1/L), and the steps need not shrink).
"""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

import numpy as np

from tacit.flow import _tail, newton, sensitivity
from tacit.flow._faces import Faces
from tacit.flow.exponential_tail import Kind, Weights
from tacit.flow.stage import Undecided, advance, by_pieces
from tacit.flow.state import State
from tacit.flow.steps import rounding, seen_by, weigh
from tacit.flow.tolerances import PATH, STEP

GAMMA = 1 - math.sqrt(0.5)
"""The share of a step of second order at which its first stage ends."""


def _nowhere_negative(mean: np.ndarray, rate: np.ndarray, h: float) -> np.ndarray:
    """The rate at which p changes in a step with this mean, cut where p would be negative."""
    most = 2 * mean / h
    return np.clip(rate, -most, most)


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
