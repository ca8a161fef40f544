"""The max-margin problems of the papers: against a cone program, their own optimality conditions,
rational arithmetic, and a QP solver that lies."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import daqp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacit.data import generate
from tacit.numerics.max_margin import max_margin
from tacit.numerics.paper_margins import class_margin, par, par_features, par_kernel, scaled_margin

ALPHAS = (0.0, 0.1, 0.5, 0.9, 1.0)


def labelled(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Points a random teacher separates by 0.1."""
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    y = np.where(np.arange(n) % 2, -1, 1)
    return X + np.outer(y * (np.abs(X @ w) + 0.1) - X @ w, w), y


def exactly(rows: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(v) for v in row] for row in rows.tolist()]


def dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum((u * v for u, v in zip(a, b, strict=True)), Fraction(0))


def par_rows(X: np.ndarray, y: np.ndarray, alpha: float) -> list[list[Fraction]]:
    """The left sides of sarussi2021 (7), α times x without rounding."""
    a = Fraction(alpha)
    return [
        x + [-a * v for v in x] if label == 1 else [-a * v for v in x] + x
        for x, label in zip(exactly(X), y, strict=True)
    ]


def assert_bracketed(
    rows: list[list[Fraction]], w: np.ndarray, lam: np.ndarray, square: tuple[float, float]
) -> None:
    """w is feasible, and the smallest ‖w‖² with z·w ≥ 1 lies in `square`: by w from above, by λ
    from below. All in rational arithmetic."""
    (vector,), (weights,) = exactly(w[None]), exactly(lam[None])
    assert min(dot(z, vector) for z in rows) >= 1
    combined = [dot(weights, list(column)) for column in zip(*rows, strict=True)]
    dual = sum(weights) ** 2 / dot(combined, combined)
    lower, upper = map(Fraction, square)
    assert lower <= dual <= dot(vector, vector) * (1 + Fraction(1, 10**12))
    # ‖w‖ of the w we return may be rounded up, by no more than its own rounding.
    assert dot(vector, vector) <= upper * (1 + Fraction(len(w) + 4, 2**51))


# --- phuong2021 (6), (7) -------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(2, 1), (10, 2), (30, 3), (60, 8), (6, 20)])
def test_class_margin(rng: np.random.Generator, n: int, d: int) -> None:
    X, y = labelled(rng, n, d)
    for label in (1, -1):
        found = class_margin(X, y, label)
        points = X[y == label]
        w = cp.Variable(d)
        problem = cp.Problem(cp.Minimize(cp.norm(w)), [points @ w >= 1])
        problem.solve(solver=cp.CLARABEL)
        assert found.status == "separable" and found.gap <= 1e-11
        assert found.lower <= found.upper
        assert found.upper == pytest.approx(problem.value, rel=1e-6)
        np.testing.assert_allclose(found.w, w.value, rtol=1e-4, atol=1e-4)
        squared = found.lower**2 * (1 - 1e-15), found.upper**2 * (1 + 1e-15)
        assert_bracketed(exactly(points), found.w, found.multipliers[y == label], squared)
        # Stationarity, complementarity, and the support by its definition.
        assert (found.multipliers[y != label] == 0).all()
        combined = found.multipliers @ X
        np.testing.assert_allclose(combined / (combined @ combined), found.w, rtol=1e-8, atol=1e-9)
        rows = np.flatnonzero(y == label)
        assert found.support.tolist() == rows[points @ found.w <= 1 + 1e-7].tolist()
        assert set(np.flatnonzero(found.multipliers > 1e-9)) <= set(found.support)
        assert found.rank == np.linalg.matrix_rank(X[found.support])


def test_without_points_of_the_class_w_is_zero(rng: np.random.Generator) -> None:
    X, _ = labelled(rng, 6, 3)
    found = class_margin(X, np.ones(6), -1)
    assert (
        found.status == "separable" and found.lower == found.upper == found.gap == found.rank == 0
    )
    assert not found.w.any() and len(found.support) == 0


def test_no_w_for_the_class() -> None:
    X, y = np.array([[1.0, 2.0], [-2.0, -4.0], [1.0, 0.0]]), np.array([1, 1, -1])
    found = class_margin(X, y, 1)
    assert found.status == "not separable" and found.w is None
    assert found.lower == found.upper == np.inf and found.gap == 0
    assert len(found.support) == found.rank == 0
    np.testing.assert_allclose(found.multipliers @ X, 0, atol=1e-15)
    assert class_margin(X, y, -1).w.tolist() == pytest.approx([1, 0], abs=1e-14)


