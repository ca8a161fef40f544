"""The program (7) of sarussi2021: against a cone program, its own optimality conditions, rational
arithmetic, and a QP solver that lies."""

from __future__ import annotations

from fractions import Fraction

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
    dot,
    exactly,
    labelled,
    lie,
)
from tacit.data import generate
from tacit.numerics.class_margin import class_margin
from tacit.numerics.max_margin import max_margin
from tacit.papers.sarussi2021.perfect_agreement import par, par_features, par_kernel

ALPHAS = (0.0, 0.1, 0.5, 0.9, 1.0)


def par_rows(X: np.ndarray, y: np.ndarray, alpha: float) -> list[list[Fraction]]:
    """The left sides of sarussi2021 (7), α times x without rounding."""
    a = Fraction(alpha)
    return [
        x + [-a * v for v in x] if label == 1 else [-a * v for v in x] + x
        for x, label in zip(exactly(X), y, strict=True)
    ]


def by_cone_program(X: np.ndarray, y: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """(7) as it is printed."""
    w, u = cp.Variable(X.shape[1]), cp.Variable(X.shape[1])
    constraints = [
        w @ x - alpha * u @ x >= 1 if label == 1 else u @ x - alpha * w @ x >= 1
        for x, label in zip(X, y, strict=True)
    ]
    cp.Problem(cp.Minimize(cp.sum_squares(w) + cp.sum_squares(u)), constraints).solve(
        solver=cp.CLARABEL
    )
    return w.value, u.value


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("n", "d"), [(2, 1), (12, 2), (30, 4), (8, 10)])
def test_par(rng: np.random.Generator, n: int, d: int, alpha: float) -> None:
    X, y = labelled(rng, n, d)
    solution = par(X, y, alpha)
    w, u = by_cone_program(X, y, alpha)
    assert solution.status == "separable" and solution.gap <= 1e-10
    assert solution.objective_bounds.upper == pytest.approx(w @ w + u @ u, rel=1e-6)
    np.testing.assert_allclose(solution.w, w, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(solution.u, u, rtol=1e-4, atol=1e-4)
    both = np.append(solution.w, solution.u)
    rows = par_rows(X, y, alpha)
    assert_bracketed(rows, both, solution.multipliers, solution.objective_bounds)
    margins = np.array([float(dot(z, *exactly(both[None]))) for z in rows])
    assert solution.support.tolist() == np.flatnonzero(margins <= 1 + 1e-7).tolist()


@pytest.mark.parametrize("alpha", ALPHAS)
def test_kernel_and_features(rng: np.random.Generator, alpha: float) -> None:
    """K(x, x') = Σ_s σ'(s w*·x) σ'(s w*·x') x·x' and φ(x) = [σ'(w*·x) x, −σ'(−w*·x) x]."""
    w_star = rng.normal(size=5)
    X, X2 = rng.normal(size=(7, 5)), rng.normal(size=(4, 5))
    y, y2 = np.sign(X @ w_star), np.sign(X2 @ w_star)

    def slope(t: np.ndarray) -> np.ndarray:
        return np.where(t > 0, 1.0, alpha)

    features = par_features(X, y, alpha)
    expected = np.hstack(
        [slope(X @ w_star)[:, None] * X, -slope(-(X @ w_star))[:, None] * X],
    )
    assert np.array_equal(features, expected)
    printed = sum(np.outer(slope(s * X @ w_star), slope(s * X2 @ w_star)) for s in (-1, 1))
    kernel = par_kernel(X, y, X2, y2, alpha)
    np.testing.assert_allclose(kernel, printed * (X @ X2.T), atol=1e-14)
    np.testing.assert_allclose(kernel, features @ par_features(X2, y2, alpha).T, atol=1e-14)


def test_the_kernel_s_dual_gives_the_optimum(rng: np.random.Generator) -> None:
    X, y = labelled(rng, 40, 6)
    solution = par(X, y, 0.3)
    lam = y * solution.multipliers
    value = solution.objective_bounds.upper
    assert 1 / (lam @ par_kernel(X, y, X, y, 0.3) @ lam) == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0])
def test_the_network_decides_like_its_boundary(rng: np.random.Generator, alpha: float) -> None:
    """sarussi2021 Corollary 6.1: σ(w·x) − σ(u·x) has the sign of (w − u)·x."""
    data = generate("gaussians:n=60,d=3,seed=2")
    solution = par(data.X, data.y, alpha)
    x = rng.normal(size=(1000, 3))
    along, against = x @ solution.w, x @ solution.u
    output = np.maximum(along, alpha * along) - np.maximum(against, alpha * against)
    assert np.array_equal(np.sign(output), np.sign(x @ solution.boundary))
    assert np.linalg.norm(solution.boundary) == pytest.approx(1) and solution.boundary_error < 1e-5
    assert (data.y * (data.X @ solution.boundary) > 0).all()


