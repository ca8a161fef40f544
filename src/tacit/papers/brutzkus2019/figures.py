"""brutzkus2019, Why do larger models generalize better? Its figures and its two probabilities.

The paper counts channels, c = 2k: k filters w with output weight +1 and k filters u with −1. A
network (2) sees of a point only which of the four patterns it contains (App. C.1), so there are 15
kinds of points. With one point of each kind the test error of a network is computed exactly, for
any d and any distribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import stats

from tacit.data import load
from tacit.data.clusters import cluster_centres
from tacit.data.xor import PATTERNS, POSITIVE
from tacit.data.xord_kinds import DECOYS, LABELS, OTHERS, POINTS, kind_probabilities
from tacit.models import parse_model
from tacit.papers.brutzkus2019 import drawing as draw
from tacit.papers.brutzkus2019.statements.convergence import time_bound
from tacit.papers.brutzkus2019.statements.samples import BIG_FAILS, SMALL_FAILS
from tacit.papers.brutzkus2019.statements.small import unexplored
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Paper, Result, Settings, Tell, ours, paper
from tacit.reproduction.claims import (
    at_least,
    at_most,
    mean_interval,
    probability_at_least,
    share_interval,
    true,
)
from tacit.theorems.theorem import Network
from tacit.training import Many, train_many
from tacit.training.initialisations import initial_weights
from tacit.training.stopping import OUTCOMES, REACHED_LOSS
from tacit.values import BadInput, Dataset, Setting

PAPER = Paper("brutzkus2019")

PAPER_FITS = {4: 62, 6: 79, 8: 94, 20: 100, 50: 100, 100: 100, 200: 100}
"""App. A: of 100 runs with so many channels, those that ended with no training error."""
PAPER_RUNS = 100


@dataclass(frozen=True)
class Xord(Settings):
    """App. A: what figures 1 and 5 share."""

    channels: tuple[int, ...] = paper(tuple(PAPER_FITS), "App. A")
    runs: int = paper(PAPER_RUNS, "App. A")
    n: int = paper(12, "App. A: 6 positive, 6 negative")
    p_plus: float = paper(0.5, "App. A")
    p_minus: float = paper(0.9, "App. A")
    sigma: float = paper(1e-5, "App. A")
    step: float = paper(0.04, "App. A: the learning rate is 0.04/c")
    patience: int = paper(20, "App. A")
    iterations: int = paper(30000, "App. A")
    d: int = ours(7, "any d from 4 on; Figure 1 shows what others change")
    others: str = ours("uniform", "of points that are not diverse; Figure 1 shows other choices")


@dataclass(frozen=True)
class Fig1(Xord):
    gamma: float = ours(5.0, "App. A leaves it open; Figure 5 recommends 5 over 1")
    spread_channels: tuple[int, ...] = ours((4, 6, 8, 20), "of the right panel, where runs fail")
    spread_runs: int = ours(1000, "of the right panel")
    spread_d: tuple[int, ...] = ours((4, 20), "d of the right panel")
    spread_gamma: tuple[float, ...] = ours((1.0,), "γ of the right panel")
    spread_others: tuple[str, ...] = ours(
        tuple(OTHERS)[1:], "of the right panel; both_positive was added as the rest miss 94 of 100"
    )


@dataclass(frozen=True)
class Fig5(Xord):
    gammas: tuple[float, ...] = paper((1.0, 5.0), "App. C.2")


@dataclass(frozen=True)
class Fig2(Settings):
    k: int = paper(50, "§3.4")
    small_k: int = paper(2, "§3.4")
    c_eta: float = ours(0.1, "η = c_η/k; §3.1 asks for c_η < ½")
    sigma_share: float = ours(1.0, "§3.1: σ = c_η/(16k^{3/2}) at most; share of it")
    iterations: int = ours(2000, "many times what is needed")
    runs: int = ours(2000, "small networks, for the probability")


@dataclass(frozen=True)
class Decoy(Settings):
    """Figure 3, and most of Figure 6."""

    k: int = paper(100, "§5")
    small_k: int = paper(2, "§5")
    c_eta: float = ours(1 / 410, "η = c_η/k; Theorem 6.3 asks for c_η ≤ 1/410")
    gamma: float = ours(8.0, "Theorem 6.3 asks for γ ≥ 8")
    sigma_share: float = ours(1.0, "§6.1: σ = c_η/(16k^{3/2}) at most; share of it")
    iterations: int = ours(100000, "Theorem 6.3 promises the end after that many")
    runs: int = ours(1000, "small networks, for the probability")
    large_runs: int = ours(100, "large networks, for the probability")


@dataclass(frozen=True)
class Fig6(Decoy):
    gamma: float = ours(2.5, "App. D gives none; chosen as the best of those in panel (e)")
    gammas: tuple[float, ...] = ours((1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 8.0), "for panel (e)")


@dataclass(frozen=True)
class Thm34(Settings):
    large_k: int = paper(50, "§3.4")
    ks: tuple[int, ...] = ours((1, 3, 4, 6, 8, 12), "besides 2 and the large one")
    c_eta: float = ours(0.01, "η = c_η/k; §3.1 asks for c_η < ½, and small ones take long")
    iterations: int = ours(2000, "many times what is needed")
    runs: int = ours(10000, "of every k, for the probabilities")


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


@dataclass(frozen=True)
class Fig4(Settings):
    filter: int = paper(3, "§7")
    n: int = paper(6000, "§7: images of panel (a)")
    sizes: tuple[int, ...] = ours((1000, 2000, 4000, 6000), "§7: “various training set sizes”")
    channels: int = paper(120, "§7")
    centres: int = paper(4, "§7; also the channels of the small network")
    lr: float = paper(0.01, "App. H")
    sigma: float = paper(0.05, "App. H: truncated normal")
    batches: int = paper(10, "App. H: a batch is one tenth of the training set")
    rates: tuple[float, ...] = paper((0.01, 0.01, 0.05, 0.05, 0.1, 0.1), "App. H: the small one")
    sigmas: tuple[float, ...] = paper((0.01, 0.05, 0.05, 0.01, 0.5, 0.1), "App. H, in that order")
    runs: int = paper(20, "App. H: of every small network")
    epochs: int = ours(100, "the training error is then zero or nearly so")
    test: int = ours(10000, "all test images")
    stand_in: bool = ours(False, "small digits of scikit-learn where MNIST is missing (--quick)")


@dataclass(frozen=True)
class Fig7(Fig4):
    filter: int = paper(4, "App. H")
    n: int = paper(2000, "App. H")
    sizes: tuple[int, ...] = ours((500, 1000, 2000), "App. H names only 2000")


@dataclass(frozen=True)
class Fig8(Fig7):
    filter: int = paper(7, "App. H")


EXACT = "the test error is computed exactly from the 15 kinds of points, not from a test sample"
QUICK_XORD = {"channels": (4, 8, 20), "runs": 120, "iterations": 3000}
QUICK_SPREAD = {"spread_runs": 60, "spread_channels": (8,), "spread_d": (), "spread_gamma": ()}


@PAPER.artefact("fig1", "Figure 1, App. A", Fig1, {**QUICK_XORD, **QUICK_SPREAD})
def fig1(s: Fig1, tell: Tell) -> Result:
    """More channels generalise better on XORD

    On the left, the average test error over the number of channels, of all runs and of those that
    ended without a training error. It falls, and it falls for the second curve too: small networks
    can fit the training points, but with worse solutions. In the middle, the share of runs without
    a training error, beside the paper's counts (62, 79, 94, 100, … of 100). Bars are 99%
    intervals.

    The paper does not state how points that are not diverse are distributed, nor d and γ. On the
    right is what other choices of these change: `uniform` draws from all points that are not
    diverse, `kinds` gives every set of patterns the same probability, `one_missing` leaves out one
    positive pattern (as in the example after Theorem 6.5), `both_positive` one negative pattern.
    d and γ hardly matter, the distribution matters much.
    """
    main = [_train_xord(s, c, s.gamma, s.d, s.others, s.runs, tell) for c in s.channels]
    choices = [(s.others, s.d, gamma) for gamma in (s.gamma, *s.spread_gamma)]
    choices += [(s.others, d, s.gamma) for d in s.spread_d]
    choices += [(others, s.d, s.gamma) for others in s.spread_others if others != s.others]
    spread = {}
    for others, d, gamma in choices:
        rest = (gamma, d, others, s.spread_runs, tell)
        found = [_train_xord(s, c, *rest).fits for c in s.spread_channels]
        spread[f"{others}, d = {d}, γ = {gamma:g}"] = found
    everyone = _means([run.test_error for run in main])
    fitting = _means([run.test_error[run.fits] for run in main])
    fits = _shares([run.fits for run in main])
    by_choice = {name: _shares(found) for name, found in spread.items()}
    figure, ((left, middle, right),) = new_figure(1, 3, size=(17, 4.6))
    x, share = "channels c = 2k", "share of runs"
    both = {"all runs": everyone, "no training error": fitting}
    draw.curves(left, s.channels, both, "test error", (x, "average test error"))
    both = {"ours": fits, "paper": _paper_fits(s.channels)}
    draw.curves(middle, s.channels, both, "runs that end without a training error", (x, share))
    middle.legend(fontsize=8, loc="lower right")
    rows = {"paper": _paper_fits(s.spread_channels), **by_choice}
    title = "the same, by what is not stated"
    draw.curves(right, s.spread_channels, rows, title, (x, share), joined=False)
    counted = [c for c in s.channels if c in PAPER_FITS]
    groups = [[c] for c in counted if PAPER_FITS[c] < PAPER_RUNS]
    groups += [full] if (full := [c for c in counted if PAPER_FITS[c] == PAPER_RUNS]) else []
    own = {c: run.fits for c, run in zip(s.channels, main, strict=True)}
    agree = {
        name: {c: _agree([c], fits) for c, fits in zip(s.spread_channels, found, strict=True)}
        for name, found in spread.items()
    }
    claims = [_same_share(group, [own[c] for c in group], agree) for group in groups]
    what = "the average test error"
    claims += [
        _falls("falls", what, everyone, s.channels),
        _falls("falls_fitting", f"{what} of runs without a training error", fitting, s.channels),
        _one_for_all(agree),
    ]
    data = {"channels": np.array(s.channels), "test_error": everyone, "fits": fits}
    data |= {"test_error_of_fitting": fitting, "spread_channels": np.array(s.spread_channels)}
    data |= {"spread": np.array([*by_choice.values()]), "spread_choices": np.array(list(spread))}
    return Result(tuple(claims), figure, data, (EXACT,))


@PAPER.artefact("fig5", "Figure 5, App. C.2", Fig5, {**QUICK_XORD, "channels": (8, 20)})
def fig5(s: Fig5, tell: Tell) -> Result:
    """A higher confidence of the hinge loss generalises better

    The average test error over the number of channels, for each confidence γ of the positive
    points in (4); bars are 99% intervals. Runs of one number of channels have the same training
    sets and initial weights for every γ, so their differences are compared run by run.
    """
    rest = (s.d, s.others, s.runs, tell)
    errors = np.array(
        [[_train_xord(s, c, g, *rest).test_error for c in s.channels] for g in s.gammas]
    )
    figure, ((ax,),) = new_figure(size=(7.5, 4.8))
    rows = {f"γ = {g:g}": _means(list(e)) for g, e in zip(s.gammas, errors, strict=True)}
    draw.curves(
        ax, s.channels, rows, "test error on XORD by γ", ("channels c = 2k", "average test error")
    )
    low, high = s.gammas[0], s.gammas[-1]
    gain = errors[0] - errors[-1]  # channels × runs
    interval = mean_interval(gain.mean(axis=0))
    text = f"γ = {high:g} has a smaller test error than γ = {low:g}: the difference, averaged over "
    text += "all numbers of channels, is positive beyond its 99% interval"
    worse = sum(mean_interval(row)[1] < 0 for row in gain)
    claims = (
        Claim("better", text, "> 0", float(gain.mean()), interval[0] > 0, interval),
        at_most("worse", f"numbers of channels at which γ = {high:g} is worse (99%)", worse, 0),
    )
    data = {"channels": np.array(s.channels), "gammas": np.array(s.gammas), "test_error": errors}
    return Result(claims, figure, data, (EXACT,))


@PAPER.artefact("fig2", "Figure 2, §3.4", Fig2, {"runs": 300})
def fig2(s: Fig2, tell: Tell) -> Result:
    """XOR: a wide network explores and clusters, a small one misses points

    The filters w (orange) and u (blue) of a wide network on the left, at the start and at the end;
    of a small one on the right. Dotted rays point to the four points. The wide network starts in
    all directions and ends with its filters around the four points. The small network that is
    shown is the first, by its seed, that ends at a local minimum, as the paper shows one.
    """
    tell(f"training {s.runs} networks of k = {s.small_k}")
    wide = _train_xor(s.k, s.c_eta, s.iterations, _seeds(s, 1), s.sigma_share)
    small = _train_xor(s.small_k, s.c_eta, s.iterations, _seeds(s, s.runs), s.sigma_share)
    margins, q = (load("xor").y * many.outputs(load("xor").X) for many in (wide, small))
    errs = (q <= 0).any(axis=1)
    shown = int(errs.argmax())  # the first at all where none errs
    figure, (panels,) = new_figure(1, 4, size=(16, 4.5))
    _before_and_after(panels[:2], "ab", wide, 0, "global minimum" if margins.min() >= 1 else "end")
    _before_and_after(panels[2:], "cd", small, shown, "local minimum" if errs[shown] else "end")
    most = _most_degrees(1, s.c_eta)
    turned = _turned_from_own_point(wide).max()
    text = "largest angle in degrees of a filter of it from its point (arccos((1−2c)/(1+c)))"
    claims = (
        at_least("global", f"k = {s.k} ends at a global minimum: min yᵢN(xᵢ)", margins.min(), 1),
        at_most("clustered", text, turned, most),
        _small_xor_fails(s.small_k, errs),
    )
    arrays = {"large": wide.weights["W"][:, 0], "small": small.weights["W"][:, shown], "errs": errs}
    return Result(claims, figure, arrays)


QUICK_DECOY = {"runs": 200, "large_runs": 20, "c_eta": 1 / 41}


@PAPER.artefact("fig3", "Figure 3, §5", Decoy, QUICK_DECOY)
def fig3(s: Decoy, tell: Tell) -> Result:
    """XORD on a decoy set: both networks fit it, only the wide one learns f*

    Six positive and six negative points, all diverse: one positive and one negative pattern are
    enough to fit them. The filters w (orange) and u (blue) of a wide network on the left, at the
    start and at the end; of a small one on the right. Dotted rays point to the four patterns. The
    wide network that is shown is the first, by its seed, that learned f*; the small one is the
    first that fits all points and has not.
    """
    large, small = _train_two(s, "xord_decoy", s.gamma, tell)
    figure, (panels,) = new_figure(1, 4, size=(16, 4.5))
    claims, arrays = _two_networks(s, large, small, panels)
    return Result(claims, figure, arrays)


@PAPER.artefact(
    "fig6", "Figure 6, App. D", Fig6, {**QUICK_DECOY, "runs": 100, "gammas": (1.0, 8.0)}
)
def fig6(s: Fig6, tell: Tell) -> Result:
    """XORD on a decoy set with a negative point that is not diverse

    As Figure 3, but the last negative point has only the pattern (1, −1), which a network must
    now detect to fit all points. It may still miss other patterns. Theorem 6.4 speaks of diverse
    points only; its 33/48 is shown beside what small networks do here.

    The paper does not say which γ it used. The last panel shows that it matters: with γ = 1 wide
    networks miss a positive pattern, with a large γ the negative pattern that the last point
    does not have; in between most of them learn f*, and small networks mostly do not for any γ.
    """
    gammas = sorted({*s.gammas, s.gamma})
    pairs = {gamma: _train_two(s, "xord_appD", gamma, tell) for gamma in gammas}
    figure, (panels,) = new_figure(1, 5, size=(20, 4.5))
    (*claims, often), arrays = _two_networks(s, *pairs[s.gamma], panels)
    if not often.holds and pairs[s.gamma][1].fits.mean() < 1:
        often = replace(often, finding=NOT_DIVERSE)
    rows = {
        f"k = {k}": _shares([pairs[gamma][i].learned_all for gamma in gammas])
        for i, k in enumerate((s.k, s.small_k))
    }
    draw.curves(panels[4], gammas, rows, "(e) networks that fit and learn f*", ("γ", "share"))
    arrays |= {"gammas": np.array(gammas), "learned": np.array([*rows.values()])}
    return Result((*claims, often), figure, arrays)


NOT_DIVERSE = (
    "Theorem 6.4 asks for diverse points and the last one is not: small networks without a filter "
    "u near its pattern do not fit it, so fewer of them fit all points and miss f*."
)


@PAPER.artefact("thm34", "Theorem 3.3 and 3.4, §3", Thm34, {"runs": 400, "ks": (4, 8)})
def thm34(s: Thm34, tell: Tell) -> Result:
    """How likely gradient descent learns XOR, by the number of neurons

    On the left, the share of networks that end right on all four points, with 99% intervals, and
    what the starts alone predict: every point needs a neuron on its side, which has probability
    (1 − 2^(1−k))². For k = 2 that is ¼, so 0.75 in Theorem 3.4 is exact. On the right, the
    iterations that the widest networks need, with the printed bound and the corrected one.
    """
    xor, errs, poor = load("xor"), {}, {}
    for k in sorted({*s.ks, 2, s.large_k}):
        tell(f"k = {k}: {s.runs} networks")
        many = _train_xor(k, s.c_eta, s.iterations, _seeds(s, s.runs))
        errs[k] = (xor.y * many.outputs(xor.X) <= 0).any(axis=1)
        starts = (Network(W, many.weights["a"][0, 0]) for W in many.weights["W"][0])
        poor[k] = np.array([unexplored(start) for start in starts])
        if k == s.large_k:
            taken, turned = many.epochs, _turned_from_own_point(many).max()
            fits = int(_fits(many).sum())
    k, c, root = s.large_k, s.c_eta, math.sqrt(s.large_k)
    if k <= 16:
        raise BadInput(f"large_k = {k}: Theorem 3.3 asks for more than 16")
    printed, corrected = 16 * root / (root - 2), time_bound(k, c)
    likely = 1 - math.sqrt(2 * k / math.pi) * math.exp(-8 * k) - 8 * math.exp(-8)
    ks = list(errs)
    figure, ((left, right),) = new_figure(1, 2, size=(12, 4.4))
    predicted = np.array([((1 - 2.0 ** (1 - k)) ** 2, math.nan, math.nan) for k in ks])
    rows = {"trained": _shares([~errs[k] for k in ks]), "(1 − 2^(1−k))²": predicted}
    draw.curves(left, ks, rows, "networks that learn XOR", ("k", "share"))
    marks = {"printed bound": printed, "corrected bound": corrected}
    title, names = f"to a global minimum, k = {k}", ("iterations", "share of networks")
    draw.histograms(right, {"networks": taken}, marks, title, names, logarithmic=True)
    late = f"most iterations that k = {k} needs, against the"
    in_print = at_most("printed_time", f"{late} printed T ≤ 16√k/(√k−2)", taken.max(), printed)
    if not in_print.holds and taken.max() <= corrected:
        in_print = replace(in_print, finding=NO_C_ETA)
    text = "some of the four points has no neuron that could learn it, for k = 2"
    differ = "networks of k = 2 that err although every point had a neuron, or the reverse"
    wide = f"networks of k = {k} end at a global minimum"
    angle = f"largest angle in degrees of a filter from its point, k = {k}"
    claims = (
        probability_at_least("unexplored", text, int(poor[2].sum()), s.runs, 0.75),
        _small_xor_fails(2, errs[2]),
        at_most("because", differ, int((errs[2] != poor[2]).sum()), 0),
        probability_at_least("wide", wide, fits, s.runs, likely),
        in_print,
        at_most("time", f"{late} corrected T ≤ 8(1+c)√k/(c(√k−4))", taken.max(), corrected),
        at_most("clustered", angle, turned, _most_degrees(1, c)),
    )
    data = {"k": np.array(ks), "learned": rows["trained"], "predicted": predicted[:, 0]}
    return Result(claims, figure, {**data, "iterations": taken})


NO_C_ETA = (
    "The printed bound on T has lost a factor 1/c_η: a neuron moves by η = c_η/k in an iteration "
    "and must reach a length of about 1/k; with the factor the bound holds."
)


@PAPER.artefact(
    "thm64",
    "Theorem 6.3 and 6.4, §6",
    Thm64,
    {"runs": 400, "ks": (4, 12), "large_runs": 20, "large_c_eta": 1 / 41},
)
def thm64(s: Thm64, tell: Tell) -> Result:
    """How likely gradient descent learns f* from diverse points alone, by the number of filters

    On the left, the shares of networks that fit diverse points, that learn f*, and that fit but
    have not learned f* (99% intervals), over k. On the right, the angles between the filters of
    the large network that began near a positive pattern and that pattern, and the bound of
    Theorem 6.3.
    """
    decoy, ends = load("xord_decoy"), {}
    for k in (2, *s.ks):
        runs = s.runs if k == 2 else max(s.runs // 10, 2)
        tell(f"k = {k}: {runs} networks")
        ends[k] = _train_decoy(decoy, k, s.c_eta, s.gamma, s.iterations, _seeds(s, runs))
    tell(f"k = {s.large_k}: {s.large_runs} networks")
    c, seeds = s.large_c_eta, _seeds(s, s.large_runs)
    large = _train_decoy(decoy, s.large_k, c, s.gamma, s.iterations, seeds)
    turned = _turned_from_positive(large.many)
    most = _most_degrees(s.gamma - 1, c)
    rows = {
        "fit the diverse points": _shares([one.fits for one in ends.values()]),
        "fit and learn f*": _shares([one.learned_all for one in ends.values()]),
        "fit and miss f*": _shares([one.decoyed for one in ends.values()]),
    }
    figure, ((left, right),) = new_figure(1, 2, size=(12, 4.4))
    draw.curves(left, list(ends), rows, "networks on a decoy set", ("k", "share"))
    left.axhline(SMALL_FAILS, c="0.5", ls=":", label="33/48, Theorem 6.4 for k = 2")
    left.set_ylim(-0.02, 1.35)
    left.legend(fontsize=8, loc="upper center", ncols=2)
    title = f"filters that began near a positive pattern, k = {s.large_k}"
    names, marks = ("angle to that pattern at the end (°)", "share of filters"), {"bound": most}
    draw.histograms(right, {"filters": turned}, marks, title, names, logarithmic=True)
    stray = int((ends[2].decoyed & ~ends[2].wrong_on_one).sum())
    text = "networks of k = 2 that fit and miss f*, yet err on all points of none of A₁, …, A₄"
    good, wide = int(large.learned_all.sum()), f"networks of k = {s.large_k} fit and learn f*"
    late = f"most iterations that k = {s.large_k} needs, against T of Theorem 6.3"
    taken, due = large.many.epochs, 28 * (s.gamma + 1 + 8 * c) / c
    angle = "largest angle in degrees of a filter that began near a positive pattern from it"
    claims = (
        _decoyed(2, ends[2]),
        at_most("kinds", text, stray, 0),
        probability_at_least("large", wide, good, s.large_runs, 1 - BIG_FAILS),
        at_most("time", late, taken.max(), due),
        at_most("clustered", angle, turned.max(), most),
    )
    data = {name.replace(" ", "_").replace("*", ""): row for name, row in rows.items()}
    return Result(
        claims, figure, {"k": np.array([*ends]), **data, "angles": turned, "iterations": taken}
    )


QUICK_IMAGES = {"n": 300, "sizes": (300,), "channels": 40, "runs": 3, "epochs": 30, "test": 1000}
QUICK_IMAGES |= {"rates": (0.01, 0.05), "sigmas": (0.05, 0.05), "stand_in": True}
QUICK_LARGE_FILTERS = {**QUICK_IMAGES, "n": 200, "sizes": (200,), "channels": 30, "epochs": 20}


@PAPER.artefact("fig4", "Figure 4, §7", Fig4, QUICK_IMAGES, images=True)
def fig4(s: Fig4, tell: Tell) -> Result:
    """MNIST, 3×3 filters: the filters of a large network gather, and four centres are enough

    On the left, the angle of every filter of the large network to the closest of the centres that
    k-means finds for the filters (all of length 1), after training and at the start. On the right,
    test errors over the size of the training set: the small network trained as usual (the best of
    several learning rates and initial scales), the small network whose filters are the centres of
    the large one and stay there, and the large network. Bars are 99% intervals of the averages.
    """
    return _mnist(s, tell)


@PAPER.artefact("fig7", "Figure 7, App. H", Fig7, QUICK_IMAGES, images=True)
def fig7(s: Fig7, tell: Tell) -> Result:
    """MNIST, 4×4 filters: the same as Figure 4

    With 2,000 training images on the left.
    """
    return _mnist(s, tell)


@PAPER.artefact("fig8", "Figure 8, App. H", Fig8, QUICK_LARGE_FILTERS, images=True)
def fig8(s: Fig8, tell: Tell) -> Result:
    """MNIST, 7×7 filters: the same as Figure 4

    With 2,000 training images on the left.
    """
    return _mnist(s, tell)


# XORD with points that are not all diverse: Figures 1 and 5


class Trained(NamedTuple):
    """Runs on their own training sets."""

    fits: np.ndarray
    """Whether a run ended without a training error."""
    test_error: np.ndarray


def _train_xord(
    s: Xord, c: int, gamma: float, d: int, others: str, runs: int, tell: Tell
) -> Trained:
    """App. A: in each run a new training set and new weights; the last iteration counts."""
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
    many = train_many(setting, sets, s.iterations, _seeds(s, runs))
    wrong = LABELS * many.outputs(POINTS) <= 0  # runs × kinds
    seen = np.zeros_like(wrong)
    np.put_along_axis(seen, rows, True, axis=1)
    return Trained(~(wrong & seen).any(axis=1), wrong @ p / 2)  # labels are equally likely


def _paper_fits(channels: Sequence[int]) -> np.ndarray:
    """The paper's counts as a share and its 99% interval; NaN where it has none."""
    counts = [PAPER_FITS.get(c) for c in channels]
    nothing = (math.nan,) * 3
    return np.array([nothing if n is None else _share(n, PAPER_RUNS) for n in counts])


