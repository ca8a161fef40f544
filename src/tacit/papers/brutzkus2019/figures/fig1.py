"""Figure 1: more channels generalise better on XORD."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.stats import fisher_exact

from tacit.data.xord_kinds import OTHERS
from tacit.papers.brutzkus2019.drawing import curves
from tacit.papers.brutzkus2019.figures import PAPER
from tacit.papers.brutzkus2019.figures.intervals import mean_errors, share, shares
from tacit.papers.brutzkus2019.figures.xord_runs import (
    EXACT,
    PAPER_FITS,
    PAPER_RUNS,
    QUICK_XORD,
    Xord,
    train_xord,
)
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Tell, ours
from tacit.reproduction.claims import true


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


QUICK = {"spread_runs": 60, "spread_channels": (8,), "spread_d": (), "spread_gamma": ()}

Agreement = dict[str, dict[int, bool]]
"""A choice of what the paper leaves open → channels → whether its count and ours agree."""


def agrees(channels: Sequence[int], fits: np.ndarray) -> bool:
    """Whether these runs and the paper's may have one probability: Fisher's exact test at 1%."""
    ours, theirs = int(fits.sum()), sum(PAPER_FITS.get(c, 0) for c in channels)
    table = [[ours, len(fits) - ours], [theirs, PAPER_RUNS * len(channels) - theirs]]
    return float(fisher_exact(table).pvalue) >= 0.01


def same_share(channels: list[int], runs: list[np.ndarray], agreement: Agreement) -> Claim:
    """Whether the paper's count and ours agree; where they do not, which other choice would."""
    fits, theirs = np.concatenate(runs), sum(PAPER_FITS[c] for c in channels)
    text = f"{', '.join(map(str, channels))} channels: share of runs without a training error, as "
    text += f"the paper's {theirs} of {PAPER_RUNS * len(channels)} (Fisher's exact test at 1%)"
    ours, low, high = share(int(fits.sum()), len(fits))
    holds, expected = agrees(channels, fits), theirs / PAPER_RUNS / len(channels)
    claim = Claim(f"fits_{channels[0]}", text, expected, ours, holds, (low, high))
    others = [name for name, by in agreement.items() if all(by.get(c, False) for c in channels)]
    if holds or not others:
        return claim
    why = "App. A does not state the distribution of points that are not diverse, and the share "
    return replace(claim, finding=f"{why}depends on it: it agrees for {'; '.join(others)}.")


def one_choice_for_all(agreement: Agreement) -> Claim:
    """Whether some choice of what is not stated agrees with all counts of the paper."""
    good = [name for name, by in agreement.items() if all(by.values())]
    text = "some choice of what the paper does not state agrees with all its counts in the right "
    text += "panel (Fisher's exact test at 1%)"
    claim = true("one_choice", text, bool(good), "; ".join(good) or "none", "one")
    columns = zip(*(by.values() for by in agreement.values()), strict=True)
    if good or not all(any(column) for column in columns):
        return claim
    why = "Each count agrees for some choice and all for none: the paper's distribution is another."
    return replace(claim, finding=why)


def falls(id: str, what: str, rows: np.ndarray, channels: Sequence[int]) -> Claim:
    """Whether a mean falls from the fewest to the most channels, and rises between no two."""
    first, last = rows[0], rows[-1]
    rises = any(later[1] > earlier[2] for earlier, later in combinations(rows, 2))
    text = f"{what} falls from {channels[0]} to {channels[-1]} channels and rises between no two, "
    text += "beyond the 99% intervals"
    measured = f"{first[0]:.4f} → {last[0]:.4f}"
    return true(id, text, last[2] < first[1] and not rises, measured, "falls")


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

    The paper does not state how points that are not diverse are distributed, nor d and γ. On the
    right is what other choices of these change: `uniform` draws from all points that are not
    diverse, `kinds` gives every set of patterns the same probability, `one_missing` leaves out one
    positive pattern (as in the example after Theorem 6.5), `both_positive` one negative pattern.
    d and γ hardly matter, the distribution matters much.
    """
    main = [train_xord(s, c, s.gamma, s.d, s.others, s.runs, tell) for c in s.channels]
    choices = [(s.others, s.d, gamma) for gamma in (s.gamma, *s.spread_gamma)]
    choices += [(s.others, d, s.gamma) for d in s.spread_d]
    choices += [(others, s.d, s.gamma) for others in s.spread_others if others != s.others]
    spread = {
        f"{others}, d = {d}, γ = {gamma:g}": [
            train_xord(s, c, gamma, d, others, s.spread_runs, tell).fits for c in s.spread_channels
        ]
        for others, d, gamma in choices
    }
    all_runs = mean_errors(run.test_error for run in main)
    fitting = mean_errors(run.test_error[run.fits] for run in main)
    fits = shares(run.fits for run in main)
    by_choice = {name: shares(samples) for name, samples in spread.items()}

    figure, ((left, middle, right),) = new_figure(1, 3, size=(17, 4.6))
    x, y = "channels c = 2k", "share of runs"
    both = {"all runs": all_runs, "no training error": fitting}
    curves(left, s.channels, both, "test error", (x, "average test error"))
    both = {"ours": fits, "paper": paper_shares(s.channels)}
    curves(middle, s.channels, both, "runs that end without a training error", (x, y))
    middle.legend(fontsize=8, loc="lower right")
    rows = {"paper": paper_shares(s.spread_channels), **by_choice}
    curves(right, s.spread_channels, rows, "the same, by what is not stated", (x, y), joined=False)

    counted = [c for c in s.channels if c in PAPER_FITS]
    groups = [[c] for c in counted if PAPER_FITS[c] < PAPER_RUNS]
    groups += [full] if (full := [c for c in counted if PAPER_FITS[c] == PAPER_RUNS]) else []
    own = {c: run.fits for c, run in zip(s.channels, main, strict=True)}
    agreement = {
        name: {c: agrees([c], fits) for c, fits in zip(s.spread_channels, samples, strict=True)}
        for name, samples in spread.items()
    }
    what = "the average test error"
    claims = (
        *(same_share(group, [own[c] for c in group], agreement) for group in groups),
        falls("falls", what, all_runs, s.channels),
        falls("falls_fitting", f"{what} of runs without a training error", fitting, s.channels),
        one_choice_for_all(agreement),
    )
    data = {"channels": np.array(s.channels), "test_error": all_runs, "fits": fits}
    data |= {"test_error_of_fitting": fitting, "spread_channels": np.array(s.spread_channels)}
    data |= {"spread": np.array([*by_choice.values()]), "spread_choices": np.array(list(spread))}
    return Exhibit(claims, figure, data, (EXACT,))
