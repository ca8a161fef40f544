"""Steps of the flow: stages with fixed p, put together so that p follows the margins.

Explicit: means of p over the step's halves, found by trial stages (fourth order).
Implicit: the p of the step's end, for the late phase, where p reacts to the margins ever faster
while the path itself becomes slow (the rates grow like log(1/L), the steps do not shrink).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tacit.flow.exponential_tail import Kind, Weights, terms, weights
from tacit.flow.stage import Undecided, advance, hold, velocities
from tacit.flow.state import State

NEWTON, MOST_NEWTON, PATIENCE = 1e-9, 40, 6
"""Error of log p, and iterations; those in which the error must have become half as large."""
MOST_CHANGE = 3.0
"""Of log p in one iteration."""
DEEP = -1e8
"""log L from which on p is carried."""
LIGHT, LEAST_LOG = -22.0, -80.0
"""Points with a smaller log p are not solved for; and the least that is told apart."""
STEADY = 1e-7
"""Neurons that turn by no more than this when p changes in half a step: p is held fixed."""
MOST_BEND = 10.0
"""Neurons that graze a wall are not watched more closely than this."""


def is_deep(log_L: float) -> bool:
    """Whether rounding of the margins shows in p: then p is what is carried on."""
    return log_L < DEEP


def seen_by(state: State) -> np.ndarray:
    """Points at which some neuron is active (a neuron that slides along their wall is not)."""
    live = (state.a != 0) & state.W.any(axis=1)
    active = state.walls.slopes(state.side[live]) > 0
    return np.asarray(active.any(axis=0))


def reaction(state: State, now: Weights) -> float:
    """How fast p answers to a change of p: Σ p_i bend_i ‖∂q_i‖², a bound of that rate."""
    walls = state.walls
    slopes = walls.slopes(state.side)
    t = slopes * (state.W @ walls.X.T)
    first = (state.copies * state.a**2) @ slopes**2 * walls.r**2
    second = state.copies @ t**2 if state.both else 0.0
    return float(now.p * now.bend @ (first + second))


def weigh(
    state: State, kind: Kind, seen: np.ndarray | None = None, q: np.ndarray | None = None
) -> Weights:
    """p, relative to the loss of the points that are seen: of the others no neuron knows.

    Their p, which could be beyond all bounds, is cut where their pull outweighs all the others':
    it matters only to a neuron in their wall.
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
    lengths = np.abs(state.walls.r)
    most = 2 * float(known.p @ lengths[seen]) / np.maximum(lengths[~seen], 1e-300)
    shift = min(rest.log_L - known.log_L, 700.0)
    p[~seen], bend[~seen] = np.minimum(rest.p * math.exp(shift), most), 0.0
    return Weights(p, known.log_L, bend)


class Step(NamedTuple):
    state: State
    now: Weights
    """At its end."""
    error: float
    """Relative to every neuron, of the smooth motion."""
    kinks: list[tuple[float, float]]
    """(time since the step's beginning, error) of what happened at walls: while p is replaced by
    its mean the neurons are a little off, and so is the time at which they meet a wall."""
    overdue: float
    """Error of neurons that ought to have left their wall during the step."""


def explicit(state: State, now: Weights, h: float, kind: Kind) -> Step:
    """Fourth order: commutator-free (Celledoni, Marthinsen & Owren 2003), because with p known the
    flow is linear. Five stages; the error is that of the third-order formula inside. Two stages
    with the p of the beginning do while the network is so small that p hardly changes."""
    y, lengths = state.walls.y, np.abs(state.walls.r)
    seen = seen_by(state)

    def after(start: State, p: np.ndarray) -> State:
        new = start.copy()
        advance(new, p * y, h)
        return new

    one = now.p
    early = after(state, one / 2)
    two = weigh(early, kind, seen).p
    if h * float(_turns(state, two - one).max()) > STEADY:
        middle = after(state, two / 2)
        three = weigh(middle, kind, seen).p
        four = weigh(after(early, three - one / 2), kind, seen).p
        first = after(state, one / 4 + (two + three) / 6 - four / 12)
        new = after(first, four / 4 + (two + three) / 6 - one / 12)
        end = weigh(new, kind, seen)
        drift = _turns(state, end.p - one) / 8
        error = float(_turns(state, four - end.p).max()) * h / 6
    else:
        first, new = early, after(early, one / 2)
        end = weigh(new, kind, seen)
        drift = _turns(state, end.p - one) / 2
        error = float(drift.max()) * h
    strange = set(state.walls.line[~seen].tolist())
    kinks = []
    for begin, events in ((0.0, first.events), (h / 2, new.events)):
        for k, wall, _, t, bend in events:
            when = begin + t / 2
            late = float(one @ lengths) * (h - when) if wall in strange else 0.0
            kinks.append((when, drift[k] * min(bend, MOST_BEND) * t * (1 - t / h) + late))
    trial = new.copy()
    hold(trial, end.p * y)
    # What is released in the course of a stage is released in time.
    left = [met.bend for met in new.events + trial.events if met.what == "release" and not met.when]
    overdue = max(left, default=0.0) * h / 4  # of a velocity that grows from 0
    new.events = first.events + new.events
    return Step(new, end, error, kinks, overdue)


