"""Figure 1: more channels generalise better on XORD."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy.stats import fisher_exact

from tacit.data.xord_kinds import OTHERS
from tacit.papers.brutzkus2019.drawing import curves, ranking
from tacit.papers.brutzkus2019.figures import PAPER
from tacit.papers.brutzkus2019.figures.intervals import mean_errors, share, shares
from tacit.papers.brutzkus2019.figures.xord_runs import (
    EXACT,
    PAPER_FITS,
    PAPER_RUNS,
    QUICK_XORD,
    ZEROS,
    Xord,
    train_xord,
)
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Tell, Whose, ours
from tacit.reproduction.claims import at_least, explained, true

LEAST = 0.01
"""Fisher's exact test speaks against one probability where p is below this."""
OTHER_RUNS = 10**6
"""Added to the seed for the runs on which the choice is made."""


@dataclass(frozen=True)
class Fig1(Xord):
    all_others: tuple[str, ...] = ours(
        tuple(OTHERS), "App. A leaves open how points that are not diverse are distributed,"
    )
    ds: tuple[int, ...] = ours((4, 7, 20), "d (which only `uniform` depends on),")
    gammas: tuple[float, ...] = ours((1.0, 5.0, 8.0), "γ (1 and 5: Figure 5; 8: Theorem 6.3),")
    zeros: tuple[str, ...] = ours(tuple(ZEROS), "and sign(0); all combinations are tried")
    some_channels: tuple[int, ...] = ours((4, 6, 8, 20), "where a choice is made: runs fail there")
    choosing: int = ours(300, "runs of each choice and number of channels; the rest has new ones")
    confirming: int = ours(1000, "new runs of the choice for each of these numbers of channels")


QUICK = {"some_channels": (4, 8), "ds": (7,), "gammas": (1.0,), "choosing": 100, "confirming": 100}


class Unstated(NamedTuple):
    """What the paper leaves open."""

    others: str
    d: int
    gamma: float
    zero: str

    def __str__(self) -> str:
        d = f"d = {self.d}, " if self.others == "uniform" else ""
        return f"{self.others}, {d}γ = {self.gamma:g}, 0: {self.zero}"


def agreement(channels: Sequence[int], fits: np.ndarray) -> float:
    """p of Fisher's exact test that these runs and the paper's have one probability to fit."""
    ours, theirs = int(fits.sum()), sum(PAPER_FITS[c] for c in channels)
    table = [[ours, len(fits) - ours], [theirs, PAPER_RUNS * len(channels) - theirs]]
    return float(fisher_exact(table).pvalue)


def fits_of(s: Fig1, choices: Sequence[Unstated], runs: int, tell: Tell) -> np.ndarray:
    """Whether runs fit, for some numbers of channels: choices × channels × runs."""
    fits: dict[Unstated, list[np.ndarray]] = {}
    for rest in dict.fromkeys((one.others, one.d, one.gamma) for one in choices):
        others, d, gamma = rest
        ends = [train_xord(s, c, gamma, d, others, runs, tell) for c in s.some_channels]
        fits |= {Unstated(*rest, zero): [end.fits(zero) for end in ends] for zero in s.zeros}
    return np.array([fits[one] for one in choices])


def all_choices(s: Fig1) -> list[Unstated]:
    """The product of everything that is left open; d where it matters."""
    spread = [
        (others, d) for others in s.all_others for d in (s.ds if others == "uniform" else s.ds[:1])
    ]
    return [
        Unstated(others, d, gamma, zero)
        for (others, d), gamma, zero in product(spread, s.gammas, s.zeros)
    ]


def same_share(channels: Sequence[int], runs: Sequence[np.ndarray]) -> Claim:
    """Whether the paper's count and ours agree."""
    fits, theirs = np.concatenate(runs), sum(PAPER_FITS[c] for c in channels)
    text = f"{', '.join(map(str, channels))} channels: share of runs without a training error, as "
    text += f"the paper's {theirs} of {PAPER_RUNS * len(channels)} (Fisher's exact test)"
    ours, low, high = share(int(fits.sum()), len(fits))
    p, expected = agreement(channels, fits), theirs / PAPER_RUNS / len(channels)
    claim = Claim(f"fits_{channels[0]}", text, expected, ours, p >= LEAST, (low, high))
    why = f"p = {p:.2g}. App. A does not say how points that are not diverse are distributed, nor "
    why += "d, γ and sign(0), and the share depends on them; the code of the paper would settle it."
    return explained(replace(claim, criterion=f"p ≥ {LEAST:g}"), why, Whose.OPEN)


def one_choice(s: Fig1, chosen: Unstated, tried: int, fits: np.ndarray) -> Claim:
    """Whether the choice agrees with all counts of the paper on runs that did not choose it.

    The smallest of several p is below 1% more often than in 1 of 100: it is multiplied by their
    number (Bonferroni).
    """
    values = [agreement([c], row) for c, row in zip(s.some_channels, fits, strict=True)]
    p = min(len(values) * min(values), 1.0)
    counts = ", ".join(str(PAPER_FITS[c]) for c in s.some_channels)
    channels = ", ".join(map(str, s.some_channels))
    text = f"“{chosen}”, the best of {tried} choices on other runs, agrees with the paper's counts "
    text += (
        f"at {channels} channels: smallest p of Fisher's exact test times the {len(values)} counts"
    )
    claim = at_least("one_choice", text, p, LEAST, f"{counts} of {PAPER_RUNS}")
    why = "None of our choices gives all of the paper's counts; its code would settle which it had."
    return explained(claim, why, Whose.OPEN)


