"""The answer of the margins to p, also across events, and implicit steps that use it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tacit.flow import follow as following
from tacit.flow import hyperplanes, stage
from tacit.flow._krylov import Response, gmres
from tacit.flow.exponential_tail import Weights
from tacit.flow.follow import begin, resumed
from tacit.flow.hyperplanes import hyperplanes_of
from tacit.flow.implicit_errors import _left
from tacit.flow.implicit_steps import GAMMA, Answer, Landed, Shrink, _mixed, _response, implicit
from tacit.flow.newton import moved
from tacit.flow.stage import advance, velocities
from tacit.flow.state import start
from tacit.flow.steps import weigh
from tacit.flow.tolerances import STAGE, PathTolerances


def margins_after(state, p, h):
    new = state.copy()
    advance(new, p * state.planes.y, h)
    return new.outputs()


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_response_is_the_derivative_of_the_margins_across_events(both, alpha):
    rng = np.random.default_rng(6 if both else 3)
    X, y = rng.standard_normal((7, 3)), np.array([1.0, -1, 1, -1, 1, 1, -1])
    W, a = rng.standard_normal((9, 3)), rng.standard_normal(9)
    state = start(hyperplanes_of(X, y, alpha), W, a, both)
    p, h = rng.uniform(0.05, 0.4, 7), 3.0
    new = state.copy()
    advance(new, p * y, h)
    assert {met.what for met in new.events} >= {"cross", "slide"}
    response = _response(state, new, p * y, h, np.arange(7))
    small = 1e-6 * np.eye(7)
    slopes = [margins_after(state, p + s, h) - margins_after(state, p - s, h) for s in small]
    off = np.abs(response - np.transpose(slopes) / 2e-6)
    assert off.max() <= 1e-8 * np.abs(response).max()


@pytest.mark.parametrize("h", [3.0, 600.0])
def test_response_is_the_derivative_also_where_weights_are_divided(h):
    """At the end of a long stage neurons grow by e^500, less what they are divided by."""
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((7, 3)), np.array([1.0, -1, 1, -1, 1, 1, -1])
    W, a = rng.standard_normal((9, 3)), rng.standard_normal(9)
    state = start(hyperplanes_of(X, y, 0.0), W, a, True)
    p = rng.uniform(0.05, 0.4, 7)
    first = state.copy()
    advance(first, p * y, 30.0 if h > 30 else 0.0)
    speeds = np.linalg.norm(velocities(first, p * y), axis=1)
    if h > 30:
        first.scale(1e-3)
    shrink = Shrink(float(speeds.max()), speeds if h > 30 else speeds / 2)

    def after(p):
        new = first.copy()
        advance(new, p * y, h, None, shrink.own)
        return new

    new = after(p)
    assert new.events if h < 30 else speeds.max() * h > 400
    response = _response(first, new, p * y, h, np.arange(7), shrink)
    small = 1e-6 if h < 30 else 1e-8
    slopes = [(after(p + s).outputs() - after(p - s).outputs()) for s in small * np.eye(7)]
    off = np.abs(response - np.transpose(slopes) / (2 * small))
    assert off.max() <= 1e-6 * np.abs(response).max()


def stage_and_response(X, y, W, a, p):
    state = start(hyperplanes_of(X, y, 0.0), W, a, True)
    new = state.copy()
    advance(new, p * y, 2.0)
    return new, _response(state, new, p * y, 2.0, np.arange(len(y)))


@pytest.mark.parametrize("cores", [1, 2])
def test_neurons_may_be_moved_in_two_halves_side_by_side(monkeypatch, cores):
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((30, 4)), np.sign(rng.standard_normal(30))
    W, a, p = rng.standard_normal((21, 4)), rng.standard_normal(21), rng.uniform(0, 0.1, 30)
    new, response = stage_and_response(X, y, W, a, p)
    assert len(new.events) > 20
    monkeypatch.setattr(stage, "STAGE", replace(STAGE, halves=1))
    monkeypatch.setattr(stage.os, "cpu_count", lambda: cores)
    monkeypatch.setattr(hyperplanes, "MOST_PRODUCTS", 0)  # products of samples by another way too
    halves, other = stage_and_response(X, y, W, a, p)
    assert np.array_equal(halves.side, new.side)
    assert np.allclose(halves.W, new.W, rtol=0, atol=1e-13 * np.abs(new.W).max())
    assert np.array_equal(halves.events.rows[:, :3], new.events.rows[:, :3])
    assert np.allclose(other, response, rtol=0, atol=1e-12 * np.abs(response).max())


def of_some(rate, rng):
    """Every second sample of a response, and the matrix that it stands for."""
    at = np.arange(0, len(rate), 2)
    bend, pushed = rng.random((2, len(at)))
    matrix = np.eye(len(at)) + bend[:, None] * rate[np.ix_(at, at)] * pushed
    return Response(rate, at, bend, pushed), matrix


@pytest.mark.parametrize("n", [1, 5, 250])
def test_krylov_finds_what_elimination_finds(n):
    rng = np.random.default_rng(n)
    some = rng.standard_normal((2 * n, 3))
    response, matrix = of_some(40 * some @ some.T / n, rng)
    b = rng.standard_normal(n)
    x, found = gmres(response, b, 1e-10, 20)
    assert found
    assert np.abs(matrix @ x - b).max() <= 2e-10 * np.linalg.norm(b)
    assert np.allclose(x, np.linalg.solve(matrix, b), atol=1e-8)


def test_krylov_says_when_its_products_are_not_enough():
    rng = np.random.default_rng(0)
    response, _ = of_some(5 * rng.standard_normal((160, 160)), rng)
    assert not gmres(response, rng.standard_normal(80), 1e-10, 20)[1]
    assert np.array_equal(gmres(response, np.zeros(80), 1e-10, 20)[0], np.zeros(80))


def test_iterations_that_converge_linearly_are_mixed_into_where_they_lead():
    """For u ↦ u* + M (u − u*) with M of rank two, three iterations tell the fixed point."""
    rng = np.random.default_rng(2)
    M, end, p = rng.standard_normal((6, 2)), rng.standard_normal(6), np.full(6, 1 / 6)
    M = 0.7 * M @ np.linalg.pinv(M)
    u, tried = end + rng.standard_normal(6), []
    for _ in range(3):
        better = end + M @ (u - end)
        tried.append((u, better, float(better.sum())))
        u = better
    lost = [*tried[:1], (u, np.full(6, np.inf), 0.0)]
    assert _mixed(lost, p, np.arange(6))[0] is lost[-1][1]
    mixed, level = _mixed(tried, p, np.arange(6))
    assert np.abs(mixed - end).max() <= 1e-9
    assert abs(level - end.sum()) <= 1e-8


@pytest.mark.parametrize("stiff", [0.0, 1.0, 1e8])
def test_an_error_of_p_is_what_the_margins_leave_of_it(stiff):
    """With δq = R h x and δ log p = −δq + the same for all, x = e + γ δp is left of an error e."""
    rng = np.random.default_rng(4)
    some = rng.standard_normal((4, 4))
    rate, h, rows = stiff * some @ some.T, 0.5, np.arange(1, 5)
    p, wrong = np.array([0.0, 0.1, 0.2, 0.3, 0.4]), np.append(0.0, 1e-3 * rng.standard_normal(4))
    wrong[rows] -= wrong.sum() / 4  # Σ p is right
    now = Weights(p, -400.0, np.ones(5))
    landed = Landed(None, now, Answer(rows, rate))
    left = _left(wrong, landed, landed, h)
    change = (left - wrong) / GAMMA
    same = change[rows] / p[rows] + rate @ left[rows] * h
    assert np.ptp(same) <= 1e-9 * (1 + np.abs(same).max())
    assert abs(change.sum()) <= 1e-9
    if stiff == 0:
        assert np.allclose(left, wrong, rtol=0, atol=1e-15)
    if stiff == 1e8:
        assert np.abs(left).max() <= 1e-6 * np.abs(wrong).max()


def test_an_error_is_not_filtered_where_the_answer_is_not_known():
    now = Weights(np.array([0.5, 0.5]), -400.0, np.ones(2))
    landed = Landed(None, now, Answer(np.array([0]), np.array([[1e8]])))
    wrong = np.array([1e-3, 1e-3])
    assert _left(wrong, landed, landed, 1.0) is wrong
    for rate in (-2 / GAMMA * np.eye(2), np.full((2, 2), np.inf)):  # a singular matrix, and none
        with np.errstate(invalid="ignore"):
            odd = landed._replace(answer=Answer(np.arange(2), rate))
            assert _left(wrong, odd, odd, 1.0) is wrong
    assert _left(wrong, landed._replace(answer=None), landed._replace(answer=None), 1.0) is wrong


def test_a_sample_joins_the_nearest_ones_or_leaves_them_in_one_step():
    """For q = q₀ + K p with diagonal K Newton's method is at the solution after a step or two."""
    stiff, start_at = 1e6 * np.ones(2), np.array([5e5, 9e5])
    for u in (np.array([-1e-3, -70.0]), np.array([-70.0, -1e-3])):
        for _ in range(4):
            q = start_at + stiff * np.exp(u)
            residual = 8e5 - q - u  # u = 8e5 − q
            u = moved(u, residual / (1 + stiff * np.exp(u)), stiff)
        assert np.allclose(np.exp(u), [0.3, 0.0], atol=1e-4)


