"""The Perfect Agreement Regime: Theorem 6.2 and Lemma 6.1."""

import math
import re
from dataclasses import replace
from typing import final

import numpy as np

from tacit.data import load
from tacit.geometry.predicate import View, predicates
from tacit.numerics.max_margin import max_margin
from tacit.papers.sarussi2021.perfect_agreement import par, par_features
from tacit.papers.sarussi2021.statements.hypotheses import data_checks, units
from tacit.papers.sarussi2021.statements.trajectory import (
    agree,
    agreement,
    ends,
    flow_checks,
    late_phase,
)
from tacit.theorems import Case, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.errata import Erratum, Evidence
from tacit.theorems.hypotheses import by_slack, needs_a_run, undecided
from tacit.values import Check, Dataset, Network, Setting

MOST_POINTS = 100
"""Points of each class that Lemma 6.1 is checked on by a quadratic program each."""


def _feature_map() -> Evidence:
    """The constraint of (7) for a negative point, from the two feature maps that are printed."""
    alpha, x = 0.25, np.array([[0.5, -2.0]])
    w, u = np.array([1.0, 0.5]), np.array([-0.75, 1.0])
    wanted = float((u - alpha * w) @ x[0])  # (7)
    main = par_features(x, np.array([-1]), alpha)[0]
    appendix = np.concatenate([-alpha * x[0], x[0]])
    by_main, by_appendix = (-float(phi @ np.concatenate([w, u])) for phi in (main, appendix))
    words = (
        f"For a negative point u·x − αw·x is {wanted:g}; y φ(x)·(w, u) is {by_main:g} with the "
        f"formula for φ and {by_appendix:g} with the (−αx, x) that App. G.2 writes out."
    )
    right = abs(by_main - wanted) <= 1e-12 < abs(by_appendix - wanted)
    return Evidence("corrected" if right else "printed", words)


@final
class PerfectAgreement(Theorem):
    """Gradient flow with the logistic loss, and
    1. some time L_S < (ln 2)/n (Assumption 6.1);
    2. from some T_NAR on, W_t stays in an NAR with margin β;
    3. some time after that, the smoothed margin γ̃ > √k α v max‖x_i‖;
    4. V⁺_β(S) = V⁻_β(S) = ∅: no direction has all of one class and a point of the other at β.
    Then the NAR is the PAR(β), and the normalised weights converge to a perfectly clustered network
    with directions ŵ, û, where (δ_w ŵ, δ_u û) solves min ‖w‖² + ‖u‖² subject to w·x − αu·x ≥ 1 for
    positive x and u·x − αw·x ≥ 1 for negative x (7).

    With w neurons w/(vk) and u neurons u/(vk) the smallest output is 1, so the limit's margin
    γ = v√k/√(‖w‖² + ‖u‖²) is known without training. γ̃ never exceeds it: where γ is not larger
    than the bound in 3, no run can meet all assumptions. Nor where some V_β with β the margin of
    the data is not empty, for no PAR has a larger β.
    """

    id = "sarussi2021:thm6.2"
    source = Source("sarussi2021", "Theorem 6.2")
    summary = (
        "If neurons of one output sign agree, the margin becomes large and the classes are nearly "
        "opposite, the limit is two vectors that one convex program gives."
    )
    needs = "limit"
    proof_covers_it = True
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})
    errata = (
        Erratum(
            "App. G.2: φ(x) = [σ'(w*·x)x, −σ'(−w*·x)x], that is (−αx, x) for negative x",
            "(αx, −x) for negative x; (−αx, x) is y φ(x)",
            _feature_map,
        ),
    )

    def example(self) -> Case:
        return Case(load("symmetric:n=8,d=2,margin=1,seed=0"), _setting("leaky:0.1"))

    def counterexample(self) -> tuple[Case, str]:
        """The margin that (7) has is too small for a slope of 0.9."""
        return Case(load("symmetric:n=8,d=2,margin=1,seed=0"), _setting("leaky:0.9")), "margin"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        place = "Theorem 6.2, assumption"
        checks = flow_checks(case)
        if any(check.holds is False for check in checks):  # the rest speaks of separable data
            return checks
        return (
            *checks,
            late_phase(run),
            agree(case, run, f"{place} 2"),
            _large_margin(case, run, f"{place} 3"),
            _no_mixed_directions(case, run, f"{place} 4"),
        )

    def predict(self, case: Case) -> Prediction:
        solution = par(case.data.X, case.data.y, case.alpha)  # (7)
        if solution.w is None or solution.u is None:
            return Prediction("The program (7) could not be solved in floating point.")
        k, v = units(case)
        sizes = [float(np.linalg.norm(one)) for one in (solution.w, solution.u)]
        margin = v * math.sqrt(k) / math.hypot(*sizes)
        words = (
            f"The {k} w neurons end as one vector and the {k} u neurons as another, with lengths "
            f"in the ratio {sizes[0]:.4g} : {sizes[1]:.4g} and margin {margin:.4g}."
        )
        values = {
            "w": solution.w,
            "u": solution.u,
            "margin": margin,
            "boundary": solution.boundary,
            "gap": solution.gap,
        }
        directions = tuple(
            (sign, one / size)
            for sign, one, size in ((1, solution.w, sizes[0]), (-1, solution.u, sizes[1]))
            if size > 0
        )
        return Prediction(words, values, directions)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        if not ends(run) or "w" not in prediction.values:
            return None
        W, expected = run.end.W, _neurons(prediction, run.end.a)
        return float(np.linalg.norm(W / np.linalg.norm(W) - expected / np.linalg.norm(expected)))

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        k, v = units(case)
        a = np.repeat([v, -v], k)
        end = Network(_neurons(prediction, a) / (v * k), a, case.alpha)
        return Observation((PathPoint(0.0, -1.0, end),), end)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"The normalised weights end {residual:.1e} from the solution of (7)."


