"""The late phase in rescaled weights: the same path, and on to any depth."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn import datasets

from tacit.flow import Limit, limit
from tacit.flow.ending import initial_network
from tacit.flow.evidence import LimitEvidence, judge
from tacit.flow.follow import begin, resumed
from tacit.flow.implicit_steps import Shrink
from tacit.flow.path import PathEnd
from tacit.flow.proof import stored_network
from tacit.flow.rescaling import raise_small, square_norm
from tacit.flow.tolerances import LOWEST, PathTolerances
from tacit.numerics.float64 import LN10
from tacit.values import Dataset, Outcome, Setting

SMALL = PathTolerances(implicit=1e-8, late_growth=0.03, deep_growth=0.03, farthest=0.03)
"""Errors and steps so small that paths with other steps agree between their moments too."""


def xor_like(n: int = 40, d: int = 3) -> Dataset:
    X = np.random.default_rng(0).standard_normal((n, d))
    return Dataset(X, np.sign(X[:, 0] * X[:, 1]).astype(int))


def flow_of(data: Dataset, setting: Setting, seed: int = 0):
    start = initial_network(data, setting, seed)
    return begin(data.X, data.y, setting.alpha, start.W, start.a)


def direction(moment) -> np.ndarray:
    theta = np.concatenate([moment.state.W.ravel(), moment.state.a])
    return theta / np.linalg.norm(theta)


def at(path, depth: float) -> np.ndarray:
    """The direction of the weights at log₁₀ log₁₀(1/L) = depth, between two moments."""
    late = [moment for moment in path.moments if moment.log_L < 0]
    depths = np.array([moment.log10_depth for moment in late])
    entries = np.array([direction(moment) for moment in late])
    return np.array([np.interp(depth, depths, column) for column in entries.T])


def test_weights_are_not_rescaled_to_where_nothing_is_fitted() -> None:
    """Points 1e3 times as long as others hide their margins in rounding while log L is −31.

    The last moment had a loss above 1, "10^-inf", and true theorems were refuted by it.
    """
    X = [[-1.3275726995311823e26, 7.172372867893964e23]]
    X += [[-2.0741943140088463e23, 1.606015053829012e23]]
    slope, init = "leaky:1.4668206490757217e-09", "balanced:1.494516620967408e-07"
    setting = Setting(activation=slope, width=2, init=init)
    end = limit(Dataset(np.array(X), np.array([1, -1])), setting, seed=305, seconds=30)
    losses = [moment.log_L for moment in end.path.moments]
    assert (np.diff(losses) <= 0).all() and losses[-1] < -30


@pytest.mark.long
@pytest.mark.parametrize("name", ["xor", "moons"])
def test_rescaled_weights_go_the_same_way(name):
    if name == "xor":
        data, setting = xor_like(), Setting(width=20)
    else:
        X, label = datasets.make_moons(30, noise=0.1, random_state=0)
        data = Dataset(np.hstack([X, np.ones((30, 1))]), 2 * label - 1)
        setting = Setting(width=20, init="he:1")
    plain, other = flow_of(data, setting), flow_of(data, setting)
    for flow in (plain, other):
        assert flow.run(-1e7 * LN10).end is PathEnd.REACHED
        flow.errors = SMALL
    other._rescale()
    goal = 10 * plain.now.log_L
    ways = [flow.run(goal) for flow in (plain, other)]
    assert other.rescaled and not plain.rescaled
    last = ways[1].last
    assert last.log10_depth == pytest.approx(math.log10(-last.log_L / LN10), rel=1e-12)
    assert last.log_t == pytest.approx(-last.log_L, rel=1e-5)
    same = at(ways[0], last.log10_depth)
    start = next(moment for moment in ways[0].moments if moment.log_L <= goal / 10)
    assert np.linalg.norm(same - direction(start)) > 1e-3
    assert np.linalg.norm(same - direction(last)) < 1e-6


def test_a_path_goes_on_where_the_loss_is_beyond_floating_point(tmp_path):
    data, setting = xor_like(16, 2), Setting(width=12)
    flow = flow_of(data, setting)
    above = flow.run(-1000 * LN10)
    path = flow.run(-math.inf, depth=600.0)
    assert path.end is PathEnd.REACHED
    assert path.last.log10_depth >= 600
    assert path.last.log_L == pytest.approx(LOWEST, rel=1e-9)
    depths = [moment.log10_depth for moment in path.moments[len(above.moments) :]]
    assert (np.diff(depths) > 0).all()
    assert f"10^{path.last.log10_depth:.5g}" in path.last.loss_text()
    assert path.last.time_text() == f"log₁₀ t = 10^{path.last.log10_depth:.5g}"  # t ~ 1/L
    far = replace(path.last, beyond=2.0e6 * LN10)
    assert far.loss_text() == "log₁₀ L = -10^2000251"
    q = path.last.state.outputs()
    assert q.min() == pytest.approx(-LOWEST, rel=1e-5)
    # The limit, which has been found by other means.
    end = limit(data, setting)
    assert end.network is not None
    best = end.network.margins(data.X, data.y).min() / end.network.norm**2
    norm = np.linalg.norm(path.last.state.W) ** 2 + np.linalg.norm(path.last.state.a) ** 2
    assert q.min() / norm == pytest.approx(best, rel=1e-5)
    # And further from where it was cut.
    further = path.last.log10_depth + 100
    again = resumed(path, "logistic").run(-math.inf, depth=further)
    assert again.end is PathEnd.REACHED and again.last.log10_depth >= further


def test_a_neuron_that_shrinks_along_a_line_hides_no_limit():
    """At log₁₀ L = −10^10516 it was said to grow "inf times as fast as the others"."""
    rng = np.random.default_rng(720108)
    X = rng.standard_normal((16, 2))
    rng.choice([-1, 1], 16)
    data = Dataset(X, np.sign(X @ rng.standard_normal(2)).astype(int))
    end = limit(data, Setting(width=40), seed=720108)
    path = resumed(end.path, "logistic").run(-math.inf, depth=10000.0)
    there = judge(path, data, "both")
    assert isinstance(there, LimitEvidence), there
    assert there.network.margins(X, data.y) == pytest.approx(end.network.margins(X, data.y))


def test_a_neuron_that_nearly_vanishes_keeps_its_way():
    data, setting = xor_like(16, 2), Setting(width=6)
    state = flow_of(data, setting).state
    state.W[2], state.a[2] = 1e-140 * state.W[2], 1e-140 * state.a[2]
    vanishing = state.W[2].copy()
    before, q = state.W[2] / np.linalg.norm(state.W[2] * 1e100), state.outputs()
    norm = square_norm(state)
    raise_small(state)
    np.testing.assert_allclose(state.outputs(), q, rtol=1e-14)
    network = stored_network(state)  # a proof is about neurons that count as one
    np.testing.assert_allclose(network.W[2], vanishing, rtol=1e-12)
    assert network.norm**2 == pytest.approx(norm, rel=1e-12)
    assert np.linalg.norm(state.W[2]) > 1e-90 and 0 < state.copies[2] < 1
    np.testing.assert_allclose(
        state.W[2] / np.linalg.norm(state.W[2]), before / np.linalg.norm(before), rtol=1e-12
    )
    state.W[2], state.a[2], state.known = 1e60 * state.W[2], 1e60 * state.a[2], None
    grown = state.outputs()
    raise_small(state)  # it has grown, and counts as one again
    assert state.copies[2] == 1
    np.testing.assert_allclose(state.outputs(), grown, rtol=1e-14)


def test_a_neuron_that_fades_away_is_back_no_sooner_than_it_left():
    """For e^5000 it counts as less and less, far below floating point, and then as more again."""
    state = flow_of(*(xor_like(16, 2), Setting(width=6))).state
    state.W[2], state.a[2] = 1e-130 * state.W[2], 1e-130 * state.a[2]
    outputs, vanishing = state.outputs(), state.W[2].copy()
    raise_small(state)
    own = np.where(np.arange(6) == 2, 0.0, 1.0)
    for _ in range(50):
        Shrink(1.0, own).fade(state, 50.0)
        raise_small(state)
    assert state.copies[2] == pytest.approx(1e-240, rel=1e-9, abs=0)
    for ahead in range(50):
        assert state.copies[2] < 1e-110
        Shrink(1.0, 2 - own).fade(state, 50.0)
        raise_small(state)
        assert (state.copies[2] == pytest.approx(1e-240, rel=1e-9, abs=0)) == (ahead < 47)
    np.testing.assert_allclose(state.outputs(), outputs, rtol=1e-12)
    Shrink(1.0, 2 - own).fade(state, 200.0)
    raise_small(state)  # it counts as one again, and is as large as it has grown
    assert state.copies[2] == 1
    np.testing.assert_allclose(state.W[2], math.exp(200) * vanishing, rtol=1e-11)


@pytest.mark.long
@pytest.mark.parametrize("classes", [(0, 2), (1, 2)])
def test_long_steps_far_down_lead_the_same_way(classes):
    """Steps in which the network grows by e^1000 and more, beside steps of e^20."""
    X, label = datasets.load_wine(return_X_y=True)
    rows = np.isin(label, classes)
    data = Dataset(X[rows], np.where(label[rows] == classes[0], 1, -1))
    short, long = flow_of(data, Setting()), flow_of(data, Setting())
    for flow in (short, long):
        flow.run(-1000 * LN10)
        flow.run(-math.inf, depth=500.0)
    short.errors, tried = PathTolerances(late=1e-6, farthest=20.0), [short.tries, long.tries]
    ways = [flow.run(-math.inf, depth=20000.0) for flow in (short, long)]
    assert all(way.end is PathEnd.REACHED for way in ways)
    assert short.tries - tried[0] > 10 * (long.tries - tried[1])
    depths = np.geomspace(700, 19000, 20)
    one, other = (np.array([at(way, depth) for depth in depths]) for way in ways)
    assert np.linalg.norm(one[0] - one[-1]) > 0.1
    assert np.abs(one - other).max() < 1e-3


@pytest.mark.long
def test_flat_problems_are_followed_to_where_they_lead():
    """Raw columns that differ by a factor of 1000: a neuron changes sides at 10^(10^1000000)."""
    X, label = datasets.load_wine(return_X_y=True)
    data = Dataset(X[label < 2], 1 - 2 * label[label < 2])
    end = limit(data)
    assert end.outcome is Outcome.CONVERGED and end.log10_depth > 1e5
    assert end.kkt is not None and end.kkt.holds(1e-9) and end.network is not None
    last = resumed(end.path, "logistic").run(-math.inf, depth=4 * end.log10_depth).last.state
    one, other = (np.column_stack([net.W, net.a]).ravel() for net in (end.network, last))
    assert np.linalg.norm(one / np.linalg.norm(one) - other / np.linalg.norm(other)) < 1e-3


def with_bias(points: np.ndarray) -> np.ndarray:
    return np.hstack([points, np.ones((len(points), 1))])


def moons() -> tuple[Dataset, Setting, int]:
    points, label = datasets.make_moons(68, noise=0.1, random_state=91015)
    return Dataset(with_bias(points), 2 * label - 1), Setting(width=16, init="he:1"), 91015


def products() -> tuple[Dataset, Setting, int]:
    rng = np.random.default_rng(91003)
    n, d, width = rng.integers(10, 101), rng.integers(2, 6), rng.integers(10, 51)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    return Dataset(X, y), Setting(width=int(width), init="he:1"), 91003


@pytest.mark.parametrize("problem", [moons, products])
def test_a_limit_leaves_out_no_neuron_that_grows_as_fast_as_those_it_keeps(problem):
    """Neurons that are yet to join a group were said to die out: 0.2 and 0.05 rad away for ever."""
    data, setting, seed = problem()
    end = limit(data, setting, seed=seed)
    assert end.outcome.settled and end.network is not None
    depth = max(1000.0, 4 * end.log10_depth)
    last = resumed(end.path, "logistic").run(-math.inf, depth=depth).last.state
    one, other = (np.column_stack([net.W, net.a]).ravel() for net in (end.network, last))
    assert np.linalg.norm(one / np.linalg.norm(one) - other / np.linalg.norm(other)) < 2e-3


@pytest.mark.long
def test_limits_that_show_only_beyond_floating_point_are_found(tmp_path):
    X, label = datasets.make_circles(80, noise=0.05, factor=0.5, random_state=516)
    data = Dataset(np.hstack([X, np.ones((80, 1))]), 2 * label - 1)
    end = limit(data, Setting(width=40, init="he:1"), seed=16, seconds=200)
    assert end.outcome.settled and end.log10_depth > 251
    assert end.kkt is not None and end.kkt.holds(1e-9)
    end.save(tmp_path / "end")
    again = Limit.load(tmp_path / "end")
    assert again.to_dict() == end.to_dict()
    assert again.path.last.log10_depth == end.log10_depth


@pytest.mark.long
def test_a_neuron_that_dies_out_only_until_it_changes_cells_is_no_limit():
    """At log₁₀ L = −1430 the path is near a KKT point that leaves neuron 6 out, and goes on."""
    rng = np.random.default_rng(7904)
    n, m, d = int(rng.integers(10, 101)), int(rng.integers(10, 51)), int(rng.integers(2, 6))
    n = min(n, 40)
    X = rng.standard_normal((n, d))
    data = Dataset(X, rng.choice([-1, 1], n))
    end = limit(data, Setting(width=m, init="he:1"), seed=4)
    assert end.outcome.settled
    further = resumed(end.path, "logistic").run(-math.inf, depth=1000.0)
    state = further.last.state
    norm = float((state.W**2).sum() + (state.a**2).sum())
    assert further.end is PathEnd.REACHED
    assert state.outputs().min() / norm == pytest.approx(end.margin, rel=1e-5)
