"""The hypotheses that the theorems on XOR and XORD share."""

import math

import numpy as np

from tacit.data.xor import PATTERNS
from tacit.models import ConvMaxPool, model_text
from tacit.models.initialisations import Gaussian
from tacit.models.losses import Hinge
from tacit.papers.brutzkus2019.statements.cases import half_width
from tacit.papers.brutzkus2019.statements.kinds import XOR_LABELS
from tacit.theorems import Case, Observation
from tacit.theorems.hypotheses.checks import NEEDS_A_RUN, by_slack, undecided, yes_or_no
from tacit.theorems.hypotheses.setting import first_layer, relu, two_layer
from tacit.values import Check, Network

NEGLIGIBLE = 1e-10
"""The paper's constant c."""
RELATIVE_ROUNDING = 1e-9
"""Rounding errors of margins and of c_η, which are of the order of 1."""


def c_eta(case: Case) -> float:
    """The constant c_η = kη of the case."""
    return half_width(case) * case.setting.lr


def hinge_confidence(case: Case) -> float:
    """γ of (4); NaN for another loss."""
    loss = case.setting.loss
    confidence = loss.confidence if isinstance(loss, Hinge) else None
    return math.nan if confidence is None else confidence


def xor_network(case: Case, place: str = "§3.1") -> tuple[Check, ...]:
    """The four points and the network (1)."""
    v = case.setting.output_weight
    return (
        _xor_points(case, place),
        two_layer(case, place),
        relu(case, place),
        first_layer(case, place),
        Check("output_one", v == 1, -abs(v - 1), place, f"the output weights are ±{v:g}"),
    )


def xor_training(case: Case, place: str = "§3.1") -> tuple[Check, ...]:
    """Gradient descent on the sum of hinge losses with η = c_η/k, c_η < ½."""
    loss, c = case.setting.loss, c_eta(case)
    return (
        yes_or_no("hinge", loss == Hinge(), place, f"the loss is {loss}"),
        _gradient_descent(case, place),
        by_slack("small_step", 0.5 - c, place, f"c_η = kη is {c:.3g}; below 1/2", strict=True),
    )


def wide_for_xor(case: Case) -> Check:
    """Theorem 3.3 needs k > 16."""
    k = half_width(case)
    note = f"k, half of the width, is {k}; more than 16"
    return by_slack("wide", k - 16, "§3.2", note, strict=True)


def conv_network(case: Case, place: str = "§4") -> tuple[Check, ...]:
    """The network is that of (2)."""
    model = case.setting.model
    holds = isinstance(model, ConvMaxPool) and model.patch == 2
    note = f"the network is {model_text(model)}; it needs conv_max_pool with patches of two"
    return yes_or_no("conv_max_pool", holds, place, note), relu(case, place)


def xord_training(
    case: Case, c_most: float, gamma_least: float, place: str = "§6.1"
) -> tuple[Check, ...]:
    """Diverse points, gradient descent on (4), c_η ≤ `c_most` and γ ≥ `gamma_least`."""
    c, gamma = c_eta(case), hinge_confidence(case)
    if math.isnan(gamma):
        hinge = yes_or_no("hinge", False, "(4)", f"the loss is {case.setting.loss}")
    else:
        note = f"γ is {gamma:g}; at least {gamma_least:g}"
        hinge = by_slack("hinge", gamma - gamma_least, "(4)", note)
    # η is c_η/k: what was divided and multiplied comes back with a rounding error
    slack = c_most * (1 + RELATIVE_ROUNDING) - c
    return (
        _diverse(case),
        _both_classes(case, place),
        hinge,
        _gradient_descent(case, place),
        by_slack("small_step", slack, place, f"c_η = kη is {c:.3g}; at most {c_most:.3g}"),
    )


def wide_for_xord(case: Case) -> Check:
    """Theorem 6.3 needs k ≥ 120."""
    k = half_width(case)
    return by_slack("wide", k - 120, "§6.1", f"k, half of the width, is {k}; at least 120")


def start_within_a_step(case: Case, run: Observation | None, place: str) -> Check:
    """|w_0·p_i| ≤ √2η/4 for all neurons: what "with high probability" stands for.

    σ ≤ c_η/(16k^{3/2}) gives it with probability 1 − √(2k/π)e^{−8k} at least (Lemma B.2, E.3).
    """
    start, eta = planar_start(case, run), case.setting.lr
    if start is None:
        return small_sigma(case, place)
    largest = float(np.abs(start.W @ PATTERNS.T).max()) / (math.sqrt(2) * eta / 4)
    note = f"the largest |w·p| is {largest:.3g} times √2η/4"
    return by_slack("start_within_a_step", 1 - largest, place, note)


def planar_start(case: Case, run: Observation | None) -> Network | None:
    """The initial weights; None where they are unknown or do not lie in the plane."""
    start = run.start if run is not None and run.path else case.start
    return start if start is not None and start.W.shape[1] == 2 else None


def small_sigma(case: Case, place: str) -> Check:
    """σ_g ≤ c_η/(16k^{3/2}), with c_η = kη."""
    init = case.setting.initialisation
    if not isinstance(init, Gaussian):
        return yes_or_no("start_within_a_step", False, place, f"the initialisation is {init}")
    ratio = init.sigma * 16 * math.sqrt(half_width(case)) / case.setting.lr
    note = f"σ is {ratio:.3g} times c_η/(16k^{{3/2}})"
    return by_slack("start_within_a_step", 1 + RELATIVE_ROUNDING - ratio, place, note)


def gaussian_start(case: Case, place: str) -> Check:
    """IID Gaussian weights of mean zero."""
    init = case.setting.initialisation
    holds = isinstance(init, Gaussian)
    return yes_or_no("gaussian_start", holds, place, f"the initialisation is {init}")


def explored(slack: float | None, probability: float, place: str) -> Check:
    """The initial directions are spread evenly; `slack` is None where they are unknown."""
    if slack is None:
        note = (
            f"{NEEDS_A_RUN} or weights, in the plane; its probability is at least {probability:.5f}"
        )
        return undecided("explored", place, note)
    return by_slack("explored", slack, place, "in units of √k")


def _gradient_descent(case: Case, place: str) -> Check:
    """Gradient descent on all points at once, with a constant step size."""
    setting = case.setting
    holds = setting.rule == "gd" and setting.step == "constant"
    return yes_or_no("gradient_descent", holds, place, f"{setting.rule}, {setting.step} steps")


def _diverse(case: Case) -> Check:
    """Every point is diverse; this fails, too, for what is not XORD data."""
    check = case.data_check("xord_diverse", "Definition 4.2")
    if check.holds is None:
        return yes_or_no(check.name, False, check.place, check.note)
    return check


def _both_classes(case: Case, place: str) -> Check:
    fewest = min(int((case.data.y > 0).sum()), int((case.data.y < 0).sum()))
    return by_slack("both_classes", fewest - 1, place, f"{fewest} points in the smaller class")


def _xor_points(case: Case, place: str) -> Check:
    """The four points with their labels, in any order."""
    X, y = case.data.X, case.data.y
    if X.shape != (4, 2) or not case.data.binary:
        return yes_or_no("xor_points", False, place, "not four labelled points in the plane")
    far = np.linalg.norm(X[None] - PATTERNS[:, None], axis=2)
    far = np.where(y == XOR_LABELS[:, None], far, np.inf).min(axis=1)
    largest = min(float(far.max()), 4.0)
    return Check("xor_points", largest == 0, -largest, place, "distance from XOR's four points")
