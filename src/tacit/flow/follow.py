"""Follow the flow from initial weights until the loss is as small as asked, or it cannot go on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from tacit.flow.merge import expand, merge
from tacit.flow.stage import Undecided, velocities
from tacit.flow.state import State, start
from tacit.flow.steps import explicit, implicit, reaction, seen_by, weigh
from tacit.flow.tail import Kind, Weights, weights
from tacit.flow.walls import walls_of

TOLERANCE = 1e-5
"""Error of a step relative to the network."""
MOST_GROWTH = 12.0
"""No neuron may grow by more than e^this in one step."""
DYING = 1e-7
"""A neuron that has shrunk to this share of its initial size is taken for 0: below, rounding has
lost the conserved ‖w‖² − a²."""
SLOW, FLAT = 1e-4, 1e-9
"""At rest: no neuron changes by more than the first share, and log L by more than the second, in
the time 1/Σ p_i‖x_i‖."""
TRY_IMPLICIT = 20
"""After so many explicit steps at the limit of stability one as long as all of them is tried."""


@dataclass(frozen=True)
class Moment:
    """The path at one time."""

    s: float
    """Loss-normalised time, ds = L dt."""
    log_t: float
    """Natural logarithm of the time t of gradient flow on the sum of the losses."""
    log_L: float
    """Of all points."""
    state: State


@dataclass(frozen=True)
class Event:
    s: float
    neuron: int
    wall: int
    what: str
    """cross, slide, release, or die (then there is no wall)."""


@dataclass(frozen=True, eq=False)
class Path:
    """How it went; the first moment is the start."""

    moments: list[Moment]
    events: list[Event]
    end: str
    """reached (the loss asked for), rest, dead, or undecided."""
    reason: str
    steps: int
    rejected: int
    drift: float
    """max |‖w_k‖² − a_k² − its start| over the largest ‖w_k‖² + a_k²: 0 for the exact flow."""

    @property
    def last(self) -> Moment:
        return self.moments[-1]


def follow(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    W: np.ndarray,
    a: np.ndarray,
    both: bool = True,
    kind: Kind = "logistic",
    log_L_end: float = -1000 * math.log(10),
    seconds: float = 600.0,
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Gradient flow of a two-layer net as a differential inclusion."""
    return _Flow(start(walls_of(X, y, alpha), W, a, both), kind).run(log_L_end, seconds, progress)


