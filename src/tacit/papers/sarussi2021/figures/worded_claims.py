"""Claims that the paper makes in words, and that a number of ours decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tacit.reproduction.artefact import Claim
from tacit.reproduction.claims import at_most, mean_interval


def by_our_bound(
    bounded: Callable[..., Claim], id: str, text: str, value: float, bound: float, said: str
) -> Claim:
    """The claim that a number is what the paper `said`, judged by `at_most` or `at_least`."""
    sign = "≤" if bounded is at_most else "≥"
    return bounded(id, text, value, bound, f"{said} (ours: {sign} {bound:g})")


def mean_by_our_bound(
    bounded: Callable[..., Claim], id: str, text: str, values: np.ndarray, bound: float, said: str
) -> Claim:
    """`by_our_bound` for the mean of several runs, with its confidence interval."""
    claim = by_our_bound(bounded, id, text, float(values.mean()), bound, said)
    return replace(claim, interval=mean_interval(values) if len(values) > 1 else None)


def explained(claim: Claim, known: bool, finding: str) -> Claim:
    """The claim, with the finding where it fails and what the finding says is known to be so."""
    return claim if claim.holds or not known else replace(claim, finding=finding)
