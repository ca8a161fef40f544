"""How large λ can make a neuron: bounds against sampling, climbing and the bare definition."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.numerics import pricing
from tacit.numerics.arrangements import cells
from tacit.numerics.pricing import best_in_cell, climb, function, price


def example(
    rng: np.random.Generator, n: int = 8, d: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, weights of both signs, and many unit vectors."""
    c = rng.random(n) * np.where(rng.random(n) < 0.5, 1, -1)
    U = rng.standard_normal((20_000, d))
    return rng.standard_normal((n, d)), c, U / np.linalg.norm(U, axis=1)[:, None]


def values(X: np.ndarray, c: np.ndarray, alpha: float, U: np.ndarray) -> np.ndarray:
    t = U @ X.T
    return np.asarray(np.maximum(t, alpha * t) @ c)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_bound_is_the_maximum(d: int, alpha: float, rng: np.random.Generator) -> None:
    for _ in range(5):
        X, c, U = example(rng, d=d)
        priced = price(X, c, alpha, cells(X), 0.0)
        sampled = values(X, c, alpha, U)
        top = max(climb(X, c, alpha, u)[1] for u in U[np.argsort(-sampled)[:5]])
        assert priced.bound >= max(sampled.max(), top) * (1 - 1e-15)
        assert priced.bound == pytest.approx(max(top, 0), rel=1e-10, abs=1e-12)
        if top > 0:
            assert function(X, c, alpha, priced.directions[0]) == pytest.approx(top, rel=1e-10)
            assert priced.values[0] == pytest.approx(top, rel=1e-10)
        assert np.linalg.norm(priced.directions, axis=1) == pytest.approx(1.0)
        assert (np.diff(priced.values) <= 0).all()


def test_valid_whatever_is_left_undone(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, c, _ = example(rng, n=10)
    all_cells = cells(X)
    best = price(X, c, 0.1, all_cells, 0.0).bound
    for floor in (0.5 * best, 0.999 * best, best, 2 * best):
        for enough in (1, 3, None):
            priced = price(X, c, 0.1, all_cells, floor, enough)
            assert priced.bound >= max(floor, best * (1 - 1e-14))
    assert price(X, c, 0.1, all_cells, 0.9 * best).bound == pytest.approx(best, rel=1e-12)

    def gives_up(*_: Any) -> None:
        raise RuntimeError("too many iterations")

    monkeypatch.setattr("scipy.optimize.nnls", gives_up)
    assert price(X, c, 0.1, all_cells, 0.0).bound >= best * (1 - 1e-14)
    monkeypatch.setattr("scipy.optimize.nnls", lambda A, b: (rng.random(A.shape[1]), 0.0))
    assert price(X, c, 0.1, all_cells, 0.0).bound >= best * (1 - 1e-14)


def test_cheap_steps_alone_prove_most(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, c, _ = example(rng, n=12)
    c[4:] = np.abs(c[4:])
    all_cells = cells(X)
    best = price(X, c, 0.0, all_cells, 0.0).bound
    monkeypatch.setattr(pricing._Hyperplanes, "best", lambda *_: np.zeros(12))
    assert price(X, c, 0.0, all_cells, 1.05 * best).bound == 1.05 * best


def test_z_proves_the_bound(rng: np.random.Generator) -> None:
    X, c, _ = example(rng, n=7)
    priced = price(X, c, 0.2, cells(X), 0.0)
    assert (priced.z >= 0).all()
    g = np.where(priced.cells > 0, c, 0.2 * c) @ X
    proved = np.linalg.norm(g + (priced.z * priced.cells) @ X, axis=1)
    assert proved.max() <= priced.bound <= proved.max() * (1 + 1e-13)


def test_rows_of_any_length(rng: np.random.Generator) -> None:
    X, c, U = example(rng, n=7)
    lengths = 10.0 ** rng.uniform(-6, 6, size=7)
    same = price(X * lengths[:, None], c / lengths, 0.1, cells(X), 0.0)
    assert same.bound == pytest.approx(price(X, c, 0.1, cells(X), 0.0).bound, rel=1e-11)
    assert same.bound >= values(X, c, 0.1, U).max() * (1 - 1e-13)


def test_climbing_never_goes_down(rng: np.random.Generator) -> None:
    X, c, U = example(rng, n=15, d=5)
    for u in U[np.argsort(-values(X, c, 0.1, U))[:300:10]]:
        top, value = climb(X, c, 0.1, u)
        assert np.linalg.norm(top) == pytest.approx(1)
        assert value == function(X, c, 0.1, top)
        assert value >= function(X, c, 0.1, u) - 1e-12
        assert climb(X, c, 0.1, top)[1] >= value - 1e-12


def test_best_in_cell_lies_on_hyperplanes_it_touches(rng: np.random.Generator) -> None:
    X, c, U = example(rng, n=10)
    for u in U[:20]:
        signs = np.where(X @ u > 0, 1, -1)
        r, face = best_in_cell(X, c, 0.1, signs)
        assert X[face] @ r == pytest.approx(np.zeros(len(face)), abs=1e-10)
        assert (c[face] < 0).all()
        inside = signs * (X @ r) >= -1e-10
        assert inside[c < 0].all()


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_small_integers(data: st.DataObject) -> None:
    """Zero functions, parallel rows, empty cells: the bound holds in exact arithmetic."""
    n, d = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 3))
    entry = st.integers(-2, 2)
    X = np.array(data.draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=n,
                                    max_size=n)), dtype=float)  # fmt: skip
    X[~X.any(axis=1)] = 1.0
    c = np.array(data.draw(st.lists(st.sampled_from([-2, -1, 1, 2]), min_size=n, max_size=n)))
    u = data.draw(st.lists(st.integers(-5, 5), min_size=d, max_size=d))
    bound = Fraction(price(X, c.astype(float), 0.5, cells(X), 0.0).bound)
    total = Fraction(0)
    for x, weight in zip(X.astype(int).tolist(), c.tolist(), strict=True):
        t = sum(a * b for a, b in zip(x, u, strict=True))
        total += weight * (t if t > 0 else Fraction(t, 2))
    assert total <= 0 or total**2 <= bound**2 * sum(a * a for a in u)


def test_large_weights_that_cancel_are_bounded_in_longer_numbers(rng: np.random.Generator) -> None:
    """Of two points that nearly coincide: the bound is that of its z in fractions, and no less."""
    X = rng.standard_normal((7, 2))
    X[1] = X[0] + 1e-6 * rng.standard_normal(2)
    c = np.array([1e6, -1e6, 0.3, -0.2, 0.4, 0.5, -0.1])
    priced = price(X, c, 0.25, cells(X), 0.0)
    squares = []
    for cell, z in zip(priced.cells.tolist(), priced.z.tolist(), strict=True):
        weights = [
            (Fraction(w) if s > 0 else Fraction(w) / 4) + Fraction(t) * s
            for w, s, t in zip(c.tolist(), cell, z, strict=True)
        ]
        g = [sum(w * Fraction(x) for w, x in zip(weights, X[:, j], strict=True)) for j in (0, 1)]
        squares.append(g[0] ** 2 + g[1] ** 2)
    assert max(squares) <= Fraction(priced.bound) ** 2 <= max(squares) * (1 + Fraction(1, 10**9))
