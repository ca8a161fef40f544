"""Along the flow: balance (Lemma 1), and a dual variable that stands still at first (Lemma 2)."""

import math

import numpy as np

from tacit.data import load
from tacit.papers.wang2022.statements import early
from tacit.papers.wang2022.statements.hypotheses import FLOW, balanced_network, flow_checks
from tacit.papers.wang2022.statements.sign_vectors import few_sign_vectors
from tacit.theorems import Case, Estimate, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.errata import Erratum, Evidence
from tacit.theorems.hypotheses import by_slack, two_classes, undecided, unquantified
from tacit.values import Check, Network

GONE = 1e-150
"""Size of a neuron below which its squares cannot be told from 0."""


def three_neurons() -> Case:
    """Neurons on the data of App. F.1, small enough for both lemmas; one crosses a hyperplane."""
    W = 1e-5 * np.array([[1.0, 0.6], [-0.3, 0.9], [0.2, -0.9]])
    return Case(load("wang2022_f1"), FLOW, balanced_network(W, [1, -1, 1]))


class Lemma1(Theorem):
    """Let ‖w_k(0)‖ = |a_k(0)| > 0. Then ‖w_k(t)‖ = |a_k(t)| > 0 for all t, and a_k keeps its sign.

    The residual is the largest |‖w_k‖² − a_k²|, over the largest of these squares that the neuron
    has had by then, and 1 where a sign changes. Neurons shrink for ever without reaching 0; those
    that are smaller than `GONE` have died, and runs have 0 for them. The sign of one that shrank
    until its digits were lost is not known.
    """

    id = "wang2022:lemma1"
    source = Source("wang2022", "Lemma 1")
    summary = "Balanced neurons stay balanced, and no output weight ever changes its sign."
    needs = "path"
    tolerance = 1e-7
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        return three_neurons()

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        start = Network(case.given_start.W, 2 * case.given_start.a)
        return Case(case.data, case.setting, start), "balanced"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return two_classes(case, "§4"), *flow_checks(case, "§4")

    def predict(self, case: Case) -> Prediction:
        words = "At all times every neuron's two weights are equally long, and no sign changes."
        return Prediction(words, {"ratio": 1.0})

    def residual(
        self, prediction: Prediction, case: Case, run: Observation | None
    ) -> float | Estimate | None:
        if run is None:
            return None
        worst, largest = 0.0, np.full(len(run.start.a), 1e-300)
        for moment, lost in zip(run.path, run.lost_digits(), strict=True):
            W, a = moment.network.W, moment.network.a
            squares = (W**2).sum(axis=1)
            gone = (squares < GONE**2) & (np.abs(a) < GONE)
            changed = ~gone & (np.sign(a) != np.sign(run.start.a))
            if changed.any():
                reason = "a neuron shrank until its digits were lost"
                return Estimate(1.0, float(lost[changed].min()), reason)
            largest = np.maximum(largest, np.maximum(squares, a**2))
            worst = max(worst, float((np.abs(squares - a**2) / largest).max()))  # (70)
        return worst

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        grown = Network(100 * case.given_start.W, 100 * case.given_start.a)
        return Observation(
            (PathPoint(-math.inf, 0.0, case.given_start), PathPoint(1.0, 0.0, grown))
        )

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"‖w‖² and a² differ by {residual:.1e} of their size at most, along the whole path."


def _slope_at_zero() -> Evidence:
    # The difference quotient errs by about h², rounding by about ε/h: both are below 1e-10.
    h = 1e-5
    slope = (math.log1p(math.exp(h)) - math.log1p(math.exp(-h))) / (2 * h)  # −ℓ'(0)
    words = f"−ℓ'(0) of ℓ(q) = log(1 + e^(−q)) is {slope:.6f}, by a difference quotient."
    return Evidence("corrected" if abs(slope - 0.5) < abs(slope - 0.25) else "printed", words)


