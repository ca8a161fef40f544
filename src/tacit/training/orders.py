"""The orders in which SGD passes over the examples: without replacement, drawn on the host.

Sorting, which a permutation costs in compiled code, would take a third of the time of training
small networks.
"""

from functools import lru_cache

import numpy as np

MOST_ORDERS, MOST_NUMBERS = 64, 2**20
"""Epochs whose orders are drawn at once, and the most numbers in them."""


def epochs_at_once(n: int) -> int:
    """The number of epochs in a chapter: orders are drawn for all of them together."""
    return max(1, min(MOST_ORDERS, MOST_NUMBERS // n))


@lru_cache(maxsize=8)  # training that pauses within a chapter asks for it again
def orders(seed: int, chapter: int, n: int) -> np.ndarray:
    """The orders of n examples in the epochs of a chapter: epochs × n."""
    rows = np.tile(np.arange(n, dtype=np.int32), (epochs_at_once(n), 1))
    # Seeded by the chapter too: a run that is resumed draws it without those before it.
    return np.random.default_rng([seed, chapter]).permuted(rows, axis=1)
