"""Branch and bound against all cells, sampling and exact values; valid wherever it stops."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from tacit.numerics import branch_and_bound
from tacit.numerics.arrangements import cells
from tacit.numerics.branch_and_bound import Branching, maxima
from tacit.numerics.pricing import function, price
from tacit.numerics.tolerances import BRANCHING


def problem(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.standard_normal((n, d)), rng.random(n) * np.where(rng.random(n) < 0.5, 1, -1)


def degenerate(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Lattice points: zeros, duplicates, opposite and parallel rows, ties."""
    X = rng.integers(-1, 2, size=(n, d)).astype(float)
    X[:2] = X[2:4] * [[2.0], [-1.0]]
    return X, rng.integers(1, 3, size=n) * np.where(rng.random(n) < 0.5, 1.0, -1.0)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.95])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 12])
@pytest.mark.parametrize("draw", [problem, degenerate])
def test_bound_is_the_maximum_over_all_cells(draw, d, alpha, rng):
    for _ in range(4):
        X, c = draw(rng, 9, d)
        best = price(X, c, alpha, cells(X), 0.0).bound
        branched = Branching(X, c, alpha).maximum(0.0)
        size = float(np.abs(c) @ np.linalg.norm(X, axis=1))
        assert branched.closed
        assert best - 1e-11 * size <= branched.bound <= best + 1e-8 * size
        if best > 1e-8 * size:
            u = branched.directions[0]
            assert function(X, c, alpha, u) == pytest.approx(best, rel=1e-8)
            assert np.linalg.norm(u) == pytest.approx(1.0)


def test_valid_wherever_it_stops(rng, monkeypatch):
    X, c = problem(rng, 30, 6)
    best = Branching(X, c, 0.1).maximum(0.0).bound
    U = rng.standard_normal((20_000, 6))
    t = U / np.linalg.norm(U, axis=1)[:, None] @ X.T
    assert (np.maximum(t, 0.1 * t) @ c).max() <= best
    for floor in (0.0, 0.5 * best, 0.999 * best, best, 2 * best):
        for enough in (1, 3, None):
            assert Branching(X, c, 0.1).maximum(floor, enough).bound >= max(
                floor, best * (1 - 1e-14)
            )
    for nodes in (1, 10, 100):
        few = BRANCHING.__class__(most_nodes=nodes, nodes_at_a_time=nodes)
        monkeypatch.setattr(branch_and_bound, "BRANCHING", few)
        assert Branching(X, c, 0.1).maximum(0.0).bound >= best
        assert Branching(X, c, 0.1).maximum(0.0, seconds=0.0).bound >= best


def test_more_slots_change_nothing(rng, monkeypatch):
    X, c = problem(rng, 40, 8)
    best = Branching(X, c, 0.0).maximum(0.0)
    few = BRANCHING.__class__(first_slots=4)
    monkeypatch.setattr(branch_and_bound, "BRANCHING", few)
    again = Branching(X, c, 0.0).maximum(0.0)
    assert (again.bound, again.nodes) == (best.bound, best.nodes)
    monkeypatch.setattr(branch_and_bound, "BRANCHING", BRANCHING.__class__(4, 4, 4, 1, 20))
    assert Branching(X, c, 0.0).maximum(0.0).bound >= best.bound


@pytest.mark.parametrize("alpha", [0.0, 0.4])
def test_order_scale_and_rotation_do_not_matter(alpha, rng):
    X, c = problem(rng, 20, 7)
    best = Branching(X, c, alpha).maximum(0.0).bound
    order = rng.permutation(20)
    turn = np.linalg.qr(rng.standard_normal((9, 9)))[0][:7]
    for other, weights, factor in (
        (X[order], c[order], 1.0),
        (X * 2.0**60, c, 2.0**60),
        (X * 2.0**-60, c * 2.0**-20, 2.0**-80),
        (X @ turn, c, 1.0),
    ):
        again = Branching(other, weights, alpha).maximum(0.0).bound
        assert again == pytest.approx(best * factor, rel=1e-9)


def test_wide_data_works_in_the_span_of_the_points(rng):
    X, c = problem(rng, 12, 4000)
    wide = Branching(X, c, 0.2)
    assert wide.F.rows.shape == (12, 12)
    best = wide.maximum(0.0)
    assert function(X, c, 0.2, best.directions[0]) <= best.bound
    assert best.bound == pytest.approx(function(X, c, 0.2, best.directions[0]), rel=1e-8)


def test_climbs_end_where_no_step_goes_up(rng):
    X, c = problem(rng, 25, 5)
    F = Branching(X, c, 0.0)
    u, values = F.climb(rng.standard_normal((10, 5)))
    assert values == pytest.approx([function(X, c, 0.0, one) for one in u])
    for one, value in zip(u, values, strict=True):
        near = one + 1e-4 * rng.standard_normal((200, 5))
        near /= np.linalg.norm(near, axis=1)[:, None]
        assert max(function(X, c, 0.0, v) for v in near) <= value + 1e-12


def test_both_signs_at_once(rng):
    X, c = problem(rng, 20, 6)
    pair = [Branching(X, s * c, 0.0) for s in (1, -1)]
    for one, alone in zip(maxima(pair, [0.0, 0.0], None, np.inf), pair, strict=True):
        assert one.bound == alone.maximum(0.0).bound


def test_without_compilation_the_answer_is_the_same(rng):
    X, c = problem(rng, 10, 4)
    code = (
        "import sys, numpy as np; from tacit.numerics.branch_and_bound import Branching\n"
        f"X, c = np.array({X.tolist()}), np.array({c.tolist()})\n"
        "print(repr(float(Branching(X, c, 0.1).maximum(0.0).bound)))"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert float(run.stdout) == pytest.approx(Branching(X, c, 0.1).maximum(0.0).bound, rel=1e-12)
