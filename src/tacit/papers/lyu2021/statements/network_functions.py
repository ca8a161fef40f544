"""Networks as functions and as directions, compared at unit norm."""

import math

import numpy as np

from tacit.theorems import Case
from tacit.values import Network

MIXES = 100
"""Random combinations of the points at which functions are compared."""


def difference(network: Network, expected: Network, case: Case) -> float:
    """How far apart two networks are as functions, both at unit norm, relative to the second.

    They are compared in the directions of all neurons, of the points and of random combinations of
    these, and in the opposite ones: more places than the functions have kinks.
    """
    unit = _unit_rows(case.data.X)
    mixes = np.random.default_rng(0).normal(size=(MIXES, len(unit))) @ unit
    places = [unit, _unit_rows(mixes), _unit_rows(network.W), _unit_rows(expected.W)]
    X = np.vstack([*places, *(-rows for rows in places)])
    target = _unit_outputs(expected, X)
    return float(np.abs(_unit_outputs(network, X) - target).max() / np.abs(target).max())


def direction_distance(one: Network, other: Network) -> float:
    """‖θ/‖θ‖ − θ'/‖θ'‖‖; 2 where one of them is zero."""
    sizes = one.norm, other.norm
    if min(sizes) == 0:
        return 2.0
    W, a = one.W / sizes[0] - other.W / sizes[1], one.a / sizes[0] - other.a / sizes[1]
    return math.hypot(np.linalg.norm(W), np.linalg.norm(a))


def margin(network: Network, case: Case) -> float:
    """γ = q_min/‖θ‖²; 0 for the zero network."""
    return float((case.data.y * _unit_outputs(network, case.data.X)).min())


def log_loss(network: Network, case: Case) -> float:
    """Natural logarithm of the sum of the logistic losses."""
    q = network.margins(case.data.X, case.data.y)
    return float(np.log(np.logaddexp(0.0, -q).sum()))


def _unit_outputs(network: Network, X: np.ndarray) -> np.ndarray:
    """The outputs of the network scaled to ‖θ‖ = 1: it is 2-homogeneous."""
    size = network.norm
    return network.outputs(X) / size**2 if size > 0 else np.zeros(len(X))


def _unit_rows(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1)
    return rows[lengths > 0] / lengths[lengths > 0][:, None]
