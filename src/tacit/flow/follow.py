"""Follow the flow from initial weights until the loss is as small as asked, or it cannot go on."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter

import numpy as np

from tacit.flow.branching import Branched, leave_origin, settle_start
from tacit.flow.exponential_tail import Kind, Weights, weights
from tacit.flow.hyperplanes import hyperplanes_of
from tacit.flow.merge import alone, merge
from tacit.flow.path import Event, Moment, Path, PathEnd
from tacit.flow.stage import Fork, Undecided, velocities
from tacit.flow.state import State, start
from tacit.flow.steps import Landed, explicit, implicit, is_deep, seen_by, stiffness, weigh
from tacit.flow.tolerances import PATH, PathTolerances


def follow(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    W: np.ndarray,
    a: np.ndarray,
    both: bool = True,
    kind: Kind = "logistic",
    log_L_end: float = -1000 * math.log(10),
    seconds: float = 540.0,
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Follow gradient flow of a two-layer net, as a differential inclusion."""
    return begin(X, y, alpha, W, a, both, kind).run(log_L_end, seconds, progress)


def begin(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    W: np.ndarray,
    a: np.ndarray,
    both: bool = True,
    kind: Kind = "logistic",
    errors: PathTolerances = PATH,
) -> Flow:
    """The flow at its first moment; its method `run` follows it, with these errors of a step."""
    return Flow(start(hyperplanes_of(X, y, alpha), W, a, both), kind, errors)


