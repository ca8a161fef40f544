"""Clustered neurons have a linear decision boundary: Theorem 5.1 and Corollary 6.1."""

from typing import final

import numpy as np

from tacit.papers.sarussi2021.statements.hypotheses import has_weights, network_checks, weights_of
from tacit.papers.sarussi2021.statements.linear_boundary import Clusters, clusters, wrong_side
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.values import Check, Dataset, Network, Setting

RELATIVE_ROUNDING = 1e-9
"""Rounding errors of neurons and outputs, relative to their sizes."""


def _condition_rewritten() -> Evidence:
    """A point that meets (6) as printed and not the condition that it rewrites."""
    groups = clusters(LinearRegion().example().given_start)
    along = groups.normal / np.linalg.norm(groups.normal)
    across = np.cross(along, [1.0, 0.0, 0.0])
    cosine = 1.5 * groups.relative
    x = cosine * along + np.sqrt(1 - cosine**2) * across / np.linalg.norm(across)
    ratio = abs(groups.normal @ x) / (groups.radius * np.linalg.norm(x))
    words = (
        f"A point with |(w̄ − ū)·x| = {ratio:.2f} r‖x‖ meets (6) as printed and not the condition "
        "≥ 2r‖x‖ that (6) is said to rewrite (the conclusion does hold for it: already "
        "(1 − α)/(1 + α)·r‖x‖ is enough)."
    )
    return Evidence("corrected" if 1 <= ratio < 2 else "printed", words)


@final
class LinearRegion(Theorem):
    """Let r be the largest distance of a w neuron from w̄ = (1/k) Σ w⁽ⁱ⁾, or of a u neuron from ū.
    Then sign N_W(x) = sign((w̄ − ū)·x) for every x with |(w̄ − ū)·x| ≥ 2r‖x‖.

    The constant 2 is not the best one: (1 − α)/(1 + α) does, and nothing smaller. For, with s = w̄·x
    and t = ū·x, convexity gives N_W(x)/(vk) ≥ σ(s) − (σ(t + r‖x‖) + σ(t − r‖x‖))/2, which is
    positive for s − t > (1 − α)/(1 + α)·r‖x‖; two u neurons at ū ± r x/‖x‖ make it an equality. So
    (6) is true as it is printed, too, though it is not the theorem's condition rewritten.
    """

    id = "sarussi2021:thm5.1"
    source = Source("sarussi2021", "Theorem 5.1")
    summary = (
        "If the neurons of each output sign stand close together, a Leaky ReLU network decides "
        "like a linear classifier, except close to its boundary."
    )
    needs = "data"
    tolerance = RELATIVE_ROUNDING
    errata = (
        Erratum(
            "(6): |(w̄ − ū)·x|/(‖x‖‖w̄ − ū‖) ≥ r/‖w̄ − ū‖, as the condition of Theorem 5.1 rewritten",
            "≥ 2r/‖w̄ − ū‖ is the condition of Theorem 5.1 rewritten",
            _condition_rewritten,
        ),
    )

    def example(self) -> Case:
        rng = np.random.default_rng(0)
        means = np.repeat([[2.0, 1.0, 0.0], [-1.0, 0.5, 1.0]], 4, axis=0)
        W = means + 0.3 * rng.standard_normal(means.shape)
        return _case(W, np.repeat([0.5, -0.5], 4), "leaky:0.2")

    def counterexample(self) -> tuple[Case, str]:
        W = np.array([[2.0, 0.0], [2.0, 0.1], [-2.0, 0.0]])
        return _case(W, np.array([1.0, 1.0, -1.0]), "leaky:0.2"), "halves"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (*network_checks(case), has_weights(case, run, "§5"))

    def predict(self, case: Case) -> Prediction:
        if case.start is None:
            return Prediction(
                "Whatever the weights become, the network decides like the linear classifier "
                "w̄ − ū wherever |(w̄ − ū)·x| ≥ 2r‖x‖."
            )
        groups = clusters(case.start)
        cosine = 2 * groups.relative  # (6), with the 2 of the theorem
        share = _share_inside(groups, case.data.X)
        values = {"r": groups.radius, "normal": groups.normal, "share_inside": share}
        if not np.isfinite(cosine) or cosine > 1:
            words = (
                f"With the initial weights r is {groups.radius:.3g} and ‖w̄ − ū‖ is "
                f"{np.linalg.norm(groups.normal):.3g}: no direction is far enough from the "
                "boundary for a statement."
            )
            return Prediction(words, values)
        words = (
            "With the initial weights the network decides like the linear w̄ − ū wherever "
            f"|cos(x, w̄ − ū)| ≥ 2r/‖w̄ − ū‖ = {cosine:.3g}: on {share:.0%} of the points."
        )
        sharp = (1 - case.alpha) / (1 + case.alpha) * groups.relative
        return Prediction(words, {**values, "cosine": cosine, "sharp_cosine": sharp})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        network = weights_of(case, run)
        if network is None:
            return None
        cosine = 2 * clusters(network).relative
        return 0.0 if np.isnan(cosine) else wrong_side(network, case.data.X, cosine)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        cosine = prediction.values.get("cosine", np.inf)
        if run is not None and run.path:
            cosine = 2 * clusters(run.end).relative
        if not cosine <= 1:
            return (
                "The neurons of one sign are too far apart: no x has |(w̄ − ū)·x| ≥ 2r‖x‖, so the "
                "theorem holds but says nothing about this network."
            )
        if residual <= self.tolerance:
            return (
                "Wherever 2r‖x‖ ≤ |(w̄ − ū)·x|, the network and the linear classifier w̄ − ū give "
                "the same answer, on every plane through w̄ − ū and a training point."
            )
        return f"The network is on the wrong side of w̄ − ū by {residual:.1e} of its size."


