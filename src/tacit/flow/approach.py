"""How the path comes near its limit: the angle in weight space, over the loss."""

from __future__ import annotations

import math

import numpy as np

from tacit.flow.candidates import Candidate
from tacit.flow.path import Path
from tacit.flow.state import State
from tacit.values import Network


def angles(path: Path, network: Network, end: Candidate) -> np.ndarray:
    """log₁₀ loss, angle to the limit and log₁₀ log₁₀(1/L) (T × 3), of moments with a loss below 1.

    With both layers trained the limit fixes what a group weighs in all, not how its neurons share
    it, so the angle is to the nearest network with the limit's groups.
    """
    rows = [
        (moment.log_L / math.log(10), angle_to(moment.state, network, end), moment.log10_depth)
        for moment in path.moments
        if moment.log_L < 0
    ]
    return np.array(rows).reshape(-1, 3)


def angle_to(state: State, network: Network, end: Candidate) -> float:
    """The angle between the weights of a moment and the nearest with the limit's groups."""
    if not state.both:
        mine, best = state.W.ravel(), network.W.ravel()
    else:
        lengths = np.linalg.norm(end.V, axis=1)
        rows = np.flatnonzero(np.append(lengths > 0, False)[end.group])
        group = end.group[rows]
        unit, sign = end.V[group] / lengths[group, None], end.sign[group]
        # The limit lets no neuron point backwards: one that does has no share of its group.
        part = np.maximum((state.W[rows] * unit).sum(axis=1) + sign * state.a[rows], 0.0)
        # w = part v/‖v‖ and a = ±part, so that Σ |a|‖w‖ = Σ part² is the ‖v‖ of the group.
        whole = np.sqrt(np.bincount(group, part**2, len(lengths)))
        part *= (np.sqrt(lengths) / np.maximum(whole, 1e-300))[group]
        end_W, end_a = np.zeros(network.W.shape), np.zeros(network.width)
        end_W[rows], end_a[rows] = part[:, None] * unit, part * sign
        mine = np.concatenate([state.W.ravel(), state.a])
        best = np.concatenate([end_W.ravel(), end_a])
    # Nearest is 0, at a right angle, where every neuron of the groups still points backwards.
    mine, best = mine / np.linalg.norm(mine), best / max(float(np.linalg.norm(best)), 1e-300)
    # An arccos near 1 would lose half of the digits.
    return float(2 * np.arctan2(np.linalg.norm(mine - best), np.linalg.norm(mine + best)))


def fitted_rate(approach: np.ndarray) -> float | None:
    """The r of angle ~ log(1/L)^(−r), by least squares over the last factor of 30 in log(1/L).

    The fit is over six moments at least: deep down they are further apart.
    """
    angle, depth = approach[:, 1:].T
    since = min(depth[-1] - math.log10(30), *depth[-6:]) if len(depth) else 0.0
    late = (depth > 0) & (depth >= since) & (angle > 0)
    if late.sum() < 3:
        return None
    slope, _ = np.polyfit(math.log(10) * depth[late], np.log(angle[late]), 1)
    return float(-slope)
