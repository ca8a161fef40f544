"""Spike-free data against its definition: directions u, and the cells of the arrangement."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacit.data.loading import load
from tacit.geometry import check, predicates
from tacit.geometry import predicate as base
from tacit.geometry.predicate import View
from tacit.numerics.arrangements import cells
from tacit.papers.wang2022 import geometry
from tacit.values import Check, Dataset


def spike_free(X: np.ndarray) -> Check:
    X = np.asarray(X, dtype=float)
    return predicates()["spike_free"](View(Dataset(X, np.ones(len(X))), alpha=0.5))


def longest(X: np.ndarray, U: np.ndarray) -> tuple[float, float]:
    """Over the rows u of U: the largest ‖X†(Xu)₊‖/‖u‖, and the distance of (Xu)₊ from the range."""
    inverse = np.linalg.pinv(X, rcond=1e-10)
    active = np.maximum(U @ X.T, 0)
    Z = active @ inverse.T
    lengths = np.linalg.norm(Z, axis=1) / np.linalg.norm(U, axis=1)
    return float(lengths.max()), float(np.abs(active - Z @ X.T).max())


def climbed(X: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """The same over many directions, and steps around the best of them."""
    U = rng.normal(size=(20_000, X.shape[1])) @ np.linalg.pinv(X) @ X
    inverse, best, distance = np.linalg.pinv(X, rcond=1e-10), 0.0, 0.0
    for k in range(25):
        U = U[np.linalg.norm(U, axis=1) > 1e-9]
        U /= np.linalg.norm(U, axis=1)[:, None]
        length, far = longest(X, U)
        best, distance = max(best, length), max(distance, far)
        top = U[np.linalg.norm(np.maximum(U @ X.T, 0) @ inverse.T, axis=1).argmax()]
        U = np.vstack([top, top + 0.5**k * rng.normal(size=(2000, len(top)))])
        U = U @ np.linalg.pinv(X) @ X
    return best, distance


def by_cells(X: np.ndarray) -> bool:
    """On each cell, with mask D: DX has its range in that of X, and ‖X†DXu‖ ≤ ‖u‖ (X is small)."""
    inverse = np.linalg.pinv(X, rcond=1e-10)
    for signs in cells(X):
        D = np.diag((signs > 0).astype(float))
        if np.abs(D @ X - X @ inverse @ D @ X).max() > 1e-9:
            return False
    # On a cell ‖u‖² − ‖Bu‖² is a form; it is ≥ 0 there if it is at 0 ≤ Mu for M = signs·X, which
    # for independent rows is u = M⁺t, t ≥ 0: the form in t has to be copositive.
    X = X[np.linalg.norm(X, axis=1) > 0]
    rays = []
    for x in X:
        if not any(x @ r > (1 - 1e-9) * np.linalg.norm(x) * np.linalg.norm(r) for r in rays):
            rays.append(x)
    for signs in cells(np.array(rays)):
        back = np.linalg.pinv(signs[:, None] * np.array(rays))
        B = np.linalg.pinv(np.array(rays)) @ np.diag(signs > 0) @ np.array(rays)
        form = back.T @ (np.eye(X.shape[1]) - B.T @ B) @ back
        if not copositive(form):
            return False
    return True


def copositive(form: np.ndarray) -> bool:
    """tᵀ form t ≥ 0 for t ≥ 0: by all principal parts, with an eigenvector > 0 and value < 0."""
    n = len(form)
    for mask in range(1, 2**n):
        rows = [i for i in range(n) if mask >> i & 1]
        values, vectors = np.linalg.eigh(form[np.ix_(rows, rows)])
        for value, v in zip(values, vectors.T, strict=True):
            if value < -1e-9 and ((v > 1e-9).all() or (v < -1e-9).all()):
                return False
    return True


def test_the_data_of_the_paper() -> None:
    assert check(load("wang2022_f1")).properties["spike_free"].holds is False
    assert check(load("wang2022_f2")).properties["spike_free"].holds is True
    for name in ("xor", "orthogonal:n=30,d=3", "orthogonal_classes:classes=3"):
        assert check(load(name)).properties["spike_free"].holds is False


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (2, 3), (3, 2), (1, 3), (3, 1)])
@pytest.mark.parametrize("seed", range(6))
def test_random_matrices(shape: tuple[int, int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) if seed % 2 else np.abs(rng.normal(size=shape))
    finding = spike_free(X)
    length, distance = climbed(X, rng)
    assert finding.slack <= 0
    if distance > 1e-9:
        assert finding.holds is False and finding.slack == -1
    else:
        assert finding.holds == (length <= 1 + 1e-9)
        assert finding.slack == pytest.approx(1 / max(length, 1) - 1, abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_low_rank(seed: int) -> None:
    """Products of thin matrices, whose rank is low up to rounding only."""
    rng = np.random.default_rng(seed)
    left = rng.normal(size=(3, 1 + seed % 2))
    X = (np.abs(left) if seed % 3 else left) @ rng.normal(size=(1 + seed % 2, 3 + seed % 4))
    length, distance = climbed(X, rng)
    finding = spike_free(X)
    assert finding.holds == (distance <= 1e-9 and length <= 1 + 1e-9)


@given(
    st.tuples(st.integers(1, 4), st.integers(1, 3)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.integers(-2, 2))
    )
)
@settings(deadline=None)
def test_whole_numbers_by_cells(X: np.ndarray) -> None:
    assume(X.any())
    finding = spike_free(X)
    assert finding.holds == by_cells(X)
    assert finding.slack == 0 if finding.holds else -1 <= finding.slack < -1e-3


@pytest.mark.parametrize("seed", range(5))
def test_more_rays_than_three(seed: int) -> None:
    """What the search finds is reached by some u, and the answer is that of the definition."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5, 6)) + (3 if seed % 2 else 0)
    finding = spike_free(X)
    length, distance = climbed(X, rng)
    assert distance < 1e-9
    assert finding.holds == (length <= 1 + 1e-9)
    assert 1 / (1 + finding.slack) >= 0.9 * length


