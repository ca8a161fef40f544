"""The tree of branch and bound as data, for a proof: once more, depth first, and written down."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacit.numerics.branch_and_bound import Branching
from tacit.numerics.tolerances import TREE_PROOF

Node = list[Any]
"""[split, ranges, rounds] as `tacit.proofs` reads it, rows by their number in X."""


class Caps(NamedTuple):
    """The parts u·v > cosine of the ball, around unit vectors v, that a tree says nothing about."""

    middle: np.ndarray
    """The unit vectors, as rows."""
    cosine: float
    names: np.ndarray
    """The numbers that the caps have in the file, where rows have theirs."""


def tree_proof(
    X: np.ndarray,
    c: np.ndarray,
    alpha: float,
    peak: float,
    rows: np.ndarray,
    caps: Caps | None = None,
    most_numbers: int | None = None,
) -> list[Node] | None:
    """Nodes that prove Σ c_i φ(u·x_i) ≤ peak over the unit ball; None where that does not work.

    `rows` are the numbers that the rows of X have in the file. With `caps` it is proved for all u
    outside of them.
    """
    from tacit.numerics._branching import record

    caps = caps or Caps(np.zeros((0, X.shape[1])), 1.0, np.zeros(0, dtype=int))
    branching = Branching(X, c, alpha, caps.middle, caps.cosine)
    names = [*rows[branching.order].tolist(), *caps.names.tolist()]
    F = branching.F
    goal = peak * (1 - TREE_PROOF.spare)  # floats and the check need not agree in the last digits
    size, most = TREE_PROOF.first_numbers, most_numbers or TREE_PROOF.most_numbers
    while size <= most:
        out = np.zeros(size)
        out[0] = 1
        tree = branching.slots(F.up + 2)
        tree.lows[0], tree.highs[0] = -F.norms[: F.up], F.norms[: F.up]
        tree.sides[0] = F.norms[: F.up] == 0
        outcome = record(F, tree, peak, goal, out)
        if outcome == 0:
            return _nodes(out[1 : int(out[0])].tolist(), names)
        if outcome == 2:
            return None
        size *= 4
    return None


def _nodes(numbers: list[float], names: list[int]) -> list[Node]:
    nodes: list[Node] = []
    at = 0

    def take() -> float:
        nonlocal at
        at += 1
        return numbers[at - 1]

    def values() -> list[Any]:
        pairs = [(names[int(take())], take()) for _ in range(int(take()))]
        return [entry for pair in pairs for entry in pair]

    while at < len(numbers):
        ranges = [[names[int(take())], int(take()), *values()] for _ in range(int(take()))]
        rounds = [values() for _ in range(int(take()))]
        row = int(take())
        nodes.append([names[row] if row >= 0 else None, ranges, rounds])
    return nodes
