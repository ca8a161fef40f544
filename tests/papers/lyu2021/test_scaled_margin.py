"""The widest margin of one neuron: against a cone program, its own optimality conditions, rational
arithmetic, and a QP solver that lies."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margin_checks import (
    LIES,
    any_points,
    assert_bracketed,
    assert_same,
    assert_sound,
    exactly,
    labelled,
    lie,
)
from tacit.data import generate
from tacit.numerics.class_margin import class_margin
from tacit.numerics.max_margin import max_margin
from tacit.papers.lyu2021.scaled_margin import scaled_margin


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_scaled_margin(rng: np.random.Generator, alpha: float, sign: Any) -> None:
    X, y = labelled(rng, 30, 4)
    solution = scaled_margin(X, y, alpha, sign)
    scaled = np.array([x if label == sign else alpha * x for x, label in zip(X, y, strict=True)])
    w, t = cp.Variable(4), cp.Variable()
    margins = cp.multiply(y, scaled @ w)
    cp.Problem(cp.Maximize(t), [margins >= t, cp.norm(w) <= 1]).solve(solver=cp.CLARABEL)
    assert solution.status == "separable" and solution.gap <= 1e-11
    assert solution.margin_bounds.lower == pytest.approx(t.value, rel=1e-6)
    np.testing.assert_allclose(solution.direction, w.value, atol=1e-4)
    reached = y * (scaled @ solution.direction)
    assert (
        solution.support.tolist() == np.flatnonzero(reached <= reached.min() * (1 + 1e-7)).tolist()
    )
    lengths = [Fraction(1 if label == sign else alpha) * int(label) for label in y]
    rows = [[c * v for v in x] for c, x in zip(lengths, exactly(X), strict=True)]
    lower, upper = solution.margin_bounds
    bounds = upper**-2 * (1 - 1e-15), lower**-2 * (1 + 1e-15)
    assert_bracketed(rows, solution.direction / lower, solution.multipliers, bounds)
    other = scaled_margin(X, -y, alpha, -sign)  # the same rows with the other sign
    np.testing.assert_allclose(other.direction, -solution.direction, atol=1e-12)


def test_scaled_margins_of_known_sets() -> None:
    linear = generate("linear:n=20,d=3")
    X, y = linear.X, linear.y
    plain = max_margin(y[:, None] * X)
    for sign in (1, -1):
        same = scaled_margin(X, y, 1.0, sign)  # α = 1 changes nothing
        assert same.margin_bounds.lower == plain.margin_bounds.lower
        zero = scaled_margin(X, y, 0.0, sign)  # one class is at 0
        assert zero.status == "not separable" and zero.margin_bounds.upper == 0
    solution = scaled_margin(np.array([[1.0, 0.0], [-4.0, 0.0]]), np.array([1, -1]), 0.5)
    assert solution.margin_bounds.lower == pytest.approx(1) and solution.support.tolist() == [0]
    solution = scaled_margin(np.array([[1.0, 0.0], [-4.0, 0.0]]), np.array([1, -1]), 0.5, -1)
    assert solution.margin_bounds.lower == pytest.approx(0.5) and solution.direction.tolist() == [
        1,
        0,
    ]
    hinted = generate("hinted:n=20,d=3,alpha=0.3")
    margins = [scaled_margin(hinted.X, hinted.y, 0.3, sign).margin_bounds.lower for sign in (1, -1)]
    assert min(margins) > 0


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.7])
def test_rounding_alpha_decides_nothing(rng: np.random.Generator, alpha: float) -> None:
    """Points on a line through 0: after α is multiplied in they are so up to rounding only."""
    for _ in range(20):
        x = np.round(1000 * rng.normal(size=3))
        solution = scaled_margin(np.array([x, 3 * x]), np.array([1, -1]), alpha)
        assert solution.status == "not separable" and solution.margin_bounds.upper == 0
        lengths = np.array([1, -alpha])
        np.testing.assert_allclose((solution.multipliers * lengths) @ [x, 3 * x], 0, atol=1e-11)


@pytest.mark.parametrize("factor", [1e-150, 1e-8, 1e8, 1e150])
def test_scale(rng: np.random.Generator, factor: float) -> None:
    X, y = labelled(rng, 20, 3)
    plain, scaled = (scaled_margin(c * X, y, 0.3) for c in (1.0, factor))
    np.testing.assert_allclose(scaled.direction, plain.direction, atol=1e-12)
    assert scaled.margin_bounds.lower == pytest.approx(
        factor * plain.margin_bounds.lower, rel=1e-12
    )


@pytest.mark.parametrize("label", [1, -1])
def test_one_class_only(rng: np.random.Generator, label: int) -> None:
    X, y = np.abs(rng.normal(size=(8, 3))) + 0.1, np.full(8, label)
    alone = class_margin(X, y, label)
    norm = alone.objective_bounds.upper
    assert scaled_margin(X, y, 0.25, label).margin == pytest.approx(1 / norm)
    assert scaled_margin(X, y, 0.25, -label).margin == pytest.approx(0.25 / norm)


@settings(max_examples=100)
@given(X=any_points, seed=st.integers(0, 99), alpha=st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_any_floats(X: np.ndarray, seed: int, alpha: float) -> None:
    y = np.random.default_rng(seed).choice([-1, 1], len(X))
    solution = scaled_margin(X, y, alpha)
    assert_sound(solution, solution.margin_bounds, len(X))


@pytest.mark.parametrize("how", LIES)
def test_a_qp_solver_that_lies_changes_no_answer(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    X, y = labelled(rng, 40, 4)
    honest = scaled_margin(X, y, 0.3)
    lie(monkeypatch, how)
    assert_same(scaled_margin(X, y, 0.3), honest, "margin_bounds", "direction")