class Lemma2(Theorem):
    """Balanced weights, gradient flow on the logistic loss. With g(u, λ) = Σ λ_n x_n over u·x_n > 0
    and g_min the shortest g(σ, y/2) ≠ 0, sufficiently small weights have, for all t ≤ T,

        ‖g(u(t), λ̃(t)) − g(u(t), y/2)‖ ≤ g_min δ/8,   ‖dg(u(t), λ̃(t))/dt‖ ≤ g_min² δ/16,

    the second where sign(Xu) does not change. The proof gives the T that belongs to a start, which
    is what is predicted (δ = 0.1); the residual is the largest excess over a bound up to T. Ours:
    g_min is also the shortest over the gradients on hyperplanes.
    """

    id = "wang2022:lemma2"
    source = Source("wang2022", "Lemma 2")
    summary = (
        "From small weights every point pulls on the neurons nearly as it does at the start, for a "
        "time."
    )
    needs = "path"
    tolerance = 1e-9
    invariances = frozenset({"order", "rotation"})
    errata = (
        Erratum("λ̃ ≈ y/4 near the start, and g(u, y/4)", "λ̃ ≈ y/2, and g(u, y/2)", _slope_at_zero),
    )

    def example(self) -> Case:
        return three_neurons()

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        start = Network(1e5 * case.given_start.W, 1e5 * case.given_start.a)
        return Case(case.data, case.setting, start), "lasts_at_first"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            two_classes(case, "§4"),
            *flow_checks(case, "§4"),
            few_sign_vectors(case, "(25)"),
            self._small(case),
        )

    @staticmethod
    @unquantified
    def _small(case: Case) -> Check:
        until = _time_of(case)
        if until is None:
            reason = "the initial weights have not been drawn"
            if case.start is not None:
                reason = "too many sign vectors to say how small is small enough"
            return undecided("lasts_at_first", "Lemma 2", reason)
        note = f"the bounds are sure to hold up to t = {until:.3g}"
        return by_slack("lasts_at_first", until, "Lemma 2", note, strict=True)

    def predict(self, case: Case) -> Prediction:
        until, allowed = _time_of(case), early.allowances(case.data) if case.data.binary else None
        if until is None or allowed is None:
            words = "While the weights are small every point pulls nearly as it does at the start."
            return Prediction(words)
        words = (
            f"Up to t = {until:.3g} the pull on a neuron, the weighted sum of the points it sees, "
            f"stays within {allowed[0]:.2g} of what it is for outputs 0, and changes at a rate of "
            f"at most {allowed[1]:.2g}."
        )
        return Prediction(words, {"time": until, "difference": allowed[0], "rate": allowed[1]})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        if run is None or "time" not in prediction.values:
            return None
        allowed = prediction.values["difference"], prediction.values["rate"]
        worst = 0.0
        for moment in run.path:
            if moment.time <= math.log(prediction.values["time"]):
                both = early.differences(moment.network, case.data)
                worst = max(worst, *(f / most - 1 for f, most in zip(both, allowed, strict=True)))
        return worst

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        """At the last moment the weights are as large as the bounds allow."""
        allowed = prediction.values["difference"], prediction.values["rate"]
        # Bisection over factors of the start, on a logarithmic scale.
        low, high = 1.0, 1e10
        for _ in range(200):
            middle = math.sqrt(low * high)
            network = Network(middle * case.given_start.W, middle * case.given_start.a)
            both = early.differences(network, case.data)
            fits = all(f <= most for f, most in zip(both, allowed, strict=True))
            low, high = (middle, high) if fits else (low, middle)
        last = Network(low * case.given_start.W, low * case.given_start.a)
        time = math.log(prediction.values["time"])
        return Observation(
            (PathPoint(-math.inf, 0.0, case.given_start), PathPoint(time, 0.0, last))
        )

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual == 0:
            return f"Both bounds hold up to t = {prediction.values['time']:.3g}."
        return f"A bound is exceeded by {residual:.1e} of it."


def _time_of(case: Case) -> float | None:
    if case.start is None or not case.data.binary:
        return None
    return early.near_start_until(case.data, early.total_of(case.start))
