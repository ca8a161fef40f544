"""Confidence intervals of shares and means."""

from __future__ import annotations

import numpy as np
from scipy import stats

CONFIDENCE = 0.99


def share_interval(successes: int, trials: int) -> tuple[float, float]:
    """Clopper and Pearson's exact 99% interval of a probability."""
    tail = (1 - CONFIDENCE) / 2
    low = stats.beta.ppf(tail, successes, trials - successes + 1) if successes else 0.0
    high = stats.beta.ppf(1 - tail, successes + 1, trials - successes) if successes < trials else 1
    return float(low), float(high)


def mean_interval(values: np.ndarray) -> tuple[float, float]:
    """Student's 99% interval of a mean; of one value nothing is known."""
    n = len(values)
    if n < 2:
        return -np.inf, np.inf
    half = stats.t.ppf((1 + CONFIDENCE) / 2, n - 1) * np.std(values, ddof=1) / np.sqrt(n)
    mean = float(np.mean(values))
    return mean - float(half), mean + float(half)
