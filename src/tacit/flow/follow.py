"""Follow the flow from initial weights until the loss is as small as asked, or it cannot go on."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np

from tacit.flow.branching import FlowBranched, crowded, leave_origin, leave_planes
from tacit.flow.exponential_tail import Kind
from tacit.flow.hyperplanes import hyperplanes_of
from tacit.flow.implicit_errors import second_order_errors
from tacit.flow.implicit_steps import (
    GAMMA,
    Answer,
    Failed,
    Landed,
    Shrink,
    half_way,
    implicit,
    in_two,
)
from tacit.flow.path import Path, PathEnd
from tacit.flow.position import Position
from tacit.flow.rescaling import shrinking
from tacit.flow.rest import Rest, is_faint, is_slow, is_still, rest, unfitted
from tacit.flow.sizes import conserved, sizes
from tacit.flow.stage import Fork, Undecided, advance, prepare
from tacit.flow.state import OutOfTime, State, check_time, start
from tacit.flow.steps import Step, explicit, is_deep, seen_by, stiffness, weigh
from tacit.flow.tolerances import PATH, REST, STEP, PathTolerances
from tacit.messages import count


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
    if last.beyond:
        flow.log_scale = last.beyond
        flow._rescale()
    return flow


class Flow(Position):
    """A path that can be followed further and further."""

    def __init__(self, state: State, kind: Kind, errors: PathTolerances = PATH) -> None:
        super().__init__(state, kind, errors)
        self.rest: Rest | None = None
        self.look_again = 0  # the number of steps after which a point of rest is looked for
        self.give_up = 0  # and that after which it is asked whether there can be one

    def run(
        self,
        log_L_end: float,
        seconds: float = 540.0,
        progress: Callable[[float], None] | None = None,
        most_tries: float = math.inf,
        late: bool = False,
        depth: float = math.inf,
    ) -> Path:
        """Follow the path until the loss is that small, or for so many tries of a step.

        It may be called again with a smaller loss; `late` tries long implicit steps at once. With a
        `depth`, log₁₀ log₁₀(1/L), the weights are rescaled, so that no loss is too small.
        """
        self.goal, self.depth = log_L_end, depth
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
            if depth < math.inf and not self.rescaled:
                self._rescale()
            while self._above_goal():
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
                if self.stiff >= PATH.try_implicit or self._deep():
                    self._implicit_phase(last_try)
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
        size = max(float((sizes(last) ** 2).max()), 1e-300)
        drift = float(np.abs(conserved(last) - self.conserved).max()) / size if last.both else 0.0
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
            many = crowded(step.state)
            if tiny:
                error = self.errors.step / 100  # so that the next step is longer
                log_dt, clock_error = self._elapsed(step.state, aim, step.now)
                break
            error = float(step.errors.max())
            came = min((when for k, when, _ in step.kinks if k in many), default=aim)
            late = [(when, bent) for _, when, bent in step.kinks if bent > self.errors.kink]
            log_dt, clock_error = self._elapsed(step.state, aim, step.now, step.middle)
            if error > self.errors.step:
                # The error is that of the third-order formula, of order h⁴; aiming at 0.8 saves
                # rejected steps.
                aim = h = aim * max(0.1, 0.8 * (self.errors.step / error) ** 0.25)
            elif step.overdue > self.errors.kink:
                # A velocity that grows from 0 has led astray by h².
                aim *= max(0.1, 0.8 * math.sqrt(self.errors.kink / step.overdue))
            elif late and min(late)[0] < 0.999 * aim:
                # So that the first happens at the end of the step, or that all errors, which are
                # of third order, are small. One that is released at the beginning may be so by the
                # mean of p only: then it is released later.
                first, worst = min(late)[0], max(bent for _, bent in late)
                shorter = 0.9 * (self.errors.kink / worst) ** (1 / 3)
                aim *= max(first / aim, min(shorter, 0.9), 1e-3 if first else 0.25)
            elif came < 0.999 * aim:
                aim *= max(came / aim, 1e-3)  # what it does there is looked for at once
            elif self._rises(step.now.log_L):
                # The flow never does that: it is an error that the estimates have missed.
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
        for k, on in many.items():
            self._leave_crowd(step, k, on)
        self._accept(step.state, aim, log_dt, step.errors)
        worst = max(error / self.errors.step, clock_error / self.errors.clock, 1e-300)
        grown = min(4.0, 0.8 * worst**-0.25)
        if error > self.last_error:  # as the network grows so do the errors
            grown *= max(0.5, (self.last_error / error) ** 0.1)
        self.last_error = error
        self.h = max(h, aim * grown) if aim < h else aim * grown

    def _leave_crowd(self, step: Step, k: int, on: np.ndarray) -> None:
        """Let neuron k, which slid to where these hyperplanes meet, go the one way there is."""
        c = step.now.p * step.state.planes.y
        try:
            leave_planes(step.state, k, c, on, "slides to where others meet")
        except FlowBranched as branched:
            name = int(np.flatnonzero(self.shares.group == k)[0])
            self.fork = str(branched).replace(f"Neuron {k} ", f"Neuron {name} ", 1)

    def _at_fork(self, fork: Fork) -> bool:
        """Whether the neuron has come to w = 0 or a = 0; then its way on is looked for."""
        k = fork.neuron
        largest = float(sizes(self.state).max())
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

    def _implicit_phase(self, last_try: float) -> None:
        """Long implicit steps, as long as they are long; each with an estimate of its error."""
        self._merge()
        h, failed, before = PATH.try_implicit * self.h, 0, self.steps
        most_longer = PATH.longer
        self.answer: Answer | None = None
        trend = np.zeros(len(self.now.p))
        while self._above_goal() and not self.fork and not self._comes_to_rest():
            check_time(self.state)
            self.h = h / PATH.try_implicit
            if self.tries >= last_try:
                return
            self.tries += 1
            if failed > PATH.most_failed and self._deep() and self.state.both:
                self._rescale()
                trend, self.answer = np.zeros(len(self.now.p)), None
            deep = self._deep()
            most = self.errors.deep_growth if deep else self.errors.late_growth
            most = self.errors.far_growth if self.rescaled else most
            shrink, fastest = None, self._fastest()
            pace = fastest
            if self.rescaled:
                shrink, pace = shrinking(self.state, self.now)
            h = min(h, most / pace, self.errors.farthest / fastest)
            log_p = _logs(self.now.p)
            landed = self._second_order(h, log_p, trend, shrink)
            if isinstance(landed, Failed):
                if h * fastest < PATH.before_fork and self._meets_fork(h):
                    self.stiff = 0
                    return
                failed += deep
                h *= PATH.after_failure
                most_longer = PATH.longer_after_failure
            else:
                new, now, late = landed.state, landed.now, self._late()
                size = sizes(new)
                share = size / size.max()
                # A neuron that is small may yet be large; late ones are drawn where they belong.
                error = float((landed.errors * (share if late else np.sqrt(share))).max())
                if not deep:  # Newton's method may end at a p that is not that of the margins
                    now = weigh(new, self.kind)
                    # Where the margins answer fast they are known less well than p.
                    if self.rescaled or _near(landed.now.p, now.p):
                        now = now._replace(p=landed.now.p)
                # Where p is a state it may drift from the margins: the loss must fall by either of
                # them.
                if self._worse(new, now) or (deep and self._worse(new, weigh(new, self.kind))):
                    error = math.inf
                if not deep and not self.rescaled and (crowded(new) or self._overlooks(new)):
                    error = math.inf  # explicit steps find out what they do there
                allowed = self._allowed()
                if error <= allowed:
                    self._refuse_unfitted(now)
                    self.log_scale += 2 * shrink.rate * h if shrink else 0.0
                    middle = None if late else half_way(self.state, landed, h, self.kind)
                    log_dt, _ = self._elapsed(new, h, now, middle)
                    self._accept(new, h, log_dt, landed.errors, now)
                    self.answer = landed.answer
                    trend = (_logs(self.now.p) - log_p) / h
                else:
                    self.rejected += 1
                # The error is of third order.
                longer = PATH.aims * (allowed / max(error, 1e-300)) ** (1 / 3)
                h *= min(most_longer, max(0.2, longer))
                most_longer = PATH.longer if error <= allowed else 1.0
            if deep and h * self._fastest() < PATH.shortest:
                if not self.state.both:
                    raise Undecided("rounding hides what happens at an activation hyperplane")
                self._rescale()
                h, trend, self.answer = 1 / self._fastest(), np.zeros(len(self.now.p)), None
            elif not deep and h * stiffness(self.state, self.now) < 1:
                # Explicit steps are as good.
                self.h = h if self.steps > before else self.h
                self.stiff = 0 if self.steps > before else -3 * PATH.try_implicit
                return

    def _second_order(
        self, h: float, log_p: np.ndarray, trend: np.ndarray, shrink: Shrink | None
    ) -> Landed | Failed:
        """A step of second order.

        It is Alexander's (1977), which damps what is stiff: p changes linearly from that at γh,
        where an implicit step of first order leads, to that of the end.
        """
        kind, way = self.kind, GAMMA * h
        ahead = np.clip(way * trend, -PATH.most_guess, PATH.most_guess)
        early = implicit(self.state, way, kind, log_p + ahead, self.answer, shrink)
        if early is Failed.GUESS:
            # A trend that has just turned is a worse guess than no trend.
            early = implicit(self.state, way, kind, log_p, None, shrink)
        if isinstance(early, Failed):
            return early
        first = early.now.p
        middle = _logs(first)
        ahead = np.clip((middle - log_p) * (1 / GAMMA - 1), -PATH.most_guess, PATH.most_guess)
        whole = partial(implicit, self.state, h)
        step = partial(in_two, self.state, h, shrink) if shrink else whole
        landed = step(kind, middle + ahead, early.answer, earlier=first)
        if landed is Failed.GUESS:
            landed = step(kind, middle, None, earlier=first)
        if isinstance(landed, Failed):
            return landed
        return landed._replace(
            first=first, errors=second_order_errors(self.state, self.now.p, early, landed, h)
        )

    def _overlooks(self, new: State) -> bool:
        """Whether a neuron meets the hyperplane of a sample that none saw and that weighs more now.

        An implicit step gives it the p of its beginning, which grows as the loss of the others
        falls, but where it was cut.
        """
        met = np.isin(new.planes.line, new.events.rows[:, 1]) & ~seen_by(self.state)
        if not met.any():
            return False
        before, lengths = self.now.p, new.planes.lengths
        met &= before * lengths < before[~met] @ lengths[~met]
        gained = weigh(new, self.kind, seen_by(self.state)).p - before
        return bool(gained[met] @ lengths[met] > self.errors.kink * (before @ lengths))

    def _meets_fork(self, h: float) -> bool:
        """Whether a neuron comes to w = 0 or a = 0 in a step that is as short as this."""
        try:
            advance(self.state.copy(), self.now.p * self.state.planes.y, h)
        except Fork as fork:
            return self._at_fork(fork)
        except Undecided:
            pass
        return False

    def _deep(self) -> bool:
        """Whether p is integrated as a state: rounding hides it in the margins.

        Large weights that do not fit the data yet are not deep down.
        """
        return is_deep(self.state) and not self.rescaled and self.now.log_L < -1

    def _allowed(self) -> float:
        """The error of an implicit step: the deeper, the slower the direction moves on."""
        if self.rescaled:
            return self.errors.late
        return min(self.errors.implicit * max(1.0, -self.now.log_L), self.errors.late)

    def _late(self) -> bool:
        """Whether the loss is so small that the direction hardly moves while it halves."""
        return self.rescaled or self.now.log_L < PATH.late_loss

    def _above_goal(self) -> bool:
        if not self.rescaled:
            return self.now.log_L > self.goal
        return self._beyond(self.now)[0] > self.goal and self.log10_depth() < self.depth

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
        small = sizes(now) < PATH.shrunk * sizes(self.moments[0].state)
        return int((small & active).sum())

    def _refuse_regrown(self) -> None:
        """Claim no rest after a balanced neuron had all but vanished, and has grown again.

        There the smallest difference between its layers led to a network in which its output weight
        has the other sign, and descent goes there; rest is elsewhere then.
        """
        if not self.balanced:
            return
        first = self.moments[0].state
        alive = first.planes.slopes(self.shares.expand(self.state).side).any(axis=1)
        shares = (sizes(moment.state) / np.maximum(sizes(first), 1e-300) for moment in self.moments)
        small = np.min([share[alive & (first.a != 0)].min(initial=1.0) for share in shares])
        if small < PATH.shrunk:
            raise Undecided(
                "the flow would be at rest, but a neuron had shrunk to a share of "
                f"{small:.1e} of its size and grown again, and the smallest difference between "
                "its two layers would have led elsewhere"
            )

    def _comes_to_rest(self) -> bool:
        """Whether there is a point of rest that the flow must come to; looked for now and then."""
        if self.rest is not None:
            return True
        if self.steps < self.look_again or not is_slow(self.state, self.now):
            return False
        small = len(self.state.planes.y) * self.state.W.size <= REST.small
        every = REST.every_small if small else REST.every
        self.look_again = self.steps + 1 + int(every * self.steps - self.steps)
        long_since = self.steps >= self.give_up
        if long_since:
            self.give_up = self.steps + 1 + int(REST.every * self.steps - self.steps)
        seen = seen_by(self.state)
        near = rest(self.state, self.now, seen, self.kind)
        if near is not None:
            self._refuse_unstable(near.dying + self.decayed + self._shrunk())
            self._refuse_regrown()
            self.rest = near
            return True
        if not long_since:
            return False
        # Where neurons came to a hyperplane or left it just now, another look may find the point.
        if is_still(self.state, self.now) and self.log_t > self.log_t_event:
            raise Undecided("the pulls on all neurons are within rounding of 0, but not 0")
        quiet = self.log_t > self.log_t_event + math.log(REST.quiet)
        if quiet or is_faint(self.state, self.now):
            if kept := unfitted(self.state, self.now, seen, self.kind):
                raise Undecided(
                    f"with the activation patterns of this moment {count(kept, 'sample')} cannot "
                    "be fitted, while the other samples are, with ever larger weights"
                )
        return False


def _near(p: np.ndarray, other: np.ndarray) -> bool:
    """Whether the heavy samples weigh about the same."""
    return bool(np.abs(p - other).sum() <= STEP.near * other.sum())


def _logs(p: np.ndarray) -> np.ndarray:
    # Below the least log p of a step, −80, but far from where a float loses digits.
    return np.log(np.maximum(p, 1e-43))
