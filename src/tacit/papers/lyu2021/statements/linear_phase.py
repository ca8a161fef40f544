"""How long small networks follow the linear flow, and how fast each neuron is pulled: D.2, B.20."""

import math
from dataclasses import replace
from typing import final

import numpy as np

from tacit.data import load
from tacit.papers.lyu2021.statements.cases import flow_setting, symmetric_case
from tacit.papers.lyu2021.statements.embedding import distance, embedding_of, has_drift, largest
from tacit.papers.lyu2021.statements.hypotheses import (
    flow_checks,
    network_checks,
    started,
    symmetric_checks,
)
from tacit.theorems import Case, Estimate, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.hypotheses import by_slack, neuron_sizes, undecided
from tacit.values import Check, Dataset, Network

STEPS = "the errors of the path's steps add up to that"
"""Why a residual that reads weights off a path may be too large."""
INTEGRATION_ERROR = 1e-9
"""Rounding and integration errors of a weight, as a share of its neuron."""


def linear_flow(start: Network, pulls: np.ndarray, t: float) -> Network:
    """The flow of dw_k = a_k c_k, da_k = ⟨w_k, c_k⟩ after the time t; c_k are rows of `pulls`.

    The part of w_k across c_k stays; w_k·ĉ_k ± a_k grow like e^(±‖c_k‖t).
    """
    rates = np.linalg.norm(pulls, axis=1)
    along = pulls / np.where(rates > 0, rates, 1.0)[:, None]
    p = (start.W * along).sum(axis=1)
    cosh, sinh = np.cosh(rates * t), np.sinh(rates * t)
    W = start.W + ((cosh - 1) * p + sinh * start.a)[:, None] * along
    return Network(W, cosh * start.a + sinh * p, start.alpha)


def short_points(case: Case) -> Check:
    """Check that ‖x_i‖ ≤ 1 for every point."""
    longest = float(np.linalg.norm(case.data.X, axis=1).max())
    # Points that were divided by their length may have a computed length just above 1.
    return by_slack("unit_ball", 1 + 1e-15 - longest, "§3.2", f"max‖x_i‖ is {longest:.4g}")


def path_error(moment: PathPoint) -> float:
    """What the steps of the path may have added to ‖θ‖_M."""
    return float((moment.known_errors * neuron_sizes(moment.network)).max())


def mean_time(moment: PathPoint, case: Case) -> float:
    """The time of the flow on the mean of the losses."""
    return case.data.n * math.exp(min(moment.time, 600.0))


