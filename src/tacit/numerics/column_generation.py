"""The rounds of the convex program: what is in play, what was proved, what is still missing."""

import math
from collections.abc import Sequence
from time import perf_counter

import numpy as np

from tacit.numerics.arrangements import cells, cover
from tacit.numerics.branch_and_bound import Branching, compilation, maxima
from tacit.numerics.directions import promising
from tacit.numerics.float64 import EPS
from tacit.numerics.interpolation import interpolate, seconds_of_interpolation
from tacit.numerics.max_margin import max_margin
from tacit.numerics.neurons import Neurons, margins, size
from tacit.numerics.outer_bounds import subsets_bound
from tacit.numerics.polish import fewer, polish, scale_of_pulls
from tacit.numerics.pricing import distinct, price
from tacit.numerics.restricted import Budget, Groups, restricted_program
from tacit.numerics.tolerances import POLISH, PRICING, SEARCH


class Search:
    """Points and neurons in play, and the best proved bounds of the margin.

    `margin` is min y_i f(x_i) / size of `net`; no network has more than `bound`, which `dual` (of
    sum 1) proves. X is in a unit in which its largest entry is about 1.
    """

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray,
        alpha: float,
        signs: Sequence[int],
        budget: Budget,
        seconds: float = math.inf,
    ) -> None:
        self.X, self.y, self.alpha, self.signs, self.budget = X, y, alpha, signs, budget
        self.seconds, self.deadline = seconds, perf_counter() + seconds
        n, d = X.shape
        self.lengths = np.linalg.norm(X, axis=1)
        # A single point with a multiplier bounds the margin: by its length (or √2 of it).
        shortest = int(self.lengths.argmin())
        self.margin, self.net = 0.0, Neurons(np.zeros((0, d)), np.zeros(0, dtype=int))
        self.bound = 2 * float(self.lengths[shortest])
        self.cells: int | None = None
        self.dual = np.zeros(n)
        self.dual[shortest] = 1.0
        self.unit = float(self.lengths[shortest])
        self.unfinished: tuple[np.ndarray, np.ndarray, Neurons, float] | None = None
        # A fixed seed: the same data has the same answer.
        self.rng = np.random.default_rng(0)
        order = np.argsort(self.lengths, kind="stable")
        near = [order[y[order] == label][: 2 * d] for label in (1, -1)]  # short points are hardest
        self.points = np.arange(n) if n <= 8 * d else np.sort(np.concatenate(near))
        self.u, self.sign = np.zeros((0, d)), np.zeros(0, dtype=int)
        self.pattern = np.zeros((0, n), dtype=np.int8)
        self.constrained = np.zeros((0, n), dtype=bool)
        self.idle = np.zeros(0, dtype=int)
        for s in signs:
            few = min(SEARCH.first_neurons, SEARCH.first_entries // d)
            rows = order[(y[order] == s) | (len(signs) == 1)][:few]
            towards = (s * y[rows])[:, None] * X[rows]
            self._join(np.vstack([s * (y @ X), X[y == s].sum(axis=0), towards]), s)

    def warm_start_linear(self) -> None:
        """If a linear function fits, the two neurons that make it are a network to begin with."""
        linear = max_margin(self.y[:, None] * self.X)
        if linear.status == "separable":
            for s in self.signs:
                self._join(s * linear.direction[None], s)
            if len(self.signs) == 2:
                V = np.array([linear.direction, -linear.direction])
                net = Neurons(V, np.array([1, -1]))
                self.look_at(net)
                self.prove(linear.multipliers, net, self.margin)

    def begin_in_cells(self) -> None:
        """Begin with few neurons and points: those that fixed directions make do with."""
        near = self.points[np.argsort(self.lengths[self.points])][: SEARCH.first_points]
        net = Neurons(self.u, self.sign)
        self.deadline += compilation()
        start = promising(
            self.X, self.y, self.alpha, net, near, self.signs, self.rng, self.deadline
        )
        self.look_at(start.net)
        self.points = np.sort(start.points)
        self._forget(np.zeros(len(self.sign), dtype=bool))
        for s in self.signs:
            self._join(start.net.V[start.net.sign == s], s)

    def any_network(self) -> None:
        """If no network is known yet, one that interpolates: programs may lack the digits."""
        late = SEARCH.late * self.seconds if math.isfinite(self.seconds) else 0.0
        if self.margin > 0 or self.left < seconds_of_interpolation(self.X) - late:
            return
        fit = interpolate(self.X, self.y, self.alpha, self.signs, self.u, self.rng, self.deadline)
        if fit is not None:
            self.look_at(fit)

    @property
    def time_for_a_round(self) -> float:
        """What is left but for the seconds that `any_network` will need, if it has so many."""
        needed = 0.0 if self.margin > 0 else seconds_of_interpolation(self.X)
        return self.left - needed if needed < self.left else self.left

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - perf_counter()

    @property
    def gap(self) -> float:
        return 1 - self.margin / self.bound

    @property
    def hopeless(self) -> bool:
        """Floats cannot hold a network's margins: rounding errors are larger."""
        return min(self.unit, self.bound) < SEARCH.hopeless * float(self.lengths.min())

    def round(self, precision: float) -> float:
        """Solve, price and polish; by what share the best missing neuron or point was missed."""
        rows = self.points
        groups = Groups(self.sign, self.pattern[:, rows], self.constrained[:, rows])
        proposal = restricted_program(
            self.X[rows],
            self.y[rows],
            self.alpha,
            groups,
            self.budget,
            precision,
            self.unit,
            self.left,
        )
        if proposal is None:
            return 0.0
        value = max(proposal.value, SEARCH.least_value * self.unit)
        unit = max(proposal.value, self.margin, SEARCH.least_unit * self.unit)
        unit = min(unit, self.bound)
        # The solver had its digits for values near the old unit; far below it there is a round to
        # repeat.
        far = unit < SEARCH.far * self.unit
        self.unit = unit
        lengths = np.linalg.norm(proposal.V, axis=1)
        # An interior point leaves every neuron some length; below this it has none at the optimum.
        noise = max(SEARCH.noise_over_precision * precision, SEARCH.noise) * lengths.max()
        used = lengths > SEARCH.used * lengths.max()
        net = Neurons(proposal.V[used], self.sign[used])
        alive = Neurons(proposal.V[lengths > noise], self.sign[lengths > noise])
        q = self.look_at(net)
        lam = np.zeros(len(self.X))
        lam[rows] = proposal.multipliers
        self._follow(proposal.V, used)
        self.idle = np.where(lengths > noise, 0, self.idle + 1)
        missing = self._price(lam, net, value)
        if missing < SEARCH.polish and self.left > 0:
            thorough = missing == 0 and precision <= SEARCH.fine
            self._polish(alive, lam, precision, thorough)
        joined = self._more_points(q, value) if missing < SEARCH.more_points else 0.0
        self._tidy()
        return max(missing, joined, 1.0 * far)

    def _polish(self, net: Neurons, lam: np.ndarray, precision: float, thorough: bool) -> None:
        """Try to reach the optimum exactly.

        Proofs are dear: after the first guess only those have one whose network does not fall
        behind. A thorough search looks at every guess, and at λ with more noise than was asked of
        the solver, which is what degenerate programs leave it with.
        """
        fine = max(POLISH.support, min(POLISH.coarse_support, precision))
        first = True
        for support in (fine, POLISH.coarse_support) if thorough else (fine,):
            guesses = polish(self.X, self.y, self.alpha, net, lam, self.budget, support)
            for polished, dual in guesses:
                known = self.margin
                reached = float(self.look_at(polished).min())
                hopeful = first or reached > known * (1 - SEARCH.certified)
                if self.margin > 0 and self.left > 0 and hopeful:
                    self.prove(dual, polished, self.margin)
                first = False
                if self.left < 0 or self.gap <= SEARCH.done:
                    return
                if self.cells is None and (not thorough or self.gap <= 2 * SEARCH.tie_in_tree):
                    return

    def look_at(self, net: Neurons) -> np.ndarray:
        """The margins of a network relative to its size; it is kept if it is the best so far."""
        total = size(net, self.budget)
        if not total > 0:
            return np.zeros(len(self.X))
        q, error = margins(self.X, self.y, self.alpha, net)
        steps = self.X.shape[1] + len(net.sign) + 8
        # Less what rounding may have done to f, to the size and to their quotient.
        margin = float((q - error).min()) / total * (1 - steps * EPS)
        if margin > self.margin:
            self.margin, self.net = margin, net
        return q / total

    def _price(self, lam: np.ndarray, net: Neurons, value: float) -> float:
        """Neurons join that λ makes larger than those in play; by how much, relatively."""
        rows, weights = self._support(lam)
        if cover(len(rows), self.X.shape[1]) <= SEARCH.eager_cells:
            return self._enumerate(rows, weights, net, value)
        if self.left < 0:  # what is known of this λ costs little
            return self._branch(rows, weights, net, value)
        floors = self._floors(rows, weights, net, value)
        missing = 0.0
        for s, function in self._functions(rows, weights).items():
            u, values = function.climb(self._starts(rows, weights, net, s))
            missing = max(missing, self._join_best(*distinct(u, values), s, floors[s]))
        return missing or self.prove(lam, net, value)

    def prove(
        self, lam: np.ndarray, net: Neurons, value: float, share: float = SEARCH.share_of_time
    ) -> float:
        """Price λ, in this share of the time left, and keep it if it proves more than was known."""
        rows, weights = self._support(lam)
        if cover(len(rows), self.X.shape[1]) <= SEARCH.eager_cells:
            return self._enumerate(rows, weights, net, value)
        return self._branch(rows, weights, net, value, share)

    def _branch(
        self,
        rows: np.ndarray,
        weights: np.ndarray,
        net: Neurons,
        value: float,
        share: float = SEARCH.share_of_time,
        last: bool = False,
    ) -> float:
        """Price by branch and bound, and keep what it proves; what is missing joins.

        The last time it takes all the time that is left, and does not stop to let neurons join.
        """
        floors = self._floors(rows, weights, net, value)
        functions = self._functions(rows, weights)
        # At the optimum the best direction only ties with the floor, which no bound gets below.
        ceilings = [floors[s] * (1 + SEARCH.tie_in_tree) for s in self.signs]
        outer = [
            subsets_bound(self.X[rows], s * weights * self.y[rows], self.alpha, SEARCH.few_sets)
            for s in self.signs
        ]
        bounds, missing = outer, 0.0
        if any(bound > ceiling for bound, ceiling in zip(outer, ceilings, strict=True)):
            enough = None if last else SEARCH.enough_neurons
            seconds = max(self.left, 0.0) * (1.0 if last else share)
            best = maxima(list(functions.values()), ceilings, enough, seconds)
            bounds = [min(bound, one.bound) for bound, one in zip(outer, best, strict=True)]
            closed = all(one.closed for one in best)
            self.unfinished = None if closed else (rows, weights, net, value)
            for s, one in zip(self.signs, best, strict=True):
                u, values = distinct(one.directions, one.values)
                missing = max(missing, self._join_best(u, values, s, floors[s]))
        self._keep(rows, weights, bounds, None)
        return missing

    def _functions(self, rows: np.ndarray, weights: np.ndarray) -> dict[int, Branching]:
        """The functions of a neuron's direction that λ defines, one for each sign."""
        c = weights * self.y[rows]
        return {s: Branching(self.X[rows], s * c, self.alpha) for s in self.signs}

    def finish(self) -> None:
        """The time that is left goes to the proof that ran out of its share of it."""
        if self.unfinished is not None and 0 < self.left < math.inf:
            self._branch(*self.unfinished, last=True)

    def shrink(self) -> None:
        """A network with more neurons than points gives way to one with as many at most."""
        net = fewer(self.X, self.y, self.alpha, self.net, self.budget)
        # The new network is taken even where rounding leaves it a little less margin.
        if len(net.sign) < len(self.net.sign):
            self.margin = 0.0
            self.look_at(net)

    def _support(self, lam: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows with a multiplier that is more than noise, and these multipliers, of sum 1."""
        # λ_i enters as λ_i x_i, so short points may have large multipliers that do little.
        pull = lam * self.lengths
        rows = np.flatnonzero(pull > SEARCH.support * scale_of_pulls(pull, self.unit * lam.sum()))
        return rows, lam[rows] / lam[rows].sum()

    def _enumerate(
        self, rows: np.ndarray, weights: np.ndarray, net: Neurons, value: float
    ) -> float:
        all_cells = cells(self.X[rows])
        floors = self._floors(rows, weights, net, value)
        missing, bounds = 0.0, []
        for s in self.signs:
            c = s * weights * self.y[rows]
            priced = price(
                self.X[rows], c, self.alpha, all_cells, floors[s], 4 * SEARCH.new_neurons
            )
            bounds.append(priced.bound)
            gain = self._join_best(priced.directions, priced.values, s, floors[s])
            missing = max(missing, gain)
        self._keep(rows, weights, bounds, len(all_cells))
        return missing

    def _join_best(self, u: np.ndarray, values: np.ndarray, s: int, floor: float) -> float:
        """The best of these neurons join, if they beat the floor; by what share of their value."""
        better = np.flatnonzero(values > floor * PRICING.above)[: SEARCH.new_neurons]
        joined = len(better) > 0 and self._join(u[better], s)
        return 1 - floor / float(values[better[0]]) if joined else 0.0

    def _floors(
        self, rows: np.ndarray, weights: np.ndarray, net: Neurons, value: float
    ) -> dict[int, float]:
        """What λ makes of the neurons in play: the margin, or with a pair one number per sign."""
        if self.budget == "sum":
            return {s: value * (1 - SEARCH.tie) for s in self.signs}
        t = self.X[rows] @ net.V.T / np.maximum(np.linalg.norm(net.V, axis=1), 1e-300)
        made = (weights * self.y[rows]) @ np.maximum(t, self.alpha * t) * net.sign
        tops = {s: float(made[net.sign == s].max(initial=0.0)) for s in self.signs}
        return {
            s: max(top * (1 - SEARCH.tie), SEARCH.least_floor * value) for s, top in tops.items()
        }

    def _keep(
        self, rows: np.ndarray, lam: np.ndarray, bounds: list[float], many: int | None
    ) -> None:
        bound = max(bounds) if self.budget == "sum" else math.hypot(*bounds)
        bound *= 1 + (len(lam) + 8) * EPS  # Σλ = 1 up to rounding
        if bound < self.bound:
            # Each λ proves a bound for itself, so the best one stays, whatever later rounds
            # propose.
            self.bound, self.cells = float(bound), many
            self.dual = np.zeros(len(self.X))
            self.dual[rows] = lam

    def _starts(self, rows: np.ndarray, weights: np.ndarray, net: Neurons, s: int) -> np.ndarray:
        """Directions to climb from: neurons in play, points, and anywhere."""
        X, c = self.X[rows], s * weights * self.y[rows]
        near = net.V[net.sign == s]
        longest = np.argsort(-np.linalg.norm(near, axis=1))[: SEARCH.most_starts]
        pull = np.argsort(-np.abs(c) * np.linalg.norm(X, axis=1))[: SEARCH.most_starts]
        anywhere = self.rng.standard_normal((min(len(X), SEARCH.most_starts), X.shape[1]))
        return np.concatenate([near[longest], np.sign(c[pull])[:, None] * X[pull], anywhere])

    def _join(self, u: np.ndarray, s: int) -> bool:
        """Neurons of sign s with these directions; False if all their patterns are there."""
        u = u[u.any(axis=1)]
        pattern = np.where(u @ self.X.T > 0, 1, -1).astype(np.int8)
        there = {row.tobytes() for row in self.pattern[self.sign == s][:, self.points]}
        new = [k for k, row in enumerate(pattern[:, self.points]) if row.tobytes() not in there]
        if not new:
            return False
        self.u = np.concatenate([self.u, u[new] / np.linalg.norm(u[new], axis=1)[:, None]])
        self.sign = np.append(self.sign, np.full(len(new), s))
        self.pattern = np.concatenate([self.pattern, pattern[new]])
        self.constrained = np.concatenate(
            [self.constrained, np.zeros((len(new), len(self.X)), dtype=bool)]
        )
        self.idle = np.append(self.idle, np.zeros(len(new), dtype=int))
        self._constrain_nearest()
        return True

    def _constrain_nearest(self) -> None:
        """Neurons stay on their side of the hyperplanes next to them; others join when crossed."""
        rows = self.points
        angle = np.abs(self.u @ self.X[rows].T) / np.maximum(self.lengths[rows], 1e-300)
        # Where a neuron helps a point it need not keep its side (see `restricted`).
        angle[self.sign[:, None] * self.y[rows] > 0] = np.inf
        near = np.argsort(angle, axis=1)[:, : min(2 * self.X.shape[1] + 2, SEARCH.most_constraints)]
        g = np.arange(len(near))[:, None]
        self.constrained[g, rows[near]] |= np.isfinite(angle[g, near])

    def _follow(self, V: np.ndarray, used: np.ndarray) -> None:
        """Neurons have moved: update their sides, and constrain them where they crossed over."""
        lengths = np.linalg.norm(V[used], axis=1)[:, None]
        self.u[used] = V[used] / lengths
        t = self.u[used] @ self.X.T / self.lengths
        inside = np.isin(np.arange(len(self.X)), self.points)
        crossed = (t * self.pattern[used] < -SEARCH.crossed) & (
            self.sign[used][:, None] * self.y < 0
        )
        self.constrained[used] |= crossed & inside
        self.pattern[used] = np.where(inside, self.pattern[used], np.where(t > 0, 1, -1))

    def _more_points(self, q: np.ndarray, value: float) -> float:
        """The most violated points join; by how much (relative) the worst was violated."""
        violated = np.setdiff1d(np.flatnonzero(q < value * (1 - SEARCH.violated)), self.points)
        if len(violated) == 0:
            return 0.0
        worst = violated[np.argsort(q[violated])]
        self.points = np.union1d(self.points, worst[: max(len(self.points) // 4, 4)])
        return float(1 - q[worst[0]] / value)

    def _tidy(self) -> None:
        """Forget idle neurons and those that became equal."""
        key = np.column_stack([self.sign, self.pattern[:, self.points]])
        first = np.unique(key, axis=0, return_index=True)[1]
        kept = np.sort(first[self.idle[first] < SEARCH.most_idle])
        self._forget(kept)
        self._constrain_nearest()

    def _forget(self, kept: np.ndarray) -> None:
        """The neurons but those kept."""
        self.u, self.sign, self.pattern = self.u[kept], self.sign[kept], self.pattern[kept]
        self.constrained, self.idle = self.constrained[kept], self.idle[kept]
