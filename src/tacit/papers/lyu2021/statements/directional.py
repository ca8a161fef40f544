"""Homogeneous networks: the direction converges, to a KKT point, near a good one to as good a one.

Both statements are about homogeneous networks in general; here they are asked about two-layer ones,
whose limits the flow tells.
"""

import math
from dataclasses import replace
from typing import Literal

import numpy as np

from tacit.certificates import optimum, two_layer_kkt
from tacit.papers.lyu2021.statements.cases import symmetric_case
from tacit.papers.lyu2021.statements.hypotheses import flow_checks, started
from tacit.papers.lyu2021.statements.network_functions import direction_distance, log_loss, margin
from tacit.papers.lyu2021.statements.run_ends import ended, known_end
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses.checks import by_slack, needs_a_run, undecided
from tacit.theorems.hypotheses.setting import both_layers, two_classes, two_layer
from tacit.values import Check, Network, Setting

THRESHOLD = math.log(math.log(2))
"""log of the sum of the losses below which every point is on its side: L < ln 2/n on the mean."""
NEAR, NEAR_END = 0.1, 0.3
"""Our ε₀ and δ: "for any δ there is an ε₀" names neither."""
SECONDS, GAP = 5.0, 1e-9
"""Seconds for the best network, and the gap of its bounds at which it counts as known."""


class Theorem31(Theorem):
    """Theorem 3.1: once the loss is below ln 2/n, the direction converges to a KKT point.

    For homogeneous networks with the logistic loss: if L(θ(0)) < ln 2/n, then L → 0, ‖θ‖ → ∞, and
    θ/‖θ‖ converges to a direction along which the KKT conditions of min ½‖θ‖² s.t. q_i ≥ 1 hold.
    Any moment of the path may be called 0.
    """

    id = "lyu2021:thm3.1"
    source = Source("lyu2021", "Theorem 3.1")
    summary = (
        "Once the loss is so small that every point is on its side, the weights grow without bound "
        "and their direction converges to a KKT point of the max-margin problem."
    )
    needs = "limit"
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        return symmetric_case(width=3, size=1e-3)

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        return replace(case, setting=replace(case.setting, rule="sgd")), "gradient_flow"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            two_classes(case, "§3.1"),
            two_layer(case, "§3.2"),
            *flow_checks(case),
            below(case, run, "Theorem 3.1"),
        )

    def predict(self, case: Case) -> Prediction:
        words = (
            "Once the sum of the losses is below ln 2, the weights grow without bound and their "
            "direction converges to a KKT point of the max-margin problem."
        )
        return Prediction(words, {"threshold": math.log(2)})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The residual of the KKT conditions; at least 1 when a point is on the wrong side."""
        end = known_end(run)
        if end is None:
            return None
        train: Literal["both", "first"] = "both" if case.both else "first"
        kkt = two_layer_kkt(case.data, end, train=train)
        wrong = 1 + kkt.feasibility if kkt.feasibility > 0 else 0.0
        return max(kkt.stationarity, kkt.complementarity, wrong)

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        """The global optimum is a KKT point."""
        best = optimum(case.data, Setting(activation=case.setting.activation)).network
        return ended(_spread(best, case.start))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"The KKT conditions hold at the limit up to {residual:.1e}."


class Theorem56(Theorem):
    """Theorem 5.6: large weights near a local-max-margin direction stay near one as good.

    For L-homogeneous networks with the logistic loss: for a local-max-margin direction θ̄* and any
    δ > 0 there are ε₀ > 0 and ρ₀ ≥ 1 such that from any θ₀ with ‖θ₀‖ ≥ ρ₀ and
    ‖θ₀/‖θ₀‖ − θ̄*‖ ≤ ε₀ the flow converges to a direction θ̄ of the same margin with ‖θ̄ − θ̄*‖ ≤ δ.

    Here θ̄* is the global optimum, its neurons split like the initial ones. The theorem names no ε₀,
    ρ₀ and δ; ours are 0.1, the norm at which the loss is below ln 2/n, and 0.3.
    """

    id = "lyu2021:thm5.6"
    source = Source("lyu2021", "Theorem 5.6")
    summary = (
        "Weights that are large and already near the direction of the widest margin converge to a "
        "direction nearby with the same margin."
    )
    needs = "limit"
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        case = symmetric_case(width=4)
        best = optimum(case.data, Setting(activation=case.setting.activation)).network
        near = _spread(best, case.start)
        rng = np.random.default_rng(0)
        noise = replace(near, W=rng.normal(size=near.W.shape), a=rng.normal(size=near.a.shape))
        step = 0.07 * near.norm / noise.norm
        start = replace(near, W=2 * (near.W + step * noise.W), a=2 * (near.a + step * noise.a))
        return replace(case, start=start)

    def counterexample(self) -> tuple[Case, str]:
        """Every point is on its side, but the signs are not equally strong."""
        case = self.example()
        share = np.where(case.given_start.a > 0, 8.0, 4.0)
        start = replace(
            case.given_start, W=share[:, None] * case.given_start.W, a=share * case.given_start.a
        )
        return replace(case, start=start), "near_the_best"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        case, place = started(case, run), "Theorem 5.6"
        return (
            two_classes(case, "§3.1"),
            two_layer(case, "§3.2"),
            both_layers(case, "§3.2"),
            *flow_checks(case),
            *(replace(check, quantified=False) for check in _starts_near(case, place)),
        )

    def predict(self, case: Case) -> Prediction:
        best = optimum(case.data, Setting(activation=case.setting.activation))
        values = {"margin": best.margin, "W": best.network.W, "a": best.network.a}
        words = (
            f"The flow stays near the best direction and ends with its margin, {best.margin:.6g}."
        )
        return Prediction(words, values)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The margin's relative distance from that of θ̄*; beyond δ, the direction's excess too."""
        end = known_end(run)
        if end is None or run is None:
            return None
        best = Network(prediction.values["W"], prediction.values["a"], case.alpha)
        away = direction_distance(end, _spread(best, case.start or run.start))
        short = abs(margin(end, case) / prediction.values["margin"] - 1)
        return max(short, away - NEAR_END)

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        best = Network(prediction.values["W"], prediction.values["a"], case.alpha)
        return ended(_spread(best, case.start))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return (
            f"The limit's margin is {prediction.values['margin']:.6g} up to {residual:.1e} of it, "
            f"and its direction is within {NEAR_END} of the best one."
            if residual <= self.tolerance
            else f"The limit has another margin or direction: the residual is {residual:.1e}."
        )


