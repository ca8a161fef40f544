"""Wide networks begin with neurons in every direction: Lemma 3.1 and Lemma 6.1."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, final

import numpy as np

from tacit.data.xor import PATTERNS
from tacit.papers.brutzkus2019.statements.cases import even_start, half_width, xor_case, xord_case
from tacit.papers.brutzkus2019.statements.frequencies import (
    below_bound,
    ensemble,
    frequency_sentence,
)
from tacit.papers.brutzkus2019.statements.hypotheses import (
    conv_network,
    gaussian_start,
    wide_for_xor,
    wide_for_xord,
    xor_network,
)
from tacit.papers.brutzkus2019.statements.kinds import nearest_patterns
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.values import Check, Network


def signs_slack(start: Network) -> float:
    """How far all |W_0⁺(i)|, |U_0⁺(i)| of XOR are within k/2 ± 2√k, in units of √k."""
    z = start.W @ PATTERNS.T > 0
    counts = [z[start.a > 0].sum(axis=0), z[start.a < 0].sum(axis=0)]
    k = len(start.a) / 2
    return float(2 - np.abs(np.array(counts) - k / 2).max() / math.sqrt(k))


def halves_slack(start: Network) -> float:
    """How far |W_0⁺(1) ∪ W_0⁺(3)| and the same of U are within k/2 ± 2√k, in units of √k."""
    positive = nearest_patterns(start.W) % 2 == 0
    counts = [positive[start.a > 0].sum(), positive[start.a < 0].sum()]
    k = len(start.a) / 2
    return float(2 - np.abs(np.array(counts) - k / 2).max() / math.sqrt(k))


def within(k: int) -> float:
    """P(|B − k/2| ≤ 2√k) for B the number of heads in k tosses, exactly."""
    far = 2 * math.sqrt(k)
    return sum(math.comb(k, j) for j in range(k + 1) if abs(j - k / 2) <= far) / 2**k


class _Exploration(Theorem):
    """Most starts have enough neurons everywhere."""

    slack: ClassVar[Callable[[Network], float]]
    """At least 0 for such a start."""
    enough: ClassVar[str]

    needs = "ensemble"
    tolerance = 0.0

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        assert run is not None
        return below_bound(self._happened(run), prediction.values["probability"])

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        return ensemble([(even_start(case), even_start(case))] * 10)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        assert run is not None
        least = prediction.values["probability"]
        return frequency_sentence(self._happened(run), least, f"begin with enough {self.enough}")

    def _happened(self, run: Observation) -> list[bool]:
        return [type(self).slack(member.start) >= 0 for member in run.members]


@final
class ExplorationXOR(_Exploration):
    """Lemma 3.1. For k > 16, with probability at least 1 − 8e⁻⁸ and for all i ≤ 4,

        k/2 − 2√k ≤ |W_0⁺(i)|, |U_0⁺(i)| ≤ k/2 + 2√k,

    where W_0⁺(i) are the neurons w with w_0·x_i > 0, and U_0⁺(i) likewise. The signs of w·x₁ and
    w·x₂ are independent coins, so the probability itself is P(|Bin(k, ½) − k/2| ≤ 2√k)⁴.
    """

    id = "brutzkus2019:lemma3.1"
    source = Source("brutzkus2019", "Lemma 3.1")
    summary = "A wide network begins with about half of its neurons active on each XOR point."
    slack, enough = signs_slack, "neurons on every point"

    def example(self) -> Case:
        return xor_case(25, 0.1)

    def counterexample(self) -> tuple[Case, str]:
        return xor_case(16, 0.1), "wide"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (*xor_network(case), wide_for_xor(case), gaussian_start(case, "§3.1"))

    def predict(self, case: Case) -> Prediction:
        k, least = half_width(case), 1 - 8 * math.exp(-8)
        low, high = k / 2 - 2 * math.sqrt(k), k / 2 + 2 * math.sqrt(k)
        values = {"probability": least, "exact": within(k) ** 4, "low": low, "high": high}
        words = (
            f"With probability at least {least:.4f}, each of the four points has between "
            f"{max(0, math.ceil(low))} and {min(k, math.floor(high))} active neurons of either "
            "sign at the start."
        )
        return Prediction(words, values)


@final
class ExplorationXORD(_Exploration):
    """Lemma 6.1 (and E.2). With probability at least 1 − 4e⁻⁸,

        | |W_0⁺(1) ∪ W_0⁺(3)| − k/2 | ≤ 2√k,

    and the same holds for U. Here W_0⁺(i) are the neurons w whose largest w_0·p_l is at l = i. Each
    neuron is in one half or the other by a coin, so the probability itself is
    P(|Bin(k, ½) − k/2| ≤ 2√k)².
    """

    id = "brutzkus2019:lemma6.1"
    source = Source("brutzkus2019", "Lemma 6.1")
    summary = (
        "A wide convolutional network begins with about half of its filters near (1, 1) "
        "or (−1, −1)."
    )
    slack, enough = halves_slack, "filters in both halves"

    def example(self) -> Case:
        return xord_case(120, 1 / 410)

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        return replace(case, setting=case.setting.replace(init="he:0.001")), "gaussian_start"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (*conv_network(case), wide_for_xord(case), gaussian_start(case, "§4"))

    def predict(self, case: Case) -> Prediction:
        k, least = half_width(case), 1 - 4 * math.exp(-8)
        values = {"probability": least, "exact": within(k) ** 2, "off": 2 * math.sqrt(k)}
        words = (
            f"With probability at least {least:.4f}, at most {2 * math.sqrt(k):.3g} more or fewer "
            f"than half of the {k} filters of either sign look towards (1, 1) or (−1, −1) at "
            "the start."
        )
        return Prediction(words, values)