@final
class ClusteredIsLinear(Theorem):
    """If w⁽ⁱ⁾ = w⁽ʲ⁾ and u⁽ⁱ⁾ = u⁽ʲ⁾ for all i, j, the decision boundary is linear for all x ∈ ℝᵈ:
    sign N_W(x) = sign((w̄ − ū)·x).
    """

    id = "sarussi2021:cor6.1"
    source = Source("sarussi2021", "Corollary 6.1")
    summary = (
        "A Leaky ReLU network whose neurons of each output sign are all equal has a linear "
        "decision boundary."
    )
    needs = "data"
    tolerance = RELATIVE_ROUNDING

    def example(self) -> Case:
        W = np.repeat([[1.0, 0.0], [0.0, 1.0]], 3, axis=0)  # the neurons of Figure 5
        return _case(W, np.repeat([1.0, -1.0], 3), "leaky:0.2")

    def counterexample(self) -> tuple[Case, str]:
        """Figure 5b: with ReLU the output is 0 in a whole quadrant."""
        start = self.example().given_start
        return _case(start.W, start.a, "relu"), "leaky"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        weights = has_weights(case, run, "Definition 6.1")
        network = weights_of(case, run)
        if network is None:
            return (*network_checks(case), weights)
        r = clusters(network).radius / max(float(np.linalg.norm(network.W, axis=1).max()), 1e-300)
        note = f"r is {r:.1e} of the longest neuron"
        clustered = Check(
            "clustered", r <= RELATIVE_ROUNDING, -r, "Definition 6.1", note, RELATIVE_ROUNDING
        )
        return (*network_checks(case), weights, clustered)

    def predict(self, case: Case) -> Prediction:
        if case.start is None:
            return Prediction("If all w neurons and all u neurons become equal, w̄ − ū decides.")
        normal = clusters(case.start).normal
        words = "The network decides like the linear classifier w̄ − ū, everywhere."
        return Prediction(words, {"normal": normal})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        network = weights_of(case, run)
        return None if network is None else wrong_side(network, case.data.X, 0.0)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= self.tolerance:
            return "The boundary is linear on every plane through w̄ − ū and a training point."
        return f"The network is on the wrong side of w̄ − ū by {residual:.1e} of its size."


def _share_inside(groups: Clusters, X: np.ndarray) -> float:
    """Share of points with |(w̄ − ū)·x| ≥ 2r‖x‖."""
    inside = np.abs(X @ groups.normal) >= 2 * groups.radius * np.linalg.norm(X, axis=1)
    return float(inside.mean())


def _case(W: np.ndarray, a: np.ndarray, activation: str) -> Case:
    """A network, and points with the labels it gives them."""
    X = np.random.default_rng(1).standard_normal((40, W.shape[1]))
    y = np.where(Network(W, a, 0.2).outputs(X) > 0, 1, -1)
    setting = Setting(activation=activation, train="first", width=len(a), rule="flow")
    data = Dataset(X, y, "points labelled by the network")
    return Case(data, setting, Network(W, a, setting.alpha))
