"""Three hints lead the flow to a linear classifier of suboptimal margin (§6)."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tacit.certificates import optimum
from tacit.numerics.max_margin import max_margin
from tacit.papers.lyu2021.networks import one_neuron
from tacit.papers.lyu2021.statements.cases import hinted_case
from tacit.papers.lyu2021.statements.early_pulls import pulls, start_checks
from tacit.papers.lyu2021.statements.hypotheses import flow_checks, network_checks, started
from tacit.papers.lyu2021.statements.network_functions import difference
from tacit.papers.lyu2021.statements.one_neuron import best_neuron, split
from tacit.papers.lyu2021.statements.run_ends import ended, known_end
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import by_slack, undecided
from tacit.values import Check, Dataset, Setting

NEAR_HINT = 1e-6
"""Hints that are off by less, relative to their lengths, count as hints."""
SECONDS = 10.0
"""Seconds for a network with a wide margin; its lower bound is used, which is always right."""


class Hints(NamedTuple):
    """Definition 6.1, read off the first three points."""

    w: np.ndarray
    """w*, along the first point."""
    gamma: float
    """The widest margin of a separator of the other points."""
    H: float
    K: float
    eps: float
    off: float
    """How far the next two are from εw* ± Kw⊥, relative to their lengths, and the first from that
    separator; at least 1 when one of the three is not positive."""


def hints_of(data: Dataset) -> Hints | None:
    """Read the hints; None when there are too few points, or the others are not separable."""
    if not data.binary or data.n < 4 or data.d < 2 or not data.X[0].any():
        return None
    first, second, third = data.X[:3]
    H = float(np.linalg.norm(first))
    w, middle, across = first / H, (second + third) / 2, (second - third) / 2
    eps, K = float(middle @ w), float(np.linalg.norm(across))
    length = max(float(np.linalg.norm(second)), float(np.linalg.norm(third)), 1e-300)
    off = max(
        float(np.linalg.norm(middle - eps * w)) / length,
        float(abs(across @ w)) / length,
        0.0 if (data.y[:3] == 1).all() and min(eps, K) > 0 else 1.0,
    )
    if off > NEAR_HINT:  # then the separator of the others does not matter
        return Hints(w, 0.0, H, K, eps, off)
    separator = max_margin(data.y[3:, None] * data.X[3:])
    if separator.status != "separable":
        return None
    off = max(off, float(np.linalg.norm(w - separator.direction)))
    return Hints(w, separator.margin_bounds.lower, H, K, eps, off)


def enough_K(eps: float, alpha: float) -> float:
    """Beyond this K the linear classifier is suboptimal."""
    return eps * math.sqrt((3 + alpha) / (1 - alpha))


class Theorem62(Theorem):
    """Theorem 6.2: three hints make the flow end in a linear classifier that is not the best.

    Take linearly separable data S with max-margin separator w*, and in front of it (Hw*, 1),
    (εw* + Kw⊥, 1) and (εw* − Kw⊥, 1) with w⊥ perpendicular to w*, ε < α γ*, H large (App. A.2 gives
    a bound) and K > ε√((3+α)/(1−α)). From balanced weights with random signs, with probability
    1 − 2^(−m), for all small scales f(x)/‖θ‖² → ½ φ(w*·x). Its margin ½ε is suboptimal: not the
    widest of all networks. For m = 1 it is the widest of that width, and wider networks beat it.
    """

    id = "lyu2021:thm6.2"
    source = Source("lyu2021", "Theorem 6.2")
    summary = (
        "Three extra points suffice to lead gradient flow from a small start to a linear "
        "classifier whose margin is not the widest."
    )
    needs = "limit"
    proof_covers_it = True
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        return hinted_case()

    def counterexample(self) -> tuple[Case, str]:
        """K is large enough for the paper, but not for a suboptimal margin."""
        return _with_K(0.9), "large_K"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        case, place = started(case, run), "Theorem 6.2"
        return (
            *network_checks(case),
            *_constants(case),
            *flow_checks(case),
            *start_checks(case, 1, run, place),
        )

    def predict(self, case: Case) -> Prediction:
        hints = hints_of(case.data)
        assert hints is not None
        w, margin = hints.w, hints.eps / 2
        widest = optimum(
            case.data, Setting(activation=case.setting.activation), seconds=SECONDS
        ).margin
        values = {
            "w": w,
            "margin": margin,
            "widest": widest,
            "probability": 1 - 2.0**-case.setting.width,
        }
        words = (
            f"At unit norm the limit is ½ φ(w*·x), of margin {margin:.6g}; the widest margin of "
            f"all is {widest:.6g}."
        )
        return Prediction(words, values, ((1, w),))

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The distance of the functions; 1 when no network is known that has a wider margin."""
        end = known_end(run)
        if end is None:
            return None
        apart = difference(end, one_neuron(prediction.values["w"], case.alpha), case)
        suboptimal = prediction.values["widest"] > prediction.values["margin"] * (1 + 1e-9)
        return max(apart, 0.0 if suboptimal else 1.0)

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        return ended(split(prediction.values["w"], 1, case))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        share = prediction.values["margin"] / prediction.values["widest"]
        return (
            f"At unit norm the limit differs from ½ φ(w*·x) by at most {residual:.1e} of it; the "
            f"margin of that is {100 * share:.3g}% of the widest."
        )

    @staticmethod
    def _small_K() -> Evidence:
        shares = []
        for factor in (0.9, 1.1):
            case = _with_K(factor)
            hints = hints_of(case.data)
            assert hints is not None
            widest = optimum(case.data, Setting(activation=case.setting.activation)).margin
            shares.append(hints.eps / 2 / widest)
        words = (
            f"½ε is {shares[0]:.9f} of the widest margin where K is 0.9 ε√((3+α)/(1−α)), and "
            f"{shares[1]:.9f} where K is 1.1 times that."
        )
        corrected = shares[0] > 1 - 1e-8 and shares[1] < 1 - 1e-6
        return Evidence("corrected" if corrected else "printed", words)

    @staticmethod
    def _probability() -> Evidence:
        """One neuron with a < 0 ends in −½ φ(−w⁻·x) (Lemma A.4), and has probability ½."""
        case = hinted_case()
        other = one_neuron(best_neuron(case, -1).direction, case.alpha, -1)
        apart = difference(other, one_neuron(best_neuron(case, 1).direction, case.alpha), case)
        words = (
            "With m = 1 a negative neuron, of probability ½, has another limit, "
            f"{apart:.2g} of it away: the probability is ½ = 1 − 2^(−m), whatever δ is."
        )
        return Evidence("corrected" if apart > 0.1 else "printed", words)

    errata = (
        Erratum(
            "App. A.2: K > 0 suffices for a suboptimal margin",
            "K > ε√((3+α)/(1−α)): up to there ½ φ(w*·x) has the widest margin of all",
            _small_K,
        ),
        Erratum(
            "Pr over θ̄₀ ~ D_init(1) is at least 1 − δ",
            "Pr over balanced θ̄₀ ~ D̃_init(1) is at least 1 − 2^(−m)",
            _probability,
        ),
    )


