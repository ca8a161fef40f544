"""Ensembles: ours against a PyTorch loop over seeds, in the same run, on one thread each.

    python benchmarks/ensembles.py            # needs torch, which nothing else here does

The loop is what a researcher writes: one network after the other, autograd, one step at a time. It
is run for a part of the work and scaled; `--whole` runs all of it (minutes).
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import torch

from tacit import Dataset, Setting, load
from tacit.train import train_many

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


XORD = "XORD,"


@dataclass(frozen=True)
class Work:
    """A workload, and how much of it the PyTorch loop does before it is scaled."""

    name: str
    setting: Setting
    data: list[Dataset]
    epochs: int
    part: float
    loop: Callable[[Work, int, int], None]
    """Trains network `seed` for so many epochs."""


def two_layer(work: Work, seed: int, epochs: int) -> None:
    """SGD on a two-layer net; the output layer is trained or not."""
    data, s = work.data[seed], work.setting
    X, y = torch.tensor(data.X), torch.tensor(data.y, dtype=torch.float64)
    hidden = torch.nn.Linear(data.d, s.width, bias=False)
    out = torch.nn.Linear(s.width, 1, bias=False)
    out.weight.requires_grad_(s.train != "first")
    moved = [p for p in (hidden.weight, out.weight) if p.requires_grad]
    optimizer = torch.optim.SGD(moved, lr=s.lr)
    batch = s.batch or 1
    for _ in range(epochs):
        order = torch.randperm(data.n)
        for first in range(0, data.n, batch):
            rows = order[first : first + batch]
            f = out(torch.relu(hidden(X[rows])))[:, 0]
            loss = torch.nn.functional.softplus(-y[rows] * f).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def conv_max_pool(work: Work, seed: int, epochs: int) -> None:
    """Gradient descent on brutzkus2019's network."""
    data, s = work.data[seed], work.setting
    X, y = torch.tensor(data.X).reshape(data.n, -1, 2), torch.tensor(data.y, dtype=torch.float64)
    W = (1e-3 * torch.randn(s.width, 2)).requires_grad_()
    optimizer = torch.optim.SGD([W], lr=s.lr)
    half = s.width // 2
    for _ in range(epochs):
        z = torch.relu(X @ W.T).amax(dim=1)
        f = z[:, :half].sum(dim=1) - z[:, half:].sum(dim=1)
        loss = torch.relu(1 - y * f).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def works(mnist: bool) -> list[Work]:
    xord = [load(f"xord:n=12,d=7,p_plus=0.5,p_minus=0.9,seed={seed}") for seed in range(100)]
    conv = Setting(model="conv_max_pool", init="gaussian:1e-3", lr=1e-3, loss="hinge")
    found = [
        Work(
            "SGD-50, n=500 d=20 m=100, 5,000 steps, 64 seeds",
            Setting(width=100, init="uniform:0.05", rule="sgd", batch=50),
            [load("orthogonal:n=500,d=20")] * 64,
            500,
            1 / 64,
            two_layer,
        )
    ]
    for channels in (4, 6, 8, 20, 50, 100, 200):  # brutzkus2019 Fig. 1
        setting = replace(conv, width=channels)
        name = f"{XORD} {channels} channels, 1,000 iterations, 100 seeds"
        found.append(Work(name, setting, xord, 1000, 0.02, conv_max_pool))
    if mnist:
        sgd = Setting(width=100, train="first", init="gaussian:1e-3", rule="sgd", lr=1e-3)
        pair = load("mnist:classes=0/1,n=12000")
        found.append(Work("SGD-1, 12,000 × 784, m=100, one epoch", sgd, [pair], 1, 1.0, two_layer))
    return found


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """The fastest of some times."""
    best = np.inf
    for _ in range(times):
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return best


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--whole", action="store_true", help="the whole PyTorch loop")
    whole = arguments.parse_args().whole
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, ")
    print(f"torch {torch.__version__}; seconds\n")
    print(f"{'work':50} {'PyTorch':>9} {'ours':>8} {'first':>7} {'ratio':>7}")
    sums = np.zeros(2)
    for work in works("TACIT_DATA" in os.environ):
        seeds = range(len(work.data))

        def ours(work: Work = work, seeds: range = seeds) -> None:
            train_many(work.setting, work.data, work.epochs, seeds)

        first = seconds(ours)
        mine = seconds(ours, times=3)
        part = 1.0 if whole else work.part
        some = range(max(round(part * len(work.data)), 1))

        def loop(work: Work = work, some: range = some) -> None:
            for seed in some:
                work.loop(work, seed, work.epochs)

        peer = seconds(loop) * len(work.data) / len(some)
        print(f"{work.name:50} {peer:9.2f} {mine:8.3f} {first - mine:7.2f} {peer / mine:7.0f}")
        if work.name.startswith(XORD):
            sums += peer, mine
    print(f"{'all seven of XORD':50} {sums[0]:9.2f} {sums[1]:8.3f} {'':7} {sums[0] / sums[1]:7.0f}")


if __name__ == "__main__":
    main()