@final
class LemmaD2(Theorem):
    """Lemma D.2: on symmetric data small weights follow the linear flow.

    Let ‖x_i‖ ≤ 1, θ₀ ≠ 0, and φ̃(θ₀, t) the flow of dw_k/dt = a_k µ̃, da_k/dt = ⟨w_k, µ̃⟩, with
    µ̃ = (1+α)/4 µ and λ₀ = ‖µ̃‖. Then

        ‖θ(t) − φ̃(θ₀, t)‖_M ≤ (4m‖θ₀‖³_M/λ₀) e^(3λ₀t)   for all t ≤ ln(√(λ₀/4)/(√m‖θ₀‖_M))/λ₀,

    with t the time of the mean of the losses. Every start is spoken of for which that time is
    positive; the bound is explicit.
    """

    id = "lyu2021:lemmaD.2"
    source = Source("lyu2021", "Lemma D.2")
    summary = (
        "On symmetric data a small network follows a linear flow that can be written down, with an "
        "error that is bounded at every time until the weights are no longer small."
    )
    needs = "path"
    tolerance = 1e-6
    invariances = frozenset({"order", "rotation"})

    def example(self) -> Case:
        return symmetric_case(size=1e-4)

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        data = Dataset(2 * case.data.X, case.data.y)
        return replace(case, data=data, _properties={}), "unit_ball"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        case = started(case, run)
        return (
            *symmetric_checks(case),
            *flow_checks(case),
            short_points(case),
            _room(case, "Lemma D.2"),
        )

    def predict(self, case: Case) -> Prediction:
        if case.start is None:
            return Prediction("Small weights follow a linear flow until they are of size √λ₀.")
        rate, until, bound = _constants(case, case.start)
        return Prediction(
            f"Up to the time {until:.4g} of the mean loss the weights follow the linear flow, "
            f"of rate {rate:.4g}, up to {bound:.3g} e^(3λ₀t).",
            {"rate": rate, "until": until, "bound": bound},
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The largest share by which the error exceeds its bound."""
        assert run is not None
        case = started(case, run)
        rate, until, bound = _constants(case, run.start)
        worst, sure = None, 0.0
        for moment in run.path[1:]:
            t = mean_time(moment, case)
            if t <= until:
                allowed = bound * math.exp(3 * rate * t)
                off = distance(moment.network, _linear(case, run.start, t))
                off = max(off - INTEGRATION_ERROR * largest(moment.network), 0.0)
                worst = max(worst or 0.0, off / allowed - 1)
                sure = max(sure, (off - path_error(moment)) / allowed - 1)
        return None if worst is None else Estimate(worst, worst - sure, STEPS)

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        moments = [PathPoint(-math.inf, 0.0, case.given_start)]
        for t in prediction.values["until"] * np.array([0.1, 0.5, 0.9]):
            network = _linear(case, case.given_start, t)
            moments.append(PathPoint(math.log(t / case.data.n), 0.0, network))
        return Observation(tuple(moments))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= self.tolerance:
            return "The weights stay as near to the linear flow as they should."
        return f"The distance from the linear flow exceeds its bound by {residual:.1e} of it."


def _linear(case: Case, start: Network, t: float) -> Network:
    known = embedding_of(case, start)
    return linear_flow(start, np.tile(known.rate * known.direction, (len(start.a), 1)), t)


def _constants(case: Case, start: Network) -> tuple[float, float, float]:
    """λ₀, the time until which it speaks, and 4m‖θ₀‖³_M/λ₀."""
    rate, m, size = embedding_of(case, start).rate, len(start.a), largest(start)
    until = math.log(math.sqrt(rate / 4) / (math.sqrt(m) * size)) / rate
    return rate, until, 4 * m * size**3 / rate


def _room(case: Case, place: str) -> Check:
    """The time of which the lemma speaks is positive; the slack is λ₀ times that time."""
    if case.start is None:
        return undecided("room_for_t", place, "the initial weights have not been drawn")
    if not has_drift(case) or not largest(case.start):
        return undecided("room_for_t", place, "µ or the initial weights are 0")
    rate, until, _ = _constants(case, case.start)
    note = f"λ₀t may be up to {rate * until:.3g}"
    return by_slack("room_for_t", rate * until, place, note, strict=True)


@final
class LemmaB20(Theorem):
    """Lemma B.20: every neuron is pulled to the right side of a separator, at a rate.

    For a separator w* with y_i⟨w*, x_i⟩ ≥ γ* > 0, for almost all t

        ⟨sgn(a_k) dw_k/dt, w*⟩ ≥ |a_k| αγ* (1 − e^(−nL))/n,

    t being the time of the mean of the losses, L. Here w* is the max-margin separator.

    Between two moments of a path, where L falls and |a_k| is at least |a_k| − s(e^(RLt) − 1) of the
    first, with s = ‖w_k‖ + |a_k|, R = max‖x_i‖ and t the time between them, the integral of this
    must hold: that is checked. A neuron whose a_k changes its sign in between is left out.
    """

    id = "lyu2021:lemmaB.20"
    source = Source("lyu2021", "Lemma B.20")
    summary = (
        "Every neuron moves to the side of a separator that its output weight wants, at least at a "
        "rate that the loss and the margin tell."
    )
    needs = "path"
    tolerance = 1e-6
    invariances = frozenset({"order", "rotation"})

    def example(self) -> Case:
        data = load("linear:n=10,d=3,margin=0.2,seed=1")
        rng = np.random.default_rng(0)
        start = Network(0.3 * rng.normal(size=(4, 3)), 0.3 * rng.normal(size=4), 0.5)
        return Case(data, flow_setting("leaky:0.5", 4), start)

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        return Case(
            case.data, flow_setting("relu", 4), replace(case.given_start, alpha=0.0)
        ), "leaky"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        separable = case.data_check("linearly_separable", "Assumption 3.2")
        return (*network_checks(case), *flow_checks(case), separable)

    def predict(self, case: Case) -> Prediction:
        least = case.alpha * case.view.separator.margin_bounds.lower / case.data.n
        return Prediction(
            f"sgn(a_k)⟨w_k, w*⟩ grows at least at the rate {least:.4g} |a_k| (1 − e^(−nL)).",
            {"w": case.view.separator.direction, "rate": least},
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """What the growth of sgn(a_k)⟨w_k, w*⟩ lacks, over ‖w_k‖ + |a_k|, at the worst."""
        assert run is not None
        w, rate = prediction.values["w"], prediction.values["rate"]
        R, n = float(np.linalg.norm(case.data.X, axis=1).max()), case.data.n
        worst, sure = None, 0.0
        for one, other in zip(run.path, run.path[1:], strict=False):
            before, after = one.network, other.network
            same = before.a * after.a > 0
            elapsed = mean_time(other, case) - mean_time(one, case)
            if not same.any():
                continue
            sizes = np.linalg.norm(before.W, axis=1) + np.abs(before.a)
            grown = math.expm1(min(R * math.exp(one.log_loss) / n * elapsed, 50.0))
            slowest = np.maximum(np.abs(before.a) - sizes * grown, 0.0)
            least = rate * slowest * elapsed * -math.expm1(-math.exp(other.log_loss))
            moved = np.sign(before.a) * ((after.W - before.W) @ w)
            larger = np.maximum(sizes, np.linalg.norm(after.W, axis=1) + np.abs(after.a))
            short = (least - moved) / larger - INTEGRATION_ERROR
            worst = max(worst or 0.0, float(short[same].max()))
            short -= one.known_errors + other.known_errors
            sure = max(sure, float(short[same].max()))
        return None if worst is None else Estimate(worst, worst - sure, STEPS)

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        """Every neuron moves along a_k w*, far enough."""
        start = case.given_start
        step = np.outer(np.sign(start.a), prediction.values["w"])
        moments = [
            PathPoint(-math.inf if not t else math.log(t), -t, replace(start, W=start.W + t * step))
            for t in (0.0, 1.0, 2.0)
        ]
        return Observation(tuple(moments))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= self.tolerance:
            return "Every neuron moves to its side of w* as fast as it should."
        return f"A neuron lacks {residual:.1e} of its size on its way to the right side of w*."
