"""Wide networks reach a global minimum with clustered neurons: Theorem 3.3 and Theorem 6.3.

The probability is that of small and well spread initial weights. From there on the theorems are
certain, so those are hypotheses here and every single run can refute them.
"""

import math
from typing import final

import numpy as np

from tacit.data.xor import PATTERNS
from tacit.data.xord_kinds import KINDS, LABELS
from tacit.papers.brutzkus2019.statements.cases import even_start, half_width, xor_case, xord_case
from tacit.papers.brutzkus2019.statements.clustering import four_directions
from tacit.papers.brutzkus2019.statements.descent import descend
from tacit.papers.brutzkus2019.statements.exploration import halves_slack, signs_slack
from tacit.papers.brutzkus2019.statements.hypotheses import (
    RELATIVE_ROUNDING,
    c_eta,
    conv_network,
    explored,
    hinge_confidence,
    planar_start,
    start_within_a_step,
    wide_for_xor,
    wide_for_xord,
    xor_network,
    xor_training,
    xord_training,
)
from tacit.papers.brutzkus2019.statements.kinds import (
    DIVERSE,
    DIVERSE_LABELS,
    XOR_KINDS,
    XOR_LABELS,
    angles,
    in_one,
    misclassified,
    nearest_patterns,
    one_is_nearest,
    outputs_by_kind,
    own_patterns,
)
from tacit.theorems import Case, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.errata import Erratum, Evidence
from tacit.values import Check, Network


def lateness(run: Observation, unmet: list[float], most: float) -> float | None:
    """How far the loss is from zero at the end, or by how much that was later than `most`.

    `unmet` is the part of the margin that is missing at each moment. None when the run ends above
    zero before it is due.
    """
    if unmet[-1] > RELATIVE_ROUNDING:
        return unmet[-1] if run.path[-1].time >= most else None
    above = [
        m.time for m, missing in zip(run.path, unmet, strict=True) if missing > RELATIVE_ROUNDING
    ]
    return max(0.0, (max(above, default=-1) + 1) / most - 1)


def quarters_slack(start: Network) -> float:
    """How far the start is within Lemma E.2, E.15 and E.19, in units of √k."""
    return min(positive_quarters_slack(start), negative_quarters_slack(start))


def positive_quarters_slack(start: Network) -> float:
    """How far the start is within Lemma E.2 and E.15, on W_0⁺(1) and W_0⁺(3), in units of √k."""
    w = nearest_patterns(start.W[start.a > 0])
    return min(_quarter_slack(start, (w == 0, w == 2)), halves_slack(start))


def negative_quarters_slack(start: Network) -> float:
    """How far the start is within Lemma E.2 and E.19, on four parts of the u, in units of √k."""
    U = start.W[start.a < 0]
    u, up = nearest_patterns(U), PATTERNS[1] @ U.T > 0  # U⁻(2), against U⁻(4)
    positive = u % 2 == 0
    sets = (u == 1, u == 3, positive & up, positive & ~up)
    return min(_quarter_slack(start, sets), halves_slack(start))


def _quarter_slack(start: Network, sets: tuple[np.ndarray, ...]) -> float:
    """2 − the largest distance of a set's size from k/4, in units of √k."""
    k = len(start.a) / 2
    return 2 - max(abs(float(chosen.sum()) - k / 4) for chosen in sets) / math.sqrt(k)


def time_bound(k: int, c: float) -> float:
    """T of Theorem 3.3: four points, each below its margin at most 2(1+c)√k/(c(√k−4)) times."""
    return 8 * (1 + c) * math.sqrt(k) / (c * (math.sqrt(k) - 4))


def _steps_of_xor() -> Evidence:
    k, c, larger = 50, 0.01, 0.1
    printed, bound = 16 * math.sqrt(k) / (math.sqrt(k) - 2), time_bound(k, c)
    taken, fewer = [_steps(k, c, seed) for seed in range(3)], _steps(k, larger, 0)
    words = (
        f"With k = 50 and c_η = 0.01 descent takes {min(taken)} to {max(taken)} iterations; "
        f"printed are at most {printed:.1f}, corrected at most {bound:.0f}. With c_η = {larger} it "
        f"takes {fewer}: the printed bound fails only for small c_η."
    )
    right = fewer < printed < min(taken) and max(taken) <= bound
    return Evidence("corrected" if right else "printed", words)


