"""Explicit steps of the flow, and what a step must know of the samples: who is seen, and p.

Stages with fixed p are put together so that p follows the margins: means of p over the halves of
the step, which trial stages give (fourth order). Those of the late phase are in `implicit_steps`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.flow import _tail
from tacit.flow._lines import sees, square_slopes
from tacit.flow.exponential_tail import Kind, Weights
from tacit.flow.motion import RELEASE
from tacit.flow.sizes import norms, sizes
from tacit.flow.stage import Undecided, advance, hold, pull, velocities
from tacit.flow.state import State
from tacit.flow.tolerances import STEP
from tacit.numerics.float64 import EPS


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
