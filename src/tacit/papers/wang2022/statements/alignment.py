"""Theorem 1: from a small start, neurons first turn to extreme points of the dual."""

import math

import numpy as np

from tacit.data import load
from tacit.numerics.extremal_directions import extremal_directions
from tacit.papers.wang2022.statements import early
from tacit.papers.wang2022.statements.early import DELTA
from tacit.papers.wang2022.statements.gradients import (
    flow_gradient,
    flow_gradients,
    gradient_lengths,
)
from tacit.papers.wang2022.statements.hypotheses import FLOW, balanced_network, flow_checks
from tacit.papers.wang2022.statements.kkt import acute_pair
from tacit.papers.wang2022.statements.outputs import runs_of_outputs, starts_of_outputs
from tacit.theorems import Case, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.errata import Erratum, Evidence
from tacit.values import Check, Network


def cosine(w: np.ndarray, g: np.ndarray) -> float:
    """cos(w, g); −1 where one of them is 0."""
    size = float(np.linalg.norm(w) * np.linalg.norm(g))
    return float(w @ g) / size if size > 0 else -1.0


def needed_times(case: Case, run: Observation | None) -> list[float] | None:
    """When the matching neurons of every output are aligned; None where that is not known."""
    times: list[float] = []
    for data, start in starts_of_outputs(case, run) or []:
        sizes = gradient_lengths(data)
        if sizes is None:
            return None
        height = early.heights(start, data)
        lowest = float(height[height > 0].min(initial=math.inf))  # it takes the longest
        times.append(early.alignment_time(lowest, sizes[1]))
    return times


def _never_aligned() -> Evidence:
    """No direction at all has the cosine, so no flow can come to one."""
    data = acute_pair()
    angle = np.linspace(-math.pi, math.pi, 20_001)
    U = np.column_stack([np.cos(angle), np.sin(angle)])
    active = U @ data.X.T > 0
    G = (active * data.y) @ data.X
    sizes = np.linalg.norm(G, axis=1)
    cosines = np.where(sizes > 0, (U * G).sum(axis=1) / np.where(sizes > 0, sizes, 1.0), -1.0)
    matching = bool((data.y @ np.maximum(data.X @ U.T, 0) > 0).any())
    on = np.array([math.sqrt(0.75), -0.5])  # orthogonal to the second point
    along = cosine(on, flow_gradient(data.X, data.y.astype(float), on))
    words = (
        f"Two points at 60°, labels ±1: over all directions cos(u, XᵀD(u)y) is at most "
        f"{cosines.max():.4f}; on the hyperplane along which neurons slide, the cosine with the "
        f"flow's own gradient is {along:.4f}."
    )
    refuted = matching and cosines.max() < 1 - DELTA and along > 1 - 1e-9
    return Evidence("corrected" if refuted else "printed", words)


class Theorem1(Theorem):
    """Any data, K outputs, gradient flow on the logistic loss, ‖w_k‖ = |a_k| sufficiently small.

    Let a neuron have sign(yᵀ(Xw)₊) = sign(a) = s at the start (9), and δ in (0, 1). Then there is a
    time T with

        cos(w(T), s·XᵀD(w(T))y) ≥ 1 − δ,

    and T = O(log(1/δ)) (Proposition 6): T = Σ_i T_shift(1 − δ), one term of (27) for every length
    that the gradient can have. Where w·x_n = 0 the mask D_n is the one that the flow takes, which
    makes the gradient shortest: neurons slide along hyperplanes. Here δ = 0.1, every neuron with
    (9) is followed up to the first moment after T, and a start is small enough when the bounds of
    Lemma 2 last until T. Runs of K ≥ 3 classes are `members`, one for each class.
    """

    id = "wang2022:thm1"
    several_classes = True
    source = Source("wang2022", "Theorem 1, Proposition 6")
    summary = (
        "From small weights, every neuron that pulls the right way first turns to a direction "
        "that is its own gradient."
    )
    needs = "path"
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})
    errata = (
        Erratum(
            "D(w) = diag(I(Xw > 0)), for any dataset",
            "on hyperplanes that a neuron slides along, D_n in [0, 1] as the flow takes it",
            _never_aligned,
        ),
    )

    def example(self) -> Case:
        W = 1e-7 * np.array([[1.0, 0.6], [-0.3, 0.9], [0.2, -0.9], [1.0, 1.0]])
        return Case(load("wang2022_f1"), FLOW, balanced_network(W, [1, -1, 1, -1]))

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        start = Network(case.given_start.W, 2 * case.given_start.a)
        return Case(case.data, case.setting, start), "balanced"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            *flow_checks(case, "Theorem 1"),
            early.some_match(case, run, "(9)"),
            early.no_near_ties(case, "Theorem 1"),
            early.lasts("lasts_until_aligned", case, run, "Theorem 1", needed_times(case, run)),
        )

    def predict(self, case: Case) -> Prediction:
        values: dict[str, float] = {"cosine": 1 - DELTA}
        starts, times = starts_of_outputs(case, None), needed_times(case, None)
        if not starts or not times:
            words = (
                f"Every neuron that pulls the right way reaches the cosine {1 - DELTA:g} with its "
                "own gradient while the outputs are small."
            )
            return Prediction(words, values)
        count = sum(int((early.heights(start, data) > 0).sum()) for data, start in starts)
        time = max(times)
        words = (
            f"{count} of {len(starts[0][1].a)} neurons pull the right way and reach the cosine "
            f"{1 - DELTA:g} with their own gradient by t = {time:.3g}."
        )
        return Prediction(words, values | {"time": time})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        outputs = None if run is None else runs_of_outputs(case.data, run)
        if not outputs:
            return None
        time = prediction.values.get("time", math.inf)
        missing, too_short = 0.0, False
        for data, one in outputs:
            log_time = math.log(max(time, 1e-300))
            last = sum(moment.time <= log_time for moment in one.path)
            too_short = too_short or one.path[-1].time < log_time
            gradient = flow_gradients(data.X, data.y.astype(float))  # at λ̃ ∝ y
            for k in np.flatnonzero(early.heights(one.start, data) > 0):
                seen = -math.inf
                for moment in reversed(one.path[: last + 1]):  # most are aligned in the end
                    net = moment.network
                    g = np.sign(net.a[k]) * gradient(net.W[k])
                    seen = max(seen, cosine(net.W[k], g))
                    if seen >= prediction.values["cosine"]:
                        break
                missing = max(missing, prediction.values["cosine"] - seen)
        return None if missing > 0 and too_short else missing

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        extremal = extremal_directions(case.data.X, case.data.y.astype(float))
        best = {s: next(i.direction for i in extremal.items if i.sign == s) for s in (1, -1)}
        size = np.linalg.norm(case.given_start.W, axis=1, keepdims=True)
        W = size * np.array([best[s] for s in np.sign(case.given_start.a).astype(int).tolist()])
        then = PathPoint(math.log(prediction.values["time"]), 0.0, Network(W, case.given_start.a))
        return Observation((PathPoint(-math.inf, 0.0, case.given_start), then))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual == 0:
            cosine = prediction.values["cosine"]
            return f"All neurons that pull the right way reach the cosine {cosine:g} in time."
        cosine = prediction.values["cosine"] - residual
        return f"One neuron that pulls the right way reaches only the cosine {cosine:.3f}."
