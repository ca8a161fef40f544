"""What `tacit.Probe` costs beside training: an MLP on MNIST in PyTorch, at its default interval.

Runs with and without it take turns, so that a machine that is busier now than then is no answer,
and each pair gives a ratio of CPU seconds; the table has the median and the largest.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.text import table
from tacit import Probe
from tacit.data.idx import read_idx

IMAGES, EPOCHS, BATCH, WIDTH, PAIRS = 10_000, 60, 64, 256, 5
"""So many images are fitted half way, and from then on a look has a KKT residual."""


def mnist() -> tuple[np.ndarray, np.ndarray]:
    """Training images, one in each row, and their labels, from the folder TACIT_DATA."""
    folder = Path(os.environ.get("TACIT_DATA", "."))
    X = read_idx(folder / "train-images-idx3-ubyte.gz")
    y = read_idx(folder / "train-labels-idx1-ubyte.gz")
    return X.reshape(len(X), -1)[:IMAGES].astype(np.float32) / 255, y[:IMAGES].astype(np.int64)


def seconds(X: Any, y: Any, log: Probe | None) -> float:
    """CPU seconds of some epochs of Adam, with the probe called after every batch."""
    import torch

    torch.manual_seed(0)
    nn = torch.nn
    layers = [nn.Linear(784, WIDTH, bias=False), nn.ReLU(), nn.Linear(WIDTH, 10, bias=False)]
    model = nn.Sequential(*layers)
    rule = torch.optim.Adam(model.parameters())
    begun = process_time()
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(y)).split(BATCH):
            rule.zero_grad()
            nn.functional.cross_entropy(model(X[rows]), y[rows]).backward()
            rule.step()
            if log is not None:
                log(model)
    return process_time() - begun


def section(say: Callable[[str], None]) -> str:
    """The table."""
    import torch

    torch.set_num_threads(1)
    X, y = (torch.from_numpy(array) for array in mnist())
    alone, probed, logs = [], [], []
    seconds(X, y, Probe(X, y))  # what is imported and compiled once
    for pair in range(PAIRS):
        say(f"MNIST with and without tacit.Probe, pair {pair + 1} of {PAIRS}")
        logs.append(Probe(X, y))
        for log in (None, logs[-1]) if pair % 2 else (logs[-1], None):
            (alone if log is None else probed).append(seconds(X, y, log))
    more = np.array(probed) / np.array(alone) - 1
    looks = [log.records for log in logs]
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
        f"one thread, CPU seconds, medians of {PAIRS} pairs; looks in seconds on the clock."
    )
    return f"## Probing along training\n\n{about}\n\n{table(('', 'time', 'more'), rows)}"
