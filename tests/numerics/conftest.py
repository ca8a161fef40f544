"""An exact judge of separability, for small data."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest


def separates(Z: np.ndarray) -> bool:
    """Some w has z_i·w > 0 for all i, in rational arithmetic.

    By Gordan's theorem: there is no λ ≥ 0 with Σλ = 1 and Σ λ_i z_i = 0. Phase one of the simplex
    method with Bland's rule decides that.
    """
    n = len(Z)
    equations = [[*column, 0.0] for column in Z.T.tolist()] + [[1.0] * (n + 1)]
    T = [[Fraction(value) for value in equation] for equation in equations]
    basis = list(range(n, n + len(T)))  # one artificial variable per equation
    cost = [-sum(column, Fraction(0)) for column in zip(*T, strict=True)]
    while (j := next((j for j in range(n) if cost[j] < 0), None)) is not None:
        ratios = [(row[-1] / row[j], basis[i], i) for i, row in enumerate(T) if row[j] > 0]
        _, _, i = min(ratios)
        T[i] = [value / T[i][j] for value in T[i]]
        basis[i] = j
        for row in [*(T[k] for k in range(len(T)) if k != i), cost]:
            row[:] = [a - row[j] * b for a, b in zip(row, T[i], strict=True)]
    return cost[-1] != 0  # what the artificial variables could not give up


@pytest.fixture(scope="session")
def separable_exactly() -> Callable[[np.ndarray], bool]:
    return separates
