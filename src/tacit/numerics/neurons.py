"""Networks Σ_g s_g φ(v_g·x) as arrays: their margins, with rounding errors, and their size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Literal

import numpy as np

from tacit.numerics.float64 import EPS
from tacit.numerics.restricted import Budget
from tacit.values import Network

MOST_PRODUCTS = 3_000_000
"""Products of long doubles to spend on one evaluation …"""
MOST_EXACT = 20_000
"""… and of fractions, where those have too few digits: a tenth of a second."""


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
            # Each layer for itself, since W may be of size 1e200 and a of size 1e-200.
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
    q, error = _margins(X, y, alpha, net.V.astype(float), net.sign)  # rounded once at most
    # Long doubles are slow: only for points that may have the smallest margin, if it is not known
    # to 1e-11 of itself yet (a certificate needs 1e-8, and errors of both sides add up).
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


def reached_objective(
    X: np.ndarray, y: np.ndarray, network: Network, train: Literal["both", "first"] = "both"
) -> float:
    """Σ|a_k|‖w_k‖, or ‖W‖, over min y_i f(x_i) of these very weights; inf if they do not fit.

    It is rounded up.
    """
    if not network.width:
        return math.inf
    X, shift = near_one(X)
    W, _ = near_one(network.W)
    a, second = near_one(network.a)
    # In long doubles, since a rounded product would be another network's.
    V = W.astype(np.longdouble) * np.abs(a)[:, None]
    q, error = margins(X, y, network.alpha, Neurons(V, np.sign(a).astype(int)))
    margin = float((q - error).min())
    if margin < (1 - 1e-10) * float((q + error).min()) and W.size * len(X) <= MOST_EXACT:
        least = min(_exact_margins(X, y, W, a, network.alpha))
        margin = float(least) * (1 - EPS) if least > 1e-300 else 0.0
    lengths = [math.hypot(*row) for row in W.tolist()]
    if train == "first":  # the margin is that of these output weights
        total, shift = math.hypot(*lengths), shift + second
    else:
        # fsum rounds once: the width of the network does not enter the error bound.
        total = math.fsum(abs(w) * length for w, length in zip(a, lengths, strict=True))
    if not margin > 0:
        return math.inf
    try:
        return math.ldexp(total / margin * (1 + (X.shape[1] + 16) * EPS), -shift)
    except OverflowError:
        return math.inf


def _exact_margins(
    X: np.ndarray, y: np.ndarray, W: np.ndarray, a: np.ndarray, alpha: float
) -> list[Fraction]:
    """y_i f(x_i) without rounding."""
    neurons = [([Fraction(v) for v in w], Fraction(c)) for w, c in zip(W.tolist(), a, strict=True)]
    slope, values = Fraction(alpha), []
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = [Fraction(v) for v in row]
        products = [(sum(map(mul, w, x), Fraction(0)), c) for w, c in neurons]
        values.append(int(label) * sum((c * max(t, slope * t) for t, c in products), Fraction(0)))
    return values


def near_one(array: np.ndarray) -> tuple[np.ndarray, int]:
    """The array times 2⁻ᵏ with largest entry near 1, and k; nothing is rounded, ties stay ties."""
    shift = int(np.frexp(np.abs(array).max())[1])
    return np.ldexp(array, -shift), shift
