"""Neurons gather around the patterns they begin near: Lemma 3.2 and Lemma 6.2.

With high probability all initial weights are small (|w_0·p| ≤ √2η/4). From there on the lemmas are
certain, so that is a hypothesis here and every single run can refute them.
"""

import math
from dataclasses import replace
from typing import final

import numpy as np

from tacit.data.xor import PATTERNS
from tacit.papers.brutzkus2019.statements.cases import even_start, half_width, xor_case, xord_case
from tacit.papers.brutzkus2019.statements.descent import descend
from tacit.papers.brutzkus2019.statements.hypotheses import (
    conv_network,
    hinge_confidence,
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
    in_one,
    nearest_patterns,
    one_is_nearest,
    outputs_by_kind,
    own_patterns,
)
from tacit.theorems import Case, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.errata import Erratum, Evidence
from tacit.values import Check, Network

STEPS = 5
"""Iterations of the runs made by hand."""
TOLERANCE = 1e-6
"""Counted in steps of η, which are whole numbers: 10⁵ of them round to errors of 10⁻⁸."""


def off(
    run: Observation, neurons: np.ndarray, patterns: np.ndarray, counts: np.ndarray, eta: float
) -> float:
    """How far w_t = w_0 + a_i(t)η p_i + α_t p, |v_t·p| < 2η is from true, p orthogonal to p_i.

    `counts` is a_i(t), moments × neurons; a neuron j belongs to the pattern `patterns[j]`.
    """
    W = np.array([moment.network.W for moment in run.path])[:, neurons]
    own, other = PATTERNS[patterns], PATTERNS[(patterns + 1) % 4]
    steps = ((W - W[0]) * own).sum(axis=2) / (2 * eta)  # ‖p_i‖² = 2
    aside = np.abs((W * other).sum(axis=2)) / (2 * eta)
    return float(max(np.abs(steps - counts).max(), aside.max() - 1, 0.0))


def every_iteration(run: Observation) -> bool:
    """Whether the run holds the networks of all iterations 0, 1, 2, …"""
    return [moment.time for moment in run.path] == list(range(len(run.path)))


def count_before(active: np.ndarray) -> np.ndarray:
    """The number of t′ < t with `active`, for each t."""
    return np.cumsum(active, axis=0) - active


def by_hand(networks: list[Network]) -> Observation:
    """The networks as a run of descent; these moments say nothing of the loss."""
    path = tuple(PathPoint(t, 0.0, network) for t, network in enumerate(networks))
    return Observation(path, outcome="done")


def _printed_count_xor() -> Evidence:
    case = xor_case(25, 0.1, seed=0)
    return _at_the_start(case, XOR_KINDS, XOR_LABELS, np.ones(4))


def _printed_count_xord() -> Evidence:
    case = xord_case(120, 1 / 410, seed=0)
    return _at_the_start(case, DIVERSE, DIVERSE_LABELS, np.array([8.0, 1.0]))


def _at_the_start(case: Case, kinds: np.ndarray, labels: np.ndarray, goals: np.ndarray) -> Evidence:
    """At t = 0 the printed count is 1, and v_0 = w_0 − ηp_i points away from p_i."""
    start, eta = case.given_start, case.setting.lr
    active = labels * outputs_by_kind(start, kinds) < goals
    mine = start.a > 0
    along = np.abs(start.W[mine] @ PATTERNS[0])  # v_0·p_i with a(0) = 0, as w_0·p_i > 0
    printed = along - 2 * eta * active[0]
    words = (
        f"At t = 0, v·p_i lies between {along.min() / eta:.2g}η and {along.max() / eta:.2g}η when "
        f"t′ < t is counted, and between {printed.min() / eta:.3g}η and {printed.max() / eta:.3g}η "
        "when t′ ≤ t is; the lemma says that it is positive."
    )
    return Evidence("corrected" if along.min() > 0 > printed.max() else "printed", words)


