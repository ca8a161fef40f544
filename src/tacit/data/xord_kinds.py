"""XORD points by the patterns they contain.

A convolutional network with max-pooling sees of a point only its set of patterns P_x
(brutzkus2019 App. C.1), so there are 15 kinds of points, and the test error of a network is a sum
over them.
"""

import math
from itertools import product

import numpy as np

from tacit.data._sampling import between
from tacit.data.xor import OTHERS, PATTERNS, f_star, is_diverse
from tacit.messages import require

KINDS = np.array([kind for kind in product((False, True), repeat=4) if any(kind)])
"""P_x of the 15 kinds: whether p₁, p₂, p₃, p₄ occur."""
POINTS = np.array([PATTERNS[np.resize(np.flatnonzero(kind), 4)].ravel() for kind in KINDS])
"""A point of each kind, of d = 4 patterns."""
LABELS = f_star(POINTS)
DIVERSE = is_diverse(POINTS, LABELS)
"""The kinds of diverse points (Definition 4.2)."""
DECOYS = ~DIVERSE & ((LABELS < 0) | (KINDS[:, 1] & KINDS[:, 3]))
"""A₁ = {2}, A₂ = {4}, A₃ = {2, 4, 1}, A₄ = {2, 4, 3} (§6): all patterns but one of the label."""


def kind_probabilities(d: int, p_plus: float, p_minus: float, others: str) -> np.ndarray:
    """How likely a point of d patterns is of each kind, given its label.

    Points are diverse with probability p₊ (p₋); the others are distributed as `OTHERS` says
    (negative ones have one pattern, either with the same probability).
    """
    require(d >= 4, f"d={d} has no diverse positive points; d must be at least 4")
    between("xord", "p_plus", p_plus, 0, 1)
    between("xord", "p_minus", p_minus, 0, 1)
    require(others in OTHERS, f"others={others} must be one of {', '.join(OTHERS)}")
    size = KINDS.sum(axis=1)
    weights = {
        "uniform": np.array([_share_that_uses(d, int(k)) for k in size]),
        "kinds": np.ones(len(KINDS)),
        "one_missing": DECOYS.astype(float),
        "both_positive": (LABELS < 0) | (KINDS[:, 0] & KINDS[:, 2] & (size == 3)),
    }[others].astype(float)
    p = np.empty(len(KINDS))
    for label, diverse in ((1, p_plus), (-1, p_minus)):
        rest = (label == LABELS) & ~DIVERSE
        p[(label == LABELS) & DIVERSE] = diverse
        p[rest] = (1 - diverse) * weights[rest] / weights[rest].sum()
    return p


def _share_that_uses(d: int, size: int) -> float:
    """The share of sequences of d patterns that use just the patterns of a set of this size."""
    terms = [(-1) ** j * math.comb(size, j) * (size - j) ** d for j in range(size + 1)]
    return sum(terms) / 4**d
