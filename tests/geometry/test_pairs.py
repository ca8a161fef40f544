"""Orthogonal separability and symmetry, against their definitions in exact arithmetic."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacit.data import generate
from tacit.geometry import check, pairs
from tacit.geometry import predicate as base
from tacit.geometry.predicate import View
from tacit.values import Check, Dataset


def one(data: Dataset, name: str = "orthogonally_separable") -> Check:
    return check(data, properties=[name]).properties[name]


def exact_dot(x: np.ndarray, y: np.ndarray) -> Fraction:
    return sum((Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True)), Fraction(0))


def orthogonally_separable(X: np.ndarray, y: np.ndarray) -> bool:
    """phuong2021 (1), wang2022 §2.1, word for word."""
    rows = X.tolist()
    return all(
        exact_dot(a, b) > 0 if y[i] == y[j] else exact_dot(a, b) <= 0
        for i, a in enumerate(rows)
        for j, b in enumerate(rows)
    )


def symmetric(X: np.ndarray, y: np.ndarray) -> bool:
    """As many (x, 1) as (−x, −1), for every x."""
    positive = Counter(map(tuple, (X[y == 1] + 0.0).tolist()))
    negative = Counter(map(tuple, (0.0 - X[y == -1]).tolist()))
    return positive == negative


def labelled(elements: st.SearchStrategy[float], labels: list[int]) -> st.SearchStrategy[Dataset]:
    def of(shape: tuple[int, int]) -> st.SearchStrategy[Dataset]:
        y = st.lists(st.sampled_from(labels), min_size=shape[0], max_size=shape[0])
        X = arrays(np.float64, shape, elements=elements)
        names = tuple("abc") if 0 in labels else ()
        return st.builds(lambda X, y: Dataset(X, np.array(y), classes=names), X, y)

    return st.tuples(st.integers(1, 5), st.integers(1, 3)).flatmap(of)


@given(labelled(st.integers(-2, 2), [-1, 1]))
def test_whole_numbers(data: Dataset) -> None:
    """Ties are frequent here, and all of them are decided."""
    finding = one(data)
    assert finding.holds == orthogonally_separable(data.X, data.y)
    assert finding.slack >= 0 if finding.holds else finding.slack <= 0
    assert one(data, "symmetric").holds == symmetric(data.X, data.y)


@given(labelled(st.integers(-2, 2), [0, 1, 2]))
def test_three_classes(data: Dataset) -> None:
    assert one(data).holds == orthogonally_separable(data.X, data.y)


@given(labelled(st.floats(allow_nan=False, allow_infinity=False), [-1, 1]))
def test_any_floats(data: Dataset) -> None:
    assert one(data).holds == orthogonally_separable(data.X, data.y)
    assert one(data, "symmetric").holds == symmetric(data.X, data.y)


@given(
    x=arrays(np.float64, 2, elements=st.floats(0.1, 10)),
    factor=st.floats(0.1, 10),
    same=st.booleans(),
)
def test_right_angles(x: np.ndarray, factor: float, same: bool) -> None:
    """(a, b) and c·(−b, a): the rounding of c·a and c·b decides the sign."""
    data = Dataset(np.array([x, factor * np.array([-x[1], x[0]])]), [1, 1 if same else -1])
    assert one(data).holds == orthogonally_separable(data.X, data.y)


def test_right_angles_are_allowed_between_classes_only() -> None:
    X = [[1.0, 0.0], [0.0, 1.0]]
    apart, together = one(Dataset(X, [1, -1])), one(Dataset(X, [1, 1]))
    assert apart.holds is True and together.holds is False
    assert apart.slack == together.slack == 0


def test_a_product_that_underflows_still_has_a_sign() -> None:
    data = Dataset([[2.0**100, 2.0**-1000], [0.0, 1.0]], [1, -1])
    assert one(data).holds is False
    assert one(Dataset(data.X, [1, 1])).holds is True


def test_slack_is_the_worst_cosine(rng: np.random.Generator) -> None:
    for d in (2, 3, 10):
        X, y = rng.normal(size=(25, d)), rng.choice([-1, 1], 25)
        unit = X / np.linalg.norm(X, axis=1)[:, None]
        agreement = np.outer(y, y) * (unit @ unit.T)
        finding = one(Dataset(X, y))
        assert finding.slack == pytest.approx(agreement.min(), abs=1e-14)
        X = np.abs(X) * y[:, None]
        unit = X / np.linalg.norm(X, axis=1)[:, None]
        finding = one(Dataset(X, y))
        assert finding.holds is True
        assert finding.slack == pytest.approx((np.outer(y, y) * (unit @ unit.T)).min(), abs=1e-14)


def test_blocks_and_samples(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Gram matrix in blocks of a few rows; a sample when all of it would take too long."""
    X, y = rng.normal(size=(40, 3)), rng.choice([-1, 1], 40)
    good = Dataset(np.abs(X) * y[:, None], y)
    plain = [one(Dataset(X, y)), one(good)]
    gram = np.outer(y, y) * (X @ X.T)
    monkeypatch.setattr(pairs, "BLOCK", 100)
    assert [one(Dataset(X, y)), one(good)] == plain
    view = View(Dataset(X, y), 0.5)
    disagreement = pairs.pairs(view).disagreement * view.scale**2
    np.testing.assert_allclose(disagreement, np.maximum(-gram, 0).sum(axis=1), rtol=1e-12)
    monkeypatch.setattr(base, "MOST_OPERATIONS", 1)
    monkeypatch.setattr(pairs, "SAMPLE", 20)
    refuted = check(Dataset(X, y)).properties["orthogonally_separable"]
    assert refuted.holds is False and plain[0].slack <= refuted.slack < 0
    assert "sampled" in refuted.note
    unknown = check(good).properties["orthogonally_separable"]
    assert unknown.holds is None and "`properties='orthogonally_separable'`" in unknown.note


