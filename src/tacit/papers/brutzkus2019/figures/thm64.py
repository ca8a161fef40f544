"""Theorems 6.3 and 6.4: how likely gradient descent learns f* from diverse points alone."""

from dataclasses import dataclass

import numpy as np

from tacit.data import load
from tacit.papers.brutzkus2019.drawing import curves, histograms
from tacit.papers.brutzkus2019.figures import PAPER
from tacit.papers.brutzkus2019.figures.intervals import shares
from tacit.papers.brutzkus2019.figures.plane_networks import (
    DecoyEnds,
    small_is_decoyed,
    train_decoy,
    turned_from_positive,
    widest_angle,
)
from tacit.papers.brutzkus2019.figures.seeds import network_seeds
from tacit.papers.brutzkus2019.statements.samples import BIG_FAILS, SMALL_FAILS
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Settings, Tell, ours, paper
from tacit.reproduction.claims import STATED, at_most, probability_at_least


@dataclass(frozen=True)
class Thm64(Settings):
    ks: tuple[int, ...] = ours((3, 4, 6, 8, 12, 20, 50), "besides 2 and the large one")
    large_k: int = paper(120, "§6.1: k ≥ 120")
    c_eta: float = paper(1 / 41, "Theorem F.1: c_η ≤ 1/41")
    large_c_eta: float = paper(1 / 410, "§6.1: c_η ≤ 1/410")
    gamma: float = paper(8.0, "§6.1: γ ≥ 8")
    iterations: int = ours(105000, "a little more than Theorem 6.3 promises the end after")
    runs: int = ours(10000, "of the smallest k, a tenth of the others")
    large_runs: int = ours(500, "of the large one")


QUICK = {"runs": 400, "ks": (4, 12), "large_runs": 20, "large_c_eta": 1 / 41}


@PAPER.artefact("thm64", "Theorem 6.3 and 6.4, §6", Thm64, QUICK)
def thm64(s: Thm64, tell: Tell) -> Exhibit:
    """How likely gradient descent learns f* from diverse points alone, by the number of filters

    On the left, the shares of networks that fit diverse points, that learn f*, and that fit but
    have not learned f* (99% intervals), over k. On the right, the angles between the filters of
    the large network that began near a positive pattern and that pattern, and the bound of
    Theorem 6.3.
    """
    decoy = load("xord_decoy")

    def train(k: int, c_eta: float, runs: int) -> DecoyEnds:
        tell(f"k = {k}: {runs} networks")
        return train_decoy(decoy, k, c_eta, s.gamma, s.iterations, network_seeds(s, runs))

    ends = {k: train(k, s.c_eta, s.runs if k == 2 else max(s.runs // 10, 2)) for k in (2, *s.ks)}
    large = train(s.large_k, s.large_c_eta, s.large_runs)
    turned = turned_from_positive(large.many)
    widest = widest_angle(s.gamma - 1, s.large_c_eta)
    rows = {
        "fit the diverse points": shares(one.fits for one in ends.values()),
        "fit and learn f*": shares(one.learned_all for one in ends.values()),
        "fit and miss f*": shares(one.decoyed for one in ends.values()),
    }
    figure, ((left, right),) = new_figure(1, 2, size=(12, 4.4))
    curves(left, list(ends), rows, "networks on a decoy set", ("k", "share"))
    left.axhline(SMALL_FAILS, c="0.5", ls=":", label="33/48, Theorem 6.4 for k = 2")
    left.set_ylim(-0.02, 1.35)
    left.legend(fontsize=8, loc="upper center", ncols=2)
    title = f"filters that began near a positive pattern, k = {s.large_k}"
    names, marks = ("angle to that pattern at the end (°)", "share of filters"), {"bound": widest}
    histograms(right, {"filters": turned}, marks, title, names, logarithmic=True)

    stray = int((ends[2].decoyed & ~ends[2].wrong_on_one).sum())
    text = "networks of k = 2 that fit and miss f*, yet err on all points of none of A₁, …, A₄"
    good, wide = int(large.learned_all.sum()), f"networks of k = {s.large_k} fit and learn f*"
    late = f"most iterations that k = {s.large_k} needs, against T of Theorem 6.3"
    taken, c = large.many.epochs, s.large_c_eta
    due = 28 * (s.gamma + 1 + 8 * c) / c
    angle = "largest angle in degrees of a filter that began near a positive pattern from it"
    claims = (
        small_is_decoyed(2, ends[2]),
        at_most("kinds", text, stray, 0, "on one of them"),
        probability_at_least("large", wide, good, s.large_runs, 1 - BIG_FAILS),
        at_most("time", late, taken.max(), due, STATED),
        at_most("clustered", angle, turned.max(), widest, STATED),
    )
    data = {name.replace(" ", "_").replace("*", ""): row for name, row in rows.items()}
    data |= {"k": np.array([*ends]), "angles": turned, "iterations": taken}
    return Exhibit(claims, figure, data)