def _sign_of_the_negative_point() -> Evidence:
    """Where −1 ≥ N(x⁻), the gradient of (4) is zero; (7) as printed would go on."""
    case = xord_case(120, 1 / 410)
    start = even_start(case)
    W = start.W.copy()
    W[start.a < 0] = 0.02 * PATTERNS[1]
    network = Network(W, start.a)
    goals = np.array([8.0, 1.0])
    at = float(outputs_by_kind(network, DIVERSE)[1])
    only_negative = DIVERSE[1:], DIVERSE_LABELS[1:], goals[1:]
    moved = len(descend(network, *only_negative, case.setting.lr, 1)) - 1
    words = (
        f"At N(x⁻) = {at:.2f} the loss max(1 + N(x⁻), 0) is {max(1 + at, 0):g} and descent makes "
        f"{moved} steps; the printed indicator of N(x⁻) < 1 is {int(at < 1)}."
    )
    return Evidence("corrected" if at <= -1 and moved == 0 else "printed", words)


@final
class ClusteringXOR(Theorem):
    """Lemma 3.2 (and B.3). Let i ∈ {1, 3}. For all t ≥ 0 and j ∈ W_0⁺(i)

        w_t = a_i(t)η x_i + v_t,   v_t·x_i > 0,   |v_t·x₂| < 2η,

    where a_i(t) is the number of iterations t′ < t with y_i N(x_i) < 1; and likewise u with
    i ∈ {2, 4}. In fact w_t = w_0 + a_i(t)η x_i + α_t x₂ with α_t ∈ {0, η, −η}: so v_t·x_i = w_0·x_i
    exactly, and that is what the residual looks at. Probability: 1 − √(2k/π)e^{−8k}, that of
    `start_within_a_step`.
    """

    id = "brutzkus2019:lemma3.2"
    source = Source("brutzkus2019", "Lemma 3.2")
    summary = "On XOR every neuron moves in steps along the point it begins near, and hardly aside."
    needs = "descent"
    tolerance = TOLERANCE
    invariances = frozenset({"order"})
    errata = (
        Erratum(
            "a_i(t) is the number of iterations 0 ≤ t′ ≤ t such that y_i N(x_i) < 1.",
            "a_i(t) is the number of iterations 0 ≤ t′ < t such that y_i N(x_i) < 1.",
            _printed_count_xor,
        ),
    )

    def example(self) -> Case:
        return xor_case(25, 0.02, seed=0)

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        start = Network(30 * case.given_start.W, case.given_start.a)
        return replace(case, start=start, _properties={}), "start_within_a_step"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            *xor_network(case),
            *xor_training(case),
            wide_for_xor(case),
            start_within_a_step(case, run, "Lemma B.2"),
        )

    def predict(self, case: Case) -> Prediction:
        k, eta = half_width(case), case.setting.lr
        rest = math.sqrt(2 * k / math.pi) * math.exp(-8 * k)
        words = (
            f"Each neuron of positive output moves by η = {eta:.3g} times the one of (1, 1) and "
            "(−1, −1) it begins near whenever that point has a margin below 1, and never strays "
            "further than 2η aside; those of negative output do so with (1, −1) and (−1, 1)."
        )
        values = {"step": eta, "aside": 2 * eta, "failure_probability": rest}
        return Prediction(words, values, four_directions())

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        assert run is not None
        if not every_iteration(run):
            return None
        networks = [moment.network for moment in run.path]
        q = np.array([XOR_LABELS * outputs_by_kind(net, XOR_KINDS) for net in networks])
        counts = count_before(q < 1)
        mine = np.flatnonzero(in_one(run.start))
        if len(mine) == 0:
            return None
        patterns = own_patterns(run.start)[mine]
        return off(run, mine, patterns, counts[:, patterns], prediction.values["step"])

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        """While all margins are below 1: w_0 + tηx_i, and −ηx_l more at odd t."""
        start, eta = case.start or even_start(case), case.setting.lr
        own = own_patterns(start)
        aside = np.where((start.W * PATTERNS[(own + 1) % 4]).sum(axis=1) > 0, own + 1, own + 3) % 4
        return by_hand(
            [
                Network(start.W + eta * (t * PATTERNS[own] - t % 2 * PATTERNS[aside]), start.a)
                for t in range(STEPS)
            ]
        )

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        assert run is not None
        return _words(residual, len(run.path), len(run.start.a))