def _agree(channels: Sequence[int], fits: np.ndarray) -> bool:
    """Whether these runs and the paper's may have one probability: Fisher's exact test at 1%."""
    ours, theirs = int(fits.sum()), sum(PAPER_FITS.get(c, 0) for c in channels)
    table = [[ours, len(fits) - ours], [theirs, PAPER_RUNS * len(channels) - theirs]]
    return float(stats.fisher_exact(table).pvalue) >= 0.01


def _same_share(
    channels: list[int], runs: list[np.ndarray], agree: dict[str, dict[int, bool]]
) -> Claim:
    """Whether the paper's count and ours agree; where not, which other choice would."""
    fits, theirs = np.concatenate(runs), sum(PAPER_FITS[c] for c in channels)
    said = f"{', '.join(map(str, channels))} channels: share of runs without a training error, as "
    said += f"the paper's {theirs} of {PAPER_RUNS * len(channels)} (Fisher's exact test at 1%)"
    ours, low, high = _share(int(fits.sum()), len(fits))
    holds, share = _agree(channels, fits), theirs / PAPER_RUNS / len(channels)
    claim = Claim(f"fits_{channels[0]}", said, share, ours, holds, (low, high))
    others = [name for name, by in agree.items() if all(by.get(c, False) for c in channels)]
    if holds or not others:
        return claim
    why = "App. A does not state the distribution of points that are not diverse, and the share "
    return replace(claim, finding=f"{why}depends on it: it agrees for {'; '.join(others)}.")


