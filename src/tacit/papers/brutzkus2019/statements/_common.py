"""What the theorems on XOR and XORD share.

A network sees of a point only which of the four patterns it contains (App. C.1). So a kind of point
is a row of four booleans: XOR has the four kinds of one pattern each, a diverse positive point has
all four patterns and a diverse negative one has p₂ and p₄.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from tacit.data import load
from tacit.data.xor import PATTERNS
from tacit.numerics.confidence import share_interval
from tacit.theorems.shared_hypotheses import (
    NEEDS_A_RUN,
    by_slack,
    first_layer,
    relu,
    two_layer,
    undecided,
    yes_or_no,
)
from tacit.theorems.theorem import Case, Moment, Network, Run
from tacit.values import Check, Setting

KEY = "brutzkus2019"
XOR_KINDS, XOR_LABELS = np.eye(4, dtype=bool), np.array([1, -1, 1, -1])
"""The points p₁, p₂, p₃, p₄ (the paper's x₁, x₄, x₃, x₂) and their labels."""
DIVERSE, DIVERSE_LABELS = np.array([[True] * 4, [False, True, False, True]]), np.array([1, -1])
"""x⁺ and x⁻ of §6."""
KINDS = np.array([kind for kind in product((False, True), repeat=4) if any(kind)])
"""All 15 kinds of points."""
KIND_LABELS = np.where(KINDS[:, [0, 2]].any(axis=1), 1, -1)
"""f* of each kind (3)."""
NEGLIGIBLE = 1e-10
"""The paper's constant c."""
ROUNDING = 1e-9


def half(case: Case) -> int:
    """k: the paper counts channels, 2k of them; that is our width."""
    return case.setting.width // 2


def c_eta(case: Case) -> float:
    """c_η = kη."""
    return half(case) * case.setting.lr


def outputs(network: Network, kinds: np.ndarray) -> np.ndarray:
    """N_W of each kind of point (1), (2)."""
    z = np.maximum(network.W @ PATTERNS.T, 0)
    return np.where(kinds[:, None, :], z, 0).max(axis=2) @ network.a


def strongest(W: np.ndarray) -> np.ndarray:
    """arg max_l w·p_l of each neuron, counted from 0 (§6)."""
    return (W @ PATTERNS.T).argmax(axis=1)


def start_of(case: Case, run: Run | None) -> Network | None:
    """The initial weights, if anybody knows them; None as well when they are not in the plane."""
    start = run.start if run is not None and run.moments else case.start
    return start if start is not None and start.W.shape[1] == 2 else None


def gaussian_start(k: int, sigma: float, seed: int) -> Network:
    W = sigma * np.random.default_rng(seed).standard_normal((2 * k, 2))
    return Network(W, np.repeat([1.0, -1.0], k))


def xor_case(k: int, c: float, seed: int | None = None) -> Case:
    """The setting of §3.1 with η = c/k and the largest initial weights that are allowed."""
    eta = c / k
    sigma = eta / (16 * math.sqrt(k))
    setting = Setting(
        train="first", width=2 * k, init=f"gaussian:{sigma!r}", loss="hinge", rule="gd", lr=eta
    )
    start = None if seed is None else gaussian_start(k, sigma, seed)
    return Case(load("xor"), setting, start)


def xord_case(
    k: int, c: float, confidence: float = 8.0, seed: int | None = None, data: str = "xord_decoy"
) -> Case:
    """The setting of §6.1, likewise."""
    eta = c / k
    sigma = eta / (16 * math.sqrt(k))
    setting = Setting(
        model="conv_max_pool",
        width=2 * k,
        init=f"gaussian:{sigma!r}",
        loss=f"hinge:{confidence!r}",
        rule="gd",
        lr=eta,
    )
    start = None if seed is None else gaussian_start(k, sigma, seed)
    return Case(load(data), setting, start)


def xor_network(case: Case, place: str = "§3.1") -> tuple[Check, ...]:
    """The points and the network (1)."""
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
        yes_or_no("hinge", loss == "hinge", place, f"the loss is {loss}"),
        gradient_descent(case, place),
        by_slack("small_step", 0.5 - c, place, f"c_η = kη is {c:.3g}; below 1/2", strict=True),
    )


def conv_network(case: Case, place: str = "§4") -> tuple[Check, ...]:
    """The network (2)."""
    name, _, patch = case.setting.model.partition(":")
    holds = name == "conv_max_pool" and patch in ("", "2")
    note = f"the network is {case.setting.model}; it needs conv_max_pool with patches of two"
    return yes_or_no("conv_max_pool", holds, place, note), relu(case, place)


def xord_training(
    case: Case, c_most: float, gamma_least: float, place: str = "§6.1"
) -> tuple[Check, ...]:
    """Diverse points, gradient descent on (4), c_η ≤ `c_most` and γ ≥ `gamma_least`."""
    c, gamma = c_eta(case), confidence(case)
    what = f"γ is {gamma:g}; at least {gamma_least:g}"
    if math.isnan(gamma):
        gamma_check = yes_or_no("hinge", False, "(4)", f"the loss is {case.setting.loss}")
    else:
        gamma_check = by_slack("hinge", gamma - gamma_least, "(4)", what)
    # η is c_η/k: what was multiplied and divided comes back with a rounding error
    room = c_most * (1 + ROUNDING) - c
    return (
        diverse(case),
        both_classes(case, place),
        gamma_check,
        gradient_descent(case, place),
        by_slack("small_step", room, place, f"c_η = kη is {c:.3g}; at most {c_most:.3g}"),
    )


