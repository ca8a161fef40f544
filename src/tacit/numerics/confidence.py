"""Confidence intervals of shares and means."""

import numpy as np

CONFIDENCE = 0.99
"""The confidence of every interval: of a hundred true claims, one may fail by chance."""


def share_interval(successes: int, trials: int) -> tuple[float, float]:
    """Clopper and Pearson's exact 99% interval of a probability."""
    from scipy.special import betaincinv

    tail, failures = (1 - CONFIDENCE) / 2, trials - successes
    low = 0.0 if successes == 0 else float(betaincinv(successes, failures + 1, tail))
    high = 1.0 if failures == 0 else float(betaincinv(successes + 1, failures, 1 - tail))
    return low, high


def mean_interval(values: np.ndarray) -> tuple[float, float]:
    """Student's 99% interval of a mean; a single value bounds nothing."""
    from scipy.special import stdtrit

    n = len(values)
    if n < 2:
        return -np.inf, np.inf
    quantile = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
    mean, half = float(np.mean(values)), quantile * float(np.std(values, ddof=1)) / np.sqrt(n)
    return mean - float(half), mean + float(half)
