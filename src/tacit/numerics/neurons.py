"""Networks Σ_g s_g φ(v_g·x) as arrays: their margins, with rounding errors, and their size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.numerics.float64 import EPS
from tacit.numerics.restricted import Budget
from tacit.values import Network

MOST_PRODUCTS = 3_000_000
"""Products of long doubles to spend on one evaluation."""


@dataclass(frozen=True, eq=False)
class Neurons:
    """The network Σ_g s_g φ(v_g·x), its output weights multiplied into the neurons."""

    V: np.ndarray
    sign: np.ndarray

    @classmethod
    def of(cls, network: Network) -> Neurons:
        """The neurons that are not zero, in a unit in which no product overflows."""
        W, a = network.W, network.a
        live = (a != 0) & W.any(axis=1)
        with np.errstate(all="ignore"):
            V = (W[live] / np.abs(W).max()) * (np.abs(a[live]) / np.abs(a).max())[:, None]
        return cls(V, np.sign(a[live]).astype(int))

    def balanced(self, alpha: float) -> Network:
        """The same function with ‖w_k‖ = |a_k|."""
        roots = np.sqrt([math.hypot(*v) for v in self.V.tolist()])
        return Network(self.V / roots[:, None], roots * self.sign, alpha)


def margins(
    X: np.ndarray, y: np.ndarray, alpha: float, net: Neurons
) -> tuple[np.ndarray, np.ndarray]:
    """y_i f(x_i), and bounds of their rounding errors; in more digits where they are needed."""
    q, error = _margins(X, y, alpha, net.V, net.sign)
    rows = np.flatnonzero((error > 1e-11 * np.abs(q)) & (q - error <= 2 * (q + error).min()))
    if len(rows) * net.V.size <= MOST_PRODUCTS:
        long = np.longdouble
        fine = _margins(X[rows].astype(long), y[rows], alpha, net.V.astype(long), net.sign)
        q[rows] = fine[0].astype(float)
        error[rows] = fine[1].astype(float) + EPS * np.abs(q[rows])
    return q, error


def _margins(
    X: np.ndarray, y: np.ndarray, alpha: float, V: np.ndarray, sign: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    t = X @ V.T
    q = y * (np.maximum(t, alpha * t) @ sign)
    steps = X.shape[1] + len(sign) + 8
    return q, steps * np.finfo(X.dtype).eps * (np.abs(X) @ np.abs(V).T).sum(axis=1)


def size(net: Neurons, budget: Budget) -> float:
    """Σ‖v_g‖, or √((Σ₊‖v_g‖)² + (Σ₋‖v_g‖)²); too small by (d + groups)·ε of it at most."""
    lengths = np.linalg.norm(net.V, axis=1)
    if budget == "sum":
        return float(lengths.sum())
    return math.hypot(lengths[net.sign > 0].sum(), lengths[net.sign < 0].sum())


def reached_objective(X: np.ndarray, y: np.ndarray, network: Network) -> float:
    """Σ|a_k|‖w_k‖ over min y_i f(x_i) of these very weights, rounded up; inf if they do not fit."""
    shift = int(np.frexp(np.abs(X).max())[1])  # a power of two rounds nothing
    a = np.abs(network.a)
    V = network.W.astype(np.longdouble) * a[:, None]
    q, error = margins(
        np.ldexp(X, -shift), y, network.alpha, Neurons(V, np.sign(network.a).astype(int))
    )
    margin = math.ldexp(float((q - error).min()), shift)
    total = math.fsum(w * math.hypot(*row) for w, row in zip(a, network.W.tolist(), strict=True))
    return total / margin * (1 + (X.shape[1] + 16) * EPS) if margin > 0 else math.inf
