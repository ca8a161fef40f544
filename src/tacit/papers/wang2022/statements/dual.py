"""Dual feasibility of λ: then the network is the best of all (Theorem 3, Propositions 4 and 5)."""

import math
from typing import ClassVar

import numpy as np

from tacit.data import load
from tacit.numerics.convex_program import ConvexOptimum, bracket
from tacit.numerics.float64 import EPS
from tacit.numerics.neurons import Neurons
from tacit.papers.wang2022.statements.hypotheses import FLOW, balanced_network, network_checks
from tacit.papers.wang2022.statements.kkt import (
    STATIONARY,
    OfAKKTPoint,
    Proposition3,
    acute_pair,
    covered,
    kkt_point,
)
from tacit.papers.wang2022.statements.limit_points import (
    WITHOUT_LIMIT,
    kkt_of,
    margin_of,
    why_no_limit,
)
from tacit.papers.wang2022.statements.widest_margin import optimum_of
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source
from tacit.theorems.asking import seconds_left
from tacit.theorems.hypotheses import by_slack, needs_a_run, two_classes, undecided
from tacit.values import Check, Dataset, Network


def bounds_of(network: Network, data: Dataset) -> ConvexOptimum:
    """The optimum is below what the network has, and above what its own λ proves."""
    # What dies out may be so small that its squares underflow; it adds nothing to any sum.
    rows = np.flatnonzero(network.weights > EPS * network.weights.sum())
    V = np.abs(network.a[rows])[:, None] * network.W[rows]
    lam = kkt_of(network, data).multipliers
    net = Neurons(V, np.sign(network.a[rows]).astype(int))
    bounds = bracket(data.X, data.y, 0.0, net, lam, seconds=seconds_left())
    seconds_left()  # a proof that was cut says too little
    return bounds


class _DualFeasible(OfAKKTPoint):
    """On data of this kind λ of the limit is dual feasible.

    At a KKT point M = max_{‖u‖≤1} |λᵀ(Xu)₊| is at least 1, as every neuron shows. The residual is
    the share of the optimum that λ/M fails to prove: 1 − 1/M at a KKT point, and positive for all
    networks that are not the best.
    """

    kind: ClassVar[tuple[str, str]]
    """The property of the data, and where it is defined."""
    tolerance = 1e-6

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            two_classes(case, "§3"),
            *network_checks(case, "§1.2"),
            case.data_check(*self.kind),
            kkt_point(case, run, self.source.place),
            covered(case, run, self.source.place),
        )

    def predict(self, case: Case) -> Prediction:
        words = (
            "The limit's λ is dual feasible: no neuron could gain, so no network has a wider "
            "margin than the limit."
        )
        return Prediction(words, {"largest": 1.0})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        if run is None or run.outcome in WITHOUT_LIMIT:
            return None
        return bounds_of(run.end, case.data).gap

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"The limit's own λ proves that its margin is within {residual:.1e} of the widest."


class Proposition4(_DualFeasible):
    """Orthogonally separable data: let a KKT point of (13) have two neurons whose masks satisfy

        D̂_{i+} ≥ diag(I(y = 1)),   D̂_{i−} ≥ diag(I(y = −1)).

    Then λ is dual feasible: max_{‖u‖≤1} |λᵀ(Xu)₊| ≤ 1 (16).
    """

    id = "wang2022:prop4"
    source = Source("wang2022", "Proposition 4")
    kind = "orthogonally_separable", "§3.1"
    summary = (
        "On orthogonally separable data a KKT point that sees each class as a whole is the best "
        "network."
    )

    def example(self) -> Case:
        return Proposition3().example()

    def counterexample(self) -> tuple[Case, str]:
        return Case(acute_pair(), FLOW), "orthogonally_separable"


def _sum_of_the_positive() -> Evidence:
    """λ = 1.1 y: max λᵀ(Xu)₊ = 1.1 sin 60° at a right angle to x₂, max λᵀY₊(Xu)₊ = 1.1 along x₁."""
    X = acute_pair().X
    u = np.array([np.cos(t := np.linspace(-np.pi, np.pi, 100_001)), np.sin(t)])
    active = np.maximum(X @ u, 0)
    whole = float(np.abs(1.1 * (active[0] - active[1])).max())
    part = float((1.1 * active[0]).max())
    words = (
        f"Two points at 60°, labels ±1 and λ = 1.1y: max |λᵀ(Xu)₊| is {whole:.4f}, feasible, "
        f"while max λᵀY₊(Xu)₊ is {part:.4f}."
    )
    return Evidence("corrected" if whole < 1 < part else "printed", words)


