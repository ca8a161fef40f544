"""App. I.2.1: on orthogonally separable data the flow never has a choice."""

import math
from typing import final

import numpy as np

from tacit.data import load
from tacit.papers.lyu2021.statements.cases import flow_setting
from tacit.papers.lyu2021.statements.hypotheses import network_checks
from tacit.papers.lyu2021.statements.linear_phase import STEPS
from tacit.theorems import Case, Estimate, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.errata import Erratum, Evidence
from tacit.theorems.hypotheses import exponential_tail, flow
from tacit.values import Check, Network


def _a_sign_that_changes() -> Evidence:
    """One unbalanced neuron on two points; Euler's rule on the sum of the logistic losses."""
    X, y, alpha = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, -1]), 0.5
    w, a, step = np.array([-1.0, 1.0]), 0.2, 1e-3
    first = a
    for _ in range(1000):
        z = X @ w
        slopes = np.where(z > 0, 1.0, alpha)
        p = y / (1 + np.exp(y * a * slopes * z))
        w, a = w + step * a * (p * slopes) @ X, a + step * float(p @ (slopes * z))
    return Evidence(
        "corrected" if first * a < 0 else "printed",
        f"On (1, 0) and (0, 1) with y = (1, −1) and α = ½ a neuron that starts as w = (−1, 1), "
        f"a = {first} has a = {a:.2f} at time 1.",
    )


@final
class LemmaI21(Theorem):
    """App. I.2.1: orthogonally separable data has no branching starting points.

    Where y_i y_j⟨x_i, x_j⟩ ≥ 0 for all i, j, the velocity of a Leaky ReLU neuron satisfies

        ⟨dw_k/dt, x_i⟩ = a_k Σ_j −ℓ'(q_j) y_j h_kj ⟨x_i, x_j⟩,   h_kj in [α, 1],

    which has the sign of a_k y_i whatever the masks h are. So ⟨w_k, x_i⟩ is monotone as long as a_k
    keeps its sign; every activation hyperplane is crossed, none is slid along, and the trajectory
    is unique. α > 0 matters: a ReLU neuron on a hyperplane may stay there or leave.
    """

    id = "lyu2021:lemmaI.2.1"
    source = Source("lyu2021", "App. I.2.1")
    summary = (
        "On orthogonally separable data each Leaky ReLU neuron passes every point in one direction "
        "only, so gradient flow never has a choice."
    )
    needs = "path"
    tolerance = 1e-9
    invariances = frozenset({"order", "scale", "rotation"})
    errata = (
        Erratum(
            "by Theorem B.19 no a_k changes its sign",
            "that needs |a_k| ≥ ‖w_k‖ at the start (Lemma B.16); the sign of another a_k may "
            "change, and ⟨w_k, x_i⟩ is monotone in between",
            _a_sign_that_changes,
        ),
    )

    def example(self) -> Case:
        data = load("orthogonal:n=12,d=3,seed=1")
        return Case(data, flow_setting("leaky:0.5", 6, "balanced:1e-2"))

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        return Case(case.data, flow_setting("relu", 6, "balanced:1e-2")), "leaky"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            *network_checks(case),
            exponential_tail(case, "§3.1"),
            flow(case, "(1)"),
            case.data_check("orthogonally_separable", "Definition H.1"),
        )

    def predict(self, case: Case) -> Prediction:
        return Prediction(
            "Every neuron with a > 0 moves towards the positive points and away from the negative "
            "ones all the time, and those with a < 0 the other way, so the path is unique."
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The largest step back of a w_k·x_i, over ‖w_k‖‖x_i‖; 1 where a neuron slides or the path
        branches."""
        assert run is not None
        if run.outcome == "branched" or any(what == "slide" for _, _, what in run.events):
            return 1.0
        worst, sure = steps_back(run, case)
        return Estimate(worst, worst - sure, STEPS)

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        """Every neuron moves along a_k Σ y_i x_i."""
        rng = np.random.default_rng(0)
        width, d = case.setting.width, case.data.d
        W, a = rng.normal(size=(width, d)), rng.normal(size=width)
        step = np.outer(a, case.data.y @ case.data.X)
        return Observation(
            tuple(
                PathPoint(time, -time, Network(W + math.exp(time) * step, a, case.alpha))
                for time in (0.0, 1.0, 2.0)
            )
        )

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        assert run is not None
        if residual >= 1:
            return "The path branches, or a neuron slides along an activation hyperplane."
        crossed = sum(what == "cross" for _, _, what in run.events)
        to = "" if residual == 0 else f" (to {residual:.0e})"
        return f"Activation hyperplanes were crossed {crossed} times, always the same way{to}."


def steps_back(run: Observation, case: Case) -> tuple[float, float]:
    """The most that a w_k·x_i moves against a_k y_i between two moments, over ‖w_k‖‖x_i‖.

    As it is, and less the errors of the neuron; neurons that change the sign of a_k in this step
    are left out.
    """
    X, y = case.data.X, case.data.y
    lengths = np.linalg.norm(X, axis=1)
    worst = sure = 0.0
    for one, other in zip(run.path, run.path[1:], strict=False):
        W, V, a = one.network.W, other.network.W, one.network.a
        sign = np.where(a * other.network.a > 0, np.sign(a), 0.0)
        sizes = np.maximum(np.linalg.norm(V, axis=1), np.linalg.norm(W, axis=1))
        back = -sign[:, None] * y * ((V - W) @ X.T)
        back = (back / np.maximum(sizes[:, None] * lengths, 1e-300)).max(axis=1)
        worst = max(worst, float(back.max()))
        sure = max(sure, float((back - one.known_errors - other.known_errors).max()))
    return worst, sure
