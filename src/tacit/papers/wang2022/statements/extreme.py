"""Extreme points: where λᵀ(Xu)₊ is largest on the ball, and which u are their own gradient."""

import math
from collections.abc import Iterator

import numpy as np

from tacit.data import load
from tacit.numerics.extremal_directions import extremal_directions
from tacit.papers.wang2022.statements.hypotheses import not_separable, separable_checks
from tacit.papers.wang2022.statements.sign_vectors import (
    all_sign_vectors,
    few_sign_vectors,
    sign_vector,
)
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.values import Check, Dataset, Setting

MOST_ENTRIES = 100_000
"""Entries of X up to which all local maxima are searched for."""


def own_gradients(X: np.ndarray, lam: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All unit u with u = g(u, λ)/‖g(u, λ)‖, each with its sign vector."""
    signs = all_sign_vectors(X)
    assert signs is not None
    lengths = np.linalg.norm(X, axis=1)
    for sigma in signs:
        g = ((sigma > 0) * lam) @ X  # (20)
        size = float(np.linalg.norm(g))
        # What cancels out up to rounding has no direction.
        if size > 1e-12 * float(np.abs(lam) @ lengths):
            if (sign_vector(X, g) == sigma).all():
                yield g / size, sigma


def separable_points() -> Case:
    """A small orthogonally separable data set."""
    return Case(load("orthogonal:n=7,d=3,seed=1"), Setting())


def _sums(data: Dataset) -> tuple[tuple[int, np.ndarray], ...]:
    """(s, unit vector along the sum of the points of label s)."""
    sums = [(s, data.X[data.y == s].sum(axis=0)) for s in (1, -1)]
    return tuple((s, v / np.linalg.norm(v)) for s, v in sums if v.any())


class Lemma4(Theorem):
    """Orthogonally separable data: let w be a local maximiser of yᵀ(Xw)₊ in the unit ball.

    If (Xw)₊ ≠ 0, then w·x_n > 0 for all n with y_n = 1. Local minimisers: the same with y_n = −1.
    The prediction is the only such w, along the sum of its class; the residual looks at all strict
    local maxima and minima that a search on the sphere finds.
    """

    id = "wang2022:lemma4"
    source = Source("wang2022", "Lemma 4")
    summary = "The directions of steepest early growth see their class as a whole."
    needs = "data"
    tolerance = 1e-7
    invariances = frozenset({"rotation"})

    def example(self) -> Case:
        return separable_points()

    def counterexample(self) -> tuple[Case, str]:
        return not_separable()

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return separable_checks(case)

    def predict(self, case: Case) -> Prediction:
        sums = _sums(case.data)
        words = (
            "The only extreme directions are the sums of the classes' points, seen by all of them."
        )
        return Prediction(words, {"count": len(sums)}, sums)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        data = case.data
        if data.X.size > MOST_ENTRIES:
            return None
        worst = math.inf
        for item in extremal_directions(data.X, data.y.astype(float)).items:
            own = data.X[data.y == item.sign]
            if not len(own) or not (item.sector > 0).any():  # (Xw)₊ = 0
                continue
            worst = min(worst, float((own @ item.direction / np.linalg.norm(own, axis=1)).min()))
        return 0.0 if worst > 0 else 1.0 - worst

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual == 0:
            return "Every extreme direction that was found sees all points of its class."
        return f"An extreme direction misses a point of its class by the cosine {residual - 1:.2g}."


def _flat_top() -> Evidence:
    X, y = load("wang2022_f1").X, load("wang2022_f1").y
    u = -np.ones(2) / math.sqrt(2)
    around = u + 0.1 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [0, 0]])
    values = y @ np.maximum(X @ around.T, 0)
    g = float(np.linalg.norm(((X @ u > 0) * y) @ X))
    words = (
        f"App. F.1, u = (−1, −1)/√2: yᵀ(Xu)₊ is {values[-1]:g} there and at most "
        f"{values.max():g} around, so u is a local maximiser, while g(u, y) has length {g:g}."
    )
    return Evidence("corrected" if not values.any() and g == 0 else "printed", words)


class Proposition7(Theorem):
    """Orthogonally separable data, ‖u‖ ≤ 1, (Xu)₊ ≠ 0: u is a local maximiser of yᵀ(Xu)₊ in the
    ball if and only if cos(u, g(u, y)) = 1 and ‖u‖ = 1, a local minimiser iff the cosine is −1.

    g(u, y) = Σ y_n x_n over u·x_n > 0. The residual compares all u that are their own gradient,
    from the list of sign vectors, with the local extrema that a search on the sphere finds.
    """

    id = "wang2022:prop7"
    source = Source("wang2022", "Proposition 7")
    summary = (
        "On orthogonally separable data a neuron comes to rest, early on, only where its growth "
        "is largest."
    )
    needs = "data"
    tolerance = 1e-7
    invariances = frozenset({"rotation"})
    errata = (
        Erratum(
            "u in the ball is a local maximiser if and only if cos(u, g(u, y)) = 1",
            "the same with (Xu)₊ ≠ 0, as in Lemma 4 (and ‖u‖ = 1)",
            _flat_top,
        ),
    )

    def example(self) -> Case:
        return separable_points()

    def counterexample(self) -> tuple[Case, str]:
        return not_separable()

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return *separable_checks(case), few_sign_vectors(case, "App. D.6")

    def predict(self, case: Case) -> Prediction:
        sums = _sums(case.data)
        words = (
            "The sums of the classes' points are the only directions where neurons come to rest."
        )
        return Prediction(words, {"count": len(sums)}, sums)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        data = case.data
        if all_sign_vectors(data.X) is None:
            return None
        extremal = extremal_directions(data.X, data.y.astype(float))
        far = 0.0
        for s, items in ((1, extremal.positive), (-1, extremal.negative)):
            own = [u for u, _ in own_gradients(data.X, s * data.y.astype(float))]
            top = [item.direction for item in items]
            said = [u for sign, u in prediction.directions if sign == s]
            far = max(far, _apart(own, top), _apart(own, said))
        return far if extremal.complete or far <= self.tolerance else None

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"Local extrema and resting directions are the same up to {residual:.1e}."


def _apart(one: list[np.ndarray], other: list[np.ndarray]) -> float:
    """Largest distance of a vector of one set from the other set; 2 when only one is empty."""
    if not one or not other:
        return 0.0 if len(one) == len(other) else 2.0
    distances = np.linalg.norm(np.array(one)[:, None] - np.array(other), axis=2)
    return float(max(distances.min(axis=0).max(), distances.min(axis=1).max()))
