"""Shares and means over many runs as rows (value, low, high) with a 99% interval."""

import math
from collections.abc import Iterable

import numpy as np

from tacit.numerics.confidence import mean_interval, share_interval


def share(number: int, of: int) -> tuple[float, float, float]:
    """The share `number`/`of` and its interval."""
    return (number / of, *share_interval(number, of))


def shares(samples: Iterable[np.ndarray]) -> np.ndarray:
    """One row for each sample of booleans: the share that is true, and its interval."""
    return np.array([share(int(sample.sum()), len(sample)) for sample in samples])


def mean_errors(samples: Iterable[np.ndarray]) -> np.ndarray:
    """One row for each sample of error rates: the mean, and its interval within [0, 1]."""
    nothing = (math.nan, 0.0, 1.0)
    return np.array(
        [
            (sample.mean(), *np.clip(mean_interval(sample), 0, 1)) if len(sample) else nothing
            for sample in samples
        ]
    )
