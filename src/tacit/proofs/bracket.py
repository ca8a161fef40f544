"""Bounds on the optimum from both sides, and proofs that there is none, in whole numbers.

Networks are f(x) = Σ_k a_k φ(w_k·x) with φ(t) = max(t, αt), and y_i f(x_i) ≥ 1 is asked for all i.
The objective is Σ_k |a_k| ‖w_k‖, or ‖W‖_F where the output weights are fixed at ±v. Any network
with positive margins bounds it from above. With M_s the largest value of s Σ_i λ_i y_i φ(u·x_i)
over ‖u‖ ≤ 1, any λ ≥ 0 bounds it from below, since

    Σ_i λ_i ≤ Σ_i λ_i y_i f(x_i) = Σ_k a_k Σ_i λ_i y_i φ(w_k·x_i) ≤ Σ_k |a_k| ‖w_k‖ M_{sign a_k}.
"""

from dataclasses import dataclass
from fractions import Fraction
from operator import mul

import numpy as np

from tacit.proofs.arrangement import lines_of
from tacit.proofs.entries import Rejected
from tacit.proofs.exact import Budget, product_cost, root_above, root_below, squared_norms, whole
from tacit.proofs.peaks import Peaks, cell_peaks, subset_peaks
from tacit.proofs.reading import Problem, Proof
from tacit.proofs.trees import tree_peaks
from tacit.values.products import integer_product

_BLOCK = 1 << 20
"""Products x_i·w_k that are held at a time."""


@dataclass(frozen=True)
class Bracket:
    """What was proved of one problem; no bounds where no network fits."""

    lower: Fraction | None
    upper: Fraction | None
    cells: int = 0
    nodes: int = 0


def prove(proof: Proof, problem: Problem, budget: Budget) -> Bracket:
    """The bracket of one problem, or Rejected."""
    if not (problem.dual != 0).any():
        raise Rejected(f"{problem.where}.dual is zero in every entry; it proves nothing")
    budget.take(30 * proof.X.size, f"{problem.where}: its {proof.X.size:,} coordinates")
    if problem.infeasible:
        check_infeasible(proof, problem, budget)
        return Bracket(None, None)
    upper = upper_bound(proof, problem, budget)
    peaks = peaks_of(proof.X, proof.alpha, problem, budget)
    return Bracket(lower_bound(proof, problem, peaks), upper, peaks.cells, peaks.nodes)


def peaks_of(X: np.ndarray, alpha: float, problem: Problem, budget: Budget) -> Peaks:
    """The peaks of λ by the method that the problem names."""
    find = {"subsets": subset_peaks, "cells": cell_peaks, "trees": tree_peaks}[problem.method]
    return find(X, alpha, problem, budget)


def combined(brackets: list[Bracket], train: str) -> tuple[Fraction, Fraction] | None:
    """The bracket of all problems together; None where one of them is infeasible.

    Weights of different classes do not meet, so the objectives add up; norms do as their squares.
    """
    lower = [bracket.lower for bracket in brackets if bracket.lower is not None]
    upper = [bracket.upper for bracket in brackets if bracket.upper is not None]
    if len(lower) < len(brackets):
        return None
    if train == "both" or len(brackets) == 1:
        return sum(lower, Fraction(0)), sum(upper, Fraction(0))
    squares = [sum((b * b for b in side), Fraction(0)) for side in (lower, upper)]
    return root_below(squares[0]), root_above(squares[1])


def upper_bound(proof: Proof, problem: Problem, budget: Budget) -> Fraction:
    """The objective at the given neurons, scaled so that the smallest margin is 1."""
    margin = smallest_margin(proof, problem, budget)
    W, e = whole(problem.W)
    scale = 4**e
    if proof.train == "first":
        _check_output_weights(proof, problem)
        return root_above(Fraction(sum(squared_norms(W)), scale)) / margin
    lengths = [root_above(Fraction(square, scale)) for square in squared_norms(W)]
    weights = [abs(Fraction(a)) for a in problem.a.tolist()]
    return sum(map(mul, weights, lengths), Fraction(0)) / margin


