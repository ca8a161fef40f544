"""How probable the event of Theorem 1 is (proof of Theorem 1)."""

from tacit.messages import count
from tacit.models.initialisations import Balanced, BalancedGaussian
from tacit.numerics.confidence import share_interval
from tacit.papers.phuong2021.statements.examples import FLOW, cones, flipped
from tacit.papers.phuong2021.statements.hypotheses import (
    both_classes,
    network_and_rule,
    orthogonally_separable,
)
from tacit.papers.phuong2021.statements.thm1 import UNTOLD
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import balanced, logistic, small_start, yes_or_no
from tacit.values import Check


class Probability(Theorem):
    """Not all neurons die: J₊ ∪ J₋ ≠ ∅ with probability at least 1 − 2^(−p), p the width.

    A neuron sees any given point with probability ½ at the start, and a point of the class of its
    sign is never lost from sight again (Lemma B.1); so all p neurons die with probability 2^(−p) at
    most. The span of the support examples has no part in this.

    The residual is how far the 99% Clopper–Pearson interval of the share of runs that do not die
    ends below the bound.
    """

    id = "phuong2021:prob"
    source = Source("phuong2021", "Theorem 1, probability 1 − 1/2^p")
    summary = "All p neurons of a network die with probability 2^(−p) at most."
    needs = "ensemble"
    tolerance = 0.0

    def example(self) -> Case:
        return Case(cones(2), FLOW.replace(width=2))

    def counterexample(self) -> tuple[Case, str]:
        return Case(flipped(cones(2)), FLOW), "orthogonally_separable"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        init = case.setting.initialisation
        drawn = isinstance(init, Balanced | BalancedGaussian)
        return (
            both_classes(case, "§2"),
            *network_and_rule(case),
            logistic(case, "§2 (3)"),
            balanced(case, "§2"),
            yes_or_no("random_directions", drawn, "§2", f"the initialisation is {init}"),
            small_start(case, "Theorem 1"),
            orthogonally_separable(case),
        )

    def predict(self, case: Case) -> Prediction:
        bound = 1 - 2.0**-case.setting.width
        p = case.setting.width
        words = (
            f"With probability at least 1 − 2^(−{p}) over the initial weights, at least one of the "
            f"{count(p, 'neuron')} survives."
        )
        return Prediction(words, {"probability": bound})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        if run is None or not run.members or any(m.outcome in UNTOLD for m in run.members):
            return None
        _, upper = share_interval(_alive(run), len(run.members))
        return max(0.0, prediction.values["probability"] - upper)

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        return Observation((), members=(Observation(()),) * 100)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        assert run is not None
        alive, n = _alive(run), len(run.members)
        low, high = share_interval(alive, n)
        return (
            f"{alive} of {count(n, 'network')} did not die as a whole: so the probability is "
            f"between {low:.3f} and {high:.3f}, with 99% confidence; the theorem says at least "
            f"{prediction.values['probability']:.6g}."
        )


def _alive(run: Observation) -> int:
    return sum(member.outcome != "dead" for member in run.members)
