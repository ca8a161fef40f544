"""Follow the flow from initial weights until the loss is as small as asked, or it cannot go on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from tacit.flow.merge import alone, merge
from tacit.flow.stage import Undecided, velocities
from tacit.flow.state import State, start
from tacit.flow.steps import Step, explicit, implicit, reaction, seen_by, weigh
from tacit.flow.tail import Kind, weights
from tacit.flow.walls import walls_of

TOLERANCE = 1e-6
"""Error of a step, relative to every neuron."""
IMPLICIT_TOLERANCE = 1e-4
"""The same for the late phase, relative to the network; a step's error is half of this."""
MOST_GROWTH = 1.0
"""No neuron may grow by more than e^this in one step."""
DOUBLING = 0.35
"""The same in the late phase: log L about doubles, so that the way there can be seen."""
MERGE_EVERY = 8
"""Steps between looks for neurons that have aligned."""
DYING = 1e-150
"""A neuron of this size is taken for 0."""
SLOW, FLAT = 1e-4, 1e-7
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
        self.shares = alone(len(state.a))
        self.state, self.kind = state, kind
        self.now = weigh(state, kind)
        self.s, self.log_t = 0.0, -math.inf
        self.conserved, self.first = _conserved(state), _sizes(state)
        self.moments = [Moment(0.0, -math.inf, self._log_loss(), state.copy())]
        self.events: list[Event] = []
        self.steps = self.rejected = 0

    def run(
        self, log_L_end: float, seconds: float, progress: Callable[[float], None] | None
    ) -> Path:
        end, reason = "reached", ""
        begin = perf_counter()
        h, stiff = 0.01 / self._fastest(), 0
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
                h, was_stiff = self._explicit_step(h)
                stiff = stiff + 1 if was_stiff else min(stiff, 0)
        except Undecided as doubt:
            end, reason = "undecided", str(doubt)
        self._remember(force=True)
        last = self.moments[-1].state
        size = float((_sizes(last) ** 2).max())
        drift = float(np.abs(_conserved(last) - self.conserved).max()) / size if last.both else 0.0
        return Path(self.moments, self.events, end, reason, self.steps, self.rejected, drift)

    def _explicit_step(self, h: float) -> tuple[float, bool]:
        """One step of about h; (the next one's length, whether stability is what limits it)."""
        fastest = self._fastest()
        h = min(h, MOST_GROWTH / fastest)
        aim = h
        while True:
            tiny = aim * fastest < 1e-12
            try:
                step = explicit(self.state, self.now, aim, self.kind)
            except Undecided:
                if tiny:
                    raise
                aim = h = aim / 8
                continue
            if step.error > TOLERANCE and not tiny:
                self.rejected += 1
                aim *= max(0.1, 0.8 * (TOLERANCE / step.error) ** 0.25)
                h = aim
                continue
            late = [when for when, error in step.kinks if error > TOLERANCE]
            if not late or tiny or min(late) > 0.999 * aim:
                break
            self.rejected += 1
            aim = max(min(late), 1e-3 * aim)  # so that it happens at the end of the step
        stiff = aim * reaction(self.state, self.now) > 0.5
        self._accept(step, aim)
        grown = min(4.0, 0.8 * (TOLERANCE / max(step.error, 1e-300)) ** 0.25)
        return (max(h, aim * grown) if aim < h else aim * grown), stiff

    def _implicit_phase(self, h: float, log_L_end: float, deadline: float) -> None:
        """Long implicit steps, as long as they are long; each is checked by two half steps."""
        self._merge()
        q = self.state.outputs()
        rate = np.zeros(len(q))
        least = h / 4
        while self.now.log_L > log_L_end and perf_counter() < deadline and not self._at_rest():
            h = min(h, DOUBLING / self._fastest())
            two = self._two_halves(h, q, rate)
            full = implicit(self.state, h, self.kind, q + rate * h) if two is not None else None
            if two is None or full is None:
                h /= 4
            else:
                half, new = two
                error = _distance(full, new)
                if error <= IMPLICIT_TOLERANCE:
                    new = _extrapolated(full, new)
                    before, q = q, new.outputs()
                    rate = (q - before) / h
                    logs = [
                        -self.now.log_L,
                        math.log(4) - weigh(half, self.kind).log_L,
                        -weigh(new, self.kind).log_L,
                    ]
                    mean = float(np.logaddexp.reduce(logs)) - math.log(6)
                    self._accept(Step(new, weigh(new, self.kind), error, [], mean), h)
                    if len(self.state.a) != len(new.a):
                        rate = np.zeros(len(q))
                else:
                    self.rejected += 1
                h *= min(3.0, max(0.2, 0.9 * math.sqrt(IMPLICIT_TOLERANCE / max(error, 1e-300))))
            if h < least:
                return

    def _two_halves(self, h: float, q: np.ndarray, rate: np.ndarray) -> tuple[State, State] | None:
        half = implicit(self.state, h / 2, self.kind, q + rate * h / 2)
        if half is None:
            return None
        second = implicit(half, h / 2, self.kind, 2 * half.outputs() - q)
        if second is None:
            return None
        second.events = half.events + second.events
        return half, second

    def _accept(self, step: Step, h: float) -> None:
        new = step.state
        self.steps += 1
        self.s += h
        for g, wall, what, *_ in new.events:
            members = np.flatnonzero(self.shares.group == g).tolist()
            self.events += [Event(self.s, k, wall, what) for k in members]
        self.log_t = float(np.logaddexp(self.log_t, math.log(h) + step.inverse_loss))
        self.state, self.now = new, weigh(new, self.kind)
        self._bury()
        if self.steps % MERGE_EVERY == 0:
            self._merge()
        self._remember()

    def _bury(self) -> None:
        new = self.state
        gone = (_sizes(new) < DYING) & (new.a != 0)
        if gone.any():
            new.W[gone], new.a[gone] = 0.0, 0.0
            for g in np.flatnonzero(gone):
                members = np.flatnonzero(self.shares.group == g).tolist()
                self.events += [Event(self.s, k, -1, "die") for k in members]
            self.now = weigh(new, self.kind)

    def _merge(self) -> None:
        self.state, self.shares = merge(self.state, self.shares)

    def _remember(self, force: bool = False) -> None:
        last = self.moments[-1]
        if force and last.s == self.s:
            return
        log_L = self._log_loss()
        apart = abs(log_L - last.log_L) > 0.02 * (1 + abs(last.log_L))
        if force or apart or self.s - last.s > 0.2 / self._fastest():
            state = self.shares.expand(self.state)
            self.moments.append(Moment(self.s, self.log_t, log_L, state))

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

    def _fastest(self) -> float:
        return max(float(self._speeds().max()), 1e-300)


def _conserved(state: State) -> np.ndarray:
    return (state.W**2).sum(axis=1) - state.a**2


def _sizes(state: State) -> np.ndarray:
    return np.hypot(np.linalg.norm(state.W, axis=1), state.a)


def _distance(one: State, other: State) -> float:
    """Between two networks with the same neurons, relative to their size."""
    difference = math.hypot(
        float(np.linalg.norm(one.W - other.W)), float(np.linalg.norm(one.a - other.a))
    )
    return difference / math.hypot(float(np.linalg.norm(other.W)), float(np.linalg.norm(other.a)))


def _extrapolated(full: State, two: State) -> State:
    """2·(two half steps) − (one whole) is of second order; not where walls were met in between."""
    if full.events or two.events:
        return two
    new = two.copy()
    new.W = 2 * two.W - full.W
    if two.both:  # ‖w‖² − a² as before
        new.a = np.sign(two.a) * np.sqrt(np.maximum((new.W**2).sum(axis=1) - _conserved(two), 0.0))
    t = new.side * (new.W @ new.walls.e.T)
    return new if (t >= 0).all() else two
