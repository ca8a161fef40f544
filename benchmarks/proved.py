"""How often the limit is proved: random data, and data that people bring.

For every family: how many of its limits are claimed, how many of these are proved, how wide the
bounds of the margin are where they are and where they are not, and the time that the proof took.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from sklearn import datasets

import tacit
from benchmarks.real_data import gaussian, pair, scaled
from benchmarks.text import table
from tacit.flow import Limit
from tacit.values import Dataset, Setting

SECONDS = 20.0
"""For each limit."""
RUNS = 10
"""Data sets of each family, or seeds of the initial weights."""

Family = tuple[str, Callable[[int], Dataset], dict[str, str]]


def random_labels(n: int, d: int, labels: str, seed: int) -> Dataset:
    return gaussian(n, d, labels, seed)


def generated(call: str, seed: int) -> Dataset:
    return tacit.load(f"{call},seed={seed}")


def the_same(make: Callable[[], Dataset], seed: int) -> Dataset:
    return make()


LEAKY, FIRST = {"activation": "leaky:0.3"}, {"train": "first"}
FAMILIES: tuple[Family, ...] = (
    ("orthogonally separable, n=40 d=5", partial(generated, "orthogonal:n=40,d=5"), {}),
    ("the same, first layer", partial(generated, "orthogonal:n=40,d=5"), FIRST),
    ("symmetric, n=20 d=3, leaky", partial(generated, "symmetric:n=20,d=3"), LEAKY),
    ("two Gaussians, n=60 d=5", partial(generated, "gaussians:n=60,d=5"), {}),
    ("the same, leaky, first layer", partial(generated, "gaussians:n=60,d=5"), LEAKY | FIRST),
    ("linear teacher, n=20 d=2", partial(generated, "linear:n=20,d=2"), {}),
    ("linear teacher, n=40 d=5", partial(generated, "linear:n=40,d=5"), {}),
    ("linear teacher, n=40 d=5, leaky", partial(generated, "linear:n=40,d=5"), LEAKY),
    ("random labels, n=10 d=2", partial(random_labels, 10, 2, "random"), {}),
    ("random labels, n=20 d=5", partial(random_labels, 20, 5, "random"), {}),
    ("XOR labels, n=40 d=3", partial(random_labels, 40, 3, "xor"), {}),
    ("iris 0/1, raw", partial(the_same, partial(pair, datasets.load_iris, 0, 1)), {}),
    (
        "iris 0/1, standardised",
        partial(the_same, lambda: scaled(pair(datasets.load_iris, 0, 1))),
        {},
    ),
    (
        "wine 0/1, standardised",
        partial(the_same, lambda: scaled(pair(datasets.load_wine, 0, 1))),
        {},
    ),
    ("digits 0/1", partial(the_same, partial(pair, datasets.load_digits, 0, 1)), {}),
    ("digits 3/8", partial(the_same, partial(pair, datasets.load_digits, 3, 8)), {}),
)
LARGE = ("wine", "digits")
"""Families that are run three times only."""


def limits_of(family: Family) -> list[Limit]:
    """One limit for each seed."""
    name, make, kind = family
    runs = 3 if name.startswith(LARGE) else RUNS
    ends = []
    for seed in range(runs):
        end = tacit.limit(make(seed), Setting(width=100, **kind), seed=seed, seconds=SECONDS)
        assert isinstance(end, Limit)
        ends.append(end)
    return ends


def row(name: str, ends: list[Limit]) -> list[str]:
    """Name, claimed limits, proved ones, their gaps and shares, gaps of the others."""
    claimed = [end for end in ends if end.outcome.settled]
    proved = [end.proved for end in claimed if end.outcome == "proved" and end.proved]
    others = [end.proved for end in claimed if end.outcome != "proved" and end.proved]
    far = [1 - one.share for one in proved if one.share is not None]
    short = [end.certificate.shortfall for end in claimed if end.certificate]
    return [
        name,
        f"{len(claimed)} of {len(ends)}",
        str(sum(one < 1e-6 for one in short)),
        str(len(proved)),
        _sizes(one.margin_bounds.gap for one in proved),
        f"{len(far)}: {_sizes(far)}" if far else "–",
        _sizes(one.margin_bounds.gap for one in others),
    ]


def _sizes(values: Iterable[float]) -> str:
    """The median and the largest."""
    known = np.array(list(values))
    return f"{statistics.median(known):.0e}, {known.max():.0e}" if len(known) else "–"


HEAD = ["data", "limits claimed", "global optima", "proved", "gap (median, largest)"]
HEAD += ["weight elsewhere, at most", "gap where not proved"]


def section(say: Callable[[str], None]) -> str:
    rows = []
    for family in FAMILIES:
        rows.append(row(family[0], limits_of(family)))
        say("proved: " + ", ".join(rows[-1]))
    return "\n\n".join(
        [
            "## Proved limits",
            f"Width 100, default initialisation, {RUNS} data sets or seeds each (3 of the larger "
            f"ones), {SECONDS:g} s each. The gap is that of the bounds between which the margin "
            "can only end; the weight elsewhere is the share that may end further than 0.01 rad "
            "from the optimal directions.",
            table(HEAD, rows),
        ]
    )