def _turns(state: State, p: np.ndarray) -> np.ndarray:
    """‖Σ p_i y_i φ'_ki x_i‖ of every neuron: what a change p makes of its velocity over a_k."""
    return np.linalg.norm(state.pull(*state.walls.pulls(p * state.walls.y)), axis=1)


class Landed(NamedTuple):
    state: State
    now: Weights


def implicit(state: State, h: float, kind: Kind, guess: np.ndarray) -> Landed | float:
    """z₁ = stage(z₀, p, h) with p that of z₁, by Newton's method from a guess of log p.

    Where it fails: the share of the step up to the first wall that was met at all, 0 if none was.

    The margins answer smoothly to p, but p to the margins by e^(−q). So what is solved for is
    u = log p and ℓ = log L, as in interior-point methods:

        u_i + ℓ = log |ℓ'(q_i)|,      Σ p_i ρ(q_i) = 1  with ρ = ℓ/|ℓ'|, which is 1 in the tail.

    Where q is so large that p cannot be had from it any more, p still follows from how the
    margins must grow, and Newton's steps, not the residual, tell when it is found.
    """
    y, seen = state.walls.y, seen_by(state)
    with np.errstate(divide="ignore"):
        rest = np.maximum(np.log(weigh(state, kind, seen).p), LEAST_LOG)
    u = np.where(seen, np.clip(guess, LEAST_LOG, 1.0), rest)
    first, errors = 0.0, []
    for attempt in range(MOST_NEWTON):
        p = np.exp(u)
        new = state.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                advance(new, p * y, h)
            except Undecided:
                return first
            q = new.outputs()
        if attempt == 0:
            first = min((met.when for met in new.events), default=0.0) / h
        if not np.isfinite(q).all():
            return first
        log_values, log_slopes, bend = terms(q, kind)
        level = float(p[seen] @ (log_slopes - u)[seen] / p[seen].sum())  # ℓ, where it fits best
        implied = np.where(seen, np.maximum(log_slopes - level, LEAST_LOG), rest)
        rows = np.flatnonzero(seen & (np.maximum(u, implied) > LIGHT))
        ratio = np.exp((log_values - log_slopes)[rows])
        residual = np.append((log_slopes - level - u)[rows], 1 - float(p[rows] @ ratio))
        error = float(p[rows] @ np.abs(residual[:-1])) / float(p[rows].sum()) + abs(residual[-1])
        errors.append(error)
        if attempt >= PATIENCE and error > errors[-PATIENCE] / 2:
            return first
        if error <= max(NEWTON, 1e-14 * min(float(np.abs(q[rows]).max()), -DEEP)):
            return Landed(new, Weights(p, level, np.where(seen, bend, 0.0)))
        try:
            step = _newton(
                _response(state, new, p * y, h, rows), p[rows], bend[rows], ratio, residual
            )
        except np.linalg.LinAlgError:
            return first
        if is_deep(level) and float(p[rows] @ np.abs(step)) <= NEWTON:
            return Landed(new, Weights(p, level, np.where(seen, bend, 0.0)))
        u = implied
        u[rows] = np.log(p[rows]) + step * (
            MOST_CHANGE / max(float(np.abs(step).max()), MOST_CHANGE)
        )
    return first