def _steps(k: int, c: float, seed: int) -> int:
    """Iterations to a global minimum, from a start that explores as Lemma 3.1 says."""
    case = xor_case(k, c, seed)
    assert signs_slack(case.given_start) >= 0
    ones, eta = np.ones(4), case.setting.lr
    return len(descend(case.given_start, XOR_KINDS, XOR_LABELS, ones, eta, 2000)) - 1


def _negative_neurons_of_xor() -> Evidence:
    case = xor_case(50, 0.01, 0)
    ones, eta = np.ones(4), case.setting.lr
    path = descend(case.given_start, XOR_KINDS, XOR_LABELS, ones, eta, 2000)
    sums = [np.maximum(net.W[net.a < 0] @ PATTERNS[0], 0).sum() for net in path]
    most = float(max(sums)) / (50 * eta)
    words = f"On a run with k = 50, R⁺(1) + R⁻(1) reaches {most:.2f} kη."
    return Evidence("corrected" if 1 < most <= 2 else "printed", words)


def _aside_of_xord() -> Evidence:
    case = xord_case(120, 1 / 410, seed=0)
    goals, eta = np.array([8.0, 1.0]), case.setting.lr
    last = descend(case.given_start, DIVERSE, DIVERSE_LABELS, goals, eta, 1)[-1]
    mine = (last.a > 0) & (nearest_patterns(last.W) % 2 == 0)
    most = float(np.abs(last.W[mine] @ PATTERNS[1]).sum()) / (eta * mine.sum())
    words = f"After one iteration with k = 120, S⁻ is {most:.2f} |W⁺(1) ∪ W⁺(3)| η."
    return Evidence("corrected" if 1 < most <= 2 else "printed", words)


def least_width(beta: float) -> float:
    """64((β+1)/(β−1))², which k must exceed for (k/4 + 2√k)/(k/4 − 2√k) < β; ∞ for β ≤ 1."""
    return 64 * ((beta + 1) / (beta - 1)) ** 2 if beta > 1 else math.inf


def beta_positive(gamma: float, c: float) -> float:
    """β(γ) of Proposition E.18, with c for the printed c_η."""
    return (gamma - 40.25 * c) / (39 * c + 1)


def beta_negative(c: float) -> float:
    """β of Proposition E.22, with c for the printed c_η."""
    return (1 - 36.25 * c) / (35 * c)


def _smaller_beta() -> Evidence:
    first, second = beta_positive(8, 1 / 410), beta_negative(1 / 410)
    widths = [least_width(beta) for beta in (first, second)]
    words = (
        f"At γ = 8, c_η = 1/410 β₁ is {first:.2f} and asks for k > {widths[0]:.1f}, β₂ is "
        f"{second:.2f} and asks for k > {widths[1]:.1f}: the smaller one decides. Both are below "
        "120, so with the printed constants nothing else changes."
    )
    decided = first < second and 120 > widths[0] > widths[1]
    return Evidence("corrected" if decided else "printed", words)


