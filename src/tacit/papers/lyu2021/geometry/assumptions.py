"""The assumptions of lyu2021 on data and their pulls: 4.5, A.1, A.2, A.3 and A.8.

Slacks are relative to the squared largest norm (A.1, A.2) or to the largest norm (A.3, A.8).
"""

from fractions import Fraction
from operator import mul

import numpy as np

from tacit.geometry.exact import exact_sum, rational
from tacit.geometry.pairs import need_disagreement
from tacit.geometry.predicate import Finding, NotDefined, View, predicate
from tacit.numerics.float64 import EPS

MOST_EXACT_ENTRIES = 20_000
"""Entries of X up to which a tie is decided by rational arithmetic."""


def largest_norm(view: View) -> float:
    """max‖x_i‖; assumptions are not defined on data that is all zero."""
    largest = float(view.norms.max())
    if largest == 0:
        raise NotDefined("every point is zero")
    return largest


@predicate("lyu2021:assumption4.5", "lyu2021 Assumption 4.5")
def assumption_4_5(view: View) -> Finding:
    """⟨µ, x_i⟩ ≠ 0 for all i, µ the mean of y_i x_i; the slack is the smallest |cosine|."""
    n, d = view.X.shape
    if len(view.zero_rows):
        return Finding(False, 0.0, f"row {view.zero_rows[0]} is zero")
    unit = view.rows / np.linalg.norm(view.rows, axis=1)[:, None]
    length = float(np.linalg.norm(view.mu))
    cosines = np.abs(unit @ view.mu) / length if length else np.zeros(n)
    i = int(cosines.argmin())
    error = EPS * (d + 4 + n * view.norms.mean() / length) if length else 1.0  # µ is rounded too
    note = f"the point nearest to µ's orthogonal plane is row {i}"
    if cosines[i] > error:
        return Finding(True, float(cosines[i]), note, error)
    if n * d > MOST_EXACT_ENTRIES:
        return Finding(None, float(cosines[i]), f"{note}: within rounding", error)
    total = exact_sum(view.data.y[:, None] * view.data.X)
    doubtful = view.data.X[cosines <= error]
    holds = all(sum(map(mul, total, rational(x))) != 0 for x in doubtful)
    return Finding(holds, float(cosines[i]), f"{note}; decided exactly", error)


@predicate("lyu2021:assumptionA.1", "lyu2021 Assumption A.1")
def assumption_A_1(view: View) -> Finding:
    """A principal direction exists: mean‖Px_i‖·max‖Px_i‖ < α⟨µ,w⟩·min y_i⟨w,x_i⟩ for some unit w.

    Looked for on the arc from the max-margin separator to µ. A "no" is given only where A.2, which
    it implies (Lemma G.1), fails.
    """
    largest = largest_norm(view)
    if view.alpha == 0:
        raise NotDefined("needs α > 0 (say `activation='leaky:0.5'`)")
    ends = [
        v / length for v in (view.separator.direction, view.mu) if (length := np.linalg.norm(v))
    ]
    ends = ends or [np.zeros(view.data.d)]
    arc = [(1 - t) * ends[0] + t * ends[-1] for t in np.linspace(0, 1, 65)]
    best = max(
        (w / max(np.linalg.norm(w), EPS) for w in arc), key=lambda w: _A_1(view, w, quick=True)
    )
    slack = _A_1(view, best) / largest**2
    at = f"α = {view.alpha:g}"
    error = EPS * (view.data.n + 20 * view.data.d)
    if slack > error:
        return Finding(True, slack, f"{at}, witness found", error)
    tried = "; the slack is the best between the separator and µ"
    if view.separator.status == "not separable":
        return Finding(False, slack, f"no direction separates the data{tried}", error)
    if assumption_A_2(view).holds is False:
        return Finding(False, slack, f"{at}: A.2 fails, which A.1 implies{tried}", error)
    return Finding(None, slack, f"{at}: no witness found{tried}", error)


def _A_1(view: View, w: np.ndarray, quick: bool = False) -> float:
    """α⟨µ,w⟩·min y_i⟨w,x_i⟩ − mean‖Px_i‖·max‖Px_i‖, negative when w does not separate."""
    along = view.X @ w
    if quick:  # cancels where a point is close to the line of w
        across = np.sqrt(np.maximum(view.norms**2 - along**2, 0))
    else:
        across = np.linalg.norm(view.X - along[:, None] * w, axis=1)
    margin = (view.data.y * along).min()
    return float(view.alpha * abs(view.mu @ w) * margin - across.mean() * across.max())