def confidence(case: Case) -> float:
    """γ of (4); not a number for another loss."""
    name, _, number = case.setting.loss.partition(":")
    return float(number) if name == "hinge" and number else math.nan


def gradient_descent(case: Case, place: str) -> Check:
    """Of all points at once, with a constant step size."""
    setting = case.setting
    holds = setting.rule == "gd" and setting.step == "constant"
    return yes_or_no("gradient_descent", holds, place, f"{setting.rule}, {setting.step} steps")


def diverse(case: Case) -> Check:
    """Every point is diverse; what is not XORD data is not."""
    found = case.data_check("xord_diverse", "Definition 4.2")
    if found.holds is None:
        return yes_or_no(found.name, False, found.place, found.note)
    return found


def both_classes(case: Case, place: str) -> Check:
    fewest = min(int((case.data.y > 0).sum()), int((case.data.y < 0).sum()))
    return by_slack("both_classes", fewest - 1, place, f"{fewest} points in the smaller class")


def start_within_a_step(case: Case, run: Run | None, place: str) -> Check:
    """|w_0·p_i| ≤ √2η/4 for all neurons: what "with high probability" stands for.

    σ ≤ c_η/(16k^{3/2}) gives it with probability 1 − √(2k/π)e^{−8k} at least (Lemma B.2, E.3).
    """
    start, eta = start_of(case, run), case.setting.lr
    if start is None:
        return small_sigma(case, place)
    largest = float(np.abs(start.W @ PATTERNS.T).max()) / (math.sqrt(2) * eta / 4)
    note = f"the largest |w·p| is {largest:.3g} times √2η/4"
    return by_slack("start_within_a_step", 1 - largest, place, note)


def small_sigma(case: Case, place: str) -> Check:
    """σ_g ≤ c_η/(16k^{3/2}), with c_η = kη."""
    name, _, sigma = (case.setting.init or "gaussian:1e-3").partition(":")
    if name != "gaussian":
        return yes_or_no("start_within_a_step", False, place, f"the initialisation is {name}")
    ratio = float(sigma) * 16 * math.sqrt(half(case)) / case.setting.lr
    note = f"σ is {ratio:.3g} times c_η/(16k^{{3/2}})"
    return by_slack("start_within_a_step", 1 + ROUNDING - ratio, place, note)


def gaussian(case: Case, place: str) -> Check:
    """IID Gaussian weights of mean zero."""
    name = (case.setting.init or "gaussian").partition(":")[0]
    return yes_or_no("gaussian_start", name == "gaussian", place, f"the initialisation is {name}")


def explored(room: float | None, at_least: float, place: str) -> Check:
    """The initial directions are spread evenly; `room` is None where nobody knows them."""
    if room is None:
        note = f"{NEEDS_A_RUN} or weights, in the plane; its probability is at least {at_least:.5f}"
        return undecided("explored", place, note)
    return by_slack("explored", room, place, "in units of √k")


def angles(W: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """Between the rows of two matrices, in radians; a zero row is at π/2."""
    cross = W[:, 0] * towards[:, 1] - W[:, 1] * towards[:, 0]
    dot = (W * towards).sum(axis=1)
    zero = ~W.any(axis=1)
    return np.where(zero, np.pi / 2, np.arctan2(np.abs(cross), dot))


def wrong(network: Network, kinds: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Which kinds have not the sign of their label."""
    return labels * outputs(network, kinds) <= 0


def frequency(events: list[bool], bound: float) -> float:
    """How far the 99% interval of the frequency stays below the bound."""
    return max(0.0, bound - share_interval(sum(events), len(events))[1])


def frequency_words(events: list[bool], bound: float, what: str) -> str:
    low, high = share_interval(sum(events), len(events))
    return (
        f"{sum(events)} of {len(events)} runs {what}: a probability between {low:.4f} and "
        f"{high:.4f} (99%); the theorem says at least {bound:.4f}."
    )


def ensemble(networks: list[tuple[Network, Network]]) -> Run:
    """Runs of descent known by their starts and ends."""
    members = tuple(
        Run((Moment(0, 0.0, start), Moment(1, 0.0, end)), outcome="done") for start, end in networks
    )
    return Run((), outcome="done", members=members)


def _xor_points(case: Case, place: str) -> Check:
    """The four points with their labels, in any order."""
    X, y = case.data.X, case.data.y
    if X.shape != (4, 2) or not case.data.binary:
        return yes_or_no("xor_points", False, place, "not four labelled points in the plane")
    far = np.linalg.norm(X[None] - PATTERNS[:, None], axis=2)
    far = np.where(y == XOR_LABELS[:, None], far, np.inf).min(axis=1)
    largest = min(float(far.max()), 4.0)
    return Check("xor_points", largest == 0, -largest, place, "distance from XOR's four points")
