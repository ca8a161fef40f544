"""The output layer fixed at ±v: against all ways of sharing the units out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from tacit.numerics import fixed_output
from tacit.numerics.arrangements import cells
from tacit.numerics.fixed_output import FixedOptimum, fixed_optimum
from tacit.numerics.restricted import Groups, restricted_program


def shares(units: int, groups: int) -> Iterator[tuple[int, ...]]:
    """All ways to write `units` as a sum of `groups` whole numbers ≥ 0."""
    if groups == 1:
        yield (units,)
        return
    for first in range(units + 1):
        for rest in shares(units - first, groups - 1):
            yield (first, *rest)


def by_brute_force(X: np.ndarray, y: np.ndarray, alpha: float, units: int, v: float) -> float:
    """min ‖W‖: for all sizes of the groups of all cells."""
    C = cells(X)
    best = 0.0
    for plus in shares(units, len(C)):
        for minus in shares(units, len(C)):
            sizes = np.array([*plus, *minus], dtype=float)
            used = sizes > 0
            sign = np.repeat([1, -1], len(C))[used]
            pattern = np.vstack([C, C])[used].astype(np.int8)
            groups = Groups(sign, pattern, np.ones(pattern.shape, dtype=bool))
            proposal = restricted_program(X, y, alpha, groups, sizes[used])
            assert proposal is not None
            best = max(best, proposal.value)
    return 1 / (best * v)


def assert_reached(
    X: np.ndarray, y: np.ndarray, alpha: float, best: FixedOptimum, units: int, v: float
) -> None:
    t = X @ best.W.T
    margins = y * (np.maximum(t, alpha * t) @ best.a)
    assert margins.min() == pytest.approx(1, rel=1e-9)
    assert np.linalg.norm(best.W) == pytest.approx(best.objective_bounds.upper, rel=1e-9)
    assert np.abs(best.a) == pytest.approx(v)
    assert max((best.a > 0).sum(), (best.a < 0).sum()) <= units
    assert best.objective_bounds.lower <= best.objective_bounds.upper
    assert (best.status == "certified") == (best.gap <= 1e-8)


@pytest.mark.parametrize("units", [1, 2])
def test_all_sizes_of_all_groups(units: int, rng: np.random.Generator) -> None:
    X = rng.standard_normal((3, 2))
    y = np.array([1.0, 1, -1])
    solved = fixed_optimum(X, y, 0.1, units, 0.5)
    best = by_brute_force(X, y, 0.1, units, 0.5)
    assert solved.objective_bounds.lower <= best * (1 + 1e-7)
    assert solved.objective_bounds.upper == pytest.approx(best, rel=1e-6)
    assert_reached(X, y, 0.1, solved, units, 0.5)


@pytest.mark.parametrize(
    ("X", "W"),
    [
        ([[2.0, 0], [-2, 1]], [[0.25, 1]]),
        ([[1.0, 1, -1], [1e-6, -1, 1]], [[2.0, 0, 1]]),
        ([[1.0, 0], [0, 1], [100, -1]], [[1.0, 1]]),
    ],
)
def test_one_unit_fits(X: list[list[float]], W: list[list[float]]) -> None:
    """The heaviest unit of the convex program sees one of the points, and a single one all."""
    points, y = np.array(X), np.ones(len(X))
    assert (points @ np.array(W).T > 0).all()
    best = fixed_optimum(points, y, 0.0, 1, 2.0)
    assert_reached(points, y, 0.0, best, 1, 2.0)


def test_few_units_on_both_sides(rng: np.random.Generator) -> None:
    """Labels of a network with two units of each sign: one such network fits."""
    fits = 0
    for _ in range(5):
        X, W = rng.standard_normal((12, 2)), rng.standard_normal((4, 2))
        y = np.sign(np.maximum(X @ W.T, 0) @ [1, 1, -1, -1])
        X, y = X[y != 0], y[y != 0]
        best = fixed_optimum(X, y, 0.0, 2, 1.0)
        if math.isfinite(best.objective_bounds.upper):
            fits += 1
            assert_reached(X, y, 0.0, best, 2, 1.0)
    assert fits == 5


def test_the_upper_bound_is_that_of_the_very_weights(rng: np.random.Generator) -> None:
    """In fractions, on rows of very different lengths and nearly coinciding points."""
    for _ in range(4):
        X = rng.standard_normal((4, 2)) * 10.0 ** rng.uniform(-3, 3, (4, 1))
        X[1] = X[0] * (1 + 1e-7 * rng.standard_normal(2))
        y = np.array([1.0, -1, 1, -1])
        best = fixed_optimum(X, y, 0.3, 6, 0.7)
        if math.isfinite(best.objective_bounds.upper):
            square = _square_of_objective(best.W, best.a, X, y, 0.3)
            assert (
                square <= Fraction(best.objective_bounds.upper) ** 2 <= square * Fraction(1 + 1e-8)
            )


def _square_of_objective(
    W: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray, alpha: float
) -> Fraction:
    """(‖W‖ / min y_i f(x_i))², exactly."""
    exact = np.vectorize(Fraction, otypes=[object])
    t = exact(X) @ exact(W).T
    outputs = np.where(t > 0, t, Fraction(alpha) * t) @ exact(a)
    return Fraction((exact(W) ** 2).sum() / min(exact(y) * outputs) ** 2)


def test_sizes_one_and_nine() -> None:
    """Opposite points, one 10 times as far: 9 units for the near one, 1 for the far one.

    Real sizes would be 10·(10/11, 1/11), so the bounds differ.
    """
    X, y = np.array([[1.0, 0], [-10, 0]]), np.ones(2)
    best = fixed_optimum(X, y, 0.0, 10, 1.0)
    assert best.objective_bounds.lower == pytest.approx(1.1 / math.sqrt(10), rel=1e-7)
    assert best.objective_bounds.upper == pytest.approx(math.sqrt(1 / 9 + 0.01), rel=1e-7)
    assert_reached(X, y, 0.0, best, 10, 1.0)


@pytest.mark.parametrize("scale", [1e-50, 1.0, 1e50])
@pytest.mark.parametrize("units", [1, 4, 500])
def test_many_units(units: int, scale: float, rng: np.random.Generator) -> None:
    X = rng.standard_normal((20, 3))
    y = np.sign(X[:, 0] * X[:, 1])
    best = fixed_optimum(X * scale, y, 0.0, units, 0.1)
    if math.isfinite(best.objective_bounds.upper):
        assert_reached(X * scale, y, 0.0, best, units, 0.1)
    if units == 500:  # so many that real numbers are nearly reached
        assert best.gap < 1e-4
    relaxed = best.relaxed.objective_bounds.lower
    assert best.objective_bounds.lower == pytest.approx(relaxed / (0.1 * math.sqrt(units)))


def test_no_network(rng: np.random.Generator) -> None:
    X = rng.standard_normal((4, 2))
    X[1] = 2 * X[0]
    best = fixed_optimum(X, np.array([1.0, -1, 1, 1]), 0.0, 3, 1.0)
    assert best.status == "infeasible"
    assert best.objective_bounds == (math.inf, math.inf)


def test_the_solver_inside_is_not_believed(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = rng.standard_normal((20, 3))
    y = np.sign(X[:, 0])
    honest = fixed_optimum(X, y, 0.0, 7, 1.0)
    monkeypatch.setattr(fixed_output, "restricted_program", lambda *_, **__: None)
    best = fixed_optimum(X, y, 0.0, 7, 1.0)
    lower, upper = honest.objective_bounds
    assert best.objective_bounds.lower == lower
    assert best.objective_bounds.upper >= upper * (1 - 1e-12)
    assert_reached(X, y, 0.0, best, 7, 1.0)
