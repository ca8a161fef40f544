"""Few points in very many dimensions: no command needs memory that grows with d²."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

MOST_BYTES = 5 * 2**30
"""A matrix of 30,000 × 30,000 numbers takes 7.2·10⁹."""


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "command",
    ["check", "predict", "optimum", "limit --seconds 8", "explain --seconds 15 --out o", "train"],
)
def test_memory_does_not_grow_with_the_square_of_the_dimension(
    command: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    np.savez(tmp_path / "wide.npz", X=rng.normal(size=(5, 30_000)), y=[1, -1, 1, 1, -1])
    verb, *options = command.split()
    if verb == "train":
        options = ["--epochs", "3", "--picture", "p.png"]
    words = [sys.executable, "-m", "tacit", verb, "wide.npz", *options]
    limited = ["sh", "-c", f'ulimit -v {MOST_BYTES // 1024} && exec "$@"', "sh", *words]
    done = subprocess.run(limited, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
