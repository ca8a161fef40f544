"""Networks Σ_g s_g φ(v_g·x) as arrays: their margins, with rounding errors, and their size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.solvers.farkas import EPS
from tacit.solvers.restricted import Budget


@dataclass(frozen=True, eq=False)
class Neurons:
    """The network Σ_g s_g φ(v_g·x)."""

    V: np.ndarray
    sign: np.ndarray


def margins(
    X: np.ndarray, y: np.ndarray, alpha: float, net: Neurons
) -> tuple[np.ndarray, np.ndarray]:
    """y_i f(x_i), and bounds of their rounding errors."""
    t = X @ net.V.T
    q = y * (np.maximum(t, alpha * t) @ net.sign)
    steps = X.shape[1] + len(net.sign) + 8
    return q, steps * EPS * (np.abs(X) @ np.abs(net.V).T).sum(axis=1)


def size(net: Neurons, budget: Budget) -> float:
    """Σ‖v_g‖, or √((Σ₊‖v_g‖)² + (Σ₋‖v_g‖)²); too small by (d + groups)·ε of it at most."""
    lengths = np.linalg.norm(net.V, axis=1)
    if budget == "sum":
        return float(lengths.sum())
    return math.hypot(lengths[net.sign > 0].sum(), lengths[net.sign < 0].sum())