@predicate("lyu2021:assumptionA.2", "lyu2021 Assumption A.2")
def assumption_A_2(view: View) -> Finding:
    """⟨µ, y_i x_i⟩ > (1−α)/(nα) Σ_j max{−⟨y_i x_i, y_j x_j⟩, 0} for all i."""
    largest = largest_norm(view)
    left = view.Z @ view.mu
    right = need_disagreement(view) / view.data.n
    # It holds exactly for α above this threshold, when every ⟨µ, y_i x_i⟩ is positive.
    threshold = float((right / (left + right)).max()) if (left > 0).all() else None
    note = f"α = {view.alpha:g}; " + (
        f"it holds for α > {threshold:.4g}" if threshold is not None else "it fails for every α"
    )
    if view.alpha == 0:
        raise NotDefined(f"needs α > 0 (say `activation='leaky:0.5'`); {note.partition('; ')[2]}")
    slacks = left - (1 - view.alpha) / view.alpha * right  # A.2
    slack = float(slacks.min()) / largest**2
    error = EPS * (view.data.d + view.data.n + 8) * max(1.0, (1 - view.alpha) / view.alpha)
    if abs(slack) > error:
        return Finding(slack > 0, slack, note, error)
    doubtful = np.flatnonzero(slacks <= error * largest**2)
    if len(doubtful) * view.Z.size > MOST_EXACT_ENTRIES:
        return Finding(None, slack, f"{note}; equal up to rounding", error)
    holds = all(_A_2_exactly(view, int(i)) for i in doubtful)
    return Finding(holds, slack, f"{note}; decided exactly", error)


def _A_2_exactly(view: View, i: int) -> bool:
    """Decide A.2 for one point, both sides times nα, in rational arithmetic."""
    rows = [rational(row) for row in view.data.y[:, None] * view.data.X]
    products = [sum(map(mul, rows[i], row)) for row in rows]
    alpha = Fraction(view.alpha)
    return alpha * sum(products) > (1 - alpha) * sum(max(-p, Fraction(0)) for p in products)


def _norm_difference(view: View, direction: int) -> Finding:
    """‖µ⁺‖ − ‖µ⁻‖ with x⁺ = x for positive and αx for negative points, x⁻ the other way (6)."""
    largest = largest_norm(view)
    positive = (view.data.y == 1)[:, None]
    plus = np.where(positive, view.Z, view.alpha * view.Z).mean(axis=0)
    minus = np.where(positive, view.alpha * view.Z, view.Z).mean(axis=0)
    slack = direction * float(np.linalg.norm(plus) - np.linalg.norm(minus)) / largest
    error = EPS * (view.data.d + view.data.n + 8)
    note = f"α = {view.alpha:g}"
    if abs(slack) > error:
        return Finding(slack > 0, slack, note, error)
    if view.data.n * view.data.d > MOST_EXACT_ENTRIES:
        return Finding(None, slack, f"{note}: equal up to rounding", error)
    # ‖µ⁺‖² − ‖µ⁻‖² = (1−α²)(‖s₊‖² − ‖s₋‖²)/n² with s_± = Σ x_i over one class
    squares = [sum(v * v for v in exact_sum(view.of_class(label))) for label in (1, -1)]
    holds = direction * (1 - Fraction(view.alpha) ** 2) * (squares[0] - squares[1]) > 0
    return Finding(holds, slack, f"{note}; decided exactly", error)


@predicate("lyu2021:assumptionA.3", "lyu2021 Assumption A.3")
def assumption_A_3(view: View) -> Finding:
    """The positive points pull more strongly: ‖µ⁺‖ > ‖µ⁻‖."""
    return _norm_difference(view, 1)


@predicate("lyu2021:assumptionA.8", "lyu2021 Assumption A.8")
def assumption_A_8(view: View) -> Finding:
    """The negative points pull more strongly: ‖µ⁺‖ < ‖µ⁻‖."""
    return _norm_difference(view, -1)
