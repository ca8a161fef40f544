"""Theorem E.4: small neurons that are well aligned grow like e^(λt) until they fit the data."""

import math
from dataclasses import replace
from typing import NamedTuple, final

import numpy as np

from tacit.data import load
from tacit.numerics.arrangements import TooManyCells, cells
from tacit.numerics.pricing import price
from tacit.papers.lyu2021.statements.cases import flow_setting
from tacit.papers.lyu2021.statements.embedding import distance, largest
from tacit.papers.lyu2021.statements.hypotheses import (
    flow_checks,
    is_spoken_of,
    network_checks,
    started,
)
from tacit.papers.lyu2021.statements.linear_phase import INTEGRATION_ERROR, STEPS, path_error
from tacit.theorems import Case, Estimate, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.hypotheses import by_slack, undecided
from tacit.values import Check, Network

ALIGNED = 1e-9
"""G(w_k)/‖w_k‖ may miss its largest value by this share, and a_k may differ from ±‖w_k‖ so much."""
PLACE = "Definition E.3"


class Aligned(NamedTuple):
    """A start θ₀ = r θ̂ with ‖θ̂‖_M = 1, and the constants of the theorem."""

    r: float
    rate: float
    """λ = max |G| on the unit sphere."""
    off: float
    """How far the living neurons are from attaining it with a_k = sgn(G(w_k))‖w_k‖; relative."""
    distance: float
    """Δ̂ = min |⟨ŵ_k, x_i⟩| over the living neurons."""
    log_size: float
    """ln e^(λ t₀): up to which size of the weights it is about (14); 0 where Δ̂ is 0."""


MOST_CELLS = 20_000
"""Enumerated for λ: a second or two."""


def largest_G(case: Case) -> float:
    """λ = max |G(w)| over unit w, G(w) = Σ y_i φ(w·x_i)/2n; over all cells, so exactly."""
    rows = case.data.X.any(axis=1)
    if not rows.any():
        return 0.0
    X, c = case.data.X[rows], case.data.y[rows] / (2 * case.data.n)
    every = cells(X, MOST_CELLS)
    return max(price(X, sign * c, case.alpha, every, 0.0).bound for sign in (1, -1))


def aligned(start: Network, case: Case) -> Aligned:
    """The theorem's constants for this start; `TooManyCells` where λ is out of reach."""
    sizes = np.linalg.norm(start.W, axis=1)
    alive = (sizes > 0) | (start.a != 0)
    r, rate = largest(start), largest_G(case)
    if r == 0 or rate == 0 or (sizes[alive] == 0).any():
        return Aligned(r, rate, 1.0, 0.0, 0.0)
    z = case.data.X @ start.W[alive].T
    G = case.data.y @ np.maximum(z, case.alpha * z) / (2 * case.data.n) / sizes[alive]
    off = max(
        float((1 - np.abs(G) / rate).max()),
        float((np.abs(start.a[alive] - np.sign(G) * sizes[alive]) / sizes[alive]).max()),
    )
    distance = float(np.abs(z).min() / r)
    m = len(start.a)
    size = 0.5 * math.log(rate * distance / (16 * m)) if distance > 0 else 0.0  # (14)
    return Aligned(r, rate, off, distance, size)


