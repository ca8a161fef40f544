"""Products of arrays of Python's integers, in the middle of which Ctrl-C does no harm."""

from typing import Any

import numpy as np

FEW = 10_000
"""Products of two integers, up to which Python multiplies them itself."""
MOST_PIECES = 1000
"""So many sums of doubles, each below 2⁵³, are an integer of 64 bits."""


def integer_product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A @ B, as NumPy's `dot` has it, which raises what came meanwhile when all is computed.

    Python looks for signals while it multiplies long integers, and `@` of arrays of objects frees
    an element twice where a multiplication raises. In large arrays the integers are cut into pieces
    of so few bits that doubles add up their products exactly, in whatever order: it takes a
    twentieth of the time. To cut an integer, or to put one together, takes as long as a product for
    each piece, so that it does not help where one of the two is a vector.
    """
    terms = max(A.shape[-1], 1)
    rows, columns = A.size // terms, B.size // terms
    products = rows * terms * columns
    if products <= FEW or min(rows, terms, columns) <= 1:
        return np.dot(A, B)
    bits = (53 - terms.bit_length()) // 2
    pieces = (_longest(A) + _longest(B)) // bits
    cuts = pieces * (rows * terms + terms * columns + rows * columns)
    if products <= cuts or pieces > MOST_PIECES:
        return np.dot(A, B)
    left, right = _pieces(A, bits), _pieces(B, bits)
    total: Any = 0
    for k in range(len(left) + len(right) - 1):
        pairs = range(max(k - len(right) + 1, 0), min(k + 1, len(left)))
        sums = sum(np.dot(left[i], right[k - i]).astype(np.int64) for i in pairs)
        total = total + (np.asarray(sums).astype(object) << (k * bits))
    return total


def _longest(numbers: np.ndarray) -> int:
    """Bits of the longest of the integers."""
    return max(abs(number).bit_length() for number in numbers.ravel().tolist())


def _pieces(numbers: np.ndarray, bits: int) -> list[np.ndarray]:
    """So many bits of each integer at a time, the lowest first; the last piece takes the sign."""
    last = _longest(numbers) // bits
    cut = [(numbers >> (k * bits)) & ((1 << bits) - 1) for k in range(last)]
    return [piece.astype(np.float64) for piece in [*cut, numbers >> (last * bits)]]
