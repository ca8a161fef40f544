"""Data with a principal direction: from a small start one Leaky ReLU survives (App. A)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np

from tacit._types import Check, Dataset
from tacit.solvers.convex_program import optimum
from tacit.theorems.base import Case, Erratum, Evidence, Network, Prediction, Run, Source, Theorem
from tacit.theorems.common import LARGE, SMALL, balanced, by_slack, small_start, undecided
from tacit.theorems.lyu2021._outputs import difference, ended, known_end
from tacit.theorems.lyu2021._symmetric import flow_checks, network_checks, non_branching, started
from tacit.theorems.lyu2021.one_neuron import Sign, best_neuron, hinted_case, one_neuron, split


class Pulls(NamedTuple):
    """µ⁺ and µ⁻ (6): twice the drift of small neurons on the two sides of the data."""

    plus: np.ndarray
    minus: np.ndarray

    def of(self, sign: Sign) -> np.ndarray:
        return self.plus if sign > 0 else self.minus


def pulls(case: Case) -> Pulls:
    Z, positive = case.data.y[:, None] * case.data.X, (case.data.y > 0)[:, None]
    plus = np.where(positive, Z, case.alpha * Z).mean(axis=0)
    return Pulls(plus, np.where(positive, case.alpha * Z, Z).mean(axis=0))


def small_enough(case: Case, sign: Sign, place: str) -> Check:
    """The other sign grows to about σ^κ, κ = 1 − ‖µ⁻‖/‖µ⁺‖, until this one is large (Lemma G.5)."""
    plain = small_start(case, place)
    if plain.slack is None:
        return plain
    found = pulls(case)
    own, other = (float(np.linalg.norm(found.of(s))) for s in (sign, -sign))
    if not other < own:
        return undecided("small_start", place, "the other sign grows as fast")
    kappa = 1 - other / own
    size = SMALL - plain.slack
    left = size**kappa
    holds = True if left <= SMALL else False if size >= LARGE else None
    note = (
        f"‖θ_k‖ max‖x_i‖ = {size:.1e} and κ = {kappa:.2g}: the other sign comes to about "
        f'{left:.1e}; "sufficiently small" is read as at most {SMALL:g}'
    )
    return Check("small_start", holds, SMALL - left, place, note)


def some_of_sign(case: Case, sign: Sign, place: str) -> Check:
    """The event of probability 1 − 2^(−m)."""
    name = "some_positive" if sign > 0 else "some_negative"
    if case.start is None:
        odds = 1 - 2.0**-case.setting.width
        note = f"the initial weights have not been drawn; random signs do with probability {odds}"
        return undecided(name, place, note)
    number = int((sign * case.start.a > 0).sum())
    return by_slack(name, number - 1, place, f"{number} neurons")


def not_stuck(case: Case, place: str) -> Check:
    """w_k is not along −µ⁻ (a_k > 0) or µ⁺ (a_k < 0), whence it would shrink to 0 for ever."""
    if case.start is None:
        return undecided("off_the_ray", place, "the initial weights have not been drawn")
    found, W = pulls(case), case.start.W
    rays = np.where((case.start.a > 0)[:, None], -found.minus, found.plus)
    sizes = np.linalg.norm(W, axis=1) * np.linalg.norm(rays, axis=1)
    cosines = (W * rays).sum(axis=1) / np.maximum(sizes, 1e-300)
    slack = float(1 - cosines.max())
    note = "1 − the largest cosine with the ray"
    return by_slack("off_the_ray", slack - 1e-14, place, note, strict=True)


def start_checks(case: Case, sign: Sign, run: Run | None, place: str) -> tuple[Check, ...]:
    return (
        balanced(case, "§6"),
        some_of_sign(case, sign, place),
        not_stuck(case, "Lemma G.4"),
        small_enough(case, sign, place),
        non_branching(run, "Assumption A.6"),
    )


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

    def hypotheses(self, case: Case, run: Run | None = None) -> tuple[Check, ...]:
        case, place = started(case, run), self.source.place
        return (
            *network_checks(case),
            case.data_check("linearly_separable", "Assumption 3.2"),
            *(
                case.data_check(f"lyu2021:assumption{one}", f"Assumption {one}")
                for one in ("A.2", *self.assumptions)
            ),
            *flow_checks(case),
            *start_checks(case, self.sign, run, place),
        )

    def predict(self, case: Case) -> Prediction:
        best = best_neuron(case, self.sign)
        values = {
            "w": best.w,
            "margin": best.lower / 2,
            "probability": 1 - 2.0**-case.setting.width,
        }
        name = "½ φ(w⁺·x)" if self.sign > 0 else "−½ φ(−w⁻·x)"
        words = (
            f"Only neurons with {'positive' if self.sign > 0 else 'negative'} output weight "
            f"survive, all in one direction: at unit norm the limit is {name}, of margin "
            f"{values['margin']:.6g}, whose decision boundary is linear."
        )
        return Prediction(words, values, ((self.sign, self.sign * best.w),))

    def residual(self, prediction: Prediction, case: Case, run: Run | None) -> float | None:
        end = known_end(run)
        wanted = one_neuron(prediction.values["w"], self.sign)
        return None if end is None else difference(end, wanted, case)

    def ideal(self, prediction: Prediction, case: Case) -> Run | None:
        return ended(split(prediction.values["w"], self.sign, case.start))

    def verdict(self, residual: float, prediction: Prediction, run: Run | None) -> str:
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
        assert case.start is not None
        return replace(case, start=Network(case.start.W, -np.abs(case.start.a))), "some_positive"

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
        assert case.start is not None
        return replace(case, start=Network(case.start.W, 2 * case.start.a)), "balanced"

    @staticmethod
    def _weights() -> Evidence:
        """The widest margin of each sign alone on the support examples of w⁻."""
        case = TheoremA10().example()
        best = best_neuron(case, -1)
        X, y = case.data.X[best.support], case.data.y[best.support]
        negative, positive = (optimum(X, y, case.alpha, (s,)).upper for s in (-1, 1))
        words = (
            f"½γ⁻ is {best.lower / 2:.6g}. Nets with all a_k ≤ 0 reach {0.5 / negative:.6g}, which "
            f"is never less; nets with all a_k ≥ 0 reach {0.5 / positive:.6g}."
        )
        never_less = 1 / negative >= best.lower * (1 - 1e-9)
        corrected = never_less and 1 / positive < best.lower * (1 - 1e-6)
        return Evidence("corrected" if corrected else "printed", words)

    errata = (
        Erratum(
            "Assumption A.9: if a_k ≤ 0 for all k, the margin is less than ½γ⁻",
            "if a_k ≥ 0 for all k; a single neuron with a < 0 attains ½γ⁻",
            _weights,
        ),
    )
