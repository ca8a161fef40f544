"""The compiled motion of neurons against SciPy, NumPy and itself as plain Python."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from tacit.flow import _faces, hyperplanes
from tacit.flow.hyperplanes import hyperplanes_of
from tacit.flow.stage import advance, velocities
from tacit.flow.state import Events, State, start


def normals(seed: int, many: int, d: int, rank: int) -> np.ndarray:
    """Unit normals, of which the later ones depend on the first `rank`."""
    rng = np.random.default_rng(seed)
    E = rng.normal(size=(many, d))
    E[rank:] = rng.normal(size=(max(many - rank, 0), min(rank, many))) @ E[:rank]
    return E / np.linalg.norm(E, axis=1)[:, None]


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 7))
def test_a_face_is_the_same_however_it_came_to_be(seed: int, d: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    E = normals(seed, 9, d, min(rank, d))
    faces = _faces.faces_for(1, 9, d)
    side = np.ones((1, 9), np.int8)
    for _ in range(30):
        side[0, rng.integers(9)] ^= 1
        at = _faces.face_of(0, side, faces, E)
        g = rng.normal(size=d)
        projected = g.copy()
        _faces.project(faces, at, projected)
        on = E[side[0] == 0]
        nearest = g - on.T @ np.linalg.lstsq(on.T, g, rcond=1e-9)[0] if len(on) else g
        np.testing.assert_allclose(projected, nearest, atol=1e-9)
        if len(on):
            np.testing.assert_allclose(on @ projected, 0, atol=1e-12)


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 8), st.integers(1, 6))
def test_the_shortest_velocity_is_that_of_scipy(seed: int, d: int, many: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    E = normals(seed, many, d, min(rank, d))
    low = rng.normal(size=many)
    high = low + rng.exponential(size=many)
    g = 2 * rng.normal(size=d)
    faces = _faces.faces_for(1, many, d)
    _faces.face_of(0, np.zeros((1, many), np.int8), faces, E)
    kappa = _faces.boxed(faces, 0, E, g, faces.on[0, :many].copy(), low, high)
    assert (kappa >= low).all() and (kappa <= high).all()
    best = lsq_linear(E.T, -g, (low, high), method="bvls", tol=1e-14).x
    # The multipliers of dependent normals are not unique; the velocity is.
    np.testing.assert_allclose(g + kappa @ E, g + best @ E, atol=1e-7)


def slid(seed: int, both: bool) -> tuple[State, np.ndarray, np.ndarray]:
    """Neurons some of which slide, pulls, and a rate at which they change that releases some."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(8, 4)), rng.choice([-1.0, 1.0], 8)
    W = rng.normal(size=(12, 4))
    a = 1.1 * np.linalg.norm(W, axis=1) * rng.choice([-1, 1], 12)  # none comes to a = 0
    state = start(hyperplanes_of(X, y, 0.0), W, a, both)
    p, end = rng.uniform(0.05, 0.4, (2, 8))
    advance(state, p * y, 1.5)
    state.events = Events()
    return state, p * y, (end - p) * y


def test_a_neuron_is_released_when_its_multiplier_comes_to_its_bound() -> None:
    """The pull changes evenly in one stage, or jumps a thousand times as often."""
    released, h, many = 0, 0.2, 1000
    for seed in range(20):
        state, c, change = slid(seed, both=False)
        once, often, seen = state.copy(), state.copy(), []
        advance(once, c + change * h / 2, h, change)
        for k in range(many):
            before = len(often.events)
            advance(often, c + change * (k + 0.5) * h / many, h / many)
            seen += [(met, k * h / many) for met in list(often.events)[before:]]
        for neuron in range(len(state.a)):
            mine = [met for met in once.events if met.neuron == neuron]
            same = [(met, when) for met, when in seen if met.neuron == neuron]
            if {met.what for met in mine} == {"release"} and mine[0].when > 0:
                assert [met.plane for met in mine] == [met.plane for met, _ in same]
                assert all(
                    abs(a.when - t) < 2 * h / many for a, (_, t) in zip(mine, same, strict=True)
                )
                np.testing.assert_allclose(once.W[neuron], often.W[neuron], atol=1e-6)
                released += 1
    assert released >= 5