def test_an_inverse_with_no_positive_entry_off_the_diagonal(rng: np.random.Generator) -> None:
    """Points made from (AAᵀ)⁻¹ = I + a Laplacian are spike-free; a change of one sign spoils it."""
    for n in (4, 9, 40):
        weights = np.triu(rng.uniform(0.1, 1, (n, n)), 1)
        weights += weights.T
        Q = np.diag(weights.sum(axis=1)) - weights + np.eye(n)
        turn = np.linalg.qr(rng.normal(size=(n + 2, n + 2)))[0][:n]
        assert spike_free(np.linalg.cholesky(np.linalg.inv(Q)) @ turn).holds is True
        Q[0, 1] = Q[1, 0] = 0.05
        finding = spike_free(np.linalg.cholesky(np.linalg.inv(Q)) @ turn)
        assert finding.holds is False and "rows 0 and 1" in finding.note


def test_orthogonal_rows_and_whitened_data(rng: np.random.Generator) -> None:
    assert spike_free(np.eye(4)).holds is True
    assert spike_free(np.diag([1.0, -2.0, 1e-9])[:2]).holds is True
    turn = np.linalg.qr(rng.normal(size=(7, 7)))[0]
    finding = spike_free(turn[:5] * rng.uniform(0.1, 10, (5, 1)))
    assert finding.holds is True and finding.slack == 0 and "up to 1e-12" in finding.note
    assert finding.error < 2e-12


def test_repeated_opposite_and_zero_rows(rng: np.random.Generator) -> None:
    X = np.array([[1.65, 0.47], [0.47, 1.35]])
    assert spike_free(np.vstack([X, 3 * X, 0.1 * X[:1], np.zeros((2, 2))])).holds is True
    finding = spike_free(np.vstack([X, -X[:1]]))
    assert finding.holds is False and finding.slack == -1 and "no z" in finding.note
    assert spike_free(np.array([[1.0, 2, 3], [-1, -2, -3]])).holds is False
    assert spike_free(np.zeros((3, 2))).holds is True
    assert spike_free(np.array([[0.0, 0], [2, 1]])).holds is True
    many = np.repeat(X, 500, axis=0) * rng.uniform(0.5, 2, (1000, 1))
    assert spike_free(many).holds is True
    assert spike_free(np.vstack([many, [[1.0, 1.0]]])).holds is False


def test_points_in_a_plane_of_space() -> None:
    """As many rays as dimensions, but of a lower rank."""
    finding = spike_free(np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]]))
    assert finding.holds is False and "dependent" in finding.note


def test_lengths_labels_rotations_and_order(rng: np.random.Generator) -> None:
    X = rng.normal(size=(3, 4)) + 1
    plain = spike_free(X)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    lengths = np.array([[1e-8], [1.0], [1e150]])
    for other in (X @ turn, X[[2, 0, 1]], X * lengths, np.vstack([X, X]), np.hstack([X, 0 * X])):
        finding = spike_free(other)
        assert finding.holds == plain.holds
        assert finding.slack == pytest.approx(plain.slack, abs=1e-10)


def test_within_rounding() -> None:
    """Rays so close to dependent that the signs of the inverse are noise."""
    one = spike_free(np.array([[1.0, 0, 0], [1.0, 1e-11, 0], [0.0, 0, 1]]))
    assert one.holds is None and "rounding" in one.note


def test_large_data(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.abs(rng.normal(size=(12_000, 784)))
    view = View(Dataset(X, np.ones(len(X))), alpha=0.5)
    assert view.rows.shape == X.shape  # what every predicate may share
    looked_at = []
    rays = geometry._rays
    monkeypatch.setattr(geometry, "_rays", lambda unit: looked_at.append(len(unit)) or rays(unit))
    assert predicates()["spike_free"](view).holds is False
    assert looked_at == [2 * 784 + 1]  # a few rows are enough
    monkeypatch.setattr(base, "MOST_OPERATIONS", 1e6)
    assert (
        spike_free(X[:30]).holds is None and "`properties='spike_free'`" in spike_free(X[:30]).note
    )
    assert spike_free(X[:30, :20]).holds is False