def _with_K(factor: float) -> Case:
    """The example with K that many times what is enough."""
    case = hinted_case()
    hints = hints_of(case.data)
    assert hints is not None
    K = factor * enough_K(hints.eps, case.alpha)
    X = case.data.X.copy()
    middle, across = (X[1] + X[2]) / 2, (X[1] - X[2]) / (2 * hints.K)
    X[1], X[2] = middle + K * across, middle - K * across
    return replace(case, data=Dataset(X, case.data.y), _properties={})


def _constants(case: Case) -> tuple[Check, ...]:
    """The hints, and the conditions of App. A.2 on H, K and ε."""
    place, names = "App. A.2", ("hinted", "small_eps", "large_K", "large_H")
    hints = hints_of(case.data)
    if hints is None or hints.off > NEAR_HINT:
        off = 1.0 if hints is None else hints.off
        note = "the first three points are no hints to the separator of the others"
        first = Check("hinted", False, -off, "Definition 6.1", note)
        return first, *(undecided(name, place, "there are no hints") for name in names[1:])
    first = Check("hinted", True, NEAR_HINT - hints.off, "Definition 6.1", "relative distance")
    eps = case.alpha * hints.gamma - hints.eps
    enough, H = enough_K(hints.eps, case.alpha), _enough_H(case, hints)
    large = hints.H > H
    return (
        first,
        by_slack("small_eps", eps / hints.gamma, place, f"ε is {hints.eps:.4g}", strict=True),
        by_slack(
            "large_K",
            hints.K / enough - 1,
            "Theorem 6.2, suboptimality",
            f"K is {hints.K:.4g}; the margin is suboptimal for K > {enough:.4g}",
            strict=True,
        ),
        Check(
            "large_H",
            True if large else None,
            hints.H / H - 1,
            place,
            f"H is {hints.H:.4g}, enough is {H:.4g}"
            + ("" if large else ", but it may do with less"),
        ),
    )


def _enough_H(case: Case, hints: Hints) -> float:
    """max{ε, H₀, n‖µ⁻‖ + ‖Σ_{j>1} y_j x⁺_j‖}."""
    Z = case.data.y[1:, None] * case.data.X[1:]
    along = Z @ hints.w
    across = np.linalg.norm(Z - np.outer(along, hints.w), axis=1)
    if not case.alpha * along.min() > 0:
        return math.inf
    H_0 = across.max() * across.sum() / (case.alpha * along.min()) - along.sum()
    plus = np.where(case.data.y[1:] > 0, 1.0, case.alpha) @ Z
    minus = case.data.n * np.linalg.norm(pulls(case).minus)
    return float(max(hints.eps, H_0, minus + np.linalg.norm(plus)))