@pytest.mark.parametrize("seed", [194, 203, 1663, 2048, 3080, 26666])
def test_a_neuron_does_not_go_to_and_fro_at_a_hyperplane(seed: int) -> None:
    """At first the changing pull leads to one side, and its mean over the rest to the other."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 8)), int(rng.integers(2, 4))
    X, y = rng.normal(size=(n, d)), np.where(rng.random(n) < 0.5, -1.0, 1.0)
    W = rng.normal(size=(1, d))
    a = np.array([np.linalg.norm(W) * rng.choice([-1, 1])])
    state = start(hyperplanes_of(X, y, 0.0), W, a, True)
    h, p = rng.uniform(0.05, 0.6), rng.exponential(size=n)
    most = 2 * p / h  # p is nowhere negative
    rate = np.clip(rng.normal(size=n) * most, -most, most)
    ends = []
    for pieces in (1, 16, 1024):
        moved = state.copy()
        for j in range(pieces):
            later = h * ((j + 0.5) / pieces - 0.5)
            advance(moved, (p + later * rate) * y, h / pieces, rate * y)
        assert len(moved.events) <= 4 * n
        ends.append(moved.W)
    off = [np.linalg.norm(end - ends[-1]) / np.linalg.norm(ends[-1]) for end in ends[:-1]]
    assert off[1] < min(0.01, off[0] / 10)


def test_products_by_a_gram_matrix_are_those_of_the_normals(monkeypatch) -> None:
    ends = []
    for most in (hyperplanes.MOST_PRODUCTS, 0):
        monkeypatch.setattr(hyperplanes, "MOST_PRODUCTS", most)
        state, c, change = slid(3, True)
        assert len(state.planes.lines.gram) == (8 if most else 0)
        advance(state, c + change / 2, 1.0, change)
        assert {met.what for met in state.events} == {"cross", "slide", "release"}
        ends.append(state)
    assert (ends[0].events.rows[:, :3] == ends[1].events.rows[:, :3]).all()
    np.testing.assert_allclose(ends[0].W, ends[1].W, atol=1e-13)
    np.testing.assert_allclose(ends[0].products(), ends[0].W @ ends[0].planes.e.T, atol=1e-13)


PATH = """
import numpy as np
from tacit.flow.follow import begin
rng = np.random.default_rng(5)
X, y = rng.normal(size=(6, 3)), np.array([1, -1, 1, -1, 1, 1])
W = 0.03 * rng.normal(size=(4, 3))
flow = begin(X, y, {alpha}, W, np.linalg.norm(W, axis=1) * [1, -1, 1, -1])
path = flow.run(-3.0, most_tries=60)
last = path.last.state
print(path.end, len(path.events), *np.concatenate([last.W.ravel(), last.a]).tolist())
"""


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_without_compilation_the_path_is_the_same(alpha: float) -> None:
    """Sums in another order: the last digits differ, nothing else."""
    answers = []
    for switch in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": switch, "OPENBLAS_NUM_THREADS": "1"}
        code = PATH.format(alpha=alpha)
        run = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        answers.append(run.stdout.split())
    compiled, plain = answers
    assert compiled[:2] == plain[:2]
    np.testing.assert_allclose(
        np.array(compiled[2:], float), np.array(plain[2:], float), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("seed", range(1, 5))
def test_weights_may_be_divided_while_they_grow(seed: int, both: bool) -> None:
    """They meet the same hyperplanes at the same times, and end at the same place but for that."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((12, 3)), np.sign(rng.standard_normal(12))
    W, a = rng.standard_normal((10, 3)), rng.standard_normal(10)
    state = start(hyperplanes_of(X, y, 0.0), W, a, both)
    c, change = rng.uniform(0.0, 0.3, 12) * y, rng.uniform(-0.02, 0.02, 12) * y
    shrink = rng.uniform(0.1, 2.0, 10) * both
    plain, divided = state.copy(), state.copy()
    advance(plain, c, 4.0, change)
    advance(divided, c, 4.0, change, shrink)
    assert len(plain.events) > 5
    np.testing.assert_array_equal(plain.events.rows[:, :3], divided.events.rows[:, :3])
    np.testing.assert_allclose(plain.events.rows[:, 3], divided.events.rows[:, 3], rtol=1e-9)
    factor = np.exp(-4 * shrink)
    np.testing.assert_allclose(divided.W, plain.W * factor[:, None], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(divided.a, plain.a * factor, rtol=1e-9)
    known = divided.products().copy()
    divided.known = None
    np.testing.assert_allclose(known, divided.products(), rtol=1e-9, atol=1e-12)


def test_divided_weights_grow_beyond_floating_point() -> None:
    """e^(10^5) is no number; a neuron that is divided by its growth points along its pull then."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((8, 3))
    X[:, 0] = np.abs(X[:, 0]) + 3  # all on one side of the neuron, before and after
    state = start(hyperplanes_of(X, np.ones(8), 0.0), np.array([[1.0, 0.2, 0.1]]), np.ones(1), True)
    p = rng.uniform(0.1, 1.0, 8)
    g = p @ X
    gamma = float(np.linalg.norm(g))
    unit = g / gamma
    advance(state, p, 1e5 / gamma, None, np.array([gamma]))
    half = (np.array([1.0, 0.2, 0.1]) @ unit + 1) / 2  # the half that grows
    np.testing.assert_allclose(state.W[0], half * unit, rtol=1e-9)
    assert state.a[0] == pytest.approx(half, rel=1e-9)


def test_a_neuron_that_shrinks_along_a_line_does_so_for_ever() -> None:
    """Balanced layers leave it no other way; rounding would let it grow again at e^36."""
    X, c = np.array([[0.0, 1.0], [1.0, -0.1]]), np.array([-0.5, -1.0])
    planes = hyperplanes_of(X, np.array([-1.0, -1.0]), 0.0)
    state = start(planes, np.array([[0.6, 0.0]]), np.array([0.6]), True)
    state.side[0, planes.line[0]] = 0  # both sides push it back to there
    gamma = float(np.linalg.norm(velocities(state, c)))
    assert gamma > 0.9
    before, a = state.W.copy(), state.a.copy()
    advance(state, c, 300 / gamma, None, np.array([-gamma]))
    np.testing.assert_allclose(state.W, before, rtol=1e-11)
    np.testing.assert_allclose(state.a, a, rtol=1e-11)
    assert not state.events
