"""Networks whose filters lie in the plane: how they are trained, and what became of them."""

import math
from typing import NamedTuple

import numpy as np

from tacit.data import load
from tacit.data.xor import PATTERNS, POSITIVE
from tacit.data.xord_kinds import DECOYS, LABELS, POINTS
from tacit.papers.brutzkus2019.drawing import filters
from tacit.papers.brutzkus2019.statements.kinds import angles
from tacit.papers.brutzkus2019.statements.samples import SMALL_FAILS
from tacit.reproduction.artefact import Claim
from tacit.reproduction.claims import probability_at_least
from tacit.training import Many, train_many
from tacit.training.stopping import OUTCOMES, REACHED_LOSS
from tacit.values import Dataset, Setting


class DecoyEnds(NamedTuple):
    """Networks trained on a decoy set, and how each of them ended."""

    many: Many
    fits: np.ndarray
    """The loss (4) is zero."""
    learned: np.ndarray
    """sign N = f* on all points there are."""
    wrong_on_one: np.ndarray
    """The network errs on all points of one of A₁, …, A₄ (§6)."""

    @property
    def decoyed(self) -> np.ndarray:
        """The network fits its points and has not learned f*."""
        return self.fits & ~self.learned

    @property
    def learned_all(self) -> np.ndarray:
        """The network fits its points and has learned f*."""
        return self.fits & self.learned


def train_xor(
    k: int, c_eta: float, iterations: int, seeds: list[int], sigma_share: float = 1.0
) -> Many:
    """§3.1: networks (1) on the four points."""
    setting = Setting(train="first", width=2 * k, loss="hinge", lr=c_eta / k)
    return _train(setting, load("xor"), iterations, seeds, sigma_share)


def train_decoy(
    data: Dataset,
    k: int,
    c_eta: float,
    gamma: float,
    iterations: int,
    seeds: list[int],
    sigma_share: float = 1.0,
) -> DecoyEnds:
    """§4: networks (2) with the loss (4)."""
    loss = f"hinge:{gamma!r}"
    setting = Setting(model="conv_max_pool", width=2 * k, loss=loss, lr=c_eta / k)
    many = _train(setting, data, iterations, seeds, sigma_share)
    right = LABELS * many.outputs(POINTS) > 0  # runs × kinds
    return DecoyEnds(many, loss_is_zero(many), right.all(axis=1), (~right & DECOYS).any(axis=1))


def _train(
    setting: Setting, data: Dataset, iterations: int, seeds: list[int], sigma_share: float
) -> Many:
    """Train from σ = c_η/(16k^{3/2}) until the loss is zero or has not fallen for long.

    The weights at the start and at the end are kept.
    """
    k = setting.width / 2
    sigma = sigma_share * setting.lr / (16 * math.sqrt(k))
    stop = ("loss:1e-300", "no_improvement:500")
    setting = setting.replace(init=f"gaussian:{sigma!r}", stop=stop)
    return train_many(data, setting, iterations, seeds, at=(0,))


def loss_is_zero(many: Many) -> np.ndarray:
    """Whether the loss of each network became zero."""
    return np.array([outcome == OUTCOMES[REACHED_LOSS] for outcome in many.outcomes])


def draw_before_and_after(panels: np.ndarray, letters: str, many: Many, i: int, end: str) -> None:
    """Two panels: the filters of one network at t = 0 and at the end."""
    moments = ("t = 0", f"t = {many.epochs[i]}: {end}")
    for ax, letter, t, when in zip(panels, letters, (0, -1), moments, strict=True):
        weights = many.member(i, t)
        title = f"({letter}) k = {len(weights['a']) // 2}, {when}"
        filters(ax, weights["W"], weights["a"], PATTERNS, title)


def small_xor_fails(k: int, errs: np.ndarray) -> Claim:
    """Theorem 3.4; its 0.75 is 1 − (1 − 2^(1−k))² for k = 2."""
    text = f"networks of k = {k} end with an error on one of the four points"
    bound = 1 - (1 - 2.0 ** (1 - k)) ** 2
    return probability_at_least("probability", text, int(errs.sum()), len(errs), bound)


def small_is_decoyed(k: int, ends: DecoyEnds) -> Claim:
    """The claim that a small network is misled by the decoy (Theorem 6.4)."""
    text = f"networks of k = {k} fit all points and have not learned f* (Theorem 6.4)"
    fails, runs = int(ends.decoyed.sum()), len(ends.fits)
    return probability_at_least("probability", text, fails, runs, SMALL_FAILS)


def widest_angle(surplus: float, c_eta: float) -> float:
    """arccos((s−2c)/(s+c)) in degrees, as in Theorem 3.3 (s = 1) and Theorem 6.3 (s = γ − 1)."""
    cosine = (surplus - 2 * c_eta) / (surplus + c_eta)
    return math.degrees(math.acos(max(cosine, -1.0)))


def turned_from_own_point(many: Many) -> np.ndarray:
    """XOR: degrees at the end from xᵢ with j ∈ W₀⁺(i), i ∈ {1, 3} (U₀⁺(i), i ∈ {2, 4})."""
    start, end = many.weights["W"][[0, -1]]
    axis = PATTERNS[np.where(many.weights["a"][0] > 0, 0, 1)]
    return np.degrees(angles(end, np.sign((start * axis).sum(axis=-1, keepdims=True)) * axis))


def turned_from_positive(many: Many) -> np.ndarray:
    """XORD: degrees at the end of all w with j ∈ W₀⁺(i), i ∈ {1, 3}, from pᵢ."""
    start, end = many.weights["W"][[0, -1]]
    nearest = (start @ PATTERNS.T).argmax(axis=-1)
    chosen = (many.weights["a"][0] > 0) & np.isin(nearest, POSITIVE)
    return np.degrees(angles(end[chosen], PATTERNS[nearest[chosen]]))