def _newton(
    response: tuple[np.ndarray, np.ndarray],
    p: np.ndarray,
    bend: np.ndarray,
    ratio: np.ndarray,
    residual: np.ndarray,
) -> np.ndarray:
    """δu with δu + bend·δq + δℓ = the residual of every point, and Σ p ρ kept at 1."""
    left, right = response[0], response[1] * p  # δq = left right δu
    below = p * ratio + ((p * (ratio * bend - 1)) @ left) @ right
    both = np.column_stack([residual[:-1], np.ones(len(p))])
    steep = bend[:, None] * left
    if 2 * len(right) < len(p):  # (1 + UV)⁻¹ = 1 − U(1 + VU)⁻¹V
        both -= steep @ np.linalg.solve(np.eye(len(right)) + right @ steep, right @ both)
    else:
        both = np.linalg.solve(np.eye(len(p)) + steep @ right, both)
    free, level = both.T
    return free - level * (below @ free - residual[-1]) / (below @ level)


def _response(
    state: State, new: State, c: np.ndarray, h: float, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """∂q₁/∂p for these points, from the derivative of the closed form (as if nothing were met).

    What was met early in the step is taken to have happened before it. As two factors, of which
    there are no more columns and rows than the groups with the same patterns have dimensions.
    """
    walls = state.walls
    X, y = walls.X[rows], walls.y[rows]
    if any(met.when < h / 2 for met in new.events):
        state = replace(state, side=new.side)
    live = np.flatnonzero(walls.slopes(state.side)[:, rows].any(axis=1) & (state.a != 0))
    state, new = _part(state, live), _part(new, live)
    first, group = _same_patterns(state, new)
    pulled = walls.slopes(state.side[first])[:, rows] * y  # by point i: s_gi x_i, projected
    felt = walls.slopes(new.side[first])[:, rows] * y
    basis = np.linalg.qr(X.T)[0].T if len(X) < X.shape[1] else np.eye(X.shape[1])
    T = basis @ X.T
    left = felt[:, None] * T
    right = pulled[:, None] * (_answers(state, new, c, h, first, group, basis) @ T)
    return left.reshape(-1, len(rows)).T, right.reshape(-1, len(rows))


def _same_patterns(state: State, new: State) -> tuple[np.ndarray, np.ndarray]:
    """One neuron of every group with the same patterns before and after; the group of each."""
    groups: dict[bytes, int] = {}
    keys = [
        before.tobytes() + after.tobytes()
        for before, after in zip(state.side, new.side, strict=True)
    ]
    group = np.array([groups.setdefault(key, len(groups)) for key in keys], dtype=int)
    return np.unique(group, return_index=True)[1], group


def _answers(
    state: State,
    new: State,
    c: np.ndarray,
    h: float,
    first: np.ndarray,
    group: np.ndarray,
    basis: np.ndarray,
) -> np.ndarray:
    """How Σ a w of each group answers to a change of its pull g: a matrix each, in this basis."""
    W, a, g = state.W, state.a[:, None], velocities(state, c)
    weight = (new.copies * new.a)[:, None]
    way = a * h  # w₁ − w = way g
    left = right = np.zeros((len(W), 2, len(basis)))
    if state.both:
        gamma = np.maximum(np.linalg.norm(g, axis=1), 1e-300)[:, None]
        ghat = g / gamma
        along = (ghat * W).sum(axis=1)[:, None]
        aside = (W - along * ghat) / gamma  # ∂w∥/∂g
        C, S = np.cosh(gamma * h), np.sinh(gamma * h)
        way = ((C - 1) * along + S * a) / gamma
        straight = (S * along + C * a) * h * ghat + (C - 1) * aside
        output = (S * a + C * along) * h * ghat + S * aside  # ∂a/∂g
        left = np.stack([weight * ghat, new.copies[:, None] * new.W], axis=1) @ basis.T
        right = np.stack([straight - way * ghat, output], axis=1) @ basis.T
    turn = np.bincount(group, (weight * way)[:, 0])
    answers = np.empty((len(first), len(basis), len(basis)))
    for j, k in enumerate(first.tolist()):
        mine, on = group == j, np.flatnonzero(state.side[k] == 0)
        answers[j] = turn[j] * np.eye(len(basis))
        if len(on):  # it answers along its walls only
            across = state.walls.face(on).across @ basis.T
            answers[j] -= turn[j] * across.T @ across
        answers[j] += np.vstack(left[mine]).T @ np.vstack(right[mine])
    return answers


def _part(state: State, rows: np.ndarray) -> State:
    """Some of its neurons."""
    return State(
        state.walls, state.W[rows], state.a[rows], state.both, state.side[rows], state.copies[rows]
    )