def test_symmetric_data_has_one_direction() -> None:
    """With (x, y) ↔ (−x, −y) the problem keeps its form when w and −u change places: u = −w."""
    data = generate("symmetric:n=40,d=3")
    solution = par(data.X, data.y, 0.4)
    np.testing.assert_allclose(solution.u, -solution.w, atol=1e-12)
    linear = max_margin(data.y[:, None] * data.X)
    np.testing.assert_allclose(solution.boundary, linear.direction, atol=1e-9)
    assert 0 < solution.boundary_error < 1e-5
    # (1 + α)‖w‖ = 1/γ, so ‖w‖² + ‖u‖² = 2/((1 + α)γ)².
    assert solution.objective_bounds.upper == pytest.approx(
        2 / (1.4 * linear.margin) ** 2, rel=1e-9
    )


def test_par_is_solvable_iff_each_class_is_separable() -> None:
    """Unless α = 1. The same point may have both labels, but not x and −x one label."""
    both = np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([1, -1])
    opposite = np.array([[1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]]), np.array([1, 1, -1])
    for alpha in (0.0, 0.3, 0.9):
        solution = par(*both, alpha)
        assert solution.status == "separable"
        np.testing.assert_allclose(solution.w, solution.u, rtol=1e-14)
        assert solution.boundary.tolist() == [0, 0] and solution.boundary_error == np.pi
        solution = par(*opposite, alpha)
        assert (
            solution.status == "not separable"
            and solution.w is solution.u is solution.boundary is None
        )
        assert solution.objective_bounds == (np.inf, np.inf)
    assert par(*both, 1.0).status == par(*opposite, 1.0).status == "not separable"


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.7])
def test_rounding_alpha_decides_nothing(rng: np.random.Generator, alpha: float) -> None:
    """Points on a line through 0: after α is multiplied in they are so up to rounding only."""
    for _ in range(20):
        x = np.round(1000 * rng.normal(size=3))
        X = np.array([x, -3 * x, 7 * x, rng.normal(size=3)])
        solution = par(X, np.array([1, 1, 1, -1]), alpha)
        assert solution.status == "not separable"
        proof = solution.multipliers
        assert proof[3] == 0 and np.abs(proof @ X).max() <= 1e-13 * np.abs(X).max()


@pytest.mark.parametrize("factor", [1e-150, 1e-8, 1e8, 1e150])
def test_scale(rng: np.random.Generator, factor: float) -> None:
    X, y = labelled(rng, 20, 3)
    plain, scaled = (par(c * X, y, 0.3) for c in (1.0, factor))
    np.testing.assert_allclose(scaled.w * factor, plain.w, rtol=1e-9)
    np.testing.assert_allclose(scaled.boundary, plain.boundary, atol=1e-12)
    value = scaled.objective_bounds.upper * factor * factor
    assert value == pytest.approx(plain.objective_bounds.upper, rel=1e-12)


@pytest.mark.parametrize("label", [1, -1])
def test_one_class_only(rng: np.random.Generator, label: int) -> None:
    X, y = np.abs(rng.normal(size=(8, 3))) + 0.1, np.full(8, label)
    solution = par(X, y, 0.25)
    mine, others = (solution.w, solution.u) if label == 1 else (solution.u, solution.w)
    np.testing.assert_allclose(others, -0.25 * mine, atol=1e-12)
    np.testing.assert_allclose(mine * (1 + 0.25**2), class_margin(X, y, label).w, rtol=1e-9)


@settings(max_examples=100)
@given(X=any_points, seed=st.integers(0, 99), alpha=st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_any_floats(X: np.ndarray, seed: int, alpha: float) -> None:
    y = np.random.default_rng(seed).choice([-1, 1], len(X))
    solution = par(X, y, alpha)
    assert_sound(solution, solution.objective_bounds, len(X))


@pytest.mark.parametrize("how", LIES)
def test_a_qp_solver_that_lies_changes_no_answer(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    X, y = labelled(rng, 40, 4)
    honest = par(X, y, 0.3)
    lie(monkeypatch, how)
    assert_same(par(X, y, 0.3), honest, "objective_bounds", "w")