def _one_for_all(agree: dict[str, dict[int, bool]]) -> Claim:
    """Whether some choice of what is not stated agrees with all counts of the paper."""
    good = [name for name, by in agree.items() if all(by.values())]
    text = "some choice of what the paper does not state agrees with all its counts in the right "
    text += "panel (Fisher's exact test at 1%)"
    claim = true("one_choice", text, bool(good), "; ".join(good) or "none", "one")
    each = all(any(column) for column in zip(*(by.values() for by in agree.values()), strict=True))
    if good or not each:
        return claim
    why = "Each count agrees for some choice and all for none: the paper's distribution is another."
    return replace(claim, finding=why)


def _falls(id: str, what: str, rows: np.ndarray, channels: Sequence[int]) -> Claim:
    """From the fewest to the most channels, and never the other way."""
    first, last = rows[0], rows[-1]
    rises = any(later[1] > earlier[2] for earlier, later in combinations(rows, 2))
    text = f"{what} falls from {channels[0]} to {channels[-1]} channels and rises between no two, "
    text += "beyond the 99% intervals"
    said = f"{first[0]:.4f} → {last[0]:.4f}"
    return true(id, text, last[2] < first[1] and not rises, said, "falls")


# Networks in the plane: Figures 2, 3 and 6, Theorems 3.4 and 6.4


