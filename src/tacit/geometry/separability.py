"""Linear separability, and the support examples of each class."""

from __future__ import annotations

import numpy as np

from tacit._types import Check
from tacit.geometry.base import NotDefined, View, predicate
from tacit.solvers.max_margin import MaxMargin, max_margin, support

SEPARABLE = {"separable": True, "not separable": False, "undecided": None}


@predicate("linearly_separable", "lyu2021 Assumption 3.2")
def linearly_separable(view: View) -> Check:
    """Some w has y_i w·x_i > 0 for all i; the slack is the largest margin, in the data's unit."""
    name, place = "linearly_separable", "lyu2021 Assumption 3.2"
    if not view.data.binary:
        return _one_against_the_rest(view, name, place)
    found = view.margin
    lower, upper = found.lower * view.scale, found.upper * view.scale
    if found.status == "separable":
        note = f"largest margin {lower:.6g} (proved to {found.gap:.0e} relative)"
        return Check(name, True, lower, place, note, upper - lower)
    if found.status == "not separable":
        note = (
            f"proved by Farkas' lemma; the best direction found misses by {-lower:.4g} "
            "(moving every point by that much would separate them)"
        )
        return Check(name, False, min(lower, 0.0), place, note)
    note = f"floating point cannot tell: the margin, if there is one, is at most {upper:.1e}"
    return Check(name, None, 0.0, place, note, upper)


def _one_against_the_rest(view: View, name: str, place: str) -> Check:
    results = []
    for k, label in enumerate(view.data.classes):
        found = max_margin(np.where(view.data.y == k, 1, -1)[:, None] * view.X)
        results.append((found.lower, label, found))
    lower, label, worst = min(results, key=lambda result: result[0])
    states = [SEPARABLE[found.status] for _, _, found in results]
    holds = False if False in states else None if None in states else True
    verdict = ", ".join(f"{label}: {found.status}" for _, label, found in results)
    note = f"each class against the rest — {verdict}; the slack is that of {label}"
    return Check(name, holds, lower * view.scale, place, note, _width(worst) * view.scale)


def _width(found: MaxMargin) -> float:
    return max(found.upper - found.lower, 0.0) if found.status == "separable" else 0.0


def _support_spans(view: View, label: int, word: str, place: str) -> Check:
    name = f"{word}_support_spans"
    points = view.of_class(label)
    if len(points) == 0:
        raise NotDefined(f"there is no {word} point")
    found = max_margin(points)
    if found.status != "separable":
        note = f"no w has w·x ≥ 1 for every {word} point: there are no support examples"
        return Check(name, SEPARABLE[found.status], -float(view.data.d), place, note)
    rows = points[support(points, found)]
    singular = np.linalg.svd(rows / np.linalg.norm(rows, axis=1, keepdims=True), compute_uv=False)
    rank = int((singular > 1e-10).sum())
    d = view.data.d
    note = f"{len(rows)} support examples span {rank} of {d} dimensions"
    return Check(name, rank == d, float(rank - d), place, note)


@predicate("positive_support_spans", "phuong2021 §2, Theorem 1")
def positive_support_spans(view: View) -> Check:
    """The positive points nearest to the plane of w₊ (6) span the whole space."""
    return _support_spans(view, 1, "positive", "phuong2021 §2, Theorem 1")


@predicate("negative_support_spans", "phuong2021 §2, Theorem 1")
def negative_support_spans(view: View) -> Check:
    """The negative points nearest to the plane of w₋ (7) span the whole space."""
    return _support_spans(view, -1, "negative", "phuong2021 §2, Theorem 1")
