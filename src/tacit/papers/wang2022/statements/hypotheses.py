"""Hypotheses that the statements of wang2022 share, and the setting of their examples."""

import numpy as np

from tacit.data import load
from tacit.theorems import Case
from tacit.theorems import hypotheses as common
from tacit.values import Check, Network, Setting

FLOW = Setting(rule="flow", init="balanced:1e-4")


def balanced_network(W: np.ndarray, signs: list[int]) -> Network:
    """Initial weights with |a_k| = ‖w_k‖."""
    return Network(W, np.linalg.norm(W, axis=1) * signs)


def network_checks(case: Case, place: str) -> tuple[Check, ...]:
    """A two-layer ReLU network, both layers trained."""
    return (
        common.two_layer(case, place),
        common.relu(case, place),
        common.both_layers(case, place),
    )


def flow_checks(case: Case, place: str) -> tuple[Check, ...]:
    """Gradient flow on the logistic loss from ‖w_k‖ = |a_k|."""
    return (
        *network_checks(case, place),
        common.logistic(case, place),
        common.flow(case, place),
        common.balanced(case, place),
    )


def separable_checks(case: Case) -> tuple[Check, ...]:
    """Two orthogonally separable classes and ReLU, for statements about the data alone."""
    return (
        common.two_classes(case, "§3"),
        common.relu(case, "§1.2"),
        case.data_check("orthogonally_separable", "§3.1"),
    )


def not_separable() -> tuple[Case, str]:
    """A case that fails `separable_checks`, and the name of the hypothesis."""
    return Case(load("symmetric:n=6,d=3,seed=1"), Setting()), "orthogonally_separable"
