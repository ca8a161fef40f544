"""Follow the flow from initial weights until the loss is as small as asked, or it cannot go on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np

from tacit.flow.branching import FlowBranched, leave_origin, settle_start
from tacit.flow.clock import log_time
from tacit.flow.exponential_tail import Kind, Weights, weights
from tacit.flow.hyperplanes import hyperplanes_of
from tacit.flow.merge import alone, merge
from tacit.flow.path import Event, Moment, Path, PathEnd
from tacit.flow.rest import Rest, is_slow, is_still, rest, unfitted
from tacit.flow.stage import Fork, Undecided, advance, prepare, velocities
from tacit.flow.state import OutOfTime, State, check_time, start
from tacit.flow.steps import Answer, Landed, explicit, implicit, is_deep, seen_by, stiffness, weigh
from tacit.flow.tolerances import PATH, REST, PathTolerances
from tacit.messages import count
from tacit.numerics.float64 import EPS


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
    deadline: float = math.inf,
) -> Flow:
    """The flow at its first moment; its method `run` follows it, with these errors of a step.

    The deadline (of `perf_counter`) is for the beginning; `run` has its own.
    """
    prepare()
    state = start(hyperplanes_of(X, y, alpha), W, a, both)
    state.deadline = deadline
    return Flow(state, kind, errors)


def resumed(path: Path, kind: Kind, errors: PathTolerances = PATH) -> Flow:
    """The flow at the last moment of a path that has not come to its end."""
    prepare()
    flow = Flow(path.moments[0].state.copy(), kind, errors)
    last = path.last
    flow.fork, flow.unsettled = "", False
    flow.state = last.state.copy()
    flow.now = weigh(flow.state, kind)
    if is_deep(flow.state) and path.weights is not None:
        flow.now = flow.now._replace(p=path.weights)
    flow.s, flow.log_t, flow.log_t_event = last.s, last.log_t, last.log_t
    flow.moments, flow.events = list(path.moments), list(path.events)
    flow.steps, flow.rejected, flow.tries = path.steps, path.rejected, path.steps + path.rejected
    flow.neuron_errors = np.ones(len(last.state.a)) if last.errors is None else last.errors
    flow.decayed = sum(event.what == "die" for event in path.events)
    flow.stiff = PATH.try_implicit if last.log_L < 0 else 0
    return flow


class Flow:
    """A path that can be followed further and further."""

    def __init__(self, state: State, kind: Kind, errors: PathTolerances = PATH) -> None:
        self.errors = errors
        self.shares = alone(len(state.a))
        self.state, self.kind = state, kind
        begin = perf_counter()
        self.now = weigh(state, kind)
        self.per_moment = PATH.per_moment * (perf_counter() - begin)
        self.fork, self.unsettled = "", False
        try:
            settle_start(state, weights(state.outputs(), kind).p * state.planes.y)
            self.now = weigh(state, kind)
        except FlowBranched as fork:
            self.fork = str(fork)
        except OutOfTime:
            self.unsettled = True
        self.s, self.log_t, self.log_t_event = 0.0, -math.inf, -math.inf
        self.conserved = _conserved(state)
        self.balanced = state.both and bool(
            (np.abs(self.conserved) <= PATH.balanced * _sizes(state) ** 2).all()
        )
        first = replace(state.copy(), deadline=math.inf)  # what is read off a path may take longer
        self.moments = [Moment(0.0, -math.inf, self._log_loss(), first, np.zeros(len(first.a)))]
        self.events: list[Event] = []
        self.steps = self.rejected = self.tries = 0
        self.progress: Callable[[float], None] | None = None
        self.h, self.stiff = 0.0, 0  # the next step, and how many were limited by stability
        self.last_error = errors.step
        self.neuron_errors = np.zeros(len(state.a))  # relative to each neuron
        self.rest: Rest | None = None
        self.decayed = 0  # active neurons that have shrunk to 0
        self.look_again = 0  # the number of steps after which a point of rest is looked for

    def run(
        self,
        log_L_end: float,
        seconds: float = 540.0,
        progress: Callable[[float], None] | None = None,
        most_tries: float = math.inf,
        late: bool = False,
    ) -> Path:
        """Follow the path until the loss is that small, or for so many tries of a step.

        It may be called again with a smaller loss; `late` tries long implicit steps at once.
        """
        end, reason, out_of_time = PathEnd.REACHED, "", False
        last_try = self.tries + most_tries
        self.progress = progress
        self.deadline = perf_counter() + seconds - self.per_moment * (len(self.moments) + 1)
        self.state.deadline = self.deadline
        try:
            if self.unsettled:
                raise OutOfTime
            self.h = self.h or 0.01 / self._fastest()
            self.stiff = PATH.try_implicit if late else self.stiff
            while self.now.log_L > log_L_end:
                if self.fork:
                    end, reason = PathEnd.BRANCHED, self.fork
                    break
                if not seen_by(self.state).any():
                    self._refuse_unstable(self.decayed)
                    end = PathEnd.DEAD
                    break
                if self._comes_to_rest():
                    assert self.rest is not None
                    end, reason = PathEnd.REST, self.rest.sentence
                    break
                check_time(self.state)
                if self.tries >= last_try:
                    end, reason = PathEnd.UNDECIDED, f"{most_tries:g} steps were not enough"
                    break
                if self.stiff >= PATH.try_implicit or is_deep(self.state):
                    self._implicit_phase(log_L_end, last_try)
                else:
                    self._explicit_step()
        except Undecided as doubt:
            end, reason = PathEnd.UNDECIDED, str(doubt)
        except OutOfTime:
            end, reason = PathEnd.UNDECIDED, "the time was not enough"
            out_of_time = True
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
            self.now.p,
        )

    def _explicit_step(self) -> None:
        """Make one explicit step of about h; note whether stability is what limits it."""
        fastest = self._fastest()
        aim = h = min(self.h, self.errors.most_growth / fastest)
        while True:
            tiny = aim * fastest < PATH.tiny
            self.tries += 1
            try:
                step = explicit(self.state, self.now, aim, self.kind)
            except Fork as fork:
                if self._at_fork(fork):
                    self.h = h
                    return
                aim = h = aim * min(0.45 * fork.share, 0.2)
                continue
            except Undecided:
                if tiny:
                    raise
                aim = h = aim / 8
                continue
            if tiny:
                error = self.errors.step / 100  # so that the next step is longer
                log_dt, clock_error = self._elapsed(step.state, aim, step.now)
                break
            error = float(step.errors.max())
            late = [(when, bent) for _, when, bent in step.kinks if bent > self.errors.kink]
            log_dt, clock_error = self._elapsed(step.state, aim, step.now, step.middle)
            if error > self.errors.step:
                aim = h = aim * max(0.1, 0.8 * (self.errors.step / error) ** 0.25)
            elif step.overdue > self.errors.step:
                aim *= max(0.1, 0.8 * math.sqrt(self.errors.step / step.overdue))
            elif late and min(late)[0] < 0.999 * aim:
                # So that the first happens at the end of the step, or that all errors, which are
                # of third order, are small. One that is released at the beginning may be so by the
                # mean of p only: then it is released later.
                first, worst = min(late)[0], max(bent for _, bent in late)
                shorter = 0.9 * (self.errors.kink / worst) ** (1 / 3)
                aim *= max(first / aim, min(shorter, 0.9), 1e-3 if first else 0.25)
            elif self._rises(step.now.log_L):
                aim = h = aim / 4
            elif clock_error > self.errors.clock:
                aim = h = aim * max(0.1, 0.8 * (self.errors.clock / clock_error) ** 0.25)
            else:
                break
            self.rejected += 1
        limited = aim * stiffness(self.state, self.now) > 0.5
        self.stiff = self.stiff + 1 if limited else min(self.stiff, 0)
        for k, _, bent in step.kinks:
            step.errors[k] += bent
        self._accept(step.state, aim, log_dt, step.errors)
        worst = max(error / self.errors.step, clock_error / self.errors.clock, 1e-300)
        grown = min(4.0, 0.8 * worst**-0.25)
        if error > self.last_error:  # as the network grows so do the errors
            grown *= max(0.5, (self.last_error / error) ** 0.1)
        self.last_error = error
        self.h = max(h, aim * grown) if aim < h else aim * grown

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
        except FlowBranched as branched:
            self.fork = str(branched).replace(f"Neuron {k} ", f"Neuron {name} ", 1)
        self.now = weigh(self.state, self.kind)
        return True

    def _implicit_phase(self, log_L_end: float, last_try: float) -> None:
        """Long implicit steps, as long as they are long; each is checked by two half steps."""
        self._merge()
        h, before = PATH.try_implicit * self.h, self.steps
        self.answer: Answer | None = None
        trend = np.zeros(len(self.now.p))
        while self.now.log_L > log_L_end and not self._comes_to_rest():
            check_time(self.state)
            self.h = h / PATH.try_implicit
            if self.tries >= last_try:
                return
            self.tries += 1
            deep = is_deep(self.state)
            h = min(
                h, (self.errors.deep_growth if deep else self.errors.late_growth) / self._fastest()
            )
            log_p = _logs(self.now.p)
            two = self._two_halves(h, log_p, trend)
            full: Landed | float = 0.0
            if isinstance(two, Landed):
                full = implicit(self.state, h, self.kind, _logs(two.now.p), two.answer)
            if isinstance(two, float) or isinstance(full, float):
                # Where Newton's method fails across a hyperplane, the step ends just before it.
                share = two if isinstance(two, float) else full
                assert isinstance(share, float)
                if h * self._fastest() < PATH.before_fork and self._meets_fork(h):
                    self.stiff = 0
                    return
                h *= share * PATH.before_plane if share > 0.01 else 0.25
            else:
                error = _distance(full.state, two.state)
                if not deep:  # Newton's method may end at a p that is not that of the margins
                    two = two._replace(now=weigh(two.state, self.kind))
                if self._rises(two.now.log_L) or self._rises(weigh(two.state, self.kind).log_L):
                    error = math.inf
                if error <= self.errors.implicit:
                    better, now = self._better(full.state, two, deep)
                    log_dt, _ = self._elapsed(better, h, now, two.middle)
                    errors = _distances(full.state, two.state)
                    self._accept(better, h, log_dt, errors, now)
                    self.answer = two.answer
                    trend = (_logs(self.now.p) - log_p) / h
                else:
                    self.rejected += 1
                h *= min(3.0, max(0.2, 0.9 * math.sqrt(self.errors.implicit / max(error, 1e-300))))
            if deep and h * self._fastest() < PATH.shortest:
                raise Undecided("rounding hides what happens at an activation hyperplane")
            if not deep and h * stiffness(self.state, self.now) < 1:  # explicit steps are as good
                self.h = h if self.steps > before else self.h
                self.stiff = 0 if self.steps > before else -3 * PATH.try_implicit
                return

    def _better(self, full: State, two: Landed, deep: bool) -> tuple[State, Weights]:
        """The extrapolated state, where its margins give about the pulls of the two half steps.

        The further down, the more its error changes p, until neurons start off in all directions.
        """
        if not deep:
            better = _extrapolated(full, two.state)
            now = weigh(better, self.kind)
            c, y = two.now.p, two.state.planes.y
            fastest, other = (float(_pulls(two.state, p * y).max()) for p in (c, now.p - c))
            if not self._rises(now.log_L) and other <= PATH.same_pull * fastest:
                return better, now
        return two.state, two.now

    def _two_halves(self, h: float, log_p: np.ndarray, trend: np.ndarray) -> Landed | float:
        """The state after two half steps, or the share of h at which a hyperplane stopped them."""
        half = implicit(self.state, h / 2, self.kind, log_p + h / 2 * trend, self.answer)
        if isinstance(half, float):
            half = implicit(self.state, h / 2, self.kind, log_p)
        if isinstance(half, float):
            return half / 2
        middle = _logs(half.now.p)
        second = implicit(half.state, h / 2, self.kind, 2 * middle - log_p, half.answer)
        if isinstance(second, float):
            second = implicit(half.state, h / 2, self.kind, middle)
        if isinstance(second, float):
            return (1 + second) / 2 if second > 0 else 0.0
        second.state.events = half.state.events + second.state.events
        return second._replace(middle=half.now.log_L)

    def _meets_fork(self, h: float) -> bool:
        """Whether a neuron comes to w = 0 or a = 0 in a step that is as short as this."""
        try:
            advance(self.state.copy(), self.now.p * self.state.planes.y, h)
        except Fork as fork:
            return self._at_fork(fork)
        except Undecided:
            pass
        return False

    def _rises(self, log_L: float) -> bool:
        """Whether the loss rises, beyond rounding; along the flow it never does."""
        return log_L > self.now.log_L + PATH.rise * (1 + abs(self.now.log_L))

    def _elapsed(
        self, new: State, h: float, now: Weights, middle: float | None = None
    ) -> tuple[float, float]:
        """log Δt of a step to a new state, and the error of Δt relative to the time until then."""
        before, seen = self.now.log_L, seen_by(self.state)
        if (seen_by(new) != seen).any():  # this step's unit of time is the old loss
            after = weigh(new, self.kind, seen).log_L
            middle, last = None, (after - before) / h
        else:
            after, last = now.log_L, -_fall(new, now)
        ends, slopes = (before, after), (-_fall(self.state, self.now), last)
        log_dt = log_time(h, ends, slopes, middle)
        if middle is None:
            return log_dt, 0.0
        share = math.exp(log_dt - float(np.logaddexp(self.log_t, log_dt)))
        error = share * abs(math.expm1(min(log_time(h, ends, slopes) - log_dt, 1.0)))
        return log_dt, float(f"{error:.1e}")  # a difference: more digits would be rounding

    def _accept(
        self,
        new: State,
        h: float,
        log_dt: float,
        errors: np.ndarray,
        now: Weights | None = None,
    ) -> None:
        """Make `new` the state; `now` is given where rounding hides p in the margins."""
        self.steps += 1
        self.s += h
        self.log_t = float(np.logaddexp(self.log_t, log_dt))
        if new.events:
            self.log_t_event = self.log_t
        new.known = None  # computed anew: what a stage adds to it adds rounding too
        self._keep_balance(new)
        self._add_errors(new, errors)
        for g, plane, what, *_ in new.events:
            members = np.flatnonzero(self.shares.group == g).tolist()
            self.events += [Event(self.s, k, plane, what) for k in members]
        self.state, self.now = new, now or weigh(new, self.kind)
        self._remove_dead_neurons()
        if self.progress is not None:
            self.progress(self.now.log_L)
        if self.steps % PATH.merge_every == 0:
            self._merge()
        self._remember()

    def _keep_balance(self, new: State) -> None:
        """Restore |a| = ‖w‖ and the sign of a, which a balanced neuron keeps for ever.

        It may decay for ever, too; round-off, which grows as it shrinks, would drive it to w = 0 or
        a = 0.
        """
        if self.balanced:
            new.a = np.sign(self.state.a) * np.linalg.norm(new.W, axis=1)

    def _add_errors(self, new: State, errors: np.ndarray) -> None:
        """Add the errors of a step to those of the neurons, which grow while a neuron shrinks.

        An error across its direction stays as it is, and becomes larger relative to it; neurons
        that can move along a ray only have none.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            shrunk = np.nan_to_num(_sizes(self.state) / _sizes(new), nan=1.0, posinf=math.inf)
        ray = (new.side == 0).sum(axis=1) >= new.W.shape[1] - 1
        grown = np.where(ray, 1.0, np.maximum(shrunk, 1.0))[self.shares.group]
        self.neuron_errors = np.minimum(
            self.neuron_errors * grown + (errors + EPS)[self.shares.group], 1.0
        )

    def _remove_dead_neurons(self) -> None:
        """Set neurons that have decayed to nothing to 0, and note their death."""
        new = self.state
        gone = (_sizes(new) < PATH.dead) & (new.a != 0)
        if gone.any():
            new.W[gone], new.a[gone], new.known = 0.0, 0.0, None
            self.decayed += int(gone.sum())
            for g in np.flatnonzero(gone):
                members = np.flatnonzero(self.shares.group == g).tolist()
                self.events += [Event(self.s, k, -1, "die") for k in members]
            self.now = weigh(new, self.kind)

    def _merge(self) -> None:
        g = velocities(self.state, self.now.p * self.state.planes.y)
        grows = self.state.a * (g * self.state.W).sum(axis=1) > 0
        self.state, self.shares = merge(self.state, self.shares, grows)
        self.state.deadline = self.deadline

    def _refuse_unstable(self, dying: int) -> None:
        """Claim no rest that neurons come to by shrinking to w = 0 and a = 0.

        That takes layers that are balanced exactly. Steps of finite size, or rounding, lead past 0,
        and from there on the neuron grows.
        """
        if dying:
            raise Undecided(
                f"the flow would be at rest with {count(dying, 'active neuron')} at 0 or nearly, "
                "where the smallest difference between the two layers leads away"
            )

    def _shrunk(self) -> int:
        """Balanced neurons that are active and were some thousand times as large at the start."""
        if not self.balanced:
            return 0
        now = self.shares.expand(self.state)
        active = now.planes.slopes(now.side).any(axis=1) & (now.a != 0)
        small = _sizes(now) < PATH.shrunk * _sizes(self.moments[0].state)
        return int((small & active).sum())

    def _remember(self, force: bool = False) -> None:
        last = self.moments[-1]
        if force and last.s == self.s:
            return
        log_L = self._log_loss()
        apart = abs(log_L - last.log_L) > 0.02 * (1 + abs(last.log_L))
        if force or apart or self.s - last.s > 0.2 / self._fastest():
            state = self.shares.expand(self.state)
            self.moments.append(Moment(self.s, self.log_t, log_L, state, self.neuron_errors))
            self.deadline -= self.per_moment
            self.state.deadline = self.deadline

    def _log_loss(self) -> float:
        """log L of all samples; `now` has that of the samples on which a neuron is active."""
        return weights(self.state.outputs(), self.kind).log_L

    def _comes_to_rest(self) -> bool:
        """Whether there is a point of rest that the flow must come to; looked for now and then."""
        if self.rest is not None:
            return True
        if self.steps < self.look_again or not is_slow(self.state, self.now):
            return False
        self.look_again = self.steps + 1 + int(REST.every * self.steps - self.steps)
        seen = seen_by(self.state)
        near = rest(self.state, self.now, seen, self.kind)
        if near is not None:
            self._refuse_unstable(near.dying + self.decayed + self._shrunk())
            self.rest = near
            return True
        if is_still(self.state, self.now):
            raise Undecided("the pulls on all neurons are within rounding of 0, but not 0")
        if self.log_t > self.log_t_event + math.log(REST.quiet):
            if kept := unfitted(self.state, self.now, seen, self.kind):
                raise Undecided(
                    f"with the activation patterns of this moment {count(kept, 'sample')} cannot "
                    "be fitted, while the other samples are, with ever larger weights"
                )
        return False

    def _fastest(self) -> float:
        return max(float(_speeds(self.state, self.now).max()), 1e-300)


