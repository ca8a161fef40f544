"""Data that people bring: how long the limit and the optimum take, and how they end.

Beside each limit stands gradient descent in C from the same weights, for the same time: how far has
that come? Everything is on one core but for what says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from sklearn import datasets
from soak.descent import NoCompiler, descend

import tacit
from benchmarks.text import seconds, table
from tacit.values import BadInput, Dataset, Setting

PATIENCE = 60.0
"""Seconds after which a limit or an optimum is given up, or later where the bar is …"""
NO_BAR = 300.0
"""… and where there is none."""
STEP = 1e-3
"""The step of descent, relative to the weights."""


def standardised(X: np.ndarray) -> np.ndarray:
    """Mean 0 and variance 1 in every column that varies."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def pair(loader: Callable[..., tuple[np.ndarray, np.ndarray]], one: int, other: int) -> Dataset:
    """Two classes of a data set of scikit-learn; the first is +1."""
    X, label = loader(return_X_y=True)
    rows = (label == one) | (label == other)
    return Dataset(X[rows], np.where(label[rows] == one, 1, -1))


def scaled(data: Dataset) -> Dataset:
    return Dataset(standardised(data.X), data.y)


def gaussian(n: int, d: int, labels: str, seed: int = 0) -> Dataset:
    """Gaussian points with random, linear or XOR labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    rules = {
        "random": rng.choice([-1, 1], n),
        "linear": np.sign(X @ rng.standard_normal(d)),
        "xor": np.sign(X[:, 0] * X[:, 1]),
    }
    return Dataset(X, rules[labels].astype(int))


def circles() -> Dataset:
    X, label = datasets.make_circles(100, noise=0.05, factor=0.5, random_state=0)
    return Dataset(np.hstack([X, np.ones((100, 1))]), 2 * label - 1)


@dataclass(frozen=True)
class Problem:
    name: str
    data: Callable[[], Dataset]
    bar: float | None
    """Seconds within which it is to be decided; None: the gap is what counts."""
    width: int = 100


LIMITS = (
    Problem("iris 0/1, raw", lambda: pair(datasets.load_iris, 0, 1), 0.5),
    Problem("XOR labels, n=40 d=3", lambda: gaussian(40, 3, "xor"), 0.5),
    Problem("digits 0/1", lambda: pair(datasets.load_digits, 0, 1), 5),
    Problem("digits 3/8", lambda: pair(datasets.load_digits, 3, 8), 5),
    Problem("random labels, n=100 d=10", lambda: gaussian(100, 10, "random"), 10),
    Problem("linear labels, n=200 d=20", lambda: gaussian(200, 20, "linear"), 10),
    Problem("wine 0/1, raw", lambda: pair(datasets.load_wine, 0, 1), 10),
    Problem("wine 0/1, standardised", lambda: scaled(pair(datasets.load_wine, 0, 1)), 10),
    Problem("circles with bias, n=100", circles, 10),
    Problem("breast cancer, standardised", lambda: scaled(cancer()), 60),
    Problem("linear labels, n=500 d=50", lambda: gaussian(500, 50, "linear"), 60, 200),
    Problem("MNIST 0/1, 2,000 images", lambda: tacit.load("mnist:classes=0/1,n=2000"), 300, 50),
)
OPTIMA = (
    Problem("digits 0/1", lambda: pair(datasets.load_digits, 0, 1), 2),
    Problem("wine 1/2, standardised", lambda: scaled(pair(datasets.load_wine, 1, 2)), 3),
    Problem("digits 3/8", lambda: pair(datasets.load_digits, 3, 8), 10),
    Problem("random labels, n=60 d=8", lambda: gaussian(60, 8, "random"), 60),
    Problem("breast cancer, standardised", lambda: scaled(cancer()), 300),
    Problem("random labels, n=100 d=10", lambda: gaussian(100, 10, "random"), None),
)


def cancer() -> Dataset:
    return pair(datasets.load_breast_cancer, 0, 1)


def ordinary(seed: int) -> tuple[Dataset, Setting]:
    """Moons, circles, blobs, XOR or random labels from an ordinary initialisation."""
    rng = np.random.default_rng(seed)
    n, d, width = rng.integers(10, 101), rng.integers(2, 6), rng.integers(10, 51)
    X = rng.standard_normal((n, d))
    bias = np.ones((n, 1))
    moons = datasets.make_moons(n, noise=0.1, random_state=seed)
    rings = datasets.make_circles(n, noise=0.05, factor=0.5, random_state=seed)
    X, label = (
        (np.hstack([moons[0], bias]), moons[1]),
        (np.hstack([rings[0], bias]), rings[1]),
        datasets.make_blobs(n, d, centers=2, random_state=seed),
        (X, X[:, 0] * X[:, 1] > 0),
        (X, rng.integers(0, 2, n)),
    )[seed % 5]
    return Dataset(X, np.where(label > 0, 1, -1)), Setting(width=int(width), init="he:1")


def planar(seed: int) -> tuple[Dataset, Setting]:
    """16 points in the plane with linear or XOR labels, 40 small neurons."""
    return gaussian(16, 2, ("linear", "xor")[seed % 2], seed), Setting(width=40)


def decided_row(
    name: str, problem: Callable[[int], tuple[Dataset, Setting]], seeds: range, patience: float
) -> list[str]:
    """Name, problems, and how they end, with the median time and the longest."""
    times, outcomes = [], []
    for seed in seeds:
        data, setting = problem(seed)
        begun = perf_counter()
        outcomes.append(str(tacit.limit(data, setting, seed=seed, seconds=patience).outcome))
        times.append(perf_counter() - begun)
    ends = ", ".join(f"{outcomes.count(one)} {one}" for one in sorted(set(outcomes)))
    return [name, str(len(seeds)), ends, seconds(float(np.median(times))), seconds(max(times))]


def limit_row(problem: Problem) -> list[str]:
    """Name, outcome, log₁₀ loss, time, bar; and the loss that descent comes to in that time."""
    try:
        data, setting = problem.data(), Setting(width=problem.width)
    except BadInput:  # MNIST is on few machines
        return [problem.name, "no data here", *4 * ["–"]]
    begun = perf_counter()
    end = tacit.limit(data, setting, seconds=max(PATIENCE, problem.bar or 0.0))
    took = perf_counter() - begun
    depth = end.path.last.log_L / math.log(10)
    first = end.path.moments[0].state
    return [
        problem.name,
        str(end.outcome),
        f"{depth:.4g}",
        seconds(took),
        seconds(problem.bar),
        _descent(data, first.W, first.a, took),
    ]


def _descent(data: Dataset, W: np.ndarray, a: np.ndarray, took: float) -> str:
    """log₁₀ of the loss that descent comes to in this time."""
    steps = 1000
    try:
        while True:
            begun = perf_counter()
            y = data.y.astype(float)
            goal = np.array([-math.inf])
            run = descend(data.X, y, W, a, 0.0, True, False, goal, STEP, steps)
            spent = perf_counter() - begun
            if spent > took / 2 or steps > 10**9:
                return f"{run.log_L / math.log(10):.4g}"
            steps = int(steps * min(max(0.9 * took / max(spent, 1e-6), 2.0), 100.0))
    except NoCompiler as missing:
        return str(missing)


def optimum_row(problem: Problem) -> list[str]:
    """Name, status, gap, time, bar."""
    data = problem.data()
    begun = perf_counter()
    best = tacit.optimum(data, seconds=max(PATIENCE, problem.bar or NO_BAR))
    took = perf_counter() - begun
    return [problem.name, str(best.status), f"{best.gap:.0e}", seconds(took), seconds(problem.bar)]


def section(say: Callable[[str], None]) -> str:
    tacit.limit("xor", Setting(width=4))  # compiles
    tacit.optimum(gaussian(30, 8, "linear"))
    rows, best = [], []
    for problem in LIMITS:
        rows.append(limit_row(problem))
        say("limit: " + ", ".join(rows[-1]))
    for problem in OPTIMA:
        best.append(optimum_row(problem))
        say("optimum: " + ", ".join(best[-1]))
    many = [
        decided_row("he:1, n ≤ 100, d ≤ 5, width ≤ 50", ordinary, range(7000, 7040), 30.0),
        decided_row("16 points in the plane, width 40", planar, range(5000, 5200), 30.0),
    ]
    say("many limits: " + "; ".join(", ".join(row) for row in many))
    head = ["limit", "outcome", "log₁₀ L", "time", "bar", "descent in C comes to log₁₀ L"]
    return "\n\n".join(
        [
            "## Real data",
            f"Width 100 (200 for n=500, 50 for MNIST), default initialisation, given up after "
            f"{PATIENCE:g} s, or its bar. "
            "Descent takes steps of a thousandth of the weights' length.",
            table(head, rows),
            table(["limits", "problems", "outcomes", "median", "longest"], many),
            table(["optimum", "status", "gap", "time", "bar"], best),
        ]
    )
