"""Networks as functions, compared at unit norm."""

from __future__ import annotations

import numpy as np

from tacit.theorems import Case
from tacit.values import Network

MIXES = 100
"""Random combinations of the points at which functions are compared."""


def outputs(network: Network, points: np.ndarray, alpha: float) -> np.ndarray:
    t = points @ network.W.T
    return np.maximum(t, alpha * t) @ network.a


def unit_outputs(network: Network, points: np.ndarray, alpha: float) -> np.ndarray:
    """Of the network scaled to ‖θ‖ = 1; it is 2-homogeneous."""
    size = float((network.W**2).sum() + (network.a**2).sum())
    return outputs(network, points, alpha) / size if size > 0 else np.zeros(len(points))


def difference(network: Network, wanted: Network, case: Case) -> float:
    """How far apart two networks are as functions, both at unit norm, relative to the second.

    They are compared in the directions of all neurons, of the points and of random combinations of
    these, and in the opposite ones: more places than the functions have kinks.
    """
    unit = _unit(case.data.X)
    mixes = np.random.default_rng(0).normal(size=(MIXES, len(unit))) @ unit
    places = np.vstack([unit, _unit(mixes), _unit(network.W), _unit(wanted.W)])
    places = np.vstack([places, -places])
    target = unit_outputs(wanted, places, case.alpha)
    apart = np.abs(unit_outputs(network, places, case.alpha) - target).max()
    return float(apart / np.abs(target).max())


def margin(network: Network, case: Case) -> float:
    """γ = q_min/‖θ‖²."""
    return float((case.data.y * unit_outputs(network, case.data.X, case.alpha)).min())


def log_loss(network: Network, case: Case) -> float:
    """Natural logarithm of the sum of the logistic losses."""
    q = case.data.y * outputs(network, case.data.X, case.alpha)
    return float(np.log(np.logaddexp(0.0, -q).sum()))


def _unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1)
    return rows[lengths > 0] / lengths[lengths > 0][:, None]
