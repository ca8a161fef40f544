"""Neurons to begin with, in many dimensions: fixed directions, a linear program for their weights.

There the restricted program is the slow part, so it should begin with few neurons, in the right
cells, and few points. Finding the best directions for a given λ is fast: for some rounds neurons
keep their directions, a linear program gives weights and λ, and better directions join.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from tacit.numerics.branch_and_bound import Branching
from tacit.numerics.neurons import Neurons
from tacit.numerics.pricing import distinct
from tacit.numerics.tolerances import DIRECTIONS


@dataclass(frozen=True, eq=False)
class Start:
    """A network of size 1, and the points that are on its margin or near it."""

    net: Neurons
    points: np.ndarray


def promising(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    net: Neurons,
    rows: np.ndarray,
    signs: Sequence[int],
    rng: np.random.Generator,
    deadline: float,
) -> Start:
    """Rounds that begin with the directions of `net` and the points `rows`, until the deadline."""
    lengths = np.linalg.norm(X, axis=1)
    U, sign, idle = net.V / np.linalg.norm(net.V, axis=1)[:, None], net.sign, 0 * net.sign
    start = Start(net, rows)
    for _ in range(DIRECTIONS.rounds):
        t = U @ X.T
        H = (sign[:, None] * np.maximum(t, alpha * t) * y).T
        while True:  # points join until those that are left out are no smaller
            program = _largest_minimum(H[rows], lengths[rows], deadline - perf_counter())
            if program is None:
                return start
            weights, multipliers, value = program
            q = H @ weights
            # Points are added only when they are violated: a linear program with all of them is far
            # slower.
            violated = np.setdiff1d(np.flatnonzero(q < value - DIRECTIONS.violated), rows)
            if len(violated) == 0:
                break
            worst = violated[np.argsort(q[violated])]
            rows = np.union1d(rows, worst[: max(len(rows) // 2, 8)])
        used = weights > 0
        idle = np.where(used, 0, idle + 1)
        near = rows[(multipliers > 0) | (q[rows] < DIRECTIONS.near * abs(value))]
        start = Start(Neurons(U[used] * weights[used][:, None], sign[used]), near)
        if not used.any():  # these directions have no margin, and all of them are as good
            start = Start(Neurons(U, sign), near)
        support = multipliers > 0
        missing = 0.0
        kept = idle < DIRECTIONS.most_idle
        parts, of_sign = [U[kept]], [sign[kept]]
        for s in signs:
            c = s * multipliers[support] * y[rows[support]]
            function = Branching(X[rows[support]], c, alpha)
            anywhere = rng.standard_normal((DIRECTIONS.random_starts, X.shape[1]))
            starts = np.vstack([U[used & (sign == s)], U[sign == s][-40:], anywhere])
            u, values = distinct(*function.climb(starts))
            # What would gain less than this, the restricted program moves to by itself.
            better = np.flatnonzero(values > value * (1 + 1e-6))[: DIRECTIONS.new]
            if len(better):
                missing = max(missing, 1 - value / float(values[better[0]]))
                parts.append(u[better])
                of_sign.append(np.full(len(better), s))
        if missing < DIRECTIONS.enough or perf_counter() > deadline:
            break
        idle = np.append(idle[kept], np.zeros(sum(map(len, parts[1:])), dtype=int))
        U, sign = np.concatenate(parts), np.concatenate(of_sign)
    return start


def _largest_minimum(
    H: np.ndarray, lengths: np.ndarray, seconds: float
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """w ≥ 0 of sum 1 at most with the largest min_i (Hw)_i, multipliers of sum 1, and the minimum.

    Rows are divided by the lengths of their points, so that long ones do not set the error. None
    where there is no answer in time.
    """
    from scipy.optimize import linprog

    n, m = H.shape
    unit = float(lengths.min())
    answer = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.vstack(
            [np.column_stack([-H / lengths[:, None], unit / lengths]), np.append(np.ones(m), 0.0)]
        ),
        b_ub=np.append(np.zeros(n), 1.0),
        method="highs-ds",
        # After the deadline: HiGHS would ignore a limit below 0, with a warning.
        options={"time_limit": max(seconds, 0.1)},
    )
    if answer.x is None:
        return None
    # HiGHS gives marginals ≤ 0 for constraints ≤; the rows were divided by the lengths.
    multipliers = np.maximum(-answer.ineqlin.marginals[:n], 0) / lengths
    total = float(multipliers.sum())
    weights = np.maximum(answer.x[:m], 0)
    return (
        weights,
        multipliers / total if total > 0 else np.full(n, 1 / n),
        float(answer.x[m]) * unit,
    )
