"""Floats as whole numbers over a power of two, and roots and roundings to a chosen side."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from time import perf_counter

import numpy as np

from tacit.values import BadInput

MOST_OPERATIONS = 10**9
"""Products of whole numbers spent on one file, counted before they are done (minutes)."""
SECONDS = 1e-7
"""What such a product takes, roughly."""
MOST_SETS = 20_000
"""Open sets that are looked at for each bound by sets of points; what is left then counts with its
bound, so that fewer prove the same or less."""
ROOT_BITS = 160
"""Leading bits of a square root that are right; the rest is rounded to the safe side."""


class Budget:
    """What one file may cost. Files come from strangers, so the work is estimated beforehand."""

    def __init__(
        self,
        operations: int = MOST_OPERATIONS,
        seconds: float = math.inf,
        sets: int = MOST_SETS,
    ) -> None:
        self.most = self.left = operations
        self.until = perf_counter() + seconds
        self.sets = sets

    def take(self, operations: int, what: str) -> None:
        self.left -= operations
        if self.left < 0:
            raise BadInput(
                f"{what} needs about {operations:.0e} products of whole numbers; "
                f"at most {self.most:.0e} are spent on one file"
            )
        if perf_counter() + SECONDS * operations > self.until:
            raise BadInput(f"{what} would take longer than the time that is left")


def whole(values: Iterable[float]) -> tuple[np.ndarray, int]:
    """Whole numbers N and e ≥ 0 with values = N / 2^e, exactly; an array keeps its shape."""
    floats = np.asarray(values, dtype=np.float64)
    ratios = [value.as_integer_ratio() for value in floats.ravel().tolist()]  # over powers of two
    e = max((q.bit_length() - 1 for _, q in ratios), default=0)
    numbers = np.empty(len(ratios), dtype=object)
    numbers[:] = [p << (e + 1 - q.bit_length()) for p, q in ratios]
    return numbers.reshape(floats.shape), e


def longest(numbers: np.ndarray) -> int:
    """Bits of the longest of the whole numbers."""
    return max((abs(number).bit_length() for number in numbers.ravel()), default=0)


def product_cost(one: np.ndarray, other: np.ndarray | None = None) -> int:
    """What a product of two of these whole numbers costs, in products of short ones.

    Up to 256 bits it is mostly the call that takes time; from there on it grows with their length.
    """
    return 1 + (longest(one) + longest(one if other is None else other)) // 512


def squared_norms(rows: np.ndarray) -> np.ndarray:
    """‖row‖² of every row of whole numbers."""
    return (rows * rows).sum(axis=1)


def unit_of(vector: Sequence[float]) -> tuple[float, ...]:
    """The direction of a vector, as floats: to be shown, not to be reckoned with."""
    largest = max(map(abs, vector), default=0)
    if not largest:
        return tuple(0.0 for _ in vector)
    ratios = [float(Fraction(v) / Fraction(largest)) for v in vector]
    length = math.hypot(*ratios)
    return tuple(ratio / length for ratio in ratios)


def root_above(value: Fraction) -> Fraction:
    """The square root, rounded up."""
    number, denominator = _scaled(value)
    # For whole N ≥ 1, ⌊√(N − 1)⌋ + 1 = ⌈√N⌉: a square keeps its exact root.
    return Fraction(math.isqrt(number - 1) + 1 if number else 0, denominator)


def root_below(value: Fraction) -> Fraction:
    """The square root, rounded down."""
    number, denominator = _scaled(value)
    return Fraction(math.isqrt(number), denominator)


def _scaled(value: Fraction) -> tuple[int, int]:
    """N and D with value = N / D², where N is long enough for ROOT_BITS bits of its root."""
    number = value.numerator * value.denominator  # √(p/q) = √(pq)/q
    shift = max(0, ROOT_BITS - number.bit_length() // 2)
    return number << (2 * shift), value.denominator << shift


def float_below(value: Fraction) -> float:
    """The largest float that is not above `value` (−∞ below all floats)."""
    return -float_above(-value)


def float_above(value: Fraction) -> float:
    """The smallest float that is not below `value` (∞ above all floats)."""
    try:
        near = float(value)
    except OverflowError:
        return math.inf if value > 0 else -np.finfo(float).max.item()
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
