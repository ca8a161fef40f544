"""Where a flow stands, and what an accepted step changes: the clock, errors, moments, events."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from time import thread_time

import numpy as np

from tacit.flow.branching import FlowBranched, led_away, settle_start
from tacit.flow.clock import log_time
from tacit.flow.exponential_tail import Kind, Weights, weights
from tacit.flow.merge import alone, merge
from tacit.flow.path import Event, Moment, log10_depth
from tacit.flow.rescaling import excess, raise_small, shown, square_norm
from tacit.flow.sizes import conserved, fall, norms, sizes, speeds
from tacit.flow.stage import Undecided, pull, velocities
from tacit.flow.state import OutOfTime, State
from tacit.flow.steps import seen_by, weigh
from tacit.flow.tolerances import PATH, STAGE, PathTolerances
from tacit.numerics.float64 import EPS

ON_ALL = 1e-12
"""|cos(w, x_i)| that is 0 but for rounding."""


class Position:
    """The moment that a path has come to; `Flow` decides which steps lead on from it."""

    def __init__(self, state: State, kind: Kind, errors: PathTolerances = PATH) -> None:
        self.errors = errors
        self.shares = alone(len(state.a))
        self.state, self.kind = state, kind
        self.rescaled, self.log_scale = False, 0.0  # what the margins are too small by then
        begin = thread_time()  # a moment that others have the processor would be counted for each
        self.now = weigh(state, kind)
        self.per_moment = PATH.per_moment * (thread_time() - begin)
        self.fork, self.unsettled = "", False
        try:
            settle_start(state, weights(state.outputs(), kind).p * state.planes.y)
            self.now = weigh(state, kind)
        except FlowBranched as fork:
            self.fork = str(fork)
        except OutOfTime:
            self.unsettled = True
        self.s, self.log_t, self.log_t_event = 0.0, -math.inf, -math.inf
        self.conserved = conserved(state)
        self.balanced = state.both and bool(
            (np.abs(self.conserved) <= PATH.balanced * sizes(state) ** 2).all()
        )
        first = replace(state.copy(), deadline=math.inf)  # what is read off a path may take longer
        self.moments = [Moment(0.0, -math.inf, self._log_loss(), first, np.zeros(len(first.a)))]
        self.events: list[Event] = []
        self.steps = self.rejected = self.tries = 0
        self.deadline = math.inf  # of `perf_counter`
        self.progress: Callable[[float], None] | None = None
        self.watch: Callable[[Moment], None] | None = None  # called with every new moment
        self.h, self.stiff = 0.0, 0  # the next step, and how many were limited by stability
        self.last_error = errors.step
        self.neuron_errors = np.zeros(len(state.a))  # relative to each neuron
        self.decayed = 0  # active neurons that have shrunk to 0

    def _rises(self, log_L: float) -> bool:
        """Whether the loss rises, beyond rounding; along the flow it never does."""
        return log_L > self.now.log_L + PATH.rise * (1 + abs(self.now.log_L))

    def _worse(self, state: State, now: Weights) -> bool:
        """Whether the loss rises; of rescaled weights, whether the smoothed margin falls.

        A sample that a neuron comes to see, or that none sees any more, counts before and after.
        """
        log_L, before = now.log_L, self.now.log_L
        seen, later = seen_by(self.state), seen_by(state)
        if (seen != later).any():
            log_L, before = (weigh(at, self.kind, seen | later).log_L for at in (state, self.state))
        if not self.rescaled:
            return log_L > before + PATH.rise * (1 + abs(before))
        return -log_L / square_norm(state) < -(1 - PATH.fall) * before / square_norm(self.state)

    def log10_depth(self) -> float:
        """log₁₀ log₁₀(1/L) of the samples on which a neuron is active."""
        return log10_depth(self.now.log_L, self.log_scale)

    def _beyond(self, now: Weights) -> tuple[float, float]:
        """log L up to where floating point ends, and the logarithm of what is beyond it."""
        scale, beyond = shown(self.log_scale, now.log_L)
        return now.log_L * math.exp(scale), beyond

    def _rescale(self) -> None:
        """Bring the weights to the size at which rounding just does not hide p in the margins."""
        factor, state = excess(self.state), self.state
        if self.now.log_L <= -1 < weights(state.outputs() / factor, self.kind).log_L:
            raise Undecided("rounding hides what the loss becomes")
        self.rescaled = True
        state.scale(1 / math.sqrt(factor))
        self.log_scale += math.log(factor)
        raise_small(state)
        # p is kept: margins that are scaled down lie closer together, and would give another one.
        self.now = weigh(state, self.kind)._replace(p=self.now.p)

    def _elapsed(
        self, new: State, h: float, now: Weights, middle: float | None = None
    ) -> tuple[float, float]:
        """log Δt of a step to a new state, and the error of Δt relative to the time until then."""
        if self.rescaled:  # log t = log(1/L), but for the logarithm of the latter
            return -self._beyond(now)[0], 0.0
        if middle is not None and not math.isfinite(middle):
            middle = None  # half way with the mean of p, weights may leave floating point
        before, seen = self.now.log_L, seen_by(self.state)
        if (seen_by(new) != seen).any():  # this step's unit of time is the old loss
            after = weigh(new, self.kind, seen).log_L
            middle, last = None, (after - before) / h
        else:
            after, last = now.log_L, -fall(new, now)
        ends, slopes = (before, after), (-fall(self.state, self.now), last)
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
        new.known = None  # computed anew: what a stage adds to it adds rounding too
        self._refuse_orthogonal(new)
        self._keep_balance(new)
        now = now or weigh(new, self.kind)
        self._refuse_unfitted(now)
        self._note_parting(new, now)
        self._note_leaving(new, now)
        self.steps += 1
        self.s += h
        self.log_t = float(np.logaddexp(self.log_t, log_dt))
        if new.events:
            self.log_t_event = self.log_t
        self._add_errors(new, errors)
        for g, plane, what, *_ in new.events:
            self.events += [Event(self.s, k, plane, what) for k in self.shares.members[g]]
        self.state, self.now = new, now
        self._remove_dead_neurons()
        if self.rescaled:
            raise_small(self.state)
            if abs(math.log(excess(self.state))) > PATH.rescale:
                self._rescale()
        if self.progress is not None:
            self.progress(self._beyond(self.now)[0])
        if self.steps % PATH.merge_every == 0:
            self._merge()
        self._remember()

    def _refuse_unfitted(self, now: Weights) -> None:
        """Claim no way on where rescaled weights come to a sample that they do not fit."""
        if self.rescaled and now.log_L > -1:
            raise Undecided("deep down a neuron meets a sample on which none was active")

    def _note_parting(self, new: State, now: Weights) -> None:
        """Note a neuron on the hyperplane of samples of both labels that may stay there or leave.

        Both of its sides push the neuron back until the pulls of these samples cancel. If nothing
        else moves it off the hyperplane, either way leads on from there.
        """
        rows, lines = np.nonzero((self.state.side == 0) & new.planes.mixed)
        if not len(rows):
            return
        (plus, minus), size = new.planes.pulls(now.p * new.planes.y), now.p @ new.planes.lengths
        away = np.sign(new.a[rows]) * (plus - minus)[lines] > PATH.cancel * size
        g = pull(self.state, self.now.p * new.planes.y)[rows]
        still = np.abs(np.vecdot(g, new.planes.e[lines])) <= STAGE.tie * size
        for k in rows[away & (still | (new.side[rows, lines] == 0))][:1].tolist():
            self.fork = (
                f"Neuron {self.shares.members[k][0]} is on the hyperplane of points of both "
                "labels, whose pulls cancel here: from there on it may stay or leave."
            )

    def _note_leaving(self, new: State, now: Weights) -> None:
        """Note a neuron that has been at w = 0 and, by these pulls, may leave it or stay."""
        held = (self.state.side == 0)[:, new.planes.e.any(axis=1)].all(axis=1)
        away = led_away(new, now.p * new.planes.y)
        for k in away[held[away]][:1].tolist():
            self.fork = (
                f"Neuron {self.shares.members[k][0]} is at w = 0, where nothing pushes it back "
                "any more in some direction: from there on it may stay or leave."
            )

    def _refuse_orthogonal(self, new: State) -> None:
        """Claim no way on for a neuron that slid to where it is orthogonal to every point.

        All hyperplanes meet there. At w = 0 it is asked how many ways lead on (`leave_origin`);
        here w is not 0, as the points do not span all dimensions.
        """
        met = np.unique(new.events.rows[:, 0]).astype(int)
        side = self.state.side[met]
        slid = met[(side == 0).any(axis=1) & (side != 0).any(axis=1)]
        length = norms(new.W[slid])
        nearest = np.abs(new.products()[slid]).max(axis=1, initial=0.0)
        if ((length > 0) & (nearest <= ON_ALL * length)).any():
            raise Undecided("a neuron that slides comes to where it is orthogonal to all points")

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
            shrunk = np.nan_to_num(sizes(self.state) / sizes(new), nan=1.0, posinf=math.inf)
        ray = (new.side == 0).sum(axis=1) >= new.W.shape[1] - 1
        grown = np.where(ray, 1.0, np.maximum(shrunk, 1.0))[self.shares.group]
        self.neuron_errors = np.minimum(
            self.neuron_errors * grown + (errors + EPS)[self.shares.group], 1.0
        )

    def _remove_dead_neurons(self) -> None:
        """Set neurons that have decayed to nothing to 0, and note their death."""
        new = self.state
        gone = (sizes(new) < PATH.dead) & (new.a != 0) & (new.both and not self.rescaled)
        if gone.any():
            new.W[gone], new.a[gone], new.known = 0.0, 0.0, None
            self.decayed += int(gone.sum())
            for g in np.flatnonzero(gone):
                self.events += [Event(self.s, k, -1, "die") for k in self.shares.members[g]]
            self.now = weigh(new, self.kind)

    def _merge(self) -> None:
        g = velocities(self.state, self.now.p * self.state.planes.y)
        grows = self.state.a * (g * self.state.W).sum(axis=1) > 0
        self.state, self.shares = merge(self.state, self.shares, grows)
        self.state.deadline = self.deadline

    def _remember(self, force: bool = False) -> None:
        last = self.moments[-1]
        if force and last.s == self.s:
            return
        log_L = self._log_loss()
        scale, beyond = shown(self.log_scale, log_L)
        if force or self._apart(last, log_L * math.exp(scale), beyond):
            state = self.shares.expand(self.state, math.exp(scale / 2))
            log_L *= math.exp(scale)
            self.moments.append(
                Moment(self.s, self.log_t, log_L, state, self.neuron_errors, beyond)
            )
            self.deadline -= self.per_moment
            self.state.deadline = self.deadline
            if self.watch is not None:
                self.watch(self.moments[-1])

    def _apart(self, last: Moment, log_L: float, beyond: float) -> bool:
        """Whether it is far enough from the last moment for another one."""
        if beyond:
            return log10_depth(log_L, beyond) > 1.02 * last.log10_depth
        grown = abs(log_L - last.log_L) > 0.02 * (1 + abs(last.log_L))
        return grown or self.s - last.s > 0.2 / self._fastest()

    def _log_loss(self) -> float:
        """log L of all samples; `now` has that of the samples on which a neuron is active."""
        return weights(self.state.outputs(), self.kind).log_L

    def _fastest(self) -> float:
        return max(float(speeds(self.state, self.now).max()), 1e-300)