class Ends(NamedTuple):
    """Networks trained on a decoy set, and what became of each."""

    many: Many
    fits: np.ndarray
    """The loss (4) is zero."""
    learned: np.ndarray
    """sign N = f* on all points there are."""
    wrong_on_one: np.ndarray
    """Errs on all points of one of A₁, …, A₄ (§6)."""

    @property
    def decoyed(self) -> np.ndarray:
        """Fits its points and has not learned f*."""
        return self.fits & ~self.learned

    @property
    def learned_all(self) -> np.ndarray:
        """Fits its points and has learned f*."""
        return self.fits & self.learned


def _train_xor(
    k: int, c_eta: float, iterations: int, seeds: list[int], sigma_share: float = 1.0
) -> Many:
    """§3.1: (1) on the four points."""
    setting = Setting(train="first", width=2 * k, loss="hinge", lr=c_eta / k)
    return _train(setting, load("xor"), iterations, seeds, sigma_share)


def _train_decoy(
    data: Dataset,
    k: int,
    c_eta: float,
    gamma: float,
    iterations: int,
    seeds: list[int],
    sigma_share: float = 1.0,
) -> Ends:
    """§4: (2) with the loss (4)."""
    loss = f"hinge:{gamma!r}"
    setting = Setting(model="conv_max_pool", width=2 * k, loss=loss, lr=c_eta / k)
    many = _train(setting, data, iterations, seeds, sigma_share)
    right = LABELS * many.outputs(POINTS) > 0  # runs × kinds
    return Ends(many, _fits(many), right.all(axis=1), (~right & DECOYS).any(axis=1))


