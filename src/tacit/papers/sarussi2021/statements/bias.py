"""A bias in the first layer is one more input: App. K."""

from typing import final

import numpy as np

from tacit.papers.sarussi2021.perfect_agreement import par
from tacit.papers.sarussi2021.statements.hypotheses import (
    data_checks,
    network_checks,
    units,
    weights_of,
)
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import by_slack
from tacit.values import Check, Dataset, Network, Setting


@final
class BiasIsAnInput(Theorem):
    """With x' = (x, 1), w' = (w, b_w) and u' = (u, b_u), the network with a bias in its first
    layer, v Σ σ(w⁽ⁱ⁾·x + b_w⁽ⁱ⁾) − v Σ σ(u⁽ⁱ⁾·x + b_u⁽ⁱ⁾), is N_W'(x'). It is 1-homogeneous in W',
    so Theorems 4.1, 5.1, 6.1 and 6.2 hold for it on the points (x, 1): separable means separable by
    an affine hyperplane, R_x becomes √(R_x² + 1), and ‖x‖ in Theorem 5.1 becomes √(‖x‖² + 1).

    The residual evaluates the network both ways, with weights (W, b) and with 3(W, b).
    """

    id = "sarussi2021:appK"
    source = Source("sarussi2021", "App. K")
    summary = (
        "A bias in the first layer is an input that is always 1, so every theorem of the paper "
        "holds for networks with biases."
    )
    needs = "data"
    tolerance = 1e-12

    def example(self) -> Case:
        """Points on a line that only a bias can separate."""
        X = np.array([[1.0], [1.5], [2.0], [4.0], [4.5], [6.0]])
        data = Dataset(X, np.array([-1, -1, -1, 1, 1, 1]), "points on a line").with_bias(1)
        return Case(data, _setting())

    def counterexample(self) -> tuple[Case, str]:
        X = np.array([[-2.0, 1.0], [-1.0, 1.0], [3.0, 1.1]])
        return Case(Dataset(X, np.array([-1, -1, 1])), _setting()), "bias_input"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        off = float(np.abs(case.data.X[:, -1] - 1).max())
        note = f"the last input differs from 1 by up to {off:.3g}"
        return (
            *network_checks(case),
            *data_checks(case),
            by_slack("bias_input", -off, "App. K", note),
        )

    def predict(self, case: Case) -> Prediction:
        margin = case.view.separator.margin_bounds.lower
        longest = float(np.linalg.norm(case.data.X, axis=1).max())
        values: dict[str, object] = {"margin": margin, "R_x": longest}
        words = (
            f"With the bias the data has margin {margin:.3g} as {case.data.d}-dimensional points "
            "(x, 1), and the other theorems speak of those."
        )
        boundary = par(case.data.X, case.data.y, case.alpha).boundary
        if boundary is not None:
            values |= {"normal": boundary[:-1], "offset": float(boundary[-1])}
        return Prediction(words, values)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        network = weights_of(case, run) or _some_weights(case)
        x, W, b = case.data.X[:, :-1], network.W[:, :-1], network.W[:, -1]
        worst = 0.0
        for factor in (1.0, 3.0):
            Z = x @ (factor * W).T + factor * b
            with_bias = np.where(Z > 0, Z, case.alpha * Z) @ network.a
            lifted = factor * network.outputs(case.data.X)
            size = np.abs(Z) @ np.abs(network.a)
            worst = max(worst, float((np.abs(with_bias - lifted) / np.maximum(size, 1e-300)).max()))
        return worst

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"The network with a bias and the one on (x, 1) differ by {residual:.1e}."


def _some_weights(case: Case) -> Network:
    """The identity is about any weights: these are as good as others."""
    k, v = units(case)
    W = np.random.default_rng(0).standard_normal((2 * k, case.data.d))
    return Network(W, np.repeat([v, -v], k), case.alpha)


def _setting() -> Setting:
    return Setting(activation="leaky:0.3", train="first", width=6, rule="flow")
