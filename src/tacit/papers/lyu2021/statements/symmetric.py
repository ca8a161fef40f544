"""Symmetric data: the best network is linear, and the flow from a small start finds it (§4)."""

from dataclasses import replace

import numpy as np

from tacit.certificates import optimum
from tacit.numerics.confidence import share_interval
from tacit.papers.lyu2021.networks import linear_network
from tacit.papers.lyu2021.statements.cases import symmetric_case
from tacit.papers.lyu2021.statements.embedding import (
    at_least_one_of_each,
    good_embedding,
    spread,
    start_fades,
)
from tacit.papers.lyu2021.statements.hypotheses import (
    at_least,
    flow_checks,
    gaussian_start,
    non_branching,
    started,
    symmetric_checks,
)
from tacit.papers.lyu2021.statements.network_functions import difference, margin
from tacit.papers.lyu2021.statements.run_ends import ended, known_end
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.values import Check, Dataset, Network, Setting

HIT = 1e-6
"""A run attains the widest margin when it is at most this share below it."""
SECONDS, GAP = 20.0, 1e-9
"""Seconds for the convex program, and the gap of its bounds at which its network is the best."""


class Theorem42(Theorem):
    """Theorem 4.2: on symmetric data every global-max-margin direction is linear.

    With Assumptions 3.2 and 4.1 and m ≥ 2, every global maximum θ* of the margin over ‖θ‖ = 1 has
    f_θ*(x) = (1+α)/4 w*·x for all x, where w* is the max-margin linear separator. Its margin is
    then (1+α)/4 γ*.
    """

    id = "lyu2021:thm4.2"
    source = Source("lyu2021", "Theorem 4.2")
    summary = "On symmetric data the network with the widest margin is the best linear classifier."
    needs = "data"
    tolerance = 1e-5
    invariances = frozenset({"rotation"})

    def example(self) -> Case:
        return replace(symmetric_case(), start=None)

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        X = case.data.X.copy()
        X[0] *= 1.01
        return replace(case, data=Dataset(X, case.data.y), _properties={}), "symmetric"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return *symmetric_checks(case), at_least(2, case, "Theorem 4.2")

    def predict(self, case: Case) -> Prediction:
        limit = linear_limit(case)
        words = (
            "The network with the widest margin is linear, the best linear separator times "
            f"(1+α)/4 = {limit['slope']:.4g} at unit norm, and its margin is {limit['margin']:.6g}."
        )
        w = separator(case)
        return Prediction(words, limit, ((1, w), (-1, -w)))

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The distance from the convex program over all networks: its bounds, and its network."""
        best = optimum(case.data, Setting(activation=case.setting.activation), seconds=SECONDS)
        low, high = best.margin_bounds
        value = prediction.values["margin"]
        off = max(low / value - 1, 1 - high / value, 0.0)
        if best.gap > GAP:  # its network is not the best one yet
            return off if off > self.tolerance else None
        return max(off, difference(best.network, _promised(prediction, case), case))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return (
            "The convex program over all networks finds the same margin, and its network differs "
            f"from the linear one by at most {residual:.1e} of that."
            if residual <= self.tolerance
            else f"The convex program finds another network, {residual:.1e} away."
        )


class Theorem43(Theorem):
    """Theorem 4.3: from a small start on symmetric data the flow ends in the best separator.

    With Assumptions 3.2, 4.1, 4.5 and 4.6, width m ≥ 2 and θ₀ = σ θ̄₀ with Gaussian θ̄₀: with
    probability 1 − 2^(−(m−1)) over θ̄₀, for all small σ, f(x)/‖θ‖² → (1+α)/4 w*·x. The event is that
    b̄ has entries of both signs (Lemma E.7), which can be read off the initial weights.
    """

    id = "lyu2021:thm4.3"
    source = Source("lyu2021", "Theorem 4.3")
    summary = (
        "On symmetric data, gradient flow from a small start ends in the max-margin linear "
        "classifier, if the initial neurons do not all pull to the same side."
    )
    needs = "limit"
    proof_covers_it = True
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        return symmetric_case()

    def counterexample(self) -> tuple[Case, str]:
        """All b̄_k are positive."""
        case = self.example()
        w = case.data.y @ case.data.X
        W = np.outer(np.full(4, 1e-6), w / np.linalg.norm(w))
        return replace(case, start=Network(W, np.full(4, 1e-6), case.alpha)), "good_embedding"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        case = started(case, run)
        return (*_from_a_small_start(case, run), good_embedding(case, "Lemma E.7"))

    def predict(self, case: Case) -> Prediction:
        limit = linear_limit(case) | {"probability": at_least_one_of_each(case.setting.width)}
        w = separator(case)
        words = (
            "The limit is linear, the best linear separator times (1+α)/4 = "
            f"{limit['slope']:.4g} at unit norm; no network has a wider margin (Theorem 4.2)."
        )
        return Prediction(words, limit, ((1, w), (-1, -w)))

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        end = known_end(run)
        return None if end is None else difference(end, _promised(prediction, case), case)

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        return ended(spread(case, _promised(prediction, case)))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        slope = prediction.values["slope"]
        return (
            f"At unit norm the limit differs from {slope:.4g} w*·x by at most {residual:.1e} of it."
        )


class Corollary44(Theorem):
    """Corollary 4.4: on symmetric data the flow attains the global max margin.

    In the settings of Theorem 4.3 this has probability 1 − 2^(−(m−1)) at least.
    """

    id = "lyu2021:cor4.4"
    source = Source("lyu2021", "Corollary 4.4")
    summary = (
        "On symmetric data, gradient flow from a small random start attains the widest margin of "
        "all with probability at least 1 − 2^(−(m−1))."
    )
    needs = "ensemble"
    tolerance = 0.0
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        return replace(symmetric_case(width=3), start=None)

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        return replace(case, setting=replace(case.setting, width=1)), "width_2_or_more"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        drawn = replace(case, start=None)  # it is about all starts, not about this one
        return *_from_a_small_start(drawn, run), gaussian_start(case, "§4.2")

    def predict(self, case: Case) -> Prediction:
        limit, probability = linear_limit(case), at_least_one_of_each(case.setting.width)
        words = (
            f"At least {100 * probability:.6g}% of random starts end in the widest margin, "
            f"{limit['margin']:.6g}."
        )
        return Prediction(words, limit | {"probability": probability})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        assert run is not None
        widest = prediction.values["margin"]
        ends = [end for one in run.members if (end := known_end(one)) is not None]
        if not ends:
            return None
        hits = sum(margin(end, case) >= (1 - HIT) * widest for end in ends)
        return max(0.0, prediction.values["probability"] - share_interval(hits, len(ends))[1])

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        one = ended(spread(case, _promised(prediction, case)))
        return Observation((), members=(one,) * 20)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        bound = f"the bound {prediction.values['probability']:.4g}"
        if residual <= 0:
            return f"The share of runs that attain the widest margin is compatible with {bound}."
        return f"Fewer runs attain the widest margin than {bound} allows, by {residual:.2g}."


def _from_a_small_start(case: Case, run: Observation | None) -> tuple[Check, ...]:
    return (
        *symmetric_checks(case),
        case.data_check("lyu2021:assumption4.5", "Assumption 4.5"),
        *flow_checks(case),
        at_least(2, case, "Theorem 4.3"),
        start_fades(case, "Theorem 4.3"),
        non_branching(run, "Assumption 4.6"),
    )


def separator(case: Case) -> np.ndarray:
    """w*, the max-margin linear separator."""
    return case.view.separator.direction


def _promised(prediction: Prediction, case: Case) -> Network:
    return linear_network(prediction.values["separator"], case.alpha)


def linear_limit(case: Case) -> dict[str, object]:
    """(1+α)/4 w*·x and its margin."""
    slope = (1 + case.alpha) / 4
    return {
        "separator": separator(case),
        "slope": slope,
        "margin": slope * case.view.separator.margin_bounds.lower,
    }
