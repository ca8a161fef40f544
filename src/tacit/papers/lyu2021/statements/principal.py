"""Data with a principal direction: from a small start one Leaky ReLU survives (App. A)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np

from tacit.numerics.convex_program import convex_optimum
from tacit.papers.lyu2021.networks import one_neuron
from tacit.papers.lyu2021.statements.cases import hinted_case
from tacit.papers.lyu2021.statements.early_pulls import pulls, start_checks
from tacit.papers.lyu2021.statements.hypotheses import flow_checks, network_checks, started
from tacit.papers.lyu2021.statements.multipliers import weaker_at_multipliers
from tacit.papers.lyu2021.statements.network_functions import difference
from tacit.papers.lyu2021.statements.one_neuron import Sign, best_neuron, split
from tacit.papers.lyu2021.statements.run_ends import ended, known_end
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import undecided
from tacit.values import Check, Dataset


def _of_the_data(case: Case, assumptions: tuple[str, str], sign: Sign) -> tuple[Check, ...]:
    """The last two take seconds on large data, so they are asked last, if at all.

    The very last is what the proof of Theorem G.11 needs, which A.5 (A.9) does not give.
    """
    last = "proof of Theorem G.11"
    names = ["linearly_separable", *(f"lyu2021:assumption{one}" for one in ("A.2", *assumptions))]
    places = [f"Assumption {one}" for one in ("3.2", "A.2", *assumptions)]
    first = [case.data_check(*one) for one in zip(names[:3], places[:3], strict=True)]
    if any(check.holds is False for check in first):
        why = "not looked at: another one fails"
        left = undecided(names[3], places[3], why), undecided("weaker_at_multipliers", last, why)
        return *first, *left
    return (*first, case.data_check(names[3], places[3]), weaker_at_multipliers(case, sign, last))


class _OneSurvives(Theorem):
    """Theorems A.7 and A.10, which differ by a sign."""

    sign: ClassVar[Sign]
    assumptions: ClassVar[tuple[str, str]]
    """A.3 and A.5, or A.8 and A.9."""

    needs = "limit"
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})

    @abstractmethod
    def example(self) -> Case: ...

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        case, place = started(case, run), self.source.place
        return (
            *network_checks(case),
            *_of_the_data(case, self.assumptions, self.sign),
            *flow_checks(case),
            *start_checks(case, self.sign, run, place),
        )

    def predict(self, case: Case) -> Prediction:
        best = best_neuron(case, self.sign)
        values = {
            "w": best.direction,
            "margin": best.margin_bounds.lower / 2,
            "probability": 1 - 2.0**-case.setting.width,
        }
        name = "½ φ(w⁺·x)" if self.sign > 0 else "−½ φ(−w⁻·x)"
        words = (
            f"Only neurons with {'positive' if self.sign > 0 else 'negative'} output weight "
            f"survive, all in one direction: at unit norm the limit is {name}, of margin "
            f"{values['margin']:.6g}, whose decision boundary is linear."
        )
        return Prediction(words, values, ((self.sign, self.sign * best.direction),))

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        end = known_end(run)
        wanted = one_neuron(prediction.values["w"], case.alpha, self.sign)
        return None if end is None else difference(end, wanted, case)

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        return ended(split(prediction.values["w"], self.sign, case))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return (
            f"At unit norm the limit differs from one Leaky ReLU by at most {residual:.1e} of it."
        )


class TheoremA7(_OneSurvives):
    """Theorem A.7: where ‖µ⁺‖ > ‖µ⁻‖ the flow from a small start ends in ½ φ(w⁺·x).

    With Assumptions 3.2, A.2, A.3, A.5 and A.6 and balanced θ₀ = σ θ̄₀, a_k = ±‖w_k‖ with random
    signs: with probability 1 − 2^(−m), for all small σ, f(x)/‖θ‖² → ½ φ(w⁺·x). The event is that
    some a_k is positive.
    """

    id = "lyu2021:thmA.7"
    source = Source("lyu2021", "Theorem A.7")
    summary = (
        "Where the data has a principal direction and pulls harder on positive neurons, gradient "
        "flow from a small start keeps those only and ends as a single Leaky ReLU."
    )
    sign = 1
    assumptions = ("A.3", "A.5")

    def example(self) -> Case:
        return hinted_case()

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        return replace(
            case, start=replace(case.given_start, a=-np.abs(case.given_start.a))
        ), "some_positive"

    @staticmethod
    def _rays() -> Evidence:
        """∇G at −µ⁻, from its definition, for the mean of the logistic losses."""
        case = hinted_case()
        X, y = case.data.X, case.data.y
        cosines = []
        for sign in (1, -1):
            w = sign * pulls(case).minus
            g = (y * np.where(X @ w > 0, 1.0, case.alpha)) @ X
            cosines.append(float(g @ w / np.linalg.norm(g) / np.linalg.norm(w)))
        words = (
            f"cos(w, ∇G(w)) is {cosines[0]:.6f} at w = µ⁻ and {cosines[1]:.6f} at w = −µ⁻: a "
            "neuron with a > 0 shrinks towards 0 for ever on the second ray only."
        )
        corrected = abs(cosines[1] + 1) < 1e-9 and cosines[0] > 0
        return Evidence("corrected" if corrected else "printed", words)

    errata = (
        Erratum(
            "Lemmas G.3, G.4: w̄_k ≠ λµ⁻ where ā_k > 0, and w̄_k ≠ −λµ⁺ where ā_k < 0",
            "w̄_k ≠ −λµ⁻ where ā_k > 0, and w̄_k ≠ λµ⁺ where ā_k < 0",
            _rays,
        ),
    )


class TheoremA10(_OneSurvives):
    """Theorem A.10: where ‖µ⁺‖ < ‖µ⁻‖ the flow from a small start ends in −½ φ(−w⁻·x).

    Theorem A.7 with all labels flipped: Assumptions 3.2, A.2, A.6, A.8 and A.9 (read with a_k ≥ 0);
    the event of probability 1 − 2^(−m) is that some a_k is negative.
    """

    id = "lyu2021:thmA.10"
    source = Source("lyu2021", "Theorem A.10")
    summary = (
        "Where the data has a principal direction and pulls harder on negative neurons, gradient "
        "flow from a small start keeps those only and ends as a single Leaky ReLU."
    )
    sign = -1
    assumptions = ("A.8", "A.9")

    def example(self) -> Case:
        case = hinted_case()
        return replace(case, data=Dataset(case.data.X, -case.data.y), _properties={})

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        return replace(case, start=replace(case.given_start, a=2 * case.given_start.a)), "balanced"

    @staticmethod
    def _weights() -> Evidence:
        """The widest margin of each sign alone on the support examples of w⁻."""
        case = TheoremA10().example()
        best = best_neuron(case, -1)
        gamma = best.margin_bounds.lower
        X, y = case.data.X[best.support], case.data.y[best.support]
        optima = (convex_optimum(X, y, case.alpha, (s,)) for s in (-1, 1))
        negative, positive = (one.objective_bounds.upper for one in optima)
        words = (
            f"½γ⁻ is {gamma / 2:.6g}. Nets with all a_k ≤ 0 reach {0.5 / negative:.6g}, which is "
            f"never less; nets with all a_k ≥ 0 reach {0.5 / positive:.6g}."
        )
        never_less = 1 / negative >= gamma * (1 - 1e-9)
        corrected = never_less and 1 / positive < gamma * (1 - 1e-6)
        return Evidence("corrected" if corrected else "printed", words)

    errata = (
        Erratum(
            "Assumption A.9: if a_k ≤ 0 for all k, the margin is less than ½γ⁻",
            "if a_k ≥ 0 for all k; a single neuron with a < 0 attains ½γ⁻",
            _weights,
        ),
    )
