"""One neuron alone on any separable data (Theorem G.9), and when wider nets stay there (G.11)."""

from typing import NamedTuple, final

import numpy as np

from tacit.data import load
from tacit.numerics.arrangements import TooManyCells, cells
from tacit.numerics.least_squares import linear_program
from tacit.numerics.pricing import price
from tacit.papers.lyu2021.networks import one_neuron
from tacit.papers.lyu2021.scaled_margin import ScaledMargin, scaled_margin
from tacit.papers.lyu2021.statements.cases import flow_setting
from tacit.papers.lyu2021.statements.hypotheses import (
    flow_checks,
    is_spoken_of,
    network_checks,
    started,
    width_is,
)
from tacit.papers.lyu2021.statements.multipliers import MOST_CELLS, weaker_at_multipliers
from tacit.papers.lyu2021.statements.network_functions import direction_distance, margin
from tacit.papers.lyu2021.statements.run_ends import ended
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import balanced, by_slack, undecided
from tacit.values import Check, Dataset, Network

TRIED = 200
"""Random directions, and random networks nearby, that try to refute Theorem G.11."""


@final
class TheoremG9(Theorem):
    """Theorem G.9: one neuron finds the best that one neuron can be.

    On linearly separable data, if m = 1 and at the start a_1 = ‖w_1‖ and ⟨w_1, w*⟩ > 0, then

        θ(t)/‖θ(t)‖ → (w⁺, 1)/√2,

    with w⁺ the max-margin separator of the points x⁺ (x itself for y = 1, αx for y = −1), of margin
    γ⁺. It is the widest margin of one Leaky ReLU neuron, ½γ⁺.
    """

    id = "lyu2021:thmG.9"
    source = Source("lyu2021", "Theorem G.9")
    summary = (
        "A single Leaky ReLU neuron ends at the max-margin separator of the data in which the "
        "negative points are α times as long."
    )
    needs = "limit"
    proof_covers_it = True
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        start = Network(1e-2 * np.array([[-0.8, 0.6]]), np.array([1e-2]), 0.5)
        data = load("linear:n=10,d=2,margin=0.3,seed=4")
        return Case(data, flow_setting("leaky:0.5", 1), start)

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        start = Network(-1e-2 * case.view.separator.direction[None], np.array([1e-2]), 0.5)
        return Case(case.data, case.setting, start), "right_side"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        case = started(case, run)
        return (
            *network_checks(case),
            *flow_checks(case),
            case.data_check("linearly_separable", "Assumption 3.2"),
            width_is(case, 1, "Theorem G.9"),
            balanced(case, "Theorem G.9"),
            _right_side(case),
        )

    def predict(self, case: Case) -> Prediction:
        best = scaled_margin(case.data.X, case.data.y, case.alpha)
        return Prediction(
            f"The neuron ends along w⁺, with margin {best.margin_bounds.lower / 2:.4g}.",
            {"w_plus": best.direction, "margin": best.margin_bounds.lower / 2},
            ((1, best.direction),),
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """‖θ/‖θ‖ − (w⁺, 1)/√2‖."""
        assert run is not None
        if not run.settled:
            return None
        return direction_distance(run.end, one_neuron(prediction.values["w_plus"], case.alpha))

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        return ended(one_neuron(prediction.values["w_plus"], case.alpha))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"The direction is {residual:.1e} away from (w⁺, 1)/√2."


def _right_side(case: Case) -> Check:
    """a_1 > 0 and ⟨w_1, w*⟩ > 0; the slack is the smaller of a_1/‖w_1‖ and the cosine."""
    if case.start is None or not is_spoken_of(case):
        return undecided("right_side", "Theorem G.9", "the initial weights have not been drawn")
    w, a = case.start.W[0], float(case.start.a[0])
    size = max(float(np.linalg.norm(w)), 1e-300)
    slack = min(a / size, float(w @ case.view.separator.direction) / size)
    return by_slack("right_side", slack, "Theorem G.9", "min(a₁/‖w₁‖, cos(w₁, w*))", strict=True)


class Perturbation(NamedTuple):
    """Away from the one-neuron net: w⁺ + δ, and neurons of the other sign along u, of weight p."""

    delta: np.ndarray
    u: np.ndarray
    p: np.ndarray


def best_step(case: Case, known: ScaledMargin) -> tuple[float, Perturbation]:
    """How fast the margin can rise near the one-neuron net, to first order, and the step.

    Twice the margin of w⁺ + δ (the neurons of P) and p_j neurons along u_j (the others) grows by
    min over the support of y_i δ·x⁺_i + Σ_j p_j (−y_i φ(u_j·x_i) − γ⁺), with δ ⟂ w⁺, |δ| ≤ 1 and
    Σp ≤ 1: a linear program. The u_j are those that gain most from λ*, and random ones.
    """
    X, y, alpha = case.data.X, case.data.y, case.alpha
    assert known.support is not None
    S, d = known.support, case.data.d
    u = np.random.default_rng(0).normal(size=(TRIED, d))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    rows = np.flatnonzero(known.multipliers > 0)
    c = -known.multipliers[rows] * y[rows]
    u = np.vstack([price(X[rows], c, alpha, cells(X[rows], MOST_CELLS), 0.0).directions, u])
    z = X[S] @ u.T
    gains = -y[S, None] * np.maximum(z, alpha * z) - known.margin_bounds.lower
    turns = (y[S] * np.where(y[S] == 1, 1.0, alpha))[:, None] * X[S]
    rows_of = [
        np.hstack([-turns, -gains, np.ones((len(S), 1))]),
        np.concatenate([np.zeros(d), np.ones(len(u)), [0.0]]),
    ]
    best = linear_program(  # over (δ, p, t), the largest t
        np.concatenate([np.zeros(d + len(u)), [-1.0]]),
        at_most=(np.vstack(rows_of), np.append(np.zeros(len(S)), 1.0)),
        equal=(np.concatenate([known.direction, np.zeros(len(u) + 1)])[None], np.zeros(1)),
        bounds=[(-1, 1)] * d + [(0, None)] * len(u) + [(0, None)],
    )
    assert best is not None  # 0 is feasible and t is bounded
    delta, p = best[:d], best[d:-1]
    return float(best[-1]), Perturbation(delta, u[p > 0], p[p > 0])


def _margin_after(case: Case, w: np.ndarray, step: Perturbation, size: float) -> float:
    """The margin of the one-neuron network after a step of that size."""
    v = np.vstack([w + size * step.delta, (size * step.p)[:, None] * step.u])
    a = np.sqrt(np.linalg.norm(v, axis=1))
    signs = np.append(1.0, -np.ones(len(step.p)))
    return margin(Network(v / a[:, None], a * signs, case.alpha), case)


def three_points() -> Case:
    """Orthogonally separable; A.2, A.3 and A.5 hold for α = ½, and G.11's conclusion does not."""
    data = Dataset(np.array([[0.5, 0.0], [0.0, 1.0], [2.0, -2.0]]) / 3, np.array([1, -1, 1]))
    return Case(data, flow_setting("leaky:0.5", 4, "balanced:1e-3"))


def _a_5_is_not_enough() -> Evidence:
    case = three_points()
    known = scaled_margin(case.data.X, case.data.y, case.alpha)
    a_5 = case.data_check("lyu2021:assumptionA.5", "A.5")
    _, step = best_step(case, known)
    after = [_margin_after(case, known.direction, step, h) for h in (1e-2, 1e-4)]
    gains = [2 * margin / known.margin_bounds.lower - 1 for margin in after]
    wrong = bool(a_5.holds) and min(gains) > 0
    return Evidence(
        "corrected" if wrong else "printed",
        f"On (½, 0), (0, 1), (2, −2), all over 3, with y = (1, −1, 1) and α = ½, A.5 holds with "
        f"slack {a_5.slack:.2g}, but steps of 1e-2 and 1e-4 away from the one-neuron network widen "
        f"the margin by {gains[0]:.1e} and {gains[1]:.1e} of it.",
    )


@final
class TheoremG11(Theorem):
    """Theorem G.11: where one neuron, or copies of it, is locally the best network.

    Let θ̂ = (w⁺, 1)/√2 be the one-neuron net of Theorem G.9, spread over the neurons of a set P that
    have a_k ≥ 0, the others being 0 and having a_k ≤ 0. If no neuron of the other sign gains from
    the multipliers λ* of w⁺, i.e.

        −Σ λ*_i y_i φ(u·x_i) < γ⁺ for all unit u,   Σ λ*_i y_i x⁺_i = γ⁺ w⁺, λ* ≥ 0, Σ λ*_i = 1,

    then θ̂ is a local maximum of the normalised margin among these networks, of margin ½γ⁺, and the
    networks nearby with the same margin are the same function.

    The condition is the one that the proof uses. It implies Assumption A.5, which asks the
    inequality of some λ on the support instead of λ*, and under which the statement is false.
    """

    id = "lyu2021:thmG.11"
    source = Source("lyu2021", "Theorem G.11")
    summary = (
        "If neurons of the other sign would not help the support examples, "
        "the one-neuron network is a local maximum of the margin: wider networks stay there."
    )
    needs = "data"
    tolerance = 1e-7
    invariances = frozenset({"rotation"})
    errata = (
        Erratum(
            "θ̂ is a local maximiser under Assumption A.5",
            "under A.5 at the multipliers of w⁺: −Σ λ*_i y_i φ(u·x_i) < γ⁺ for all unit u",
            _a_5_is_not_enough,
        ),
    )

    def example(self) -> Case:
        return Case(load("lyu2021_right"), flow_setting("leaky:0.5", 4))

    def counterexample(self) -> tuple[Case, str]:
        return three_points(), "weaker_at_multipliers"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            *network_checks(case),
            case.data_check("linearly_separable", "Assumption 3.2"),
            weaker_at_multipliers(case, 1, "ours; what the proof of Theorem G.11 uses"),
        )

    def predict(self, case: Case) -> Prediction:
        known = scaled_margin(case.data.X, case.data.y, case.alpha)
        margin = known.margin_bounds.lower / 2
        return Prediction(
            f"No network near the one-neuron network φ(w⁺·x) has a margin above {margin:.4g}.",
            {"w_plus": known.direction, "margin": margin},
            ((1, known.direction),),
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """How fast the margin can rise to first order, and by how much it does in random networks
        nearby; relative to it."""
        known = scaled_margin(case.data.X, case.data.y, case.alpha)
        if known.support is None:
            return None
        try:
            upper = known.margin_bounds.upper
            rise = best_step(case, known)[0] / upper
        except TooManyCells:
            return None
        rng, d = np.random.default_rng(1), case.data.d
        for size in np.repeat([1e-2, 1e-4], TRIED // 2):
            u = rng.normal(size=(2, d))
            u /= np.linalg.norm(u, axis=1, keepdims=True)
            step = Perturbation(rng.normal(size=d), u, rng.uniform(size=2))
            rise = max(rise, 2 * _margin_after(case, known.direction, step, size) / upper - 1)
        return rise

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= self.tolerance:
            return f"Nothing nearby has a wider margin; {TRIED} networks were tried."
        return f"A network nearby has a wider margin: it rises at the relative rate {residual:.1e}."
