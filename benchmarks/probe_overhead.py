"""What `tacit.Probe` costs beside training: an MLP on MNIST in PyTorch, by default."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.text import table
from tacit import Probe
from tacit.data.idx import read_idx

EPOCHS, BATCH, WIDTH = 4, 64, 256


def mnist() -> tuple[np.ndarray, np.ndarray]:
    """The training images, one in each row, and their labels, from the folder TACIT_DATA."""
    folder = Path(os.environ.get("TACIT_DATA", "."))
    X = read_idx(folder / "train-images-idx3-ubyte.gz")
    y = read_idx(folder / "train-labels-idx1-ubyte.gz")
    return X.reshape(len(X), -1).astype(np.float32) / 255, y.astype(np.int64)


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
    say("MNIST without a probe")
    alone = seconds(X, y, None)
    say("MNIST with tacit.Probe at its default interval")
    log = Probe(X, y)
    probed = seconds(X, y, log)
    looking = sum(row["seconds"] for row in log.records)
    first = log.records[0]["seconds"]
    rows = [
        ("training alone", f"{alone:.1f} s", ""),
        ("with tacit.Probe", f"{probed:.1f} s", f"{probed / alone - 1:+.1%}"),
        (f"its {len(log.records)} looks (the first {first:.1f} s)", f"{looking:.1f} s", ""),
    ]
    about = (
        f"MLP 784-{WIDTH}-10 on MNIST, {EPOCHS} epochs of batches of {BATCH}, one thread, CPU "
        "seconds; looks in seconds on the clock."
    )
    return f"## Probing along training\n\n{about}\n\n{table(('', 'time', 'more'), rows)}"