def _train(
    setting: Setting, data: Dataset, iterations: int, seeds: list[int], sigma_share: float
) -> Many:
    """From σ = c_η/(16k^{3/2}) until the loss is zero or has not fallen for long.

    The weights at the start and at the end are kept.
    """
    k = setting.width / 2
    sigma = sigma_share * setting.lr / (16 * math.sqrt(k))
    stop = ("loss:1e-300", "no_improvement:500")
    setting = replace(setting, init=f"gaussian:{sigma!r}", stop=stop)
    return train_many(setting, data, iterations, seeds, at=(0,))


def _fits(many: Many) -> np.ndarray:
    """Of every network, whether its loss became zero."""
    return np.array([outcome == OUTCOMES[REACHED_LOSS] for outcome in many.outcomes])


def _train_two(s: Decoy, data: str, gamma: float, tell: Tell) -> tuple[Ends, Ends]:
    """The wide networks and the small ones."""
    pair = []
    for k, runs in ((s.k, s.large_runs), (s.small_k, s.runs)):
        tell(f"γ = {gamma:g}, k = {k}: {runs} networks")
        one = (load(data), k, s.c_eta, gamma, s.iterations, _seeds(s, runs), s.sigma_share)
        pair.append(_train_decoy(*one))
    return pair[0], pair[1]


