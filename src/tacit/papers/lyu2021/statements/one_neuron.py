"""One Leaky ReLU alone: its only KKT point (Lemma A.4)."""

import math
from dataclasses import replace
from typing import Literal

import numpy as np

from tacit.certificates import two_layer_kkt
from tacit.data import load
from tacit.numerics.least_squares import nnls
from tacit.papers.lyu2021.networks import one_neuron
from tacit.papers.lyu2021.scaled_margin import ScaledMargin, scaled_margin
from tacit.papers.lyu2021.statements.cases import hinted_case
from tacit.papers.lyu2021.statements.hypotheses import network_checks, width_is
from tacit.theorems import (
    Case,
    Erratum,
    Estimate,
    Evidence,
    Observation,
    Prediction,
    Source,
    Theorem,
)
from tacit.values import Check, Dataset, Network, Setting

Sign = Literal[1, -1]


def best_neuron(case: Case, sign: Sign) -> ScaledMargin:
    """w⁺ and γ⁺, or w⁻ and γ⁻."""
    return scaled_margin(case.data.X, case.data.y, case.alpha, sign)


def split(w: np.ndarray, sign: Sign, case: Case) -> Network:
    """One neuron spread over the initial neurons of that sign; the others are zero."""
    one = one_neuron(w, case.alpha, sign)
    if case.start is None:
        return one
    share = np.where(sign * case.start.a > 0, np.abs(case.start.a), 0.0)
    share = share / np.linalg.norm(share)
    return Network(np.outer(share, one.W[0]), share * one.a[0] + 0.0, case.alpha)


class LemmaA4(Theorem):
    """Lemma A.4: a single neuron with a₁ ≥ 0 has one KKT direction, (w⁺, 1)/√2.

    For m = 1, if θ = (w₁, a₁) of unit norm is a KKT-margin direction with a₁ ≥ 0, then
    θ = (w⁺/√2, 1/√2), and it attains the widest margin of such networks, ½γ⁺. The constraints
    a φ(w·x_i) y_i ≥ 1 are linear then: y_i aw·x⁺_i ≥ 1.
    """

    id = "lyu2021:lemmaA.4"
    source = Source("lyu2021", "Lemma A.4")
    summary = (
        "A single neuron with positive output weight has only one KKT point, the max-margin "
        "separator of the points scaled for it."
    )
    needs = "data"
    tolerance = 1e-7
    invariances = frozenset({"rotation"})

    def example(self) -> Case:
        data = load("linear:n=12,d=3,seed=2")
        return Case(data, Setting(activation="leaky:0.3", width=1, rule="flow"))

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        X, y = case.data.X, case.data.y
        data = Dataset(np.vstack([X, X[:1]]), np.append(y, -y[0]))
        return replace(case, data=data, _properties={}), "linearly_separable"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            *network_checks(case),
            width_is(case, 1, "Lemma A.4"),
            case.data_check("linearly_separable", "Assumption 3.2"),
        )

    def predict(self, case: Case) -> Prediction:
        best = best_neuron(case, 1)
        margin = best.margin_bounds.lower / 2
        words = (
            "A neuron with positive output weight has one KKT point, the max-margin separator w⁺ "
            f"of the scaled points, of margin ½γ⁺ = {margin:.6g}."
        )
        return Prediction(words, {"w": best.direction, "margin": margin}, ((1, best.direction),))

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """Distance from the solution of the KKT system by non-negative least squares, and the KKT
        residual of the predicted network."""
        X, y = case.data.X, case.data.y
        Z = np.where(y > 0, 1.0, case.alpha)[:, None] * y[:, None] * X
        lengths = np.linalg.norm(Z, axis=1)  # very different ones, where α is small
        rows = np.vstack([Z.T / lengths, lengths.min() / lengths])
        goal = np.append(np.zeros(X.shape[1]), 1.0)
        left = rows @ nnls(rows, goal)[0] - goal
        w = left[:-1] / np.linalg.norm(left[:-1])  # the only KKT point of a linear problem
        net = one_neuron(prediction.values["w"], case.alpha)
        kkt = two_layer_kkt(case.data, net)
        off = abs(kkt.margin / prediction.values["margin"] - 1)
        apart = float(np.linalg.norm(w - prediction.values["w"]))
        gap = best_neuron(case, 1).margin_bounds.gap
        return Estimate(
            max(apart, off, kkt.stationarity, kkt.complementarity),
            math.sqrt(2 * gap),  # a unit vector of margin γ⁺(1 − gap) may be as far from w⁺
            f"the bounds of γ⁺ are {gap:.1e} of it apart",
        )

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"The KKT system, solved in another way, has the same solution up to {residual:.1e}."

    @staticmethod
    def _other_sign() -> Evidence:
        case = hinted_case()
        case = replace(case, data=Dataset(case.data.X, -case.data.y), _properties={})
        plus, minus = (best_neuron(case, s).margin_bounds.lower / 2 for s in (1, -1))
        words = f"½γ⁺ = {plus:.6g}, but a neuron with a < 0 has margin ½γ⁻ = {minus:.6g}."
        return Evidence("corrected" if minus > plus * 1.001 else "printed", words)

    errata = (
        Erratum(
            "it attains the global max margin ½γ⁺",
            "it attains the widest margin of neurons with a₁ ≥ 0; one with a₁ < 0 may have more",
            _other_sign,
        ),
    )
