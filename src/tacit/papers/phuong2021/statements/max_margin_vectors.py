"""The max-margin vectors w₊ and w₋ of the two classes."""

import numpy as np

from tacit.numerics.class_margin import class_margin
from tacit.values import Dataset


def max_margin_vectors(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """The shortest vectors with w·x ≥ 1 on the positive and on the negative points."""
    plus, minus = (class_margin(data.X, data.y, label).w for label in (1, -1))  # (6), (7)
    assert plus is not None and minus is not None, "orthogonally separable data has both"
    return plus, minus


def unit(w: np.ndarray) -> np.ndarray:
    """The vector divided by its length."""
    return w / np.linalg.norm(w)