@final
class ConvergenceXOR(Theorem):
    """Theorem 3.3. For k > 16, after at most

        T ≤ 8(1+c_η)√k / (c_η(√k−4))

    iterations gradient descent is at a global minimum: y_i N(x_i) ≥ 1 for all i. There, for
    i ∈ {1, 3} and j ∈ W_0⁺(i), the angle between w_T and x_i is at most
    arccos((1−2c_η)/(1+c_η)); likewise for u with i ∈ {2, 4}. Here η = c_η/k. Probability:
    1 − √(2k/π)e^{−8k} − 8e⁻⁸, that of `start_within_a_step` and `explored`.
    """

    id = "brutzkus2019:thm3.3"
    source = Source("brutzkus2019", "Theorem 3.3")
    summary = "A wide network learns XOR, and its neurons gather around the four points."
    needs = "descent"
    tolerance = 1e-9
    invariances = frozenset({"order"})
    errata = (
        Erratum(
            "T ≤ 16√k/(√k−2), from l ≥ 4√k/(√k−2) in Proposition B.5.",
            "T ≤ 8(1+c_η)√k/(c_η(√k−4)) with η = c_η/k, from l ≥ 2(1+c_η)√k/(c_η(√k−4)).",
            _steps_of_xor,
        ),
        Erratum(
            "Lemma B.4: R⁺(1) + R⁻(1) ≤ kη.",
            "R⁺(1) + R⁻(1) ≤ 2kη, because ‖x_i‖² = 2; S⁺(1) grows by 2η|W_0⁺(1)| for that.",
            _negative_neurons_of_xor,
        ),
    )

    def example(self) -> Case:
        return xor_case(25, 0.1, seed=0)

    def counterexample(self) -> tuple[Case, str]:
        case = xor_case(25, 0.1, seed=0)
        W = case.given_start.W.copy()
        W[:25] = np.abs(W[:25])  # all w look towards x₁, none towards x₃
        return Case(case.data, case.setting, Network(W, case.given_start.a)), "explored"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        start = planar_start(case, run)
        slack = None if start is None else signs_slack(start)
        return (
            *xor_network(case),
            *xor_training(case),
            wide_for_xor(case),
            start_within_a_step(case, run, "Lemma B.2"),
            explored(slack, 1 - 8 * math.exp(-8), "Lemma 3.1"),
        )

    def predict(self, case: Case) -> Prediction:
        k, c = half_width(case), c_eta(case)
        most, angle = time_bound(k, c), math.acos((1 - 2 * c) / (1 + c))
        words = (
            f"After at most {math.floor(most)} iterations all four margins are at least 1, and "
            f"every neuron is within {math.degrees(angle):.0f}° of one of the four points."
        )
        return Prediction(words, {"iterations": most, "angle": angle}, four_directions())

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        assert run is not None
        networks = [moment.network for moment in run.path]
        q = [XOR_LABELS * outputs_by_kind(net, XOR_KINDS) for net in networks]
        late = lateness(run, [max(1 - float(m.min()), 0.0) for m in q], _most(prediction))
        if late is None:
            return None
        turned = angles(run.end.W, PATTERNS[own_patterns(run.start)])[in_one(run.start)]
        return max(late, float(turned.max(initial=0.0)) / prediction.values["angle"] - 1, 0.0)

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        """Every neuron at its point, as long as it must be."""
        start = case.start or even_start(case)
        own = own_patterns(start)
        length = 0.5 / np.bincount(own, minlength=4).min()
        end = Network(length * PATTERNS[own], start.a)
        return _by_hand(start, end, length / case.setting.lr, _most(prediction))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return _words(residual, self.tolerance, prediction)


