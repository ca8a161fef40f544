"""Balance of the layers, and the rank of the first one."""

import numpy as np

from tacit.measures.measure import NotDefined, Snapshot, measure

SHOWN = 10
"""Singular values that are recorded, whatever the width: arrays of one shape."""


@measure("balance")
def balance(s: Snapshot) -> float:
    """max_k |‖w_k‖² − a_k²|: gradient flow conserves each of these differences."""
    if "a" not in s.model.trained(s.params):
        raise NotDefined("the output layer is fixed")
    return float(np.abs((s.W**2).sum(axis=1) - s.a**2).max())


@measure("singular_values")
def singular_values(s: Snapshot) -> np.ndarray:
    """The ten largest singular values of the first layer, zeros where there are fewer."""
    singular = s.singular_values[:SHOWN]
    return np.pad(singular, (0, SHOWN - len(singular)))


@measure("effective_rank")
def effective_rank(s: Snapshot) -> float:
    """‖W‖_F²/‖W‖²: near 1 for rank one, at most the rank."""
    return effective_rank_of(s.first_layer, s.singular_values)


def effective_rank_of(W: np.ndarray, singular: np.ndarray) -> float:
    """‖W‖_F²/‖W‖² of a matrix with these singular values, 0 for a matrix of zeros."""
    largest = singular.max(initial=0.0)
    # Scaled first: the squares of weights of 1e-200 would be 0.
    return float(((W / largest) ** 2).sum()) if largest > 0 else 0.0