def _two_networks(
    s: Decoy, large: Ends, small: Ends, panels: np.ndarray
) -> tuple[tuple[Claim, ...], dict[str, np.ndarray]]:
    """What Figures 3 and 6 have in common: four panels, the claims on both networks, the data."""
    first, shown = int(large.learned_all.argmax()), int(small.decoyed.argmax())
    _before_and_after(panels[:2], "ab", large.many, first, _what(large, first))
    _before_and_after(panels[2:4], "cd", small.many, shown, _what(small, shown))
    good, *above = _share(int(large.learned_all.sum()), s.large_runs)
    seldom = _share(int(large.decoyed.sum()), s.large_runs)
    often, *interval = _share(int(small.decoyed.sum()), s.runs)
    wide = f"most networks of k = {s.k} fit all points and learn f* (99% interval above ½)"
    text = f"networks of k = {s.small_k} fit all points and miss f*, more often than those of "
    text += f"k = {s.k} ({seldom[0]:.2g}), beyond the 99% intervals"
    claims = (
        Claim("large", wide, "> 0.5", good, above[0] > 0.5, (above[0], above[1])),
        Claim("small", text, "more", often, interval[0] > seldom[2], (interval[0], interval[1])),
        _decoyed(s.small_k, small),
    )
    arrays = {
        "large": large.many.weights["W"][:, first],
        "small": small.many.weights["W"][:, shown],
    }
    arrays |= {"large_fits": large.fits, "large_learned": large.learned}
    return claims, {**arrays, "small_fits": small.fits, "small_learned": small.learned}