def below(case: Case, run: Observation | None, place: str) -> Check:
    """log of the sum of the losses, at the start or at the best moment of the run."""
    name = "small_loss"
    if run is not None:
        low = min(moment.log_loss for moment in run.path)
        return by_slack(name, THRESHOLD - low, place, f"log of the sum: {low:.4g}", strict=True)
    if case.start is not None and two_layer(case, place).holds:
        low = log_loss(case.start, case)
        if low < THRESHOLD:
            return by_slack(name, THRESHOLD - low, place, f"log of the sum: {low:.4g}")
    return needs_a_run(name, place)


def _starts_near(case: Case, place: str) -> tuple[Check, Check]:
    """Whether the start is large, and if so, whether it is near the best direction."""
    if case.start is None or not (case.data.binary and case.both):
        note = "needs initial weights, two classes and both layers"
        return undecided("large_start", place, note), undecided("near_the_best", place, note)
    low = log_loss(case.start, case)
    note = f"log of the sum of the losses: {low:.3g}; ρ₀ is read as: that is below log ln 2"
    large = by_slack("large_start", THRESHOLD - low, place, note, strict=True)
    if not large.holds:
        return large, undecided("near_the_best", place, "not looked at: the start is not large")
    best = optimum(case.data, Setting(activation=case.setting.activation), seconds=SECONDS)
    if best.gap > GAP:
        return large, undecided("near_the_best", place, "the best network is not known")
    away = direction_distance(case.start, _spread(best.network, case.start))
    note = f"the directions are {away:.2g} apart; ε₀ is read as {NEAR}"
    return large, by_slack("near_the_best", NEAR - away, place, note)


def _spread(best: Network, start: Network | None) -> Network:
    """The best network with its neurons split among the initial ones that are nearest to them.

    A neuron v of sign s may be split into any (w_k, a_k) = c_k (v/√‖v‖, s√‖v‖) with Σ c_k² = 1.
    """
    lengths = np.linalg.norm(best.W, axis=1) * np.abs(best.a)
    root = np.sqrt(lengths)
    ideal = replace(
        best, W=best.W * (root / np.linalg.norm(best.W, axis=1))[:, None], a=np.sign(best.a) * root
    )
    if start is None:
        return ideal
    along = start.W @ ideal.W.T + np.outer(start.a, ideal.a)
    owner = np.argmax(along / (root * math.sqrt(2)), axis=1)
    share = np.maximum(along[np.arange(len(owner)), owner], 0.0)
    total = np.array([np.linalg.norm(share[owner == g]) for g in range(len(root))])
    share = share / np.where(total > 0, total, 1.0)[owner]
    return replace(best, W=share[:, None] * ideal.W[owner], a=share * ideal.a[owner])
