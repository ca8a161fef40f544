"""lyu2021 A.5 and A.9: neurons of the other sign alone do not reach the one-neuron margin.

The one-neuron net of sign s has margin ½γ, γ the largest margin of the points scaled for it. The
assumption says that nets of any width whose output weights all have the sign −s stay below ½γ on
the support examples of that problem. By Lemma G.10 the best of those nets is the optimum of a
convex program with one sign, whose bounds decide. Support examples are those within 1e-7 of the
margin; for a "yes" those with a multiplier have to be enough, as fewer points allow wider margins.
"""

import math
from typing import Literal

import numpy as np

from tacit.geometry.predicate import Finding, NotDefined, View, predicate
from tacit.messages import count
from tacit.numerics.convex_program import convex_optimum
from tacit.papers.lyu2021.geometry.assumptions import largest_norm
from tacit.papers.lyu2021.scaled_margin import scaled_margin

MOST_SECONDS = 2.0
"""Seconds for each of the two assumptions, unless it was asked for by name."""
NAMES = {1: "γ⁺", -1: "γ⁻"}


def _other_sign_is_weaker(view: View, sign: Literal[1, -1]) -> Finding:
    largest = largest_norm(view)
    view.need_two_classes()
    X, y = view.X, view.data.y
    one_neuron = scaled_margin(X, y, view.alpha, sign)
    if one_neuron.status == "not separable":
        raise NotDefined(
            f"speaks of {NAMES[sign]}: no neuron of that sign alone fits (α = {view.alpha:g})"
        )
    if one_neuron.support is None:
        return Finding(None, None, f"{NAMES[sign]} is not known well enough")
    rows, (lower, upper) = one_neuron.support, one_neuron.margin_bounds
    high = _widest(view, rows[one_neuron.multipliers[rows] > 0], -sign, lower)[1]
    low = _widest(view, rows, -sign, upper)[0] if high >= lower else 0.0
    slack = (lower - high) / largest
    error = (high - low + upper - lower) / largest
    note = (
        f"α = {view.alpha:g}; on {count(len(rows), 'support example')} one neuron reaches "
        f"{NAMES[sign]} = {lower * view.scale:.6g}, the other sign alone at "
        f"most {high * view.scale:.6g} (twice the margins)"
    )
    if slack > 0:
        return Finding(True, slack, note, error)
    if low >= upper:
        return Finding(False, slack, note, error)
    return Finding(None, slack, f"{note}: equal up to the error", error)


def _widest(view: View, rows: np.ndarray, sign: int, gamma: float) -> tuple[float, float]:
    """Bounds of twice the widest margin of one sign alone (Lemma G.10), to tell it from gamma."""
    seconds = math.inf if view.unlimited else MOST_SECONDS
    X, y = view.X[rows], view.data.y[rows]
    best = convex_optimum(X, y, view.alpha, (sign,), seconds=seconds, target=1 / gamma)
    lower, upper = best.objective_bounds
    return 1 / upper, 1 / lower


@predicate("lyu2021:assumptionA.5", "lyu2021 Assumption A.5")
def assumption_A_5(view: View) -> Finding:
    """Nets with all a_k ≤ 0 have a margin below ½γ⁺ on the support examples of w⁺."""
    return _other_sign_is_weaker(view, 1)


@predicate("lyu2021:assumptionA.9", "lyu2021 Assumption A.9, read with a_k ≥ 0")
def assumption_A_9(view: View) -> Finding:
    """Nets with all a_k ≥ 0 have a margin below ½γ⁻ on the support examples of w⁻."""
    return _other_sign_is_weaker(view, -1)
