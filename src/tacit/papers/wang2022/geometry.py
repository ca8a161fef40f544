"""Spike-free data (wang2022 Definition 2): for all ‖u‖ ≤ 1, (Xu)₊ = Xz for some ‖z‖ ≤ 1.

The definition asks for a z for every u; the maximum that the paper prints below it only looks at
those u that have one. Neither the labels nor the lengths of the points play a part. Ours: it can be
decided without going through the cells.

Some z, of any length. Where a single line of points changes sides, (Xu)₊ gets a kink along the
vector that is ‖x_i‖ for the points on that line and 0 elsewhere. All these vectors have to be in
the range of X, and they are independent. So there are as many lines as the rank, and no two points
are opposite: the points lie on independent rays. That is sufficient, too.

A short z. Let A hold one unit vector per ray, Q = (AAᵀ)⁻¹ and s = Au, which can be any vector. The
shortest z has the square s₊ᵀQs₊, the shortest u has sᵀQs = s₊ᵀQs₊ − 2s₊ᵀQs₋ + s₋ᵀQs₋. As s₊ can
be far longer than s₋, that is never less if and only if Q has no positive entry off its diagonal.
Q is the Gram matrix of the dual basis b_1, b_2, … (b_i·a_j is 1 for i = j and 0 otherwise), and
−cos(b_i, b_j) is the partial cosine of two rays: the cosine of what the other rays leave of them.
The longest shortest z, for a unit u, is 1/sin θ, θ the smallest angle between a sum of some b_i
and a sum of others, with weights ≥ 0.
"""

import numpy as np

from tacit.geometry.predicate import Finding, View, predicate
from tacit.numerics.float64 import EPS
from tacit.numerics.pricing import best_in_cell

TOLERANCE = 1e-12
"""Points are on one ray, rays dependent, and z no longer than u, up to this."""
MOST_RAYS = 20
"""Rays among which the smallest angle is looked for, those with the smallest partial cosines."""
MOST_STEPS = 50
"""Steps of the search from one ray. With up to three rays one step from each finds the angle for
sure."""


@predicate("spike_free", "wang2022 Definition 2")
def spike_free(view: View) -> Finding:
    """For all ‖u‖ ≤ 1, (Xu)₊ = Xz with ‖z‖ ≤ 1; the slack is 1/max‖z‖ − 1, −1 without any z."""
    rows = np.setdiff1d(np.arange(view.data.n), view.zero_rows)
    d = view.data.d
    for some in (rows[: 2 * d + 1], rows):  # a few are enough to find more than d rays
        unit = view.rows[some] / np.linalg.norm(view.rows[some], axis=1)[:, None]
        first = _rays(unit)
        if len(first) > d:
            note = f"no z for some u: the points lie on more than {d} rays, which are dependent"
            return Finding(False, -1.0, note, TOLERANCE)
    count = len(first)
    if count <= 1:
        note = "all points lie on one ray" if count else "every point is zero"
        return Finding(True, 0.0, f"{note}, up to {TOLERANCE:g}", TOLERANCE)
    view.allow(25.0 * count**2 * d, f"the dual basis of {count:,} rays")
    left, singular, _ = np.linalg.svd(unit[first], full_matrices=False)
    if singular[-1] <= TOLERANCE * singular[0]:
        note = f"no z for some u: the {count} rays of the points are dependent"
        return Finding(False, -1.0, f"{note} up to {TOLERANCE:g}", TOLERANCE)
    return _by_angle(left / singular, rows[first], d * EPS / float(singular[-1]))


def _rays(unit: np.ndarray) -> np.ndarray:
    """The first row on each ray: rows are on one if the same along three random directions."""
    same = np.zeros(len(unit), dtype=np.intp)
    directions = np.random.default_rng(0).standard_normal((unit.shape[1], 3))
    for along in (unit @ (directions / np.linalg.norm(directions, axis=0))).T:
        order = np.argsort(along, kind="stable")
        label = np.empty(len(unit), dtype=np.intp)
        label[order] = np.cumsum(np.diff(along[order], prepend=-2) > TOLERANCE)
        same = np.unique(np.column_stack([same, label]), axis=0, return_inverse=True)[1].reshape(-1)
    return np.sort(np.unique(same, return_index=True)[1])


def _by_angle(dual: np.ndarray, rows: np.ndarray, rounding: float) -> Finding:
    """Decide by the dual basis, one row for each ray, whose cosines are off by 8·`rounding`."""
    dual = dual / np.linalg.norm(dual, axis=1)[:, None]
    partial = -dual @ dual.T
    np.fill_diagonal(partial, np.inf)
    i, j = np.unravel_index(partial.argmin(), partial.shape)
    lowest = float(partial[i, j])
    some = dual[np.argsort(partial.min(axis=1), kind="stable")[:MOST_RAYS]]
    pairs = float(np.sqrt(1 - min(lowest, 0.0) ** 2)) if lowest > -1 else 0.0
    sine = min(pairs, *(_smallest_sine(some, k) for k in range(len(some))))
    slack = min(sine - 1, 0.0)
    error = 8 * rounding * (float(np.sqrt(max(1 - sine**2, 0.0))) + 8 * rounding) + TOLERANCE
    pair = sorted((rows[i], rows[j]))
    note = f"the smallest partial cosine is {lowest:.4g}, of rows {pair[0]} and {pair[1]}"
    if slack >= -TOLERANCE and (lowest > 8 * rounding or error <= 2 * TOLERANCE):
        return Finding(True, slack, f"{note}; holds up to {TOLERANCE:g}", error)
    if slack < -error:
        longest = "the longest z found" if len(dual) > 3 else "the longest z"
        length = f"{longest} has length {1 / max(sine, EPS):.4g}"
        return Finding(False, slack, f"{note}; {length}", error)
    return Finding(None, slack, f"{note}: within rounding", error)


def _smallest_sine(dual: np.ndarray, start: int) -> float:
    """The sine of the smallest angle found between two sums of different rows, weights ≥ 0.

    The search begins with the row `start` as one of the sums.
    """
    near, used, sine = dual[start], np.array([start]), 1.0
    for _ in range(MOST_STEPS):
        free = np.setdiff1d(np.arange(len(dual)), used)
        # What the nearest sum of free rows leaves of `near`: the best direction where these are
        # inactive and `near` is active.
        signs = np.where(np.arange(len(free) + 1) == 0, 1.0, -1.0)
        rest, tight = best_in_cell(np.vstack([near, dual[free]]), signs, 0.0, signs)
        lower = float(np.linalg.norm(rest) / np.linalg.norm(near))
        # No step can raise the sine; one that lowers it by less only moves within rounding.
        if len(tight) == 0 or lower > sine * (1 - 1e-9):
            return min(sine, lower)
        near, used, sine = near - rest, free[tight - 1], lower
    return sine