class Flow:
    """A path that can be followed further and further."""

    def __init__(self, state: State, kind: Kind, errors: PathTolerances = PATH) -> None:
        self.errors = errors
        self.shares = alone(len(state.a))
        self.state, self.kind = state, kind
        self.now = weigh(state, kind)
        self.fork = ""
        try:
            settle_start(state, weights(state.outputs(), kind).p * state.planes.y)
            self.now = weigh(state, kind)
        except Branched as fork:
            self.fork = str(fork)
        self.s, self.log_t = 0.0, -math.inf
        self.conserved = _conserved(state)
        self.balanced = state.both and bool(
            (np.abs(self.conserved) <= PATH.balanced * _sizes(state) ** 2).all()
        )
        self.moments = [Moment(0.0, -math.inf, self._log_loss(), state.copy())]
        self.events: list[Event] = []
        self.steps = self.rejected = self.tries = 0
        self.last_error = errors.step

    def run(
        self,
        log_L_end: float,
        seconds: float = 540.0,
        progress: Callable[[float], None] | None = None,
        most_tries: float = math.inf,
    ) -> Path:
        """Follow the path until the loss is that small, or for so many tries of a step.

        It may be called again with a smaller loss.
        """
        end, reason, out_of_time = PathEnd.REACHED, "", False
        begin, last_try = perf_counter(), self.tries + most_tries
        h, stiff = 0.01 / self._fastest(), 0
        try:
            while self.now.log_L > log_L_end:
                if self.fork:
                    end, reason = PathEnd.BRANCHED, self.fork
                    break
                if not seen_by(self.state).any():
                    end = PathEnd.DEAD
                    break
                if self._at_rest():
                    end = PathEnd.REST
                    break
                if perf_counter() - begin > seconds:
                    end, reason = PathEnd.UNDECIDED, f"{seconds:.3g} seconds were not enough"
                    out_of_time = True
                    break
                if self.tries >= last_try:
                    end, reason = PathEnd.UNDECIDED, f"{most_tries:g} steps were not enough"
                    break
                if progress is not None:
                    progress(self.now.log_L)
                if stiff >= PATH.try_implicit or is_deep(self.now.log_L):
                    before = self.steps
                    self._implicit_phase(
                        PATH.try_implicit * h, log_L_end, begin + seconds, last_try
                    )
                    stiff = 0 if self.steps > before else -3 * PATH.try_implicit
                    continue
                h, was_stiff = self._explicit_step(h)
                stiff = stiff + 1 if was_stiff else min(stiff, 0)
        except Undecided as doubt:
            end, reason = PathEnd.UNDECIDED, str(doubt)
        except KeyboardInterrupt:
            end, reason = PathEnd.INTERRUPTED, "interrupted"
        self._remember(force=True)
        last = self.moments[-1].state
        size = max(float((_sizes(last) ** 2).max()), 1e-300)
        drift = float(np.abs(_conserved(last) - self.conserved).max()) / size if last.both else 0.0
        return Path(
            list(self.moments),
            list(self.events),
            end,
            reason,
            self.steps,
            self.rejected,
            drift,
            out_of_time,
        )

    def _explicit_step(self, h: float) -> tuple[float, bool]:
        """Make one step of about h.

        Returns the length of the next one, and whether stability is what limits it.
        """
        fastest = self._fastest()
        h = min(h, self.errors.most_growth / fastest)
        aim = h
        while True:
            tiny = aim * fastest < PATH.tiny
            self.tries += 1
            try:
                step = explicit(self.state, self.now, aim, self.kind)
            except Fork as fork:
                if self._at_fork(fork):
                    return h, False
                aim = h = aim * min(0.45 * fork.share, 0.2)
                continue
            except Undecided:
                if tiny:
                    raise
                aim = h = aim / 8
                continue
            if tiny:
                break
            late = [when for when, error in step.kinks if error > self.errors.kink]
            if step.error > self.errors.step:
                aim = h = aim * max(0.1, 0.8 * (self.errors.step / step.error) ** 0.25)
            elif step.overdue > self.errors.step:
                aim *= max(0.1, 0.8 * math.sqrt(self.errors.step / step.overdue))
            elif late and min(late) < 0.999 * aim:
                aim = max(min(late), 1e-3 * aim)  # so that it happens at the end of the step
            elif self._rises(step.now.log_L):
                aim = h = aim / 4
            else:
                break
            self.rejected += 1
        stiff = aim * stiffness(self.state, self.now) > 0.5
        self._accept(step.state, aim)
        grown = min(4.0, 0.8 * (self.errors.step / max(step.error, 1e-300)) ** 0.25)
        if step.error > self.last_error:  # as the network grows so do the errors
            grown *= max(0.5, (self.last_error / step.error) ** 0.1)
        self.last_error = step.error
        return (max(h, aim * grown) if aim < h else aim * grown), stiff

    def _at_fork(self, fork: Fork) -> bool:
        """Whether the neuron has come to w = 0 or a = 0; then its way on is looked for."""
        k = fork.neuron
        largest = float(_sizes(self.state).max())
        small = abs(self.state.a[k]) if fork.what == "a" else np.linalg.norm(self.state.W[k])
        if small > PATH.fork * largest:
            return False
        name = int(np.flatnonzero(self.shares.group == k)[0])
        where = f"comes to {fork.what} = 0 while it slides"
        if fork.what == "a":
            self.fork = (
                f"Neuron {name} {where}: from there on both sides of its hyperplane pull it away."
            )
            return True
        try:
            leave_origin(self.state, k, self.now.p * self.state.planes.y, where)
        except Branched as branched:
            self.fork = str(branched).replace(f"Neuron {k} ", f"Neuron {name} ", 1)
        self.now = weigh(self.state, self.kind)
        return True

    def _implicit_phase(self, h: float, log_L_end: float, deadline: float, last_try: float) -> None:
        """Long implicit steps, as long as they are long; each is checked by two half steps."""
        self._merge()
        trend = np.zeros(len(self.now.p))
        while self.now.log_L > log_L_end and not self._at_rest():
            if perf_counter() > deadline or self.tries >= last_try:
                return
            self.tries += 1
            deep = is_deep(self.now.log_L)
            h = min(h, (PATH.deep_growth if deep else self.errors.late_growth) / self._fastest())
            log_p = _logs(self.now.p)
            two = self._two_halves(h, log_p, trend)
            full: Landed | float = 0.0
            if isinstance(two, Landed):
                full = implicit(self.state, h, self.kind, _logs(two.now.p))
            if isinstance(two, float) or isinstance(full, float):
                # Where Newton's method fails across a hyperplane, the step ends just before it.
                share = two if isinstance(two, float) else full
                h *= (
                    share * PATH.before_plane if isinstance(share, float) and share > 0.01 else 0.25
                )
            else:
                error = _distance(full.state, two.state)
                if self._rises(two.now.log_L):
                    error = math.inf
                if error <= self.errors.implicit:
                    better = two.state if deep else _extrapolated(full.state, two.state)
                    if deep or self._rises(weigh(better, self.kind).log_L):
                        self._accept(two.state, h, two.now)
                    else:
                        self._accept(better, h)
                    trend = (_logs(self.now.p) - log_p) / h
                else:
                    self.rejected += 1
                h *= min(3.0, max(0.2, 0.9 * math.sqrt(self.errors.implicit / max(error, 1e-300))))
            if deep and h * self._fastest() < PATH.shortest:
                raise Undecided("rounding hides what happens at an activation hyperplane")
            if not deep and h * stiffness(self.state, self.now) < 1:  # explicit steps are as good
                return

    def _two_halves(self, h: float, log_p: np.ndarray, trend: np.ndarray) -> Landed | float:
        """The state after two half steps, or the share of h at which a hyperplane stopped them."""
        half = implicit(self.state, h / 2, self.kind, log_p + h / 2 * trend)
        if isinstance(half, float):
            return half / 2
        middle = _logs(half.now.p)
        second = implicit(half.state, h / 2, self.kind, 2 * middle - log_p)
        if isinstance(second, float):
            second = implicit(half.state, h / 2, self.kind, middle)
        if isinstance(second, float):
            return (1 + second) / 2 if second > 0 else 0.0
        second.state.events = half.state.events + second.state.events
        return second

    def _rises(self, log_L: float) -> bool:
        """Whether the loss rises, beyond rounding; along the flow it never does."""
        return log_L > self.now.log_L + PATH.rise * (1 + abs(self.now.log_L))

    def _accept(self, new: State, h: float, now: Weights | None = None) -> None:
        """Make `new` the state; `now` is given where rounding hides p in the margins."""
        self.steps += 1
        self.s += h
        self._keep_balance(new)
        seen, before, fall = seen_by(self.state), self.now.log_L, self._fall()
        for g, plane, what, *_ in new.events:
            members = np.flatnonzero(self.shares.group == g).tolist()
            self.events += [Event(self.s, k, plane, what) for k in members]
        self.state, self.now = new, now or weigh(new, self.kind)
        after, last = self.now.log_L, -self._fall()
        if (seen_by(new) != seen).any():  # this step's unit of time was the old loss
            after = weigh(new, self.kind, seen).log_L
            last = (after - before) / h
        self.log_t = float(np.logaddexp(self.log_t, _log_time(h, before, after, -fall, last)))
        self._remove_dead_neurons()
        if self.steps % PATH.merge_every == 0:
            self._merge()
        self._remember()

    def _keep_balance(self, new: State) -> None:
        """Restore |a| = ‖w‖ of negligible neurons.

        A balanced neuron may decay for ever; round-off would drive it to w = 0 or a = 0.
        """
        if self.balanced:
            sizes = _sizes(new)
            small = sizes < PATH.negligible * sizes.max()
            new.a[small] = np.sign(self.state.a[small]) * np.linalg.norm(new.W[small], axis=1)

    def _remove_dead_neurons(self) -> None:
        """Set neurons that have decayed to nothing to 0, and note their death."""
        new = self.state
        gone = (_sizes(new) < PATH.dead) & (new.a != 0)
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
        """log L of all samples; `now` has that of the samples on which a neuron is active."""
        return weights(self.state.outputs(), self.kind).log_L

    def _speeds(self) -> np.ndarray:
        """The speed of each neuron, relative to its size."""
        g = velocities(self.state, self.now.p * self.state.planes.y)
        size = np.maximum(_sizes(self.state), 1e-300)
        along = (g * self.state.W).sum(axis=1) if self.state.both else 0.0
        moved = np.abs(self.state.a) * np.linalg.norm(g, axis=1)
        return np.hypot(moved, along) / size

    def _at_rest(self) -> bool:
        """Whether neither the neurons nor the loss change to speak of."""
        unit = float(self.now.p @ np.abs(self.state.planes.r))
        if not self.state.both:  # then neurons may be of any size, 0 included
            return self._fall() <= PATH.still * unit**2 * float(self.state.copies @ self.state.a**2)
        return bool(self._speeds().max() <= PATH.slow * unit and self._fall() <= PATH.flat * unit)

    def _fall(self) -> float:
        """The rate −d log L/ds at which the loss falls."""
        return float(self.state.copies @ (self._speeds() * _sizes(self.state)) ** 2)

    def _fastest(self) -> float:
        return max(float(self._speeds().max()), 1e-300)


