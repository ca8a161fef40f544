"""Nodes of branch and bound with chords: ranges of p_k·u, and a bound, from round to round smaller.

u of a node for which (1) of `_relaxation` is above the threshold lie in a cap of the ball, over
which ranges are smaller, hence chords lower, hence the cap smaller.
"""

import math

import numpy as np

from tacit.numerics._least_norm import least_norm
from tacit.numerics._relaxation import EPS, FINAL_SHARE, Node, Room, Sum, evaluate, relax
from tacit.numerics.compiled import compiled

SHARE = 0.1
"""A sweep that gains less than this share of what is missing is the last: branching gains more."""
MOST_ROUNDS = 8
"""Times that a node is bounded anew since its ranges have become smaller …"""
LEAST_GAIN = 0.2
"""… as long as a round gains this share of what is missing …"""
LEAST_LOST = 0.02
"""… and a range loses this share of its length."""
CONE_SWEEPS = 3
"""Sweeps for either end of a range, given the sides: most of what is to be gained …"""
LEAST_CONE = 1e-3
"""… unless one gains less than this share."""


@compiled
def settle(node: Node, k: int) -> None:
    """A range that does not change sign is a side."""
    if node.high[k] <= 0:
        node.side[k] = -1
    elif node.low[k] >= 0:
        node.side[k] = 1


@compiled
def begin(F: Sum, node: Node) -> None:
    """What is known at first: the lengths of the rows, and a side where that is 0."""
    for k in range(F.up):
        node.low[k] = -F.norms[k]
        node.high[k] = F.norms[k]
        settle(node, k)


@compiled
def ranges_in_cap(F: Sum, node: Node, q: np.ndarray, norm: float, rest: float) -> float:
    """Shrink the ranges to those over the cap g·u ≥ rest, all that (1) leaves.

    Returns the largest share that was lost by one of them.
    """
    lost = 0.0
    r = F.rows.shape[1]
    c = min(rest / norm - (r + 8) * EPS, 1.0)
    if c <= -1:
        return lost
    # 1 − c² would lose its digits for narrow caps.
    s = math.sqrt((1 - c) * (1 + c))
    for k in range(F.up):
        n = F.norms[k]
        if node.side[k] != 0:
            continue
        t = q[k] / norm
        pad = (r + 16) * EPS * n
        # The padding is inside of the root, since a rounding error of n² − t² counts most where
        # that is 0.
        across = math.sqrt(max(n * n - t * t, 0.0) + 4 * pad * n) * s
        width = node.high[k] - node.low[k]
        if t < c * n:  # the row itself points out of the cap
            node.high[k] = min(node.high[k], t * c + across + pad)
        if -t < c * n:
            node.low[k] = max(node.low[k], t * c - across - pad)
        settle(node, k)
        lost = max(lost, 1 - (node.high[k] - node.low[k]) / width)
    return lost


@compiled
def known_rows(node: Node) -> np.ndarray:
    """The rows whose side is known."""
    known = np.empty(len(node.side), np.int64)
    many = 0
    for k in range(len(node.side)):
        if node.side[k] != 0:
            known[many] = k
            many += 1
    return known[:many]


@compiled
def cone_end(F: Sum, node: Node, known: np.ndarray, k: int, end: int, mu: np.ndarray) -> float:
    """The sides give ±p_k·u ≤ ‖±p_k + Σ µ_i side_i p_i‖ for every µ ≥ 0; a small one of these."""
    many = len(known)
    slope = np.empty(many)
    square, size = F.gram[k, k], F.norms[k]
    for i in range(many):
        mu[i] = 0.0
        slope[i] = end * node.side[known[i]] * F.gram[k, known[i]]
    for _ in range(CONE_SWEEPS):
        before = square
        for i in range(many):
            a = known[i]
            step = max(-slope[i] / F.gram[a, a], -mu[i]) if F.gram[a, a] > 0 else 0.0
            if step == 0.0:
                continue
            mu[i] += step
            size += abs(step) * F.norms[a]
            square += 2 * step * slope[i] + step * step * F.gram[a, a]
            step *= node.side[a]
            for j in range(many):
                slope[j] += step * node.side[known[j]] * F.gram[a, known[j]]
        if before - square <= LEAST_CONE * before:
            break
    error = 8 * (F.rows.shape[1] + CONE_SWEEPS * many + 8) * EPS * size * size
    return math.sqrt(max(square, 0.0) + error)


@compiled
def ranges_in_cone(F: Sum, node: Node) -> None:
    """Shrink the ranges by the sides."""
    known = known_rows(node)
    mu = np.empty(len(known))
    for k in range(F.up):
        if node.side[k] == 0:
            node.high[k] = min(node.high[k], cone_end(F, node, known, k, 1, mu))
            node.low[k] = max(node.low[k], -cone_end(F, node, known, k, -1, mu))


@compiled
def bound_node(F: Sum, node: Node, room: Room, threshold: float) -> float:
    """A bound of F over the node; its ranges, sides and multipliers improve in place."""
    bound = math.inf
    ranges_in_cone(F, node)
    for number in range(MOST_ROUNDS):
        share = FINAL_SHARE
        for k in range(F.up):
            room.way[k] = node.side[k]
            if node.side[k] == 0:
                node.x[k], share = 0.0, SHARE
        exactly = number == 1 and share == FINAL_SHARE
        if exactly:  # descent creeps where data is badly scaled
            node.x[:] = 0.0
        constant, norm, error = evaluate(F, node, room)
        goal = (threshold - constant - error) * (1 - EPS)
        if exactly:
            least_norm(F, node.x, room, goal)
        else:
            relax(F, node.x, room, norm, goal, share)
        constant, norm, error = evaluate(F, node, room)
        # From x alone: what the sweeps have added up to on the way has errors that nobody counted.
        new = (constant + norm) * (1 + 4 * EPS) + error
        gained = bound - new
        bound = min(bound, new)
        if bound <= threshold or not norm > 0:
            break
        if number == 0 and share == FINAL_SHARE:
            continue
        if gained < LEAST_GAIN * (bound - threshold):
            break
        if ranges_in_cap(F, node, room.q, norm, threshold - constant - error) < LEAST_LOST:
            break
    return bound


@compiled
def widest(node: Node) -> int:
    """The row whose chord is furthest above t₊; −1 where all sides are known."""
    row, most = -1, -1.0
    for k in range(len(node.side)):
        if node.side[k] == 0:
            far = -node.high[k] * node.low[k] / (node.high[k] - node.low[k])
            if far > most:
                row, most = k, far
    return row