# --- sarussi2021 (7) -----------------------------------------------------------------------------


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
    found = par(X, y, alpha)
    w, u = by_cone_program(X, y, alpha)
    assert found.status == "separable" and found.gap <= 1e-10
    assert found.upper == pytest.approx(w @ w + u @ u, rel=1e-6)
    np.testing.assert_allclose(found.w, w, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found.u, u, rtol=1e-4, atol=1e-4)
    both = np.append(found.w, found.u)
    rows = par_rows(X, y, alpha)
    assert_bracketed(rows, both, found.multipliers, (found.lower, found.upper))
    margins = np.array([float(dot(z, *exactly(both[None]))) for z in rows])
    assert found.support.tolist() == np.flatnonzero(margins <= 1 + 1e-7).tolist()


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
    found = par(X, y, 0.3)
    lam = y * found.multipliers
    assert 1 / (lam @ par_kernel(X, y, X, y, 0.3) @ lam) == pytest.approx(found.upper, rel=1e-10)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0])
def test_the_network_decides_like_its_boundary(rng: np.random.Generator, alpha: float) -> None:
    """sarussi2021 Corollary 6.1: σ(w·x) − σ(u·x) has the sign of (w − u)·x."""
    data = generate("gaussians:n=60,d=3,seed=2")
    found = par(data.X, data.y, alpha)
    x = rng.normal(size=(1000, 3))
    along, against = x @ found.w, x @ found.u
    output = np.maximum(along, alpha * along) - np.maximum(against, alpha * against)
    assert np.array_equal(np.sign(output), np.sign(x @ found.boundary))
    assert np.linalg.norm(found.boundary) == pytest.approx(1) and found.boundary_error < 1e-5
    assert (data.y * (data.X @ found.boundary) > 0).all()


def test_symmetric_data_has_one_direction() -> None:
    """With (x, y) ↔ (−x, −y) the problem keeps its form when w and −u change places: u = −w."""
    data = generate("symmetric:n=40,d=3")
    found = par(data.X, data.y, 0.4)
    np.testing.assert_allclose(found.u, -found.w, atol=1e-12)
    linear = max_margin(data.y[:, None] * data.X)
    np.testing.assert_allclose(found.boundary, linear.direction, atol=1e-9)
    assert 0 < found.boundary_error < 1e-5
    # (1 + α)‖w‖ = 1/γ, so ‖w‖² + ‖u‖² = 2/((1 + α)γ)².
    assert found.upper == pytest.approx(2 / (1.4 * linear.margin) ** 2, rel=1e-9)


def test_par_is_solvable_iff_each_class_is_separable() -> None:
    """Unless α = 1. The same point may have both labels, but not x and −x one label."""
    both = np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([1, -1])
    opposite = np.array([[1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]]), np.array([1, 1, -1])
    for alpha in (0.0, 0.3, 0.9):
        found = par(*both, alpha)
        assert found.status == "separable"
        np.testing.assert_allclose(found.w, found.u, rtol=1e-14)
        assert found.boundary.tolist() == [0, 0] and found.boundary_error == np.pi
        found = par(*opposite, alpha)
        assert found.status == "not separable" and found.w is found.u is found.boundary is None
        assert found.lower == found.upper == np.inf
    assert par(*both, 1.0).status == par(*opposite, 1.0).status == "not separable"


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.7])
def test_rounding_alpha_decides_nothing(rng: np.random.Generator, alpha: float) -> None:
    """Points on a line through 0: after α is multiplied in they are so up to rounding only."""
    for _ in range(20):
        x = np.round(1000 * rng.normal(size=3))
        X = np.array([x, -3 * x, 7 * x, rng.normal(size=3)])
        found = par(X, np.array([1, 1, 1, -1]), alpha)
        assert found.status == "not separable"
        proof = found.multipliers
        assert proof[3] == 0 and np.abs(proof @ X).max() <= 1e-13 * np.abs(X).max()
        found = scaled_margin(np.array([x, 3 * x]), np.array([1, -1]), alpha)
        assert found.status == "not separable" and found.upper == 0
        lengths = np.array([1, -alpha])
        np.testing.assert_allclose((found.multipliers * lengths) @ [x, 3 * x], 0, atol=1e-11)