def _before_and_after(panels: np.ndarray, letters: str, many: Many, i: int, end: str) -> None:
    """Two panels: the filters of one network at t = 0 and at the end."""
    words = ("t = 0", f"t = {many.epochs[i]}: {end}")
    for ax, letter, t, when in zip(panels, letters, (0, -1), words, strict=True):
        weights = many.member(i, t)
        title = f"({letter}) k = {len(weights['a']) // 2}, {when}"
        draw.vectors(ax, weights["W"], weights["a"], PATTERNS, title)


def _what(ends: Ends, i: int) -> str:
    if not ends.fits[i]:
        return "does not fit"
    return "learned f*" if ends.learned[i] else "fits, misses f*"


def _small_xor_fails(k: int, errs: np.ndarray) -> Claim:
    """Theorem 3.4; its 0.75 is 1 − (1 − 2^(1−k))² for k = 2."""
    text = f"networks of k = {k} end with an error on one of the four points"
    bound = 1 - (1 - 2.0 ** (1 - k)) ** 2
    return probability_at_least("probability", text, int(errs.sum()), len(errs), bound)


def _decoyed(k: int, ends: Ends) -> Claim:
    """Theorem 6.4."""
    text = f"networks of k = {k} fit all points and have not learned f* (Theorem 6.4)"
    fails, runs = int(ends.decoyed.sum()), len(ends.fits)
    return probability_at_least("probability", text, fails, runs, SMALL_FAILS)


