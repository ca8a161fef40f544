"""The smallest networks explore too little: Theorem 3.4 and Theorem 6.4."""

import math
from typing import final

import numpy as np

from tacit.data.xor import PATTERNS
from tacit.papers.brutzkus2019.statements.cases import half_width, xor_case, xord_case
from tacit.papers.brutzkus2019.statements.frequencies import (
    below_bound,
    ensemble,
    frequency_sentence,
)
from tacit.papers.brutzkus2019.statements.hypotheses import (
    NEGLIGIBLE,
    RELATIVE_ROUNDING,
    conv_network,
    hinge_confidence,
    small_sigma,
    xor_network,
    xor_training,
    xord_training,
)
from tacit.papers.brutzkus2019.statements.kinds import (
    DIVERSE,
    XOR_KINDS,
    XOR_LABELS,
    misclassified,
    outputs_by_kind,
)
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.values import Check, Network

MISSED = np.array([[0, 1, 0, 0], [0, 0, 0, 1], [1, 1, 0, 1], [0, 1, 1, 1]], dtype=bool)
"""A₁ = {2}, A₂ = {4}, A₃ = {2, 4, 1}, A₄ = {2, 4, 3} (§6)."""
MISSED_LABELS = np.array([-1, -1, 1, 1])


def unexplored(start: Network) -> bool:
    """XOR: some W_0⁺(i), i ∈ {1, 3}, or U_0⁺(i), i ∈ {2, 4}, is empty."""
    w, u = start.W[start.a > 0] @ PATTERNS[0], start.W[start.a < 0] @ PATTERNS[1]
    return not all((side > 0).any() and (side < 0).any() for side in (w, u))


def decoyed(end: Network, gamma: float) -> bool:
    """XORD: zero loss on diverse points, but wrong on all points of one of the A_i."""
    high, low = outputs_by_kind(end, DIVERSE)
    fits = high >= gamma - RELATIVE_ROUNDING and low <= -1 + RELATIVE_ROUNDING
    return bool(fits and misclassified(end, MISSED, MISSED_LABELS).any())


@final
class SmallXOR(Theorem):
    """Theorem 3.4. For k = 2, with probability at least 0.75 some W_0⁺(i), i ∈ {1, 3}, or some
    U_0⁺(i), i ∈ {2, 4}, is empty. As a result, with probability at least 0.75 gradient descent
    converges to a network that errs on at least one of the four points.

    0.75 is the exact probability of the first event: two neurons lie on either side of a line with
    probability ½. A run counts where y_i N(x_i) ≤ 0 at its end; where a set was empty and the
    network errs nowhere, the theorem is refuted whatever the frequency.
    """

    id = "brutzkus2019:thm3.4"
    source = Source("brutzkus2019", "Theorem 3.4")
    summary = "Four neurons could compute XOR, but gradient descent mostly does not find it."
    needs = "ensemble"
    tolerance = 0.0

    def example(self) -> Case:
        return xor_case(2, 0.1)

    def counterexample(self) -> tuple[Case, str]:
        return xor_case(3, 0.1), "two_of_each"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            *xor_network(case),
            *xor_training(case),
            two_of_each(case, "§3.3"),
            small_sigma(case, "§3.1"),
        )

    def predict(self, case: Case) -> Prediction:
        words = (
            "With probability at least 0.75 some point has no neuron that could learn it, and the "
            "network ends wrong on at least one of the four points."
        )
        return Prediction(words, {"probability": 0.75})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        assert run is not None
        errs = [_errs(member.end) for member in run.members]
        saved = sum(
            unexplored(member.start) and not wrong
            for member, wrong in zip(run.members, errs, strict=True)
        )
        return max(below_bound(errs, prediction.values["probability"]), saved / len(errs))

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        """Three networks that have only p₁ and p₂, and one that has all four."""
        sigma, a = case.setting.lr / 100, np.array([1.0, 1.0, -1.0, -1.0])
        poor, rich = (Network(PATTERNS[rows], a) for rows in ([0, 0, 1, 1], [0, 2, 1, 3]))
        return ensemble([(Network(sigma * n.W, a), n) for n in (poor, poor, poor, rich)])

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        assert run is not None
        errs = [_errs(member.end) for member in run.members]
        return frequency_sentence(errs, prediction.values["probability"], "end with an error")


@final
class SmallXORD(Theorem):
    """Theorem 6.4 (and F.1). For k = 2, c_η ≤ 1/41, γ ≥ 1 and diverse points, with probability at
    least (1 − c)·33/48 gradient descent converges to a global minimum that does not recover f*: it
    misclassifies all points x with P_x = A_i, for one of A₁ = {2}, A₂ = {4}, A₃ = {2, 4, 1},
    A₄ = {2, 4, 3}.

    33/48 = ¾·11/12: descent reaches zero loss with probability ¾, and then one of four ways to miss
    a pattern happens with probability 11/12. A run that has not reached zero loss does not count.
    """

    id = "brutzkus2019:thm6.4"
    source = Source("brutzkus2019", "Theorem 6.4")
    summary = (
        "Four filters learn diverse XORD points (with all the patterns their label allows) and "
        "mostly are wrong on others."
    )
    needs = "ensemble"
    tolerance = 0.0

    def example(self) -> Case:
        return xord_case(2, 1 / 41, gamma=1.0)

    def counterexample(self) -> tuple[Case, str]:
        return xord_case(2, 1 / 20, gamma=1.0), "small_step"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            *conv_network(case),
            *xord_training(case, 1 / 41, 1, "Theorem F.1"),
            two_of_each(case, "§6.2"),
            small_sigma(case, "Theorem F.1"),
        )

    def predict(self, case: Case) -> Prediction:
        least = (1 - NEGLIGIBLE) * 33 / 48
        words = (
            f"With probability at least {least:.4f} the network fits its training points and is "
            "wrong on all points of one kind: only (1, −1), only (−1, 1), or all patterns but one "
            "of (1, 1) and (−1, −1)."
        )
        return Prediction(words, {"probability": least, "confidence": hinge_confidence(case)})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        assert run is not None
        return below_bound(_decoyed(run, prediction), prediction.values["probability"])

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        """33 networks that have only one positive and one negative pattern, 15 that have all."""
        sigma, a = case.setting.lr / 100, np.array([1.0, 1.0, -1.0, -1.0])
        sizes = np.array([3, 3, 1, 1])[:, None] * prediction.values["confidence"]
        poor, rich = (Network(sizes * PATTERNS[rows], a) for rows in ([0, 0, 1, 1], [0, 2, 1, 3]))
        return ensemble([(Network(sigma * n.W, a), n) for n in [poor] * 33 + [rich] * 15])

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        assert run is not None
        what = "fit their points and miss a kind of point"
        return frequency_sentence(_decoyed(run, prediction), prediction.values["probability"], what)


def two_of_each(case: Case, place: str) -> Check:
    """Check that there are two neurons of each sign."""
    k = half_width(case)
    return Check(
        "two_of_each",
        case.setting.width == 4,
        -math.fabs(k - 2),
        place,
        f"k, half of the width, is {k}; it must be 2",
    )


def _errs(network: Network) -> bool:
    return bool(misclassified(network, XOR_KINDS, XOR_LABELS).any())


def _decoyed(run: Observation, prediction: Prediction) -> list[bool]:
    return [decoyed(member.end, prediction.values["confidence"]) for member in run.members]
