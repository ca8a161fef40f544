"""How far data is from separable: against brute force in the plane and known values."""

import numpy as np
import pytest

from tacit.numerics.max_margin import max_margin
from tacit.numerics.nearest_miss import nearest_miss

XOR = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * np.array([1, -1, 1, -1])[:, None]


def miss(Z: np.ndarray) -> float:
    Z = np.asarray(Z, dtype=float)
    w = nearest_miss(Z, max_margin(Z).direction)
    assert np.linalg.norm(w) == pytest.approx(1)
    return float((Z @ w).min())


@pytest.mark.parametrize(
    ("Z", "value"),
    [
        (XOR, -1.0),
        (XOR[[2, 0, 3, 1]], -1.0),
        ([[0, 0], [0, -1], [1, 1], [-1, 0]], -1 / np.sqrt(5)),  # XOR of 0 and 1
        ([[1, 1, 1], [-1, -1, -1]] * 50, 0.0),  # w orthogonal to them misses by nothing
        (np.outer([-2, -1, 1, 3], [1, 2, 3]), 0.0),
        ([[1], [-2]], -1.0),
    ],
)
def test_known_values(Z, value):
    assert miss(Z) == pytest.approx(value, abs=1e-9)


def test_against_all_directions_of_the_plane(rng):
    angles = np.linspace(0, 2 * np.pi, 100_000)
    directions = np.array([np.cos(angles), np.sin(angles)])
    for n in (3, 5, 9, 30):
        for _ in range(5):
            Z = rng.normal(size=(n, 2)) * rng.uniform(0.1, 10)
            if max_margin(Z).status != "not separable":
                continue
            best = (Z @ directions).min(axis=0).max()
            assert miss(Z) == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("d", [3, 5, 10])
def test_never_worse_than_where_it_began_and_order_does_not_matter(rng, d):
    Z = rng.normal(size=(8 * d, d))
    answer = max_margin(Z)
    assert answer.status == "not separable"
    assert miss(Z) >= (Z @ answer.direction).min()
    assert miss(Z[rng.permutation(len(Z))]) == pytest.approx(miss(Z), rel=1e-6)
