"""How fast a neuron turns to its gradient before it meets a hyperplane: Lemma 3 and Corollary 1."""

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from tacit.papers.wang2022.statements import early
from tacit.papers.wang2022.statements.dynamics import three_neurons
from tacit.papers.wang2022.statements.early import DELTA, KAPPA
from tacit.papers.wang2022.statements.gradients import flow_gradient, gradient_lengths, zero_length
from tacit.papers.wang2022.statements.hypotheses import flow_checks
from tacit.papers.wang2022.statements.outputs import starts_of_outputs
from tacit.papers.wang2022.statements.sign_vectors import sign_vector
from tacit.theorems import Case, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.errata import Erratum, Evidence
from tacit.theorems.hypotheses import two_classes
from tacit.values import Check, Dataset, Network


class Curve(NamedTuple):
    """The curve z(t) that uᵀv stays above."""

    first: float
    """u₀ᵀv₀, where it begins."""
    size: float
    """g₀ = ‖g(σ₀, y/2)‖."""
    time: float
    """T* (26)."""


def _time_of_the_comparison() -> Evidence:
    """Integrate z' = g₀(1 − δ/4 − z²), the end of (91), until z = 1 − δ."""
    from scipy.integrate import solve_ivp

    g, first, last = 0.8, 0.2, 1 - DELTA

    def slope(t: float, z: np.ndarray) -> np.ndarray:
        return g * (1 - DELTA / 4 - z**2)

    def there(t: float, z: np.ndarray) -> float:
        return float(z[0]) - last

    setattr(there, "terminal", True)  # noqa: B010
    end = solve_ivp(slope, (0, 100), [first], events=there, rtol=1e-10, atol=1e-12).t[-1]
    times = {
        part: (math.atanh(last / root) - math.atanh(first / root)) / (g * root)
        for part, root in ((4, KAPPA), (8, math.sqrt(1 - DELTA / 8)))
    }
    words = (
        f"For g₀ = {g}, vᵀu from {first} to {last}, δ = {DELTA}: integration takes {end:.4f}, "
        f"√(1 − δ/4) gives {times[4]:.4f} and √(1 − δ/8) gives {times[8]:.4f}."
    )
    closer = abs(end - times[4]) < abs(end - times[8])
    return Evidence("corrected" if closer else "printed", words)


