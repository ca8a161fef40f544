"""Properties of pairs of points: one pass over the Gram matrix in blocks serves them all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.geometry.base import EPS, Finding, TooLarge, View, predicate
from tacit.geometry.exact import sign_of_dot

BLOCK = 1 << 24
"""Entries of the Gram matrix held at once."""
MOST_EXACT_PAIRS = 1000
"""Pairs whose sign floating point cannot tell are decided by rational arithmetic, up to here."""
SAMPLE = 2000
"""Points that are looked at when all pairs would take too long."""


@dataclass(frozen=True)
class Pairs:
    """What the Gram matrix of (X, y) says."""

    lowest_same: float
    """Smallest cosine of two points of one class."""
    highest_other: float
    """Largest cosine of two points of different classes (−1 when there is one class)."""
    disagreement: np.ndarray
    """Σ_j max(−⟨y_i x_i, y_j x_j⟩, 0) for every i (binary data)."""
    opposite: np.ndarray
    """For every i the j of another class that is nearest to −x_i; −1 when there is none."""
    doubtful: list[tuple[int, int]]
    """Pairs whose cosine is within rounding of 0, i ≤ j; at most MOST_EXACT_PAIRS + 1 of them."""


def pairs(view: View, rows: np.ndarray | None = None) -> Pairs:
    """Look at every pair among the given rows (all of them by default)."""
    every = rows is None
    X = view.X if rows is None else view.X[rows]
    y = view.data.y if rows is None else view.data.y[rows]
    norms = view.norms if rows is None else view.norms[rows]
    n, d = X.shape
    if every:
        view.allow(2.0 * n * n * d + 10.0 * n * n, f"comparing {n:,} points in pairs")
    rounding = 0.0 if _products_are_exact(X) else (d + 4) * EPS
    safe = np.where(norms > 0, norms, 1.0)
    low, high = np.inf, -1.0
    disagreement = np.zeros(n)
    opposite = np.full(n, -1)
    doubtful: list[tuple[int, int]] = []
    step = max(1, BLOCK // n)
    for start in range(0, n, step):
        block = slice(start, min(start + step, n))
        gram = X[block] @ X.T
        cosine = gram / safe[block, None] / safe
        same = y[block, None] == y
        low = min(low, cosine.min(where=same, initial=np.inf))
        high = max(high, cosine.max(where=~same, initial=-1.0))
        disagreement[block] = np.where(same, -gram, gram).clip(min=0).sum(axis=1)
        if not same.all():
            distance = norms**2 + 2 * gram  # ‖x_i + x_j‖² less ‖x_i‖²
            distance[same] = np.inf
            opposite[block] = np.where(
                np.isfinite(distance).any(axis=1), distance.argmin(axis=1), -1
            )
        if rounding and len(doubtful) <= MOST_EXACT_PAIRS:
            for i, j in np.argwhere(np.abs(cosine) <= rounding)[: 2 * MOST_EXACT_PAIRS + 2]:
                if start + i <= j:
                    doubtful.append((int(start + i), int(j)))
    return Pairs(float(low), float(high), disagreement, opposite, doubtful)


def _products_are_exact(X: np.ndarray) -> bool:
    """Small whole numbers (times a power of two): their dot products are not rounded."""
    whole = X * 2.0**12
    return bool((whole == np.rint(whole)).all() and np.abs(whole).max() ** 2 * X.shape[1] < 2.0**52)


def shared_pairs(view: View) -> Pairs:
    """`pairs(view)`, computed once for a view."""
    found = view.__dict__.get("_pairs")
    if found is None:
        found = view.__dict__["_pairs"] = pairs(view)
    return found


@predicate("orthogonally_separable", "phuong2021 (1); wang2022 §2.1")
def orthogonally_separable(view: View) -> Finding:
    """x_i·x_j > 0 within a class and ≤ 0 between classes; the slack is the worst pair's cosine."""
    try:
        found = shared_pairs(view)
    except TooLarge:
        return _refuted_by_sample(view)
    slack = min(found.lowest_same, -found.highest_other)
    error = 0.0 if _products_are_exact(view.X) else (view.data.d + 4) * EPS
    worst = "of one class" if found.lowest_same <= -found.highest_other else "of different classes"
    note = f"the worst pair is {worst}, cosine {slack if 'one' in worst else -slack:.4g}"
    if slack > error or slack < -error:
        return Finding(slack > 0, slack, note, error)
    if error == 0:  # the worst cosine is exactly 0: allowed between classes only
        return Finding(found.lowest_same > 0, 0.0, note)
    if len(found.doubtful) > MOST_EXACT_PAIRS:
        note = f"{note}: more than {MOST_EXACT_PAIRS} pairs are within rounding of a right angle"
        return Finding(None, slack, note, error)
    X, y = view.X, view.data.y
    signs = [(sign_of_dot(X[i], X[j]), y[i] == y[j]) for i, j in found.doubtful]
    holds = all(sign > 0 if same else sign <= 0 for sign, same in signs)
    return Finding(holds, slack, f"{note}; its sign decided exactly", error)


def _refuted_by_sample(view: View) -> Finding:
    """All pairs would take too long; one bad pair in a sample is enough for a "no"."""
    rows = np.random.default_rng(0).permutation(view.data.n)[:SAMPLE]
    found = pairs(view, np.sort(rows))
    slack = min(found.lowest_same, -found.highest_other)
    if slack < -(view.data.d + 4) * EPS:
        note = f"a pair among {SAMPLE:,} sampled points fails; others may fail by more"
        return Finding(False, slack, note)
    raise TooLarge(
        f"comparing {view.data.n:,} points in pairs takes long, and {SAMPLE:,} sampled ones hold"
    )


@predicate("symmetric", "lyu2021 Assumption 4.1")
def symmetric(view: View) -> Finding:
    """With (x, y) there is (−x, −y), one for one; the slack is minus the largest distance to it."""
    view.need_two_classes()
    X, y = view.X, view.data.y
    if len(set(y.tolist())) == 1:
        return Finding(False, -1.0, "there is one class only, so no −x for any x")
    positive, negative = _sorted(X[y == 1]), _sorted(-X[y == -1])
    if positive.shape == negative.shape and (positive == negative).all():
        return Finding(True, 0.0, "every x has its −x, exactly")
    j = shared_pairs(view).opposite
    apart = np.linalg.norm(X + X[j], axis=1) / view.norms.max()
    i = int(apart.argmax())
    if apart[i] == 0:
        counts = f"{len(positive)} positive and {len(negative)} negative"
        unpaired = max(1, abs(len(positive) - len(negative))) / view.data.n
        note = f"every x has a −x, but not one for one ({counts} points)"
        return Finding(False, -unpaired, note)
    note = (
        f"row {i} has no opposite: the nearest is {apart[i]:.2g} of the largest norm away "
        "(holds only at 0)"
    )
    return Finding(False, -float(apart[i]), note)


def _sorted(X: np.ndarray) -> np.ndarray:
    X = X + 0.0  # −0 becomes 0
    return X[np.lexsort(X.T[::-1])]


def need_disagreement(view: View) -> np.ndarray:
    """Σ_j max(−⟨y_i x_i, y_j x_j⟩, 0) for every i."""
    view.need_two_classes()
    return shared_pairs(view).disagreement
