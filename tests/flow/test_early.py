"""The early phase against closed forms, brute force over the moments, and phuong2021 Lemma 1."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers import rest_long
from tacit.data import load
from tacit.flow.early import early
from tacit.flow.follow import follow
from tacit.flow.state import State
from tacit.numerics.extremal_directions import lemma_2


def balanced(m: int, d: int, size: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(m, d))
    return W * size / np.linalg.norm(W, axis=1)[:, None], size * rng.choice([-1.0, 1.0], m)


@pytest.mark.parametrize("share", rest_long([0.01, 0.1, 0.5], [0.1]))
@pytest.mark.parametrize("kind", ["logistic", "exponential"])
def test_the_end_is_the_last_moment_with_small_outputs(share: float, kind: str) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(5, 2)), np.array([1, -1, 1, -1, 1])
    path = follow(X, y, 0.2, *balanced(6, 2, 1e-6), kind=kind, log_L_end=0.5)
    phase = early(path, kind, share)
    assert phase is not None

    def off(state: State) -> float:
        q = state.outputs()
        slope = np.exp(-q) if kind == "exponential" else 1 / (1 + np.exp(q))
        return float(np.abs(slope / (1 if kind == "exponential" else 0.5) - 1).max())

    assert 0.8 * share < off(phase.end.state) <= share
    assert all(off(m.state) <= share for m in path.moments if m.s <= phase.end.s)
    assert all(off(m.state) > 0.9 * share for m in path.moments if m.s > phase.end.s)
    t = phase.end.state.W @ X.T
    assert (np.where(phase.sectors == 0, 0, np.sign(t)) == phase.sectors).all()
    assert early(follow(X, y, 0.2, *balanced(6, 2, 5.0), kind=kind, log_L_end=0.5), kind) is None


def test_outputs_beyond_the_exponential_are_no_early_phase() -> None:
    path = follow(
        np.array([[1e3]]), np.array([-1]), 0.0, np.ones((1, 1)), np.ones(1), kind="exponential"
    )
    assert path.moments[0].log_L == 1000 and early(path, "exponential") is None


@pytest.mark.parametrize("size", [1e-4, 1e-6, 1e-12])
@pytest.mark.parametrize("both", [True, False])
def test_one_neuron_turns_in_closed_form(size: float, both: bool) -> None:
    """One point x: w∥ and a turn hyperbolically at the rate ‖x‖/2 (fixed a: a straight line)."""
    x, delta = np.array([1.2, 0.5]), 1e-3
    length = float(np.linalg.norm(x))
    w, a = size * np.array([-0.1, 0.9]), size if both else 1.0
    path = follow(
        x[None], np.array([1]), 0.0, w[None], np.array([a]), both, log_L_end=math.log(0.6)
    )
    phase = early(path, delta=delta)
    assert phase is not None and phase.aligned is not None
    along, across = float(w @ x) / length, abs(float(w[0] * x[1] - w[1] * x[0])) / length
    low, high = 0.0, 60.0 if both else 1200 * size
    for _ in range(200):
        tau = (low + high) / 2
        w_along = along * math.cosh(tau) + a * math.sinh(tau) if both else along + a * tau
        turned = w_along >= (1 - delta) * math.hypot(w_along, across)
        low, high = (low, tau) if turned else (tau, high)
    near = 1e-2 if size == 1e-4 else 1e-3  # the outputs change |ℓ'| by their own size
    assert math.exp(phase.aligned[0]) == pytest.approx(low / (length / 2), rel=near)


def test_times_of_alignment_do_not_depend_on_the_scale() -> None:
    data = load("orthogonal:n=40,d=3")
    times = []
    for size in (1e-6, 1e-9, 1e-12):
        path = follow(data.X, data.y, 0.0, *balanced(20, 3, size), log_L_end=0.0)
        phase = early(path, delta=0.01)
        assert phase is not None and phase.aligned is not None
        times.append(np.exp(phase.aligned))
        assert (phase.aligned < phase.end.log_t).all()
    np.testing.assert_allclose(times[0], times[2], rtol=0.02)
    np.testing.assert_allclose(times[1], times[2], rtol=0.02)


@pytest.mark.parametrize("d", rest_long([2, 5], [2]))
def test_orthogonally_separable_neurons_align_and_reach_the_two_sectors(d: int) -> None:
    """wang2022 Theorem 1, phuong2021 Lemmas 1 and 2; the smaller the start the closer to 1."""
    data = load(f"orthogonal:n=40,d={d}")
    worst = []
    for size in (1e-3, 1e-5, 1e-8):
        path = follow(data.X, data.y, 0.0, *balanced(30, d, size), log_L_end=0.0)
        phase = early(path, share=1e-3 if size < 1e-3 else 0.1, extremal=True)
        assert phase is not None and phase.extremal is not None
        live = ~phase.dead_then
        worst.append(1 - float(phase.cosines[live].min()))
    assert worst[0] > worst[1] > worst[2] and worst[2] < 1e-6
    assert live.sum() >= 15 and phase.extremal[live].all()
    plus, minus = lemma_2(data.X, data.y) or ((), ())
    a = phase.end.state.a
    for k in np.flatnonzero(live):
        assert (phase.sectors[k] == (plus if a[k] > 0 else minus)).all()


def test_dead_neurons_are_counted_at_three_times() -> None:
    """One class: neurons with a < 0 are pushed away and die, those that see no point never move."""
    angle = np.array([-0.3, 0.0, 0.2])
    X, y = np.column_stack([np.cos(angle), np.sin(angle)]), np.ones(3, dtype=int)
    ways = np.array([0.1, 1.0, 2.0, 3.0, -1.0])
    W = 1e-5 * np.column_stack([np.cos(ways), np.sin(ways)])
    a = 1e-5 * np.array([1.0, -1.0, -1.0, 1.0, 1.0])
    phase = early(follow(X, y, 0.0, W, a, log_L_end=-2.0))
    assert phase is not None
    assert phase.dead_at_start.tolist() == [False, False, True, True, False]
    assert phase.dead_then.tolist() == [False, True, True, True, False]
    assert phase.dead_at_end.tolist() == [False, True, True, True, False]
    assert np.isnan(phase.cosines).tolist() == phase.dead_then.tolist()
    leaky = early(follow(X, y, 0.1, W, a, log_L_end=0.0))
    assert leaky is not None and not leaky.dead_then.any()


def test_a_sliding_neuron_is_compared_with_the_pull_along_its_hyperplanes() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(7, 3)), np.array([1, -1, 1, -1, 1, -1, 1])
    path = follow(X, y, 0.0, *balanced(40, 3, 1e-8), log_L_end=math.log(7 * math.log(2)) - 1e-3)
    phase = early(path)
    assert phase is not None
    state = phase.end.state
    compared = 0
    for k in np.flatnonzero((phase.sectors == 0).any(axis=1) & ~phase.dead_then):
        on, active = X[phase.sectors[k] == 0], phase.sectors[k] > 0
        g = y[active] @ X[active]
        g = g - on.T @ np.linalg.lstsq(on.T, g, rcond=None)[0]
        cosine = float(g @ state.W[k]) / (np.linalg.norm(g) * np.linalg.norm(state.W[k]))
        assert phase.cosines[k] == pytest.approx(np.sign(state.a[k]) * cosine, abs=1e-9)
        compared += 1
    assert compared >= 1
