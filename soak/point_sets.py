"""Data that random numbers seldom give: lattices, ties, repeated points, and many scales."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

Rng = np.random.Generator


def _gaussian(rng: Rng, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d))


def _lattice(rng: Rng, n: int, d: int) -> np.ndarray:
    return rng.integers(-2, 3, (n, d)).astype(float)


def _perturbed_lattice(rng: Rng, n: int, d: int) -> np.ndarray:
    return _lattice(rng, n, d) + 10.0 ** rng.integers(-12, -3) * rng.normal(size=(n, d))


def _opposite(rng: Rng, n: int, d: int) -> np.ndarray:
    """Points and their opposites, mixed."""
    half = _lattice(rng, n, d) if rng.random() < 0.5 else rng.normal(size=(n, d))
    return np.where(rng.random((n, 1)) < 0.5, half, -half[rng.permutation(n)])


def _parallel(rng: Rng, n: int, d: int) -> np.ndarray:
    """Few lines through 0, several points on each."""
    lines = rng.normal(size=(max(1, n // 2), d))
    return lines[rng.integers(len(lines), size=n)] * rng.choice([-2.0, -1, 0.5, 1, 3], (n, 1))


def _repeated(rng: Rng, n: int, d: int) -> np.ndarray:
    few = rng.normal(size=(max(1, n // 2), d))
    return few[rng.integers(len(few), size=n)]


def _flat(rng: Rng, n: int, d: int) -> np.ndarray:
    """All points in a subspace of one dimension less."""
    return rng.normal(size=(n, max(1, d - 1))) @ rng.normal(size=(max(1, d - 1), d))


def _near(rng: Rng, n: int, d: int) -> np.ndarray:
    """Pairs of points that nearly coincide."""
    X = rng.normal(size=(n, d))
    X[1::2] = X[: n - n % 2 : 2] + 10.0 ** -rng.uniform(1, 8) * rng.normal(size=(n // 2, d))
    return X


def _mixed_lengths(rng: Rng, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3, (n, 1))


def _circle(rng: Rng, n: int, d: int) -> np.ndarray:
    X = rng.normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1)[:, None]


KINDS: dict[str, Callable[[Rng, int, int], np.ndarray]] = {
    "gaussian": _gaussian,
    "lattice": _lattice,
    "perturbed lattice": _perturbed_lattice,
    "opposite": _opposite,
    "parallel": _parallel,
    "repeated": _repeated,
    "flat": _flat,
    "near": _near,
    "mixed lengths": _mixed_lengths,
    "circle": _circle,
}


def _labels(rng: Rng, X: np.ndarray) -> np.ndarray:
    n, d = X.shape
    kind = rng.integers(5)
    if kind == 0:  # of a line
        scores = X @ rng.normal(size=d)
    elif kind == 1:  # of two lines
        scores = (X @ rng.normal(size=d)) * (X @ rng.normal(size=d))
    elif kind == 2:
        scores = np.full(n, rng.choice([-1.0, 1.0]))
    else:
        scores = rng.choice([-1.0, 1.0], n)
    return np.where(scores >= 0, 1, -1)


def points(
    rng: Rng,
    most: int = 10,
    dimensions: tuple[int, ...] = (1, 2, 2, 3),
    decades: float = 8.0,
) -> tuple[np.ndarray, np.ndarray]:
    """X and y of a random kind; a third of all sets is multiplied by a power of ten."""
    n, d = int(rng.integers(1, most + 1)), int(rng.choice(dimensions))
    X = KINDS[str(rng.choice(list(KINDS)))](rng, n, d)
    y = _labels(rng, X)
    if rng.random() < 1 / 3:
        X = X * 10.0 ** rng.uniform(-decades, decades)
    return X, y


def write_csv(path: Path, X: np.ndarray, y: np.ndarray) -> Path:
    """The points as a file; every digit is kept."""
    lines = [
        ",".join([*map(repr, row), str(label)])
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path