class _Flow:
    def __init__(self, state: State, kind: Kind) -> None:
        self.state, self.kind = state, kind
        self.now = weigh(state, kind)
        self.s, self.log_t = 0.0, -math.inf
        self.conserved, self.first = self._conserved(state), _sizes(state)
        self.moments = [Moment(0.0, -math.inf, self._log_loss(), state.copy())]
        self.events: list[Event] = []
        self.steps = self.rejected = 0

    @staticmethod
    def _conserved(state: State) -> np.ndarray:
        return (state.W**2).sum(axis=1) - state.a**2

    def run(
        self, log_L_end: float, seconds: float, progress: Callable[[float], None] | None
    ) -> Path:
        end, reason = "reached", ""
        begin = perf_counter()
        h, stiff = 0.01 / max(self._rate(), 1e-300), 0
        try:
            while self.now.log_L > log_L_end:
                if not seen_by(self.state).any():
                    end = "dead"
                    break
                if self._at_rest():
                    end = "rest"
                    break
                if perf_counter() - begin > seconds:
                    end, reason = "undecided", f"{seconds:g} seconds were not enough"
                    break
                if progress is not None:
                    progress(self.now.log_L)
                if stiff >= TRY_IMPLICIT:
                    before = self.steps
                    self._implicit_phase(TRY_IMPLICIT * h, log_L_end, begin + seconds)
                    stiff = 0 if self.steps > before else -3 * TRY_IMPLICIT
                    continue
                h = min(h, MOST_GROWTH / self._fastest())
                new, found, error = explicit(self.state, self.now, h, self.kind)
                if error <= TOLERANCE or h * self._fastest() < 1e-13:
                    stiff += 1 if h * reaction(self.state, self.now) > 0.3 else -stiff
                    self._accept(new, found, h)
                else:
                    self.rejected += 1
                h *= min(4.0, max(0.2, 0.9 * (TOLERANCE / max(error, 1e-300)) ** (1 / 3)))
        except Undecided as doubt:
            end, reason = "undecided", str(doubt)
        self._remember(force=True)
        size = float(((self.state.W**2).sum(axis=1) + self.state.a**2).max())
        drift = float(np.abs(self._conserved(self.state) - self.conserved).max()) / size
        if not self.state.both:
            drift = 0.0
        return Path(self.moments, self.events, end, reason, self.steps, self.rejected, drift)

    def _implicit_phase(self, h: float, log_L_end: float, deadline: float) -> None:
        """Long implicit steps, as long as they are long; each is checked by two half steps."""
        small, members = merge(self.state)
        q = small.outputs()
        rate = np.zeros(len(q))
        least = h / 4
        while self.now.log_L > log_L_end and perf_counter() < deadline:
            h = min(h, MOST_GROWTH / self._fastest())
            two = self._two_halves(small, h, q, rate)
            full = implicit(small, h, self.kind, q + rate * h) if two is not None else None
            if two is None or full is None:
                h /= 4
            else:
                error = _distance(full, two)
                if error <= 10 * TOLERANCE:
                    before, q = q, two.outputs()
                    rate = (q - before) / h
                    small = two
                    self._accept(expand(small, members, self.state), weigh(small, self.kind), h)
                else:
                    self.rejected += 1
                h *= min(3.0, max(0.2, 0.9 * math.sqrt(10 * TOLERANCE / max(error, 1e-300))))
            if h < least:
                return

    def _two_halves(self, small: State, h: float, q: np.ndarray, rate: np.ndarray) -> State | None:
        half = implicit(small, h / 2, self.kind, q + rate * h / 2)
        if half is None:
            return None
        events = half.events
        second = implicit(half, h / 2, self.kind, 2 * half.outputs() - q)
        if second is not None:
            second.events = events + second.events
        return second

    def _accept(self, new: State, found: Weights, h: float) -> None:
        self.steps += 1
        self.s += h
        self.events += [Event(self.s, k, wall, what) for k, wall, what in new.events]
        # t grows by ∫ ds/L; log L is nearly linear in between
        mean = -0.5 * (self.now.log_L + found.log_L)
        self.log_t = float(np.logaddexp(self.log_t, math.log(h) + mean))
        gone = (_sizes(new) < DYING * self.first) & (new.a != 0)
        if gone.any():
            new.W[gone], new.a[gone] = 0.0, 0.0
            self.events += [Event(self.s, int(k), -1, "die") for k in np.flatnonzero(gone)]
            found = weigh(new, self.kind)
        self.state, self.now = new, found
        self._remember()

    def _remember(self, force: bool = False) -> None:
        last = self.moments[-1]
        if force and last.s == self.s:
            return
        log_L = self._log_loss()
        apart = abs(log_L - last.log_L) > 0.02 * (1 + abs(last.log_L))
        if force or apart or self.s - last.s > 0.2 / max(self._rate(), 1e-300):
            self.moments.append(Moment(self.s, self.log_t, log_L, self.state.copy()))

    def _log_loss(self) -> float:
        """Of all points; `now` has that of the points which are seen."""
        return weights(self.state.outputs(), self.kind).log_L

    def _speeds(self) -> np.ndarray:
        """How fast each neuron changes, relative to its size."""
        g = velocities(self.state, self.now.p * self.state.walls.y)
        size = np.maximum(_sizes(self.state), 1e-300)
        along = (g * self.state.W).sum(axis=1) if self.state.both else 0.0
        moved = np.abs(self.state.a) * np.linalg.norm(g, axis=1)
        return np.hypot(moved, along) / size

    def _at_rest(self) -> bool:
        speeds = self._speeds()
        unit = float(self.now.p @ np.abs(self.state.walls.r))
        fall = float(self.state.copies @ (speeds * _sizes(self.state)) ** 2)  # −d log L / ds
        return bool(speeds.max() <= SLOW * unit and fall <= FLAT * unit)

    def _rate(self) -> float:
        return float(self._speeds().max())

    def _fastest(self) -> float:
        return max(self._rate(), 1e-300)


def _sizes(state: State) -> np.ndarray:
    return np.hypot(np.linalg.norm(state.W, axis=1), state.a)


def _distance(one: State, other: State) -> float:
    """Between two networks with the same neurons, relative to their size."""
    difference = math.hypot(
        float(np.linalg.norm(one.W - other.W)), float(np.linalg.norm(one.a - other.a))
    )
    return difference / math.hypot(float(np.linalg.norm(other.W)), float(np.linalg.norm(other.a)))
