"""Many neurons that move like two: the embedding π_b, exact and as a limit (§5.2)."""

import math
from dataclasses import replace

import numpy as np

from tacit.numerics.embedding import EarlyEmbedding, integrated
from tacit.papers.lyu2021.statements.cases import symmetric_case
from tacit.papers.lyu2021.statements.embedding import (
    at_least_one_of_each,
    distance,
    embed,
    embedding_of,
    good_embedding,
    has_drift,
    largest,
    symmetrised,
)
from tacit.papers.lyu2021.statements.hypotheses import (
    at_least,
    flow_checks,
    network_checks,
    non_branching,
    started,
    symmetric_checks,
)
from tacit.theorems import Case, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.hypotheses import both_signs, by_slack, neuron_sizes, undecided, unquantified
from tacit.values import Check, Network

EXACT = 1e-9
"""Rounding that a path of the flow may gather."""
SEED_SIZE = 1e-4
"""r in (4), at which the two neurons start: what is left out is of the order of r²."""
WINDOW = (0.1, 1.0)
"""Moments of a run at which e^(λ₀t) is between these are compared, t = 0 being T₁₂."""
FADED, THERE = 1e-3, 0.1
"""What is left of the initial weights by then may be this share of all; from the second on nothing
is near a limit, and otherwise it is undecided."""


class Lemma53(Theorem):
    """Lemma 5.3: a net of two neurons that is embedded in one of m stays so.

    π_b spreads the neuron with a > 0 over the entries b_k > 0 in proportion to b_k, the other one
    over those b_k < 0. Then φ(π_b(θ̂), t) = π_b(φ(θ̂, t)) for all t: neurons that are multiples of
    each other at the start remain the same multiples. (The start needs not be small, nor the data
    symmetric.)
    """

    id = "lyu2021:lemma5.3"
    source = Source("lyu2021", "Lemma 5.3")
    summary = "Neurons that start as positive multiples of each other keep their proportions."
    needs = "path"
    tolerance = EXACT
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        case = symmetric_case(width=5)
        pair = Network(np.array([[0.3, 0.1], [-0.1, 0.2]]), np.array([0.2, -0.4]), case.alpha)
        return replace(case, start=embed(np.array([1.0, -2.0, 0.5, -0.3, 0.7]), pair))

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        W = case.given_start.W.copy()
        W[0] += 0.01
        return replace(case, start=replace(case.given_start, W=W)), "embedded"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        case, place = started(case, run), "Lemma 5.3"
        return (
            *network_checks(case),
            *flow_checks(case),
            both_signs(case, place),
            _embedded(case, "§5.2"),
            non_branching(run, place),
        )

    def predict(self, case: Case) -> Prediction:
        words = (
            "Neurons of one sign that start as multiples of one vector stay multiples of one "
            "vector, with the same factors"
        )
        if case.start is None:
            return Prediction(f"{words}.")
        pair = _pair(case.start, case.start.a)
        values = {"b": case.start.a, "W": pair.W, "a": pair.a}
        return Prediction(f"{words}, so {len(case.start.a)} neurons move like 2.", values)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The largest distance from π_b of two neurons on the way, relative to ‖θ‖_M."""
        assert run is not None
        b = run.start.a if case.start is None else case.start.a
        return max(_off(moment.network, b) for moment in run.path)

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        pair = Network(prediction.values["W"][::-1], prediction.values["a"], case.alpha)
        later = embed(case.given_start.a, pair)
        return Observation(
            (PathPoint(-math.inf, 0.0, case.given_start), PathPoint(0.0, -1.0, later))
        )

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"Along the whole path the neurons keep their proportions, up to {residual:.1e}."


class Lemma54(Theorem):
    """Lemma 5.4: as the start shrinks, m neurons on symmetric data come to move like two.

    Let T₁₂ = ln(1/(√m ‖θ₀‖_M))/λ₀, and let θ̃(t) = lim φ(r θ̂, T₂(r) + t) as r → 0 be the path of two
    neurons that leave zero along θ̂ = (b̄₊µ̄, b̄₋µ̄, b̄₊, b̄₋), T₂(r) = ln(1/r)/λ₀. With probability
    1 − 2^(−(m−1)) b̄ has entries of both signs and none that is zero, and then, as the initial
    weights shrink, θ(T₁₂ + t) → π_b̄(θ̃(t)) for all t.

    θ̃ is computed from (4) with a small r; the run is compared with it where e^(λ₀t) is between 0.1
    and 1. The part of the initial weights across the line of µ̄ does not grow, so "as they shrink"
    is read as: it is at most 10⁻³ of the weights by then.
    """

    id = "lyu2021:lemma5.4"
    source = Source("lyu2021", "Lemma 5.4")
    summary = (
        "On symmetric data a network that leaves a very small start moves like one of two neurons, "
        "at a time that the initial weights tell."
    )
    needs = "path"
    tolerance = 2 * FADED
    invariances = frozenset({"order", "rotation"})

    def example(self) -> Case:
        return symmetric_case(size=1e-7)

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        w = case.data.y @ case.data.X
        W = np.outer(np.full(4, 1e-7), w / np.linalg.norm(w))
        return replace(case, start=Network(W, np.full(4, 1e-7), case.alpha)), "good_embedding"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        case, place = started(case, run), "Lemma 5.4"
        return (
            *symmetric_checks(case),
            case.data_check("lyu2021:assumption4.5", "Assumption 4.5"),
            *flow_checks(case),
            at_least(2, case, place),
            _start_has_faded(case, place),
            good_embedding(case, "Lemma E.7"),
            non_branching(run, "Assumption 4.6"),
        )

    def predict(self, case: Case) -> Prediction:
        values: dict[str, object] = {"probability": at_least_one_of_each(case.setting.width)}
        words = "The network comes to move like one of two neurons"
        if case.start is None:
            return Prediction(f"{words}.", values)
        known = embedding_of(case, case.start)
        values |= {
            "rate": known.rate,
            "time": known.time(1.0),
            "b": known.b,
            "direction": known.direction,
        }
        when = known.time(1.0) / case.data.n  # of the sum of the losses
        words += f", and its weights are no longer small from t = {when:.4g} on."
        return Prediction(words, values)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The largest ‖θ − π_b̄(θ̃)‖_M/‖θ‖_M over the moments in the window."""
        assert run is not None
        case = started(case, run)
        known = embedding_of(case, case.given_start)
        worst = None
        for moment in run.path:
            time = case.data.n * math.exp(min(moment.time, 700.0))  # of the mean loss
            growth = known.rate * time + math.log(known.size)  # λ₀ t with t = 0 at T₁₂
            if not math.log(WINDOW[0]) <= growth <= math.log(WINDOW[1]):
                continue
            wanted = embed(known.b, _two_neurons(case, known, growth))
            off = distance(moment.network, wanted) / largest(wanted)
            worst = max(worst or 0.0, off)
        return worst

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        known = embedding_of(case, case.given_start)
        moments = [PathPoint(-math.inf, math.log(case.data.n * math.log(2)), case.given_start)]
        for r in (0.2, 0.9):
            time = known.time(r) / case.data.n
            network = embed(known.b, _two_neurons(case, known, math.log(r)))
            moments.append(PathPoint(math.log(time), moments[0].log_loss, network))
        return Observation(tuple(moments))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return (
            f"While its weights grow to size one, the network is within {residual:.1e} (relative) "
            "of the two neurons, whose path was computed on its own."
        )


