"""The early phase in numbers: how long λ̃ stays near y/2, and how fast a neuron turns meanwhile.

λ̃_n = −y_n ℓ'(q_n) is y_n/2 at the start. With R = Σ‖w_k‖², c = ‖X‖²_F/4 and g_max the longest
g(σ, y/2), balanced weights satisfy

    ‖g(σ, λ̃) − g(σ, y/2)‖ ≤ cR,   ‖dg/dt‖ ≤ 2cR(g_max + cR),   R' ≤ 2R(g_max + cR),

as in the proof of Lemma 2. So there is a time up to which a given start is "sufficiently small",
and it is computed here instead of assumed.
"""

import math

import numpy as np

from tacit.papers.wang2022.statements.gradients import (
    CANCELLED,
    gradient_lengths,
    matching_slacks,
)
from tacit.papers.wang2022.statements.outputs import starts_of_outputs
from tacit.theorems import Case, Observation
from tacit.theorems.hypotheses import (
    LARGE,
    by_slack,
    needs_a_run,
    undecided,
    unquantified,
    yes_or_no,
)
from tacit.values import Check, Dataset, Network

DELTA = 0.1
"""δ of Theorem 1, Lemma 2 and Corollary 1; ours."""
NEAR_TIE = 1e-6
"""Gradients that are shorter than this share of Σ‖x_n‖ are nearly 0; ours."""
KAPPA = math.sqrt(1 - DELTA / 4)
"""√(1 − δ/4), where (26) and (27) print √(1 − δ/8)."""


def allowances(data: Dataset) -> tuple[float, float] | None:
    """What Lemma 2 allows: g_min δ/8 for the difference, g_min² δ/16 for the rate."""
    sizes = gradient_lengths(data)
    if sizes is None or not len(sizes[0]):
        return None
    smallest = float(np.concatenate(sizes).min())  # (24), and on hyperplanes
    return smallest * DELTA / 8, smallest**2 * DELTA / 16


def near_start_until(data: Dataset, total: float) -> float | None:
    """Time up to which both bounds of Lemma 2 hold when Σ‖w_k‖² starts at `total`; ≤ 0: none."""
    sizes, allowed = gradient_lengths(data), allowances(data)
    if sizes is None or allowed is None:
        return None
    g, c, total = float(sizes[0][-1]), float((data.X**2).sum()) / 4, max(total, 1e-300)
    by_rate = allowed[1] / (g + math.sqrt(g**2 + 2 * allowed[1]))  # 2x(g + x) = allowed, x = cR
    most = min(allowed[0], by_rate) / c
    return math.log(most * (g + c * total) / (total * (g + c * most))) / (2 * g)


def dual_variable(network: Network, data: Dataset) -> np.ndarray:
    """λ̃_n = −y_n ℓ'(q_n), ℓ(q) = log(1 + e^(−q))."""
    return data.y * np.exp(-np.logaddexp(0, network.margins(data.X, data.y)))  # (19)


def differences(network: Network, data: Dataset) -> tuple[float, float]:
    """max_k ‖g(u_k, λ̃) − g(u_k, y/2)‖ and max_k ‖dg(u_k, λ̃)/dt‖, from the weights alone."""
    X, y, a = data.X, data.y, network.a
    T = network.W @ X.T
    active = T > 0
    lam = dual_variable(network, data)
    apart = np.linalg.norm((active * (lam - y / 2)) @ X, axis=1)
    dW = a[:, None] * ((active * lam) @ X)  # (22)
    da = np.maximum(T, 0) @ lam
    dq = y * (a @ (active * (dW @ X.T)) + da @ np.maximum(T, 0))
    rate = -y * np.abs(lam) * (1 - np.abs(lam)) * dq
    return float(apart.max()), float(np.linalg.norm((active * rate) @ X, axis=1).max())


def time_to(cosine: float, start: float, size: float) -> float:
    """T_shift(c) from the cosine at the start, in a cell with ‖g(σ₀, y/2)‖ = size (27)."""
    return (math.atanh(cosine / KAPPA) - math.atanh(start / KAPPA)) / (KAPPA * size)