# --- lyu2021 App. A ------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", ALPHAS[1:])
@pytest.mark.parametrize("sign", [1, -1])
def test_scaled_margin(rng: np.random.Generator, alpha: float, sign: Any) -> None:
    X, y = labelled(rng, 30, 4)
    found = scaled_margin(X, y, alpha, sign)
    scaled = np.array([x if label == sign else alpha * x for x, label in zip(X, y, strict=True)])
    w, t = cp.Variable(4), cp.Variable()
    margins = cp.multiply(y, scaled @ w)
    cp.Problem(cp.Maximize(t), [margins >= t, cp.norm(w) <= 1]).solve(solver=cp.CLARABEL)
    assert found.status == "separable" and found.gap <= 1e-11
    assert found.lower == pytest.approx(t.value, rel=1e-6)
    np.testing.assert_allclose(found.w, w.value, atol=1e-4)
    reached = y * (scaled @ found.w)
    assert found.support.tolist() == np.flatnonzero(reached <= reached.min() * (1 + 1e-7)).tolist()
    lengths = [Fraction(1 if label == sign else alpha) * int(label) for label in y]
    rows = [[c * v for v in x] for c, x in zip(lengths, exactly(X), strict=True)]
    bounds = found.upper**-2 * (1 - 1e-15), found.lower**-2 * (1 + 1e-15)
    assert_bracketed(rows, found.w / found.lower, found.multipliers, bounds)
    other = scaled_margin(X, -y, alpha, -sign)  # the same rows with the other sign
    np.testing.assert_allclose(other.w, -found.w, atol=1e-12)


def test_scaled_margins_of_known_sets() -> None:
    linear = generate("linear:n=20,d=3")
    X, y = linear.X, linear.y
    plain = max_margin(y[:, None] * X)
    for sign in (1, -1):
        assert scaled_margin(X, y, 1.0, sign).lower == plain.lower  # α = 1 changes nothing
        zero = scaled_margin(X, y, 0.0, sign)  # one class is at 0
        assert zero.status == "not separable" and zero.upper == 0
    found = scaled_margin(np.array([[1.0, 0.0], [-4.0, 0.0]]), np.array([1, -1]), 0.5)
    assert found.lower == pytest.approx(1) and found.support.tolist() == [0]
    found = scaled_margin(np.array([[1.0, 0.0], [-4.0, 0.0]]), np.array([1, -1]), 0.5, -1)
    assert found.lower == pytest.approx(0.5) and found.w.tolist() == [1, 0]
    hinted = generate("hinted:n=20,d=3,alpha=0.3")
    margins = [scaled_margin(hinted.X, hinted.y, 0.3, sign).lower for sign in (1, -1)]
    assert min(margins) > 0


# --- what holds for all of them ------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1e-150, 1e-8, 1e8, 1e150])
def test_scale(rng: np.random.Generator, factor: float) -> None:
    X, y = labelled(rng, 20, 3)
    plain, scaled = (class_margin(c * X, y, 1) for c in (1.0, factor))
    np.testing.assert_allclose(scaled.w * factor, plain.w, rtol=1e-9)
    assert scaled.upper * factor == pytest.approx(plain.upper, rel=1e-12)
    assert scaled.support.tolist() == plain.support.tolist() and scaled.rank == plain.rank
    one, other = (par(c * X, y, 0.3) for c in (1.0, factor))
    np.testing.assert_allclose(other.w * factor, one.w, rtol=1e-9)
    np.testing.assert_allclose(other.boundary, one.boundary, atol=1e-12)
    assert other.upper * factor * factor == pytest.approx(one.upper, rel=1e-12)
    small, large = (scaled_margin(c * X, y, 0.3) for c in (1.0, factor))
    np.testing.assert_allclose(large.w, small.w, atol=1e-12)
    assert large.lower == pytest.approx(factor * small.lower, rel=1e-12)


