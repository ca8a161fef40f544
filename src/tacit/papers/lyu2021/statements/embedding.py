"""Many small neurons that embed two: b̄ of Lemma 5.2 and π_b of §5.2, on symmetric data."""

from dataclasses import replace

import numpy as np

from tacit.numerics.embedding import EarlyEmbedding, embedding
from tacit.numerics.embedding import largest as norm_M
from tacit.theorems import Case
from tacit.theorems.hypotheses import LARGE, SMALL, small_start, undecided, unquantified
from tacit.values import Check, Network


def has_drift(case: Case) -> bool:
    """Whether µ ≠ 0, and there is a positive point."""
    return bool((case.data.y > 0).any() and (case.data.y @ case.data.X).any())


def embedding_of(case: Case, network: Network) -> EarlyEmbedding:
    """λ₀, µ̄ and b̄ of Lemma 5.2 for these initial weights; µ must not be 0."""
    return embedding(case.data.X, case.data.y, case.alpha, network.W, network.a)


def symmetrised(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The data, symmetric to the last bit, which the integrator of Lemma 5.2 asks for."""
    positive = case.data.X[case.data.y > 0]
    return np.vstack([positive, -positive]), np.repeat([1, -1], len(positive))


def at_least_one_of_each(m: int) -> float:
    """1 − 2^(−(m−1)), the probability that m fair signs are not all the same (Lemma E.7)."""
    return 1 - 2.0 ** (1 - m)


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


@unquantified
def start_fades(case: Case, place: str) -> Check:
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
            left = Network(case.start.W[one], case.start.a[one]).norm * longest
            shares.append(left / float(np.linalg.norm(b[one])))
    worst = max(shares)
    holds = True if worst <= SMALL else False if worst >= LARGE else None
    note = (
        f"what is left of the start is up to {worst:.1e} of the neurons of one sign when they leave"
        f' zero; "sufficiently small" is read as at most {SMALL:g}'
    )
    return Check("start_fades", holds, SMALL - worst, place, note)


def embed(b: np.ndarray, pair: Network) -> Network:
    """π_b: a network of two neurons, of output weights > 0 and < 0, as one of m (§5.2)."""
    second = (b < 0).astype(int)
    sizes = np.array([np.linalg.norm(b[b > 0]), np.linalg.norm(b[b < 0])])
    share = np.abs(b) / sizes[second]
    return Network(share[:, None] * pair.W[second], share * pair.a[second], pair.alpha)


def spread(case: Case, pair: Network) -> Network:
    """The network of two neurons, embedded like the initial weights."""
    if case.start is None:
        return embed(np.resize([1.0, -1.0], max(case.setting.width, 2)), pair)
    return embed(embedding_of(case, case.start).b, pair)


def largest(network: Network) -> float:
    """‖θ‖_M = max_k max(‖w_k‖, |a_k|) (Definition 5.1)."""
    return norm_M(network.W, network.a)


def distance(one: Network, other: Network) -> float:
    """The distance ‖θ − θ'‖_M of Definition 5.1."""
    return norm_M(one.W - other.W, one.a - other.a)
