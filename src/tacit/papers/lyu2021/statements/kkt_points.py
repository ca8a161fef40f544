"""What every KKT point of the max-margin problem is like: Lemma B.9 and Lemma F.3."""

import dataclasses
from typing import final

import numpy as np

from tacit.data import load
from tacit.numerics.max_margin import max_margin
from tacit.papers.lyu2021.networks import linear_network
from tacit.papers.lyu2021.statements.cases import flow_setting
from tacit.papers.lyu2021.statements.hypotheses import kkt_direction, symmetric_checks, width_is
from tacit.papers.lyu2021.statements.network_functions import direction_distance
from tacit.papers.lyu2021.statements.run_ends import ended
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import both_layers, by_slack, needs_a_run, two_classes, two_layer
from tacit.values import Check, Network

ALIVE = 1e-3
"""|a| of the weaker of two neurons, as a share of the other, from which on it surely survives."""


@final
class LemmaB9(Theorem):
    """Lemma B.9: at a KKT point both layers weigh the same.

    If θ = (w_1, …, w_m, a_1, …, a_m) is along a KKT-margin direction of a two-layer Leaky ReLU
    network, then |a_k| = ‖w_k‖ for all k. Its proof holds for ReLU too: w_k·(first condition of
    Definition B.8) and a_k·(second condition) have the same right side.
    """

    id = "lyu2021:lemmaB.9"
    source = Source("lyu2021", "Lemma B.9")
    summary = "Where the max-margin conditions hold, every neuron has |a| = ‖w‖."
    needs = "limit"
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        """A start that is far from balanced: the balance is the limit's, not the start's."""
        W = np.array([[0.3, 0.1], [-0.2, 0.4], [0.1, -0.3]])
        start = Network(W, np.array([0.8, -0.9, 1.0]), 0.5)
        setting = flow_setting("leaky:0.5", 3)
        return Case(load("linear:n=8,d=2,margin=0.3,seed=1"), setting, start)

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        return dataclasses.replace(
            case, setting=dataclasses.replace(case.setting, train="first"), _properties={}
        ), "both_layers"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            two_classes(case, "§3.2"),
            two_layer(case, "§3.2"),
            both_layers(case, "§3.2"),
            kkt_direction(case, run, "Lemma B.9"),
        )

    def predict(self, case: Case) -> Prediction:
        return Prediction("In the limit |a_k| = ‖w_k‖ for every neuron.")

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """max_k ||a_k| − ‖w_k‖| over the largest of all these numbers."""
        assert run is not None
        a, sizes = np.abs(run.end.a), np.linalg.norm(run.end.W, axis=1)
        largest = max(a.max(), sizes.max())
        return float(np.abs(a - sizes).max() / largest) if largest > 0 else None

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        W = np.random.default_rng(0).normal(size=(case.setting.width, case.data.d))
        return ended(
            Network(W, np.linalg.norm(W, axis=1) * (-1.0) ** np.arange(len(W)), case.alpha)
        )

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual == 0:
            return "In the limit |a_k| = ‖w_k‖ for every neuron, to the last digit."
        return f"|a_k| and ‖w_k‖ differ by at most {residual:.1e} of the largest of them."


