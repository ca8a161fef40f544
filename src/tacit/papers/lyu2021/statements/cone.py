"""Lemmas G.1 and G.2: data whose every early pull separates it."""

import math
from typing import final

import numpy as np

from tacit.data import load
from tacit.papers.lyu2021.statements.cases import flow_setting
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import by_slack, leaky, two_classes
from tacit.values import Check, Dataset

A_1, A_2 = "lyu2021:assumptionA.1", "lyu2021:assumptionA.2"
MOST_OPERATIONS = 3e9
"""A second or so, for all pairs of points."""


def _not_necessary() -> Evidence:
    """Two unit points at an angle ψ: mean‖Px‖·max‖Px‖ ≥ (½ sin ψ)² for every w, as
    |sin a| + |sin b| ≥ |sin(a + b)|, while α⟨µ,w⟩γ ≤ α."""
    angle, alpha = math.radians(80), 0.1
    data = Dataset(np.array([[1, 0], [math.cos(angle), math.sin(angle)]]), np.array([1, 1]))
    case = Case(data, flow_setting(f"leaky:{alpha}", 2))
    weaker, bound = case.data_check(A_2, "A.2"), math.sin(angle) ** 2 / 4
    right = bool(weaker.holds) and bound > alpha
    return Evidence(
        "corrected" if right else "printed",
        f"For two positive unit points 80° apart and α = {alpha} A.2 holds with slack "
        f"{weaker.slack:.2g}, but A.1 fails for every w: it asks for a number of at least "
        f"{bound:.3f} to be below α.",
    )


