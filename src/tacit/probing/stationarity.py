"""Which examples hold the weights up: λ ≥ 0 with θ̂ near to Σ λ_i ∂q_i(θ̂), in bounded memory.

The gradients of n_s examples by P parameters are held where they fit; else only their Gram matrix
is, n_s × n_s, which blocks of rows make two at a time. λ is found from either, and from the Gram
matrix too where that is much the smaller one; the residual is then computed from λ by one more pass
over the examples, so it is true of λ whichever way that came.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from tacit.certificates.kkt_homogeneous import multipliers_of
from tacit.messages import count
from tacit.numerics.float64 import EPS
from tacit.probing.differentiable import Differentiable
from tacit.probing.examples import Examples, Margins
from tacit.values import BadInput

MOST_POINTS = 2000
"""Pairs of an example and a class that may get a multiplier."""
AT_ONCE = 32
"""Gradients that are computed in one go."""
PIECE = 2.0**24
"""Bytes that they may take: what is much larger is new memory each time, whose pages cost more than
the gradients in it."""
COPIES = 3
"""Arrays of its size that a library holds while it computes gradients, and NNLS beside its own."""
BESIDES = 3
"""What gradients, their inner products and λ take, in times of the gradients: 2.7 in an MLP."""
WIDE = 4
"""With so many parameters per gradient λ comes from the Gram matrix: one product of matrices, where
NNLS would factorise the gradients anew in each of its rounds."""
NEAR = 1e-6
"""A Gram matrix squares the condition number, so a residual below this is computed without it."""


@dataclass(frozen=True, eq=False)
class Support:
    """Examples that carry a multiplier, the largest first, and the residual that they leave."""

    points: np.ndarray
    rivals: np.ndarray
    """The class k of the margin f_y − f_k; −1 for a network with one output."""
    multipliers: np.ndarray
    """λ > 0 for θ̂ of norm 1 (for θ itself where the network is not homogeneous)."""
    stationarity: float
    """‖θ̂ − Σ λ_i ∂q_i(θ̂)‖."""
    complementarity: float
    """L Σ λ_i (q̂_i − q̂_min); 0 where the network is not homogeneous."""
    candidates: int
    """How many pairs were allowed a multiplier."""
    tau: float
    """They had q ≤ (1 + tau) q_min, and one of them has equality."""
    memory: float
    """Bytes, as estimated before."""


@dataclass(frozen=True)
class BlockPlan:
    """How the gradients are held: all of them, or blocks of so many rows at a time."""

    block: int
    at_once: int
    memory: float


def planned(candidates: int, parameters: int, memory: float) -> BlockPlan:
    """The fewest blocks that fit; BadInput with the estimate where not even one row does."""
    row = 8.0 * parameters
    at_once = int(max(1, min(AT_ONCE, candidates, PIECE // row, memory / 4 // (COPIES * row))))
    needed = COPIES * (at_once + candidates) * row
    if needed <= memory:
        return BlockPlan(candidates, at_once, needed)
    fixed = COPIES * (8.0 * candidates**2 + at_once * row)
    block = int(min((memory - fixed) // (2 * row), candidates))
    if block < 1:
        least = fixed + 2 * row
        raise BadInput(
            f"the gradients of {parameters:,} parameters at {count(candidates, 'point')} need "
            f"{least / 1e9:.1f} GB at least, and `memory={memory:g}` allows {memory / 1e9:.1f} GB; "
            "allow more, or fewer points by a smaller `tau`"
        )
    return BlockPlan(block, at_once, fixed + 2 * block * row)


def support_of(
    model: Differentiable,
    examples: Examples,
    margins: Margins,
    degree: float | None,
    tau: float,
    memory: float,
    most_points: int = MOST_POINTS,
    patience: float = math.inf,
) -> Support | None:
    """The multipliers of the examples near to the smallest margin, which must be positive.

    Without a degree, the network is not homogeneous, and no margin but the smallest matters less.
    None where it would take longer than `patience` seconds, judged by the first gradients.
    """
    points, rivals, q, tau = _candidates(margins.q, tau, most_points)
    plan = planned(len(points), model.size, memory)
    theta = model.theta
    norm = float(np.linalg.norm(theta))
    work = _Work(model, examples, points, margins.weights(points, rivals), plan.at_once)
    first = work.gradients(np.array([0]))[0]
    if patience < math.inf and patience < work.seconds(plan.block):
        return None
    # With g/s for ∂q(θ̂), λ/s' comes out instead of λ; so no power of ‖θ‖ can overflow.
    scale = max(float(np.linalg.norm(first)), 1e-300)
    cost = np.zeros(len(q)) if degree is None else degree * (q - q[0]) / norm / scale
    lam = _multipliers(work, plan.block, scale, theta / norm, cost)
    residual = theta / norm - work.combination(lam / scale)
    used = np.argsort(-lam)[: int((lam > 0).sum())]
    unit = 1.0 if degree is None else norm ** (degree - 1)
    return Support(
        points[used],
        rivals[used] if margins.outputs.shape[1] > 1 else np.full(len(used), -1),
        lam[used] / scale * unit,
        float(np.linalg.norm(residual)),
        float(lam @ cost),
        len(points),
        tau,
        plan.memory,
    )


def _candidates(
    q: np.ndarray, tau: float, most_points: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Examples, classes and margins of the pairs with q ≤ (1 + tau) q_min, the smallest first."""
    smallest = q.min()
    points, rivals = np.nonzero((q <= (1 + tau) * smallest) & (q < np.inf))
    order = np.argsort(q[points, rivals], kind="stable")[:most_points]
    points, rivals = points[order], rivals[order]
    chosen = q[points, rivals]
    return points, rivals, chosen, float(chosen[-1] / smallest - 1)


