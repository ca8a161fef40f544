"""What tests of max-margin problems share: data, exact checks of optimality, a solver that lies."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import daqp
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacit.values import Interval

any_points = st.tuples(st.integers(1, 6), st.integers(1, 3)).flatmap(
    lambda shape: arrays(
        np.float64, shape, elements=st.floats(allow_nan=False, allow_infinity=False)
    )
)
"""Points with any finite coordinates, a strategy of hypothesis."""


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


def assert_sound(solution: Any, bounds: Interval, n: int) -> None:
    """What every solution of a problem with n points keeps to, whatever the points are."""
    assert bounds.lower <= bounds.upper
    assert 0 <= solution.gap and (solution.gap <= 1 or bounds.lower < 0)
    assert solution.multipliers.shape == (n,) and (solution.multipliers >= 0).all()
    if solution.status == "not separable":
        assert len(solution.support) == 0


def assert_same(solution: Any, truth: Any, bounds: str, vector: str) -> None:
    """Two solutions of one problem that has one; their bounds and vectors have these names."""
    assert solution.status == "separable" and solution.gap <= 1e-11
    assert getattr(solution, bounds).lower == pytest.approx(getattr(truth, bounds).lower, rel=1e-11)
    assert solution.support.tolist() == truth.support.tolist()
    np.testing.assert_allclose(getattr(solution, vector), getattr(truth, vector), rtol=1e-9)


LIES = {
    "gives up": lambda x, lam: (x, 0.0, -1, {"lam": lam}),
    "is off": lambda x, lam: (x + 1, 0.0, 1, {"lam": lam * (1 + np.arange(len(lam)))}),
    "finds nothing": lambda x, lam: (0 * x, 0.0, 1, {"lam": 0 * lam}),
    "has signs wrong": lambda x, lam: (x, 0.0, 1, {"lam": -lam}),
    "has NaN": lambda x, lam: (x * np.nan, 0.0, 1, {"lam": lam * np.nan}),
    "points at the last row": lambda x, lam: (x, 0.0, 1, {"lam": -np.eye(len(lam))[-1]}),
    "raises": lambda x, lam: 1 / 0,
}
"""What a QP solver may make of its solution x and multipliers."""


def lie(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Let the QP solver lie from now on."""
    solve = daqp.solve

    def lying(*arguments: Any, **options: Any) -> Any:
        x, _, _, more = solve(*arguments, **options)
        return LIES[how](x, more["lam"])

    monkeypatch.setattr(daqp, "solve", lying)
