"""The rate at which a path comes near its limit, from the limit alone: angle ~ log(1/L)^(−r)."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import null_space

from tacit.flow.limits import Limit

SUPPORT = 1e-9
"""Multipliers below this share of the largest are 0."""


def predicted_rate(limit: Limit) -> float:
    """The r of angle ~ log(1/L)^(−r) along the late path.

    In loss-normalised time an error δ of the weights obeys δ' = Mδ, M = Σ λ_i ∇²q_i, on the
    directions that change no support point's margin, while the weights themselves grow as θ' = θ,
    so the angle falls like ‖θ‖^(µ−1) for the largest eigenvalue µ. With a fixed output layer M = 0
    and ‖θ‖ ~ log(1/L): r = 1. With both layers trained ‖θ‖ ~ log(1/L)^½, so r = (1 − µ)/2, and µ
    is the largest of those of the network with one neuron per group, of 0 (what the neurons of a
    group are orthogonal to it stays as it was), and of the neurons that the limit leaves out.
    """
    if limit.setting.train == "first":
        return 1.0
    assert limit.kkt is not None, f"the path has no limit: it is {limit.outcome}"
    X, y, lam = limit.data.X, limit.data.y, limit.kkt.multipliers
    alpha, d = limit.setting.alpha, limit.data.d
    directions = np.array([group.direction for group in limit.groups])
    if d > len(X):  # M is 0 outside of the span of the points
        Q, R = np.linalg.qr(X.T)
        X, directions, d = R.T, directions @ Q, len(R)
    support = np.flatnonzero(lam > SUPPORT * lam.max())
    size = len(limit.groups) * (d + 1)
    M, fixed = np.zeros((size, size)), [np.zeros((len(support), size))]
    for g, group in enumerate(limit.groups):
        w, a = math.sqrt(group.weight) * directions[g], group.sign * math.sqrt(group.weight)
        assert group.pattern is not None
        slopes = np.where(group.pattern > 0, 1.0, alpha)
        rows, last = slice(g * (d + 1), g * (d + 1) + d), g * (d + 1) + d
        for i in np.flatnonzero(group.pattern == 0):  # it stays on this hyperplane
            slopes[i] = limit.kkt.masks.get((int(group.members[0]), int(i)), alpha)
            fixed.append(np.zeros((1, size)))
            fixed[-1][0, rows] = X[i]
        moves = (y * slopes)[:, None] * X
        fixed[0][:, rows], fixed[0][:, last] = a * moves[support], moves[support] @ w
        M[rows, last] = M[last, rows] = lam @ moves
    # By singular values: more support points than weights make rows that depend on each other.
    tangent = null_space(np.vstack(fixed))
    groups = np.linalg.eigvalsh(tangent.T @ M @ tangent).max(initial=0.0)
    return (1 - max(float(groups), _left_out(limit, lam * y, alpha))) / 2


def _left_out(limit: Limit, pulls: np.ndarray, alpha: float) -> float:
    """The growth rate of the fastest neuron outside all groups; 0 where none grows."""
    state, X = limit.path.last.state, limit.data.X
    out = np.ones(len(state.a), dtype=bool)
    out[np.concatenate([group.members for group in limit.groups])] = False
    W = state.W[out]
    lengths = np.maximum(np.linalg.norm(W, axis=1), 1e-300)
    along = ((np.where(W @ X.T > 0, 1.0, alpha) * pulls) @ X * W).sum(axis=1) / lengths
    return float((np.sign(state.a[out]) * along).max(initial=0.0))
