"""The program on given patterns: against cvxpy, which is told the same in its own words."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from tacit.numerics.restricted import Groups, restricted_program


def example(rng: np.random.Generator, apart: float = 1.0) -> tuple[np.ndarray, np.ndarray, Groups]:
    """Eight points in the plane and six neurons in cells of theirs, three of each sign.

    Three of the points may be close to the first hyperplane between cells, on both of its sides.
    """
    X = rng.standard_normal((8, 2))
    y = np.sign(X[:, 0] * X[:, 1])
    if apart < 1:
        X[:3] = [1.0, 0.0] + apart * np.array([[0.3, 0.7], [0.1, -0.5], [0.0, 0.4]])
        y[:3] = 1, -1, 1
    sign = np.array([1, 1, 1, -1, -1, -1])
    u = np.array([[1.0, 1], [-1, -1], [1, 0.2], [1, -1], [-1, 1], [-0.2, 1]])
    pattern = np.where(u @ X.T > 0, 1, -1).astype(np.int8)
    return X, y, Groups(sign, pattern, sign[:, None] * y < 0)


def told_to_cvxpy(
    X: np.ndarray, y: np.ndarray, alpha: float, groups: Groups, budget: Any
) -> tuple[float, np.ndarray]:
    V = cp.Variable((len(groups.sign), X.shape[1]))
    t, mask = V @ X.T, np.where(groups.pattern > 0, 1, alpha) * groups.sign[:, None]
    constraints = [cp.multiply(groups.constrained * groups.pattern, t) >= 0]
    if groups.face is not None:
        constraints.append(cp.multiply(groups.face.astype(float), t) == 0)
    norms = cp.norm(V, 2, axis=1)
    if isinstance(budget, np.ndarray):
        constraints.append(cp.sum_squares(cp.multiply(1 / np.sqrt(budget)[:, None], V)) <= 1)
    elif budget == "sum":
        constraints.append(cp.sum(norms) <= 1)
    else:
        sums = [cp.sum(norms[np.flatnonzero(groups.sign == s)]) for s in (1, -1)]
        constraints.append(cp.norm(cp.hstack(sums)) <= 1)
    margin = cp.Variable()
    constraints.append(cp.multiply(y, cp.sum(cp.multiply(mask, t), axis=0)) >= margin)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cvxpy's own
        fine = {f"tol_{name}": 1e-11 for name in ("gap_abs", "gap_rel", "feas")}
        cp.Problem(cp.Maximize(margin), constraints).solve(solver=cp.CLARABEL, **fine)
    return float(margin.value), V.value


def counted(X: np.ndarray, y: np.ndarray, alpha: float, groups: Groups, V: np.ndarray) -> Any:
    mask = np.where(groups.pattern > 0, 1, alpha) * groups.sign[:, None]
    return y * (mask * (V @ X.T)).sum(axis=0)


BUDGETS = ["sum", "pair", np.array([1.0, 9, 2, 9, 1, 3])]


@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("budget", BUDGETS, ids=["sum", "pair", "sizes"])
@pytest.mark.parametrize("apart", [1.0, 0.01])
def test_agrees_with_cvxpy(
    budget: Any, alpha: float, apart: float, rng: np.random.Generator
) -> None:
    X, y, groups = example(rng, apart)
    face = np.zeros(groups.constrained.shape, dtype=bool)
    face[0, np.abs(X @ [1, 1]).argmin()] = True
    for given in (groups, Groups(groups.sign, groups.pattern, groups.constrained, face)):
        proposal = restricted_program(X, y, alpha, given, budget)
        assert proposal is not None
        value, V = told_to_cvxpy(X, y, alpha, given, budget)
        assert proposal.value == pytest.approx(value, rel=1e-6)
        assert counted(X, y, alpha, given, proposal.V).min() == pytest.approx(value, rel=1e-6)
        t = proposal.V @ X.T
        assert (given.constrained * given.pattern * t).min() >= -1e-8
        if given.face is not None:
            assert np.abs(t[given.face]).max() <= 1e-8
    if isinstance(budget, np.ndarray):  # strictly convex in V: there is one solution
        assert proposal.V == pytest.approx(V, abs=1e-4)


@pytest.mark.parametrize("sizes", [np.array([1.0, 9]), np.array([9.0, 1])])
def test_sizes_by_hand(sizes: np.ndarray) -> None:
    """Two points at right angles, one neuron each: (v₁, v₂) ∝ (1, 1), so ‖v‖²(1/k₁ + 1/k₂) = 1."""
    X, y = np.array([[3.0, 0], [0, 3]]), np.ones(2)
    pattern = np.array([[1, -1], [-1, 1]], dtype=np.int8)
    groups = Groups(np.ones(2, dtype=int), pattern, np.zeros((2, 2), dtype=bool))
    proposal = restricted_program(X, y, 0.0, groups, sizes)
    assert proposal is not None
    assert proposal.value == pytest.approx(3 / np.sqrt(1 + 1 / 9), rel=1e-8)


def test_multipliers(rng: np.random.Generator) -> None:
    """Stationarity: what λ makes of a group, less its part along x₀ where that is a face, is no
    longer than the value."""
    X, y, groups = example(rng)
    free = np.zeros(groups.constrained.shape, dtype=bool)
    face = free.copy()
    face[:2, 0] = True
    given = Groups(groups.sign, groups.pattern, free, face)
    for unit in (1.0, 1e-2, 10.0):
        proposal = restricted_program(X, y, 0.1, given, unit=unit)
        assert proposal is not None
        assert (proposal.multipliers >= 0).all()
        assert proposal.multipliers.sum() == pytest.approx(1)
        mask = np.where(given.pattern > 0, 1, 0.1) * given.sign[:, None]
        g = (mask * y * proposal.multipliers) @ X
        g[:2] -= np.outer(g[:2] @ X[0], X[0]) / (X[0] @ X[0])
        assert proposal.value > 0.01
        assert np.linalg.norm(g, axis=1).max() == pytest.approx(proposal.value, rel=1e-6)
        tight = counted(X, y, 0.1, given, proposal.V) - proposal.value
        assert proposal.multipliers @ tight == pytest.approx(0, abs=1e-8)


def test_rows_of_different_lengths(rng: np.random.Generator) -> None:
    """Short rows are as precise as long ones: the sides and margins are relative to them."""
    X, y, groups = example(rng)
    X = X * 10.0 ** rng.uniform(-4, 0, size=(8, 1))
    unit = float(np.linalg.norm(X, axis=1).min())
    proposal = restricted_program(X, y, 0.0, groups, unit=unit)
    assert proposal is not None
    margins = counted(X, y, 0.0, groups, proposal.V)
    assert margins.min() == pytest.approx(proposal.value, rel=1e-7)
    assert proposal.value > 0


def test_a_row_of_zeros(rng: np.random.Generator) -> None:
    X, y, groups = example(rng)
    X[0] = 0
    proposal = restricted_program(X, y, 0.0, groups)
    assert proposal is not None
    assert proposal.value == pytest.approx(0, abs=1e-8)
    assert proposal.multipliers[0] == pytest.approx(1, abs=1e-6)
