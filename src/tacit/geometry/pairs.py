"""Properties of pairs of points: one pass over the Gram matrix in blocks serves them all."""

from dataclasses import dataclass

import numpy as np

from tacit.geometry.exact import sign_of_dot
from tacit.geometry.predicate import Finding, TooLarge, View, predicate
from tacit.numerics.float64 import EPS

BLOCK = 1 << 20
"""Entries of the Gram matrix held at once."""
MOST_EXACT_PAIRS = 1000
"""Pairs whose sign floating point cannot tell are decided by rational arithmetic, up to here."""
SAMPLE = 2000
"""Points that are looked at when all pairs would take too long."""
MOST_ENTRIES = 100_000_000
"""Entries of X + x_i that `symmetric` looks at to say how far from symmetric the data is."""


@dataclass(frozen=True)
class Pairs:
    """What the Gram matrix of (X, y) says."""

    lowest_same: float
    """Smallest cosine of two points of one class; 0 for a zero point with itself."""
    highest_other: float
    """Largest cosine of two points of different classes (−1 when there is one class)."""
    disagreement: np.ndarray
    """Σ_j max(−⟨y_i x_i, y_j x_j⟩, 0) for every i (binary data)."""
    doubtful: list[tuple[int, int]]
    """Pairs whose cosine is within rounding of 0, unless another pair fails by more than that;
    at most MOST_EXACT_PAIRS + 1 of them."""
    rounding: float
    """Bounds the error of the cosines; 0 when their signs are exact."""


