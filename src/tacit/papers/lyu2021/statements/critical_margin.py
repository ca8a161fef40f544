"""Theorem F.9: the margin of the limit is a critical value, which the smoothed margin rises to."""

import math
from dataclasses import replace
from typing import final

import numpy as np

from tacit.certificates import two_layer_kkt
from tacit.numerics.float64 import EPS
from tacit.papers.lyu2021.networks import linear_network
from tacit.papers.lyu2021.statements.directional import THRESHOLD, Theorem31, below
from tacit.papers.lyu2021.statements.hypotheses import flow_checks
from tacit.papers.lyu2021.statements.network_functions import margin
from tacit.papers.lyu2021.statements.run_ends import known_end
from tacit.theorems import (
    Case,
    Erratum,
    Estimate,
    Evidence,
    Observation,
    PathPoint,
    Prediction,
    Source,
    Theorem,
)
from tacit.theorems.hypotheses import both_layers, neuron_sizes, two_classes, two_layer
from tacit.values import Check, Network


def smoothed_margin(network: Network, case: Case) -> float | None:
    """γ̃ = ℓ⁻¹(nL)/‖θ‖² with the logistic loss ℓ; None where nL ≥ ℓ(0) = ln 2."""
    q = network.margins(case.data.X, case.data.y)
    deep = np.maximum(q, 30.0)
    losses = np.where(q > 30, -deep, np.log(np.logaddexp(0.0, -np.minimum(q, 30.0))))
    largest = float(losses.max())
    total = largest + math.log(float(np.exp(losses - largest).sum()))  # ln nL
    if total >= THRESHOLD:
        return None
    small = math.exp(total)
    correction = math.log(math.expm1(small) / small) if small > 1e-8 else small / 2
    return -(total + correction) / network.norm**2


def _error(value: float, moment: PathPoint, case: Case) -> float:
    """What rounding and the errors of the neurons may have made of a smoothed margin."""
    network, longest = moment.network, float(np.linalg.norm(case.data.X, axis=1).max())
    square, sizes = network.norm**2, neuron_sizes(network)
    # Σ|ℓ'(q_i)| ≤ 1.4 |ℓ'(q̃)| where Σ ℓ < ℓ(0), and ℓ⁻¹ has no digits below 1.
    terms = float(network.weights.sum()) * longest
    rounding = 4 * EPS * (2 + abs(value) * square + (network.width + network.d) * terms)
    moved = float(moment.known_errors @ sizes**2)
    return (rounding + moved * (1.4 * longest + 2 * abs(value))) / square


def _radial_part() -> Evidence:
    """d γ̃(sθ)/ds at s = 1 by difference quotients, for θ with all points on their sides."""
    case, step = Theorem31().example(), 1e-4
    one = linear_network(case.view.separator.direction, case.alpha)
    size = 3 / math.sqrt(margin(one, case))

    def value(s: float) -> float:
        found = smoothed_margin(replace(one, W=s * size * one.W, a=s * size * one.a), case)
        assert found is not None
        return found

    rise = (value(1 + step) - value(1 - step)) / (2 * step)
    along = ((1 + step) ** 2 * value(1 + step) - (1 - step) ** 2 * value(1 - step)) / (2 * step)
    plus, minus = along + 2 * value(1), along - 2 * value(1)
    words = f"⟨∂γ̃, θ⟩ is {rise:.6f}; with − it is {minus:.6f}, with + {plus:.6f}."
    right = abs(rise - minus) < 1e-6 < abs(rise - plus)
    return Evidence("corrected" if right else "printed", words)


@final
class TheoremF9(Theorem):
    """Theorem F.9: the margin of the limit is an asymptotic Clarke critical value of γ̃.

    For homogeneous networks, if L(θ(0)) < ℓ(0)/n, then θ/‖θ‖ converges to a direction θ̄, and there
    are θ_j and g_j in ∂°γ̃(θ_j) with γ̃(θ_j) → γ(θ̄) and (1 + ‖θ_j‖)‖g_j‖ → 0, where
    γ̃ = ℓ⁻¹(nL)/‖θ‖^L is the smoothed margin.

    On the ray of θ̄ ‖θ‖ g = Lγ(θ̄)θ̄ − Σ p_i ∇q_i(θ̄) with p_i = |ℓ'(q_i)|/Σ|ℓ'|, which by a step that
    vanishes against ‖θ‖ may be any p on the support. So the conclusion is that some such p makes
    this 0, the KKT conditions with their multipliers, and that γ̃ tends to γ(θ̄). By Lemma F.6 it
    does so from below and never falls, which is checked along the path.
    """

    id = "lyu2021:thmF.9"
    source = Source("lyu2021", "Theorem F.9")
    summary = (
        "Once every point is on its side, the smoothed margin only rises, to the margin of the "
        "limit, at which it is stationary."
    )
    needs = "limit"
    tolerance = 1e-6
    invariances = frozenset({"order", "rotation"})
    errata = (
        Erratum(
            "∂°γ̃(θ) = ∂°α(θ)/‖θ‖^L + Lα(θ)θ/‖θ‖^(L+2), in the proof",
            "∂°α(θ)/‖θ‖^L − Lα(θ)θ/‖θ‖^(L+2); a second slip, in ⟨g_j, θ_j⟩, undoes the first",
            _radial_part,
        ),
    )

    def example(self) -> Case:
        return Theorem31().example()

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        return replace(case, setting=replace(case.setting, rule="sgd")), "gradient_flow"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            two_classes(case, "§3.1"),
            two_layer(case, "§3.2"),
            both_layers(case, "§3.2"),
            *flow_checks(case),
            below(case, run, "Theorem F.9"),
        )

    def predict(self, case: Case) -> Prediction:
        return Prediction(
            "Once the sum of the losses is below ln 2, the smoothed margin rises to the margin of "
            "the limit, at which it is stationary."
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The KKT residual of the limit, the largest fall of γ̃, and its excess over γ(θ̄), both as
        a share of γ(θ̄); at least 1 when a point is on the wrong side."""
        end = known_end(run)
        if end is None or run is None:
            return None
        kkt = two_layer_kkt(case.data, end)
        if kkt.feasibility > 0:
            return 1 + kkt.feasibility
        values = [(smoothed_margin(moment.network, case), moment) for moment in run.path]
        apart = [(value, moment) for value, moment in values if value is not None]
        rising = np.array([value for value, _ in apart])
        errors = np.array([_error(value, moment, case) for value, moment in apart])
        widest = margin(end, case)
        fall, above = -np.diff(rising), rising - widest
        stationary = max(kkt.stationarity, kkt.complementarity)
        off = max(fall.max(initial=0.0), above.max(initial=0.0)) / widest
        fall, above = fall - errors[1:] - errors[:-1], above - errors
        sure = max(fall.max(initial=0.0), above.max(initial=0.0)) / widest
        worst = max(stationary, float(off))
        reason = "rounding and the errors of the path's steps"
        return Estimate(worst, worst - max(stationary, float(sure)), reason)

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        return Theorem31().ideal(prediction, case)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= self.tolerance:
            return "The smoothed margin rises to that of the limit, where it is stationary."
        return f"The smoothed margin falls, or is not stationary at the limit: {residual:.1e}."
