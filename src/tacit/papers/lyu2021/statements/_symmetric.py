"""What the theorems about symmetric data share (§4 and §5)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tacit.data import load
from tacit.models.initialisations import Gaussian, Pair
from tacit.numerics.embedding import Embedding, embedding
from tacit.numerics.embedding import largest as norm_M
from tacit.theorems import Case, Observation
from tacit.theorems.hypotheses import (
    LARGE,
    SMALL,
    both_layers,
    by_slack,
    flow,
    leaky,
    logistic,
    needs_a_run,
    small_start,
    two_classes,
    two_layer,
    undecided,
    yes_or_no,
)
from tacit.values import Check, Network, Setting


def started(case: Case, run: Observation | None) -> Case:
    """The case with its initial weights, where the run knows them."""
    if case.start is None and run is not None and run.path:
        return replace(case, start=run.start)
    return case


def network_checks(case: Case) -> tuple[Check, ...]:
    """A two-layer Leaky ReLU net on two classes, both layers trained."""
    place = "§3.2"
    return (
        two_classes(case, place),
        two_layer(case, place),
        leaky(case, place),
        both_layers(case, place),
    )


def symmetric_checks(case: Case) -> tuple[Check, ...]:
    return (
        *network_checks(case),
        case.data_check("linearly_separable", "Assumption 3.2"),
        case.data_check("symmetric", "Assumption 4.1"),
    )


def flow_checks(case: Case) -> tuple[Check, ...]:
    """Gradient flow with the logistic loss."""
    return logistic(case, "(1)"), flow(case, "(1)")


def at_least(width: int, case: Case, place: str) -> Check:
    note = f"m is {case.setting.width}; it must be {width} or more"
    return by_slack(f"width_{width}_or_more", case.setting.width - width, place, note)


def non_branching(run: Observation | None, place: str) -> Check:
    """The flow never had a choice (Appendix I.2)."""
    if run is None:
        return needs_a_run("non_branching", place)
    runs = run.members or (run,)
    several = sum(one.outcome == "branched" for one in runs)
    return by_slack("non_branching", -several, place, f"{several} of {len(runs)} runs branch")


def good_embedding(case: Case, place: str) -> Check:
    """b̄ has entries of both signs and none that is zero."""
    if case.start is None:
        odds = at_least_one_of_each(case.setting.width)
        note = f"the initial weights have not been drawn; Gaussian ones do with probability {odds}"
        return undecided("good_embedding", place, note)
    if not has_drift(case):
        return undecided("good_embedding", place, "µ is 0")
    known = embedding_of(case, case.start)
    b = known.b
    slack = float(min(b.max(), -b.min()) / np.abs(b).max()) if b.any() else 0.0
    note = f"{(b > 0).sum()} entries of b̄ are positive, {(b < 0).sum()} negative"
    return Check("good_embedding", known.good, slack, place, note)


def small_enough(case: Case, place: str) -> Check:
    """How small the start must be depends on b̄: neurons grow to r b̄_k, what is off the line stays.

    Both signs must outgrow what is left of their start when the weights are of size one.
    """
    plain = small_start(case, place)
    if case.start is None or plain.slack is None or not has_drift(case):
        return replace(plain, name="small_initialisation")
    b = embedding_of(case, case.start).b
    longest = float(np.linalg.norm(case.data.X, axis=1).max())
    shares = [SMALL - plain.slack]
    for one in (b > 0, b < 0):
        if one.any():
            left = size_of(Network(case.start.W[one], case.start.a[one])) * longest
            shares.append(left / float(np.linalg.norm(b[one])))
    worst = max(shares)
    holds = True if worst <= SMALL else False if worst >= LARGE else None
    note = (
        f"what is left of the start is up to {worst:.1e} of the neurons of one sign when they leave"
        f' zero; "sufficiently small" is read as at most {SMALL:g}'
    )
    return Check("start_fades", holds, SMALL - worst, place, note)


def has_drift(case: Case) -> bool:
    """µ ≠ 0, and there is a positive point."""
    return bool((case.data.y > 0).any() and (case.data.y @ case.data.X).any())


def gaussian_start(case: Case, place: str) -> Check:
    """w_k ~ N(0, σ²I), a_k ~ N(0, c²σ²)."""
    init = case.setting.initialisation
    note = f"the initialisation is {init}"
    return yes_or_no("gaussian_start", isinstance(init, Gaussian | Pair), place, note)


def at_least_one_of_each(m: int) -> float:
    """1 − 2^(−(m−1)), the probability that m fair signs are not all the same (Lemma E.7)."""
    return 1 - 2.0 ** (1 - m)


def separator(case: Case) -> np.ndarray:
    """w*, the max-margin linear separator."""
    return case.view.separator.direction


def linear_limit(case: Case) -> dict[str, object]:
    """(1+α)/4 w*·x and its margin."""
    slope = (1 + case.alpha) / 4
    return {
        "separator": separator(case),
        "slope": slope,
        "margin": slope * case.view.separator.lower,
    }


def embed(b: np.ndarray, pair: Network) -> Network:
    """π_b: a net of two neurons, of output weights > 0 and < 0, as one of m (§5.2)."""
    second = (b < 0).astype(int)
    sizes = np.array([np.linalg.norm(b[b > 0]), np.linalg.norm(b[b < 0])])
    share = np.abs(b) / sizes[second]
    return Network(share[:, None] * pair.W[second], share * pair.a[second], pair.alpha)


def spread(case: Case, pair: Network) -> Network:
    """The net of two neurons embedded like the initial weights."""
    if case.start is None:
        return embed(np.resize([1.0, -1.0], max(case.setting.width, 2)), pair)
    return embed(embedding_of(case, case.start).b, pair)


def symmetrised(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The data, symmetric to the last bit, which the integrator of Lemma 5.2 asks for."""
    positive = case.data.X[case.data.y > 0]
    return np.vstack([positive, -positive]), np.repeat([1, -1], len(positive))


def embedding_of(case: Case, network: Network) -> Embedding:
    """λ₀, µ̄ and b̄ of Lemma 5.2 for these initial weights; µ must not be 0."""
    return embedding(case.data.X, case.data.y, case.alpha, network.W, network.a)


def symmetric_case(
    call: str = "n=8,d=2", alpha: float = 0.5, width: int = 4, size: float = 1e-6, seed: int = 1
) -> Case:
    """Symmetric data with points in the unit ball, and a Gaussian start of that size."""
    data = load(f"symmetric:{call}")
    data = replace(data, X=data.X / np.linalg.norm(data.X, axis=1).max())
    rng = np.random.default_rng(seed)
    W, a = size * rng.normal(size=(width, data.d)), size * rng.normal(size=width)
    setting = Setting(
        activation=f"leaky:{alpha}", width=width, init=f"gaussian:{size:g}", rule="flow"
    )
    return Case(data, setting, Network(W, a, alpha))


def largest(network: Network) -> float:
    """‖θ‖_M = max_k max(‖w_k‖, |a_k|) (Definition 5.1)."""
    return norm_M(network.W, network.a)


def minus(one: Network, other: Network) -> Network:
    return Network(one.W - other.W, one.a - other.a, one.alpha)


def size_of(network: Network) -> float:
    """‖θ‖."""
    return math.hypot(np.linalg.norm(network.W), np.linalg.norm(network.a))
