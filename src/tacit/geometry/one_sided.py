"""lyu2021 A.5 and A.9: neurons of the other sign alone do not reach the one-neuron margin.

The one-neuron net of sign s has margin ½γ, γ the largest margin of the points scaled for it. The
assumption says that nets of any width whose output weights all have the sign −s stay below ½γ on
the support examples of that problem. By Lemma G.10 the best of those nets is the optimum of a
convex program with one sign, whose bounds decide.
"""

from __future__ import annotations

from typing import Literal

from tacit._words import count
from tacit.geometry.base import Finding, NotDefined, View, predicate
from tacit.geometry.lyu2021 import largest_norm
from tacit.solvers.convex_program import optimum
from tacit.solvers.family import scaled_margin

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
    rows = one_neuron.support
    other = optimum(X[rows], y[rows], view.alpha, signs=(-sign,))
    low, high = 1 / other.upper, 1 / other.lower  # of Lemma G.10, times 2; 0 if nothing fits
    slack = (one_neuron.lower - high) / largest
    error = (high - low + one_neuron.upper - one_neuron.lower) / largest
    note = (
        f"α = {view.alpha:g}; on {count(len(rows), 'support example')} one neuron reaches "
        f"{NAMES[sign]} = {one_neuron.lower * view.scale:.6g}, the other sign alone "
        f"{high * view.scale:.6g} (twice the margins)"
    )
    if slack > 0:
        return Finding(True, slack, note, error)
    if low >= one_neuron.upper:
        return Finding(False, slack, note, error)
    return Finding(None, slack, f"{note}: equal up to the error", error)


@predicate("lyu2021:assumptionA.5", "lyu2021 Assumption A.5")
def assumption_A_5(view: View) -> Finding:
    """Nets with all a_k ≤ 0 have a margin below ½γ⁺ on the support examples of w⁺."""
    return _other_sign_is_weaker(view, 1)


@predicate("lyu2021:assumptionA.9", "lyu2021 Assumption A.9, read with a_k ≥ 0")
def assumption_A_9(view: View) -> Finding:
    """Nets with all a_k ≥ 0 have a margin below ½γ⁻ on the support examples of w⁻."""
    return _other_sign_is_weaker(view, -1)
