"""The tree of branch and bound as data, for a proof: once more, depth first, and written down."""

import math
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from tacit.numerics.branch_and_bound import Branching
from tacit.numerics.tolerances import BRANCHING, TREE_PROOF

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
    until: float = math.inf,
) -> list[Node] | None:
    """Nodes that prove Σ c_i φ(u·x_i) ≤ peak over the unit ball; None where that does not work.

    `rows` are the numbers that the rows of X have in the file. With `caps` it is proved for all u
    outside of them. Nodes are bounded by chords, or by quadratic functions where many would be
    needed. `until` is when `perf_counter` says that the time is over.
    """
    caps = caps or Caps(np.zeros((0, X.shape[1])), 1.0, np.zeros(0, dtype=int))
    branching = Branching(X, c, alpha, caps.middle, caps.cosine)
    names = [*rows[branching.order].tolist(), *caps.names.tolist()]
    F = branching.F
    most = most_numbers or TREE_PROOF.most_numbers
    few = min(TREE_PROOF.few_numbers, most)
    attempts = [(False, few), (True, most), (False, most)]
    if len(caps.names) or most == few:  # quadratic functions do not know of caps
        attempts = [(False, most)]
    for quadratics, numbers in attempts:
        written, failed = _written(branching, peak, quadratics, numbers, until)
        if written is not None:
            return _nodes(written.tolist(), names, F.up, len(F.rows))
        if failed:
            break
    return None


def _written(
    branching: Branching, peak: float, quadratics: bool, most: int, until: float
) -> tuple[np.ndarray | None, bool]:
    """The tree in so many numbers at most, if there is one, and whether to look no further."""
    from tacit.numerics._recording import begin_record, record

    F, at_a_time = branching.F, branching.nodes_at_a_time(quadratics)
    goal = peak * (1 - TREE_PROOF.spare)  # floats and the check need not agree in the last digits
    out = np.zeros(max(min(TREE_PROOF.few_numbers, most), 1))
    out[0] = 1
    tree = branching.slots(F.up + 3, quadratics)
    begin_record(F, tree, peak)
    # Counted in pieces of work, not by the clock: as long as there is time, the same problem always
    # has the same proof.
    turns = math.ceil(TREE_PROOF.most_seconds / BRANCHING.seconds_at_a_time)
    while outcome := record(F, tree, peak, goal, out, at_a_time):
        turns -= quadratics
        if outcome == 2 or perf_counter() > until:
            return None, True
        if turns == 0 or (outcome == 1 and 2 * len(out) > most):
            return None, False
        if outcome == 1:
            out = np.concatenate([out, np.zeros(len(out))])
    return out[1 : int(out[0])], False


def _nodes(numbers: list[float], names: list[int], up: int, many: int) -> list[Node]:
    """Nodes from the numbers that `_recording` wrote; so many rows, of which the first count up."""
    nodes: list[Node] = []
    at = 0
    order = np.argsort(names[:many])
    down = np.argsort(names[up:many])

    def take() -> float:
        nonlocal at
        at += 1
        return numbers[at - 1]

    def values() -> list[Any]:
        pairs = [(names[int(take())], take()) for _ in range(int(take()))]
        return [entry for pair in pairs for entry in pair]

    def quadratic() -> dict[str, Any]:
        nonlocal at
        mu, at = numbers[at], at + 1 + 2 * many - up
        x, bends = numbers[at - 2 * many + up : at - many + up], numbers[at - many + up : at]
        return {
            "mu": _short(mu),
            "values": [_short(x[k]) for k in order],
            "bends": [_short(bends[k]) for k in down],
        }

    while at < len(numbers):
        ranges = [[names[int(take())], int(take()), *values()] for _ in range(int(take()))]
        rounds = int(take())
        written = [values() for _ in range(rounds)] if rounds >= 0 else [quadratic()]
        row = int(take())
        nodes.append([names[row] if row >= 0 else None, ranges, written])
    return nodes


def _short(value: float) -> float:
    return float(f"{value:.8g}")