@final
class LemmaG1(Theorem):
    """Lemma G.1: Assumption A.1 implies Assumption A.2.

    A.1: for a unit w with γ = min y_i⟨w, x_i⟩ > 0,  mean‖Px_i‖ · max‖Px_i‖ < α⟨µ, w⟩γ.
    A.2: ⟨µ, y_i x_i⟩ > (1−α)/(nα) Σ_j max{−⟨y_i x_i, y_j x_j⟩, 0} for all i.

    Keeping what the proof gives away, s = α⟨µ, w⟩γ − mean‖Px_i‖ · max‖Px_i‖ in A.1, the two sides
    of A.2 differ by at least s/α. That is the prediction.
    """

    id = "lyu2021:lemmaG.1"
    source = Source("lyu2021", "Lemma G.1")
    summary = (
        "If the data has a principal direction, then whatever the neurons see of it, "
        "they are pulled to the right side."
    )
    needs = "data"
    tolerance = 1e-9
    invariances = frozenset({"rotation"})
    errata = (
        Erratum(
            "A.1 is a weaker assumption than A.2 (first sentence of §G.2)",
            "A.1 is stronger: it implies A.2 (Lemma G.1), and A.2 does not imply it",
            _not_necessary,
        ),
    )

    def example(self) -> Case:
        X = np.array([[1.0, 0.05], [0.9, -0.1], [-1.0, 0.1], [-0.8, -0.05], [1.1, 0.0]])
        data = Dataset(X, np.array([1, 1, -1, -1, 1]))
        return Case(data, flow_setting("leaky:0.5", 4))

    def counterexample(self) -> tuple[Case, str]:
        """Points that are far from one line."""
        return Case(load("symmetric:n=12,d=2,margin=0.02,seed=0"), self.example().setting), A_1

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            two_classes(case, "§3.2"),
            leaky(case, "§3.2"),
            case.data_check(A_1, "Assumption A.1"),
        )

    def predict(self, case: Case) -> Prediction:
        slack = case.data_check(A_1, "Assumption A.1").slack
        least = max(slack or 0.0, 0.0) / case.alpha
        return Prediction(
            f"Assumption A.2 holds, with a slack of at least {least:.4g}.", {"least": least}
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """What A.2 lacks of the predicted slack."""
        slack = case.data_check(A_2, "Assumption A.2").slack
        return None if slack is None else max(0.0, prediction.values["least"] - slack)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        least = prediction.values["least"]
        if residual <= self.tolerance:
            return f"A.2 holds with at least the slack {least:.3g} that A.1 promises."
        return f"A.2 has {residual:.1e} less slack than the {least:.3g} that A.1 promises."


def extreme_pulls(case: Case) -> np.ndarray:
    """For every i the w in K, of sum of masks n, with the smallest ⟨w, y_i x_i⟩; rows, over max‖x‖.

    w = Σ α_j y_j x_j/n with α_j in [α, 1] is linear in every mask, so each is at one end (58).
    """
    Z = case.data.y[:, None] * case.data.X
    masks = np.where(Z @ Z.T < 0, 1.0, case.alpha)
    pulls: np.ndarray = masks @ Z / len(Z) / (np.linalg.norm(Z, axis=1).max() or 1.0)
    return pulls


def _gradient_of_G() -> Evidence:
    """Central differences of G at a separator."""
    case = LemmaG2().example()
    X, y, alpha = case.data.X, case.data.y, case.alpha
    # G is linear around a separator: the quotient errs by rounding only, about ε/h = 2e-10.
    w, h = case.view.separator.direction, 1e-6

    def G(w: np.ndarray) -> float:
        z = X @ w
        return float(y @ np.maximum(z, alpha * z)) / (2 * len(y))

    slope = np.array([(G(w + h * e) - G(w - h * e)) / (2 * h) for e in np.eye(len(w))])
    mu = (np.where(y == 1, 1.0, alpha) * y) @ X / len(y)  # (6)
    ratio = float(slope @ mu / (mu @ mu))
    off = float(np.linalg.norm(slope - ratio * mu) / np.linalg.norm(slope))
    return Evidence(
        "corrected" if abs(ratio - 0.5) < 1e-6 and off < 1e-6 else "printed",
        f"By finite differences at a separator, ∇G is {ratio:.6f} times µ⁺.",
    )


@final
class LemmaG2(Theorem):
    """Lemma G.2: Assumption A.2 says that the cone of early pulls separates the data.

    For linearly separable data and α in (0, 1], A.2 holds if and only if K lies in the interior of
    C, where K = {Σ α_i y_i x_i : α_i in [α, 1]}, up to scale, holds every velocity that a small
    neuron can have, and C = {w ≠ 0 : ⟨w, y_i x_i⟩ ≥ 0 for all i} the separators.

    Prediction: A.2 from the products of the points. Residual: the extreme vectors of K are written
    out and tried on all points; α times the slack of A.2 is the smallest product.
    """

    id = "lyu2021:lemmaG.2"
    source = Source("lyu2021", "Lemma G.2")
    summary = (
        "Assumption A.2 holds exactly when every direction that small neurons can be pulled to "
        "separates the data."
    )
    needs = "data"
    tolerance = 1e-9
    invariances = frozenset({"rotation"})
    errata = (
        Erratum(
            "w in the interior of C ⟹ ∂°G(w) = {µ⁺}, and {µ⁻} for −w (§G.3)",
            "∂°G(w) = {½ µ⁺}, and {½ µ⁻}",
            _gradient_of_G,
        ),
    )

    def example(self) -> Case:
        return Case(load("linear:n=12,d=2,margin=0.5,seed=0"), flow_setting("leaky:0.5", 4))

    def counterexample(self) -> tuple[Case, str]:
        return Case(self.example().data, flow_setting("relu", 4)), "positive_slope"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        note = f"α is {case.alpha:g} and must be positive"
        return (
            two_classes(case, "§3.2"),
            by_slack("positive_slope", case.alpha, "Lemma G.2", note, strict=True),
            case.data_check("linearly_separable", "Assumption 3.2"),
        )

    def predict(self, case: Case) -> Prediction:
        slack = case.data_check(A_2, "Assumption A.2").slack
        if slack is None:
            words = "Assumption A.2 holds exactly when every early pull separates the data."
            return Prediction(words)
        words = (
            f"Assumption A.2 holds, by {slack:.4g}, so whatever points a small neuron sees, it is "
            "pulled in a direction that separates the data."
        )
        if slack <= 0:
            words = (
                f"Assumption A.2 fails, by {-slack:.4g}, so some direction in which a small neuron "
                "can be pulled does not separate the data."
            )
        return Prediction(words, {"slack": slack})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """Difference of the two sides: α times the slack, and the smallest ⟨w, y_i x_i⟩ on K."""
        if not prediction.values or case.data.n * case.data.X.size > MOST_OPERATIONS:
            return None
        Z = case.data.y[:, None] * case.data.X
        products = extreme_pulls(case) @ Z.T / (np.linalg.norm(Z, axis=1).max() or 1.0)
        slack = case.alpha * prediction.values["slack"]
        return abs(float(products.min()) - slack) / max(1.0, abs(slack))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return (
            "Trying the extreme pulls on all points, one by one, gives the same answer, with the "
            f"same slack up to {residual:.1e}."
        )