def falls(id: str, what: str, rows: np.ndarray, channels: Sequence[int]) -> Claim:
    """Whether a mean falls from the fewest to the most channels, and rises between no two."""
    first, last = rows[0], rows[-1]
    rises = any(later[1] > earlier[2] for earlier, later in combinations(rows, 2))
    text = f"{what} falls from {channels[0]} to {channels[-1]} channels and rises between no two, "
    text += "beyond the 99% intervals"
    measured = f"{first[0]:.4f} → {last[0]:.4f}"
    return true(id, text, last[2] < first[1] and not rises, measured, "improves")


def paper_shares(channels: Sequence[int]) -> np.ndarray:
    """The paper's counts as a share and its 99% interval; NaN where it has none."""
    counts = [PAPER_FITS.get(c) for c in channels]
    nothing = (math.nan,) * 3
    return np.array([nothing if n is None else share(n, PAPER_RUNS) for n in counts])


@PAPER.artefact("fig1", "Figure 1, App. A", Fig1, {**QUICK_XORD, **QUICK})
def fig1(s: Fig1, tell: Tell) -> Exhibit:
    """More channels generalise better on XORD

    On the left, the average test error over the number of channels, of all runs and of those that
    ended without a training error. It falls, and it falls for the second curve too: small networks
    can fit the training points, but with worse solutions. In the middle, the share of runs without
    a training error, beside the paper's counts (62, 79, 94, 100, … of 100). Bars are 99%
    intervals.

    The paper states neither how points that are not diverse are distributed, nor d, γ and what an
    output of 0 counts as. So all combinations were tried on runs of their own: on the right is how
    well each agrees with the paper's counts. The best one (black) was taken, and has new runs in
    the other panels. `uniform` draws from all points that are not diverse, `kinds` gives every set
    of patterns the same probability, `one_missing` leaves out one positive pattern (as in the
    example after Theorem 6.5), `both_positive` one negative pattern. The counts cannot tell all
    choices apart: what γ is hardly matters, and points of few kinds or d = 4 are nearly as good.
    """
    choices, aside = all_choices(s), replace(s, seed=s.seed + OTHER_RUNS)
    tried = fits_of(aside, choices, s.choosing, tell)
    values = np.array(
        [
            [agreement([c], row) for c, row in zip(s.some_channels, rows, strict=True)]
            for rows in tried
        ]
    )
    chosen = choices[int(values.min(axis=1).argmax())]
    others, d, gamma, zero = chosen
    main = [train_xord(s, c, gamma, d, others, s.runs, tell) for c in s.channels]
    again = fits_of(replace(s, seed=s.seed + 2 * OTHER_RUNS), [chosen], s.confirming, tell)[0]
    errors, own = [run.test_error(zero) for run in main], [run.fits(zero) for run in main]
    all_runs = mean_errors(errors)
    fitting = mean_errors(error[fits] for error, fits in zip(errors, own, strict=True))

    figure, ((left, middle, right),) = new_figure(1, 3, size=(17, 6.2), width_ratios=(1, 1, 0.8))
    x, y = "channels c = 2k", "share of runs"
    both = {"all runs": all_runs, "no training error": fitting}
    curves(left, s.channels, both, f"test error ({chosen})", (x, "average test error"))
    both = {"ours": shares(own), "paper": paper_shares(s.channels)}
    curves(middle, s.channels, both, "runs that end without a training error", (x, y))
    middle.legend(fontsize=8, loc="lower right")
    names = [str(one) for one in choices]
    title = f"what is not stated, on {s.choosing} other runs each"
    ranking(right, names, values.min(axis=1), LEAST, title, "smallest p of the counts")

    fits = dict(zip(s.channels, own, strict=True))
    groups = [[c] for c in s.channels if PAPER_FITS.get(c, PAPER_RUNS) < PAPER_RUNS]
    full = [c for c in s.channels if PAPER_FITS.get(c) == PAPER_RUNS]
    what = "the average test error"
    claims = (
        *(same_share(group, [fits[c] for c in group]) for group in [*groups, full] if group),
        falls("falls", what, all_runs, s.channels),
        falls("falls_fitting", f"{what} of runs without a training error", fitting, s.channels),
        one_choice(s, chosen, len(choices), again),
    )
    data = {"channels": np.array(s.channels), "test_error": all_runs, "fits": shares(own)}
    data |= {"test_error_of_fitting": fitting, "some_channels": np.array(s.some_channels)}
    data |= {"choices": np.array(names), "p": values, "tried": tried.mean(axis=2)}
    data |= {"confirmed": shares(again)}
    return Exhibit(claims, figure, data, (EXACT, f"of what is not stated: {chosen}"))
