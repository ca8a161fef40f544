"""Lemma 5.2 of lyu2021: its rate, its bound, and the slope of its error."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from helpers import refused, rest_long, symmetric_start
from tacit.numerics.embedding import integrated


@pytest.mark.parametrize(
    "alpha, seed",
    rest_long(product([0.0, 0.2, 0.7], [0, 1, 2]), [(0.0, 0), (0.2, 1), (0.7, 2)]),
)
def test_the_bound_holds_and_the_error_has_slope_3(alpha: float, seed: int) -> None:
    """Once at the largest start that is allowed, r³, and once so small that only r counts."""
    X, y, W, a = symmetric_start(1.0, seed)
    for small in (False, True):
        radii = np.array([0.1, 0.05, 0.02, 0.01, 0.005])
        sizes = np.full(5, 1e-12) if small else radii**3
        reached = [
            integrated(X, y, alpha, size * W, size * a, r)
            for size, r in zip(sizes, radii, strict=True)
        ]
        assert all(one.applies and 0 < one.error <= one.bound for one in reached)
        slope, _ = np.polyfit(np.log(radii), np.log([one.error for one in reached]), 1)
        assert slope == pytest.approx(3, abs=0.02)
        first, rate = reached[0], reached[0].embedding.rate
        assert rate == pytest.approx((1 + alpha) / 4 * np.linalg.norm(y @ X / len(y)), rel=1e-14)
        bound = (4 / rate + 2**0.5) * first.r**3 / len(a) ** 0.5
        assert first.bound == pytest.approx(bound, rel=1e-14)


def test_embedding_weights_and_good_vectors() -> None:
    X, y, W, a = symmetric_start(1.0)
    reached = integrated(X, y, 0.2, 1e-9 * W, 1e-9 * a, 1e-2)
    known = reached.embedding
    mu = y @ X / np.linalg.norm(y @ X)
    np.testing.assert_allclose(known.b, (W @ mu + a) / 2, rtol=1e-12)
    assert known.good == (known.b.min() < 0 < known.b.max())
    positive = 1e-9 * np.abs(a)
    assert not integrated(X, y, 0.2, positive[:, None] * mu, positive, 1e-2).embedding.good
    assert reached.time == pytest.approx(math.log(1e-2 / 1e-9) / known.rate)
    with_large = integrated(X, y, 0.2, 1e-3 * W, 1e-3 * a, 1e-2)
    assert not with_large.applies  # √m ‖θ₀‖_M > r³


def test_what_the_lemma_is_not_about_is_refused() -> None:
    X, y, W, a = symmetric_start(1e-2)
    refused(lambda: integrated(X[1:], y[1:], 0.2, W, a, 0.1), "symmetric")
    refused(lambda: integrated(X, y, 0.2, W, a, 1e-3), "r=0.001", "more than")
    refused(lambda: integrated(X, 0 * y + 0.0, 0.2, W, a, 0.1), "needs µ ≠ 0")
