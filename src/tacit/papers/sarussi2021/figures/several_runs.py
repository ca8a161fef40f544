"""Claims about the mean of several runs."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tacit.reproduction.artefact import Claim
from tacit.reproduction.claims import mean_interval


def mean_of_runs(
    bounded: Callable[..., Claim],
    id: str,
    text: str,
    values: np.ndarray,
    bound: float,
    said: float | str,
) -> Claim:
    """The claim `bounded` (`at_most` or `at_least`) of a mean, with its confidence interval."""
    claim = bounded(id, text, float(values.mean()), bound, said)
    return replace(claim, interval=mean_interval(values) if len(values) > 1 else None)