@final
class SymmetricHasNoMixedDirections(Theorem):
    """If −x ∈ S for every x ∈ S, then V⁺_β(S) = V⁻_β(S) = ∅ for every β > 0.

    S is linearly separable, as everywhere in the paper, so x and −x have different labels. A
    direction of V⁺_β would exist iff, for some negative x, the hull of x and the positive points
    were at least β from 0; the residual looks for the largest such distance, point by point.
    """

    id = "sarussi2021:lemma6.1"
    source = Source("sarussi2021", "Lemma 6.1")
    summary = (
        "Where every point has its opposite in the data, no direction has all of one class and "
        "a point of the other on its positive side."
    )
    needs = "data"
    tolerance = 1e-9
    invariances = frozenset({"rotation"})

    def example(self) -> Case:
        return Case(load("symmetric:n=12,d=3,margin=0.5,seed=2"), _setting("leaky:0.1"))

    def counterexample(self) -> tuple[Case, str]:
        return Case(load("gaussians:n=10,d=2,seed=0"), _setting("leaky:0.1")), "symmetric_as_a_set"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (*data_checks(case), _symmetric_as_a_set(case))

    def predict(self, case: Case) -> Prediction:
        words = "Assumption 4 of Theorem 6.2 holds for every β > 0."
        return Prediction(words, {"threshold": 0.0})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        X, y = case.data.X, case.data.y
        farthest = 0.0
        for label in (1, -1):
            own, others = X[y == label], X[y != label]
            some = np.linspace(0, len(others) - 1, min(len(others), MOST_POINTS)).astype(int)
            for x in others[some]:
                farthest = max(farthest, max_margin(np.vstack([own, x])).margin_bounds.lower)
        return farthest / float(np.linalg.norm(X, axis=1).max())

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= self.tolerance:
            return "No class joined by a point of the other can be separated from 0."
        return f"A class joined by a point of the other has margin {residual:.1e} max‖x_i‖."