def _angles(W: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """Between vectors of the plane, in degrees."""
    cross = W[..., 0] * towards[..., 1] - W[..., 1] * towards[..., 0]
    return np.degrees(np.arctan2(np.abs(cross), (W * towards).sum(axis=-1)))


def _most_degrees(room: float, c_eta: float) -> float:
    """arccos((r−2c)/(r+c)), the angle in Theorem 3.3 (r = 1) and Theorem 6.3 (r = γ − 1)."""
    cosine = (room - 2 * c_eta) / (room + c_eta)
    return math.degrees(math.acos(max(cosine, -1.0)))


def _turned_from_own_point(many: Many) -> np.ndarray:
    """XOR: angles at the end to the point xᵢ with j ∈ W₀⁺(i), i ∈ {1, 3} (U₀⁺(i), i ∈ {2, 4})."""
    start, end = many.weights["W"][[0, -1]]
    axis = PATTERNS[np.where(many.weights["a"][0] > 0, 0, 1)]
    return _angles(end, np.sign((start * axis).sum(axis=-1, keepdims=True)) * axis)


def _turned_from_positive(many: Many) -> np.ndarray:
    """XORD: angles at the end of all w with j ∈ W₀⁺(i), i ∈ {1, 3}, to pᵢ."""
    start, end = many.weights["W"][[0, -1]]
    nearest = (start @ PATTERNS.T).argmax(axis=-1)
    chosen = (many.weights["a"][0] > 0) & np.isin(nearest, POSITIVE)
    return _angles(end[chosen], PATTERNS[nearest[chosen]])


# Images: Figures 4, 7 and 8


def _mnist(s: Fig4, tell: Tell) -> Result:
    if len(s.rates) != len(s.sigmas):
        raise BadInput(f"{len(s.rates)} rates and {len(s.sigmas)} sigmas; they must be pairs")
    angles: dict[str, np.ndarray] = {}
    errors: dict[str, list[np.ndarray]] = {"small": [], "clusters": [], "large": []}
    for n in sorted({*s.sizes, s.n}):
        data = _images(s, n)
        tell(f"{n} images: {s.channels} channels")
        large = _train_images(s, data, s.channels, s.lr, s.sigma, _seeds(s, 1))
        filters = {
            name: _unit(large.member(0, t)["W"]) for name, t in (("trained", -1), ("random", 0))
        }
        centres = {name: cluster_centres(W, s.centres, s.seed) for name, W in filters.items()}
        if n == s.n:
            angles = {name: _closest(W, centres[name]) for name, W in filters.items()}
        if n not in s.sizes:
            continue
        errors["large"].append(_test_errors(large, data))
        tell(f"{n} images: {s.centres} channels, {s.runs} times from the centres")
        seeds = _seeds(s, s.runs)
        few = _train_images(s, data, s.centres, s.lr, s.sigma, seeds, centres["trained"])
        errors["clusters"].append(_test_errors(few, data))
        usual = []
        for lr, sigma in zip(s.rates, s.sigmas, strict=True):
            tell(f"{n} images: {s.centres} channels, {s.runs} times, lr = {lr:g}, σ = {sigma:g}")
            usual.append(_test_errors(_train_images(s, data, s.centres, lr, sigma, seeds), data))
        errors["small"].append(min(usual, key=np.mean))
    rows = {name: 100 * _means(found) for name, found in errors.items()}
    rows["large"][:, 1:] = np.nan  # trained once
    return _images_result(s, rows, angles, OPEN if data.d == 784 else (*OPEN, STAND_IN))


def _images_result(
    s: Fig4, rows: dict[str, np.ndarray], angles: dict[str, np.ndarray], departures: tuple[str, ...]
) -> Result:
    """The picture and the claims, from test errors (%) at each size and the filters' angles."""
    names = {"small": f"small, {s.centres} channels", "large": f"large, {s.channels} channels"}
    names["clusters"] = f"small, filters are {s.centres} centres of the large"
    figure, ((left, right),) = new_figure(1, 2, size=(12, 4.6))
    title = f"(a) {s.channels} filters of {s.filter}×{s.filter}, {s.n} images"
    axes = ("angle to the closest centre (°)", "share of filters")
    middle = {name: float(np.median(found)) for name, found in angles.items()}
    marks = {f"median, {name}": number for name, number in middle.items()}
    draw.histograms(left, angles, marks, title, axes)
    curves, axes = {names[k]: row for k, row in rows.items()}, ("training images", "test error (%)")
    draw.curves(right, s.sizes, curves, "(b) test error by training set size", axes)
    differ = float(stats.ks_2samp(angles["trained"], angles["random"]).pvalue)
    few, small, large = (rows[name][:, 0] for name in ("clusters", "small", "large"))
    half = float(np.linalg.norm(rows["clusters"][:, 2] - few)) / len(few)
    mean, halfway = float(few.mean()), float(small.mean() + large.mean()) / 2
    text = "median angle in degrees of a trained filter to its centre, against random filters"
    same = "probability of such a difference if both angles had one distribution (KS test)"
    sizes = "training sizes at which the small network is no better on average from the centres"
    gap = "test error (%) of the small network from the centres of the large one, on average over "
    gap += "the sizes at most halfway between the large and the small one (“nearly matches”)"
    nearly = replace(at_most("nearly", gap, mean, halfway), interval=(mean - half, mean + half))
    better = at_most("better", sizes, int((few >= small).sum()), 0)
    open_ = f"Not decided: the 99% interval of {s.runs} runs from the centres reaches"
    if not nearly.holds and mean - half <= halfway:
        nearly = replace(nearly, finding=f"{open_} halfway.")
    elif not nearly.holds and better.holds and type(s) is not Fig4:
        gained = (small.mean() - mean) / (small.mean() - large.mean())
        nearly = replace(
            nearly,
            finding="The paper says so of 3×3 filters (Fig. 4) only. From the centres the small "
            f"network gains {gained:.0%} of what the large one is ahead, at every size something.",
        )
    if not better.holds and (rows["clusters"][:, 1] < small).all():
        better = replace(better, finding=f"{open_} below the other average at every size.")
    claims: tuple[Claim, ...] = (
        at_most("closer", text, middle["trained"], middle["random"]),
        at_most("differ", same, differ, 0.01),
        better,
        nearly,
    )
    if STAND_IN in departures:  # the paper speaks of MNIST
        claims = tuple(c if c.holds or c.finding else replace(c, finding=STAND_IN) for c in claims)
    out = {"sizes": np.array(s.sizes), **rows, **{f"angles_{k}": v for k, v in angles.items()}}
    return Result(claims, figure, out, departures)


OPEN = (
    "what the paper leaves open of the network: zeros around the image, a bias of the dense layer, "
    "cross-entropy of the softmax",
    "the filters are clustered at length 1, as for panel (a); the small network has these centres",
)
STAND_IN = "MNIST is not here: the digits of scikit-learn, 8 × 8 pixels, stand in"


def _images(s: Fig4, n: int) -> Dataset:
    """n training images and the test images."""
    try:
        return load(f"mnist:n={n},test={s.test},seed={s.seed}")
    except BadInput:
        if not s.stand_in:
            raise
        return load(f"digits:n={n},test={min(s.test, 1797 - n)},seed={s.seed}")


def _train_images(
    s: Fig4,
    data: Dataset,
    channels: int,
    lr: float,
    sigma: float,
    seeds: list[int],
    filters: np.ndarray | None = None,
) -> Many:
    """Adam on the cross-entropy, in float32; `filters` are kept as they are where given."""
    model = f"image_cnn:{s.filter}:{math.isqrt(data.d)}:10"
    setting = Setting(
        model=model if filters is None else f"{model}:0",
        width=channels,
        init=f"truncated:{sigma!r}",
        loss="softmax",
        rule="adam",
        lr=lr,
        batch=max(data.n // s.batches, 1),
    )
    start = None
    if filters is not None:
        whole = parse_model(model)
        drawn = [initial_weights(whole, data.d, channels, setting.init, seed) for seed in seeds]
        start = {part: np.stack([one[part] for one in drawn]) for part in drawn[0]}
        start["W"] = np.broadcast_to(filters, start["W"].shape)
    return train_many(setting, data, s.epochs, seeds, (0,), start, single=True)


def _test_errors(many: Many, data: Dataset) -> np.ndarray:
    assert data.test is not None
    outputs = many.outputs(data.test.X.astype(np.float32))
    return (outputs.argmax(axis=2) != data.test.y).mean(axis=1)


def _unit(W: np.ndarray) -> np.ndarray:
    W = W.astype(np.float64)
    return W / np.maximum(np.linalg.norm(W, axis=1, keepdims=True), 1e-300)


def _closest(filters: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Angle of every filter (of length 1) to the centre it is closest to, in degrees."""
    return np.degrees(np.arccos(np.clip(filters @ _unit(centres).T, -1, 1).max(axis=1)))


# All figures


def _share(number: int, of: int) -> tuple[float, float, float]:
    """A share and its 99% interval."""
    return (number / of, *share_interval(number, of))


def _shares(events: list[np.ndarray]) -> np.ndarray:
    """The same for each of several samples, as rows."""
    return np.array([_share(int(one.sum()), len(one)) for one in events])


def _means(samples: list[np.ndarray]) -> np.ndarray:
    """Means of errors and their 99% intervals within [0, 1], as rows."""
    nothing = (math.nan, 0.0, 1.0)
    return np.array(
        [
            (one.mean(), *np.clip(mean_interval(one), 0, 1)) if len(one) else nothing
            for one in samples
        ]
    )


def _seeds(s: Settings, number: int) -> list[int]:
    """One for each network, all from the one seed."""
    return [int(seed) for seed in np.random.SeedSequence(s.seed).generate_state(number)]
