"""How likely points are diverse, and what that means for the number of samples.

Definition 4.2 with its example of uniform points, and Theorem 6.5.
"""

import math
from fractions import Fraction
from typing import final

from tacit.data.xor import uniform_diversity
from tacit.data.xord_kinds import KINDS, kind_probabilities
from tacit.messages import count
from tacit.papers.brutzkus2019.statements.cases import xord_case
from tacit.papers.brutzkus2019.statements.expressive import labels_of_f
from tacit.papers.brutzkus2019.statements.hypotheses import NEGLIGIBLE, conv_network
from tacit.papers.brutzkus2019.statements.smallest_networks import MISSED
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import by_slack, undecided
from tacit.values import Check

BIG_FAILS = NEGLIGIBLE + 16 * math.exp(-8)
"""c + 16e⁻⁸ of Theorem 6.3."""
SMALL_FAILS = (1 - NEGLIGIBLE) * 33 / 48
"""(1 − c)·33/48 of Theorem 6.4."""


def surjections(d: int, size: int) -> int:
    """Sequences of d patterns that use all of a set of that size (inclusion and exclusion)."""
    return sum((-1) ** j * math.comb(size, j) * (size - j) ** d for j in range(size + 1))


def counts_by_kind(d: int) -> dict[tuple[bool, ...], int]:
    """The number of points of every kind, counted pattern after pattern."""
    counts: dict[tuple[bool, ...], int] = {(False,) * 4: 1}
    for _ in range(d):
        longer: dict[tuple[bool, ...], int] = {}
        for kind, n in counts.items():
            for i in range(4):
                new = (*kind[:i], True, *kind[i + 1 :])
                longer[new] = longer.get(new, 0) + n
        counts = longer
    return counts


def smallest_missed(d: int, p_plus: float, p_minus: float, others: str = "uniform") -> float:
    """p* (5) of the generator `xord`.

    Labels are equally likely; a point is diverse with p₊ (p₋), and otherwise one of the others of
    its label, as `others` says. With `one_missing` it is the paper's min{(1−p₊)/4, (1−p₋)/4}.
    """
    left = 4**d - 2**d - surjections(d, 4)
    uniform = float(Fraction(surjections(d, 3), left)) if left else 0.0
    shares = {"uniform": uniform, "kinds": 1 / 11, "one_missing": 1 / 2, "both_positive": 0.0}
    return min((1 - p_minus) / 4, (1 - p_plus) / 2 * shares[others])


def smallest_missed_by_counting(
    d: int, p_plus: float, p_minus: float, others: str = "uniform"
) -> float:
    """`smallest_missed`, from a count of all points, or of the sets of patterns."""
    if others != "uniform":
        p = kind_probabilities(d, p_plus, p_minus, others)
        return min(float(p[(KINDS == missed).all(axis=1)].sum()) / 2 for missed in MISSED)
    counts = counts_by_kind(d)
    label = {k: 1 if k[0] or k[2] else -1 for k in counts}
    diverse = {1: (True,) * 4, -1: (False, True, False, True)}
    probabilities = []
    for missed in MISSED:
        kind = tuple(bool(b) for b in missed)
        sign = label.get(kind, 1)
        n = sum(c for k, c in counts.items() if label[k] == sign and k != diverse[sign])
        share = Fraction(counts.get(kind, 0), n) if n else Fraction(0)
        probabilities.append((1 - (p_plus if sign > 0 else p_minus)) / 2 * float(share))
    return min(probabilities)


def samples_bound(p_plus: float, p_minus: float, delta: float) -> float:
    """m₂(ε, δ) ≥ 2 log(48δ/(33(1−c))) / log(p₊p₋), Theorem 6.5."""
    return 2 * math.log(delta / SMALL_FAILS) / math.log(p_plus * p_minus)