class Corollary1(Theorem):
    """A neuron with s·λ̃(0)ᵀ(Xu₀)₊ > 0 and a start so small that Lemma 2 holds until T* (26). Let
    v = s·g(u, λ̃)/‖g(u, λ̃)‖ and let sign(Xu) change for the first time at T, with c = uᵀv just
    before. If T > T_shift(c) (27), then c > 1 − δ.

    That is, up to its first change uᵀv ≥ z(t) for t ≤ T*, where z solves z' = g₀(1 − δ/4 − z²) from
    z(0) = u₀ᵀv₀, for T_shift is the inverse of z. The residual is the largest z(t) − uᵀv.
    """

    id = "wang2022:cor1"
    source = Source("wang2022", "Corollary 1, Lemma 3")
    summary = (
        "Until a neuron meets an activation hyperplane it turns to its gradient at least as fast "
        "as a known curve."
    )
    needs = "path"
    tolerance = 1e-6
    invariances = frozenset({"order", "rotation"})
    errata = (
        Erratum(
            "√(1 − δ/8) in (26) and (27)",
            "√(1 − δ/4), the equilibrium of the comparison (91)",
            _time_of_the_comparison,
        ),
    )

    def example(self) -> Case:
        return three_neurons()

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        start = Network(case.given_start.W, -case.given_start.a)
        return Case(case.data, case.setting, start), "matching_neuron"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        starts = starts_of_outputs(case, run) if case.data.binary else None
        needed = None
        if starts is not None and gradient_lengths(case.data) is not None:
            needed = [_longest(_curves(start, data)) for data, start in starts]
        return (
            two_classes(case, "§4"),
            *flow_checks(case, "§4"),
            early.some_match(case, run, "Lemma 3"),
            early.lasts("lasts_until_turned", case, run, "Lemma 3", needed),
        )

    def predict(self, case: Case) -> Prediction:
        if case.start is None or not case.data.binary:
            return Prediction("Until it meets a hyperplane, a neuron turns as fast as (27) says.")
        curves = _curves(case.start, case.data)
        time = _longest(curves)
        words = (
            f"A neuron that meets no hyperplane has the cosine {1 - DELTA:g} with its gradient by "
            f"t = {time:.3g}, and on its way is at or above a known curve."
        )
        return Prediction(words, {"time": time})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        if run is None:
            return None
        data, behind = case.data, 0.0
        path = run.path
        cosines = cache(lambda j: _cosines(path[j].network, data))
        for k, (first, size, time) in _curves(run.start, data).items():
            sector = sign_vector(data.X, run.start.W[k])
            for j, moment in enumerate(path):
                w = moment.network.W[k]
                if moment.time > math.log(time) or (sign_vector(data.X, w) != sector).any():
                    break
                t = math.exp(moment.time)
                z = KAPPA * math.tanh(math.atanh(first / KAPPA) + KAPPA * size * t)
                behind = max(behind, z - float(cosines(j)[k]))
        return behind

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        """Each neuron is turned, at half time, to where the curve is then."""
        data, W = case.data, case.given_start.W.copy()
        time = prediction.values["time"] / 2
        for k, (first, size, _) in _curves(case.given_start, data).items():
            w = W[k]
            g = np.sign(case.given_start.a[k]) * flow_gradient(data.X, data.y / 2, w)
            v, length = g / np.linalg.norm(g), float(np.linalg.norm(w))
            side = w - (w @ v) * v
            z = KAPPA * math.tanh(math.atanh(first / KAPPA) + KAPPA * size * time)
            # A neuron along its gradient has no side from which it would turn.
            if np.linalg.norm(side) > 1e-9 * length:
                W[k] = length * (z * v + math.sqrt(1 - z**2) * side / np.linalg.norm(side))
        then = PathPoint(math.log(time), 0.0, Network(W, case.given_start.a))
        return Observation((PathPoint(-math.inf, 0.0, case.given_start), then))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return (
            f"No neuron is more than {residual:.1e} below its curve before it meets a hyperplane."
        )


def _longest(curves: dict[int, Curve]) -> float:
    """The largest T*."""
    return max((time for _, _, time in curves.values()), default=0.0)


def _cosines(network: Network, data: Dataset) -> np.ndarray:
    """The cosines u_kᵀv_k of the neurons and their gradients."""
    W, lam = network.W, early.dual_variable(network, data)
    g = np.sign(network.a)[:, None] * (((W @ data.X.T > 0) * lam) @ data.X)
    size = np.linalg.norm(W, axis=1) * np.linalg.norm(g, axis=1)
    return np.divide((W * g).sum(axis=1), size, out=np.zeros(len(W)), where=size > 0)


def _curves(start: Network, data: Dataset) -> dict[int, Curve]:
    """Neuron → its curve; those with u₀ᵀv₀ ≤ 0 have none, and those aligned already need none.

    Neither have those with g₀ = 0, which contradictory labels make possible: z stands still.
    """
    curves: dict[int, Curve] = {}
    firsts = _cosines(start, data)
    sizes = np.linalg.norm(((start.W @ data.X.T > 0) * data.y / 2) @ data.X, axis=1)
    turning = (0 < firsts) & (firsts < 1 - DELTA) & (sizes > zero_length(data))
    for k in np.flatnonzero(turning).tolist():
        first, size = float(firsts[k]), float(sizes[k])
        curves[k] = Curve(first, size, early.time_to(1 - DELTA, first, size))  # (26)
    return curves