def test_an_implicit_step_across_a_hyperplane_is_that_of_its_own_p():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((8, 2)), np.sign(rng.standard_normal(8))
    flow = begin(X, y, 0.0, rng.standard_normal((20, 2)), rng.standard_normal(20))
    flow.run(-300.0, 60.0)
    landed = implicit(flow.state, 1 / flow._fastest(), "logistic", np.log(flow.now.p + 1e-43))
    assert isinstance(landed, Landed)
    assert landed.state.events
    assert np.allclose(weigh(landed.state, "logistic").p, landed.now.p, atol=1e-7)


def direction(path, depth):
    """The direction of the weights at a log₁₀(1/L), between two moments of the path."""
    depths = [math.log(max(-moment.log_L, 1e-3) / math.log(10)) for moment in path.moments]
    j = int(np.searchsorted(depths, math.log(depth)))
    units = []
    for moment in path.moments[j - 1 : j + 1]:
        theta = np.append(moment.state.W, moment.state.a)
        units.append(theta / np.linalg.norm(theta))
    share = (math.log(depth) - depths[j - 1]) / (depths[j] - depths[j - 1])
    return (1 - share) * units[0] + share * units[1]


@pytest.mark.long
def test_the_path_is_the_same_where_p_is_a_state_and_where_it_is_that_of_the_margins(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((10, 3))
    y = np.sign(X[:, 0] * X[:, 1])
    W, a = rng.standard_normal((12, 3)), rng.standard_normal(12)
    errors = PathTolerances(implicit=1e-10, deep_growth=0.2, late_growth=0.2)
    paths = []
    for as_state in (False, True):
        flow = begin(X, y, 0.0, W, a, errors=errors)
        flow.run(-1e3 * math.log(10))
        if as_state:
            monkeypatch.setattr(following, "is_deep", lambda state: True)
        paths.append(flow.run(-1.1e6 * math.log(10)))
    for depth in (1e5, 1e6):
        one, other = (direction(path, depth) for path in paths)
        assert np.linalg.norm(one - direction(paths[0], 1e3)) > 0.01
        assert np.linalg.norm(one - other) < 1e-6


@pytest.mark.long
def test_a_path_that_is_resumed_where_rounding_hides_p_is_the_same():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((10, 3))
    y = np.sign(X[:, 0] * X[:, 1])
    errors = PathTolerances(implicit=3e-9, deep_growth=0.2, late_growth=0.2)
    W, a = rng.standard_normal((12, 3)), rng.standard_normal(12)
    flow = begin(X, y, 0.0, W, a, errors=errors)
    cut = flow.run(-1e10 * math.log(10))
    paths = [one.run(-1.1e12 * math.log(10)) for one in (flow, resumed(cut, "logistic", errors))]
    one, other = (direction(path, 1e12) for path in paths)
    assert np.linalg.norm(one - direction(cut, 1e10)) > 1e-4
    assert np.linalg.norm(one - other) < 1e-6
