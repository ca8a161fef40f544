"""Upper bounds on M_s by a tree of half-spaces, in whole numbers.

With p_k = (1 − α) λ_k x_k and b = α s Σ_k λ_k y_k x_k, what M_s is the maximum of over ‖u‖ ≤ 1 is

    F(u) = b·u + Σ_{y_k = s} (p_k·u)₊ − Σ_{y_k = −s} (p_k·u)₊.

The tree claims that F(u) ≤ T. A node knows for rows with y_k = s that p_k·u ≥ 0 or ≤ 0 (its side),
or a range low ≤ p_k·u ≤ high, for all of its u with F(u) > T. Then t₊ ≤ w(t − low) over a range,
for every w ≥ high/(high − low); −t₊ ≤ −x t for 0 ≤ x ≤ 1; and 0 ≤ x·side·t. Added up, for given x,

    T < F(u) ≤ g·u + constant.

If ‖g‖ ≤ T − constant there is no such u, and the node is closed. Otherwise ranges shrink, since for
every t ≥ 0, ±p_k·u ≤ ‖±p_k + t g‖ − t (T − constant), and for every µ ≥ 0, by the sides alone,
±p_k·u ≤ ‖±p_k + Σ µ_a side_a p_a‖. A node that is not closed is split by the side of one row; both
halves are checked, so that nothing is left out. All lengths and products follow from p_k·p_l. A
quadratic function may close a node, too (`tacit.proofs.quadratics`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tacit.proofs.entries import Rejected
from tacit.proofs.exact import Budget, longest, squared_norms, whole
from tacit.proofs.peaks import Peaks
from tacit.proofs.quadratics import Quadratics
from tacit.proofs.reading import Problem
from tacit.proofs.tree_reading import QuadraticRound, TreeNode, TreeProof
from tacit.values.products import integer_product

_BITS = 60
"""Bits after the point of multipliers, of w and of t; each is rounded to a side that is valid."""
_ONE = 1 << _BITS


class Cap(NamedTuple):
    """All u with u·middle > cosine·‖middle‖, of which a tree says nothing."""

    name: int
    """The number by which the tree calls it, where rows of X have theirs."""
    middle: np.ndarray
    cosine: float


def tree_peaks(X: np.ndarray, alpha: float, problem: Problem, budget: Budget) -> Peaks:
    """Check the trees of both signs; the squares of what they claim."""
    peaks = {}
    for tree in problem.trees:
        check_tree(X, alpha, problem, tree, budget)
        peaks[tree.sign] = Fraction(tree.peak) ** 2
    nodes = sum(len(tree.nodes) for tree in problem.trees)
    return Peaks(peaks[1], peaks[-1], nodes=nodes)


def check_tree(
    X: np.ndarray,
    alpha: float,
    problem: Problem,
    tree: TreeProof,
    budget: Budget,
    caps: Sequence[Cap] = (),
) -> None:
    """Rejected unless the tree proves its claim for all u outside of the caps.

    There µ(cosine·‖v‖ − v·u) ≥ 0 for the middle v of a cap, and every µ ≥ 0.
    """
    support = np.flatnonzero(problem.dual)
    rows, e_x = whole(X[support])
    dual, e_d = whole(problem.dual[support])
    (slope,), e_s = whole([alpha])
    middles, e_c = whole(np.array([cap.middle for cap in caps]).reshape(len(caps), X.shape[1]))
    shift = max(_BITS, e_c - e_x - e_d - e_s)  # so that ends of ranges lose little by rounding
    weighted = rows * dual[:, None] << shift
    unit = e_x + e_d + e_s + shift
    middles = middles << (unit - e_c)
    bits = 1 + max(longest(weighted), longest(middles)) // 256
    cost = (len(rows) + len(caps) + 1) ** 2 * rows.shape[1] * bits
    budget.take(cost, f"{problem.where}: the products of the support points")
    y = problem.y[support]
    linear = slope * ((tree.sign * y)[:, None] * weighted).sum(axis=0)
    vectors = np.vstack([((1 << e_s) - slope) * weighted, middles, linear])
    # Rounded up: µ(offset − v·u) must not be negative anywhere outside of the cap.
    offsets = [
        math.ceil(Fraction(cap.cosine) * _root_above(square))
        for cap, square in zip(caps, squared_norms(middles), strict=True)
    ]
    # Rounded down: what is shown is then a little more than what is claimed.
    threshold = math.floor(Fraction(tree.peak) * (1 << unit))
    check = _Check(vectors, (y == tree.sign).tolist(), offsets, threshold, budget, problem.where)
    names = [*support.tolist(), *(cap.name for cap in caps)]
    check.walk(tree, {i: k for k, i in enumerate(names)}, problem.where)


@dataclass
class _Known:
    """Sides (0: unknown) and ranges, in units of 2^−unit, of one node."""

    side: list[int]
    low: list[int]
    high: list[int]

    def copy(self) -> _Known:
        return _Known(self.side.copy(), self.low.copy(), self.high.copy())

    def shrink(self, k: int, end: int, reach: int) -> None:
        """p_k·u ≤ reach, or −p_k·u ≤ reach for end −1."""
        if end > 0:
            self.high[k] = min(self.high[k], reach)
        else:
            self.low[k] = max(self.low[k], -reach)
        if self.high[k] <= 0:
            self.side[k] = -1
        elif self.low[k] >= 0:
            self.side[k] = 1


class _Check:
    """One sign: products of the p_k, then of caps, and b last, and which p_k count with +."""

    def __init__(
        self,
        vectors: np.ndarray,
        up: list[bool],
        offsets: list[int],
        threshold: int,
        budget: Budget,
        where: str,
    ) -> None:
        self.gram = gram = integer_product(vectors, vectors.T)
        self.vectors, self.up, self.threshold, self.budget = vectors, up, threshold, budget
        self.offsets, self.where = offsets, where
        self.norms = [_root_above(gram[k, k]) for k in range(len(up))]
        self.bits = 1 + longest(gram) // 1024

    @cached_property
    def quadratics(self) -> Quadratics:
        kept = [*range(len(self.up)), len(self.gram) - 1]
        gram = self.gram[np.ix_(kept, kept)]
        return Quadratics(
            self.vectors[kept], gram, self.up, self.threshold, self.budget, self.where
        )

    def walk(self, tree: TreeProof, at: dict[int, int], where: str) -> None:
        """Check all nodes, each followed by its halves, the positive one first."""
        where = f"{where}, the tree of sign {tree.sign}"
        known = _Known([0] * len(self.up), [-n for n in self.norms], self.norms.copy())
        for k, norm in enumerate(self.norms):
            if norm == 0:
                known.side[k] = 1
        open_nodes = [known]
        nodes = iter(enumerate(tree.nodes))
        while open_nodes:
            known = open_nodes.pop()
            j, node = next(nodes, (-1, None))
            if node is None:
                raise Rejected(f"{where} ends before all of its parts are closed")
            place = f"{where}, node {j}"
            chords = sum(not isinstance(given, QuadraticRound) for given in node.rounds)
            work = len(self.gram) ** 2 * chords + len(self.gram)
            work += sum((2 + len(given)) ** 2 for _, _, given in node.ranges)
            self.budget.take(self.bits * work, f"{where}: its nodes")
            closed = self._node(node, known, at, place)
            if node.split is None and not closed:
                raise Rejected(f"{place} is not closed: its bound is above the peak")
            if node.split is not None:
                k = self._row(node.split, at, place)
                other = known.copy()
                known.side[k], other.side[k] = -1, 1
                open_nodes += [known, other]
        if next(nodes, None) is not None:
            raise Rejected(f"{where} has more nodes than parts")

    def _node(self, node: TreeNode, known: _Known, at: dict[int, int], place: str) -> bool:
        for row, end, given in node.ranges:
            k = self._row(row, at, place)
            if not known.side[k]:
                known.shrink(k, end, self._reach_in_cone(k, end, given, known, at, place))
        for multipliers in node.rounds:
            if isinstance(multipliers, QuadraticRound):
                if self.quadratics.closes(multipliers, np.array(known.side), place):
                    return True
                continue
            x = {}
            for row, value in multipliers.items():
                if row not in at:
                    raise Rejected(f"{place} names row {row} of X, which is no support point")
                # Any multiplier ≥ 0 is valid: rounding one costs sharpness, never truth.
                x[at[row]] = math.floor(value * _ONE)
            if self._round(x, known, place):
                return True
        return False

    def _row(self, row: int, at: dict[int, int], place: str) -> int:
        k = at.get(row, -1)
        if not 0 <= k < len(self.up) or not self.up[k]:
            raise Rejected(f"{place}: row {row} of X has no side, or is no support point")
        return k

    def _reach_in_cone(
        self,
        k: int,
        end: int,
        given: dict[int, float],
        known: _Known,
        at: dict[int, int],
        place: str,
    ) -> int:
        terms = [(k, end * _ONE)]
        for row, value in given.items():
            a = self._row(row, at, place)
            if not known.side[a]:
                raise Rejected(f"{place}: the side of row {row} of X is not known there")
            terms.append((a, known.side[a] * math.floor(value * _ONE)))
        square = sum(f * h * self.gram[a, b] for a, f in terms for b, h in terms)
        return _up(_root_above(square), _BITS)

    def _round(self, x: dict[int, int], known: _Known, place: str) -> bool:
        """Is the node closed by these multipliers? If not, its ranges shrink."""
        weights, constant = np.zeros(len(self.gram), dtype=object), 0
        weights[-1] = _ONE
        for k, up in enumerate(self.up):
            given = x.get(k, 0)
            if not up:
                if given > _ONE:
                    raise Rejected(f"{place}: a slope is larger than 1")
                weights[k] = -given
            elif known.side[k]:
                weights[k] = _ONE + given if known.side[k] > 0 else -given
            elif given:
                raise Rejected(f"{place}: a multiplier belongs to a row whose side is not known")
            else:
                width = known.high[k] - known.low[k]
                # Rounded up: only lines with w ≥ high/(high − low) lie above t₊.
                weights[k] = -(-(known.high[k] << _BITS) // width)
                constant -= weights[k] * known.low[k]
        for k, offset in enumerate(self.offsets, start=len(self.up)):
            weights[k] = -x.get(k, 0)
            constant -= weights[k] * offset
        used = np.flatnonzero(weights)
        q = integer_product(self.gram[:, used], weights[used])
        square = int(integer_product(weights, q))
        rest = (self.threshold << _BITS) - constant
        if rest >= 0 and square <= rest * rest:
            return True
        length = math.isqrt(square)
        cosine = _ratio(rest, length)
        if -1 < cosine < 1:
            sine = math.sqrt((1 - cosine) * (1 + cosine))
            for k in [k for k, up in enumerate(self.up) if up and not known.side[k]]:
                for end in (1, -1):
                    reach = self._reach_in_cap(k, end * int(q[k]), square, rest, cosine, sine)
                    known.shrink(k, end, reach)
        return False

    def _reach_in_cap(
        self, k: int, product: int, square: int, rest: int, cosine: float, sine: float
    ) -> int:
        """‖±p_k + t g‖ − t·rest for a good t ≥ 0, which is found in floats; any t is valid."""
        norm, length = self.norms[k], math.isqrt(square)
        along = max(-1.0, min(_ratio(product, norm * length), 1.0))
        share = cosine * math.sqrt(1 - along * along) / sine - along
        if not share > 0:
            return norm
        t = (math.floor(share * _ONE) * norm << _BITS) // length
        total = (self.gram[k, k] << 4 * _BITS) + (2 * t * product << 2 * _BITS) + t * t * square
        return _up(_root_above(total) - t * rest, 2 * _BITS)


def _ratio(number: int, other: int) -> float:
    """Approximate number / other where that is in (−1, 1); else return ±2."""
    if abs(number) >= other:
        return 2.0 if number > 0 else -2.0
    return (number << _BITS) // other / _ONE


def _root_above(square: int) -> int:
    return math.isqrt(square - 1) + 1 if square > 0 else 0


def _up(value: int, bits: int) -> int:
    """value / 2^bits, rounded up."""
    return -(-value >> bits)