def _check_output_weights(proof: Proof, problem: Problem) -> None:
    v, k = proof.output_weight, proof.units
    assert v is not None and k is not None
    for j, a in enumerate(problem.a.tolist()):
        if abs(a) != v:
            raise Rejected(f"{problem.where}.neurons[{j}].a is {a}; it must be {v} or {-v}")
    for sign in (1, -1):
        many = int((problem.a * sign > 0).sum())
        if many > k:
            word = "positive" if sign > 0 else "negative"
            raise Rejected(
                f"{problem.where}.neurons: {many} have {word} output weights; the network has {k}"
            )


def smallest_margin(proof: Proof, problem: Problem, budget: Budget) -> Fraction:
    """min_i y_i f(x_i), which must be positive."""
    numbers, e = margins(proof.X, proof.alpha, problem, budget)
    least = min(numbers)
    if least <= 0:
        raise Rejected(
            f"{problem.where}: the margin of row {numbers.index(least)} of X is not positive"
        )
    return Fraction(least, 1 << e)


def margins(
    points: np.ndarray, alpha: float, problem: Problem, budget: Budget
) -> tuple[list[int], int]:
    """Whole numbers N_i and e with y_i f(x_i) = N_i / 2^e."""
    (n, d), m = points.shape, len(problem.a)
    if m == 0:
        raise Rejected(f"{problem.where}.neurons is empty; the network is 0 everywhere")
    X, e_x = whole(points)
    W, e_w = whole(problem.W)
    a, e_a = whole(problem.a)
    (slope,), e_s = whole([alpha])
    budget.take(n * m * (d + 3) * product_cost(X, W), f"{problem.where}: the margins")
    numbers: list[int] = []
    step = max(1, _BLOCK // m)
    for start in range(0, n, step):
        T = integer_product(X[start : start + step], W.T)
        f = integer_product(np.where(T > 0, T << e_s, T * slope), a)
        numbers += (f * problem.y[start : start + step]).tolist()
    return numbers, e_x + e_w + e_a + e_s


def lower_bound(proof: Proof, problem: Problem, peaks: Peaks) -> Fraction:
    """Σλ / max(M₊, M₋); for k units of each sign of weight ±v it is Σλ / (v √k √(M₊² + M₋²)).

    The second: with A_s² the sum of ‖w‖² over units of sign s, Σ‖w‖ ≤ √k A_s for each sign, so
    Σλ ≤ v √k (M₊ A₊ + M₋ A₋) ≤ v √k √(M₊² + M₋²) ‖W‖_F.
    """
    dual, e = whole(problem.dual)
    total = Fraction(sum(dual), 1 << e)
    if proof.train == "first":
        assert proof.output_weight is not None and proof.units is not None
        v = Fraction(proof.output_weight)
        height = v * root_above(proof.units * (peaks.plus + peaks.minus))
    else:
        height = root_above(max(peaks.plus, peaks.minus))
    if height == 0:
        raise Rejected(f"{problem.where}.dual contradicts the neurons")  # they cannot both be right
    return total / height


def check_infeasible(proof: Proof, problem: Problem, budget: Budget) -> None:
    """Σ_i λ_i y_i φ(u·x_i) = 0 for all u, while a network that fits would make it at least Σλ.

    φ(t) = (1+α)/2·t + (1−α)/2·|t|, so the odd part Σ λ_i y_i x_i and the even part
    Σ λ_i y_i |u·x_i| must vanish. Functions |u·x| for different lines are linearly independent
    (each has its kink elsewhere), so the even part vanishes iff Σ λ_i y_i ‖x_i‖ does on every line.
    """
    X, _ = whole(proof.X)
    budget.take(X.size * product_cost(X, problem.dual), f"{problem.where}: the sums")
    weights = problem.dual * problem.y
    for j, value in enumerate((weights[:, None] * X).sum(axis=0)):
        if value != 0:
            raise Rejected(f"{problem.where}.dual: the sum of λ_i y_i x_i is not 0 in column {j}")
    lines = lines_of(X)
    sums = [0] * len(lines.directions)
    for line, factor, weight in zip(lines.line, lines.factor, weights.tolist(), strict=True):
        if line >= 0:
            sums[line] += weight * abs(factor)
    for line, value in enumerate(sums):
        if value != 0:
            raise Rejected(
                f"{problem.where}.dual: the sum of λ_i y_i ‖x_i‖ is not 0 on the line through 0 "
                f"and row {lines.line.index(line)} of X"
            )
