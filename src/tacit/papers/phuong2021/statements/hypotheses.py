"""Hypotheses that the statements of phuong2021 share."""

from dataclasses import replace

from tacit.messages import count
from tacit.theorems import Case
from tacit.theorems.hypotheses import both_layers, by_slack, flow, relu, two_classes, two_layer
from tacit.values import Check


def network_and_rule(case: Case) -> tuple[Check, ...]:
    """Gradient flow on both layers of a two-layer ReLU network."""
    return (
        two_layer(case, "§2 (2)"),
        relu(case, "§2 (2)"),
        both_layers(case, "§2 (4)"),
        flow(case, "§2 (4)"),
    )


def small_neurons(case: Case) -> tuple[Check, ...]:
    """What G(w) (12), how fast a small neuron grows, is defined for: ReLU and a point beside 0."""
    many = int(case.data.X.any(axis=1).sum())
    return (
        two_classes(case, "§2"),
        relu(case, "(12)"),
        by_slack("a_point", many - 1, "(12)", f"{count(many, 'point')} away from 0"),
    )


def both_classes(case: Case, place: str) -> Check:
    """Labels are ±1, and there are points of either."""
    if not case.data.binary:
        note = f"there are {len(case.data.classes)} classes"
        return Check("both_classes", False, -1.0, place, note)
    fewest = int(min((case.data.y > 0).sum(), (case.data.y < 0).sum()))
    return by_slack("both_classes", fewest - 1, place, f"{fewest} points of the rarer class")


def orthogonally_separable(case: Case) -> Check:
    """Points of one class are at acute angles, points of different classes are not (1)."""
    check = case.data_check("orthogonally_separable", "§2 (1)")
    if check.slack is None or check.holds is None:
        return check
    size = abs(check.slack)
    note = f"closest pair {size:.2g} away from failing (its cosine)"
    if not check.holds:
        note = f"the cosine of the worst pair is {size:.2g} on the wrong side of 0"
    return replace(check, note=note)
