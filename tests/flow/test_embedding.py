"""Lemma 5.2 of lyu2021 on paths of the flow, against the integrator of `numerics`."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers import refused, symmetric_start
from tacit.flow.embedding import embedding, lemma_5_2
from tacit.flow.follow import follow
from tacit.flow.hyperplanes import hyperplanes_of
from tacit.flow.state import start
from tacit.numerics.embedding import integrated


@pytest.mark.parametrize("alpha", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["logistic", "exponential"])
def test_the_path_and_the_integrator_agree(alpha: float, kind: str) -> None:
    """Up to a tenth of the lemma's error at r = 0.1: moments may be some e-foldings apart."""
    X, y, W, a = symmetric_start(1e-6)
    path = follow(X, y, alpha, W, a, kind=kind, log_L_end=math.log(9.0 * math.log(2)))
    one, other = lemma_5_2(path, 0.1, kind), integrated(X, y, alpha, W, a, 0.1, kind)
    for name in ("rate", "size", "good"):
        assert getattr(one.embedding, name) == getattr(other.embedding, name)
    assert one.time == other.time
    np.testing.assert_allclose(one.W, other.W, rtol=0, atol=0.1 * other.error)
    np.testing.assert_allclose(one.a, other.a, rtol=0, atol=0.1 * other.error)


def test_the_growth_rate_is_that_of_the_path() -> None:
    """λ₀ with (1+α)/4: neurons of 1e-12 grow by e^(λ₀ t), t being n times the path's own time."""
    X, y, W, a = symmetric_start(1e-12)
    path = follow(X, y, 0.2, W, a, log_L_end=math.log(9.9 * math.log(2)))
    rate = embedding(path.moments[0].state).rate
    late = [
        (len(y) * math.exp(m.log_t), math.log(np.linalg.norm(m.state.W)))
        for m in path.moments
        if 1e-7 < np.linalg.norm(m.state.W) < 1e-2
    ]
    slope, _ = np.polyfit(*np.array(late).T, 1)
    assert slope == pytest.approx(rate, rel=1e-4)


def test_what_the_lemma_is_not_about_is_refused() -> None:
    X, y, W, a = symmetric_start(1e-6)
    refused(lambda: embedding(start(hyperplanes_of(X[1:], y[1:], 0.2), W, a, True)), "symmetric")
    refused(lambda: embedding(start(hyperplanes_of(X, y, 0.2), W, a, False)), "both layers")
    path = follow(X, y, 0.2, W, a, log_L_end=math.log(9.99 * math.log(2)))
    refused(lambda: lemma_5_2(path, 10.0), "path ends")
    fixed = follow(X, y, 0.2, W, a, both=False, log_L_end=math.log(9.99 * math.log(2)))
    refused(lambda: lemma_5_2(fixed, 0.1), "both layers")