@final
class ConvergenceXORD(Theorem):
    """Theorem 6.3. For k ≥ 120, c_η ≤ 1/410, γ ≥ 8 and diverse points, after

        T ≥ 28(γ+1+8c_η)/c_η

    iterations gradient descent is at a global minimum of (4), and sign N(x) = f*(x) for all
    x ∈ {±1}^{2d}. There, for i ∈ {1, 3} and j ∈ W_0⁺(i), the angle between w_T and p_i is at most
    arccos((γ−1−2c_η)/(γ−1+c_η)). Probability: 1 − c − 16e⁻⁸, that of `start_within_a_step` and
    `explored`.
    """

    id = "brutzkus2019:thm6.3"
    source = Source("brutzkus2019", "Theorem 6.3")
    summary = (
        "A wide convolutional network that learns from diverse XORD points alone (they have all "
        "the patterns their label allows) is right on all others too."
    )
    needs = "descent"
    tolerance = 1e-9
    invariances = frozenset({"order"})
    errata = (
        Erratum(
            "Lemma E.8: S⁻ ≤ |W⁺(1) ∪ W⁺(3)| η, and so for P⁺ and P⁻.",
            "S⁻ ≤ 2 |W⁺(1) ∪ W⁺(3)| η, because ‖p_i‖² = 2.",
            _aside_of_xord,
        ),
        Erratum(
            "E.0.9: β = max{β₁, β₂}, and 64((β+1)/(β−1))² < 120.",
            "β = min{β₁, β₂}: Propositions E.18 and E.22 each need it, and it falls with β.",
            _smaller_beta,
        ),
    )

    def example(self) -> Case:
        return xord_case(120, 1 / 410, seed=0)

    def counterexample(self) -> tuple[Case, str]:
        return xord_case(120, 1 / 410, gamma=4.0, seed=0), "hinge"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        start = planar_start(case, run)
        slack = None if start is None else quarters_slack(start)
        return (
            *conv_network(case),
            *xord_training(case, 1 / 410, 8),
            wide_for_xord(case),
            start_within_a_step(case, run, "Lemma E.3"),
            explored(slack, 1 - 16 * math.exp(-8), "Lemma E.2, E.15, E.19"),
        )

    def predict(self, case: Case) -> Prediction:
        c, gamma = c_eta(case), hinge_confidence(case)
        most = 28 * (gamma + 1 + 8 * c) / c
        angle = math.acos((gamma - 1 - 2 * c) / (gamma - 1 + c))
        words = (
            f"After at most {math.floor(most)} iterations the loss is zero and the network is "
            "right on every point there is; filters that began near (1, 1) or (−1, −1) are within "
            f"{math.degrees(angle):.1f}° of it."
        )
        values = {"iterations": most, "angle": angle, "confidence": gamma}
        return Prediction(words, values, four_directions()[:2])

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        assert run is not None
        late = lateness(run, unmet_margins(run, prediction), _most(prediction))
        if late is None:
            return None
        errors = share_misclassified(run.end, case)
        own = nearest_patterns(run.start.W)
        sure = one_is_nearest(run.start.W, case.setting.lr)
        mine = (run.start.a > 0) & (own % 2 == 0) & sure
        turned = angles(run.end.W[mine], PATTERNS[own[mine]]).max(initial=0.0)
        return max(late, errors, float(turned) / prediction.values["angle"] - 1, 0.0)

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        return converged_by_hand(prediction, case)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return _words(residual, self.tolerance, prediction)


def unmet_margins(run: Observation, prediction: Prediction) -> list[float]:
    """The part of γ that N(x⁺) lacks, or that −N(x⁻) lacks of 1, at each moment (4)."""
    goals = np.array([prediction.values["confidence"], 1.0])
    q = [DIVERSE_LABELS * outputs_by_kind(moment.network, DIVERSE) for moment in run.path]
    return [max(float((1 - one / goals).max()), 0.0) for one in q]


def share_misclassified(network: Network, case: Case, label: int = 0) -> float:
    """The share of all kinds of points, or of those with this label, that it gets wrong."""
    here = (KINDS.sum(axis=1) <= case.data.d // 2) & ((LABELS == label) | (label == 0))
    return float(misclassified(network, KINDS[here], LABELS[here]).mean())


def converged_by_hand(prediction: Prediction, case: Case) -> Observation:
    """w near p₁ or p₃ at its pattern, the other w zero, u at p₂ or p₄."""
    start, k = case.start or even_start(case), half_width(case)
    own, positive = nearest_patterns(start.W), start.a > 0
    mine = positive & (own % 2 == 0)
    aside = np.where(start.W @ PATTERNS[1] > 0, 1, 3)
    low = 0.5 / k
    high = (prediction.values["confidence"] + 1) / (2 * mine.sum())
    W = np.where(mine[:, None], high * PATTERNS[own], 0.0)
    W = np.where(positive[:, None], W, low * PATTERNS[aside])
    return _by_hand(start, Network(W, start.a), high / case.setting.lr, _most(prediction))


def _most(prediction: Prediction) -> float:
    return float(prediction.values["iterations"])


def _by_hand(start: Network, end: Network, taken: float, most: float) -> Observation:
    """A run that is at `end` after `taken` iterations, and stays there."""
    times = (math.ceil(taken), math.ceil(most))
    later = tuple(PathPoint(time, -math.inf, end) for time in times)
    return Observation((PathPoint(0, 0.0, start), *later), outcome="done")


def _words(residual: float, tolerance: float, prediction: Prediction) -> str:
    most = math.floor(_most(prediction))
    if residual <= tolerance:
        return f"The loss is zero in time (at most {most} iterations), and the end is as promised."
    return (
        f"The loss, the time (at most {most} iterations), the errors or the angles miss what is "
        f"promised by {residual:.2g} of it."
    )
