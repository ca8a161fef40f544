"""Linear separability, and the support examples of each class."""

import numpy as np

from tacit.geometry.predicate import Finding, NotDefined, View, predicate
from tacit.messages import count
from tacit.numerics.class_margin import class_margin
from tacit.numerics.max_margin import MaxMargin, max_margin
from tacit.numerics.nearest_miss import nearest_miss
from tacit.numerics.tolerances import MARGIN

SEPARABLE = {"separable": True, "not separable": False, "undecided": None}


@predicate("linearly_separable", "lyu2021 Assumption 3.2")
def linearly_separable(view: View) -> Finding:
    """Some w has y_i w·x_i > 0 for all i; the slack is the largest margin, in the data's unit."""
    if not view.data.binary:
        return _one_against_the_rest(view)
    separator = view.separator
    lower, upper = separator.margin_bounds
    if separator.status == "separable":
        note = f"largest margin {lower:.6g} (proved to {separator.gap:.0e} relative)"
        return Finding(True, lower, note, upper - lower)
    if separator.status == "not separable":
        lower = _miss(view.data.y[:, None] * view.data.X, separator)
        note = "proved by Farkas' lemma; up to rounding, some direction gets no point wrong"
        if lower < 0:
            note = (
                f"proved by Farkas' lemma; moving every point by more than {-lower:.4g} would "
                "separate them (the best found; less may do)"
            )
        return Finding(False, lower, note, -lower)
    note = f"floating point cannot tell: the margin, if there is one, is at most {upper:.1e}"
    return Finding(None, 0.0, note, upper)


def _one_against_the_rest(view: View) -> Finding:
    verdicts = {}
    for k, label in enumerate(view.data.classes):
        Z = np.where(view.data.y == k, 1, -1)[:, None] * view.data.X
        one = max_margin(Z)
        lower, upper = one.margin_bounds
        slack, error = lower, upper - lower
        if one.status == "not separable":
            slack = _miss(Z, one)
            error = -slack
        elif one.status == "undecided":
            slack, error = 0.0, upper
        verdicts[label] = (one.status, slack, error)
    # The verdict is that of the worst class: not separable, else undecided, else the narrowest.
    order = ("not separable", "undecided", "separable")
    worst = min(verdicts, key=lambda label: (order.index(verdicts[label][0]), verdicts[label][1]))
    status, slack, error = verdicts[worst]
    verdict = ", ".join(f"{label}: {status}" for label, (status, _, _) in verdicts.items())
    note = f"each class against the rest — {verdict}; the slack is that of {worst}"
    return Finding(SEPARABLE[status], slack, note, error)


def _miss(Z: np.ndarray, separator: MaxMargin) -> float:
    """min z_i·w for the best w found; not positive."""
    largest = float(np.abs(Z).max())
    w = nearest_miss(Z, separator.direction)
    return min(float((Z / (largest or 1.0) @ w).min()) * largest, 0.0)


def _support_spans(view: View, label: int, word: str) -> Finding:
    if len(view.of_class(label)) == 0:
        raise NotDefined(f"there is no {word} point")
    d = view.data.d
    separator = class_margin(view.data.X, view.data.y, label)
    if separator.status == "not separable":
        note = f"no w has w·x ≥ 1 for every {word} point: there are no support examples"
        return Finding(False, -float(d), note)
    if separator.support is None or separator.rank is None:
        return Finding(
            None, None, f"w is not known well enough to tell its {word} support examples"
        )
    note = (
        f"{count(len(separator.support), 'support example')} (to {MARGIN.support:g} of the margin) "
        f"span {separator.rank} of {d} dimensions"
    )
    return Finding(separator.rank == d, float(separator.rank - d), note)


@predicate("positive_support_spans", "phuong2021 §2, Theorem 1")
def positive_support_spans(view: View) -> Finding:
    """The positive points nearest to the plane of w₊ (6) span the whole space."""
    return _support_spans(view, 1, "positive")


@predicate("negative_support_spans", "phuong2021 §2, Theorem 1")
def negative_support_spans(view: View) -> Finding:
    """The negative points nearest to the plane of w₋ (7) span the whole space."""
    return _support_spans(view, -1, "negative")
