"""Lemma A.1: where the growth of a small neuron is extremal, the pull on it is along it."""

import numpy as np

from tacit.messages import count
from tacit.numerics.float64 import TINY
from tacit.papers.phuong2021.statements.early import all_directions
from tacit.papers.phuong2021.statements.examples import FLOW
from tacit.papers.phuong2021.statements.hypotheses import small_neurons
from tacit.papers.phuong2021.statements.sectors import pulls
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.values import Check, Dataset

HALF = 0.5
"""−ℓ'(0) of the logistic loss."""
NEARBY, STEP = 200, 1e-6
"""Random directions nearby that must not be better, and how far they are."""


class LemmaA1(Theorem):
    """If a unit vector w is an extremal direction, a strict local maximum or minimum of G (12) on
    the unit sphere, then g(w) = Cw for some constant C, where

        g(w) = −Σ ℓ_i'(0) 1{w·x_i > 0} P_w x_i   (31)

    and P_w projects onto what is orthogonal to all x_i with w·x_i = 0.

    As w·g(w) = G(w), the constant is C = G(w): the prediction, from the definition of G. The
    directions are those that a search finds. The residual is the largest ‖g(w) − G(w)w‖ among them,
    relative to Σ‖x_i‖/2, and by how much G is larger (smaller) at random directions nearby, if one
    is not extremal after all.
    """

    id = "phuong2021:lemmaA.1"
    source = Source("phuong2021", "Lemma A.1")
    summary = (
        "A direction in which a small neuron grows or shrinks fastest, of all nearby, is the one "
        "in which the data pulls it."
    )
    needs = "data"
    tolerance = 1e-9
    invariances = frozenset({"rotation"})

    def example(self) -> Case:
        """Not orthogonally separable: the lemma is about all data."""
        rng = np.random.default_rng(3)
        return Case(Dataset(rng.normal(size=(7, 3)), np.array([1, 1, 1, -1, -1, 1, -1])), FLOW)

    def counterexample(self) -> tuple[Case, str]:
        return Case(self.example().data, FLOW.replace(activation="leaky:0.5")), "relu"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return small_neurons(case)

    def predict(self, case: Case) -> Prediction:
        X, c = case.data.X, HALF * case.data.y
        extremal = all_directions(case.data)
        items = [*extremal.positive, *extremal.negative]
        W = np.array([item.direction for item in items]).reshape(-1, case.data.d)
        signs = np.array([item.sector for item in items], dtype=np.int8).reshape(-1, case.data.n)
        growth = np.maximum(W @ X.T, 0.0) @ c  # (12)
        words = (
            f"At each of {count(len(W), 'extremal direction')} the pull on a small neuron is along "
            "it, and as long as G is large."
        )
        kinds = np.array([item.sign for item in items])
        values = {"directions": W, "sectors": signs, "signs": kinds, "C": growth}
        return Prediction(words, values)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float:
        X, c = case.data.X, HALF * case.data.y
        W, C = prediction.values["directions"], prediction.values["C"]
        if len(W) == 0:
            return 0.0
        size = float(np.abs(c) @ np.linalg.norm(X, axis=1))
        g = pulls(prediction.values["sectors"], X, c)  # (31)
        off = float(np.linalg.norm(g - C[:, None] * W, axis=1).max())
        nearby = np.random.default_rng(0).normal(size=(NEARBY, 1, X.shape[1]))
        # No further than to the next hyperplane, beyond which another direction may be extremal.
        sines = np.abs(W @ X.T) / np.maximum(np.linalg.norm(X, axis=1), TINY)
        beside = (prediction.values["sectors"] != 0) & X.any(axis=1)
        reach = np.minimum(STEP, np.where(beside, sines, STEP).min(axis=1) / 2)
        V = W + reach[:, None] * nearby / np.linalg.norm(nearby, axis=2, keepdims=True)
        V /= np.linalg.norm(V, axis=2, keepdims=True)
        better = prediction.values["signs"] * (np.maximum(V @ X.T, 0.0) @ c - C)
        return max(off, float(better.max())) / size

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        many = count(len(prediction.values["C"]), "extremal direction")
        return f"At {many} g(w) is G(w)w up to {residual:.1e} of Σ‖x_i‖/2."