class Proposition5(_DualFeasible):
    """Spike-free data: let a KKT point of (13) have two neurons whose masks satisfy

        D̂_{i+} ≥ diag(I(y = 1)),   D̂_{i−} ≥ diag(I(y = −1)).

    Then λ is dual feasible: max_{‖u‖≤1} |λᵀ(Xu)₊| ≤ 1 (16).
    """

    id = "wang2022:prop5"
    source = Source("wang2022", "Proposition 5")
    kind = "spike_free", "Definition 2"
    summary = "On spike-free data a KKT point that sees each class as a whole is the best network."
    errata = (
        Erratum(
            "max λᵀ(Xu)₊ = max λᵀY₊(Xu)₊ (64), so that Remark 1's last form of the dual "
            "constraint is equivalent",
            "max λᵀ(Xu)₊ ≤ max λᵀY₊(Xu)₊, which is all that the proposition needs; the last form "
            "is sufficient only",
            _sum_of_the_positive,
        ),
    )

    def example(self) -> Case:
        X = np.array([[1.0, 0.0, 0.0], [0.0, 1.5, 0.0], [0.0, 0.3, 0.8]])
        W = 1e-4 * np.array([[0.6, 0.6, -0.3], [-0.3, -0.2, 0.9]])
        data = Dataset(X, np.array([1, 1, -1]))
        return Case(data, FLOW, balanced_network(W, [1, -1]))

    def counterexample(self) -> tuple[Case, str]:
        return Case(load("wang2022_f1"), FLOW), "spike_free"


class Theorem3(OfAKKTPoint):
    """A KKT point of (13) is a KKT point of the convex program (14), and so a global optimum, if

        max_{‖u‖≤1} |λᵀ(Xu)₊| ≤ 1,   (16)

    that is, if λ is feasible for the dual (15). The residual is the share of the widest margin that
    the limit misses; the widest margin comes from the convex program.
    """

    id = "wang2022:thm3"
    source = Source("wang2022", "Theorem 3")
    summary = "A limit whose own λ is dual feasible has the widest margin of all networks."
    proof_covers_it = True
    tolerance = 1e-6

    def example(self) -> Case:
        W = 1e-4 * np.array([[1.0, 0.2], [0.2, 1.0]])
        return Case(acute_pair(), FLOW, balanced_network(W, [1, -1]))

    def counterexample(self) -> tuple[Case, str]:
        data = load("orthogonal_classes:n=6,d=2,classes=3,seed=1")
        return Case(data, FLOW), "two_classes"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            two_classes(case, "§3"),
            *network_checks(case, "§1.2"),
            kkt_point(case, run, "Theorem 3"),
            dual_feasible(case, run, "(16)"),
        )

    def predict(self, case: Case) -> Prediction:
        best = optimum_of(case.data)
        if best is None or best.status != "certified":
            return Prediction("The limit has the widest margin of all networks.")
        margin = best.margin
        words = f"The limit has the widest margin of all networks, {margin:.6g}."
        return Prediction(words, {"margin": margin})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        if run is None or run.outcome in WITHOUT_LIMIT or "margin" not in prediction.values:
            return None
        return abs(1 - margin_of(run.end, case.data) / prediction.values["margin"])

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        widest = prediction.values["margin"]
        return f"The margin of the limit is {(1 - residual) * widest:.6g}, the widest {widest:.6g}."


def dual_feasible(case: Case, run: Observation | None, place: str) -> Check:
    """M = max |λᵀ(Xu)₊| ≤ 1 for the λ of the limit; the slack is 1 − M up to rounding."""
    unknown = why_no_limit(case, run, "dual_feasible", place)
    if unknown is not None or run is None:
        return unknown or needs_a_run("dual_feasible", place)
    total = float(kkt_of(run.end, case.data).multipliers.sum())
    bounds = bounds_of(run.end, case.data)
    lower = bounds.objective_bounds.lower
    if not (total > 0 and lower > 0 and math.isfinite(lower)):
        return undecided("dual_feasible", place, "there is no λ")
    largest = total / lower
    note = f"the largest |λᵀ(Xu)₊| is {largest:.6g}"
    if largest > 1 + STATIONARY and bounds.cells is None:
        return undecided("dual_feasible", place, f"{note} at most; not all cells were bounded")
    return by_slack("dual_feasible", 1 + STATIONARY - largest, place, note)
