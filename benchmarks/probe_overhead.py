"""What `tacit.Probe` costs beside training: an MLP on MNIST in PyTorch, at its default interval.

Two networks train in turns, some batches each, one of them with the probe, so that a machine that
is busier now than then slows both alike. The probe sees a clock that stands while the other one
trains, since that is no time of its training. Each pair gives a ratio of CPU seconds.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.text import table
from tacit import Probe
from tacit.data.idx import read_idx
from tacit.probing import along_training, measuring

IMAGES, EPOCHS, BATCH, WIDTH, PAIRS, TURN = 10_000, 200, 64, 256, 3, 50
"""So many images are fitted in 30 epochs, and from then on a look may have a KKT residual."""


def mnist() -> tuple[np.ndarray, np.ndarray]:
    """Training images, one in each row, and their labels, from the folder TACIT_DATA."""
    folder = Path(os.environ.get("TACIT_DATA", "."))
    X = read_idx(folder / "train-images-idx3-ubyte.gz")
    y = read_idx(folder / "train-labels-idx1-ubyte.gz")
    return X.reshape(len(X), -1)[:IMAGES].astype(np.float32) / 255, y[:IMAGES].astype(np.int64)


def training(X: Any, y: Any, log: Probe | None, seed: int) -> Iterator[None]:
    """Some epochs of Adam, a batch at a time, with the probe called after each."""
    import torch

    draws = torch.Generator().manual_seed(seed)
    nn = torch.nn
    torch.manual_seed(seed)
    layers = [nn.Linear(784, WIDTH, bias=False), nn.ReLU(), nn.Linear(WIDTH, 10, bias=False)]
    model = nn.Sequential(*layers)
    rule = torch.optim.Adam(model.parameters())
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(y), generator=draws).split(BATCH):
            rule.zero_grad()
            nn.functional.cross_entropy(model(X[rows]), y[rows]).backward()
            rule.step()
            if log is not None:
                log(model)
            yield


class Turns:
    """Two trainings in turns: CPU seconds of each, and a clock that counts the second one alone."""

    def __init__(self) -> None:
        self.cpu = [0.0, 0.0]
        self._before, self._since = 0.0, 0.0

    def clock(self) -> float:
        """Seconds of the second training, asked while it runs."""
        return self._before + perf_counter() - self._since

    def run(self, *trainings: Iterator[None]) -> None:
        """Both to their ends."""
        for _ in range(0, EPOCHS * -(-IMAGES // BATCH), TURN):
            for k, one in enumerate(trainings):
                self._since, begun = perf_counter(), process_time()
                for _ in range(TURN):
                    next(one, None)
                self.cpu[k] += process_time() - begun
                self._before += k * (perf_counter() - self._since)


def pair(X: Any, y: Any, seed: int) -> tuple[list[float], Probe]:
    """CPU seconds without and with the probe, and what it saw."""
    turns = Turns()
    along_training.perf_counter = measuring.perf_counter = turns.clock
    try:
        log = Probe(X, y)
        turns.run(training(X, y, None, seed), training(X, y, log, seed))
    finally:
        along_training.perf_counter = measuring.perf_counter = perf_counter
    return turns.cpu, log


def section(say: Callable[[str], None]) -> str:
    """The table."""
    import torch

    torch.set_num_threads(1)
    X, y = (torch.from_numpy(array) for array in mnist())
    times, looks = [], []
    for k in range(PAIRS):
        say(f"MNIST with and without tacit.Probe, pair {k + 1} of {PAIRS}")
        cpu, log = pair(X, y, k)
        times.append(cpu)
        looks.append(log.records)
        say(f"{cpu[0]:.1f} s and {cpu[1]:.1f} s, {cpu[1] / cpu[0] - 1:+.1%}")
    alone, probed = np.array(times).T
    more = probed / alone - 1
    residuals = [sum(not math.isnan(row["residual"]) for row in one) for one in looks]
    rows = [
        ("training alone", f"{np.median(alone):.1f} s", ""),
        ("with tacit.Probe", f"{np.median(probed):.1f} s", f"{np.median(more):+.1%}"),
        ("the dearest of the pairs", "", f"{more.max():+.1%}"),
        (
            f"its looks, {np.median([len(one) for one in looks]):g} in a run, "
            f"{np.median(residuals):g} with a residual",
            f"{np.median([sum(row['seconds'] for row in one) for one in looks]):.2f} s",
            "",
        ),
    ]
    about = (
        f"MLP 784-{WIDTH}-10 on {IMAGES:,} images of MNIST, {EPOCHS} epochs of batches of {BATCH}, "
        f"one thread, in turns of {TURN} batches; CPU seconds, medians of {PAIRS} pairs; looks in "
        "seconds on the clock. The first pair imports and compiles what a look needs."
    )
    return f"## Probing along training\n\n{about}\n\n{table(('', 'time', 'more'), rows)}"
