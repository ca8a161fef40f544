"""max Σ c_i φ(u·x_i) over the unit ball by branch and bound, in any dimension.

Points with c_i < 0 make the function concave, so only the sides of the others, σ_i = ±1, are
branched on. A node that knows some of them replaces the rest by chords over ranges of u·x_i, which
is a concave function; its dual, a least-squares problem over a box, bounds the node (`_branching`).
What makes the tree small: u for which the bound is above the threshold lie in a cap of the ball,
over which ranges are smaller, hence chords lower, hence the cap smaller. Every bound is computed
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
        rounding = 4 * (d + n) * EPS
        errors = np.linalg.norm(X - R.T @ Q.T, axis=1) + rounding * np.linalg.norm(X, axis=1)
        stretch = 1 + float(np.linalg.norm(Q.T @ Q - np.eye(len(R)))) + rounding * len(R)
        return cls(R.T, Q, stretch, float(np.abs(c) @ errors) * (1 + rounding))


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
        from tacit.numerics._branching import Sum

        self.order = order = np.argsort(c < 0, kind="stable")
        self.span = Span.of(X[order], c[order])
        whole = np.abs(c[order])[:, None] * self.span.rows
        rows = np.ascontiguousarray((1 - alpha) * whole)
        size = alpha * float(np.linalg.norm(whole, axis=1).sum())
        caps = np.zeros((0, X.shape[1])) if caps is None else caps
        middle = caps @ self.span.basis
        apart = np.linalg.norm(caps - middle @ self.span.basis.T, axis=1).max(initial=0.0)
        self.F = Sum(
            rows,
            alpha * (np.sign(c[order]) @ whole),
            rows @ rows.T,
            np.linalg.norm(rows, axis=1) * (1 + (rows.shape[1] + 4) * EPS),
            int((c > 0).sum()),
            size,
            middle,
            min(cosine + float(apart) + 8 * X.shape[1] * EPS, 1.0),
        )

    def climb(self, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Local maxima from these directions, and the function there: proposals, no proof."""
        from tacit.numerics._branching import climbs

        U = starts @ self.span.basis
        U = U[U.any(axis=1)]
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
        from tacit.numerics._branching import search

        deadline = perf_counter() + seconds
        most = BRANCHING.most_nodes if math.isinf(seconds) else sys.maxsize
        stretch, left_out = self.span.stretch, self.span.left_out
        low = threshold = max((floor - left_out) / stretch, 0.0)
        tree = self._root(threshold)
        enough = min(enough or BRANCHING.most_directions, BRANCHING.most_directions)
        decided = 0.0
        entries = max(self.F.rows.size, 1)
        at_a_time = min(max(BRANCHING.entries_at_a_time // entries, 1), BRANCHING.nodes_at_a_time)
        while tree.counts[0] and tree.counts[2] < most and tree.counts[3] < enough:
            threshold, last = search(self.F, tree, low, threshold, enough, at_a_time)
            decided = max(decided, last)
            if perf_counter() > deadline or (stop is not None and stop.is_set()):
                break
            if tree.counts[1] == 0:
                if 2 * sum(array.nbytes for array in tree) > BRANCHING.most_bytes:
                    break
                tree = grown(tree)
        left = float(tree.bounds[tree.heap[0]]) if tree.counts[0] else 0.0
        bound = max(decided, left, threshold) * stretch + left_out
        many = int(tree.counts[3])
        best = np.argsort(-tree.values[:many])
        return Branched(
            max(bound * (1 + 4 * EPS), floor),
            tree.pool[best] @ self.span.basis.T,
            tree.values[best],
            int(tree.counts[2]),
            not tree.counts[0],
        )

    def _root(self, threshold: float) -> Tree:
        """One node that knows nothing but how long the rows are."""
        from tacit.numerics._branching import begin

        tree = self.slots(BRANCHING.first_slots)
        begin(self.F, tree, threshold)
        return tree

    def slots(self, many: int) -> Tree:
        """Room for so many nodes."""
        from tacit.numerics._branching import Tree

        K, r = self.F.rows.shape
        up = self.F.up
        return Tree(
            np.zeros((many, up), dtype=np.int8),
            np.zeros((many, up)),
            np.zeros((many, up)),
            np.zeros((many, K)),
            np.zeros(many),
            np.zeros(many, dtype=np.int64),
            np.arange(many),
            np.array([0, many, 0, 0]),
            np.zeros((BRANCHING.most_directions, r)),
            np.zeros(BRANCHING.most_directions),
        )


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
            stop.set()