def _logs(p: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(p, 1e-43))


def _log_time(h: float, before: float, after: float, slope: float, last: float) -> float:
    """log ∫ ds/L over a step, with log L between its ends the cubic that has these slopes."""
    x, weight = np.polynomial.legendre.leggauss(8)
    x = (x + 1) / 2
    rise = (x - 1) ** 2 * (before * (1 + 2 * x) + h * slope * x)
    fall = x**2 * (after * (3 - 2 * x) + h * last * (x - 1))
    return math.log(h / 2) + float(np.logaddexp.reduce(-(rise + fall) + np.log(weight)))


def _conserved(state: State) -> np.ndarray:
    return (state.W**2).sum(axis=1) - state.a**2


def _sizes(state: State) -> np.ndarray:
    return np.hypot(np.linalg.norm(state.W, axis=1), state.a)


def _distance(one: State, other: State) -> float:
    """The distance of two networks with the same neurons, relative to their size."""
    difference = math.hypot(
        float(np.linalg.norm(one.W - other.W)), float(np.linalg.norm(one.a - other.a))
    )
    return difference / math.hypot(float(np.linalg.norm(other.W)), float(np.linalg.norm(other.a)))


def _extrapolated(full: State, two: State) -> State:
    """2·(two half steps) − (one whole), of second order; without it where hyperplanes were met."""
    if full.events or two.events:
        return two
    new = two.copy()
    new.W = 2 * two.W - full.W
    if two.both:  # ‖w‖² − a² as before
        new.a = np.sign(two.a) * np.sqrt(np.maximum((new.W**2).sum(axis=1) - _conserved(two), 0.0))
    t = new.side * (new.W @ new.planes.e.T)
    return new if (t >= 0).all() else two
