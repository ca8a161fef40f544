"""Linear separability and support examples, against other solvers."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from tacit.data import generate
from tacit.geometry import Geometry, check
from tacit.values import Check, Dataset


def by_linear_program(Z: np.ndarray) -> bool:
    n, d = Z.shape
    A = np.hstack([-Z, np.ones((n, 1))])
    program = linprog([0] * d + [-1], A, [0] * n, bounds=[(-1, 1)] * (d + 1))
    return bool(-program.fun > 1e-9)


def separable(data: Dataset) -> tuple[Geometry, Check]:
    geometry = check(data, properties="linearly_separable")
    return geometry, geometry.properties["linearly_separable"]


@pytest.mark.parametrize("d", [1, 2, 4])
def test_two_classes(rng: np.random.Generator, d: int) -> None:
    seen = set()
    for _ in range(20):
        X, y = rng.normal(size=(2 * d, d)), rng.choice([-1, 1], 2 * d)
        geometry, finding = separable(Dataset(X, y))
        assert finding.holds == by_linear_program(y[:, None] * X)
        assert finding.holds == (finding.slack > 0)
        seen.add(finding.holds)
        if finding.holds:
            lower, upper = geometry.margin_bounds
            reached = (y * (X @ geometry.max_margin_direction)).min()
            assert lower <= reached <= upper == pytest.approx(lower, rel=1e-9)
        else:
            assert geometry.margin_bounds is geometry.max_margin_direction is None
    assert seen == {True, False}


def test_three_classes_against_the_rest(rng: np.random.Generator) -> None:
    seen = set()
    for spread in (0.1, 0.5, 1.5):
        for _ in range(5):
            y = np.arange(9) % 3
            X = np.eye(3)[y] + spread * rng.normal(size=(9, 3))
            data = Dataset(X, y, classes=("a", "b", "c"))
            geometry, finding = separable(data)
            each = [separable(data.one_vs_rest(k))[1] for k in range(3)]
            assert finding.holds == all(one.holds for one in each)
            assert finding.slack == min(one.slack for one in each)
            assert (geometry.margin_bounds is not None) == finding.holds
            assert all(f"{name}: " in finding.note for name in "abc")
            seen.add(finding.holds)
    assert seen == {True, False}


def test_contradictions_and_zero_rows_are_proved(rng: np.random.Generator) -> None:
    X = rng.normal(size=(6, 60))
    for extra, label in ((X[0], -1), (np.zeros(60), 1)):
        finding = separable(Dataset(np.vstack([X, extra]), np.append(np.ones(6), label)))[1]
        assert finding.holds is False and "Farkas" in finding.note
        assert finding.slack <= 0


def test_a_thin_margin_is_not_denied() -> None:
    for gamma in (1e-6, 1e-9, 1e-12):
        finding = separable(Dataset([[1, gamma], [1, -gamma]], [1, -1]))[1]
        assert finding.holds is True
        assert finding.slack <= gamma <= finding.slack + finding.error
    finding = separable(Dataset([[1, 1e-30], [1, -1e-30]], [1, -1]))[1]
    assert finding.holds is not False


def test_one_class() -> None:
    assert separable(Dataset([[1.0, 2.0], [2.0, 1.0]], [-1, -1]))[1].holds is True
    assert separable(Dataset([[1.0, 2.0], [-2.0, -4.0]], [-1, -1]))[1].holds is False


def support_by_quadratic_program(X: np.ndarray) -> np.ndarray:
    """Rows with equality in phuong2021 (6): min ‖w‖² subject to w·x_i ≥ 1."""
    w = cp.Variable(X.shape[1])
    cp.Problem(cp.Minimize(cp.sum_squares(w)), [X @ w >= 1]).solve(solver=cp.CLARABEL)
    return X[X @ w.value <= 1 + 1e-6]


@pytest.mark.parametrize(("n", "d"), [(3, 2), (12, 2), (30, 3), (40, 5)])
def test_support_spans(rng: np.random.Generator, n: int, d: int) -> None:
    for _ in range(5):
        X = np.abs(rng.normal(size=(2 * n, d)))
        y = np.repeat([1, -1], n)
        properties = check(Dataset(X * y[:, None], y)).properties
        for word, label in (("positive", 1), ("negative", -1)):
            rank = np.linalg.matrix_rank(support_by_quadratic_program(X[y == label]))
            one = properties[f"{word}_support_spans"]
            assert one.slack == rank - d
            assert one.holds == (rank == d)


def test_support_spans_in_simple_cases() -> None:
    def of(X: list[list[float]], y: list[int]) -> tuple[Check, Check]:
        properties = check(Dataset(X, y)).properties
        return properties["positive_support_spans"], properties["negative_support_spans"]

    positive, negative = of([[1, 0], [0, 1], [-1, -1], [-5, -6]], [1, 1, -1, -1])
    assert positive.holds is True and positive.slack == 0
    assert negative.holds is False and negative.slack == -1
    positive, negative = of([[1, 0], [-2, 0]], [1, 1])
    assert positive.holds is False and positive.slack == -2  # nothing separates them from 0
    assert negative.holds is None and "no negative point" in negative.note
    positive, _ = of([[1, 1e-12], [-1, 1e-12], [0, 1]], [1, 1, 1])
    assert positive.holds is not False


def test_support_of_the_data_of_phuong2021_fig1() -> None:
    """The span hypothesis of Theorem 1 fails on the paper's own data: rank 2 to 9 of 20."""
    for seed in range(3):
        properties = check(generate(f"orthogonal:n=500,d=20,seed={seed}")).properties
        for word in ("positive", "negative"):
            one = properties[f"{word}_support_spans"]
            assert one.holds is False
            assert 2 <= one.slack + 20 <= 9
