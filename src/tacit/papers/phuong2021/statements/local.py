"""What G is like near a direction (App. A.1)."""

from fractions import Fraction
from operator import mul

import numpy as np

from tacit.geometry.exact import rational
from tacit.messages import count
from tacit.papers.phuong2021.statements.examples import FLOW, cones
from tacit.papers.phuong2021.statements.hypotheses import small_neurons
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.values import Check

PROBES = 30
"""Directions w, each with a v; every other w is on an activation hyperplane."""
SHARES = (0.0, 1e-3, 0.3, 1.0)
"""Shares of ε_max at which both sides are compared."""
ON_HYPERPLANE = 1e-13
"""|cos(w, x)| that rounding leaves where w is on the hyperplane of x: a point that is only near it
counts, with an ε_max that is as small."""
MOST_EXACT_ENTRIES = 2000
"""Entries of X up to which both sides are compared in exact arithmetic."""


class LemmaA2(Theorem):
    """G is linear along a line for a while, but for the norm: there is ε_max > 0 so that for
    ε in [0, ε_max]

        G((w + εv)/‖w + εv‖) = (G(w) − ε Σ ℓ_i'(0) 1{(w + εv)·x_i > 0} v·x_i)/‖w + εv‖.   (37)

    ε_max is half of the ε at which the first w·x_i ≠ 0 changes its sign (40).

    The residual is the largest difference of the sides, relative to Σ‖x_i‖/2, over random w (some
    of them on hyperplanes) and v; the left side is computed from the definition (12).
    """

    id = "phuong2021:lemmaA.2"
    source = Source("phuong2021", "Lemma A.2")
    summary = (
        "How fast a small neuron grows changes linearly along a straight line of directions, until "
        "the line meets the activation hyperplane of a point."
    )
    needs = "data"
    tolerance = 1e-12
    invariances = frozenset({"rotation"})

    def example(self) -> Case:
        return Case(cones(3), FLOW)

    def counterexample(self) -> tuple[Case, str]:
        return Case(cones(3), FLOW.replace(activation="leaky:0.5")), "relu"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return small_neurons(case)

    def predict(self, case: Case) -> Prediction:
        X, c = case.data.X, 0.5 * case.data.y  # −ℓ_i'(0)
        w, v = _lines(X)
        reach = np.array([longest(X, *line) for line in zip(w, v, strict=True)])
        right = [
            [right_side(X, c, w[k], v[k], share * reach[k]) for share in SHARES]
            for k in range(len(w))
        ]
        words = (
            "G(w), how fast a small neuron of direction w grows, is linear along w + εv, but for "
            f"the length of w + εv: on {count(len(w), 'random line')} at least up to "
            f"ε = {reach.min():.2g}."
        )
        return Prediction(
            words, {"w": w, "v": v, "epsilon_max": reach, "right_side": np.array(right)}
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float:
        X, c = case.data.X, 0.5 * case.data.y
        said = prediction.values
        steps = said["epsilon_max"][:, None] * np.array(SHARES)
        points = said["w"][:, None] + steps[:, :, None] * said["v"][:, None]
        points /= np.linalg.norm(points, axis=2, keepdims=True)
        left = np.maximum(points @ X.T, 0.0) @ c  # (12)
        return float(np.abs(left - said["right_side"]).max() / (np.abs(c) @ _lengths(X)))

    def exact_residual(self, case: Case) -> float | None:
        """Both sides of (37) times ‖w + εv‖, for rational w and v."""
        if case.data.X.size > MOST_EXACT_ENTRIES:
            return None
        X = [rational(row) for row in case.data.X]
        largest = Fraction(0)
        for w, v in zip(*_lines(case.data.X), strict=True):
            products = [
                (y, sum(map(mul, x, rational(w))), sum(map(mul, x, rational(v))))
                for y, x in zip(case.data.y.tolist(), X, strict=True)
            ]
            reach = min((-h / r for _, h, r in products if h * r < 0), default=Fraction(2)) / 2
            for share in SHARES:
                step = Fraction(share) * reach  # (40)
                sides = sum(
                    y * (max(h + step * r, 0) - max(h, 0) - (step * r if h + step * r > 0 else 0))
                    for y, h, r in products
                )
                largest = max(largest, abs(sides))
        return float(largest) / float(_lengths(case.data.X).sum())

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return (
            "The linear formula and G, computed from its definition, differ by at most "
            f"{residual:.1e} of Σ‖x_i‖/2."
        )


def right_side(X: np.ndarray, c: np.ndarray, w: np.ndarray, v: np.ndarray, step: float) -> float:
    """The right side of (37)."""
    there = w + step * v
    slope = (c * (X @ there > 0)) @ (X @ v)
    return float((c @ np.maximum(X @ w, 0.0) + step * slope) / np.linalg.norm(there))


def longest(X: np.ndarray, w: np.ndarray, v: np.ndarray) -> float:
    """ε_max (40); 1 where no sign ever changes."""
    here, rate = X @ w, X @ v
    free = np.abs(here) <= ON_HYPERPLANE * _lengths(X)
    meets = ~free & (here * rate < 0)
    return float(0.5 * (-here[meets] / rate[meets]).min()) if meets.any() else 1.0


def _lines(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors w, every other one on a hyperplane, and any v: random sums of points."""
    weights = np.random.default_rng(0).normal(size=(2, PROBES, len(X)))
    w, v = weights @ X / np.sqrt(len(X))
    if X.shape[1] > 1:
        for k in range(0, PROBES, 2):
            x = X[k % len(X)]
            w[k] -= (w[k] @ x) / max(float(x @ x), 1e-300) * x
    lengths = _lengths(w)
    # A w along its x is all rounding after the projection: its direction means nothing.
    kept = lengths > 1e-6 * lengths.max()
    return w[kept] / lengths[kept, None], v[kept]


def _lengths(rows: np.ndarray) -> np.ndarray:
    return np.linalg.norm(rows, axis=1)
