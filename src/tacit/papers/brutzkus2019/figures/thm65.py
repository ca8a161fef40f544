"""Theorem 6.5: how many samples small and wide networks need."""

import math
from dataclasses import dataclass

import numpy as np

from tacit.data.xord_kinds import LABELS, POINTS, kind_probabilities
from tacit.papers.brutzkus2019.drawing import curves
from tacit.papers.brutzkus2019.figures import PAPER
from tacit.papers.brutzkus2019.figures.intervals import share, shares
from tacit.papers.brutzkus2019.figures.plane_networks import loss_is_zero
from tacit.papers.brutzkus2019.figures.seeds import network_seeds
from tacit.papers.brutzkus2019.statements.samples import (
    BIG_FAILS,
    SMALL_FAILS,
    samples_bound,
    smallest_missed,
)
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Settings, Tell, ours, paper
from tacit.reproduction.claims import near, probability_at_least, true
from tacit.training import train_many
from tacit.values import Dataset, Setting


@dataclass(frozen=True)
class Thm65(Settings):
    p: tuple[float, ...] = paper((0.98, 0.92), "§6.3: p₊ = p₋ in the two examples")
    delta: tuple[float, ...] = paper((0.05, 0.16), "§6.3")
    epsilon: tuple[float, ...] = paper((0.005, 0.02), "§6.3: any ε below it")
    bound: tuple[int, ...] = paper((129, 17), "§6.3: m₂ is at least this")
    others: str = paper("one_missing", "§6.3: p* = min{(1−p₊)/4, (1−p₋)/4} needs it")
    large_k: int = paper(120, "§6.1: k ≥ 120")
    small_k: int = paper(2, "§6.2")
    c_eta: float = paper(1 / 41, "Theorem F.1: c_η ≤ 1/41")
    large_c_eta: float = paper(1 / 410, "§6.1: c_η ≤ 1/410")
    gamma: float = paper(8.0, "§6.1: γ ≥ 8")
    sizes: tuple[int, ...] = ours((2, 8, 16, 32, 64, 128, 256), "samples, half positive")
    d: int = ours(7, "any d from 4 on: with these others it does not matter")
    runs: int = ours(500, "of k = 2, each with a training set of its own")
    large_runs: int = ours(200, "of the large one, with two samples each")
    iterations: int = ours(110_000, "a little more than Theorem 6.3 promises the end after")


QUICK = {"sizes": (2, 16), "runs": 100, "large_runs": 10, "large_c_eta": 1 / 41}


@PAPER.artefact("thm65", "Theorem 6.5, §6.3", Thm65, QUICK)
def thm65(s: Thm65, tell: Tell) -> Exhibit:
    """How many samples small and wide networks need: Theorem 6.5 measured, in its two examples

    Each network has a training set of its own of m points, half of them positive. Drawn is the
    share of networks that fit it and have a test error of p* or more, which is more than every ε
    of the examples (99% intervals; the test error is computed exactly from the 15 kinds of points).
    While that share is above δ, the dotted line, m samples are not enough (footnote 9). The dashed
    line is what the proof gives for k = 2: all points are diverse and the decoy of Theorem 6.4
    works. The measured share falls more slowly, so small networks need more samples than the bound
    says; and most of the others do not fit their points.
    """
    figure, panels = new_figure(1, len(s.p), size=(6 * len(s.p), 4.4))
    claims: list[Claim] = []
    data: dict[str, np.ndarray] = {}
    for ax, p, delta, epsilon, bound in zip(
        panels[0], s.p, s.delta, s.epsilon, s.bound, strict=True
    ):
        star = smallest_missed(s.d, p, p, s.others)
        small = {m: _failures(s, p, star, s.small_k, m, s.runs, tell) for m in s.sizes}
        large = _failures(s, p, star, s.large_k, 2, s.large_runs, tell)
        fails, misses = (shares(one[i] for one in small.values()) for i in (0, 1))
        proof = SMALL_FAILS * p ** np.array(s.sizes)
        rows = {
            f"k = {s.small_k}: fit and err": fails,
            f"k = {s.small_k}: err or do not fit": misses,
        }
        wide = np.full((len(s.sizes), 3), math.nan)
        wide[s.sizes.index(2)] = share(int(large[1].sum()), len(large[1]))
        rows[f"k = {s.large_k}, two samples: err or do not fit"] = wide
        curves(ax, s.sizes, rows, f"p₊ = p₋ = {p:g}, p* = {star:g}", ("samples m", "share"))
        ax.plot(range(len(s.sizes)), proof, "--", c="0.4", lw=1, label="proof, k = 2")
        ax.axhline(delta, c="0.4", ls=":", label=f"δ = {delta:g}")
        ax.set_ylim(-0.02, 1.35)
        ax.legend(fontsize=8, loc="upper right")
        key = f"{round(100 * p)}"
        claims += [
            near(f"star_{key}", f"p₊ = p₋ = {p:g}: p*, which ε is below", star, epsilon, 1e-12),
            _wide_needs_two(key, p, delta, large[1]),
            _bound(key, p, delta, bound),
            _small_fails(key, s, p, bound, small),
            _not_enough(key, p, delta, bound, s.sizes, fails),
        ]
        data |= {f"fit_and_err_{key}": fails, f"miss_{key}": misses, f"proof_{key}": proof}
    return Exhibit(tuple(claims), figure, {**data, "m": np.array(s.sizes)})


