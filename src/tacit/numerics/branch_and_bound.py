"""max Σ c_i φ(u·x_i) over the unit ball by branch and bound, in any dimension.

Points with c_i < 0 make the function concave, so only the sides of the others, σ_i = ±1, are
branched on. A node that knows some of them replaces the rest by chords over ranges of u·x_i, which
is a concave function; its dual, a least-squares problem over a box, bounds the node (`_chords`).
What makes the tree small: u for which the bound is above the threshold lie in a cap of the ball,
over which ranges are smaller, hence chords lower, hence the cap smaller. Where that does not close
it soon, quadratic functions take the place of chords (`_quadratics`). Every bound is computed
from the multipliers themselves, rounding errors included, so it holds however good these are.
"""

from __future__ import annotations

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from tacit.numerics.float64 import EPS
from tacit.numerics.tolerances import BRANCHING

if TYPE_CHECKING:
    from tacit.numerics._branching import Tree
    from tacit.numerics._relaxation import Sum


@dataclass(frozen=True, eq=False)
class Branched:
    """The maximum is at most `bound`."""

    bound: float
    directions: np.ndarray
    """Unit vectors u in which the function exceeds the floor, best first."""
    values: np.ndarray
    """About the function in these directions."""
    nodes: int
    closed: bool
    """Nothing is left to branch on: the bound is that of the best direction, or the floor."""


@dataclass(frozen=True, eq=False)
class Span:
    """Rows in coordinates of their span: x_i = Σ_j r_ij q_j + e_i with columns q_j of `basis`.

    For a unit vector u the coordinates u·q_j have length at most `stretch`, and the function
    changes by at most `left_out` = Σ|c_i|‖e_i‖.
    """

    rows: np.ndarray
    basis: np.ndarray
    stretch: float
    left_out: float

    @classmethod
    def of(cls, X: np.ndarray, c: np.ndarray) -> Span:
        n, d = X.shape
        if d <= n:
            return cls(X, np.eye(d), 1.0, 0.0)
        Q, R = np.linalg.qr(X.T)
        # What the factorisation leaves out is computed, not assumed: the bound counts it. In long
        # doubles, since errors of that computation would be larger than what is left out.
        fine = np.finfo(np.longdouble).eps
        long_Q, rounding = Q.astype(np.longdouble), 4 * (d + n) * float(fine)
        left_out = np.linalg.norm((X - R.T @ long_Q.T).astype(np.float64), axis=1)
        errors = left_out + rounding * np.linalg.norm(X, axis=1)
        oblique = (long_Q.T @ long_Q - np.eye(len(R))).astype(np.float64)
        stretch = 1 + float(np.linalg.norm(oblique)) + rounding * len(R)
        return cls(R.T, Q, stretch, float(np.abs(c) @ errors) * (1 + 4 * (d + n) * EPS))


