"""The longest sum of a set of vectors, exactly or from above, in whole numbers."""

import numpy as np

from tacit.proofs.exact import Budget
from tacit.values import BadInput
from tacit.values.products import integer_product

MOST_VECTORS = 2000
"""The number of terms; the products of all pairs are held in memory."""


def largest_subset(terms: np.ndarray, budget: Budget, where: str) -> int:
    """An upper bound of ‖Σ_S terms_i‖² over all sets S of rows.

    With A_ij = terms_i·terms_j a set S has Σ_{i,j ∈ S} A_ij. While a part of S is decided, row i
    would add gain_i = A_ii + 2 Σ A_ij over what is in, and 2 A_ij for every other row j that joins:
    it is surely in if even the worst of these leave it positive, surely out if even the best leave
    it negative. Otherwise both are tried, unless the bound says that neither can win.
    """
    if len(terms) > MOST_VECTORS:
        count = f"{len(terms):,} support points; at most {MOST_VECTORS:,} are taken"
        raise BadInput(f"{where} has {count}")
    A = integer_product(terms, terms.T)
    best = 0
    left_over = 0
    open_sets = [(0, np.diag(A).copy() if len(A) else A.ravel(), list(range(len(A))))]
    for _ in range(budget.sets):
        if not open_sets:
            return max(best, left_over)
        inside, gain, undecided = open_sets.pop()
        inside, gain, undecided = _decide(A, inside, gain, undecided, budget, where)
        best = max(best, inside)
        if not undecided or inside + _most(A, gain, undecided) <= best:
            continue
        i, *others = undecided
        open_sets.append((inside, gain, others))
        open_sets.append((inside + gain[i], gain + 2 * A[i], others))
    for inside, gain, undecided in open_sets:
        left_over = max(left_over, inside + _most(A, gain, undecided))
    return max(best, left_over)


def _decide(
    A: np.ndarray, inside: int, gain: np.ndarray, undecided: list[int], budget: Budget, where: str
) -> tuple[int, np.ndarray, list[int]]:
    """Put in and leave out what is sure."""
    while undecided:
        budget.take(4 * len(undecided) ** 2, f"{where}: sets of support points")
        pairs = A[np.ix_(undecided, undecided)]
        own = np.diag(pairs)
        own_gain = gain[undecided]
        surely_in = own_gain + 2 * (np.minimum(pairs, 0).sum(axis=1) - np.minimum(own, 0)) >= 0
        if not surely_in.any():
            surely_out = own_gain + 2 * (np.maximum(pairs, 0).sum(axis=1) - np.maximum(own, 0)) <= 0
            rest = [i for i, out in zip(undecided, surely_out, strict=True) if not out]
            if len(rest) == len(undecided):
                break
            undecided = rest
            continue
        joins = [i for i, is_in in zip(undecided, surely_in, strict=True) if is_in]
        among = A[np.ix_(joins, joins)]
        inside += int(gain[joins].sum() + among.sum() - np.diag(among).sum())
        gain = gain + 2 * A[:, joins].sum(axis=1)
        undecided = [i for i, is_in in zip(undecided, surely_in, strict=True) if not is_in]
    return inside, gain, undecided


def _most(A: np.ndarray, gain: np.ndarray, undecided: list[int]) -> int:
    """What the undecided rows can add at most."""
    pairs = A[np.ix_(undecided, undecided)]
    help = np.maximum(pairs, 0).sum(axis=1) - np.maximum(np.diag(pairs), 0)
    return sum(max(int(value), 0) for value in gain[undecided] + help)
