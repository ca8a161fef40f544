"""Two neurons on symmetric data, from anywhere on the right sides of the separator (§5.3)."""

from dataclasses import replace

import numpy as np

from tacit.papers.lyu2021.networks import linear_network
from tacit.papers.lyu2021.statements.cases import symmetric_case
from tacit.papers.lyu2021.statements.embedding import spread
from tacit.papers.lyu2021.statements.hypotheses import (
    flow_checks,
    non_branching,
    started,
    symmetric_checks,
    width_is,
)
from tacit.papers.lyu2021.statements.network_functions import direction_distance
from tacit.papers.lyu2021.statements.run_ends import ended, known_end
from tacit.papers.lyu2021.statements.symmetric import linear_limit, separator
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import balanced, both_signs, by_slack, undecided
from tacit.values import Check, Network


class Theorem55(Theorem):
    """Theorem 5.5: two balanced neurons on the right sides of w* end in ½(w*, −w*, 1, −1).

    For symmetric data and m = 2, if a₁ = ‖w₁‖, a₂ = −‖w₂‖, w₁·w* > 0 and w₂·w* < 0 at the start,
    then θ/‖θ‖ → ½(w*, −w*, 1, −1). The start need not be small.
    """

    id = "lyu2021:thm5.5"
    source = Source("lyu2021", "Theorem 5.5")
    summary = (
        "On symmetric data, two balanced neurons that start on the right sides of the best linear "
        "separator end along it, one each way."
    )
    needs = "limit"
    proof_covers_it = True
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        """Neither small nor along ±w*."""
        case = symmetric_case(width=2)
        w = separator(case)
        across = np.array([-w[1], w[0]])
        W = np.array([0.2 * (0.6 * w + 0.8 * across), -0.1 * (0.8 * w - 0.6 * across)])
        setting = case.setting.replace(init="balanced:0.2")
        return replace(case, setting=setting, start=Network(W, np.array([0.2, -0.1]), case.alpha))

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        return replace(case, start=replace(case.given_start, W=-case.given_start.W)), "right_sides"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        case, place = started(case, run), "Theorem 5.5"
        return (
            *symmetric_checks(case),
            *flow_checks(case),
            width_is(case, 2, place),
            both_signs(case, place),
            balanced(case, place),
            _right_sides(case, place),
            non_branching(run, "§4.3"),
        )

    def predict(self, case: Case) -> Prediction:
        w = separator(case)
        words = (
            "The weights end along ½(w*, −w*, 1, −1): one neuron along the best linear separator, "
            f"one against it, with the widest margin of all, {linear_limit(case)['margin']:.6g}."
        )
        return Prediction(words, linear_limit(case), ((1, w), (-1, -w)))

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """‖θ/‖θ‖ − ½(w*, −w*, 1, −1)‖."""
        end = known_end(run)
        if end is None:
            return None
        sign = np.where(end.a > 0, 1.0, -1.0)
        wanted = Network(np.outer(sign, prediction.values["separator"]), sign, case.alpha)
        return direction_distance(end, wanted)

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        return ended(spread(case, linear_network(prediction.values["separator"], case.alpha)))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"At unit norm the limit is {residual:.1e} away from ½(w*, −w*, 1, −1)."

    @staticmethod
    def _norm() -> Evidence:
        case = symmetric_case()
        half = linear_network(separator(case), case.alpha).norm
        words = f"‖½(w*, −w*, 1, −1)‖ is {half:.12g}, ‖¼(w*, −w*, 1, −1)‖ is {half / 2:.12g}."
        return Evidence("corrected" if abs(half - 1) < 1e-12 else "printed", words)

    errata = (
        Erratum(
            "lim θ/‖θ‖ = ¼(w*, −w*, 1, −1)",
            "lim θ/‖θ‖ = ½(w*, −w*, 1, −1), which has unit norm (and so does Lemma F.3's)",
            _norm,
        ),
    )


def _right_sides(case: Case, place: str) -> Check:
    """sign(a_k) w_k·w* > 0; the slack is the smallest cosine."""
    if case.start is None or not case.data.binary:
        return undecided("right_sides", place, "needs initial weights, and two classes")
    lengths = np.maximum(np.linalg.norm(case.start.W, axis=1), 1e-300)
    cosines = np.sign(case.start.a) * (case.start.W @ separator(case)) / lengths
    return by_slack("right_sides", float(cosines.min()), place, "smallest cosine", strict=True)
