"""Neurons that agree on the data become equal: Theorem 6.1 and Corollary 6.2."""

import math
from typing import final

import numpy as np

from tacit.data import load
from tacit.papers.sarussi2021.statements.hypotheses import units
from tacit.papers.sarussi2021.statements.linear_boundary import clusters, wrong_side
from tacit.papers.sarussi2021.statements.trajectory import agree, ends, flow_checks, late_phase
from tacit.theorems import Case, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.errata import Erratum, Evidence
from tacit.values import Check, Network, Setting


def _late_enough() -> Evidence:
    """A mean loss below 1/n, and a point on the wrong side."""
    network = Network(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0]), 0.1)
    X, y = np.array([[0.0, 0.3], [40.0, 0.0]]), np.array([1, 1])
    q = network.margins(X, y)
    mean = float(np.logaddexp(0, -q).mean())
    smoothed = -math.log(math.expm1(2 * mean))  # (5), times ‖W‖
    words = (
        f"Two positive points with outputs {q[0]:.1f} and {q[1]:.0f}: the mean loss {mean:.3f} is "
        f"below 1/n = 0.5 and above (ln 2)/n = {math.log(2) / 2:.3f}, yet a point is on the wrong "
        f"side and the smoothed margin has the sign of {smoothed:.2f}; (B4) of App. E asks for "
        "Σ ℓ < ℓ(0) = ln 2."
    )
    refuted = mean < 0.5 and q.min() < 0 and smoothed < 0
    return Evidence("corrected" if refuted else "printed", words)


def _lipschitz() -> Evidence:
    """All neurons moved along x: the output changes by more than App. E allows."""
    k, x = 5, np.array([0.6, 0.8])
    a, W = np.repeat([1.0, -1.0], k), np.tile(x, (2 * k, 1))
    moved = W + 0.1 * a[:, None] * x
    both = [Network(V, a, 0.1).outputs(x[None])[0] for V in (W, moved)]
    ratio = abs(both[1] - both[0]) / float(np.linalg.norm(moved - W))
    words = (
        f"With k = {k}, v = ‖x‖ = 1, moving every neuron along ±x changes the output by "
        f"{ratio:.4g} ‖ΔW‖: √(2k) = {math.sqrt(2 * k):.4g} is right, 2 is too small."
    )
    return Evidence("corrected" if 2 < ratio <= math.sqrt(2 * k) * (1 + 1e-9) else "printed", words)


LATE_PHASE = Erratum(
    "Assumption 6.1: there is t₀ with L_S(W_t₀) < 1/n",
    "there is t₀ with L_S(W_t₀) < (ln 2)/n",
    _late_enough,
)
LIPSCHITZ = Erratum(
    "App. E (A1): |Φ(W₁; x) − Φ(W₂; x)| ≤ 2v‖x‖‖W₁ − W₂‖",
    "≤ √(2k) v‖x‖‖W₁ − W₂‖ (regularity holds all the same)",
    _lipschitz,
)


@final
class AgreementClusters(Theorem):
    """Gradient flow with the logistic loss on linearly separable data; some time L_S < (ln 2)/n
    (Assumption 6.1), and from some T_NAR ≥ t₀ on W_t stays in an NAR with parameters (β, cʷ, cᵘ):
    c_iʷ ŵ⁽ˡ⁾·x_i ≥ β and c_iᵘ û⁽ˡ⁾·x_i ≥ β for all i, l. Then the normalised weights converge to a
    point of the NAR that is perfectly clustered: w⁽ⁱ⁾ = w⁽ʲ⁾ and u⁽ⁱ⁾ = u⁽ʲ⁾.
    """

    id = "sarussi2021:thm6.1"
    source = Source("sarussi2021", "Theorem 6.1")
    summary = (
        "If from some time on all neurons of one output sign are on the same side of every "
        "training point, they all become equal."
    )
    needs = "limit"
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})
    errata = (LATE_PHASE, LIPSCHITZ)

    def example(self) -> Case:
        return _example()

    def counterexample(self) -> tuple[Case, str]:
        setting = _setting(activation="relu")
        return Case(load("gaussians:n=10,d=2,seed=0"), setting), "leaky"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return _hypotheses(case, run, "Theorem 6.1")

    def predict(self, case: Case) -> Prediction:
        k, _ = units(case)
        words = (
            "If the neurons of each output sign agree on every point from some time on, the "
            f"{k} w neurons end as one vector and the {k} u neurons as another."
        )
        return Prediction(words, {"clusters": 2, "size": k})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        return clusters(run.end).relative if ends(run) else None

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        return _clustered_run(case)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual == 0:
            return "The neurons of each sign end as one vector, to the last digit."
        return f"No neuron ends farther from the mean of its sign than {residual:.1e} ‖w̄ − ū‖."


@final
class AgreementIsLinear(Theorem):
    """Under the assumptions of Theorem 6.1 gradient flow converges to a network with a linear
    decision boundary: sign N(x) = sign((w̄ − ū)·x) for all x.
    """

    id = "sarussi2021:cor6.2"
    source = Source("sarussi2021", "Corollary 6.2")
    summary = (
        "If from some time on all neurons of one output sign are on the same side of every "
        "training point, the decision boundary becomes linear."
    )
    needs = "limit"
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        return _example()

    def counterexample(self) -> tuple[Case, str]:
        return Case(load("xor:"), _setting()), "linearly_separable"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return _hypotheses(case, run, "Corollary 6.2")

    def predict(self, case: Case) -> Prediction:
        return Prediction(
            "If the neurons of each output sign agree on every point from some time on, the "
            "decision boundary becomes a hyperplane through 0."
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        return wrong_side(run.end, case.data.X, 0.0) if ends(run) else None

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        return _clustered_run(case)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return (
            "On the planes through w̄ − ū and a training point, the boundary is that of w̄ − ū up to "
            f"{residual:.1e} of the network's size."
        )


def _hypotheses(case: Case, run: Observation | None, place: str) -> tuple[Check, ...]:
    return (*flow_checks(case), late_phase(run), agree(case, run, place))


def _setting(activation: str = "leaky:0.3") -> Setting:
    return Setting(activation=activation, train="first", width=6, init="gaussian:1e-3", rule="flow")


def _example() -> Case:
    return Case(load("gaussians:n=10,d=2,seed=0"), _setting())


def _clustered_run(case: Case) -> Observation:
    """Two neurons, k times each, that need not be opposite."""
    k, v = units(case)
    w = case.view.separator.direction
    u = -0.5 * w + 0.3 * np.roll(w, 1)
    end = Network(np.repeat([w, u], k, axis=0), np.repeat([v, -v], k), case.alpha)
    return Observation((PathPoint(0.0, -1.0, end),), end)
