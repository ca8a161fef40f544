"""Lemma 7: vectors that are near have directions that are near."""

import numpy as np

from tacit.data import load
from tacit.papers.wang2022.statements.hypotheses import FLOW
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import by_slack
from tacit.values import Check

SHARES = (0.01, 0.3, 0.9, 0.999)
"""δ/c at which pairs are tried."""
TRIED = 200
"""Random b for each of them, beside the one that turns most."""


class Lemma7(Theorem):
    """Let 0 < δ < c, ‖a − b‖ ≤ δ and ‖a‖ ≥ c. Then ‖a/‖a‖ − b/‖b‖‖ ≤ 2δ/c.   (99)

    Here a = Xᵀy, the sum of the points with their labels, c = ‖a‖, and b on the sphere of radius δ
    around it. The largest value there is is √2 √(1 − √(1 − δ²/c²)), at the b whose angle with a has
    the sine δ/c.
    """

    id = "wang2022:lemma7"
    source = Source("wang2022", "Lemma 7")
    summary = "If two vectors differ little for their length, so do their directions."
    needs = "data"
    tolerance = 1e-12

    def example(self) -> Case:
        return Case(load("wang2022_f1"), FLOW)

    def counterexample(self) -> tuple[Case, str]:
        """Points whose sum is 0."""
        data = load("wang2022_f1")
        X = np.vstack([data.X[0], data.X[0]])
        return Case(type(data)(X, np.array([1, -1])), FLOW), "length"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        size = float(np.linalg.norm(_sum(case)))
        return (by_slack("length", size, "Lemma 7", "c = ‖Xᵀy‖; more than 0", strict=True),)

    def predict(self, case: Case) -> Prediction:
        most = [float(np.sqrt(2 - 2 * np.sqrt(1 - share**2))) for share in SHARES]
        words = (
            "Whatever is within δ of a vector of length c has a direction within 2δ/c of its "
            f"direction: for δ/c = {SHARES[1]:g} that is {2 * SHARES[1]:g}, and the largest there "
            f"is {most[1]:.3g}."
        )
        return Prediction(words, {"shares": np.array(SHARES), "largest": np.array(most)})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float:
        """The excess over 2δ/c, and the difference of the largest value from the formula."""
        a = _sum(case)
        unit = a / np.linalg.norm(a)
        v = np.random.default_rng(0).normal(size=(TRIED, len(a)))
        v /= np.linalg.norm(v, axis=1, keepdims=True)
        aside = v - np.outer(v @ unit, unit)
        lengths = np.linalg.norm(aside, axis=1)
        # A v nearly along the sum has no direction across it that rounding would not decide.
        aside = aside[lengths > 1e-6] / lengths[lengths > 1e-6, None]
        aside -= np.outer(aside @ unit, unit)  # what is short has a large rounding error along it
        worst = 0.0
        said = prediction.values
        for share, largest in zip(said["shares"], said["largest"], strict=True):
            turned = share * (np.sqrt(1 - share**2) * aside - share * unit)
            b = unit + np.vstack([share * v, turned])
            apart = np.linalg.norm(b / np.linalg.norm(b, axis=1, keepdims=True) - unit, axis=1)
            worst = max(worst, float(apart.max()) - 2 * share, float(apart.max()) - largest)
        return worst

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= self.tolerance:
            return f"None of {len(SHARES) * TRIED} random vectors turns further."
        return f"A vector turns {residual:.1e} further than that."


def _sum(case: Case) -> np.ndarray:
    """Xᵀy over its largest entry, with labels counted from −1."""
    y = case.data.y if case.data.binary else np.ones(case.data.n)
    total: np.ndarray = y @ case.data.X
    largest = float(np.abs(total).max())
    # What rounding leaves of a sum that cancels is no direction.
    rounding = 1e-14 * float(np.abs(case.data.X).sum())
    return total / largest if largest > rounding else np.zeros_like(total)