def _pair(network: Network, b: np.ndarray) -> Network:
    """The two neurons that π_b brings nearest to the network."""
    halves = []
    for chosen in (b > 0, b < 0):
        share = np.abs(b[chosen]) / np.linalg.norm(b[chosen])
        halves.append((share @ network.W[chosen], share @ network.a[chosen]))
    W, a = (np.array(part) for part in zip(*halves, strict=True))
    return Network(W, a, network.alpha)


def _off(network: Network, b: np.ndarray) -> float:
    """The distance of the network from π_b of two neurons, relative to ‖θ‖_M."""
    return distance(network, embed(b, _pair(network, b))) / largest(network)


def _embedded(case: Case, place: str) -> Check:
    """θ₀ = π_b(θ̂); then b may be taken to be a."""
    if case.start is None:
        return undecided("embedded", place, "the initial weights have not been drawn")
    a = case.start.a
    if not (a > 0).any() or not (a < 0).any() or not a.all():
        return undecided("embedded", place, "needs output weights of both signs and none zero")
    # Each is compared with its own size: a small neuron may become a large one.
    near = embed(a, _pair(case.start, a))
    apart = neuron_sizes(Network(case.start.W - near.W, case.start.a - near.a))
    off = float((apart / neuron_sizes(case.start)).max())
    note = f"the neurons of one sign are {off:.2g} (relative) away from multiples of one vector"
    # A start that was made by multiplying one vector is off by a few roundings.
    return by_slack("embedded", 1e-12 - off, place, note)


@unquantified
def _start_has_faded(case: Case, place: str) -> Check:
    """‖θ₀‖_M, which need not grow, against 0.1 max|b̄_k|, which the weights have grown to."""
    if case.start is None:
        return undecided("start_has_faded", place, "the initial weights have not been drawn")
    if not has_drift(case):
        return undecided("start_has_faded", place, "µ is 0")
    b = float(np.abs(embedding_of(case, case.start).b).max())
    share = largest(case.start) / max(WINDOW[0] * b, 1e-300)
    holds = True if share <= FADED else False if share >= THERE else None
    note = f"what is left of the initial weights is {share:.1e} of the weights by then"
    return Check("start_has_faded", holds, FADED - share, place, note)


def _two_neurons(case: Case, known: EarlyEmbedding, growth: float) -> Network:
    """θ̃(t) with λ₀ t = growth, from r θ̂ (4)."""
    sizes = np.array([np.linalg.norm(known.b[known.b > 0]), -np.linalg.norm(known.b[known.b < 0])])
    a = SEED_SIZE * sizes
    first = Network(np.outer(a, known.direction), a, case.alpha)
    radius = math.sqrt(2) * largest(first) * math.exp(growth) / SEED_SIZE
    X, y = symmetrised(case)
    pair = integrated(X, y, case.alpha, first.W, first.a, radius)
    return Network(pair.W, pair.a, case.alpha)
