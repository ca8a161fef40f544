"""XOR and XORD, the detection of XOR patterns in a long vector (brutzkus2019)."""

from dataclasses import replace
from itertools import combinations

import numpy as np

from tacit.data._sampling import Points, between, halves, train_and_test
from tacit.data.generators import generator
from tacit.messages import require
from tacit.values import BadInput, Dataset

PATTERNS = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]], dtype=np.float64)
"""p₁, p₂, p₃, p₄ as rows; p₁ and p₃ are the positive patterns."""
PATTERNS.flags.writeable = False

OTHERS = {
    "uniform": "uniform among the points that are not diverse",
    "kinds": "every set of patterns that is not diverse is equally likely",
    "one_missing": "all patterns but one positive one, as in the example after Theorem 6.5",
    "both_positive": "all patterns but one negative one",
}
"""How positive points that are not diverse may be distributed; the paper does not say."""

POSITIVE, NEGATIVE, ALL = (0, 2), (1, 3), (0, 1, 2, 3)
"""Rows of PATTERNS: the positive patterns, the negative ones, all of them."""


def pattern_sets(X: np.ndarray) -> np.ndarray:
    """P_x (§4): n × 4 booleans, whether row i contains the pattern p₁, p₂, p₃, p₄."""
    X = np.atleast_2d(np.asarray(X))
    n, width = X.shape
    if width % 2 or not np.isin(X, (-1, 1)).all():
        raise BadInput("XORD points have an even number of coordinates, each −1 or +1")
    pairs = X.reshape(n, width // 2, 2)
    return np.stack([np.all(pairs == p, axis=2).any(axis=1) for p in PATTERNS], axis=1)


def f_star(X: np.ndarray) -> np.ndarray:
    """f* (3): 1 where a positive pattern appears, −1 elsewhere."""
    return np.where(pattern_sets(X)[:, POSITIVE].any(axis=1), 1, -1)


def is_diverse(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Definition 4.2: positive points with all four patterns, negative ones with p₂ and p₄."""
    has = pattern_sets(X)
    only_negative = has[:, NEGATIVE].all(axis=1) & ~has[:, POSITIVE].any(axis=1)
    return np.where(np.asarray(y) > 0, has.all(axis=1), only_negative)


def uniform_diversity(d: int) -> tuple[float, float]:
    """(p₊, p₋): how likely a uniform positive (negative) point of d patterns is diverse.

    p₊ = (4^d − 4·3^d + 6·2^d − 4)/(4^d − 2^d), p₋ = 1 − 2^(1−d). The paper divides by 4^d in p₊ and
    so forgets that a positive point is given to be positive.
    """
    d = min(d, 300)  # from here on both are 1 to the last bit
    p_plus = (4**d - 4 * 3**d + 6 * 2**d - 4) / (4**d - 2**d)
    return p_plus, 1 - 2.0 ** (1 - d)


@generator("brutzkus2019 §3, Fig. 2")
def xor() -> Dataset:
    """The four points of XOR in the paper's order.

    (1, 1), (−1, 1), (−1, −1), (1, −1) with labels 1, −1, 1, −1.
    """
    X = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    return Dataset(X, np.array([1, -1, 1, -1]))


@generator("brutzkus2019 §4, Fig. 1 and Fig. 5")
def xord(
    n: int = 12,
    d: int = 7,
    p_plus: float | None = None,
    p_minus: float | None = None,
    others: str = "uniform",
    seed: int = 0,
    test: int = 0,
) -> Dataset:
    """XOR detection: d patterns in {±1}², positive when one of them is (1, 1) or (−1, −1).

    X has 2d columns; ⌊n/2⌋ positive points come first, then the negative ones (and likewise among
    the test points). Without p_plus (p_minus) the points of that label are uniform; with it, a
    point is diverse (Definition 4.2) with that probability. Fig. 1 has n=12, p_plus=0.5 and
    p_minus=0.9. A positive point that is not diverse is uniform among those that are not
    (others=uniform), or has each set of patterns with the same probability (kinds), or lacks one
    positive pattern (one_missing, as in the examples of Theorem 6.5), or one negative pattern
    (both_positive). A negative one repeats one pattern.

    Ours: d, and the choice of others where the paper leaves it open.
    """
    uniform = uniform_diversity(d)
    plus = uniform[0] if p_plus is None else p_plus
    minus = uniform[1] if p_minus is None else p_minus
    between("xord", "p_plus", plus, 0, 1)
    between("xord", "p_minus", minus, 0, 1)
    require(others in OTHERS, f"xord: others={others} must be one of {', '.join(OTHERS)}")
    require(
        others == "uniform" or plus == 1 or d >= 3,
        f"xord: d={d} has no points with three patterns; others={others} needs d of at least 3",
    )
    require(
        plus == 0 or d >= 4,
        f"xord: d={d} has no diverse positive points; p_plus={plus} needs d of at least 4",
    )
    require(
        minus == 0 or d >= 2,
        f"xord: d={d} has no diverse negative points; p_minus={minus} needs d of at least 2",
    )

    def draw(k: int, r: np.random.Generator) -> Points:
        positive = _points(k // 2, d, plus, 1, r, others)
        negative = _points(k - k // 2, d, minus, -1, r)
        return np.vstack([positive, negative]), halves(k)

    data = train_and_test(draw, n, test, np.random.default_rng(seed))
    return replace(data, parameters={"p_plus": plus, "p_minus": minus, "others": others})


@generator("brutzkus2019 §5, Fig. 3")
def xord_decoy(d: int = 4, seed: int = 0) -> Dataset:
    """A decoy for XORD: six positive and six negative points, all diverse.

    Zero training error needs only one positive and one negative pattern; f* needs all four.

    Ours: d, and which diverse points (the network cannot tell them apart).
    """
    return Dataset(_six_and_six("xord_decoy", d, seed), halves(12))


@generator("brutzkus2019 App. D, Fig. 6")
def xord_appD(d: int = 4, seed: int = 0) -> Dataset:
    """The decoy of XORD with one negative point, the last, that is not diverse.

    Ours: d; the positive points are diverse and the last point repeats p₂ (the paper only says that
    the set contains a non-diverse negative point).
    """
    X = _six_and_six("xord_appD", d, seed)
    X[-1] = np.tile(PATTERNS[1], d)
    return Dataset(X, halves(12))


def _six_and_six(name: str, d: int, seed: int) -> np.ndarray:
    """Six positive and six negative diverse points."""
    require(d >= 4, f"{name}: d={d} has no diverse positive points; d must be at least 4")
    rng = np.random.default_rng(seed)
    return np.vstack([_points(6, d, 1.0, 1, rng), _points(6, d, 1.0, -1, rng)])


def _points(
    n: int, d: int, p: float, label: int, rng: np.random.Generator, others: str = "uniform"
) -> np.ndarray:
    """n points of one label: diverse with probability p, else as `OTHERS` says."""
    sets, weights = _other_sets(d, label, others)
    kinds = rng.choice(len(sets), size=n, p=weights)
    kinds[rng.random(n) < p] = len(sets)
    rows = np.empty((n, d), dtype=np.int8)
    for kind, patterns in enumerate([*sets, ALL if label > 0 else NEGATIVE]):
        chosen = np.flatnonzero(kinds == kind)
        rows[chosen] = _using_all(patterns, len(chosen), d, rng)
    return PATTERNS[rows].reshape(n, 2 * d)


def _other_sets(d: int, label: int, others: str) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """The pattern sets of points that are not diverse, and how likely each is."""
    if label < 0:
        return [(1,), (3,)], np.array([0.5, 0.5])
    sets = [
        chosen
        for size in (1, 2, 3)
        for chosen in combinations(ALL, size)
        if set(chosen) & set(POSITIVE)
    ]
    if others != "uniform":
        lacking = {"one_missing": POSITIVE, "both_positive": NEGATIVE}.get(others)
        fits = [lacking is None or {*ALL} - {*chosen} in ({i} for i in lacking) for chosen in sets]
        return sets, np.array(fits) / sum(fits)
    # How many sequences of d patterns use all of a set of this size, divided by 3^d.
    third, twothirds = (1 / 3) ** d, (2 / 3) ** d
    one, two, three = third, twothirds - 2 * third, 1 - 3 * twothirds + 3 * third
    count = {1: one, 2: two if d >= 2 else 0, 3: three if d >= 3 else 0}
    weights = np.array([count[len(chosen)] for chosen in sets])
    return sets, weights / weights.sum()


def _using_all(patterns: tuple[int, ...], n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """n sequences of d patterns, uniform among those in which each of `patterns` occurs."""
    rows = np.empty((n, d), dtype=np.int8)
    missing = np.arange(n)
    while len(missing):  # a draw is accepted with probability 4!/4⁴ = 9% or more
        rows[missing] = rng.choice(np.array(patterns, dtype=np.int8), size=(len(missing), d))
        complete = np.all([np.any(rows[missing] == p, axis=1) for p in patterns], axis=0)
        missing = missing[~complete]
    return rows