def _wide_needs_two(key: str, p: float, delta: float, misses: np.ndarray) -> Claim:
    text = f"p₊ = p₋ = {p:g}: m₁ ≤ 2, as with two samples k = 120 fits and errs on nothing with "
    text += f"probability at least p₊p₋(1 − c − 16e⁻⁸) ≥ 1 − δ = {1 - delta:g}: share of networks"
    least = p * p * (1 - BIG_FAILS)
    return probability_at_least(f"m1_{key}", text, int((~misses).sum()), len(misses), least)


def _bound(key: str, p: float, delta: float, said: int) -> Claim:
    text = f"p₊ = p₋ = {p:g}, δ = {delta:g}: the bound on m₂, rounded down"
    return near(f"bound_{key}", text, math.floor(samples_bound(p, p, delta)), said, 0)


def _small_fails(
    key: str, s: Thm65, p: float, bound: int, small: dict[int, tuple[np.ndarray, np.ndarray]]
) -> Claim:
    """The size with the least room."""
    text = f"p₊ = p₋ = {p:g}: with m samples k = {s.small_k} fits them and has a test error of p* "
    text += "or more with probability at least (p₊p₋)^(m/2)(1−c)33/48; the m with the least room, "
    claims = [
        probability_at_least(
            f"small_{key}", f"{text}{m}", int(one[0].sum()), len(one[0]), SMALL_FAILS * p**m
        )
        for m, one in small.items()
        if m < bound
    ]
    return min(claims, key=lambda claim: (claim.holds, _room(claim)))


def _room(claim: Claim) -> float:
    assert claim.interval is not None and isinstance(claim.paper, str)
    return claim.interval[1] - float(claim.paper.split()[-1])


def _not_enough(
    key: str, p: float, delta: float, bound: int, sizes: tuple[int, ...], fails: np.ndarray
) -> Claim:
    """The fewest samples, of those tried, with which the share may be δ or less."""
    enough = [m for m, (_, low, _) in zip(sizes, fails, strict=True) if low <= delta]
    said = str(enough[0]) if enough else f"> {sizes[-1]}"
    text = (
        f"p₊ = p₋ = {p:g}: the fewest samples, of those tried, with which k = 2 may fit and have "
    )
    text += f"a test error of p* or more with probability δ = {delta:g} at most"
    tried = [m for m in enough if m < bound]
    return true(f"m2_{key}", text, not tried, said, f"≥ {bound} (Theorem 6.5)")


def _failures(
    s: Thm65, p: float, star: float, k: int, m: int, runs: int, tell: Tell
) -> tuple[np.ndarray, np.ndarray]:
    """Whether each network fits and errs on p* or more; and whether it errs so or does not fit."""
    tell(f"p₊ = p₋ = {p:g}, k = {k}, {m} samples: {runs} networks")
    chances = kind_probabilities(s.d, p, p, s.others)
    rng = np.random.default_rng([s.seed, k, m, round(1000 * p)])
    rows = np.hstack(
        [
            rng.choice(len(chances), (runs, m // 2), p=np.where(LABELS == y, chances, 0))
            for y in (1, -1)
        ]
    )
    c_eta = s.large_c_eta if k == s.large_k else s.c_eta
    setting = Setting(
        model="conv_max_pool",
        width=2 * k,
        init=f"gaussian:{c_eta / (16 * k**1.5)!r}",
        loss=f"hinge:{s.gamma!r}",
        lr=c_eta / k,
        stop=("loss:1e-300", "no_improvement:500"),
    )
    sets = [Dataset(POINTS[row], LABELS[row]) for row in rows]
    many = train_many(sets, setting, s.iterations, network_seeds(s, runs))
    error = (LABELS * many.outputs(POINTS) <= 0) @ chances / 2  # labels are equally likely
    fits, errs = loss_is_zero(many), error >= star * (1 - 1e-9)
    return fits & errs, errs | ~fits
