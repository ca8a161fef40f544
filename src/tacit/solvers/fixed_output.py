"""The widest margin with the output layer fixed at ±v, k units of each sign.

    objective = min ‖W‖   such that   y_i v (Σ₊ φ(w_k·x_i) − Σ₋ φ(w_k·x_i)) ≥ 1 for all i.

Units of one pattern and sign are best all equal, so a group of n_g units with v_g = v·Σ w_k costs
‖v_g‖²/(v² n_g), and the problem is combinatorial in the n_g. Letting them be real numbers gives
√((Σ₊‖v_g‖)² + (Σ₋‖v_g‖)²) / (v√k), a convex program and a lower bound; rounding them and solving
again gives a network.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tacit.solvers.convex_program import TOLERANCE, Optimum, optimum
from tacit.solvers.farkas import EPS
from tacit.solvers.network import Neurons, margins
from tacit.solvers.restricted import Groups, restricted_program


@dataclass(frozen=True, eq=False)
class FixedOptimum:
    """The objective ‖W‖ lies in [lower, upper]; `W`, `a` reach `upper` with smallest margin 1."""

    relaxed: Optimum
    """The convex program with real group sizes."""
    lower: float
    upper: float
    W: np.ndarray
    """One row per unit that is not zero."""
    a: np.ndarray

    @property
    def status(self) -> str:
        if self.relaxed.status == "infeasible":
            return "infeasible"
        return "certified" if self.gap <= TOLERANCE else "bounded"

    @property
    def gap(self) -> float:
        return 1.0 if math.isinf(self.upper) else (self.upper - self.lower) / self.upper


def fixed_optimum(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    units: int,
    v: float,
    progress: Callable[[float, float], None] | None = None,
) -> FixedOptimum:
    """The best network with `units` units of output weight +v and as many of −v."""
    relaxed = optimum(X, y, alpha, budget="pair", progress=progress)
    lower = relaxed.lower / (v * math.sqrt(units))
    best = FixedOptimum(relaxed, lower, math.inf, np.zeros((0, X.shape[1])), np.zeros(0))
    if not math.isfinite(relaxed.upper):
        return best
    net = _heaviest(relaxed.net, units)
    sizes = _sizes(net, units)
    for proposal in (net, _resolved(X, y, alpha, net, sizes)):
        if proposal is None:
            continue
        W = np.repeat(proposal.V / (v * sizes)[:, None], sizes, axis=0)
        a = np.repeat(v * proposal.sign, sizes)
        margin = _margin(X, y, alpha, W, a)
        if margin > 0 and 1 / margin < best.upper:
            scale = 1 / (margin * float(np.linalg.norm(W)))
            best = replace(best, upper=1 / margin, W=W * scale, a=a)
    return best


def _heaviest(net: Neurons, units: int) -> Neurons:
    """No more groups than units of either sign: the lightest are left out."""
    lengths = np.linalg.norm(net.V, axis=1)
    kept = [rows[np.argsort(-lengths[rows])][:units] for rows in map(np.flatnonzero, _by_sign(net))]
    rows = np.sort(np.concatenate(kept))
    return Neurons(net.V[rows], net.sign[rows])


def _sizes(net: Neurons, units: int) -> np.ndarray:
    """Whole numbers ≥ 1 near k‖v_g‖/Σ‖v_g‖ that add up to the units of each sign."""
    lengths = np.linalg.norm(net.V, axis=1)
    sizes = np.zeros(len(lengths), dtype=int)
    for rows in _by_sign(net):
        if not rows.any():
            continue
        wanted = units * lengths[rows] / lengths[rows].sum()
        whole = np.maximum(np.floor(wanted).astype(int), 1)
        while whole.sum() > units:  # those raised to 1 take from the one that has most to spare
            whole[np.argmax(np.where(whole > 1, whole - wanted, -np.inf))] -= 1
        while whole.sum() < units:
            whole[np.argmax(wanted - whole)] += 1
        sizes[rows] = whole
    return sizes


def _by_sign(net: Neurons) -> tuple[np.ndarray, np.ndarray]:
    return net.sign > 0, net.sign < 0


def _resolved(
    X: np.ndarray, y: np.ndarray, alpha: float, net: Neurons, sizes: np.ndarray
) -> Neurons | None:
    """The best weights of these patterns for groups of these sizes."""
    scale = float(np.abs(X).max())
    pattern = np.where(net.V @ X.T > 0, 1, -1).astype(np.int8)
    groups = Groups(net.sign, pattern, net.sign[:, None] * y < 0)
    found = restricted_program(X / scale, y, alpha, groups, sizes.astype(float))
    return None if found is None else Neurons(found.V, net.sign)


def _margin(X: np.ndarray, y: np.ndarray, alpha: float, W: np.ndarray, a: np.ndarray) -> float:
    """min y_i f(x_i) / ‖W‖, less rounding errors."""
    net = Neurons(W * np.abs(a)[:, None], np.sign(a).astype(int))
    q, error = margins(X, y, alpha, net)
    return float((q - error).min() / np.linalg.norm(W)) * (1 - (W.size + 8) * EPS)