@final
class ClusteringXORD(Theorem):
    """Lemma 6.2 (and E.5). Let i ∈ {1, 3}. For all t ≥ 0 and j ∈ W_0⁺(i)

        w_t = a⁺(t)η p_i + v_t,   v_t·p_i > 0,   |v_t·p₂| < 2η,

    where a⁺(t) is the number of iterations t′ < t with N(x⁺) < γ. In fact
    w_t = w_0 + a⁺(t)η p_i + α_t p₂ with |α_t| ≤ η, and W_t⁺(i) = W_0⁺(i); the residual looks at
    that. Probability: 1 − √(2k/π)e^{−8k}, that of `start_within_a_step`.
    """

    id = "brutzkus2019:lemma6.2"
    source = Source("brutzkus2019", "Lemma 6.2")
    summary = (
        "On XORD every filter that begins near (1, 1) or (−1, −1) moves in steps along "
        "that pattern."
    )
    needs = "descent"
    tolerance = TOLERANCE
    invariances = frozenset({"order"})
    errata = (
        Erratum(
            "a⁺(t) is the number of iterations 0 ≤ t′ ≤ t such that N(x⁺) < γ.",
            "a⁺(t) is the number of iterations 0 ≤ t′ < t such that N(x⁺) < γ.",
            _printed_count_xord,
        ),
        Erratum(
            "(7), (8): the negative point moves the filters while N(x⁻) < 1.",
            "(7), (8): the negative point moves the filters while −N(x⁻) < 1.",
            _sign_of_the_negative_point,
        ),
    )

    def example(self) -> Case:
        return xord_case(120, 1 / 410, seed=0)

    def counterexample(self) -> tuple[Case, str]:
        return xord_case(120, 1 / 410, seed=0, data="xord_appD"), "xord_diverse"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            *conv_network(case),
            *xord_training(case, 1 / 410, 8),
            wide_for_xord(case),
            start_within_a_step(case, run, "Lemma E.3"),
        )

    def predict(self, case: Case) -> Prediction:
        k, eta, gamma = half_width(case), case.setting.lr, hinge_confidence(case)
        rest = math.sqrt(2 * k / math.pi) * math.exp(-8 * k)
        words = (
            f"Each filter of positive output that begins near (1, 1) or (−1, −1) moves by "
            f"η = {eta:.3g} times that pattern whenever N(x⁺) < {gamma:g}, and never strays "
            "further than 2η aside."
        )
        values = {"step": eta, "aside": 2 * eta, "confidence": gamma, "failure_probability": rest}
        return Prediction(words, values, four_directions()[:2])

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        assert run is not None
        if not every_iteration(run):
            return None
        high = [outputs_by_kind(moment.network, DIVERSE[:1])[0] for moment in run.path]
        counts = count_before(np.array(high) < prediction.values["confidence"])
        patterns = nearest_patterns(run.start.W)
        sure = one_is_nearest(run.start.W, prediction.values["step"])
        mine = np.flatnonzero((run.start.a > 0) & (patterns % 2 == 0) & sure)
        if len(mine) == 0:
            return None
        return off(run, mine, patterns[mine], counts[:, None], prediction.values["step"])

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        """While N(x⁺) < γ and −N(x⁻) < 1, as in the proof of Lemma E.16."""
        start, eta = case.start or even_start(case), case.setting.lr
        own = nearest_patterns(start.W)
        aside = np.where(start.W @ PATTERNS[1] > 0, 1, 3)
        moves = own % 2 == 0  # the others stay

        def after(t: int) -> Network:
            w = t * PATTERNS[own] - t % 2 * PATTERNS[aside]
            u = min(t, 1) * (PATTERNS[aside] - PATTERNS[own])
            step = np.where(start.a[:, None] > 0, w, u) * moves[:, None]
            return Network(start.W + eta * step, start.a)

        return by_hand([after(t) for t in range(STEPS)])

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        assert run is not None
        mine = int(((run.start.a > 0) & (nearest_patterns(run.start.W) % 2 == 0)).sum())
        return _words(residual, len(run.path), mine)


def four_directions() -> tuple[tuple[int, np.ndarray], ...]:
    """p₁ and p₃ for positive output, p₂ and p₄ for negative."""
    unit = PATTERNS / math.sqrt(2)
    return (1, unit[0]), (1, unit[2]), (-1, unit[1]), (-1, unit[3])


def _words(residual: float, moments: int, neurons: int) -> str:
    return (
        f"Over {moments - 1} iterations the {neurons} neurons it speaks of are at most "
        f"{residual:.1e} steps away from where it puts them."
    )
