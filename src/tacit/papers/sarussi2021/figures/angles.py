"""The angle between two vectors."""

import numpy as np


def angle(one: np.ndarray, other: np.ndarray) -> float:
    """Radians between two vectors; accurate also when it is tiny, unlike arccos of the cosine."""
    u, v = one / np.linalg.norm(one), other / np.linalg.norm(other)
    return float(2 * np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v)))