def test_many_right_angles(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opposite orthogonal families, turned so that no product is exact: each pair is doubtful."""
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    X = np.repeat(np.eye(2), 20, axis=0) * rng.uniform(1, 2, (40, 1)) @ turn
    data = Dataset(X, np.repeat([1, -1], 20))
    finding = one(data)
    assert finding.holds == orthogonally_separable(data.X, data.y)
    assert "decided exactly" in finding.note and abs(finding.slack) <= finding.error
    monkeypatch.setattr(pairs, "MOST_EXACT_PAIRS", 5)
    assert one(data).holds is None
    monkeypatch.setattr(pairs, "BLOCK", 100)
    assert one(data).holds is None


@pytest.mark.parametrize(
    "call",
    [
        "wang2022_f1",
        "wang2022_f2",
        "orthogonal:n=60,d=5,seed=1",
        "orthogonal:n=61,d=1",
        "orthogonal_classes:classes=2",
        "orthogonal_classes:classes=5,d=6",
    ],
)
def test_what_the_papers_call_orthogonally_separable(call: str) -> None:
    data = generate(call)
    finding = one(data)
    assert finding.holds is True and finding.slack > 0
    assert orthogonally_separable(data.X, data.y)


@pytest.mark.parametrize("call", ["xor", "linear:n=50,d=2", "symmetric:n=50,d=2"])
def test_what_is_not_orthogonally_separable(call: str) -> None:
    finding = one(generate(call))
    assert finding.holds is False and finding.slack < 0


def test_symmetric_data() -> None:
    for call in ("symmetric:n=40,d=3", "lyu2021_left"):
        finding = one(generate(call), "symmetric")
        assert finding.holds is True and finding.slack == 0


def test_distance_from_symmetry(rng: np.random.Generator) -> None:
    data = generate("symmetric:n=20,d=3")
    X = data.X.copy()
    X[4] += [0, 1e-3, 0]
    finding = one(Dataset(X, data.y), "symmetric")
    assert finding.holds is False
    largest = np.linalg.norm(X, axis=1).max()
    assert -finding.slack * largest == pytest.approx(1e-3, rel=1e-9)
    assert "row 4 " in finding.note or "row 14 " in finding.note
    X, y = rng.normal(size=(12, 2)), rng.choice([-1, 1], 12)
    apart = np.linalg.norm(X[:, None] + X[None], axis=2)
    apart[y[:, None] == y] = np.inf
    finding = one(Dataset(X, y), "symmetric")
    largest = np.linalg.norm(X, axis=1).max()
    assert -finding.slack * largest == pytest.approx(apart.min(axis=1).max(), rel=1e-12)


def test_symmetric_one_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.array([[1.0, 2.0], [1.0, 2.0], [-1.0, -2.0]])
    finding = one(Dataset(X, [1, 1, -1]), "symmetric")
    assert finding.holds is False and finding.slack == pytest.approx(-1 / 3)
    assert "not one for one (2 positive and 1 negative" in finding.note
    monkeypatch.setattr(pairs, "MOST_ENTRIES", 1)
    finding = one(Dataset([[1.0], [2.0], [-4.0]], [1, 1, -1]), "symmetric")
    assert finding.holds is False and finding.slack == -0.75
    assert "2 other rows" in finding.note