@final
class LemmaF2(Theorem):
    """Lemma F.2: two neurons of opposite sign are each other's mirror image at a KKT point.

    On linearly separable symmetric data, if (w_1, w_2, a_1, a_2) is along a KKT-margin direction of
    the Leaky ReLU net of width 2 and a_1 > 0 > a_2, then w_1 = −w_2 and a_1 = −a_2 = ‖w_1‖.

    A sign counts as such when that neuron has 10⁻³ of the other or more: one that dies out keeps
    its sign along the path.
    """

    id = "lyu2021:lemmaF.2"
    source = Source("lyu2021", "Lemma F.2")
    summary = (
        "On symmetric data, where two neurons of opposite sign both survive, one is the other's "
        "mirror image."
    )
    needs = "limit"
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        return LemmaF3().example()

    def counterexample(self) -> tuple[Case, str]:
        return LemmaF3().counterexample()

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        place = "Lemma F.2"
        signs = _opposite_signs(run, place)
        if signs.slack is not None:
            alive = True if signs.slack >= ALIVE else None if signs.slack > 0 else False
            signs = dataclasses.replace(signs, holds=alive)
        return (
            *symmetric_checks(case),
            width_is(case, 2, place),
            signs,
            kkt_direction(case, run, place),
        )

    def predict(self, case: Case) -> Prediction:
        return Prediction("In the limit w₁ = −w₂ and a₁ = −a₂ = ‖w₁‖, if both neurons survive.")

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The largest of ‖w_1 + w_2‖, |a_1 + a_2| and |a_1 − ‖w_1‖|, over ‖θ‖."""
        assert run is not None
        W, a = run.end.W, run.end.a
        if run.end.norm == 0:
            return None
        first = int(a.argmax())
        off = float(np.linalg.norm(W[0] + W[1])), abs(float(a.sum()))
        return max(*off, abs(float(a[first] - np.linalg.norm(W[first])))) / run.end.norm

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        w = np.arange(1.0, case.data.d + 1) / np.linalg.norm(np.arange(1.0, case.data.d + 1))
        return ended(linear_network(w, case.alpha))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"The two neurons are mirror images of each other up to {residual:.1e} of ‖θ‖."


@final
class LemmaF3(Theorem):
    """Lemma F.3: the three KKT directions of two neurons on symmetric data.

    On linearly separable symmetric data, if θ = (w_1, w_2, a_1, a_2) with ‖θ‖ = 1, a_1 ≥ 0 ≥ a_2 is
    a KKT-margin direction of the Leaky ReLU net of width 2, it is one of

        ½(w*, −w*, 1, −1),   (w*, 0, 1, 0)/√2,   (0, −w*, 0, −1)/√2,

    with w* the max-margin separator, of margin γ*. Their margins are (1+α)γ*/4, αγ*/2 and αγ*/2.
    """

    id = "lyu2021:lemmaF.3"
    source = Source("lyu2021", "Lemma F.3")
    summary = (
        "On symmetric data two neurons of opposite sign can end in three ways only: "
        "both along the max-margin separator, or one of them alone."
    )
    needs = "limit"
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        W = 1e-3 * np.array([[0.8, 0.6], [-0.28, 0.96]])
        start = Network(W, 1e-3 * np.array([1.0, -1.0]), 0.5)
        data = load("symmetric:n=12,d=2,margin=0.2,seed=3")
        return Case(data, flow_setting("leaky:0.5", 2), start)

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        return Case(load("linear:n=12,d=2,margin=0.2,seed=3"), case.setting, case.start), (
            "symmetric"
        )

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            *symmetric_checks(case),
            width_is(case, 2, "Lemma F.3"),
            _opposite_signs(run, "Lemma F.3"),
            kkt_direction(case, run, "Lemma F.3"),
        )

    def predict(self, case: Case) -> Prediction:
        separator = max_margin(case.data.y[:, None] * case.data.X)
        lower = separator.margin_bounds.lower
        both, one = (1 + case.alpha) / 4 * lower, case.alpha / 2 * lower
        return Prediction(
            f"Both neurons end along ±w*, the max-margin separator, with margin {both:.4g}, or one "
            f"of them does and the other dies out, with margin {one:.4g}.",
            {"w": separator.direction, "margins": np.array([both, one, one])},
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """Distance of θ/‖θ‖ from the nearest of the three directions."""
        assert run is not None
        return float(_distances(prediction.values["w"], run.end).min())

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        return ended(three_directions(prediction.values["w"], case.alpha)[0])

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        assert run is not None
        j = int(_distances(prediction.values["w"], run.end).argmin())
        which = ("½(w*, −w*, 1, −1)", "(w*, 0, 1, 0)/√2", "(0, −w*, 0, −1)/√2")[j]
        return f"The direction is {residual:.1e} away from {which}."


def three_directions(w: np.ndarray, alpha: float) -> tuple[Network, Network, Network]:
    """The directions of Lemma F.3, with unit norm; the neuron with a ≥ 0 is the first."""
    alone, none = w / np.sqrt(2), np.zeros_like(w)
    return (
        linear_network(w, alpha),
        Network(np.array([alone, none]), np.array([1 / np.sqrt(2), 0.0]), alpha),
        Network(np.array([none, -alone]), np.array([0.0, -1 / np.sqrt(2)]), alpha),
    )


def _distances(w: np.ndarray, network: Network) -> np.ndarray:
    """The distances of the network's direction from the three, its neurons in their order."""
    order = np.argsort(-network.a, kind="stable")
    ordered = Network(network.W[order], network.a[order], network.alpha)
    three = three_directions(w, network.alpha)
    return np.array([direction_distance(ordered, one) for one in three])


def _opposite_signs(run: Observation | None, place: str) -> Check:
    """a_1 ≥ 0 ≥ a_2 in the limit."""
    if run is None or not run.path:
        return needs_a_run("opposite_signs", place)
    a = run.end.a / max(np.abs(run.end.a).max(), 1e-300)
    slack = min(float(a.max()), -float(a.min()))
    return by_slack("opposite_signs", slack, place, "min(max a, −min a) / max|a|")
