"""General position: any d points are linearly independent."""

from __future__ import annotations

from itertools import combinations, islice
from math import comb

import numpy as np

from tacit.geometry.base import EPS, Finding, TooLarge, View, predicate
from tacit.geometry.exact import rank

MOST_SUBSETS = 300_000
CHUNK = 20_000


@predicate("general_position", "wang2022 §2; Cover (1965)")
def general_position(view: View) -> Finding:
    """Any min(n, d) points are independent; the slack is the smallest singular value among them."""
    n, d = view.X.shape
    k = min(n, d)
    zero = np.flatnonzero(view.norms == 0)
    if len(zero):
        return Finding(False, 0.0, f"row {zero[0]} is zero")
    parallel = _parallel_pair(view) if k >= 2 else None
    if parallel:
        note = f"rows {parallel[0]} and {parallel[1]} are parallel"
        return Finding(False, 0.0, note)
    if comb(n, k) > MOST_SUBSETS and not view.unlimited:
        raise TooLarge(f"there are {comb(n, k):.1e} subsets of {k} points to look at")
    unit = view.X / view.norms[:, None]
    slack, worst = np.inf, ()
    subsets = combinations(range(n), k)
    while chunk := list(islice(subsets, CHUNK)):
        smallest = np.linalg.svd(unit[np.array(chunk)], compute_uv=False)[:, -1]
        i = int(smallest.argmin())
        if smallest[i] < slack:
            slack, worst = float(smallest[i]), chunk[i]
    error = 10 * k * EPS
    rows = ", ".join(map(str, worst[:8])) + (", …" if k > 8 else "")
    note = f"the {k} points nearest to dependent are rows {rows}"
    if slack > error:
        return Finding(True, slack, note, error)
    if k > 30:
        return Finding(None, slack, f"{note}: within rounding", error)
    holds = rank(view.X[list(worst)]) == k
    return Finding(holds, slack, f"{note}; decided exactly", error)


def _parallel_pair(view: View) -> tuple[int, int] | None:
    """Two rows that lie on one line through 0, exactly."""
    unit = view.X / view.norms[:, None]
    first = unit[np.arange(len(unit)), np.abs(unit).argmax(axis=1)]
    keys = np.round(unit * np.sign(first)[:, None], 9) + 0.0
    seen: dict[bytes, int] = {}
    for i, key in enumerate(keys):
        j = seen.setdefault(key.tobytes(), i)
        if j != i and rank(view.X[[j, i]]) == 1:
            return j, i
    return None
