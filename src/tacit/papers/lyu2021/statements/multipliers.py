"""What Assumptions A.5 and A.9 must say for Theorem G.11, and so for Theorems A.7 and A.10."""

from typing import Literal

import numpy as np

from tacit.numerics.arrangements import TooManyCells, cells
from tacit.numerics.pricing import price
from tacit.papers.lyu2021.scaled_margin import ScaledMargin, scaled_margin
from tacit.papers.lyu2021.statements.hypotheses import is_spoken_of
from tacit.theorems import Case
from tacit.theorems.hypotheses import undecided
from tacit.values import Check

MOST_CELLS = 2000
"""Cells of the support points' arrangement that are enumerated, in a second or so."""


def weaker_at_multipliers(case: Case, sign: Literal[1, -1], place: str) -> Check:
    """No neuron of the other sign gains more than γ^± from the multipliers λ* of w^±.

    max over unit u of −s Σ λ*_i y_i φ(u·x_i) < γ^s, which is what the proof of Theorem G.11 uses.
    A.5 (A.9) asks it of some λ only. λ* are the weights with Σ λ*_i y_i x^s_i = γ^s w^s.
    """
    name = "weaker_at_multipliers"
    if not is_spoken_of(case):
        return undecided(name, place, "there are more than two classes")
    X, y = case.data.X, case.data.y
    known = scaled_margin(X, y, case.alpha, sign)
    if known.status != "separable" or known.support is None:
        return undecided(name, place, "γ and its support are not known well enough")
    rows = np.flatnonzero(known.multipliers > 0)
    c = -sign * known.multipliers[rows] * y[rows]
    try:
        most = price(X[rows], c, case.alpha, cells(X[rows], MOST_CELLS), 0.0).bound
    except TooManyCells as reason:
        return undecided(name, place, str(reason))
    gamma = known.margin_bounds.lower
    slack = (gamma - most) / float(np.linalg.norm(X, axis=1).max())
    note = f"γ = {gamma:.6g}, a neuron of the other sign gains at most {most:.6g}"
    if slack > 0:
        return Check(name, True, slack, place, note)
    if not _unique(X * np.where(y == sign, 1.0, case.alpha)[:, None], y, known):
        note += "; other multipliers may do better"
        return Check(name, None, slack, place, note)
    return Check(name, False, slack, place, note)


def _unique(X: np.ndarray, y: np.ndarray, known: ScaledMargin) -> bool:
    """λ* is unique when the support examples y_i x^s_i are affinely independent."""
    assert known.support is not None
    rows = np.column_stack([y[known.support, None] * X[known.support], np.ones(len(known.support))])
    return bool(np.linalg.matrix_rank(rows) == len(rows))
