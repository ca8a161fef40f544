"""Bounds without an arrangement: never below what sampling finds, and sharp where they can be."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tacit.numerics import outer_bounds as outer
from tacit.numerics.outer_bounds import subsets_bound


def example(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.standard_normal((n, d)), rng.random(n) * np.where(rng.random(n) < 0.5, 1, -1)


def sampled(X: np.ndarray, c: np.ndarray, alpha: float, rng: np.random.Generator) -> float:
    U = np.concatenate([rng.standard_normal((20_000, X.shape[1])), np.sign(c)[:, None] * X])
    t = U / np.linalg.norm(U, axis=1)[:, None] @ X.T
    return float((np.maximum(t, alpha * t) @ c).max())


def best_subset(X: np.ndarray, c: np.ndarray, alpha: float) -> float:
    scaled = np.where(c > 0, c, alpha * c)[:, None] * X
    return max(float(np.linalg.norm(np.array(S) @ scaled)) for S in product((0, 1), repeat=len(X)))


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.99])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (6, 2), (10, 3), (9, 12)])
def test_subsets(n: int, d: int, alpha: float, rng: np.random.Generator) -> None:
    for _ in range(5):
        X, c = example(rng, n, d)
        bound = subsets_bound(X, c, alpha)
        assert bound == pytest.approx(best_subset(X, c, alpha), rel=1e-9, abs=1e-12)
        assert bound >= sampled(X, c, alpha, rng)


def test_subsets_when_time_is_short(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, c = example(rng, 12, 3)
    best = best_subset(X, c, 0.2)
    bounds = []
    for most in (1, 2, 5, 20, 5000):
        monkeypatch.setattr(outer, "OUTER_BOUND", replace(outer.OUTER_BOUND, most_sets=most))
        bounds.append(subsets_bound(X, c, 0.2))
    assert min(bounds) >= best
    assert bounds[-1] == pytest.approx(best)


def test_sharp_where_the_papers_are(rng: np.random.Generator) -> None:
    """Points at right angles or less: the best direction is their sum, proved without cells."""
    X = np.abs(rng.standard_normal((60, 20)))
    c = rng.random(60)
    assert subsets_bound(X, c, 0.0) == pytest.approx(np.linalg.norm(c @ X), rel=1e-12)
    assert subsets_bound(X, -c, 0.0) == 0.0
