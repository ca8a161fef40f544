"""Symmetric data, small start: the neurons come to one line first (§5.1)."""

import math
from dataclasses import replace

import numpy as np

from tacit.numerics.embedding import EarlyEmbedding, integrated, interpolated, largest
from tacit.papers.lyu2021.statements.cases import symmetric_case
from tacit.papers.lyu2021.statements.embedding import embedding_of, has_drift, symmetrised
from tacit.papers.lyu2021.statements.hypotheses import (
    flow_checks,
    non_branching,
    started,
    symmetric_checks,
)
from tacit.papers.lyu2021.statements.linear_phase import short_points
from tacit.theorems import Case, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.errata import Erratum, Evidence
from tacit.theorems.hypotheses import by_slack, undecided, unquantified
from tacit.values import Check, Dataset, Network

RADII = 5
"""Radii r at which Lemma 5.2 is looked at."""
LAST_TIME = 600.0
"""log t up to which n t is surely a float; the early phase is long over by then."""


class Lemma52(Theorem):
    """Lemma 5.2: small neurons on symmetric data come to the line of µ̄, with an error like r³.

    Let λ₀ = (1+α)/4 ‖µ‖, µ̄ = µ/‖µ‖. If √m ‖θ₀‖_M ≤ r³, r ≤ √λ₀/2 and ‖x_i‖ ≤ 1, then at the time
    T₁(r) = ln(r/(√m‖θ₀‖_M))/λ₀ of the flow on the mean loss w_k = r b̄_k µ̄ + Δw_k and
    a_k = r b̄_k + Δa_k, with b̄_k = (w_k·µ̄ + a_k)/(2√m‖θ₀‖_M) from the initial weights, and
    ‖Δθ‖_M ≤ C r³/√m for C = 4/λ₀ + √2.
    """

    id = "lyu2021:lemma5.2"
    source = Source("lyu2021", "Lemma 5.2")
    summary = (
        "On symmetric data small neurons first turn to one line and grow along it, each at a rate "
        "and to a size that the initial weights tell."
    )
    needs = "path"
    tolerance = 0.0
    invariances = frozenset({"order", "rotation"})

    def example(self) -> Case:
        return symmetric_case()

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        larger = Dataset(2 * case.data.X, case.data.y)
        return replace(case, data=larger, _properties={}), "unit_ball"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        case = started(case, run)
        return (
            *symmetric_checks(case),
            *flow_checks(case),
            short_points(case),
            _room_for_r(case, "Lemma 5.2"),
            non_branching(run, "§4.3"),
        )

    def predict(self, case: Case) -> Prediction:
        if case.start is None:
            return Prediction("Small neurons first come to the line of µ̄, with an error like r³.")
        known = embedding_of(case, case.start)
        m, constant = len(case.start.a), 4 / known.rate + math.sqrt(2)
        values = {
            "rate": known.rate,
            "direction": known.direction,
            "b": known.b,
            "radii": _radii(known),
            "constant": constant,
            "slope": 3,
        }
        words = (
            f"The neurons come to the line of µ̄ and grow like e^({known.rate:.4g} t): when they are"
            f" of size r, the error is at most {constant / math.sqrt(m):.4g} r³."
        )
        return Prediction(words, values)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The share by which the error exceeds its bound, at the worst of some radii."""
        assert run is not None
        case = started(case, run)
        known = embedding_of(case, case.given_start)
        X, y = symmetrised(case)
        moments = [moment for moment in run.path if moment.time < LAST_TIME]
        times = case.data.n * np.exp([moment.time for moment in moments])  # of the mean loss
        path = [(moment.network.W, moment.network.a) for moment in moments]
        worst = None
        for r in _radii(known):
            if known.time(r) > times[-1]:
                break
            there, (W, a) = interpolated(X, y, case.alpha, times, path, r), known.neurons(r)
            error = largest(there.W - W, there.a - a)
            worst = max(worst or 0.0, error / known.bound(r) - 1, 0.0)
        return worst

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        known = embedding_of(case, case.given_start)
        moments = [PathPoint(-math.inf, math.log(case.data.n * math.log(2)), case.given_start)]
        for r in prediction.values["radii"]:
            time = known.time(r) / case.data.n
            network = Network(*known.neurons(r), case.alpha)
            moments.append(PathPoint(math.log(time), moments[0].log_loss, network))
        return Observation(tuple(moments))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= 0:
            return "At every radius looked at the error is within its bound."
        return f"The error is beyond its bound, by {residual:.1e} of it."

    @staticmethod
    def _rate() -> Evidence:
        """−∂L/∂a of the mean loss at a tiny neuron along µ̄, by a difference quotient."""
        data = symmetric_case("n=10,d=3", alpha=0.2).data
        mu = data.y @ data.X / data.n
        size, step = 1e-4, 1e-4
        t = size * data.X @ mu / np.linalg.norm(mu)
        phi = np.maximum(t, 0.2 * t)
        loss = [np.logaddexp(0, -data.y * a * phi).mean() for a in (-step, step)]
        measured = float((loss[0] - loss[1]) / (2 * step) / size)
        printed, meant = (1.2 / k * float(np.linalg.norm(mu)) for k in (2, 4))
        nearer = abs(measured - meant) < abs(measured - printed)
        words = f"The rate is {measured:.4f}; (1+α)/4 ‖µ‖ = {meant:.4f}, /2 gives {printed:.4f}."
        return Evidence("corrected" if nearer else "printed", words)

    @staticmethod
    def _constant() -> Evidence:
        """‖Δθ‖_M √m/r³ on two points whose mean is short, so that λ₀ is."""
        errors, rates, alpha = [], [], symmetric_case().alpha
        for h in (0.1, 0.01, 0.001):
            X = np.array([[0.9, h], [h - 0.9, h]])
            data = Dataset(np.vstack([X, -X]), np.array([1, 1, -1, -1]))
            start = 1e-13 * np.array([[0.6, 0.8, 1.0], [0.6, -0.8, -1.0]])
            reached = integrated(data.X, data.y, alpha, start[:, :2], start[:, 2], 1e-3)
            errors.append(reached.error * math.sqrt(2) / 1e-9)
            rates.append(reached.embedding.rate)
        grows = errors[2] > 1.2 * errors[1] > 1.44 * errors[0]
        within = all(e <= 4 / rate + math.sqrt(2) for e, rate in zip(errors, rates, strict=True))
        words = (
            f"‖Δθ‖_M √m/r³ is {errors[0]:.3g}, {errors[1]:.3g}, {errors[2]:.3g} where λ₀ is "
            f"{rates[0]:.2g}, {rates[1]:.2g}, {rates[2]:.2g}."
        )
        return Evidence("corrected" if grows and within else "printed", words)

    errata = (
        Erratum("§5.1: µ̃ = (1+α)/2 µ", "µ̃ = (1+α)/4 µ, because −ℓ'(0) = ½", _rate),
        Erratum(
            "‖Δθ‖_M ≤ C r³/√m for a universal constant C",
            "C = 4/λ₀ + √2 for r ≤ √λ₀/2: no constant serves all data",
            _constant,
        ),
    )


def _radii(known: EarlyEmbedding) -> list[float]:
    """Radii from (√m ‖θ₀‖_M)^(1/3) to √λ₀/2, of which the lemma speaks."""
    low, high = known.size ** (1 / 3), math.sqrt(known.rate) / 2
    return np.geomspace(low, high, RADII).tolist() if 0 < low <= high else []


@unquantified
def _room_for_r(case: Case, place: str) -> Check:
    """Some r has √m ‖θ₀‖_M ≤ r³ and r ≤ √λ₀/2; the slack is the room in log r."""
    if case.start is None:
        return undecided("room_for_r", place, "the initial weights have not been drawn")
    if not has_drift(case):
        return undecided("room_for_r", place, "µ is 0")
    known = embedding_of(case, case.start)
    if known.size == 0:
        return undecided("room_for_r", place, "the initial weights are 0")
    low, high = known.size ** (1 / 3), math.sqrt(known.rate) / 2
    note = f"r may be from {low:.2g} to {high:.2g}"
    return by_slack("room_for_r", math.log(high / low), place, note)
