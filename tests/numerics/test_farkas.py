"""Proofs of non-separability must be proofs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

from tacit.numerics import farkas
from tacit.numerics.farkas import farkas_proof
from tacit.numerics.newton import logistic_fit

Judge = Callable[[np.ndarray], bool]


def rows(low: int, high: int) -> st.SearchStrategy[np.ndarray]:
    """Small whole numbers in one to four dimensions."""
    shapes = st.tuples(st.integers(1, 8), st.integers(1, 4))
    return shapes.flatmap(lambda s: arrays(np.float64, s, elements=st.integers(low, high)))


def random_hull(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and λ > 0 with Σ λ_i z_i = 0 up to rounding: 0 is inside the hull when n > d."""
    Z, lam = rng.normal(size=(n, d)), rng.uniform(0.5, 1, n)
    Z[-1] = -(lam[:-1] @ Z[:-1]) / lam[-1]
    return Z, lam


def test_the_judge_agrees_with_a_linear_program(
    rng: np.random.Generator, separable_exactly: Judge
) -> None:
    seen = set()
    for _ in range(100):
        n, d = rng.integers(1, 9), rng.integers(1, 4)
        Z = rng.integers(-3, 4, (n, d)).astype(float)
        # max t with Z w ≥ t and |w_j| ≤ 1
        program = linprog(
            [0] * d + [-1], np.hstack([-Z, np.ones((n, 1))]), [0] * n, bounds=[(-1, 1)] * (d + 1)
        )
        seen.add(separable_exactly(Z))
        assert separable_exactly(Z) == (-program.fun > 1e-9)
    assert seen == {True, False}


@given(Z=rows(-3, 3), seed=st.integers(0, 2**32))
def test_nothing_false_is_proved(separable_exactly: Judge, Z: np.ndarray, seed: int) -> None:
    """Whatever the multipliers, what comes back has an exact λ ≥ 0 on its support."""
    multipliers = np.random.default_rng(seed).dirichlet(np.ones(len(Z)))
    proof = farkas_proof(Z, multipliers)
    if proof is not None:
        assert (proof >= 0).all() and proof.sum() == pytest.approx(1, abs=1e-14)
        assert not separable_exactly(Z[proof > 0])


@given(Z=rows(-3, 3), seed=st.integers(0, 2**32))
def test_certain_is_certain(separable_exactly: Judge, Z: np.ndarray, seed: int) -> None:
    """Rows that span the space are not enough: their weighted sum must be near 0."""
    weights = np.random.default_rng(seed).uniform(0.1, 1, len(Z))
    if farkas._certain(Z, weights):
        assert not separable_exactly(Z)
    positive = np.vstack([np.abs(Z), np.eye(Z.shape[1])])
    assert not farkas._certain(positive, np.ones(len(positive)))


@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2), (5, 3), (9, 3), (7, 6)])
def test_interior_proofs_are_exact(
    rng: np.random.Generator, separable_exactly: Judge, n: int, d: int
) -> None:
    """The argument of `_certain` alone, against rational arithmetic."""
    for _ in range(5):
        Z, lam = random_hull(rng, n, d)
        weights = farkas._interior(Z, lam * rng.uniform(0.99, 1.01, n))
        assert weights is not None
        assert not separable_exactly(Z[weights > 0])
        assert np.abs(weights @ Z).max() <= 1e-13 * np.abs(Z).max()


@pytest.mark.parametrize("exponent", [3, 8, 12, 15, 16, 17, 30, 150, 300])
@pytest.mark.parametrize(("n", "d"), [(12, 2), (60, 3), (100, 6)])
def test_a_thin_margin_is_never_disproved(
    rng: np.random.Generator, exponent: int, n: int, d: int
) -> None:
    """The last coordinate separates by 10^−exponent; in the others 0 is well inside the hull."""
    Z, lam = random_hull(rng, n, d - 1)
    last = 10.0**-exponent * rng.uniform(1, 2, (n, 1))
    turn = np.linalg.qr(rng.normal(size=(d - 1, d - 1)))[0]
    whole = np.hstack([np.round(4 * Z), np.round(4 * Z) @ np.ones((d - 1, 1)), last])
    for rows in (np.hstack([Z @ turn, last]), np.hstack([Z, Z[:, :1], last]), whole):
        assert farkas_proof(rows, lam) is None
        assert farkas_proof(rows * 1e150, lam) is None
        assert exponent > 150 or farkas_proof(rows * 1e-150, lam) is None