@dataclass(frozen=True, eq=False)
class _Work:
    model: Differentiable
    examples: Examples
    points: np.ndarray
    C: np.ndarray
    at_once: int

    def _pieces(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        return (rows[i : i + self.at_once] for i in range(0, len(rows), self.at_once))

    def gradients(self, rows: np.ndarray) -> np.ndarray:
        """∂q of these pairs, in rows."""
        J = np.empty((len(rows), self.model.size))
        self._fill(J, rows)
        return J

    def _fill(self, J: np.ndarray, rows: np.ndarray) -> None:
        at = 0
        for some in self._pieces(rows):
            piece = self.model.gradients(self.examples.X[self.points[some]], self.C[some])
            good = np.isfinite(piece).all(axis=1)
            if not good.all():
                raise BadInput(
                    f"the gradient at example {self.points[some[np.argmin(good)]]} (counted from "
                    "0) is not finite"
                )
            J[at : at + len(some)] = piece
            at += len(some)

    def seconds(self, block: int) -> float:
        """How long all gradients and then λ may take, by a first piece of them, computed twice.

        The first time is in memory as new as it will be: on some machines that is most of it.
        """
        n = len(self.points)
        J, times = np.empty((block, self.model.size)), []
        piece = np.arange(min(n, self.at_once, block))
        for _ in range(2):
            begun = perf_counter()
            self._fill(J[: len(piece)], piece)
            times.append(perf_counter() - begun)
        rounds = (-(-n // block) + 1) / 2  # how often each is computed in blocks
        return (times[0] + (BESIDES * rounds - 1) * times[1]) * n / len(piece)

    def gram(self, block: int, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """J Jᵀ and Jθ, from two blocks of rows at a time."""
        n = len(self.points)
        G, b = np.empty((n, n)), np.empty(n)
        rows = [np.arange(i, min(i + block, n)) for i in range(0, n, block)]
        for i, these in enumerate(rows):
            J = self.gradients(these)
            b[these] = J @ theta
            G[np.ix_(these, these)] = J @ J.T
            for those in rows[i + 1 :]:
                G[np.ix_(these, those)] = J @ self.gradients(those).T
                G[np.ix_(those, these)] = G[np.ix_(these, those)].T
        return G, b

    def combination(self, lam: np.ndarray) -> np.ndarray:
        """Σ λ_i ∂q_i, by gradients of sums."""
        total = np.zeros(self.model.size)
        for some in self._pieces(np.flatnonzero(lam)):
            X = self.examples.X[self.points[some]]
            total += self.model.combination(X, lam[some, None] * self.C[some])
        return total


def _multipliers(
    work: _Work, block: int, scale: float, target: np.ndarray, cost: np.ndarray
) -> np.ndarray:
    """λ for gradients divided by `scale`."""
    if block < len(work.points):
        G, b = work.gram(block, target)
        return multipliers_of(*_factor(G / scale / scale, b / scale), cost)
    J = work.gradients(np.arange(len(work.points)))
    J /= scale
    if J.shape[1] > WIDE * len(J):
        lam = multipliers_of(*_factor(J @ J.T, J @ target), cost)
        if np.linalg.norm(target - lam @ J) > NEAR:
            return lam
    return multipliers_of(J, target, cost)


def _factor(G: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows with these inner products among each other and, of length 1, with the target."""
    values, vectors = np.linalg.eigh(G)
    kept = values > len(G) * EPS * values[-1]
    roots = np.sqrt(values[kept])
    target = (vectors[:, kept].T @ b) / roots
    beside = np.sqrt(max(1 - float(target @ target), 0.0))  # what no gradient reaches
    J = np.column_stack([vectors[:, kept] * roots, np.zeros(len(G))])
    return J, np.append(target, beside)