def pairs(view: View, rows: np.ndarray | None = None) -> Pairs:
    """Look at every pair among the given rows (all of them by default)."""
    if rows is None:
        n, d = view.X.shape
        view.allow((2.0 * d + 30) * n * n, f"comparing {n:,} points in pairs")
        rows = np.arange(n)
    # Class by class, so that a block of the Gram matrix is of one kind and needs no mask.
    order = rows[np.argsort(view.data.y[rows], kind="stable")]  # class by class
    X, y = view.rows[order], view.data.y[order]
    n, d = X.shape
    norms = np.linalg.norm(X, axis=1)
    safe = np.where(norms > 0, norms, 1.0)
    weights = view.sizes[order]
    # Pixels and other small integers make right angles exactly, which rounding would leave in
    # doubt.
    rounding = 0.0 if _products_are_exact(view) else (d + 4) * EPS
    if rounding:
        X, weights = X / safe[:, None], weights * norms
    low, high = np.inf, -1.0
    disagreement = np.zeros(view.data.n)
    doubtful: list[tuple[int, int]] = []
    step = max(1, BLOCK // n)
    for label in np.unique(y):
        first, end = np.searchsorted(y, label), np.searchsorted(y, label, side="right")
        for start in range(first, end, step):
            block = slice(start, min(start + step, end))
            bad = X[block] @ X.T
            bad[:, first:end] *= -1  # what is positive now disagrees
            disagreement[order[block]] = weights[block] * (bad.clip(min=0) @ weights)
            if not rounding:
                bad /= safe[block, None]
                bad /= safe
            low = min(low, -bad[:, first:end].max())
            high = max(high, bad[:, :first].max(initial=-1.0), bad[:, end:].max(initial=-1.0))
            if rounding and max(-low, high) <= rounding and len(doubtful) <= MOST_EXACT_PAIRS:
                # Each pair stands in both orders, so twice as many are looked at as may be kept.
                for i, j in np.argwhere(bad >= -rounding)[: 2 * MOST_EXACT_PAIRS + 2]:
                    if start + i <= j:
                        doubtful.append((int(order[start + i]), int(order[j])))
    return Pairs(float(low), float(high), disagreement, doubtful, rounding)


def _products_are_exact(view: View) -> bool:
    """Small whole numbers (times a power of two in each row): dot products are not rounded."""
    bits = (50 - int(np.ceil(np.log2(view.data.d)))) // 2  # entries below 2: a sum below 2⁵²
    whole = np.ldexp(view.rows, bits)
    lossless = np.ldexp(view.rows, view.exponents[:, None]) == view.data.X
    return bool(lossless.all() and (whole == np.rint(whole)).all())


def shared_pairs(view: View) -> Pairs:
    """`pairs(view)`, computed once for a view."""
    known = view.__dict__.get("_pairs")
    if known is None:
        known = view.__dict__["_pairs"] = pairs(view)
    return known


@predicate("orthogonally_separable", "phuong2021 (1); wang2022 §2.1")
def orthogonally_separable(view: View) -> Finding:
    """x_i·x_j > 0 within a class and ≤ 0 between classes; the slack is the worst pair's cosine."""
    try:
        products = shared_pairs(view)
    except TooLarge:
        return _refuted_by_sample(view)
    slack = min(products.lowest_same, -products.highest_other)
    error, within = products.rounding, slack == products.lowest_same
    worst = "of one class" if within else "of different classes"
    note = f"the worst pair is {worst}, cosine {slack if within else -slack:.4g}"
    if slack > error or slack < -error:
        return Finding(slack > 0, slack, note, max(error, 4 * EPS))
    if error == 0:  # the worst cosine is exactly 0: allowed between classes only
        return Finding(products.lowest_same > 0, 0.0, note)
    if len(products.doubtful) > MOST_EXACT_PAIRS:
        note = f"{note}: more than {MOST_EXACT_PAIRS} pairs are within rounding of a right angle"
        return Finding(None, slack, note, error)
    X, y = view.data.X, view.data.y
    signs = [(sign_of_dot(X[i], X[j]), y[i] == y[j]) for i, j in products.doubtful]
    holds = all(sign > 0 if same else sign <= 0 for sign, same in signs)
    return Finding(holds, slack, f"{note}; its sign decided exactly", error)


def _refuted_by_sample(view: View) -> Finding:
    """All pairs would take too long; one bad pair in a sample is enough for a "no"."""
    # A fixed seed: the same data is refuted by the same pair.
    rows = np.random.default_rng(0).permutation(view.data.n)[:SAMPLE]
    products = pairs(view, np.sort(rows))
    slack = min(products.lowest_same, -products.highest_other)
    if slack < -products.rounding:
        note = f"a pair among {len(rows):,} sampled points fails; others may fail by more"
        return Finding(False, slack, note, products.rounding)
    raise TooLarge(
        f"comparing {view.data.n:,} points in pairs takes long, and {len(rows):,} sampled ones hold"
    )


@predicate("symmetric", "lyu2021 Assumption 4.1")
def symmetric(view: View) -> Finding:
    """With (x, y) there is (−x, −y), one for one; the slack is minus the largest distance to it."""
    view.need_two_classes()
    X, y = view.data.X, view.data.y
    if len(set(y.tolist())) == 1:
        return Finding(False, -1.0, "there is one class only, so no −x for any x")
    positive, negative = _sorted(X[y == 1]), _sorted(-X[y == -1])
    if positive.shape == negative.shape and (positive == negative).all():
        return Finding(True, 0.0, "every x has its −x, exactly")
    sides = {1: {row.tobytes() for row in negative}, -1: {row.tobytes() for row in positive}}
    alone = [i for i, z in enumerate(y[:, None] * X + 0.0) if z.tobytes() not in sides[y[i]]]
    if not alone:
        counts = f"{len(positive)} positive and {len(negative)} negative"
        unpaired = max(1, abs(len(positive) - len(negative))) / view.data.n
        note = f"every x has a −x, but not one for one ({counts} points)"
        return Finding(False, -unpaired, note)
    # The first ones only: a look at each costs all points, and the answer is "no" already.
    looked_at = alone[: max(1, MOST_ENTRIES // X.size)]
    apart = [_distance(-view.X[i], view.X[y != y[i]]) for i in looked_at]
    worst = int(np.argmax(apart))
    slack = -apart[worst] / view.norms.max()
    note = (
        f"row {looked_at[worst]} has no opposite: the nearest is {-slack:.2g} of the largest norm "
        "away (holds only at 0)"
    )
    if len(looked_at) < len(alone):
        note += f"; {len(alone) - len(looked_at):,} other rows without one were not looked at"
    return Finding(False, float(slack), note, 4 * (view.data.d + 4) * EPS)


def _sorted(X: np.ndarray) -> np.ndarray:
    X = X + 0.0  # −0 becomes 0
    return X[np.lexsort(X.T[::-1])]


def _distance(x: np.ndarray, points: np.ndarray) -> float:
    return float(np.linalg.norm(points - x, axis=1).min())


def need_disagreement(view: View) -> np.ndarray:
    """Σ_j max(−⟨y_i x_i, y_j x_j⟩, 0) for every i, in the unit of `view.X`."""
    view.need_two_classes()
    return shared_pairs(view).disagreement
