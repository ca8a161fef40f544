"""What never changes back: a sector once reached, a point once seen (Lemma 3, Lemma B.1)."""

import numpy as np

from tacit.messages import count
from tacit.numerics.extremal_directions import lemma_2
from tacit.papers.phuong2021.statements.examples import (
    FLOW,
    cones,
    flipped,
    initial_network,
    run_through,
)
from tacit.papers.phuong2021.statements.hypotheses import (
    both_classes,
    network_and_rule,
    orthogonally_separable,
)
from tacit.papers.phuong2021.statements.max_margin_vectors import unit
from tacit.papers.phuong2021.statements.sectors import ON_HYPERPLANE, cosines, sectors
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import balanced, logistic
from tacit.values import Check, Dataset, Network


def setting_of_the_proofs(case: Case) -> tuple[Check, ...]:
    """What the two proofs use of the setting of Theorem 1: neither the size nor the span."""
    return (
        both_classes(case, "§2"),
        *network_and_rule(case),
        logistic(case, "§2 (3)"),
        balanced(case, "§2; Lemma A.4"),
        orthogonally_separable(case),
    )


class Lemma3(Theorem):
    """A neuron that reaches the extremal sector of its sign stays there.

    In the setting of Theorem 1: if a > 0 and w is in the positive extremal sector (13) at time T,
    then w is in it for all t ≥ T; likewise for a < 0 and the negative one (14). There

        d(w·x_k)/dt = −Σ_{y_i = 1} ℓ_i' a x_i·x_k,   (67)

    which has the sign that w·x_k has.

    The residual is the largest sine by which a neuron is outside the sector after having been in
    it; nothing is told where no neuron gets there.
    """

    id = "phuong2021:lemma3"
    source = Source("phuong2021", "Lemma 3")
    summary = "Once a neuron sees its class and nothing else, it does so for ever."
    needs = "path"
    tolerance = ON_HYPERPLANE
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        data = cones(2)
        return Case(data, FLOW, initial_network(data))

    def counterexample(self) -> tuple[Case, str]:
        data = flipped(cones(2))
        return Case(data, FLOW, initial_network(data)), "orthogonally_separable"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return setting_of_the_proofs(case)

    def predict(self, case: Case) -> Prediction:
        two = lemma_2(case.data.X, case.data.y)
        assert two is not None, "the data is orthogonally separable"
        words = "Neurons that see exactly the points of the class of their sign go on doing so"
        values: dict[str, object] = {"positive_sector": two[0], "negative_sector": two[1]}
        if case.start is not None:
            inside = int(_inside(case.start, case, *two).sum())
            values["inside_at_start"] = inside
            words += f"; {inside} of {len(case.start.a)} do from the start"
        return Prediction(f"{words}.", values)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        if run is None:
            return None
        plus, minus = prediction.values["positive_sector"], prediction.values["negative_sector"]
        been = np.zeros(len(run.start.a), dtype=bool)
        worst = 0.0
        for network in _networks(run):
            cosine = cosines(network.W, case.data.X)
            sector = np.where(network.a[:, None] > 0, plus, minus)
            off = np.where(sector == 0, np.abs(cosine), -sector * cosine).max(axis=1)
            worst = max(worst, float(off[been].max(initial=0.0)))
            been |= _inside(network, case, plus, minus)
        return worst if been.any() else None

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        return _along_the_means(case)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual > self.tolerance:
            return f"A neuron left its extremal sector again, by a sine of {residual:.1e}."
        return "No neuron left its extremal sector after reaching it."


class LemmaB1(Theorem):
    """A neuron keeps seeing the points of the class of its sign.

    In the setting of Theorem 1: if a > 0 and w·x_k > 0 at time T for a point with y_k = 1, then
    w·x_k > 0 for all t ≥ T; likewise for a < 0 and y_k = −1. Every term of d(w·x_k)/dt is ≥ 0 (68).

    The residual is the largest −cos(w, x_k) after the neuron has seen x_k.
    """

    id = "phuong2021:lemmaB.1"
    source = Source("phuong2021", "Lemma B.1")
    summary = "A neuron never loses sight of a point of the class of its sign."
    needs = "path"
    tolerance = 0.0
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        data = cones(3)
        return Case(data, FLOW, initial_network(data))

    def counterexample(self) -> tuple[Case, str]:
        data = cones(3)
        start = initial_network(data)
        return Case(data, FLOW, Network(start.W, 0.5 * start.a)), "balanced"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return setting_of_the_proofs(case)

    def predict(self, case: Case) -> Prediction:
        words = "Neurons with a > 0 never lose a positive point from sight, a < 0 no negative one"
        if case.start is None:
            return Prediction(f"{words}.")
        sure = sure_to_live(case.start, case.data)
        many = count(int(sure.sum()), "neuron")
        words += f"; so {many} of {len(sure)} cannot die"
        return Prediction(f"{words}.", {"sure_to_live": sure})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        if run is None:
            return None
        seen = np.zeros((len(run.start.a), case.data.n), dtype=bool)
        worst = 0.0
        for network in _networks(run):
            cosine = cosines(network.W, case.data.X)
            worst = max(worst, float((-cosine[seen]).max(initial=0.0)))
            seen |= (cosine > 0) & (np.outer(network.a, case.data.y) > 0)
        return worst if seen.any() else None

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        return _along_the_means(case)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual > self.tolerance:
            return f"A neuron lost a point of its class from sight, by a sine of {residual:.1e}."
        return "No neuron lost a point of the class of its sign from sight."


def sure_to_live(network: Network, data: Dataset) -> np.ndarray:
    """m flags: neurons that are active on a point of their class, for ever by Lemma B.1."""
    seen = (network.W @ data.X.T > 0) & (np.outer(network.a, data.y) > 0)
    return seen.any(axis=1)


def _networks(run: Observation) -> list[Network]:
    return [moment.network for moment in run.path]


def _inside(network: Network, case: Case, plus: np.ndarray, minus: np.ndarray) -> np.ndarray:
    """m flags: neurons in the extremal sector of their sign."""
    mine = sectors(network.W, case.data.X)
    return (mine == np.where(network.a[:, None] > 0, plus, minus)).all(axis=1)


def _along_the_means(case: Case) -> Observation:
    """Neurons that grow along the sum of the points of their class."""
    X, y = case.data.X, case.data.y
    W = np.array([unit(X[y == label].sum(axis=0)) for label in (1, -1)] * 4)
    a = np.array([1.0, -1.0] * 4)
    return run_through(*(Network(size * W, size * a) for size in (1e-4, 1e-2, 1.0, 10.0)))
