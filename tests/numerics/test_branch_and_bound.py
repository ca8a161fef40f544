"""Branch and bound against all cells, sampling and exact values; valid wherever it stops."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace

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


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.95])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 12])
@pytest.mark.parametrize("draw", [problem, degenerate])
def test_quadratic_functions_prove_the_same(draw, d, alpha, rng, monkeypatch):
    only = replace(BRANCHING, chords_first=1, nodes_at_a_time=1, quadratics_first=10**9)
    only = replace(only, most_seconds=math.inf)
    for _ in range(4):
        X, c = draw(rng, 9, d)
        best = price(X, c, alpha, cells(X), 0.0).bound
        size = float(np.abs(c) @ np.linalg.norm(X, axis=1))
        if best < 1e-3 * size:
            continue
        for share in (1.0, 0.9, 0.01):
            with monkeypatch.context() as patch:
                patch.setattr(branch_and_bound, "BRANCHING", only)
                branched = Branching(X, c, alpha).maximum(share * best)
            assert branched.closed
            assert best - 1e-11 * size <= branched.bound <= best * (1 + 1e-8)


def test_quadratic_functions_are_valid_wherever_they_stop(rng, monkeypatch):
    X, c = problem(rng, 30, 6)
    best = Branching(X, c, 0.1).maximum(0.0).bound
    for nodes in (1, 2, 5, 20):
        few = replace(BRANCHING, chords_first=1, nodes_at_a_time=1, quadratics_first=nodes)
        few = replace(few, seconds_at_a_time=0.0, most_nodes=20 * nodes)
        monkeypatch.setattr(branch_and_bound, "BRANCHING", few)
        for floor in (0.3, 0.9, 0.999):
            assert Branching(X, c, 0.1).maximum(floor * best).bound >= best * (1 - 1e-14)


def test_relaxations_bound_the_function_everywhere(rng):
    """Of random nodes with random multipliers: sampled, and sampled inside of their ranges."""
    from tacit.numerics import _quadratics

    for _ in range(10):
        X, c = problem(rng, 12, 4)
        F = Branching(X, c, float(rng.choice([0.0, 0.4]))).F
        u = rng.standard_normal(4)
        U = rng.standard_normal((5000, 4))
        U *= (rng.random(5000) ** 0.25 / np.linalg.norm(U, axis=1))[:, None]
        K = len(F.rows)
        side = np.where(rng.random(K) < 0.4, np.sign(F.rows @ u), 0).astype(np.int8)
        low, high = -F.norms * rng.uniform(0.2, 1, K), F.norms * rng.uniform(0.2, 1, K)
        low[: F.up], high[: F.up] = -F.norms[: F.up], F.norms[: F.up]
        z = rng.uniform(0.05, 0.45, 2 * K + 2)
        z[0] = 50.0
        node = _quadratics.QuadraticNode(side, low, high, z)
        terms, first = _quadratics.terms_of(F, node)
        made = _quadratics.factored(F, terms, first, z, 1e-3)
        t = U @ F.rows.T
        inside = (np.where(side != 0, side * t >= 0, (low <= t) & (t <= high))).all(axis=1)
        plus = np.maximum(t, 0)
        values = U @ F.linear + plus[:, : F.up].sum(axis=1) - plus[:, F.up :].sum(axis=1)
        assert inside.any() and made.positive and made.bound >= values[inside].max()
        threshold = float(np.quantile(values[inside], 0.9))
        z[0] = 4.0
        made, _ = _quadratics.relax(F, node, terms, first, threshold, 1e-2)
        shape, inverse = _quadratics.shape_of(F, made)
        _quadratics.shrink(F, node, made, shape, inverse, threshold)
        above = U[inside & (values > threshold)] @ F.rows.T
        open_rows = node.side == 0
        assert (node.low[open_rows] <= above[:, open_rows]).all()
        assert (node.high[open_rows] >= above[:, open_rows]).all()
        assert (node.side * above >= 0).all()


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


@pytest.mark.parametrize(
    "draw, alpha",
    [
        (problem, 0.1),
        pytest.param(problem, 0.0, marks=pytest.mark.long),
        pytest.param(degenerate, 0.0, marks=pytest.mark.long),
        pytest.param(degenerate, 0.1, marks=pytest.mark.long),
    ],
)
def test_without_compilation_the_answer_is_the_same(draw, alpha, rng):
    """Chords, then quadratic functions, as plain Python."""
    X, c = draw(rng, 9, 4)
    code = f"""
import numpy as np
from dataclasses import replace
from tacit.numerics import branch_and_bound
X, c = np.array({X.tolist()}), np.array({c.tolist()})
best = branch_and_bound.Branching(X, c, {alpha}).maximum(0.0).bound
only = replace(branch_and_bound.BRANCHING, chords_first=1, nodes_at_a_time=1, quadratics_first=9999)
branch_and_bound.BRANCHING = only
print(best, branch_and_bound.Branching(X, c, {alpha}).maximum(0.9 * best).bound)
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    best = Branching(X, c, alpha).maximum(0.0).bound
    chords, quadratics = map(float, run.stdout.split())
    assert chords == pytest.approx(best, rel=1e-12)
    assert quadratics == pytest.approx(best, rel=1e-8) and quadratics >= best * (1 - 1e-12)


def test_least_norm_of_badly_scaled_rows(rng: np.random.Generator) -> None:
    """Columns of very different sizes, against SciPy's bounded least squares."""
    from scipy.optimize import lsq_linear

    from tacit.numerics._least_norm import least_norm
    from tacit.numerics._relaxation import room_for

    for _ in range(10):
        X = rng.standard_normal((14, 5)) * [1.0, 1, 1e-2, 1e-3, 1e-4] + [3.0, 2, 0, 0, 0]
        F = Branching(X, np.where(np.arange(14) < 6, 1.0, -1.0), 0.0).F
        room, x = room_for(F), np.zeros(14)
        room.way[: F.up] = rng.choice([-1.0, 1.0], F.up)
        start = rng.standard_normal(5) * [1.0, 1, 1e-2, 1e-3, 1e-4]
        room.g[:] = start
        least_norm(F, x, room, 0.0)
        A = (room.way[:, None] * F.rows).T
        best = lsq_linear(A, -start, (0, room.top), method="bvls", tol=1e-14).x
        reached, expected = (float(np.linalg.norm(start + A @ z)) for z in (x, best))
        assert (x >= 0).all() and (x <= room.top).all()
        assert reached <= expected * (1 + 1e-8) + 1e-13


def test_a_climb_may_begin_at_a_tiny_vector() -> None:
    """Neurons that die out are such: their squares underflow, and a warning was shown."""
    function = Branching(np.eye(2), np.array([1.0, -0.5]), 0.5)
    tops, values = function.climb(np.array([[1e-200, 1e-201], [1.0, 0.1]]))
    assert np.isfinite(tops).all() and values[0] == pytest.approx(values[1])
