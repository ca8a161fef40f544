"""Directions that are their own gradient, and the gradients next to them: Lemmas 8 and 9."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tacit.data import load
from tacit.geometry.pairs import shared_pairs
from tacit.geometry.predicate import NotDefined, TooLarge
from tacit.numerics.extremal_directions import extremal_directions
from tacit.papers.wang2022.statements.extreme import own_gradients, separable_points
from tacit.papers.wang2022.statements.hypotheses import separable_checks
from tacit.papers.wang2022.statements.sign_vectors import (
    all_sign_vectors,
    few_sign_vectors,
    without_zeros,
)
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import relu, two_classes, undecided
from tacit.values import Check, Dataset, Setting

DRAWS = 6
"""λ that a statement about all λ is tried with, besides y."""


def drawn(data: Dataset, with_signs_of_y: bool) -> Iterator[np.ndarray]:
    """y itself, and a few random λ; of those with the signs of y some entries are 0."""
    yield data.y.astype(float)
    rng = np.random.default_rng(0)
    for _ in range(DRAWS):
        if with_signs_of_y:
            yield data.y * rng.exponential(size=data.n) * (rng.random(data.n) < 0.7)
        else:
            yield rng.standard_normal(data.n)


def length_of_gradient(X: np.ndarray, sigma: np.ndarray, lam: np.ndarray) -> float:
    """The length ‖g(σ, λ)‖ of the gradient."""
    return float(np.linalg.norm(((sigma > 0) * lam) @ X))


def _beyond(sigma: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """The σ' that agree with σ where it is not 0."""
    return signs[(signs[:, sigma != 0] == sigma[sigma != 0]).all(axis=1)]


class Lemma8(Theorem):
    """Any data, any λ: let u₀ = g(u₀, λ)/‖g(u₀, λ)‖ and σ = sign(Xu₀). Then u₀ is a local maximiser
    of λᵀ(Xu)₊ in the ball if ‖g(σ', λ)‖ ≤ ‖g(σ, λ)‖ for every σ' without zeros that agrees with σ
    where σ ≠ 0.

    The text prints y for λ. The condition is never met when u₀ is on the activation hyperplane of
    one point with λ_n ≠ 0: beyond it ‖g‖² is larger by λ_n²‖x_n‖². So it says nothing about such
    u₀, which may be local maximisers all the same. λ are y and a few random ones.
    """

    id = "wang2022:lemma8"
    source = Source("wang2022", "Lemma 8")
    needs = "data"
    tolerance = 1e-7
    invariances = frozenset({"rotation"})
    summary = (
        "A resting direction is a local maximum if no neighbouring cell has a longer gradient."
    )

    def example(self) -> Case:
        return Case(load("symmetric:n=8,d=3,seed=1"), Setting())

    def counterexample(self) -> tuple[Case, str]:
        return replace(self.example(), setting=Setting(activation="leaky:0.1")), "relu"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (two_classes(case, "§3"), relu(case, "§1.2"), few_sign_vectors(case, "App. D.6"))

    def predict(self, case: Case) -> Prediction:
        words = "Resting directions without a longer gradient next to them are local maxima."
        return Prediction(words, {"draws": DRAWS + 1})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        X, signs = case.data.X, all_sign_vectors(case.data.X)
        if signs is None:
            return None
        opened = without_zeros(signs, X)
        far, complete = 0.0, True
        for lam in drawn(case.data, False):
            extremal = extremal_directions(X, lam)
            complete = complete and extremal.complete
            tops = [item.direction for item in extremal.positive]
            for u, sigma in own_gradients(X, lam):
                # Gradients of one length must not be longer than each other by rounding.
                size = length_of_gradient(X, sigma, lam) * (1 + 1e-12)
                next_to = _beyond(sigma, opened)
                if all(length_of_gradient(X, other, lam) <= size for other in next_to):
                    far = max(far, min((float(np.linalg.norm(u - top)) for top in tops), default=2))
        return far if complete or far <= self.tolerance else None

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"Each of them is within {residual:.1e} of a local maximum that a search finds."


def _longer_beyond() -> Evidence:
    X, lam = np.eye(2), np.array([1.0, -1.0])
    u = next(u for u, _ in own_gradients(X, lam))
    sizes = [length_of_gradient(X, np.array(s), lam) for s in ((1, 0), (1, 1))]
    words = (
        f"x = (1, 0) and (0, 1), y = λ = (1, −1): u₀ = ({u[0]:g}, {u[1]:g}) is its own gradient, "
        f"σ = (1, 0) has ‖g‖ = {sizes[0]:g} and σ' = (1, 1) has {sizes[1]:.4f}."
    )
    return Evidence("corrected" if sizes[1] > sizes[0] else "printed", words)


class Lemma9(Theorem):
    """Orthogonally separable data with x·x' < 0 between the classes, Yλ ≥ 0: let u₀ be its own
    gradient, u₀ = g(u₀, λ)/‖g(u₀, λ)‖, and σ = sign(Xu₀). Then ‖g(σ', λ)‖ = ‖g(σ, λ)‖ for every σ'
    that agrees with σ where σ ≠ 0.

    For then σ has no zeros. Between orthogonal points of different labels it fails, with ≤ instead
    of = as well; Proposition 7 survives, since λ_n(x_n·v)₊ ≤ 0 beyond such a hyperplane.
    """

    id = "wang2022:lemma9"
    source = Source("wang2022", "Lemma 9")
    needs = "data"
    tolerance = 1e-7
    invariances = frozenset({"rotation"})
    summary = "If no two points are orthogonal, a resting direction is on no activation hyperplane."
    errata = (
        Erratum(
            "‖g(σ', λ)‖ = ‖g(σ, λ)‖ for orthogonally separable data",
            "if moreover x_n·x_n' < 0, not only ≤ 0, for different labels",
            _longer_beyond,
        ),
    )

    def example(self) -> Case:
        return separable_points()

    def counterexample(self) -> tuple[Case, str]:
        return Case(Dataset(np.eye(2), np.array([1, -1])), Setting()), "obtuse_between_classes"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (*separable_checks(case), self._obtuse(case), few_sign_vectors(case, "App. D.6"))

    @staticmethod
    def _obtuse(case: Case) -> Check:
        name, place = "obtuse_between_classes", "Lemma 9"
        try:
            pairs = shared_pairs(case.view)
        except (TooLarge, NotDefined) as reason:
            return undecided(name, place, str(reason))
        slack = -pairs.highest_other
        note = "minus the largest cosine of two points of different labels"
        holds = None if 0 < abs(slack) <= pairs.rounding else slack > 0
        return Check(name, holds, slack, place, note, pairs.rounding)

    def predict(self, case: Case) -> Prediction:
        words = (
            "A direction that is its own gradient, where a neuron rests, is on no activation "
            "hyperplane: no gradient next to it is longer or shorter."
        )
        return Prediction(words, {"draws": DRAWS + 1})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        X, signs = case.data.X, all_sign_vectors(case.data.X)
        if signs is None:
            return None
        off = 0.0
        for lam in drawn(case.data, True):
            for _, sigma in own_gradients(X, lam):
                size = length_of_gradient(X, sigma, lam)
                beyond = [length_of_gradient(X, s, lam) for s in _beyond(sigma, signs)]
                off = max([off, *(abs(other / size - 1) for other in beyond)])
        return off

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual == 0:
            return "Next to the resting directions all gradients have the same length."
        return f"Next to a resting direction the lengths of gradients differ by {residual:.1e}."
