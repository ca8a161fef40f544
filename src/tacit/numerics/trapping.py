"""Multipliers that show why a network cannot leave its activation patterns: proposals, no proof.

With both layers trained and v_g = |a_g| w_g, any λ ≥ 0 and any κ_gi that is at least λ_i m_gi times
the side where s_g y_i > 0 (m = 1 on the positive side, α on the negative), and between αλ_i and λ_i
where s_g y_i < 0, give Σλ ≤ Σ_g v_g·G_g with G_g = Σ_i s_g y_i κ_gi x_i, as long as neurons keep
their sides at the former samples. The κ that make ‖G_g‖ smallest are a least-squares problem over a
box; λ of the network without one neuron shows how much weight that neuron keeps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

SUPPORT = 1e-13
"""Multipliers up to this share of the largest are noise."""


@dataclass(frozen=True, eq=False)
class TrapMultipliers:
    """λ, and κ of every neuron."""

    dual: np.ndarray
    slopes: np.ndarray
    """Neurons × points."""


def trap_multipliers(
    X: np.ndarray, y: np.ndarray, alpha: float, W: np.ndarray, a: np.ndarray, lam: np.ndarray
) -> list[TrapMultipliers]:
    """For λ, and for each neuron the λ of the best network without it; none where that fails."""
    sign, side = np.sign(a).astype(int), np.where(W @ X.T > 0, 1, -1).astype(np.int8)
    duals = [lam]
    for g in range(len(a)):
        kept = np.arange(len(a)) != g
        if not kept.any():
            duals.append(lam)
            continue
        dual = _least_pull(X, y, alpha, sign[kept], side[kept])
        if dual is None:
            return []
        duals.append(dual)
    return [_multipliers(X, y, alpha, sign, side, dual) for dual in duals]


def _least_pull(
    X: np.ndarray, y: np.ndarray, alpha: float, sign: np.ndarray, side: np.ndarray
) -> np.ndarray | None:
    """λ of sum 1 that makes the largest ‖G_h‖ of these neurons smallest; its κ come with it."""
    import clarabel
    from scipy import sparse

    (n, d), count = X.shape, len(sign)
    width = 1 + n + count * n  # t, λ, κ
    eye = sparse.identity(n, format="csc")
    rows, cones = [_row([0.0] + [1.0] * n, width), _block(-eye, 1, width)], [clarabel.ZeroConeT(1)]
    right = [np.ones(1), np.zeros(n)]
    many = n
    for h in range(count):
        up, at = sign[h] * y > 0, 1 + n + h * n
        ahead, behind = up & (side[h] > 0), up & (side[h] < 0)
        top, floor = sparse.diags((~up).astype(float)), sparse.diags((~up | ahead).astype(float))
        slope = sparse.diags(np.where(ahead, 1.0, alpha))
        low = sparse.diags(behind.astype(float))
        for own, given in (
            (top, -top),  # κ ≤ λ
            (-floor, floor @ slope),  # κ ≥ αλ, or λ where the neuron is ahead
            (low, -alpha * low),  # κ ≤ αλ where it is behind
        ):
            rows.append(_block(own, at, width) + _block(sparse.csc_matrix(given), 1, width))
            right.append(np.zeros(n))
            many += n
    cones.append(clarabel.NonnegativeConeT(many))
    for h in range(count):
        pull = sparse.csc_matrix(-((sign[h] * y)[:, None] * X).T)
        rows += [_row([-1.0], width), _block(pull, 1 + n + h * n, width)]
        right += [np.zeros(1 + d)]
        cones.append(clarabel.SecondOrderConeT(1 + d))
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    cost = np.zeros(width)
    cost[0] = 1.0
    A = sparse.vstack(rows, format="csc")
    P = sparse.csc_matrix((width, width))
    solver = clarabel.DefaultSolver(P, cost, A, np.concatenate(right), cones, settings)
    x = np.array(solver.solve().x)
    dual = np.maximum(x[1 : n + 1], 0.0)
    return dual if np.isfinite(x).all() and dual.any() else None


def _row(entries: list[float], width: int) -> Any:
    from scipy import sparse

    return sparse.csc_matrix(np.pad(np.array(entries, dtype=float), (0, width - len(entries))))


def _block(block: Any, at: int, width: int) -> Any:
    """The block in its columns of a matrix of this width."""
    from scipy import sparse

    before = sparse.csc_matrix((block.shape[0], at))
    after = sparse.csc_matrix((block.shape[0], width - at - block.shape[1]))
    return sparse.hstack([before, block, after], format="csc")


def _multipliers(
    X: np.ndarray, y: np.ndarray, alpha: float, sign: np.ndarray, side: np.ndarray, lam: np.ndarray
) -> TrapMultipliers:
    lam = np.where(lam > SUPPORT * lam.max(), np.maximum(lam, 0.0), 0.0)
    slopes = np.array(
        [_slopes(X, y, alpha, s, own, lam) for s, own in zip(sign, side, strict=True)]
    )
    return TrapMultipliers(lam, slopes)


def _slopes(
    X: np.ndarray, y: np.ndarray, alpha: float, sign: int, side: np.ndarray, lam: np.ndarray
) -> np.ndarray:
    """The κ of one neuron that make ‖G‖ smallest."""
    low, high = np.nextafter(alpha * lam, np.inf), lam.copy()
    low[lam == 0] = 0.0
    up = sign * y > 0
    low[up & (side > 0)] = lam[up & (side > 0)]
    high[up & (side > 0)] = np.inf
    high[up & (side < 0)] = np.nextafter(alpha * lam[up & (side < 0)], -np.inf)
    if alpha == 0:
        low[~up], high[up & (side < 0)] = 0.0, 0.0
    low[up & (side < 0)] = -np.inf
    free = np.flatnonzero((lam > 0) & (low < high))
    fixed = np.where(up & (side < 0), high, low)
    kappa = np.where(lam > 0, fixed, 0.0)
    kappa[free] = 0.0
    terms = (sign * y)[:, None] * X
    if len(free):
        box = low[free], high[free]
        solved = lsq_linear(terms[free].T, -kappa @ terms, box, method="bvls", tol=1e-15)
        kappa[free] = np.clip(solved.x, *box)
    return kappa
