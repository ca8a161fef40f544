"""The answer of the margins to p, also across events, and implicit steps that use it."""

import math

import numpy as np
import pytest

from tacit.flow import follow as following
from tacit.flow.follow import begin, resumed
from tacit.flow.hyperplanes import hyperplanes_of
from tacit.flow.newton import moved
from tacit.flow.stage import advance
from tacit.flow.state import start
from tacit.flow.steps import Landed, _response, implicit, weigh
from tacit.flow.tolerances import PathTolerances


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