def test_rows_without_a_part_are_dropped(rng: np.random.Generator) -> None:
    """The first n are zero in the last column, where all others are positive."""
    for n in (8, 80):
        Z, lam = random_hull(rng, n, 3)
        Z = np.vstack([np.hstack([Z, np.zeros((n, 1))]), rng.uniform(1, 2, (n, 4))])
        proof = farkas_proof(Z, np.append(lam, np.full(n, 0.3)))
        assert proof is not None
        assert (proof[:n] > 0).all() and (proof[n:] == 0).all()


@pytest.mark.parametrize("d", [1, 2, 41, pytest.param(784, marks=pytest.mark.long)])
def test_degenerate_proofs_in_any_dimension(rng: np.random.Generator, d: int) -> None:
    """Two rows on one line through 0: nothing but rational arithmetic can prove that."""
    x = np.round(100 * rng.normal(size=d)) + 0.5
    others = rng.normal(size=(5, d))
    for factor in (1, 2, 0.375):
        Z = np.vstack([x, -factor * x, others])
        multipliers = np.append([factor, 1.0], np.full(5, 1e-6))
        proof = farkas_proof(Z, multipliers)
        assert proof is not None
        assert proof[1] * factor == pytest.approx(proof[0], rel=1e-5)


def test_a_zero_row_is_a_proof(rng: np.random.Generator) -> None:
    Z = rng.normal(size=(4, 3))
    Z[2] = 0
    assert farkas_proof(Z, np.full(4, 0.25)).tolist() == [0, 0, 1, 0]


def test_columns_that_follow_from_others(rng: np.random.Generator) -> None:
    """Indicators of categories next to a constant: rank-deficient, and still proved."""
    n = 400
    categories = np.eye(7)[rng.integers(0, 7, n)]
    X = np.hstack([categories, np.ones((n, 1)), rng.normal(size=(n, 3)), np.zeros((n, 1))])
    X[:, 8] = np.round(64 * X[:, 8])
    X = np.hstack([X, -1.5 * X[:, 8:9]])
    Z = np.sign(rng.normal(size=(n, 1))) * X
    kept = farkas._without_followers(Z)
    assert kept.shape[1] == np.linalg.matrix_rank(Z) == 10
    _, lam = logistic_fit(Z, ridge=1e-3)
    assert farkas_proof(Z, lam) is not None
    almost = Z.copy()
    almost[3, -1] = np.nextafter(almost[3, -1], np.inf)
    assert farkas._without_followers(almost).shape[1] == 11


def test_the_logistic_fit_is_stationary(rng: np.random.Generator) -> None:
    Z = rng.normal(size=(300, 4))
    for ridge in (1e-1, 1e-4):
        w, lam = logistic_fit(Z, ridge)
        assert ((lam > 0) & (lam < 1)).all()
        np.testing.assert_allclose(lam, 1 / (1 + np.exp(Z @ w)), rtol=1e-12)
        assert np.linalg.norm(lam @ Z - ridge * w) <= 1e-2 * ridge * np.linalg.norm(w)


def test_logistic_fit_stops_when_it_separates(rng: np.random.Generator) -> None:
    Z = rng.normal(size=(300, 4))
    Z *= np.sign(Z @ np.ones(4))[:, None]
    w, _ = logistic_fit(Z, 1e-6)
    assert (Z @ w > 0).all()


def test_columns_of_one_sign_rule_rows_out() -> None:
    """The last column rules out row 0, then the middle one row 1; rows 2 and 3 remain."""
    Z = np.array([[1.0, -2.0, 3.0], [1.0, 1.0, 0.0], [2.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    assert farkas._can_take_part(Z).tolist() == [False, False, True, True]
