"""KKT points of the max-margin problem: what the limits of the flow are (Proposition 3).

The paper speaks of KKT points in terms of the B-subdifferential, with masks D̂_n in {0, 1} where
w·x_n = 0. The limits of gradient flow are KKT points in Clarke's sense, with masks in [0, 1], and
the proofs hold for these as well; so that is what is asked for here.
"""

import math
from itertools import product

import numpy as np

from tacit.data import load
from tacit.numerics.least_squares import nnls
from tacit.papers.wang2022.statements.hypotheses import FLOW, balanced_network, network_checks
from tacit.papers.wang2022.statements.limit_points import (
    WITHOUT_LIMIT,
    ended_at,
    kkt_of,
    living_neurons,
    masks_of,
    why_no_limit,
)
from tacit.papers.wang2022.statements.sign_vectors import ON_HYPERPLANE
from tacit.papers.wang2022.statements.widest_margin import best_network
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import by_slack, needs_a_run, two_classes
from tacit.values import Check, Dataset

STATIONARY = 1e-6
"""KKT residuals up to this are rounding."""


def kkt_point(case: Case, run: Observation | None, place: str) -> Check:
    """The limit is a KKT point of (13)."""
    unknown = why_no_limit(case, run, "kkt_point", place)
    if unknown is not None or run is None:
        return unknown or needs_a_run("kkt_point", place)
    kkt = kkt_of(run.end, case.data)
    off = max(kkt.stationarity, kkt.complementarity) if kkt.feasibility == 0 else 1.0
    return by_slack("kkt_point", STATIONARY - off, place, f"the residual is {off:.1e}")


def covered(case: Case, run: Observation | None, place: str) -> Check:
    """For each label some neuron's mask is 1 on all its points; the slack is their worst cosine."""
    unknown = why_no_limit(case, run, "classes_covered", place)
    if unknown is not None or run is None:
        return unknown or needs_a_run("classes_covered", place)
    data, network = case.data, run.end
    rows = living_neurons(network)
    D = masks_of(network, data, kkt_of(network, data))[rows]
    W, X = network.W[rows], data.X
    sizes = np.outer(np.linalg.norm(W, axis=1), np.linalg.norm(X, axis=1))
    cosines = W @ X.T / np.where(sizes > 0, sizes, 1.0)
    slack, holds = 1.0, True
    for label in np.unique(data.y):
        mine = data.y == label
        slack = min(slack, float(cosines[:, mine].min(axis=1).max(initial=-1.0)))
        holds = holds and bool((D[:, mine].min(axis=1) >= 1 - ON_HYPERPLANE).any())
    note = f"for each label some neuron {'sees' if holds else 'must see'} all its points"
    return Check(
        "classes_covered", holds, max(slack, 0.0) if holds else min(slack, 0.0), place, note
    )


class OfAKKTPoint(Theorem):
    """A statement about the limit, if that is a KKT point."""

    needs = "limit"
    invariances = frozenset({"order", "scale", "rotation"})

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        return ended_at(best_network(case.data))


def _optimum_has_fractions() -> Evidence:
    data = acute_pair()
    network = best_network(data)
    kkt = kkt_of(network, data)
    target = (network.W / network.a[:, None]).ravel()
    off = []
    for masks in product((0.0, 1.0), repeat=len(kkt.masks)):
        D = masks_of(network, data, kkt)
        for (k, n), mask in zip(kkt.masks, masks, strict=True):
            D[k, n] = mask
        columns = [np.outer(D[:, n], data.y[n] * data.X[n]).ravel() for n in range(data.n)]
        off.append(float(nnls(np.array(columns).T, target)[1]))
    words = (
        f"Two points at 60° with labels ±1: the best network (margin {kkt.margin:.4f}, certified) "
        f"is a KKT point to {kkt.stationarity:.0e} with masks {max(kkt.masks.values()):.2g} on its "
        f"hyperplanes; with masks 0 and 1 only, w/a is {min(off):.2g} away from any XᵀD̂λ."
    )
    fractions = kkt.holds(STATIONARY) and min(off) > 0.1
    return Evidence("corrected" if fractions else "printed", words)


def acute_pair() -> Dataset:
    """Two points of different labels, 60° apart: spike-free."""
    return Dataset(np.array([[1.0, 0.0], [0.5, math.sqrt(0.75)]]), np.array([1, -1]), "acute pair")


class Proposition3(OfAKKTPoint):
    """At a KKT point (W, a, λ) of (13) every neuron with a_k ≠ 0 has a mask D̂_k with

        w_k/a_k = XᵀD̂_kλ,   ‖XᵀD̂_kλ‖ = 1,

    where (D̂_k)_n is 1 for w_k·x_n > 0, 0 for w_k·x_n < 0, and in [0, 1] for w_k·x_n = 0. Here
    y_nλ_n ≥ 0. The residual is the largest distance of w_k/a_k from XᵀD̂_kλ, over the neurons that
    have not died out.
    """

    id = "wang2022:prop3"
    source = Source("wang2022", "Proposition 3")
    summary = (
        "In the limit every neuron is the sum of the points it sees, weighted by one λ for all."
    )
    tolerance = 1e-5
    errata = (
        Erratum(
            "KKT points in terms of the B-subdifferential: (D̂_i)_n in {0, 1} for w_i·x_n = 0",
            "in terms of Clarke's: (D̂_i)_n in [0, 1]; even the optimum of (13) need not be a KKT "
            "point in the other sense",
            _optimum_has_fractions,
        ),
    )

    def example(self) -> Case:
        W = 1e-4 * np.array([[0.6, -0.8], [-0.8, 0.6]])
        return Case(load("wang2022_f1"), FLOW, balanced_network(W, [1, -1]))

    def counterexample(self) -> tuple[Case, str]:
        data = load("orthogonal_classes:n=6,d=2,classes=3,seed=1")
        return Case(data, FLOW), "two_classes"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        checks = network_checks(case, "§1.2")
        return (two_classes(case, "§3"), *checks, kkt_point(case, run, "Proposition 3"))

    def predict(self, case: Case) -> Prediction:
        words = (
            "There is one λ, with the signs of y, such that every surviving neuron is "
            "a·Σ λ_n x_n over the points it sees, and that sum has length 1."
        )
        return Prediction(words, {"length": 1.0})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        if run is None or run.outcome in WITHOUT_LIMIT:
            return None
        network, data = run.end, case.data
        kkt = kkt_of(network, data)
        rows = living_neurons(network)
        D = masks_of(network, data, kkt)[rows]
        u = (D * (data.y * kkt.multipliers)) @ data.X
        apart = np.linalg.norm(network.W[rows] / network.a[rows, None] - u, axis=1)
        length = np.abs(np.linalg.norm(u, axis=1) - prediction.values["length"])
        return float(max(apart.max(initial=0.0), length.max(initial=0.0)))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"Every surviving neuron is within {residual:.1e} of a·Σ λ_n x_n, of length 1."
