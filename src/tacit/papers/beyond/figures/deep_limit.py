"""Limits of gradient flow that need a deep path."""

import numpy as np

from tacit.flow import Limit, Outcome, binary_limit
from tacit.values import Dataset, Setting

FOLLOWED_TO = -1e60
"""log₁₀ L to which paths are followed that do not tell their limit at first."""


def deep_limit(
    setting: Setting,
    data: Dataset,
    seed: int,
    seconds: float,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> Limit:
    """The limit, or where it is not told, the path as far down as it can be followed."""
    limit = binary_limit(data, setting, seed=seed, seconds=seconds, start=start)
    if limit.outcome is Outcome.UNDECIDED:
        limit = binary_limit(
            data, setting, seed=seed, log10_loss=FOLLOWED_TO, seconds=seconds, start=start
        )
    return limit
