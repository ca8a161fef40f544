"""The widest margin inside given cells: against the general solver, and by what it proves."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.numerics._cell_interior import CellGroups, widest_in_cells
from tacit.numerics.cell_program import widest
from tacit.numerics.restricted import Groups, restricted_program

Case = tuple[np.ndarray, np.ndarray, float, np.ndarray, np.ndarray]


def case(seed: int) -> Case:
    """Points and the patterns of groups around them, some of which slide; X, y, α, signs, patterns.

    In every third case points and groups come in pairs, so that λ or the lengths are not unique; in
    every fifth one points are of very different lengths.
    """
    rng = np.random.default_rng(seed)
    n, d, groups = 12 + seed % 17, 2 + seed % 5, 6 + seed % 9
    X = rng.standard_normal((n, d))
    if seed % 3 == 0:
        X[n // 2 :] = X[: n - n // 2]
    if seed % 5 == 0:
        X *= 10 ** rng.uniform(-2, 0, n)[:, None]
    y = np.sign(X @ rng.standard_normal(d)) * np.where(rng.random(n) < 0.05 * (seed % 4), -1, 1)
    if seed % 3 == 0:
        y[n // 2 :] = y[: n - n // 2]
    sign = rng.choice([-1, 1], groups)
    U = rng.standard_normal((groups, d)) + sign[:, None] * (y @ X) / n
    pattern = np.where(U @ X.T > 0, 1, -1).astype(np.int8)
    for g in range(0, groups, 3 if d > 2 else groups + 1):
        rows = rng.choice(n // 2, rng.integers(1, d - 1, endpoint=True) - (d > 3), replace=False)
        side = np.linalg.svd(X[rows])[2][len(rows) :].T
        inside = X @ (side @ (side.T @ U[g]))
        pattern[g] = np.where(np.abs(inside) < 1e-12, 0, np.sign(inside))
    if seed % 3 == 0:
        pattern[1], sign[1] = pattern[0], sign[0]
    return X, y, [0.0, 0.2][seed % 2], sign, pattern


def by_general_solver(X: np.ndarray, y: np.ndarray, alpha: float, *groups: np.ndarray) -> float:
    sign, pattern = groups
    face = pattern == 0
    asked = Groups(sign, np.where(face, 1, pattern).astype(np.int8), ~face, face)
    proposal = restricted_program(X, y, alpha, asked)
    assert proposal is not None
    return proposal.value


@pytest.mark.parametrize("seed", range(40))
def test_is_as_wide_as_the_general_solver_says(seed: int) -> None:
    X, y, alpha, sign, pattern = case(seed)
    value = by_general_solver(X, y, alpha, sign, pattern)
    found = widest(X, y, alpha, sign, pattern)
    # Both hold whether or not the method has come to the end.
    assert found.value <= value * (1 + 1e-6) + 1e-8
    assert found.bound >= value * (1 - 1e-6)
    assert found.value <= found.bound * (1 + 1e-12)
    if found.value <= 0:
        return
    # What is said of V, by the definitions.
    products = found.V @ X.T
    outputs = (sign[:, None] * np.maximum(products, alpha * products)).sum(axis=0)
    size = np.linalg.norm(found.V, axis=1)
    assert (y * outputs).min() / size.sum() == pytest.approx(found.value, rel=1e-9)
    room = np.outer(size, np.linalg.norm(X, axis=1))
    assert (products * pattern >= -1e-9 * room).all()
    assert (np.abs(products[pattern == 0]) <= 1e-9 * room[pattern == 0]).all()


def test_most_answers_are_exact() -> None:
    exact = []
    for seed in range(40):
        X, y, alpha, sign, pattern = case(seed)
        value = by_general_solver(X, y, alpha, sign, pattern)
        found = widest(X, y, alpha, sign, pattern)
        if value > 1e-6:
            exact.append(found.value > (1 - 1e-9) * found.bound)
            assert found.value == pytest.approx(value, rel=1e-4)
            assert found.bound == pytest.approx(value, rel=1e-4)
        else:  # no vectors in these cells have a positive margin
            exact.append(found.bound <= 1e-9)
    assert np.mean(exact) > 0.8


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_for_everything_inside(seed: int) -> None:
    """Vectors anywhere in the cells, by cones of points that are drawn."""
    X, y, alpha, sign, pattern = case(7 + 8 * seed)
    found = widest(X, y, alpha, sign, pattern)
    rng = np.random.default_rng(seed)
    for _ in range(200):
        V = np.zeros(found.V.shape)
        for g in np.flatnonzero((pattern != 0).all(axis=1)):
            U = rng.standard_normal((2000, X.shape[1]))
            inside = U[((U @ X.T) * pattern[g] > 0).all(axis=1)]
            V[g] = rng.random() ** 3 * inside[0] if len(inside) else 0.0
        products = V @ X.T
        outputs = (sign[:, None] * np.maximum(products, alpha * products)).sum(axis=0)
        size = np.linalg.norm(V, axis=1).sum()
        assert (y * outputs).min() <= found.bound * size * (1 + 1e-12)


def test_after_the_deadline_it_is_what_there_is_and_its_bound_holds() -> None:
    X, y, alpha, sign, pattern = case(1)
    best = widest(X, y, alpha, sign, pattern)
    late = widest(X, y, alpha, sign, pattern, deadline=0.0)
    assert late.value < (1 - 1e-6) * late.bound and late.bound >= best.value > late.value


def test_another_unit_and_another_scale_change_nothing() -> None:
    X, y, alpha, sign, pattern = case(4)
    here = widest(X, y, alpha, sign, pattern)
    for unit in (1e-3, 0.1, 30.0):
        there = widest(X, y, alpha, sign, pattern, unit)
        assert there.value == pytest.approx(here.value, rel=1e-9)
    small = widest(1e-3 * X, y, alpha, sign, pattern, 1e-3)
    assert small.value == pytest.approx(1e-3 * here.value, rel=1e-9)


def test_cells_in_which_no_network_fits_the_other_samples() -> None:
    X = np.array([[-0.9999999999848911], [1.5326764219425173e-11], [-1.0]])
    found = widest(X, np.ones(3), 0.0, np.array([1]), np.array([[-1, 1, -1]], dtype=np.int8))
    assert found.value == 0


def test_the_proposal_of_the_interior_point_method_is_nearly_feasible_and_optimal() -> None:
    X, y, alpha, sign, pattern = case(8)
    slope = np.where(pattern > 0, 1.0, alpha) * sign[:, None] * y
    P = np.repeat(X[None], len(sign), axis=0)
    side = np.where(pattern == 0, 0, pattern).astype(float)
    inside = widest_in_cells(CellGroups(P, slope, side, np.ones(len(X))))
    t = np.matmul(P, inside.U[:, :, None])[:, :, 0]
    value = (slope * t).sum(axis=0).min() / np.linalg.norm(inside.U, axis=1).sum()
    assert value == pytest.approx(np.linalg.norm(inside.pulls, axis=1).max(), rel=1e-5)
    assert (side * t > -1e-7).all() and (inside.walls >= 0).all()