@final
class TheoremE4(Theorem):
    """Theorem E.4: the way out of the origin.

    Let θ̂ be well aligned (Definition E.3): every neuron either is zero or has |G(w_k)| = λ‖w_k‖,
    with λ = max |G| on the sphere, a_k = sgn(G(w_k))‖w_k‖, and ⟨w_k, x_i⟩ ≠ 0. Let ‖x_i‖ ≤ 1,
    Δ̂ = min |⟨ŵ_k, x_i⟩|/‖θ̂‖_M and T₂(r) = (1/λ) ln(1/r). Then for t ≤ t₀ = (1/2λ) ln λΔ̂/(16m‖θ̂‖²_M)
    the limit of the flow ϕ(rθ̂, T₂(r) + t) as r → 0 exists and

        ‖lim ϕ(rθ̂, T₂(r) + t) − e^(λt) θ̂‖_M ≤ (4m‖θ̂‖³_M/λ) e^(3λt).

    For a start at rθ̂ itself the proof (Lemma E.5 with C = 0) gives the bound at every r, which is
    what is checked here: ‖θ(t) − e^(λt) θ₀‖_M against (4m‖θ₀‖³_M/λ) e^(3λt). The time is that of
    the mean of the losses.
    """

    id = "lyu2021:thmE.4"
    source = Source("lyu2021", "Theorem E.4")
    summary = (
        "Small neurons that point where the data pulls hardest just grow, all at the same rate, "
        "until they are large enough to fit the data."
    )
    needs = "path"
    tolerance = 1e-6
    invariances = frozenset({"order", "rotation"})

    def example(self) -> Case:
        """Two neurons along ±µ on symmetric data; a third one is zero."""
        data = load("symmetric:n=8,d=2,margin=0.3,seed=1")
        data = type(data)(data.X / np.linalg.norm(data.X, axis=1).max(), data.y)
        along = (data.y @ data.X) / np.linalg.norm(data.y @ data.X)
        a = 1e-3 * np.array([1.0, -0.5, 0.0])
        return Case(data, flow_setting("leaky:0.5", 3), Network(np.outer(a, along), a, 0.5))

    def counterexample(self) -> tuple[Case, str]:
        """The first neuron turned by 0.1 rad."""
        case = self.example()
        W, (c, s) = case.given_start.W.copy(), (math.cos(0.1), math.sin(0.1))
        W[0] = np.array([[c, -s], [s, c]]) @ W[0]
        return Case(case.data, case.setting, replace(case.given_start, W=W)), "well_aligned"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        longest = float(np.linalg.norm(case.data.X, axis=1).max())
        note = f"the longest point has length {longest:.3g}; it may be 1 at most"
        return (
            *network_checks(case),
            *flow_checks(case),
            by_slack("short_points", 1 + 1e-12 - longest, "§3.2", note),
            *(  # the theorem is about r → 0; that (14) will do is read off its proof
                replace(check, quantified=check.name != "small_enough")
                for check in _alignment(started(case, run))
            ),
        )

    def predict(self, case: Case) -> Prediction:
        known = _known(case)
        if known is None:
            return Prediction("The weights grow like e^(λt) and keep their directions for a while.")
        end = known.log_size - math.log(known.r)
        return Prediction(
            f"The weights grow like e^(λt), λ = {known.rate:.4g} (time of the mean loss), and "
            f"keep their directions from size {known.r:.1e} to {math.exp(known.log_size):.1e}.",
            {"rate": known.rate, "until": max(end, 0.0) / known.rate, "r": known.r},
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The largest share by which the bound is exceeded up to T₂ + t₀."""
        assert run is not None
        said = prediction.values or self.predict(started(case, run)).values
        if not said:
            return None
        rate, until = said["rate"], said["until"]
        r, m = largest(run.start), len(run.start.a)
        worst, sure, seen = 0.0, 0.0, False
        last = math.log(until / case.data.n) if until > 0 else -math.inf
        for moment in run.path:
            if not -math.inf < moment.time <= last:
                continue
            seen = True
            t = case.data.n * math.exp(moment.time)  # of the mean loss
            growth = math.exp(rate * t)
            wanted = Network(growth * run.start.W, growth * run.start.a, case.alpha)
            bound = 4 * m * (r * growth) ** 3 / rate
            off = distance(moment.network, wanted) - INTEGRATION_ERROR * largest(wanted)
            worst = max(worst, off / bound - 1)
            sure = max(sure, (off - path_error(moment)) / bound - 1)
        return Estimate(worst, worst - sure, STEPS) if seen else None

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        start, moments = case.given_start, [PathPoint(-math.inf, 0.0, case.given_start)]
        for t in prediction.values["until"] * np.array([0.25, 0.5, 1.0]):
            growth = math.exp(prediction.values["rate"] * t)
            network = Network(growth * start.W, growth * start.a, case.alpha)
            moments.append(PathPoint(math.log(t / case.data.n), 0.0, network))
        return Observation(tuple(moments))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= 0:
            return "The weights stay as near to e^(λt) θ₀ as they should."
        return f"The distance from e^(λt) θ₀ exceeds its bound by {residual:.1e} of it."


def _known(case: Case) -> Aligned | None:
    """The constants; None without a living start, or where λ is zero or out of reach."""
    try:
        known = None if case.start is None else aligned(case.start, case)
    except TooManyCells:
        return None
    return known if known and known.distance > 0 else None


def _alignment(case: Case) -> tuple[Check, ...]:
    """Definition E.3 for the start."""
    names = ("pull", "well_aligned", "off_the_hyperplanes", "small_enough")
    if case.start is None or not is_spoken_of(case):
        note = "the initial weights have not been drawn"
        return tuple(undecided(name, PLACE, note) for name in names)
    try:
        known = aligned(case.start, case)
    except TooManyCells as reason:
        return tuple(undecided(name, PLACE, f"λ is not known: {reason}") for name in names)
    return (
        by_slack("pull", known.rate, "§E.2", "λ = max |G|", strict=True),
        by_slack(
            "well_aligned",
            ALIGNED - known.off,
            "Definition E.3 (1), (2)",
            f"largest relative difference {known.off:.1e}",
        ),
        by_slack("off_the_hyperplanes", known.distance, "Definition E.3 (3)", "Δ̂", strict=True),
        by_slack(
            "small_enough",
            known.log_size - math.log(known.r) if known.distance > 0 else -1.0,
            "(14)",
            "λ (T₂ + t₀), the logarithm of the growth that it is about",
            strict=True,
        ),
    )
