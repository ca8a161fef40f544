"""Masks and the dual constraint: the two steps of the proof of Proposition 4."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tacit.data import load
from tacit.numerics.least_squares import nnls
from tacit.papers.wang2022.statements.hypotheses import not_separable, separable_checks
from tacit.papers.wang2022.statements.sign_vectors import (
    all_sign_vectors,
    few_sign_vectors,
    without_zeros,
)
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import relu
from tacit.values import Check, Setting

DRAWS = 12
"""Pairs of λ and a mask D̂₀ that are tried."""


def largest_in_cell(X: np.ndarray, lam: np.ndarray, sigma: np.ndarray) -> float:
    """max λᵀDXu over ‖u‖ ≤ 1 with σ_n x_n·u ≥ 0, D = diag(I(σ > 0)).

    It is the smallest ‖XᵀDλ + Σ z_n σ_n x_n‖ over z ≥ 0 (53).
    """
    g = (lam * (sigma > 0)) @ X
    return float(nnls((sigma[:, None] * X).T, -g)[1])


def drawn(X: np.ndarray, signs: np.ndarray | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """λ and D̂₀ at random, with ‖XᵀD̂₀λ‖ = 1; the λ_n have the given signs, if any."""
    rng = np.random.default_rng(0)
    for _ in range(DRAWS):
        lam = rng.standard_normal(len(X))
        if signs is not None:
            lam = signs * np.abs(lam)
        mask = (rng.random(len(X)) < 0.6).astype(float)
        size = float(np.linalg.norm((lam * mask) @ X))
        # What cancels out up to rounding cannot be scaled to length 1.
        if size > 1e-9 * float(np.abs(lam) @ np.linalg.norm(X, axis=1)):
            yield lam / size, mask


class Lemma5(Theorem):
    """Any data: let u₀ = XᵀD̂₀λ with ‖u₀‖ ≤ 1. For every cell D_j that differs from the mask D̂₀ only
    where λ_n ≤ 0,

        max λᵀD_jXu ≤ 1   over ‖u‖ ≤ 1 with (2D_j − I)Xu ≥ 0.   (52)

    λ and D̂₀ are random, with ‖u₀‖ = 1; for each pair all cells are tried.
    """

    id = "wang2022:lemma5"
    source = Source("wang2022", "Lemma 5")
    summary = (
        "A weighted sum of points of length 1 bounds what any unit vector gains from these weights "
        "where it sees the same points of positive weight."
    )
    needs = "data"
    tolerance = 1e-9
    invariances = frozenset({"rotation"})

    def example(self) -> Case:
        return Case(load("linear:n=6,d=3,seed=0"), Setting())

    def counterexample(self) -> tuple[Case, str]:
        return replace(self.example(), setting=Setting(activation="leaky:0.1")), "relu"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return relu(case, "§1.2"), few_sign_vectors(case, "App. C.1")

    def predict(self, case: Case) -> Prediction:
        words = (
            "If the sum of λ_n x_n over some points has length 1, then Σ λ_n (x_n·u)₊ is at most 1 "
            "for every unit vector u that sees the same of the points with λ_n > 0."
        )
        return Prediction(words, {"largest": 1.0})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        X, signs = case.data.X, all_sign_vectors(case.data.X)
        if signs is None:
            return None
        cells = without_zeros(signs, X)
        worst = 0.0
        for lam, mask in drawn(X, None):
            like = ((cells > 0) == mask)[:, lam > 0].all(axis=1)
            largest = [largest_in_cell(X, lam, sigma) for sigma in cells[like]]
            worst = max([worst, *largest])
        return max(0.0, worst - prediction.values["largest"])

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual == 0:
            return f"For {DRAWS} random λ and sets of points, no unit vector gets more than 1."
        return f"The largest value is 1 + {residual:.1e}, for {DRAWS} random λ and sets of points."


class Lemma6(Theorem):
    """Orthogonally separable data, Yλ ≥ 0: let u₀ = XᵀD̂₀λ with ‖u₀‖ ≤ 1. For every mask D_j ≤ D̂₀

        ‖XᵀD_jλ‖ ≤ ‖u₀‖ ≤ 1,

    so (52) holds. λ, D̂₀ and D_j are random; ‖XᵀDλ‖² comes from the vectors and, as λᵀD(XXᵀ)Dλ, from
    the Gram matrix, and the larger of the two counts. The end of (62) should read ‖b‖², not ‖a‖².
    """

    id = "wang2022:lemma6"
    source = Source("wang2022", "Lemma 6")
    summary = (
        "On orthogonally separable data a neuron that sees fewer points has a shorter gradient."
    )
    needs = "data"
    tolerance = 1e-9
    invariances = frozenset({"rotation"})

    def example(self) -> Case:
        return Case(load("orthogonal:n=8,d=4,seed=0"), Setting())

    def counterexample(self) -> tuple[Case, str]:
        return not_separable()

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return separable_checks(case)

    def predict(self, case: Case) -> Prediction:
        words = (
            "Leaving points out of a sum of λ_n x_n never makes it longer, if λ_n has the sign of "
            "y_n."
        )
        return Prediction(words, {"largest": 1.0})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        X, rng = case.data.X, np.random.default_rng(1)
        worst = 0.0
        for lam, mask in drawn(X, case.data.y):
            for _ in range(DRAWS):
                part = lam * mask * (rng.random(len(X)) < 0.5)
                by_gram = float(part[part != 0] @ (X[part != 0] @ X[part != 0].T) @ part[part != 0])
                worst = max(worst, float(np.linalg.norm(part @ X)), np.sqrt(max(by_gram, 0.0)))
        return max(0.0, worst - prediction.values["largest"])

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual == 0:
            return f"Points were left out of {DRAWS} random sums, in many ways: none got longer."
        return (
            f"Points were left out of {DRAWS} random sums: one is then longer, by {residual:.1e}."
        )