class Branching:
    """The function Σ c_i φ(u·x_i) of one λ and sign, and the search for its maximum.

    `caps` are directions v around which `tree_proof` leaves out all u with u·v > `cosine`; the
    search does not.
    """

    def __init__(
        self,
        X: np.ndarray,
        c: np.ndarray,
        alpha: float,
        caps: np.ndarray | None = None,
        cosine: float = 1.0,
    ) -> None:
        from tacit.numerics._relaxation import Sum

        # Rows with c > 0 come first: these are the ones whose sides are branched on.
        self.order = order = np.argsort(c < 0, kind="stable")
        self.span = Span.of(X[order], c[order])
        whole = np.abs(c[order])[:, None] * self.span.rows
        # φ(t) = αt + (1 − α)·max(t, 0): the first part is linear and needs no branching.
        rows = np.ascontiguousarray((1 - alpha) * whole)
        size = alpha * float(np.linalg.norm(whole, axis=1).sum())
        caps = np.zeros((0, X.shape[1])) if caps is None else caps
        middle = caps @ self.span.basis
        apart = np.linalg.norm(caps - middle @ self.span.basis.T, axis=1).max(initial=0.0)
        self.F = Sum(
            rows,
            # In long doubles: where close points cancel, their sum would lose its digits.
            (alpha * (np.sign(c[order]) @ whole.astype(np.longdouble))).astype(np.float64),
            rows @ rows.T,
            # Rounded up, for they bound p_k·u.
            np.linalg.norm(rows, axis=1) * (1 + (rows.shape[1] + 4) * EPS),
            int((c > 0).sum()),
            size,
            middle,
            min(cosine + float(apart) + 8 * X.shape[1] * EPS, 1.0),
        )

    def climb(self, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Local maxima from these directions, and the function there: proposals, no proof."""
        from tacit.numerics._relaxation import climbs

        U = starts @ self.span.basis
        U = U[U.any(axis=1)]
        U /= np.abs(U).max(axis=1)[:, None]  # squares of tiny entries would be 0
        U /= np.linalg.norm(U, axis=1)[:, None]
        values = climbs(self.F, U)
        return U @ self.span.basis.T, values

    def maximum(
        self,
        floor: float,
        enough: int | None = None,
        seconds: float = math.inf,
        stop: Event | None = None,
    ) -> Branched:
        """Bound the maximum over the unit ball.

        What is below `floor` is not looked at further, and `bound` is at least that. The search
        ends with `enough` directions above the floor, after about `seconds`, or when `stop` is set;
        the bound is valid all the same, but not sharp.
        """
        deadline = perf_counter() + seconds
        # Without a deadline a number of nodes ends the search, so that its end is the same
        # everywhere.
        most = BRANCHING.most_nodes if math.isinf(seconds) else sys.maxsize
        stretch, left_out = self.span.stretch, self.span.left_out
        # The same floor in coordinates of the span, in which the ball may be `stretch` times
        # larger.
        low = max((floor - left_out) / stretch, 0.0)
        enough = min(enough or BRANCHING.most_directions, BRANCHING.most_directions)
        tree = self._root(low, False)
        run = _Run(self.F, tree, low, low, enough, deadline, stop)
        chords = most, self.nodes_at_a_time(False)
        run.go(*chords, BRANCHING.chords_first)
        bound = run.bound
        each = self._seconds_of_a_quadratic()
        affordable = each * BRANCHING.quadratics_first <= min(0.5 * seconds, BRANCHING.most_seconds)
        if not (run.threshold > 0 and affordable):  # quadratic functions need a scale, and time
            run.go(*chords)
        elif run.going and run.nodes < most:  # the better of the two goes on
            few = most // BRANCHING.chords_of_a_quadratic
            quadratics = few, self.nodes_at_a_time(True)
            tree = self._root(run.threshold, True)
            other = _Run(self.F, tree, low, run.threshold, enough, deadline, stop)
            other.go(*quadratics, BRANCHING.quadratics_first)
            bound = min(bound, other.bound)
            if other.bound <= run.bound:
                run, other, chords = other, run, quadratics
            run.go(*chords)
            run.take(other)
        bound = min(bound, run.bound)
        many = int(run.tree.counts[3])
        best = np.argsort(-run.tree.values[:many])
        return Branched(
            max((bound * stretch + left_out) * (1 + 4 * EPS), floor),
            run.tree.pool[best] @ self.span.basis.T,
            run.tree.values[best],
            run.nodes,
            not run.tree.counts[0],
        )

    def _seconds_of_a_quadratic(self) -> float:
        """About how long a node takes: Newton steps in the multipliers, two for a row with −."""
        K, r = self.F.rows.shape
        unknowns = 2 * K - self.F.up + 1
        return BRANCHING.seconds_of_an_operation * (unknowns**3 / 3 + K * K * r + 2 * r**3)

    def nodes_at_a_time(self, quadratics: bool) -> int:
        """Nodes between two looks at the clock."""
        if quadratics:
            return max(int(BRANCHING.seconds_at_a_time / self._seconds_of_a_quadratic()), 1)
        entries = max(self.F.rows.size, 1)
        return min(max(BRANCHING.entries_at_a_time // entries, 1), BRANCHING.nodes_at_a_time)

    def compile_quadratics(self) -> None:
        """Small problems do not come to them."""
        from tacit.numerics._branching import search

        search(self.F, self._root(0.5, True), 0.5, 0.5, 1, 1)

    def _root(self, threshold: float, quadratics: bool) -> Tree:
        """One node that knows nothing but how long the rows are."""
        from tacit.numerics._branching import begin

        tree = self.slots(BRANCHING.first_slots, quadratics)
        begin(self.F, tree, threshold)
        return tree

    def slots(self, many: int, quadratics: bool) -> Tree:
        """Room for so many nodes; with quadratic functions all rows have ranges, and more z."""
        from tacit.numerics._branching import Tree

        K, r = self.F.rows.shape
        ranged, more = (K, K + 2) if quadratics else (self.F.up, 0)
        return Tree(
            np.zeros((many, ranged), dtype=np.int8),
            np.zeros((many, ranged)),
            np.zeros((many, ranged)),
            np.zeros((many, K + more)),
            np.zeros(many),
            np.zeros(many, dtype=np.int64),
            np.arange(many),
            np.array([0, many, 0, 0]),
            np.zeros((BRANCHING.most_directions, r)),
            np.zeros(BRANCHING.most_directions),
        )


@dataclass
class _Run:
    """One search over a tree that grows, and what it has proved so far."""

    F: Sum
    tree: Tree
    floor: float
    threshold: float
    enough: int
    deadline: float
    stop: Event | None
    decided: float = 0.0

    def go(self, most: int, at_a_time: int, first: int = sys.maxsize) -> None:
        """Until nothing is left, so many nodes were seen, or time or memory are used up."""
        from tacit.numerics._branching import search

        while self.going and self.nodes < min(most, first):
            self.threshold, decided = search(
                self.F, self.tree, self.floor, self.threshold, self.enough, at_a_time
            )
            self.decided = max(self.decided, decided)
            if self.tree.counts[1] == 0:
                if 2 * sum(array.nbytes for array in self.tree) > BRANCHING.most_bytes:
                    break
                self.tree = grown(self.tree)

    @property
    def nodes(self) -> int:
        return int(self.tree.counts[2])

    @property
    def going(self) -> bool:
        """Nodes are left, and so are time and the wish for directions."""
        stopped = perf_counter() > self.deadline or (self.stop is not None and self.stop.is_set())
        return bool(self.tree.counts[0] and self.tree.counts[3] < self.enough) and not stopped

    def take(self, other: _Run) -> None:
        """The directions of another run too, and its nodes."""
        counts, more = self.tree.counts, other.tree.counts
        room = min(int(more[3]), len(self.tree.values) - int(counts[3]))
        at = slice(int(counts[3]), int(counts[3]) + room)
        self.tree.pool[at], self.tree.values[at] = other.tree.pool[:room], other.tree.values[:room]
        counts[2:] += np.array([more[2], room])

    @property
    def bound(self) -> float:
        left = float(self.tree.bounds[self.tree.heap[0]]) if self.tree.counts[0] else 0.0
        return max(self.decided, left, self.threshold)


def grown(tree: Tree) -> Tree:
    """The same tree with twice the slots."""
    slots = len(tree.bounds)
    by_slot = [np.concatenate([array, np.zeros_like(array)]) for array in tree[:6]]
    spare = np.concatenate([np.arange(slots, 2 * slots), tree.spare])
    counts = tree.counts + [0, slots, 0, 0]
    sides, lows, highs, xs, bounds, heap = by_slot
    return tree._replace(
        sides=sides,
        lows=lows,
        highs=highs,
        xs=xs,
        bounds=bounds,
        heap=heap,
        spare=spare,
        counts=counts,
    )


@cache
def _prepare() -> None:
    function = Branching(np.eye(2), np.array([1.0, -0.5]), 0.0)
    function.climb(np.eye(2))
    function.maximum(0.0)
    function.compile_quadratics()


def compilation() -> float:
    """Seconds that it took to compile the search: some the first time, then none.

    They are no part of the time that a search is given.
    """
    from tacit.numerics.compiled import seconds_compiling

    return seconds_compiling(_prepare)


def maxima(
    functions: list[Branching], floors: list[float], enough: int | None, seconds: float
) -> list[Branched]:
    """The maximum of each function, all at the same time: compiled code holds no lock."""
    stop = Event()
    with ThreadPoolExecutor(len(functions)) as pool:
        try:
            running = [
                pool.submit(function.maximum, floor, enough, seconds, stop)
                for function, floor in zip(functions, floors, strict=True)
            ]
            return [one.result() for one in running]
        finally:
            # An interrupt leaves the other thread running, which would search on until its
            # deadline.
            stop.set()
