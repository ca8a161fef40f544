"""The limit on any data: one network where there are two classes, else one per class."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tacit.flow.ending import Progress, find
from tacit.flow.result import Limit
from tacit.values import BadInput, Dataset, Setting

MOST_SEED = 2**32 - 1
MOST_ENTRIES = 10**8
"""Sides of walls, or numbers in the weights, that are kept for every moment."""


def find_each(
    setting: Setting,
    data: Dataset,
    seed: int = 0,
    log10_loss: float = -1000.0,
    seconds: float = 540.0,
    progress: Progress | None = None,
) -> tuple[list[Limit], bool]:
    """The limits, from one seed, and whether a KeyboardInterrupt ended the search.

    Then the last limit may be that of a path cut short, and those of further classes are missing.
    """
    _check(setting, data, seed, log10_loss, seconds)
    found: list[Limit] = []
    for k in range(len(data.classes) or 1):
        part = data if data.binary else data.one_vs_rest(k)
        try:
            found.append(find(setting, part, seed, log10_loss, seconds, progress))
        except KeyboardInterrupt:
            if not found:
                raise
            return found, True
        if found[-1].path.end == "interrupted":
            return found, True
    return found, False


def worst(found: Sequence[Limit]) -> int:
    """The first that did not converge, else the one that may be furthest below the optimum."""
    for k, one in enumerate(found):
        if one.outcome != "converged":
            return k
    gaps = [one.certificate.gap if one.certificate else math.inf for one in found]
    return gaps.index(max(gaps))


def _check(setting: Setting, data: Dataset, seed: int, log10_loss: float, seconds: float) -> None:
    if setting.width < 1:
        raise BadInput(f"--width {setting.width} must be at least 1")
    if setting.width * max(data.n, data.d) > MOST_ENTRIES:
        raise BadInput(
            f"--width {setting.width} with {data.n} points in {data.d} dimensions needs more than "
            f"{MOST_ENTRIES:,} numbers at every moment; choose it smaller"
        )
    if not 0 < setting.output_weight < math.inf:
        raise BadInput(f"--output-weight {setting.output_weight} must be a positive number")
    if not 0 <= seed <= MOST_SEED:
        raise BadInput(f"--seed {seed} must be between 0 and {MOST_SEED}")
    if not -math.inf < log10_loss < 0:
        raise BadInput(f"--log10-loss {log10_loss:g} must be a negative number, say -1000")
    if not seconds > 0:
        raise BadInput(f"--seconds {seconds:g} must be positive")