def _speeds(state: State, now: Weights) -> np.ndarray:
    """The speed of each neuron, relative to its size."""
    g = velocities(state, now.p * state.planes.y)
    along = (g * state.W).sum(axis=1) if state.both else 0.0
    moved = np.abs(state.a) * np.linalg.norm(g, axis=1)
    return np.hypot(moved, along) / np.maximum(_sizes(state), 1e-300)


def _pulls(state: State, c: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(velocities(state, c), axis=1))


def _fall(state: State, now: Weights) -> float:
    """The rate −d log L/ds at which the loss falls."""
    return float(state.copies @ (_speeds(state, now) * _sizes(state)) ** 2)


def _logs(p: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(p, 1e-43))


def _conserved(state: State) -> np.ndarray:
    return (state.W**2).sum(axis=1) - state.a**2


def _sizes(state: State) -> np.ndarray:
    return np.hypot(np.linalg.norm(state.W, axis=1), state.a)


def _distance(one: State, other: State) -> float:
    """The distance of two networks with the same neurons, relative to their size."""
    size = math.hypot(float(np.linalg.norm(other.W)), float(np.linalg.norm(other.a)))
    return float(np.linalg.norm(_distances(one, other) * _sizes(other))) / size


def _distances(one: State, other: State) -> np.ndarray:
    """The distance of each neuron from the same one of another network, relative to its size."""
    apart = np.hypot(np.linalg.norm(one.W - other.W, axis=1), one.a - other.a)
    return apart / np.maximum(_sizes(other), 1e-300)


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
