"""Signs that floating point cannot tell, by rational arithmetic (a float is a rational number)."""

from fractions import Fraction
from operator import mul

import numpy as np


def rational(row: np.ndarray) -> list[Fraction]:
    """The entries of a row as fractions, without any rounding."""
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
    pivots = 0
    for column in range(rows.shape[1]):
        pivot = next((i for i in range(pivots, len(A)) if A[i][column]), None)
        if pivot is None:
            continue
        A[pivots], A[pivot] = A[pivot], A[pivots]
        for i in range(pivots + 1, len(A)):
            if A[i][column]:
                factor = A[i][column] / A[pivots][column]
                A[i] = [v - factor * p for v, p in zip(A[i], A[pivots], strict=True)]
        pivots += 1
        if pivots == len(A):
            break
    return pivots
