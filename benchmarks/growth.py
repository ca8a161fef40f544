"""How time grows: training, limit and optimum against n, d, m and the number of seeds.

Each point is the median over three data sets; the exponent is the slope of a straight line through
log time against log size, with its standard error, and beside it the slope between the two largest
sizes, where what is paid once weighs least.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.text import seconds, table
from benchmarks.works import xor_like
from tacit import Dataset, Setting, load
from tacit.flow import binary_limit
from tacit.numerics.convex_program import convex_optimum
from tacit.training import train_many

DATA_SEEDS = range(3)
PATIENCE = 20.0
"""Seconds after which a limit or an optimum is given up; this is said."""

Once = Callable[..., tuple[float, str]]
"""Sizes and the seed of the data → seconds, and how it ended."""


def train(n: int, d: int, m: int, seeds: int, seed: int, steps: int = 200) -> tuple[float, str]:
    """Gradient descent, both layers, compiled before."""
    data = load(f"gaussians:n={n},d={d},seed={seed}")
    setting = Setting(width=m)
    if seed == DATA_SEEDS[0]:
        train_many(data, setting, steps, range(seeds))
    begun = time.perf_counter()
    train_many(data, setting, steps, range(seeds))
    return time.perf_counter() - begun, "done"


def limit(n: int, d: int, m: int, seed: int) -> tuple[float, str]:
    """Flow to its limit and the certificate, on orthogonally separable data (phuong2021)."""
    data = load(f"orthogonal:n={n},d={d},seed={seed}")
    end = binary_limit(data, Setting(width=m), seconds=PATIENCE)
    return end.seconds, end.outcome


def hard_limit(n: int, d: int, m: int, seed: int) -> tuple[float, str]:
    """The same on data that no line separates: neurons cross and slide along hyperplanes."""
    end = binary_limit(Dataset(*xor_like(n, d, seed)), Setting(width=m), seconds=PATIENCE)
    return end.seconds, end.outcome


def best(n: int, d: int, seed: int) -> tuple[float, str]:
    """The optimum, with its proof."""
    X, y = xor_like(n, d, seed)
    begun = time.perf_counter()
    optimum = convex_optimum(X, y, seconds=PATIENCE)
    return time.perf_counter() - begun, optimum.status


@dataclass(frozen=True)
class Study:
    """One size grows, the others stay."""

    what: str
    once: Once
    axis: str
    sizes: Sequence[int]
    others: dict[str, int]

    @property
    def name(self) -> str:
        return f"{self.what}, {self.axis}"


@dataclass(frozen=True)
class Growth:
    """Median seconds by size, and the exponents."""

    study: Study
    medians: np.ndarray
    ended: Counter[str]
    slope: float
    error: float
    last: float


BASE = {"n": 100, "d": 20, "m": 100, "seeds": 4}
STUDIES = [
    Study("train", train, "n", (100, 200, 400, 800, 1600), BASE),
    Study("train", train, "d", (20, 40, 80, 160, 320), BASE),
    Study("train", train, "m", (50, 100, 200, 400, 800), BASE),
    Study("train", train, "seeds", (4, 8, 16, 32, 64), BASE),
    Study("limit", limit, "n", (50, 100, 200, 400, 800), {"d": 10, "m": 20}),
    Study("limit", limit, "d", (5, 10, 20, 40, 80), {"n": 100, "m": 20}),
    Study("limit", limit, "m", (20, 40, 80, 160, 320), {"n": 100, "d": 10}),
    Study("limit, XOR labels", hard_limit, "n", (6, 12, 24), {"d": 3, "m": 40}),
    Study("optimum", best, "n", (20, 40, 80, 160), {"d": 3}),
    Study("optimum", best, "d", (3, 4, 5, 6), {"n": 20}),
]


def grow(study: Study) -> Growth:
    medians, ended = [], Counter[str]()
    for size in study.sizes:
        sizes = {**study.others, study.axis: size}
        runs = [study.once(**sizes, seed=seed) for seed in DATA_SEEDS]
        medians.append(float(np.median([spent for spent, _ in runs])))
        ended.update(how for _, how in runs)
    x, y = np.log(study.sizes), np.log(medians)
    slope, error = line(x, y)
    last = float((y[-1] - y[-2]) / (x[-1] - x[-2]))
    return Growth(study, np.array(medians), ended, slope, error, last)


def line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The slope of the least-squares line, and its standard error."""
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    rest = y - y.mean() - slope * centred
    return slope, float(np.sqrt(rest @ rest / (len(x) - 2) / (centred @ centred)))


HEAD = ("time of", "against", "others", "sizes", "seconds", "exponent", "at the end", "ended as")


def section(picture: Path | None, say: Callable[[str], None]) -> str:
    """All studies as a table, and a picture where one is asked for."""
    growths, rows = [], []
    for study in STUDIES:
        say(f"growth: {study.name}")
        growth = grow(study)
        growths.append(growth)
        others = {k: v for k, v in study.others.items() if k != study.axis}
        rows.append(
            (
                study.what,
                study.axis,
                " ".join(f"{name}={value}" for name, value in others.items()),
                " ".join(map(str, study.sizes)),
                ", ".join(map(seconds, growth.medians.tolist())),
                f"{growth.slope:.2f} ± {growth.error:.2f}",
                f"{growth.last:.2f}",
                ", ".join(f"{many} {how}" for how, many in growth.ended.most_common()),
            )
        )
    about = (
        "Medians over three data sets. train: 200 steps of gd, both layers, all cores, compiled "
        "before. limit: the flow followed to its limit with certificate, on orthogonally "
        "separable data, and on Gaussian points labelled sign(x₁x₂). optimum: on such points "
        "too, with its proof; networks of every width compete, so there is no m. "
        f"What takes longer than {PATIENCE:.0f} s is "
        "given up and ends as undecided or bounded. The exponent is the slope of log time "
        'against log size over all sizes, ± its standard error; "at the end" is the slope '
        "between the two largest."
    )
    text = f"## Growth\n\n{about}\n\n{table(HEAD, rows)}"
    if picture is None:
        return text
    draw(growths, picture)
    return f"{text}\n\n![time against size]({picture.name})"


def draw(growths: Sequence[Growth], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    kinds = list(dict.fromkeys(growth.study.what for growth in growths))
    figure, axes = plt.subplots(1, len(kinds), figsize=(3.6 * len(kinds), 3.2), squeeze=False)
    for kind, ax in zip(kinds, axes[0], strict=True):
        for growth in (one for one in growths if one.study.what == kind):
            sizes, label = growth.study.sizes, f"{growth.study.axis}: {growth.slope:.2f}"
            ax.loglog(np.divide(sizes, sizes[0]), growth.medians, "o-", label=label)
        ax.set(title=kind, xlabel="size over the smallest", xticks=(1, 2, 4, 8, 16))
        ax.set_xticklabels(["1", "2", "4", "8", "16"])
        ax.xaxis.minorticks_off()
        ax.legend(frameon=False)
    axes[0][0].set_ylabel("seconds")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