def samples_by_search(p_plus: float, p_minus: float, delta: float) -> int:
    """The fewest pairs m with (p₊p₋)^m (1−c)33/48 ≤ δ, one pair after the other."""
    pairs, fails = 0, SMALL_FAILS
    while fails > delta:
        fails *= p_plus * p_minus
        pairs += 1
    return pairs


def _uniform_points() -> Evidence:
    d = 4
    counts = counts_by_kind(d)
    positive = sum(n for kind, n in counts.items() if kind[0] or kind[2])
    counted = counts[(True,) * 4] / positive
    printed = 1 - (4 * 3**d - 6 * 2**d + 4) / 4**d
    ours_ = uniform_diversity(d)[0]
    words = (
        f"For d = 4, {counts[(True,) * 4]} of {positive} positive points are diverse: "
        f"{counted:.5f}; printed {printed:.5f}, corrected {ours_:.5f}."
    )
    right = abs(ours_ - counted) < 1e-15 < abs(printed - counted)
    return Evidence("corrected" if right else "printed", words)


@final
class UniformDiversity(Theorem):
    """Definition 4.2 and the example after it. If 𝒟₊ and 𝒟₋ are uniform, a positive and a negative
    point are diverse with probability

        p₊ = (4^d − 4·3^d + 6·2^d − 4)/(4^d − 2^d),   p₋ = 1 − 2^(1−d).
    """

    id = "brutzkus2019:def4.2"
    source = Source("brutzkus2019", "Definition 4.2")
    summary = (
        "A uniform XORD point is diverse, which is to have all the patterns its label allows, with "
        "a known probability."
    )
    needs = "data"
    tolerance = 1e-12
    errata = (
        Erratum(
            "p₊ = 1 − (4·3^d − 6·2^d + 4)/4^d.",
            "p₊ = (4^d − 4·3^d + 6·2^d − 4)/(4^d − 2^d): the point is given to be positive.",
            _uniform_points,
        ),
    )

    def example(self) -> Case:
        return xord_case(20, 0.1, data="xord:n=40,d=7")

    def counterexample(self) -> tuple[Case, str]:
        return xord_case(20, 0.1, data="xord:n=40,d=7,p_plus=0.5"), "uniform"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        labels = labels_of_f(case, "(3)")
        given = _probabilities(case)
        if given is None:
            return labels, _unknown("uniform", "§4")
        far = max(abs(a - b) for a, b in zip(given, uniform_diversity(_d(case)), strict=True))
        return labels, Check("uniform", far == 0, -far, "§4", "distance of p₊, p₋ from uniform")

    def predict(self, case: Case) -> Prediction:
        p_plus, p_minus = uniform_diversity(_d(case))
        words = (
            f"A uniform positive point of {count(_d(case), 'pattern')} is diverse with probability "
            f"{p_plus:.4g}, a negative one with probability {p_minus:.4g}."
        )
        return Prediction(words, {"p_plus": p_plus, "p_minus": p_minus})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The difference from a count of all 4^d points."""
        counts = counts_by_kind(_d(case))
        positive = sum(n for kind, n in counts.items() if kind[0] or kind[2])
        p_plus = Fraction(counts.get((True,) * 4, 0), positive)
        p_minus = Fraction(counts.get((False, True, False, True), 0), 2 ** _d(case))
        said = prediction.values
        return max(abs(said["p_plus"] - float(p_plus)), abs(said["p_minus"] - float(p_minus)))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"Counting all points gives the same to {residual:.0e}."


@final
class SampleGap(Theorem):
    """Theorem 6.5. Let δ ≥ 1 − p₊p₋(1 − c − 16e⁻⁸) and 0 ≤ ε < p*, where p* (5) is the smallest of
    the probabilities that P_x is {2}, {4}, {2, 4, 1}, {2, 4, 3}. Then networks with k ≥ 120 need

        m₁(ε, δ) ≤ 2,   and networks with k = 2   m₂(ε, δ) ≥ 2 log(48δ/(33(1−c))) / log(p₊p₋)

    samples for a test error of at most ε with confidence 1 − δ.

    Ours: p₊, p₋ and p* are those of the generator; δ is the smallest one allowed, rounded up to a
    whole percent as in the paper's two examples (129 samples for p₊ = p₋ = 0.98, 17 for 0.92). In
    these p* = min{(1−p₊)/4, (1−p₋)/4}, which is 0.005 and 0.02: `xord` with others=one_missing.
    """

    id = "brutzkus2019:thm6.5"
    source = Source("brutzkus2019", "Theorem 6.5")
    summary = (
        "Where most XORD points are diverse (have all the patterns their label allows), wide "
        "networks need two samples and small ones many."
    )
    needs = "data"
    tolerance = 1e-9

    def example(self) -> Case:
        return xord_case(2, 1 / 41, data="xord:n=40,p_plus=0.98,p_minus=0.98,others=one_missing")

    def counterexample(self) -> tuple[Case, str]:
        data = "xord:n=40,d=5,p_plus=0.98,p_minus=1.0"
        return xord_case(2, 1 / 41, data=data), "epsilon"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        first = (*conv_network(case), labels_of_f(case, "(3)"))
        given = _probabilities(case)
        if given is None:
            return (*first, _unknown("delta", "Theorem 6.5"), _unknown("epsilon", "(5)"))
        both, star = given[0] * given[1], smallest_missed(_d(case), *given, _others(case))
        return (
            *first,
            by_slack("delta", both, "Theorem 6.5", "p₊p₋; zero leaves no δ below 1", strict=True),
            by_slack("epsilon", star, "(5)", "p*; zero leaves no ε", strict=True),
        )

    def predict(self, case: Case) -> Prediction:
        given = _probabilities(case)
        if given is None:
            return Prediction("Nothing is known of the distribution of these points.")
        p_plus, p_minus = given
        least = 1 - p_plus * p_minus * (1 - BIG_FAILS)
        delta = min(math.ceil(100 * least) / 100, 1.0)
        star = smallest_missed(_d(case), *given, _others(case))
        bound = samples_bound(p_plus, p_minus, delta)
        small = f"k = 2 needs at least {math.floor(bound)}" if bound > 2 else "no gap is guaranteed"
        words = (
            f"For a test error below p* = {star:.3g} with confidence {1 - delta:.2f}, k ≥ 120 "
            f"needs two samples and {small}."
        )
        values = {
            "p_plus": p_plus,
            "p_minus": p_minus,
            "p_star": star,
            "delta_at_least": least,
            "delta": delta,
            "m1_at_most": 2,
            "m2_at_least": bound,
        }
        return Prediction(words, values)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """p* by counting points, and the bound by adding one pair of samples after the other."""
        said = prediction.values
        if not said:
            return None
        p = said["p_plus"], said["p_minus"]
        star = smallest_missed_by_counting(_d(case), *p, _others(case))
        pairs = samples_by_search(*p, said["delta"])
        two = p[0] * p[1] * (1 - BIG_FAILS)  # both samples diverse, and Theorem 6.3
        return max(
            abs(star - said["p_star"]) / said["p_star"],
            abs(pairs - max(math.ceil(said["m2_at_least"] / 2), 0)),
            1 - said["delta"] - two,
            0.0,
        )

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return (
            f"Counting all points and adding samples one by one gives the same to {residual:.0e}."
        )


def _d(case: Case) -> int:
    """Patterns in a point."""
    return case.data.d // 2


def _probabilities(case: Case) -> tuple[float, float] | None:
    """p₊ and p₋ of points that were drawn by `xord`."""
    made = case.data.parameters
    if "p_plus" not in made or "p_minus" not in made:
        return None
    return float(made["p_plus"]), float(made["p_minus"])


def _others(case: Case) -> str:
    """How points that are not diverse are distributed."""
    return str(case.data.parameters.get("others", "uniform"))


def _unknown(name: str, place: str) -> Check:
    return undecided(name, place, "the distribution of the points is not known")