def _setting(activation: str) -> Setting:
    return Setting(activation=activation, train="first", width=6, init="gaussian:1e-3", rule="flow")


def _neurons(prediction: Prediction, a: np.ndarray) -> np.ndarray:
    """w for every w neuron, u for every u neuron."""
    return np.where(a[:, None] > 0, prediction.values["w"], prediction.values["u"])


def _large_margin(case: Case, run: Observation | None, place: str) -> Check:
    """γ̃ > √k α v max‖x_i‖ some time; the slack is sup γ̃/(√k v max‖x_i‖) − α."""
    longest = float(np.linalg.norm(case.data.X, axis=1).max())
    if run is not None and run.path:
        k, v = units(case)
        highest = _highest_margin(case, run) / (math.sqrt(k) * v * longest)
        note = f"γ̃ reaches {highest:.3g} √k v max‖x_i‖; it must exceed α = {case.alpha:g} of it"
        return by_slack("margin", highest - case.alpha, place, note, strict=True)
    most = 1 / math.sqrt(par(case.data.X, case.data.y, case.alpha).objective_bounds.lower) / longest
    if most > case.alpha:
        return needs_a_run("margin", place)
    note = (
        f"the margin of (7) is {most:.3g} √k v max‖x_i‖ and must exceed α = {case.alpha:g} of it: "
        "no run can meet this and the other assumptions"
    )
    return Check("margin", False, most - case.alpha, place, note)


def _highest_margin(case: Case, run: Observation) -> float:
    """sup γ̃ over all times: γ̃ never falls and tends to the margin of the limit."""
    if run.limit is not None:
        return run.limit.margin(case.data.X, case.data.y, "first")
    log_loss = run.path[-1].log_loss
    # −log(exp(Σℓ) − 1), which is −log Σℓ to the last digit where Σℓ is tiny
    above = -log_loss if log_loss < -40 else -math.log(math.expm1(math.exp(min(log_loss, 6.0))))
    return above / max(float(np.linalg.norm(run.end.W)), 1e-300)  # (5)


def _no_mixed_directions(case: Case, run: Observation | None, place: str) -> Check:
    """V⁺_β = V⁻_β = ∅ for the β of the NAR; the slack is β − β*, in the unit of the data."""
    name = "no_mixed_directions"
    check = case.data_check("sarussi2021:assumption4", place)
    if check.holds is not False or check.slack is None:
        return Check(name, check.holds, check.slack, place, check.note, check.error)
    threshold = -check.slack
    if run is not None and run.path:
        beta = agreement(case, run).beta
        if beta <= 0:
            return undecided(name, place, "speaks of the β of an NAR, and the run ends in none")
        note = f"the NAR has β = {beta:.3g}; {check.note}"
        return by_slack(name, beta - threshold - check.error, place, note, strict=True)
    most = case.view.separator.margin_bounds.upper
    if most > threshold:
        return needs_a_run(name, place)
    note = f"{check.note}; no PAR has β > {most:.4g}, the margin of the data"
    return Check(name, False, most - threshold, place, note, check.error)


def _symmetric_as_a_set(case: Case) -> Check:
    """How often a point occurs does not matter; rows are named as they are in the file."""
    name, place = "symmetric_as_a_set", "Lemma 6.1"
    rows = np.column_stack([case.data.X + 0.0, case.data.y])
    first = np.sort(np.unique(rows, axis=0, return_index=True)[1])
    if not case.data.binary or len(first) == len(rows):
        return replace(case.data_check("symmetric", place), name=name)
    once = Dataset(case.data.X[first], case.data.y[first], case.data.name)
    check = predicates()["symmetric"](View(once, case.alpha))
    note = re.sub(r"^row (\d+)", lambda row: f"row {first[int(row[1])]}", check.note)
    return Check(name, check.holds, check.slack, place, note, check.error)
