"""What several generators draw in the same way."""

from collections.abc import Callable

import numpy as np

from tacit.messages import require
from tacit.values import Dataset

LARGEST = 1e100
"""Lengths beyond this are refused: their squares must stay finite."""

Points = tuple[np.ndarray, np.ndarray]
"""X (n × d) and y (n)."""


def between(name: str, key: str, value: float, least: float, most: float = LARGEST) -> None:
    """Refuse a parameter outside [least, most]."""
    require(
        least <= value <= most, f"{name}: {key}={value} must lie between {least:g} and {most:g}"
    )


def above(name: str, key: str, value: float, least: float, most: float = LARGEST) -> None:
    """Refuse a parameter outside (least, most]."""
    require(
        least < value <= most,
        f"{name}: {key}={value} must be greater than {least:g} and at most {most:g}",
    )


def unit_vector(d: int, rng: np.random.Generator) -> np.ndarray:
    """A direction, uniform on the sphere."""
    g = rng.standard_normal(d)
    return g / np.linalg.norm(g)


def halves(n: int) -> np.ndarray:
    """Labels: the first ⌊n/2⌋ positive, the rest negative."""
    return np.where(np.arange(n) < n // 2, 1, -1)


def train_and_test(
    draw: Callable[[int, np.random.Generator], Points],
    n: int,
    test: int,
    rng: np.random.Generator,
    classes: tuple[str, ...] = (),
) -> Dataset:
    """n points, and `test` more from a stream of their own, so that they do not disturb the n."""
    (test_rng,) = rng.spawn(1)
    test_set = Dataset(*draw(test, test_rng), name="test", classes=classes) if test else None
    return Dataset(*draw(n, rng), classes=classes, test=test_set)
