"""What the proof of Theorem 5.1 is made of: Lemma C.1, Propositions C.1 and C.2."""

from abc import abstractmethod
from typing import final

import numpy as np

from tacit.papers.sarussi2021.statements.clustering import RELATIVE_ROUNDING, LinearRegion
from tacit.papers.sarussi2021.statements.hypotheses import has_weights, network_checks, weights_of
from tacit.papers.sarussi2021.statements.linear_boundary import Clusters, clusters
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.values import Check, Network

TRIED = 4000
"""Random directions in the span of the neurons at which the network is looked at."""
OPEN = 1 + 1e-9
"""r is this much more than the largest distance, so that the balls are open ones."""


def directions(network: Network, X: np.ndarray) -> np.ndarray:
    """Unit vectors: the points, random ones in the span of neurons and points, and, for every
    neuron, where the cone |w̄·x| ≥ r‖x‖ of its mean ends on the side away from it."""
    groups = clusters(network)
    rows = np.vstack([network.W, X])
    mixes = np.random.default_rng(0).normal(size=(TRIED, len(rows))) @ rows
    edges = []
    for mean, sign in ((groups.w, 1), (groups.u, -1)):
        size = float(np.linalg.norm(mean))
        if size <= groups.radius * OPEN:
            continue
        cosine = groups.radius * OPEN / size
        aside = network.W[network.a * sign > 0]
        aside = aside - np.outer(aside @ mean, mean) / size**2
        lengths = np.linalg.norm(aside, axis=1)
        aside = aside[lengths > 0] / lengths[lengths > 0, None]
        edges.append(cosine * mean / size - np.sqrt(1 - cosine**2) * aside)
    everything = np.vstack([X, mixes, *edges])
    lengths = np.linalg.norm(everything, axis=1)
    unit: np.ndarray = everything[lengths > 0] / lengths[lengths > 0, None]
    return np.vstack([unit, -unit])


def far(groups: Clusters, mean: np.ndarray, x: np.ndarray) -> np.ndarray:
    """|mean·x| ≥ r‖x‖ for unit rows x, with open balls of radius r."""
    return np.asarray(np.abs(x @ mean) >= groups.radius * OPEN)


def _a_neuron_at_the_end() -> Evidence:
    """w̄ = (1, 0), r = ½, one neuron at w̄ − r x and x at 60° from w̄, so that w̄·x = r‖x‖."""
    x = np.array([0.5, np.sqrt(0.75)])
    mean, r = np.array([1.0, 0.0]), 0.5
    W = np.array([mean - r * x, mean + r * x])
    products = W @ x
    words = (
        f"Two neurons at w̄ ± r x with w̄ = (1, 0), r = ½ and x at 60°: w̄·x = {mean @ x:g} = r‖x‖, "
        f"but the neurons have w·x = {abs(products[0]):.0e} and {products[1]:g}."
    )
    broken = abs(products[0]) < 1e-12 < products[1] and abs(mean @ x - r) < 1e-12
    return Evidence("corrected" if broken else "printed", words)


class _OfClusters(Theorem):
    """Statements about the weights alone."""

    needs = "data"
    tolerance = RELATIVE_ROUNDING

    def example(self) -> Case:
        return LinearRegion().example()

    def counterexample(self) -> tuple[Case, str]:
        return LinearRegion().counterexample()

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (*network_checks(case), has_weights(case, run, "App. C"))


