"""The max-margin direction of one class: against a cone program, its own optimality conditions,
rational arithmetic, and a QP solver that lies."""

from __future__ import annotations

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
from tacit.numerics.class_margin import class_margin


@pytest.mark.parametrize(("n", "d"), [(2, 1), (10, 2), (30, 3), (60, 8), (6, 20)])
def test_class_margin(rng: np.random.Generator, n: int, d: int) -> None:
    X, y = labelled(rng, n, d)
    for label in (1, -1):
        solution = class_margin(X, y, label)
        points = X[y == label]
        w = cp.Variable(d)
        problem = cp.Problem(cp.Minimize(cp.norm(w)), [points @ w >= 1])
        problem.solve(solver=cp.CLARABEL)
        assert solution.status == "separable" and solution.gap <= 1e-11
        lower, upper = solution.objective_bounds
        assert lower <= upper and upper == pytest.approx(problem.value, rel=1e-6)
        np.testing.assert_allclose(solution.w, w.value, rtol=1e-4, atol=1e-4)
        squared = lower**2 * (1 - 1e-15), upper**2 * (1 + 1e-15)
        assert_bracketed(exactly(points), solution.w, solution.multipliers[y == label], squared)
        # Stationarity, complementarity, and the support by its definition.
        assert (solution.multipliers[y != label] == 0).all()
        combined = solution.multipliers @ X
        np.testing.assert_allclose(
            combined / (combined @ combined), solution.w, rtol=1e-8, atol=1e-9
        )
        rows = np.flatnonzero(y == label)
        assert solution.support.tolist() == rows[points @ solution.w <= 1 + 1e-7].tolist()
        assert set(np.flatnonzero(solution.multipliers > 1e-9)) <= set(solution.support)
        assert solution.rank == np.linalg.matrix_rank(X[solution.support])


def test_without_points_of_the_class_w_is_zero(rng: np.random.Generator) -> None:
    X, _ = labelled(rng, 6, 3)
    solution = class_margin(X, np.ones(6), -1)
    assert (
        solution.status == "separable"
        and solution.objective_bounds == (0, 0)
        and solution.gap == solution.rank == 0
    )
    assert not solution.w.any() and len(solution.support) == 0


def test_no_w_for_the_class() -> None:
    X, y = np.array([[1.0, 2.0], [-2.0, -4.0], [1.0, 0.0]]), np.array([1, 1, -1])
    solution = class_margin(X, y, 1)
    assert solution.status == "not separable" and solution.w is None
    assert solution.objective_bounds == (np.inf, np.inf) and solution.gap == 0
    assert len(solution.support) == solution.rank == 0
    np.testing.assert_allclose(solution.multipliers @ X, 0, atol=1e-15)
    assert class_margin(X, y, -1).w.tolist() == pytest.approx([1, 0], abs=1e-14)


@pytest.mark.parametrize("factor", [1e-150, 1e-8, 1e8, 1e150])
def test_scale(rng: np.random.Generator, factor: float) -> None:
    X, y = labelled(rng, 20, 3)
    plain, scaled = (class_margin(c * X, y, 1) for c in (1.0, factor))
    np.testing.assert_allclose(scaled.w * factor, plain.w, rtol=1e-9)
    size, plain_size = scaled.objective_bounds.upper, plain.objective_bounds.upper
    assert size * factor == pytest.approx(plain_size, rel=1e-12)
    assert scaled.support.tolist() == plain.support.tolist() and scaled.rank == plain.rank


@settings(max_examples=100)
@given(X=any_points, seed=st.integers(0, 99))
def test_any_floats(X: np.ndarray, seed: int) -> None:
    y = np.random.default_rng(seed).choice([-1, 1], len(X))
    solution = class_margin(X, y, 1)
    assert_sound(solution, solution.objective_bounds, len(X))


@pytest.mark.parametrize("how", LIES)
def test_a_qp_solver_that_lies_changes_no_answer(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    X, y = labelled(rng, 40, 4)
    honest = class_margin(X, y, 1)
    lie(monkeypatch, how)
    assert_same(class_margin(X, y, 1), honest, "objective_bounds", "w")
