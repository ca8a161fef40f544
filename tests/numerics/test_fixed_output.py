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
from tacit.numerics.mixed_integer import fitting_by_integers
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


def test_two_units_that_local_search_does_not_find() -> None:
    """Two of the points are 0.002 apart and have different labels."""
    X = np.array(
        [
            [0.49755716042030673, -0.8674311915734187],
            [-0.939422741469418, 0.3427607223852858],
            [-0.3572782903492346, -0.9339979781804284],
            [0.49564627216552926, -0.8685244803046221],
            [0.1348477433104876, -0.990866331108323],
            [0.20437749896114682, -0.9788921482565821],
        ]
    )
    y = np.array([1.0, 1, 1, -1, -1, 1])
    best = fixed_optimum(X, y, 0.8, 2, 2.0)
    assert_reached(X, y, 0.8, best, 2, 2.0)


def test_one_unit_that_fits_by_little() -> None:
    """The unit that sees all points does so at small angles; descent from it loses some."""
    X = np.array(
        [
            [-224.00543865849377, 611.4244525781172, 86.4458417195756],
            [-224.00544393574185, 611.4231240337892, 86.44771554731476],
            [83.1115702483595, -421.5843938352373, -17.210259317713554],
            [83.1084495695676, -421.5825191363766, -17.21144753768487],
            [366.7898060077576, -53.86340515553149, 47.29981990538805],
        ]
    )
    best = fixed_optimum(X, np.ones(5), 0.0, 1, 2.0)
    assert_reached(X, np.ones(5), 0.0, best, 1, 2.0)


def test_integers_decide_which_points_units_see(rng: np.random.Generator) -> None:
    """Wherever a network that drew the labels fits, one is found, with fewer or more units."""
    for units in (1, 2, 3):
        for alpha in (0.0, 0.3):
            X, W = rng.standard_normal((6, 3)), rng.standard_normal((2 * units, 3))
            sign = np.repeat([1, -1], units)
            y = np.sign(np.maximum(X @ W.T, alpha * X @ W.T) @ sign)
            X, y = X[y != 0], y[y != 0]
            found = fitting_by_integers(X, y, alpha, units, math.inf)
            assert (
                found is not None and max((found.sign > 0).sum(), (found.sign < 0).sum()) <= units
            )
            t = X @ found.V.T
            assert (y * (np.maximum(t, alpha * t) @ found.sign)).min() > 0
    opposite = np.array([[1.0, 0], [-1, 0]])
    assert fitting_by_integers(opposite, np.ones(2), 0.0, 1, math.inf) is None


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
