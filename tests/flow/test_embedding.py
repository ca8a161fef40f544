"""Lemma 5.2 of lyu2021: its rate, its bound, and the slope of its error, by two routes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers import refused
from tacit.data import load
from tacit.flow.embedding import lemma_5_2
from tacit.flow.follow import follow
from tacit.flow.hyperplanes import walls_of
from tacit.flow.state import State, start


def setting(alpha: float, seed: int = 0, m: int = 6, d: int = 3):
    data = load(f"symmetric:n=10,d={d},seed={seed}")
    X = data.X / np.linalg.norm(data.X, axis=1).max()
    rng = np.random.default_rng(seed)
    W, a = rng.normal(size=(m, d)), rng.normal(size=m)
    largest = max(np.linalg.norm(W, axis=1).max(), np.abs(a).max())
    return X, data.y, W / largest / math.sqrt(m), a / largest / math.sqrt(m)


def at(X, y, alpha: float, W, a, size: float) -> State:
    """√m ‖θ₀‖_M = size."""
    return start(walls_of(X, y, alpha), size * W, size * a, True)


@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.7])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_bound_holds_and_the_error_has_slope_3(alpha: float, seed: int) -> None:
    """Once at the largest start that is allowed, r³, and once so small that only r counts."""
    X, y, W, a = setting(alpha, seed)
    for small in (False, True):
        radii = np.array([0.1, 0.05, 0.02, 0.01, 0.005])
        found = [lemma_5_2(at(X, y, alpha, W, a, 1e-12 if small else r**3), r) for r in radii]
        assert all(f.applies and 0 < f.error <= f.bound for f in found)
        slope, _ = np.polyfit(np.log(radii), np.log([f.error for f in found]), 1)
        assert slope == pytest.approx(3, abs=0.02)
        f = found[0]
        assert f.rate == pytest.approx((1 + alpha) / 4 * np.linalg.norm(y @ X / len(y)), rel=1e-14)
        assert f.bound == pytest.approx((4 / f.rate + 2**0.5) * f.r**3 / len(a) ** 0.5, rel=1e-14)


@pytest.mark.parametrize("alpha", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["logistic", "exponential"])
def test_the_path_and_the_integrator_agree(alpha: float, kind: str) -> None:
    """Up to a tenth of the lemma's error at r = 0.1: moments may be some e-foldings apart."""
    X, y, W, a = setting(alpha)
    state = at(X, y, alpha, W, a, 1e-6)
    path = follow(X, y, alpha, state.W, state.a, kind=kind, log_L_end=math.log(9.0 * math.log(2)))
    one, other = lemma_5_2(path, 0.1, kind), lemma_5_2(state, 0.1, kind)
    assert (one.time, one.rate, one.good) == (other.time, other.rate, other.good)
    np.testing.assert_allclose(one.W, other.W, rtol=0, atol=0.1 * other.error)
    np.testing.assert_allclose(one.a, other.a, rtol=0, atol=0.1 * other.error)


def test_the_growth_rate_is_that_of_the_path() -> None:
    """λ₀ with (1+α)/4: neurons of 1e-12 grow by e^(λ₀ t), t being n times the path's own time."""
    X, y, W, a = setting(0.2)
    state = at(X, y, 0.2, W, a, 1e-12)
    path = follow(X, y, 0.2, state.W, state.a, log_L_end=math.log(9.9 * math.log(2)))
    rate = lemma_5_2(state, 1e-3).rate
    late = [
        (len(y) * math.exp(m.log_t), math.log(np.linalg.norm(m.state.W)))
        for m in path.moments
        if 1e-7 < np.linalg.norm(m.state.W) < 1e-2
    ]
    slope, _ = np.polyfit(*np.array(late).T, 1)
    assert slope == pytest.approx(rate, rel=1e-4)


def test_embedding_weights_and_good_vectors() -> None:
    X, y, W, a = setting(0.2)
    found = lemma_5_2(at(X, y, 0.2, W, a, 1e-9), 1e-2)
    mu = y @ X / np.linalg.norm(y @ X)
    np.testing.assert_allclose(found.embedding, (W @ mu + a) / 2, rtol=1e-12)
    assert found.good == (found.embedding.min() < 0 < found.embedding.max())
    one_sided = lemma_5_2(at(X, y, 0.2, np.abs(a)[:, None] * mu, np.abs(a), 1e-9), 1e-2)
    assert not one_sided.good
    assert found.time == pytest.approx(math.log(1e-2 / 1e-9) / found.rate)
    with_large = lemma_5_2(at(X, y, 0.2, W, a, 1e-3), 1e-2)
    assert not with_large.applies  # √m ‖θ₀‖_M > r³


def test_what_the_lemma_is_not_about_is_refused() -> None:
    X, y, W, a = setting(0.2)
    refused(lambda: lemma_5_2(at(X[1:], y[1:], 0.2, W, a, 1e-9), 0.1), "symmetric")
    refused(lambda: lemma_5_2(at(X, y, 0.2, W, a, 1e-2), 1e-3), "r=0.001", "more than")
    fixed = start(walls_of(X, y, 0.2), W, a, False)
    refused(lambda: lemma_5_2(fixed, 0.1), "both layers")
    path = follow(X, y, 0.2, 1e-6 * W, 1e-6 * a, log_L_end=math.log(9.99 * math.log(2)))
    refused(lambda: lemma_5_2(path, 10.0), "path ends")
