"""Proofs that no network fits the labels, in rational arithmetic.

λ ≥ 0, not zero, with Σ λ_i y_i φ(u·x_i) = 0 for every u shows that no network with any number of
neurons has y_i f(x_i) > 0 for all i. As φ(t) = (1+α)/2·t + (1−α)/2·|t| and the functions |u·x| of
different lines through 0 are independent, that says: the λ_i y_i‖x_i‖ on every line add up to 0,
and Σ λ_i y_i x_i = 0. So there are three causes and no others: a zero row; two points on one ray
with different labels; pairs x, −cx with different labels on both sides, which only a linear
function can tell apart, and no linear function does.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tacit.numerics.max_margin import max_margin
from tacit.numerics.tolerances import FARKAS

Proof = dict[int, Fraction]
"""λ_i of the points that have one."""


def no_network_fits(
    X: np.ndarray, y: np.ndarray, alpha: float, signs: Sequence[int] = (1, -1)
) -> Proof | None:
    """An exact λ that proves it, or None: nothing was proved.

    With one sign s only, λ has to make s·Σ λ_i y_i φ(u·x_i) ≤ 0 for every u; looked for are
    the causes above, for ReLU a point with the other label, and for Leaky ReLU points with the
    other label that surround 0 or a point of s.
    """
    zero = np.flatnonzero(~X.any(axis=1))
    if len(zero):
        return {int(zero[0]): Fraction(1)}
    if len(signs) == 1 and alpha == 0:
        other = np.flatnonzero(y != signs[0])
        if len(other):
            return {int(other[0]): Fraction(1)}
    pairs = []
    for line in _lines(X):
        sides: dict[bool, tuple[int, Fraction]] = {}
        for i, ratio in line:
            first = sides.setdefault(ratio > 0, (i, ratio))
            if y[first[0]] != y[i]:
                # x_i = r_i v on one ray: |r_j| φ(u·x_i) = |r_i| φ(u·x_j), and the labels differ.
                return {first[0]: abs(ratio), i: abs(first[1])}
        if len(sides) == 2 and y[sides[True][0]] != y[sides[False][0]]:
            pairs.append((sides[True], sides[False]))
    proof = _no_linear_function(X, y, pairs) if pairs else None
    if proof is None and len(signs) == 1:
        proof = _no_sublinear_function(X, y, signs[0])
    return proof


def _no_sublinear_function(X: np.ndarray, y: np.ndarray, sign: int) -> Proof | None:
    """For Leaky ReLU: λ on points of the other label that have 0 or a point of s in their cone.

    s·f is sublinear, as φ is: where s·f < 0 at all x_i, it is at Σ µ_i x_i, µ ≥ 0, too, so that
    this is neither 0 nor a point at which s·f > 0. There is no other cause: with N the Σ λ_i u·x_i
    of the other label, P and Q the Σ λ_j (±u·x_j)₊ of s, what λ proves at u and −u is
    P − αQ ≤ αN and Q − αP ≤ −N for a u that is negative on the cone. Together these are
    (1 − α²)P ≤ 0: no such u is positive at an x_j with λ_j > 0, which is in the cone, therefore.
    """
    from scipy.optimize import nnls

    unit = X / np.abs(X).max(axis=1)[:, None]
    others = np.flatnonzero(y != sign)
    if len(others) == 0:
        return None
    apart = max_margin(unit[others])
    if apart.status != "separable":
        weights = _vertex(X[others])
        if weights is not None:
            return {int(others[k]): value for k, value in weights.items()}
    for j in np.flatnonzero((y == sign) & (unit @ apart.direction >= 0)):
        mu, missed = nnls(unit[others].T, unit[j])
        few = others[mu > 0]
        weights = _vertex(np.vstack([X[few], -X[j]])) if missed <= FARKAS.vertex else None
        if weights is not None:
            rows = [*few.tolist(), int(j)]
            return {rows[k]: value for k, value in weights.items()}
    return None


def _lines(X: np.ndarray) -> list[list[tuple[int, Fraction]]]:
    """Rows on a common line through 0, each with its (signed) multiple of the line's direction."""
    unit = X / np.abs(X).max(axis=1)[:, None]
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    # Rows on one line have the same height along any probe; sorting by it avoids all pairs.
    probe = np.random.default_rng(0).standard_normal(X.shape[1])
    height = np.abs(unit @ probe)
    order = np.argsort(height, kind="stable")
    jumps = np.diff(height[order]) > FARKAS.same_line * np.linalg.norm(probe)
    shared = []
    for run in np.split(order, np.flatnonzero(jumps) + 1):
        if len(run) == 1:
            continue
        lines: dict[tuple[Fraction, ...], list[tuple[int, Fraction]]] = {}
        for i in sorted(run.tolist()):
            row = [Fraction(float(value)) for value in X[i]]
            ratio = next(value for value in row if value)
            lines.setdefault(tuple(value / ratio for value in row), []).append((i, ratio))
        shared += [line for line in lines.values() if len(line) > 1]
    return shared


def _no_linear_function(
    X: np.ndarray, y: np.ndarray, pairs: list[tuple[tuple[int, Fraction], tuple[int, Fraction]]]
) -> Proof | None:
    """λ on pairs of opposite points whose rows y_i x_i, which agree within a pair, surround 0."""
    rows = np.array([y[i] * X[i] for (i, _), _ in pairs])
    if max_margin(rows).status != "not separable":
        return None
    weights = _vertex(rows)
    if weights is None:
        return None
    proof: Proof = {}
    for k, weight in weights.items():
        (i, ratio), (j, other) = pairs[k]
        proof[i] = weight
        proof[j] = weight * abs(ratio / other)
    return proof


def _vertex(rows: np.ndarray) -> Proof | None:
    """µ ≥ 0, exact, of few rows with Σ µ_k row_k = 0."""
    from scipy.optimize import linprog

    # Rows of one size for the solver; the fractions below are of the rows as they are.
    scaled = rows / np.abs(rows).max(axis=1)[:, None]
    A = np.vstack([scaled.T, np.ones(len(rows))])
    b = np.append(np.zeros(rows.shape[1]), 1.0)
    # Nothing is minimised: the dual simplex ends at some vertex, and any will do.
    answer = linprog(np.zeros(len(rows)), A_eq=A, b_eq=b, method="highs-ds")
    if answer.x is None:
        return None
    # A vertex has so few rows that their null space is a line: fractions then have one answer.
    used = np.flatnonzero(answer.x > FARKAS.vertex)
    null = null_vector([[Fraction(float(v)) for v in rows[k]] for k in used])
    if null is None or min(null) <= 0:
        return None
    return dict(zip(used.tolist(), null, strict=True))


def null_vector(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """The combination of the rows that is 0, when there is one up to a factor; its sum is 1."""
    work = [
        [*row, *(Fraction(int(i == k)) for i in range(len(rows)))] for k, row in enumerate(rows)
    ]
    d, rank = len(rows[0]), 0
    for column in range(d):
        pivot = next((k for k in range(rank, len(work)) if work[k][column]), None)
        if pivot is None:
            continue
        work[rank], work[pivot] = work[pivot], work[rank]
        for k in range(rank + 1, len(work)):
            factor = work[k][column] / work[rank][column]
            if factor:
                work[k] = [a - factor * b for a, b in zip(work[k], work[rank], strict=True)]
        rank += 1
    if rank != len(rows) - 1:
        return None
    combination = work[-1][d:]
    total = sum(combination, Fraction(0))
    return [value / total for value in combination] if total else None
