"""General position: any d points are linearly independent."""

from itertools import combinations, islice
from math import comb

import numpy as np

from tacit.geometry.exact import rank
from tacit.geometry.predicate import Finding, View, predicate
from tacit.numerics.float64 import EPS

MOST_SUBSETS = 10**12
"""More would take weeks, even if asked for."""
CHUNK = 1_000_000
"""Entries of the subsets that are looked at together."""
MOST_EXACT = 100
"""Subsets within rounding of dependent that are decided by rational arithmetic, …"""
MOST_EXACT_POINTS = 30
"""… if they have no more points than this."""


@predicate("general_position", "wang2022 §2; Cover (1965)")
def general_position(view: View) -> Finding:
    """Any min(n, d) points are independent; the slack is the smallest singular value among them."""
    n, d = view.X.shape
    k = min(n, d)
    if len(view.zero_rows):
        return Finding(False, 0.0, f"row {view.zero_rows[0]} is zero")
    unit = view.rows / np.linalg.norm(view.rows, axis=1)[:, None]
    # Parallel rows first: they are common, and found without looking at any subset.
    parallel = _parallel_pair(view, unit) if k >= 2 else None
    if parallel:
        note = f"rows {parallel[0]} and {parallel[1]} are parallel"
        return Finding(False, 0.0, note)
    subsets = comb(n, k)
    if subsets > MOST_SUBSETS:
        digits = int(subsets.bit_length() * np.log10(2))
        note = f"not computed: about 10^{digits} subsets of {k} points are out of reach"
        return Finding(None, None, note)
    # What an SVD of a small matrix costs is mostly the call, hence the constant; most sets of d
    # points are far from dependent by their determinant, and need none.
    view.allow(
        subsets * k * (1.5e4 + 250 * d + 10 * k * d),
        f"looking at {subsets:,} subsets of {k} points",
    )
    slack, worst = np.inf, ()
    # LAPACK's error of a singular value is a small multiple of ε times the largest, here ≤ √d.
    error = 10 * d * EPS
    doubtful = 0
    every = combinations(range(n), k)
    while chunk := list(islice(every, max(1, CHUNK // (k * d)))):
        rows = unit[np.array(chunk)]
        low = _at_least(rows) - error
        first = float(np.linalg.svd(rows[low.argmin()], compute_uv=False)[-1])
        near = np.flatnonzero(low <= max(min(slack, first), error))
        smallest = np.linalg.svd(rows[near], compute_uv=False)[:, -1]
        for i in near[smallest <= error][: MOST_EXACT + 1]:
            doubtful += 1
            if k <= MOST_EXACT_POINTS and doubtful <= MOST_EXACT:
                if rank(view.data.X[list(chunk[i])]) < k:
                    return Finding(False, 0.0, f"{_rows(chunk[i])} are dependent, exactly")
        if smallest.min(initial=np.inf) < slack:
            slack, worst = float(smallest.min()), chunk[near[smallest.argmin()]]
    note = f"the {k} points nearest to dependent are {_rows(worst)}"
    if not doubtful:
        return Finding(True, slack, note, error)
    if k <= MOST_EXACT_POINTS and doubtful <= MOST_EXACT:
        return Finding(True, slack, f"{note}; decided exactly", error)
    return Finding(None, slack, f"{note}: within rounding", error)


def _at_least(rows: np.ndarray) -> np.ndarray:
    """A lower bound of the smallest singular value of every set of unit rows, for a determinant.

    The squares of all k are k together, so the product of the others is at most
    (k/(k − 1))^((k − 1)/2), which they reach when they are equal.
    """
    k, d = rows.shape[1:]
    if k < d:
        return np.zeros(len(rows))
    return np.asarray(np.abs(np.linalg.det(rows)) * (1 - 1 / k) ** ((k - 1) / 2))


def _rows(rows: tuple[int, ...]) -> str:
    return "rows " + ", ".join(map(str, rows[:8])) + (", …" if len(rows) > 8 else "")


def _parallel_pair(view: View, unit: np.ndarray) -> tuple[int, int] | None:
    """Two rows that lie on one line through 0, exactly (pairs that round apart are overlooked)."""
    first = unit[np.arange(len(unit)), np.abs(unit).argmax(axis=1)]
    # Nine digits only sort candidates; what is parallel is decided exactly.
    keys = np.round(unit * np.sign(first)[:, None], 9) + 0.0
    seen: dict[bytes, int] = {}
    for i, key in enumerate(keys):
        j = seen.setdefault(key.tobytes(), i)
        if j != i and rank(view.data.X[[j, i]]) == 1:
            return j, i
    return None
