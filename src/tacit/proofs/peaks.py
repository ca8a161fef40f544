"""Bounds on M_s, the largest value of s Σ_i λ_i y_i φ(u·x_i) over ‖u‖ ≤ 1, for s = 1 and −1.

Only the support points, those with λ_i > 0, matter.
"""

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.proofs.arrangement import Lines, cells, lines_of
from tacit.proofs.entries import Rejected
from tacit.proofs.exact import Budget, longest, product_cost, squared_norms, whole
from tacit.proofs.reading import Problem
from tacit.proofs.subsets import largest_subset

_BLOCK = 1 << 22
"""Signs of lines on cells that are held as doubles at a time."""
_LIMB = 32
"""Bits of the pieces that whole numbers are cut into; 2^21 of them add up in a double exactly."""


@dataclass(frozen=True)
class Peaks:
    """Upper bounds on the squares of M₊ and M₋."""

    plus: Fraction
    minus: Fraction
    cells: int = 0
    nodes: int = 0


def subset_peaks(X: np.ndarray, alpha: float, problem: Problem, budget: Budget) -> Peaks:
    """M_s is at most the largest ‖Σ_S λ_i h_i z_i‖ over sets S, z_i = y_i x_i; no cells needed.

    h_i = 1 if y_i = s, else α. Let t = s z_i·u. If y_i = s, then s y_i φ(u·x_i) = φ(t), else it is
    −φ(−t) = min(t, αt); neither is above h_i max(t, 0). So the sum is at most s u·Σ λ_i h_i z_i
    over the set of all i with t > 0. Where all z_i·z_j ≥ 0 the largest set is that of all points.
    """
    support = np.flatnonzero(problem.dual)
    y = problem.y[support]
    numbers, e_x = whole(X[support])
    Z = numbers * y[:, None]
    dual, e_d = whole(problem.dual[support])
    (slope,), e_s = whole([alpha])
    work = Z.shape[0] * Z.size * product_cost(Z)
    budget.take(work, f"{problem.where}: the angles of the support points")
    square = 4 ** (e_x + e_d + e_s)
    best = {}
    for sign in (1, -1):
        h = np.array([1 << e_s if label == sign else slope for label in y], dtype=object)
        terms = (dual * h)[:, None] * Z
        best[sign] = Fraction(largest_subset(terms[h != 0], budget, problem.where), square)
    return Peaks(best[1], best[-1])


def cell_peaks(X: np.ndarray, alpha: float, problem: Problem, budget: Budget) -> Peaks:
    """The largest of ‖g + Σ_i z_i σ_i x_i‖ over all cells, with the given z ≥ 0 or z = 0.

    On the cell of u with signs σ the sum is g·u for g = s Σ_i λ_i y_i m_i x_i, where m_i = 1 if
    σ_i is positive and α if not, and z_i σ_i x_i·u ≥ 0.
    """
    support = np.flatnonzero(problem.dual)
    rows, e_x = whole(X[support])
    lines = lines_of(rows)
    masks = cells(lines, budget, problem.where)
    dual, e_d = whole(problem.dual[support])
    (slope,), e_s = whole([alpha])
    given, e_z = _pushes(problem, rows, support, lines, masks)
    e = max(e_d + e_s, e_z)
    terms = rows * (dual * problem.y[support] << (e - e_d - e_s))[:, None]
    least, steps = _by_line(terms, slope, (1 << e_s) - slope, lines)
    pieces = terms.shape[1] * (2 + longest(steps) // _LIMB)
    work = len(masks) * pieces * (1 + len(steps) // 50)
    budget.take(work, f"{problem.where}: the norms on {len(masks):,} cells")
    best = {1: 0, -1: 0}
    block = 1 + _BLOCK // (1 + len(steps))
    for start in range(0, len(masks), block):
        some = masks[start : start + block]
        G = least + _sums(lines.bits(some), steps)
        plain = squared_norms(G)
        for sign in (1, -1):
            norms = plain.copy()
            for k in range(len(some)):
                if (push := given[sign].get(start + k)) is not None:
                    moved = sign * G[k] + (push << (e - e_z))
                    norms[k] = sum(moved * moved)
            best[sign] = max(best[sign], max(norms))
    square = 4 ** (e_x + e)
    return Peaks(Fraction(best[1], square), Fraction(best[-1], square), len(masks))


def _by_line(
    terms: np.ndarray, slope: int, rise: int, lines: Lines
) -> tuple[np.ndarray, np.ndarray]:
    """Σ_i m_i · terms_i on the cell where no line is positive, and what each line adds if it is.

    m_i is `slope` where row i is negative and `slope` + `rise` where it is positive.
    """
    least = terms.sum(axis=0) * slope
    steps = np.zeros((len(lines.directions), terms.shape[1]), dtype=object)
    for term, line, factor in zip(terms * rise, lines.line, lines.factor, strict=True):
        if factor > 0:
            steps[line] += term
        elif factor < 0:
            steps[line] -= term
            least = least + term
    return least, steps


def _pushes(
    problem: Problem, rows: np.ndarray, support: np.ndarray, lines: Lines, masks: list[int]
) -> tuple[dict[int, dict[int, np.ndarray]], int]:
    """Σ_i z_i σ_i x_i for each sign and the number of each cell, in units of 2^−e; and e."""
    at = {int(i): k for k, i in enumerate(support)}
    z, e = whole([v for given in problem.multipliers for v in given.z.values()])
    amounts = iter(z.tolist())
    pushes: dict[int, dict[int, np.ndarray]] = {1: {}, -1: {}}
    for j, given in enumerate(problem.multipliers):
        where = f"{problem.where}.multipliers[{j}]"
        place = _place(given.cell, lines, masks, where)
        if place in pushes[given.sign]:
            raise Rejected(f"{where}: this sign and cell were listed before")
        push = np.zeros(rows.shape[1], dtype=object)
        for i in given.z:
            if i not in at:
                raise Rejected(f"{where}.z names row {i} of X, which is no support point")
            amount = next(amounts)
            push = push + rows[at[i]] * (amount if given.cell[at[i]] == "+" else -amount)
        pushes[given.sign][place] = push
    return pushes, e


def _place(cell: str, lines: Lines, masks: list[int], where: str) -> int:
    """The number of the cell with these signs; there must be one."""
    if len(cell) != len(lines.line):
        raise Rejected(
            f"{where}.cell has {len(cell)} signs; there are {len(lines.line)} support points"
        )
    mask = lines.mask(cell)
    place = len(masks) if mask is None else bisect_left(masks, mask)
    if place == len(masks) or masks[place] != mask:
        raise Rejected(f"{where}.cell: the points have no such cell")
    return place


def _sums(chosen: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """The exact sums of the terms that each row of zeros and ones chooses.

    The terms are cut into pieces of 32 bits (the highest takes the sign). Sums of up to 2^21 pieces
    stay below 2^53, so doubles add them without rounding, in whatever order.
    """
    assert len(terms) <= 1 << 21
    pieces = 1 + longest(terms) // _LIMB
    table = chosen.astype(np.float64)
    total = np.zeros((len(chosen), terms.shape[1]), dtype=object)
    for k in range(pieces):
        piece = terms >> (k * _LIMB)
        if k < pieces - 1:
            piece = piece & ((1 << _LIMB) - 1)
        sums = (table @ piece.astype(np.float64)).astype(np.int64).astype(object)
        total = total + (sums << (k * _LIMB))
    return total
