"""What is timed: the ensembles, with what is asked of them, and points for the solvers."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from tacit import BadInput, Dataset, Setting, load


def xor_like(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian points labelled by the sign of x₁x₂."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, np.sign(X[:, 0] * X[:, 1]).astype(int)


@dataclass(frozen=True)
class Work:
    """A workload: one network for each data set, seeds 0, 1, …"""

    about: str
    setting: Setting
    data: tuple[Dataset, ...]
    epochs: int
    part: float
    """How much of it the PyTorch loop does before its time is scaled."""
    bar: float | None
    """How many times faster than the PyTorch loop it has to be."""

    @property
    def seeds(self) -> range:
        return range(len(self.data))


def sgd_50() -> Work:
    setting = Setting(width=100, init="uniform:0.05", rule="sgd", batch=50)
    data = (load("orthogonal:n=500,d=20"),) * 64
    return Work("SGD-50, n=500 d=20 m=100, 5,000 steps, 64 seeds", setting, data, 500, 1 / 64, 20)


def xord(pairs: int, bar: float) -> Work:
    """brutzkus2019 (2) with k pairs of filters, so 2k channels, on data as in its Fig. 1."""
    setting = Setting(
        model="conv_max_pool", width=2 * pairs, init="gaussian:1e-3", lr=1e-3, loss="hinge"
    )
    calls = (f"xord:n=12,d=7,p_plus=0.5,p_minus=0.9,seed={seed}" for seed in range(100))
    about = f"XORD k={pairs} ({2 * pairs} channels), 1,000 iterations, 100 seeds"
    return Work(about, setting, tuple(map(load, calls)), 1000, 0.02, bar)


def sgd_1() -> Work:
    setting = Setting(width=100, train="first", init="gaussian:1e-3", rule="sgd", lr=1e-3)
    data, name = load("gaussians:n=4000,d=784"), "Gaussians: MNIST is not here"
    if "TACIT_DATA" in os.environ:  # nothing is fetched for this
        with suppress(BadInput):
            data, name = load("mnist:classes=0/1,n=4000"), "MNIST 0/1"
    about = f"SGD-1, n=4,000 d=784 ({name}) m=100, one epoch, one seed"
    return Work(about, setting, (data,), 1, 1.0, 20)


def descent() -> Work:
    setting = Setting(width=100, init="balanced:0.1")
    data = (load("gaussians:n=100,d=50"),)
    return Work("GD, n=100 d=50 m=100, 10,000 steps, one seed", setting, data, 10_000, 0.1, None)


def tiny() -> Work:
    setting = Setting(width=4, init="balanced:0.1")
    about = "GD on XOR, n=4 d=2 m=4, 10,000 steps, 100 seeds"
    return Work(about, setting, (load("xor"),) * 100, 10_000, 0.01, None)


WORKS: dict[str, Callable[[], Work]] = {
    "A": sgd_50,
    "B2": lambda: xord(2, 1000),
    "B100": lambda: xord(100, 44),
    "C": sgd_1,
    "D": descent,
    "E": tiny,
}
