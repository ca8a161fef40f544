"""The decision boundary of a function of the plane that is homogeneous: rays from 0."""

import numpy as np

TURNS = 7200
"""Directions of the plane at which a boundary is looked at."""


def circle() -> np.ndarray:
    """Directions of the plane in turn; none of them lies on an axis or on a diagonal."""
    theta = 2 * np.pi * (np.arange(TURNS) + 0.5) / TURNS
    return np.column_stack([np.cos(theta), np.sin(theta)])


def bend(label: np.ndarray) -> float:
    """Degrees by which a boundary misses being a line, from labels ±1 of the directions in turn.

    The best linear classifier is +1 on some half of the circle: all of them are tried.
    """
    half = len(label) // 2
    before = np.concatenate([[0], np.cumsum(np.tile(label, 2))])
    inside = before[half : half + len(label)] - before[: len(label)]
    agree = 2 * inside - label.sum()  # right ones less wrong ones
    return float(180 * (1 - agree.max() / len(label)))
