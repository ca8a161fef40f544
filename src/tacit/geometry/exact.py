"""Signs that floating point cannot tell, by rational arithmetic (a float is a rational number)."""

from __future__ import annotations

from fractions import Fraction
from operator import mul

import numpy as np


def rational(row: np.ndarray) -> list[Fraction]:
    return [Fraction(float(value)) for value in row]


def exact_sum(rows: np.ndarray) -> list[Fraction]:
    """The sum of the rows."""
    return [sum(rational(column), Fraction(0)) for column in rows.T]


def sign_of_dot(x: np.ndarray, y: np.ndarray) -> int:
    """−1, 0 or 1: the sign of x·y."""
    total = sum(map(mul, rational(x), rational(y)), Fraction(0))
    return (total > 0) - (total < 0)


def rank(rows: np.ndarray) -> int:
    """The rank, exactly; meant for a handful of short rows."""
    A = [rational(row) for row in rows]
    found = 0
    for column in range(rows.shape[1]):
        pivot = next((i for i in range(found, len(A)) if A[i][column]), None)
        if pivot is None:
            continue
        A[found], A[pivot] = A[pivot], A[found]
        for i in range(found + 1, len(A)):
            if A[i][column]:
                factor = A[i][column] / A[found][column]
                A[i] = [v - factor * p for v, p in zip(A[i], A[found], strict=True)]
        found += 1
        if found == len(A):
            break
    return found
