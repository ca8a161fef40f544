"""Newton's method in implicit steps: the search along one of its steps, and its derivative."""

import numpy as np

from tacit.flow import implicit_steps, newton
from tacit.flow.hyperplanes import hyperplanes_of
from tacit.flow.implicit_steps import Failed, Landed, _response, implicit
from tacit.flow.stage import advance
from tacit.flow.state import start
from tacit.flow.steps import seen_by, weigh
from tacit.flow.tolerances import STEP

LENGTHS = (0.05, 0.1, 0.2, 0.4, 0.8)


def far_off(seed):
    """Data, and large weights that are not those of a path."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((10, 4))
    y = np.sign(X[:, 0] * X[:, 1])
    return X, y, 2.5 * rng.standard_normal((8, 4)), 2.5 * rng.standard_normal(8)


def step_of(seed, h):
    """An implicit step from there, and p of the margins at its end."""
    X, y, W, a = far_off(seed)
    state = start(hyperplanes_of(X, y, 0.0), W, a, True)
    landed = implicit(state, h, "logistic", np.log(weigh(state, "logistic").p + 1e-40))
    if isinstance(landed, Failed):
        return landed, None
    return landed, weigh(landed.state, "logistic", seen_by(state)).p


def found(seeds):
    """How many steps are found, and how far p is from that of the margins at their end."""
    steps = [step_of(seed, h) for seed in seeds for h in LENGTHS]
    off = [np.abs(step.now.p - p).max() for step, p in steps if isinstance(step, Landed)]
    return len(off), max(off)


def test_looking_along_a_step_finds_what_newtons_steps_alone_overshoot(monkeypatch):
    derivatives = []

    def counted(*given):
        derivatives.append(1)
        return _response(*given)

    monkeypatch.setattr(implicit_steps, "_response", counted)
    many, off = found(range(60))
    looking = len(derivatives) / many
    assert off < 1e-6
    derivatives.clear()
    monkeypatch.setattr(newton.Segment, "share", lambda self, p, found: 0.0)
    few = found(range(60))[0]
    assert many > few > 0
    assert looking < len(derivatives) / few / 2  # they are what takes the time


def test_a_p_that_is_far_off_is_no_warning(monkeypatch):
    """Terms near the largest number have a sum that is infinite."""
    monkeypatch.setattr(newton, "improve", lambda rate, at, h, p, _: (np.full(len(p), 709.5), 0.0))
    assert any(step_of(seed, h)[0] is Failed.STEP for seed in range(5) for h in LENGTHS)


def mismatch(p, residual):
    rows = np.arange(len(p))
    error = float(p @ np.abs(residual))
    return newton.Mismatch(0.0, p, rows, p, p, np.append(residual, 0.0), error, 0.0)


def test_a_search_encloses_the_zero_of_the_residual():
    """Along the step the residual falls slowly, and from 0.8 on ten times as fast."""
    p, direction = np.full(4, 0.25), np.array([1.0, -1.0, 2.0, 0.5])

    def residual(t):
        return (1 - 0.1 * t if t < 0.8 else 0.92 - 10 * (t - 0.8)) * direction

    segment = newton.Segment(p, mismatch(p, residual(0)), None)
    end, at = 2 * p, 1.0
    looked = [at]
    while share := segment.share(p + at * (end - p), mismatch(p, residual(at))):
        u, _ = segment.between(share)
        at = float((np.exp(u[0]) - p[0]) / (end[0] - p[0]))
        looked.append(at)
    assert 1 < len(looked) <= STEP.most_looks + 1
    assert abs(residual(at)[0]) < 0.5 < abs(residual(1.0)[0])
    good = newton.Segment(p, mismatch(p, residual(0)), None)
    assert good.share(end, mismatch(p, 0.1 * direction)) == 0


def test_the_answer_of_the_margins_is_right_where_neurons_turn_backwards():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((9, 3)), np.sign(rng.standard_normal(9))
    W, a = 2 * rng.standard_normal((12, 3)), 0.01 * rng.standard_normal(12)
    state, p, h = start(hyperplanes_of(X, y, 0.3), W, a, True), rng.uniform(0.01, 0.02, 9), 1.0

    def after(p):
        new = state.copy()
        advance(new, p * y, h)
        return new

    new = after(p)
    assert (new.a * state.a < 0).any()
    response = _response(state, new, p * y, h, np.arange(9))
    slopes = [after(p + s).outputs() - after(p - s).outputs() for s in 1e-6 * np.eye(9)]
    assert np.abs(response - np.transpose(slopes) / 2e-6).max() <= 1e-6 * np.abs(response).max()
