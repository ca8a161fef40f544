"""General position, against determinants of whole numbers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacit.data import generate
from tacit.geometry import check, position, predicates
from tacit.geometry import predicate as base
from tacit.geometry.predicate import View
from tacit.values import Check, Dataset


def general_position(X: np.ndarray) -> Check:
    name = "general_position"
    return check(Dataset(X, np.ones(len(X))), properties=name).properties[name]


def by_determinants(X: np.ndarray) -> bool:
    """Every min(n, d) rows have a Gram matrix of determinant ≥ 1 (X holds small whole numbers)."""
    k = min(X.shape)
    return all(
        round(np.linalg.det(X[list(rows)] @ X[list(rows)].T)) != 0
        for rows in combinations(range(len(X)), k)
    )


@given(
    st.tuples(st.integers(1, 6), st.integers(1, 4)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.integers(-3, 3))
    )
)
def test_whole_numbers(X: np.ndarray) -> None:
    finding = general_position(X)
    assert finding.holds == by_determinants(X)
    assert finding.slack > 0 if finding.holds else finding.slack == 0


def test_slack_is_the_smallest_singular_value(rng: np.random.Generator) -> None:
    X = rng.normal(size=(8, 3)) * 10.0 ** rng.uniform(-200, 90, (8, 1))
    finding = general_position(X)
    unit = X / np.abs(X).max(axis=1, keepdims=True)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    smallest = [
        np.linalg.svd(unit[list(rows)], compute_uv=False)[-1] for rows in combinations(range(8), 3)
    ]
    assert finding.holds is True
    assert finding.slack == pytest.approx(min(smallest), rel=1e-9)


def test_almost_dependent_is_not_dependent(rng: np.random.Generator) -> None:
    """A sum that is off by one bit; and one that is not off, next to it."""
    for _ in range(30):
        a, b, c, d = np.round(1024 * rng.normal(size=(4, 3)))
        near = c + d
        near[0] = np.nextafter(near[0], np.inf)
        finding = general_position(np.array([c, d, near]))
        assert finding.holds is True and "decided exactly" in finding.note
        for rows in ([a, b, a + b, c, d, near], [c, d, near, a, b, a + b]):
            finding = general_position(np.array(rows))
            assert finding.holds is False
            assert "exactly" in finding.note or "parallel" in finding.note


def test_rounding_too_often_or_too_many_points(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    c, d = np.round(1024 * rng.normal(size=(2, 3)))
    near = c + d
    near[0] = np.nextafter(near[0], np.inf)
    for limit in ("MOST_EXACT", "MOST_EXACT_POINTS"):
        with monkeypatch.context() as patch:
            patch.setattr(position, limit, 0)
            finding = general_position(np.array([c, d, near]))
            assert finding.holds is None and "rounding" in finding.note


def test_parallel_and_zero_rows(rng: np.random.Generator) -> None:
    X = np.round(1024 * rng.normal(size=(30, 5)))
    for factor in (1, -1, 2, -0.375, 2.0**-660):
        X[17] = factor * X[4]
        finding = general_position(X.copy())
        assert finding.holds is False
        assert "rows 4 and 17 are parallel" in finding.note
    X[17] = 0
    assert "row 17 is zero" in general_position(X.copy()).note


def test_small_is_not_zero() -> None:
    """Rows far shorter than the others, and entries far smaller than others of their row."""
    assert general_position(np.array([[1e300, 1e300], [1e-300, -1e-300]])).holds is True
    assert general_position(np.array([[1e300, 1e-300], [1e300, -1e-300]])).holds is True
    assert general_position(np.array([[1e-320, 0.0], [0.0, 5e-324]])).holds is True


def test_special_data() -> None:
    assert check(generate("xor")).properties["general_position"].holds is False
    assert check(generate("wang2022_f1")).properties["general_position"].holds is True
    half_lines = generate("lyu2021_middle:eps=0.125,c=0.0625")  # three points on each
    assert check(half_lines).properties["general_position"].holds is False


def test_too_many_subsets(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    for n, d in ((100, 50), (3000, 700)):
        finding = general_position(rng.normal(size=(n, d)))  # even when asked for
        assert finding.holds is None
        assert f"subsets of {d} points are out of reach" in finding.note
    data = Dataset(rng.normal(size=(20_000, 2)), np.ones(20_000))
    finding = predicates()["general_position"](View(data, alpha=0.5))
    assert finding.holds is None
    assert (
        "199,990,000 subsets" in finding.note and "`properties='general_position'`" in finding.note
    )
    X = rng.normal(size=(20, 2))
    monkeypatch.setattr(base, "MOST_OPERATIONS", 100)
    assert check(Dataset(X, np.ones(20))).properties["general_position"].holds is None
    assert general_position(X).holds is True


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(0, 5), st.booleans())
def test_the_slack_is_the_smallest_singular_value_of_all_subsets(seed, d, more, nearly) -> None:
    """Most subsets are passed over by their determinant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(d + more, d))
    if nearly:
        X[-1] = X[: d - 1].sum(axis=0) + 1e-7 * rng.normal(size=d)
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    all_of_them = [unit[list(rows)] for rows in combinations(range(len(X)), d)]
    smallest = min(np.linalg.svd(rows, compute_uv=False)[-1] for rows in all_of_them)
    finding = general_position(X)
    assert finding.holds is True and finding.slack == pytest.approx(smallest, rel=1e-12, abs=1e-14)
