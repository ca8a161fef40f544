"""Remark 1: on spike-free data the dual constraint needs no ReLU."""

import numpy as np

from tacit.data import load
from tacit.numerics.arrangements import TooManyCells, cells
from tacit.numerics.least_squares import nnls
from tacit.numerics.pricing import price
from tacit.papers.wang2022.statements.hypotheses import FLOW
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import relu
from tacit.values import Check

MULTIPLIERS = 12
"""Random λ at which both sides are compared, beside y."""
MOST_CELLS = 20_000


class Remark1(Theorem):
    """On spike-free data the constraint of the dual problem, max_{‖u‖≤1} |λᵀ(Xu)₊| ≤ 1, is
    equivalent to

        max {|λᵀXu| : Xu ≥ 0, ‖u‖ ≤ 1} ≤ 1.

    The two maxima are equal for every λ, as (Xu)₊ = Xz for some ‖z‖ ≤ 1; the second is the longer
    of the projections of ±Xᵀλ onto the cone Xu ≥ 0. The remark goes on with a form in Y₊ and Y₋,
    which is sufficient only (see the erratum of Proposition 5).
    """

    id = "wang2022:rem1"
    source = Source("wang2022", "Remark 1")
    summary = (
        "On spike-free data, how much a neuron could gain is the same with and without its ReLU, "
        "if all points are on its positive side."
    )
    needs = "data"
    tolerance = 1e-9
    invariances = frozenset({"rotation"})

    def example(self) -> Case:
        return Case(load("wang2022_f2"), FLOW)

    def counterexample(self) -> tuple[Case, str]:
        return Case(load("wang2022_f1"), FLOW), "spike_free"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return relu(case, "§1.2"), case.data_check("spike_free", "Definition 2")

    def predict(self, case: Case) -> Prediction:
        lam = _multipliers(case)
        values = np.array([_on_the_cone(case.data.X, one) for one in lam])
        words = (
            "For every λ the most that a neuron gains, |λᵀ(Xu)₊|, is the most that one with Xu ≥ 0 "
            f"does: {values[0]:.4g} for λ = y."
        )
        return Prediction(words, {"multipliers": lam, "largest": values})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The largest difference of the two maxima, relative to Σ|λ_i|‖x_i‖ as their rounding is;
        the first is over all cells."""
        X, said = case.data.X, prediction.values
        rows = X.any(axis=1)
        if not rows.any():
            return 0.0
        try:
            every = cells(X[rows], MOST_CELLS)
        except TooManyCells:
            return None
        worst, lengths = 0.0, np.linalg.norm(X[rows], axis=1)
        for lam, largest in zip(said["multipliers"], said["largest"], strict=True):
            both = (price(X[rows], s * lam[rows], 0.0, every, 0.0).bound for s in (1, -1))
            size = float(np.abs(lam[rows]) @ lengths)
            worst = max(worst, abs(max(both) - largest) / max(size, 1e-300))
        return worst

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"Over all cells the most is the same, for every λ tried, up to {residual:.1e}."


def _multipliers(case: Case) -> np.ndarray:
    y = case.data.y if case.data.binary else np.ones(case.data.n)
    return np.vstack([y, np.random.default_rng(0).normal(size=(MULTIPLIERS, case.data.n))])


def _on_the_cone(X: np.ndarray, lam: np.ndarray) -> float:
    """max {|λᵀXu| : Xu ≥ 0, ‖u‖ ≤ 1}; the projection is what least squares over −x_i leaves."""
    g = X.T @ lam
    return max(float(nnls(-X.T, s * g, most_steps=100 * len(X))[1]) for s in (1, -1))