@final
class LemmaC1(_OfClusters):
    """Lemma C.1: where a mean is far from 0, all of its neurons are on its side.

    If ‖w⁽ʲ⁾ − w̄‖ < r for all j, then for all x with |w̄·x| ≥ r‖x‖ either all w⁽ʲ⁾·x > 0 or all
    w⁽ʲ⁾·x < 0; and likewise for u.

    The balls must be open. Theorem 5.1 takes r to be the largest distance, with which the lemma is
    false where |w̄·x| = r‖x‖; the theorem holds all the same, by its spare factor 2.
    """

    id = "sarussi2021:lemmaC.1"
    source = Source("sarussi2021", "Lemma C.1")
    summary = (
        "Where the mean of the neurons of one output sign is far enough from the boundary, each of "
        "them is on its side."
    )
    errata = (
        Erratum(
            "w⁽ʲ⁾ in Ball(w̄, r), with the r of Theorem 5.1, the largest distance",
            "‖w⁽ʲ⁾ − w̄‖ < r, which the proof uses",
            _a_neuron_at_the_end,
        ),
    )

    def predict(self, case: Case) -> Prediction:
        words = "Wherever |w̄·x| > r‖x‖, all w·x have the sign of w̄·x, and likewise for u."
        values = {} if case.start is None else {"r": clusters(case.start).radius}
        return Prediction(words, values)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The most that a neuron is on the wrong side, over the largest neuron."""
        network = weights_of(case, run)
        if network is None:
            return None
        groups, x = clusters(network), directions(network, case.data.X)
        size = float(np.linalg.norm(network.W, axis=1).max()) or 1.0
        worst = 0.0
        for mean, sign in ((groups.w, 1), (groups.u, -1)):
            there = x[far(groups, mean, x)]
            products = there @ network.W[network.a * sign > 0].T * np.sign(there @ mean)[:, None]
            worst = max(worst, float((-products).max(initial=0.0)) / size)
        return worst

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= self.tolerance:
            return "Everywhere that was tried the neurons are on the side of their mean."
        return f"A neuron is {residual:.1e} of the largest on the wrong side."


class _DecidesLinearly(_OfClusters):
    """Propositions C.1 and C.2, which differ in where."""

    @abstractmethod
    def where(self, groups: Clusters, x: np.ndarray) -> np.ndarray:
        """Which unit rows x the proposition speaks of."""

    def predict(self, case: Case) -> Prediction:
        words = "There the network decides like the linear classifier w̄ − ū."
        if case.start is None:
            return Prediction(words)
        groups = clusters(case.start)
        x = case.data.X[case.data.X.any(axis=1)]
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
        share = float(self.where(groups, x).mean()) if len(x) else 0.0
        values = {"r": groups.radius, "normal": groups.normal, "share_inside": share}
        return Prediction(f"On {share:.0%} of the points the network decides like w̄ − ū.", values)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """How far N_W is on the wrong side of w̄ − ū, relative to Σ|a_k|‖w_k‖, at the worst."""
        network = weights_of(case, run)
        if network is None:
            return None
        size = float(np.abs(network.a) @ np.linalg.norm(network.W, axis=1))
        groups, x = clusters(network), directions(network, case.data.X)
        x = x[self.where(groups, x)]
        side = np.sign(x @ groups.normal)
        return float((-side * network.outputs(x)).max(initial=0.0)) / size if size > 0 else 0.0

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= self.tolerance:
            return "Everywhere that was tried the network has the sign of (w̄ − ū)·x."
        return f"N_W is {residual:.1e} of its size on the wrong side."


@final
class PropositionC1(_DecidesLinearly):
    """Proposition C.1. For all x with |w̄·x| ≥ r‖x‖ and |ū·x| ≥ r‖x‖,
    sign N_W(x) = sign((w̄ − ū)·x); the balls of radius r are open, as in Lemma C.1."""

    id = "sarussi2021:propC.1"
    source = Source("sarussi2021", "Proposition C.1")
    summary = (
        "Where both means of clustered neurons are far from 0, a Leaky ReLU network decides like "
        "their difference."
    )

    def where(self, groups: Clusters, x: np.ndarray) -> np.ndarray:
        return far(groups, groups.w, x) & far(groups, groups.u, x)


@final
class PropositionC2(_DecidesLinearly):
    """Proposition C.2. For all x with |(w̄ − ū)·x| ≥ 2r‖x‖ and exactly one of |w̄·x| ≥ r‖x‖ and
    |ū·x| ≥ r‖x‖, sign N_W(x) = sign((w̄ − ū)·x).

    By Corollary C.1 these and those of Proposition C.1 are all x with |(w̄ − ū)·x| ≥ 2r‖x‖, which is
    Theorem 5.1.
    """

    id = "sarussi2021:propC.2"
    source = Source("sarussi2021", "Proposition C.2")
    summary = (
        "Where one mean of clustered neurons is far from 0 and their difference twice as far, a "
        "Leaky ReLU network decides like that difference."
    )

    def where(self, groups: Clusters, x: np.ndarray) -> np.ndarray:
        both = np.abs(x @ groups.normal) >= 2 * groups.radius * OPEN
        return both & (far(groups, groups.w, x) != far(groups, groups.u, x))
