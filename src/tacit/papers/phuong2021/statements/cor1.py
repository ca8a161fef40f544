"""Corollary 1: the function that the network ends as."""

import numpy as np

from tacit.numerics.least_squares import nnls
from tacit.papers.phuong2021.statements.examples import FLOW, cones, initial_network, run_through
from tacit.papers.phuong2021.statements.thm1 import (
    UNTOLD,
    end_of,
    limit_network,
    said_of_vectors,
    setting_of_theorem_1,
)
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.values import Check


class Corollary1(Theorem):
    """Under the conditions of Theorem 1 there are u, z ≥ 0 with

        f(x)/‖θ‖² → u ρ(w₊·x) − z ρ(w₋·x).   (10)

    The proof of Theorem 1 gives the numbers too: ‖W₊‖²/log t → ν₊ = ‖w₊‖ by (21), whose smoothed
    margin tends to 1/(2‖w₊‖), and likewise ν₋ = ‖w₋‖. So u = z = 1/(2(‖w₊‖ + ‖w₋‖)) when neurons of
    both signs survive; with one sign only, u = 1/(2‖w₊‖) or z = 1/(2‖w₋‖).

    The residual is the relative distance of f/‖θ‖² from the nearest such function, on the data and
    on random sums of its points.
    """

    id = "phuong2021:cor1"
    source = Source("phuong2021", "Corollary 1")
    summary = "The network ends as u·ρ(w₊·x) − z·ρ(w₋·x): one neuron for each class."
    needs = "limit"
    tolerance = 1e-5
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        data = cones(2)
        return Case(data, FLOW, initial_network(data))

    def counterexample(self) -> tuple[Case, str]:
        data = cones(2)
        case = Case(data, FLOW, initial_network(data, size=2.0))
        return case, "small_start"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return setting_of_theorem_1(case, run)

    def predict(self, case: Case) -> Prediction:
        values, vectors = said_of_vectors(case)
        both = float(1 / (2 * values["norms"].sum()))
        values |= {"u": both, "z": both}
        words = (
            f"f(x)/‖θ‖² tends to u·ρ(w₊·x) − z·ρ(w₋·x), with {vectors}, and u = z = {both:.4g} if "
            "neurons of both signs survive."
        )
        return Prediction(words, values)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        if run is None or run.outcome in UNTOLD:
            return None
        points = probes(case.data.X)
        f = end_of(run).outputs(points)
        plus, minus = prediction.values["w_plus"], prediction.values["w_minus"]
        two = np.column_stack([np.maximum(points @ plus, 0), -np.maximum(points @ minus, 0)])
        _, off = nnls(two, f)
        return float(off / np.linalg.norm(f))

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        plus, minus = prediction.values["w_plus"], prediction.values["w_minus"]
        return run_through(limit_network(case, plus, minus))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"The network's function is {residual:.1e} (relative) from u·ρ(w₊·x) − z·ρ(w₋·x)."


def probes(X: np.ndarray) -> np.ndarray:
    """Where functions are compared: the data, and 10 sums per dimension of its points."""
    weights = np.random.default_rng(0).normal(size=(10 * X.shape[1], len(X)))
    return np.vstack([X, weights @ X / np.sqrt(len(X))])
