"""XOR and XORD: patterns, labels, diversity, and the distributions by enumeration."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from tacit.data import generate
from tacit.data.xor import PATTERNS, f_star, is_diverse, pattern_sets, uniform_diversity
from tacit.values import BadInput


def all_points(d: int) -> np.ndarray:
    return np.array(list(product([1.0, -1.0], repeat=2 * d)))


def contains(x: np.ndarray, pattern: tuple[int, int]) -> bool:
    return any((x[2 * j], x[2 * j + 1]) == pattern for j in range(len(x) // 2))


def test_xor() -> None:
    data = generate("xor")
    assert np.array_equal(data.X, [[1, 1], [-1, 1], [-1, -1], [1, -1]])
    assert np.array_equal(data.y, [1, -1, 1, -1])
    assert np.array_equal(f_star(data.X), data.y)


def test_patterns_of_every_point() -> None:
    X = all_points(3)
    expected = [[contains(x, p) for p in ((1, 1), (1, -1), (-1, -1), (-1, 1))] for x in X]
    assert np.array_equal(pattern_sets(X), expected)
    assert np.array_equal(PATTERNS, [[1, 1], [1, -1], [-1, -1], [-1, 1]])
    positive = [contains(x, (1, 1)) or contains(x, (-1, -1)) for x in X]
    assert np.array_equal(f_star(X), np.where(positive, 1, -1))


@pytest.mark.parametrize("X", [np.ones((2, 3)), np.zeros((1, 4)), np.array([[1.0, np.nan]])])
def test_points_that_have_no_patterns(X: np.ndarray) -> None:
    with pytest.raises(BadInput, match="even number of coordinates"):
        pattern_sets(X)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_uniform_diversity_by_enumeration(d: int) -> None:
    X = all_points(d)
    y = f_star(X)
    diverse = is_diverse(X, y)
    assert uniform_diversity(d) == pytest.approx(
        (diverse[y > 0].mean(), diverse[y < 0].mean()), abs=1e-15
    )


def test_uniform_diversity_of_long_points() -> None:
    assert uniform_diversity(10**9) == (1.0, 1.0)
    assert uniform_diversity(299) == uniform_diversity(301) == (1.0, 1.0)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 10**6))
def test_xord_labels(n: int, d: int, seed: int) -> None:
    data = generate(f"xord:n={n},d={d},seed={seed},test=5")
    assert data.test is not None
    assert data.d == 2 * d
    assert np.array_equal(data.y, [1] * (n // 2) + [-1] * (n - n // 2))
    assert np.array_equal(f_star(data.X), data.y)
    assert np.array_equal(f_star(data.test.X), data.test.y)
    assert np.array_equal(data.test.y, [1, 1, -1, -1, -1])


def frequencies(X: np.ndarray, among: np.ndarray) -> list[int]:
    seen = Counter(map(tuple, X))
    counts = [seen.pop(tuple(x), 0) for x in among]
    assert not seen  # nothing else was drawn
    return counts


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_xord_is_uniform_without_probabilities(d: int) -> None:
    data = generate(f"xord:n=20000,d={d},seed=3")
    X = all_points(d)
    y = f_star(X)
    for label in (1, -1):
        counts = frequencies(data.X[data.y == label], X[y == label])
        assert chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize(("d", "p"), [(4, 0), (4, 1), (5, 0)])
def test_xord_is_uniform_among_the_diverse_and_the_others(d: int, p: int) -> None:
    data = generate(f"xord:n=40000,d={d},p_plus={p},p_minus={p},seed=1")
    X = all_points(d)
    y = f_star(X)
    wanted = is_diverse(X, y) == (p == 1)
    for label in (1, -1):
        counts = frequencies(data.X[data.y == label], X[(y == label) & wanted])
        assert chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("d", [4, 7, 100])
def test_xord_with_given_probabilities(d: int) -> None:
    data = generate(f"xord:n=10000,d={d},p_plus=0.5,p_minus=0.9,seed=2")
    diverse = is_diverse(data.X, data.y)
    assert diverse[data.y > 0].mean() == pytest.approx(0.5, abs=0.03)
    assert diverse[data.y < 0].mean() == pytest.approx(0.9, abs=0.02)
    assert data.parameters["p_plus"] == 0.5


def test_long_points_that_are_not_diverse() -> None:
    data = generate("xord:n=20,d=20000,p_plus=0,p_minus=0")
    assert not is_diverse(data.X, data.y).any()


@pytest.mark.parametrize("d", [4, 6])
def test_decoys(d: int) -> None:
    decoy, appendix = generate(f"xord_decoy:d={d},seed=1"), generate(f"xord_appD:d={d},seed=1")
    for data in (decoy, appendix):
        assert data.X.shape == (12, 2 * d)
        assert np.array_equal(data.y, [1] * 6 + [-1] * 6)
        assert np.array_equal(f_star(data.X), data.y)
    assert is_diverse(decoy.X, decoy.y).all()
    assert list(is_diverse(appendix.X, appendix.y)) == [True] * 11 + [False]
    assert np.array_equal(pattern_sets(appendix.X[-1:]), [[False, True, False, False]])
