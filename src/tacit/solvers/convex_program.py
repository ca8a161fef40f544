"""The widest margin any two-layer (Leaky) ReLU network can have, with a proof.

    objective = min Σ_k |a_k|‖w_k‖   such that   y_i Σ_k a_k φ(w_k·x_i) ≥ 1 for all i,

a convex program over the cells of an arrangement (wang2022 (14)) that is never written out.
Three small things grow instead: a set of points (the others are checked, and join when they are
violated), a set of neurons (`restricted`), and the arrangement of the few points that have a
multiplier λ_i > 0, in which `pricing` finds neurons still missing or proves that there are none.

Any network that separates bounds the objective from above, any λ ≥ 0 from below; both bounds are
computed here, rounding errors included, whoever proposed the network and λ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.solvers.farkas import EPS
from tacit.solvers.infeasible import Proof, no_network_fits
from tacit.solvers.network import Neurons, size
from tacit.solvers.restricted import Budget
from tacit.solvers.search import Search

Status = Literal["certified", "bounded", "heuristic", "infeasible"]

TOLERANCE = 1e-8
"""A relative gap up to this is called `certified`; the rounds aim at a tenth of it."""
MOST_ROUNDS = 200
MOST_STALLED = 4
"""Rounds without progress after which what has been proved is returned."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """The objective lies in [lower, upper]; `net` reaches `upper` (its smallest margin is 1)."""

    status: Status
    lower: float
    upper: float
    """inf when no network was found."""
    net: Neurons
    dual: np.ndarray
    """λ ≥ 0 that proves `lower` = Σλ; for `infeasible`, λ with Σ λ_i y_i φ(u·x_i) = 0 for all u."""
    cells: int | None
    """Cells of the arrangement that was enumerated for the proof; None: none was needed."""
    proof: Proof | None = None
    """For `infeasible`: the same λ as exact fractions, by row."""

    @property
    def gap(self) -> float:
        """(upper − lower)/upper."""
        return 1.0 if math.isinf(self.upper) else (self.upper - self.lower) / self.upper


def optimum(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float = 0.0,
    signs: Sequence[int] = (1, -1),
    budget: Budget = "sum",
    progress: Callable[[float, float], None] | None = None,
) -> Optimum:
    """The best network for the rows of X with labels y = ±1.

    `signs` are the output weights' signs that are allowed. With the budget `pair` the objective is
    √((Σ₊‖v_g‖)² + (Σ₋‖v_g‖)²), which bounds networks whose output layer is fixed. `progress` hears
    the lower and upper bound after every round.
    """
    proof = no_network_fits(X, y, alpha, signs)
    if proof is not None:
        return _none(X, proof)
    scale = math.ldexp(1.0, math.frexp(float(np.abs(X).max(initial=1e-300)))[1])
    search = Search(X / scale, y.astype(float), alpha, tuple(signs), budget)
    stalled, precision = 0, 1e-5
    for _ in range(MOST_ROUNDS):
        before = search.gap
        missing = search.round(precision)
        if progress is not None:
            progress(1 / (search.bound * scale), 1 / (search.margin * scale or math.inf))
        precision = min(max(1e-3 * missing, 1e-10), 1e-5)
        stalled = 0 if missing > 0 or search.gap < 0.9 * before else stalled + 1
        if search.gap <= TOLERANCE / 10 or stalled == (MOST_STALLED if search.cells else 1):
            break
    return _answer(search, scale)


def _none(X: np.ndarray, proof: Proof) -> Optimum:
    dual = np.zeros(len(X))
    dual[list(proof)] = [float(value / sum(proof.values())) for value in proof.values()]
    net = Neurons(np.zeros((0, X.shape[1])), np.zeros(0, dtype=int))
    return Optimum("infeasible", math.inf, math.inf, net, dual, None, proof)


def _answer(search: Search, scale: float) -> Optimum:
    """In the data's own unit, scaled so that the smallest margin is 1 and λ is dual feasible."""
    n, d = search.X.shape
    lower = (1 - 8 * EPS) / (search.bound * scale)
    upper, net = math.inf, Neurons(np.zeros((0, d)), np.zeros(0, dtype=int))
    if search.margin > 0:
        upper = (1 + 8 * EPS) / (search.margin * scale)
        scaled = search.net.V * (upper / size(search.net, search.budget))
        net = Neurons(scaled, search.net.sign)
    done = math.isfinite(upper) and upper - lower <= TOLERANCE * upper
    status: Status = "certified" if done else "bounded"
    return Optimum(status, lower, upper, net, search.dual * lower, search.cells)


def bracket(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    net: Neurons,
    lam: np.ndarray,
    budget: Budget = "sum",
) -> Optimum:
    """What a given network and given multipliers prove about the optimum, without a search."""
    scale = math.ldexp(1.0, math.frexp(float(np.abs(X).max(initial=1e-300)))[1])
    search = Search(X / scale, y.astype(float), alpha, (1, -1), budget)
    search.look_at(net)
    search.prove(lam, net, max(search.margin, 1e-12))
    return _answer(search, scale)
