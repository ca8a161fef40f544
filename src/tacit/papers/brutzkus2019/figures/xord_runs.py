"""XORD with points that are not all diverse: what Figures 1 and 5 share."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.data.xord_kinds import LABELS, POINTS, kind_probabilities
from tacit.papers.brutzkus2019.figures.seeds import network_seeds
from tacit.reproduction.artefact import Settings, Tell, paper
from tacit.training import train_many
from tacit.values import Dataset, Setting

PAPER_FITS = {4: 62, 6: 79, 8: 94, 20: 100, 50: 100, 100: 100, 200: 100}
"""App. A: how many of 100 runs with so many channels ended with no training error."""
PAPER_RUNS = 100
EXACT = "the test error is computed exactly from the 15 kinds of points, not from a test sample"
QUICK_XORD = {"channels": (4, 8, 20), "runs": 120, "iterations": 3000}


@dataclass(frozen=True)
class Xord(Settings):
    """The experiment of App. A."""

    channels: tuple[int, ...] = paper(tuple(PAPER_FITS), "App. A")
    runs: int = paper(PAPER_RUNS, "App. A")
    n: int = paper(12, "App. A: 6 positive, 6 negative")
    p_plus: float = paper(0.5, "App. A")
    p_minus: float = paper(0.9, "App. A")
    sigma: float = paper(1e-5, "App. A")
    step: float = paper(0.04, "App. A: the learning rate is 0.04/c")
    patience: int = paper(20, "App. A")
    iterations: int = paper(30000, "App. A")


ZEROS = {"neither": "an output of 0 is an error", "negative": "an output of 0 is the label −1"}
"""What sign(0) may be; the paper does not say."""


class XordEnds(NamedTuple):
    """How runs on training sets of their own ended."""

    signs: np.ndarray
    """sign N of every kind of points, 0 where N is 0: runs × kinds."""
    seen: np.ndarray
    """Which kinds the training sets have."""
    p: np.ndarray
    """How likely each kind is, given its label."""

    def wrong(self, zero: str) -> np.ndarray:
        """Whether the network errs: runs × kinds."""
        return self.signs * LABELS <= 0 if zero == "neither" else (self.signs > 0) != (LABELS > 0)

    def fits(self, zero: str) -> np.ndarray:
        """Whether a run ended without a training error."""
        return ~(self.wrong(zero) & self.seen).any(axis=1)

    def test_error(self, zero: str) -> np.ndarray:
        """Labels are equally likely."""
        return self.wrong(zero) @ self.p / 2


def train_xord(
    s: Xord, c: int, gamma: float, d: int, others: str, runs: int, tell: Tell
) -> XordEnds:
    """App. A: each run has a new training set and new weights; the last iteration counts."""
    tell(f"{c} channels, γ = {gamma:g}, d = {d}, others {others}: {runs} runs")
    p = kind_probabilities(d, s.p_plus, s.p_minus, others)
    rng = np.random.default_rng([s.seed, c])
    halves = [rng.choice(len(p), (runs, s.n // 2), p=np.where(LABELS == y, p, 0)) for y in (1, -1)]
    rows = np.hstack(halves)
    setting = Setting(
        model="conv_max_pool",
        width=c,
        init=f"gaussian:{s.sigma!r}",
        loss=f"hinge:{gamma!r}",
        lr=s.step / c,
        stop=(f"no_improvement:{s.patience}",),
    )
    sets = [Dataset(POINTS[row], LABELS[row]) for row in rows]
    many = train_many(sets, setting, s.iterations, network_seeds(s, runs))
    signs = np.sign(many.outputs(POINTS))  # runs × kinds
    seen = np.zeros(signs.shape, dtype=bool)
    np.put_along_axis(seen, rows, True, axis=1)
    return XordEnds(signs, seen, p)