def alignment_time(height: float, sizes: np.ndarray) -> float:
    """T of Proposition 6: Σ over the lengths g of gradients, each left once and for good.

    `height` is uᵀg(u, y/2) at the start. It never falls, and with ‖g(u, y/2)‖ ≥ g it takes T_i to
    reach (1 − δ)g: then the neuron is aligned, or its gradient is longer than g.
    """
    return sum(
        time_to(1 - DELTA, height / g, g) for g in sizes.tolist() if 0 <= height < (1 - DELTA) * g
    )


def heights(network: Network, data: Dataset) -> np.ndarray:
    """sign(a_k) u_kᵀg(u_k, y/2); positive where (9) holds."""
    return matching_slacks(network, data) * np.linalg.norm(data.X, axis=1).sum() / 2


def no_near_ties(case: Case, place: str) -> Check:
    """No gradient g(σ, y/2) is nearly 0, and no two points are nearly on one line.

    The statement is about any data, but a run cannot tell what is that small from 0.
    """
    name = "no_near_ties"
    sizes = gradient_lengths(case.data) if case.data.binary else None
    if sizes is None:
        return yes_or_no(name, True, place, "not looked at")
    every = np.concatenate(sizes) / float(np.linalg.norm(case.data.X, axis=1).sum())
    smallest = min(float(every.min(initial=1.0)), _smallest_angle(case.data.X))
    if smallest <= NEAR_TIE:
        note = f"pulls of points cancel, or points are on one line, up to {smallest:.1e}"
        return undecided(name, place, note)
    note = "the shortest gradient, over Σ‖x_n‖, or the smallest angle of two points"
    return by_slack(name, smallest, place, note)


def _smallest_angle(X: np.ndarray) -> float:
    """The smallest sine of the angle of two lines through points, up to a millionth; else 1."""
    lengths = np.linalg.norm(X, axis=1)
    unit = X[lengths > 0] / lengths[lengths > 0, None]
    cosines = np.triu(unit @ unit.T, 1)
    i, j = np.nonzero(np.abs(cosines) > 1 - NEAR_TIE**1.5)
    apart = np.linalg.norm(unit[i] - np.sign(cosines[i, j])[:, None] * unit[j], axis=1)
    return float(apart[apart > CANCELLED].min(initial=1.0))


def total_of(network: Network) -> float:
    """R = Σ‖w_k‖², or Σa_k² where that is larger."""
    return float(np.maximum((network.W**2).sum(axis=1), network.a**2).sum())


def some_match(case: Case, run: Observation | None, place: str) -> Check:
    """For every output some neuron has sign(yᵀ(Xw)₊) = sign(a) at the start (9)."""
    name, starts = "matching_neuron", starts_of_outputs(case, run)
    if starts is None:
        return _no_start(name, case, place)
    each = [matching_slacks(start, data) for data, start in starts]
    slack = min(float(match.max()) for match in each)
    note = f"{min(int((match > 0).sum()) for match in each)} of {len(each[0])} neurons pull so"
    return by_slack(name, slack, place, note, strict=True)


@unquantified
def lasts(
    name: str, case: Case, run: Observation | None, place: str, needed: list[float] | None
) -> Check:
    """The start is so small that Lemma 2 holds until the time that is needed.

    This is stricter than `small_start`, and depends on that time, so that every theorem has its own
    name for it.
    """
    starts = starts_of_outputs(case, run)
    if starts is None:
        return _no_start(name, case, place)
    if needed is None:
        return undecided(name, place, "too many sign vectors to say how small is small enough")
    worst = math.inf
    for (data, start), time in zip(starts, needed, strict=True):
        until = near_start_until(data, total_of(start))
        worst = min(worst, -1.0 if until is None else (until - time) / max(time, 1e-300))
    longest = float(np.linalg.norm(case.data.X, axis=1).max())
    size = max(math.sqrt(total_of(start)) for _, start in starts) * longest
    many = "longer" if worst >= 0 else "shorter"
    note = (
        f"the early phase lasts {abs(worst):.2g} times as much {many} as is needed, as far as "
        "Lemma 2 proves it; smaller weights make it last longer"
    )
    holds = True if worst >= 0 else False if size >= LARGE else None
    return Check(name, holds, worst, place, note)


def _no_start(name: str, case: Case, place: str) -> Check:
    if not case.data.binary:  # a case has one network at most
        return needs_a_run(name, place)
    return undecided(name, place, "the initial weights have not been drawn")
