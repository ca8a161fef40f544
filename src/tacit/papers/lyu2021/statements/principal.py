"""Data with a principal direction: from a small start one Leaky ReLU survives (App. A)."""

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np

from tacit.numerics.convex_program import convex_optimum
from tacit.papers.lyu2021.networks import one_neuron
from tacit.papers.lyu2021.statements.cases import hinted_case
from tacit.papers.lyu2021.statements.early_pulls import start_checks
from tacit.papers.lyu2021.statements.hypotheses import flow_checks, network_checks, started
from tacit.papers.lyu2021.statements.multipliers import weaker_at_multipliers
from tacit.papers.lyu2021.statements.network_functions import difference
from tacit.papers.lyu2021.statements.one_neuron import Sign, best_neuron, split
from tacit.papers.lyu2021.statements.one_sided import three_points
from tacit.papers.lyu2021.statements.run_ends import ended, known_end
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import undecided
from tacit.values import Check, Dataset


def _of_the_data(case: Case, assumptions: tuple[str, str], sign: Sign) -> tuple[Check, ...]:
    """The last two take seconds on large data, so they are asked last, if at all.

    The very last is ours: the proof of Theorem G.11 needs it, and A.5 (A.9) does not give it.
    """
    last = "ours; what the proof of Theorem G.11 uses"
    names = ["linearly_separable", *(f"lyu2021:assumption{one}" for one in ("A.2", *assumptions))]
    places = [f"Assumption {one}" for one in ("3.2", "A.2", *assumptions)]
    first = [case.data_check(*one) for one in zip(names[:3], places[:3], strict=True)]
    if any(check.holds is False for check in first):
        why = "not looked at: another one fails"
        left = undecided(names[3], places[3], why), undecided("weaker_at_multipliers", last, why)
        return *first, *left
    return (*first, case.data_check(names[3], places[3]), weaker_at_multipliers(case, sign, last))


def _overtaken(sign: Sign, assumptions: tuple[str, str]) -> Evidence:
    """Three points on which every printed assumption holds and the other sign overtakes.

    They are orthogonally separable, so A.6 holds (App. I.2.1), and for small σ Lemma G.4 brings
    every neuron to its side of all points, for good. Take sign = 1. If f∞ = ½ φ(w⁺·x) at unit norm,
    then by f∞(w⁺) = ½ every share of the weight that does not vanish is that of neurons with
    a_k > 0 and ŵ_k → w⁺. Let ds = Σ g_i dt/n, g_i = −ℓ'(q_i), and p = g/Σ g. From
    dŵ_k/ds = (I − ŵ_k ŵ_kᵀ) Σ p_i y_i x⁺_i the mean of p over time tends to the only λ with
    Σ λ_i y_i x⁺_i along w⁺, which is λ*, and ln a_k grows at the rate ŵ_k·Σ p_i y_i x⁺_i → γ⁺. Let
    c(p) = −Σ p_i y_i x⁻_i, the pull on a neuron with a_l < 0, and u = c(λ*)/‖c(λ*)‖. Then
    d ln(w_l·u)/ds ≥ c(p)·u, because |a_l| = ‖w_l‖ ≥ w_l·u, and the right side is linear in p: in
    the mean it is ‖c(λ*)‖. If this is more than γ⁺, neurons with a_l < 0 outgrow the others,
    however small they begin, and f∞ cannot be ½ φ(w⁺·x).
    """
    case = three_points()
    case = replace(case, data=Dataset(case.data.X, sign * case.data.y), _properties={})
    names = ["linearly_separable", "orthogonally_separable"]
    names += [f"lyu2021:assumption{one}" for one in ("A.2", *assumptions)]
    checks = [case.data_check(name, name) for name in names]
    best, X, y = best_neuron(case, sign), case.data.X, case.data.y
    c = -sign * (best.multipliers * y * np.where(y == sign, case.alpha, 1.0)) @ X
    gamma, rate = best.margin_bounds.upper, float(np.linalg.norm(c))
    on_its_side = (-sign * y * (X @ c) > 0).all()
    words = (
        f"On (½, 0), (0, 1), (2, −2), all over 3, with y = {tuple(y.tolist())} and α = ½ the "
        f"assumptions hold ({assumptions[1]} by {checks[-1].slack:.2g}), but near the promised "
        f"limit ln|a_k| grows at the rate {gamma:.4f}, which is γ, for neurons of its sign and "
        f"{rate:.4f} for the others."
    )
    proved = all(check.holds for check in checks) and on_its_side and rate > gamma
    return Evidence("corrected" if proved else "printed", words)


class _OneSurvives(Theorem):
    """Theorems A.7 and A.10, which differ by a sign."""

    sign: ClassVar[Sign]
    assumptions: ClassVar[tuple[str, str]]
    """A.3 and A.5, or A.8 and A.9."""

    needs = "limit"
    proof_covers_it = True
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

    As printed this is false, since it rests on Theorem G.11. `weaker_at_multipliers` is ours: the
    inequality of A.5 at the multipliers λ* of w⁺, −Σ λ*_i y_i φ(u·x_i) < γ⁺ for all unit u, which
    implies A.5 and makes the proof of Theorem G.11 right. Theorem 6.2 stands, as the two hints have
    λ* = (½, ½), for which App. A.2 shows the inequality.
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
    def _false() -> Evidence:
        return _overtaken(1, ("A.3", "A.5"))

    errata = (
        Erratum(
            "f∞ = ½ φ(w⁺·x) under Assumptions 3.2, A.2, A.3, A.5 and A.6",
            "with A.5 at the multipliers of w⁺ (ours): −Σ λ*_i y_i φ(u·x_i) < γ⁺ for all unit u",
            _false,
        ),
    )


class TheoremA10(_OneSurvives):
    """Theorem A.10: where ‖µ⁺‖ < ‖µ⁻‖ the flow from a small start ends in −½ φ(−w⁻·x).

    Theorem A.7 with all labels flipped: Assumptions 3.2, A.2, A.6, A.8 and A.9 (read with a_k ≥ 0);
    the event of probability 1 − 2^(−m) is that some a_k is negative. As printed this is false, and
    `weaker_at_multipliers`, A.9 at the multipliers of w⁻, is ours, as for Theorem A.7.
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

    @staticmethod
    def _false() -> Evidence:
        return _overtaken(-1, ("A.8", "A.9"))

    errata = (
        Erratum(
            "Assumption A.9: if a_k ≤ 0 for all k, the margin is less than ½γ⁻",
            "if a_k ≥ 0 for all k; a single neuron with a < 0 attains ½γ⁻",
            _weights,
        ),
        Erratum(
            "f∞ = −½ φ(−w⁻·x) under Assumptions 3.2, A.2, A.6, A.8 and A.9",
            "with A.9 at the multipliers of w⁻ (ours): Σ λ*_i y_i φ(u·x_i) < γ⁻ for all unit u",
            _false,
        ),
    )