@pytest.mark.parametrize("label", [1, -1])
def test_one_class_only(rng: np.random.Generator, label: int) -> None:
    X, y = np.abs(rng.normal(size=(8, 3))) + 0.1, np.full(8, label)
    found = par(X, y, 0.25)
    mine, others = (found.w, found.u) if label == 1 else (found.u, found.w)
    np.testing.assert_allclose(others, -0.25 * mine, atol=1e-12)
    alone = class_margin(X, y, label)
    np.testing.assert_allclose(mine * (1 + 0.25**2), alone.w, rtol=1e-9)
    assert scaled_margin(X, y, 0.25, label).lower == pytest.approx(1 / alone.upper)
    assert scaled_margin(X, y, 0.25, -label).lower == pytest.approx(0.25 / alone.upper)


@settings(max_examples=100)
@given(
    X=st.tuples(st.integers(1, 5), st.integers(1, 3)).flatmap(
        lambda shape: arrays(
            np.float64, shape, elements=st.floats(allow_nan=False, allow_infinity=False)
        )
    ),
    seed=st.integers(0, 99),
    alpha=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
def test_any_floats(X: np.ndarray, seed: int, alpha: float) -> None:
    y = np.random.default_rng(seed).choice([-1, 1], len(X))
    problems = [class_margin(X, y, 1), par(X, y, alpha), scaled_margin(X, y, alpha)]
    for found in problems:
        assert found.lower <= found.upper
        assert 0 <= found.gap <= 2
        assert found.multipliers.shape == (len(X),) and (found.multipliers >= 0).all()
        if found.status == "not separable":
            assert len(found.support) == 0


LIES = {
    "gives up": lambda x, lam: (x, 0.0, -1, {"lam": lam}),
    "is off": lambda x, lam: (x + 1, 0.0, 1, {"lam": lam * (1 + np.arange(len(lam)))}),
    "finds nothing": lambda x, lam: (0 * x, 0.0, 1, {"lam": 0 * lam}),
    "has signs wrong": lambda x, lam: (x, 0.0, 1, {"lam": -lam}),
    "has NaN": lambda x, lam: (x * np.nan, 0.0, 1, {"lam": lam * np.nan}),
    "points at the last row": lambda x, lam: (x, 0.0, 1, {"lam": -np.eye(len(lam))[-1]}),
    "raises": lambda x, lam: 1 / 0,
}


@pytest.mark.parametrize("lie", LIES)
def test_a_qp_solver_that_lies_changes_no_answer(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, lie: str
) -> None:
    X, y = labelled(rng, 40, 4)
    bad = rng.normal(size=(60, 4))
    honest = class_margin(X, y, 1), par(X, y, 0.3), scaled_margin(X, y, 0.3)
    solve = daqp.solve

    def lying(*arguments: Any, **options: Any) -> Any:
        x, _, _, more = solve(*arguments, **options)
        return LIES[lie](x, more["lam"])

    monkeypatch.setattr(daqp, "solve", lying)
    for found, truth in zip(
        (class_margin(X, y, 1), par(X, y, 0.3), scaled_margin(X, y, 0.3)), honest, strict=True
    ):
        assert found.status == "separable" and found.gap <= 1e-11
        assert found.lower == pytest.approx(truth.lower, rel=1e-11)
        assert found.support.tolist() == truth.support.tolist()
        np.testing.assert_allclose(found.w, truth.w, rtol=1e-9)
    assert max_margin(bad).status == "not separable"
    assert max_margin(np.vstack([X, -X[:1]])).status == "not separable"


def test_many_rows_with_wrong_labels_are_proved_inseparable() -> None:
    """Rank-deficient and large: the few rows a QP solver leaves make no proof, a logistic fit's λ
    does."""
    data = generate("digits:classes=3/8")
    wrong = np.random.default_rng(0).random(data.n) < 0.1
    assert max_margin((data.y * np.where(wrong, -1, 1))[:, None] * data.X).status == "not separable"


def test_rows_named_first_change_no_answer(rng: np.random.Generator) -> None:
    for _ in range(60):
        n, d = int(rng.integers(2, 60)), int(rng.integers(1, 6))
        Z = rng.normal(size=(n, d)) + rng.choice([0.0, 1.0, 3.0])
        first = rng.choice(n, int(rng.integers(1, n + 1)), replace=False)
        plain, named = max_margin(Z), max_margin(Z, first)
        assert named.status == plain.status
        assert named.margin == pytest.approx(plain.margin, rel=1e-10)
        assert named.multipliers.shape == (n,)
