"""Rest is claimed with a reason: a point near where nothing moves; slow is not rest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from helpers import rest_long
from tacit import Dataset, Network, Setting, limit, load
from tacit.flow import follow as following
from tacit.flow.follow import begin, follow
from tacit.flow.stage import Undecided
from tacit.flow.state import State


def neurons(seed: int, m: int, d: int, size: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(m, d))
    return size * W / np.linalg.norm(W, axis=1)[:, None], size * rng.choice([-1.0, 1.0], m)


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("apart", [2e-4, 1e-5, 1e-7, 1e-9])
def test_points_that_are_close_are_not_at_rest(apart: float, scale: float, both: bool) -> None:
    """Their pulls nearly cancel, and the network fits them in the end."""
    X, y = scale * np.array([[1.0, 0.0], [1.0, apart]]), np.array([1, -1])
    W, a = neurons(0, 20, 2, 1e-2 / np.sqrt(scale))
    path = begin(X, y, 0.0, W, a, both).run(-10.0, most_tries=6)
    assert path.end == "undecided" and path.steps > 0
    assert path.last.log_L <= path.moments[0].log_L


def test_close_points_are_fitted() -> None:
    path = follow(
        np.array([[1.0, 0.0], [1.0, 2e-3]]),
        np.array([1, -1]),
        0.0,
        *neurons(0, 20, 2, 1e-2),
        log_L_end=-2.0,
    )
    assert path.end == "reached" and (path.last.state.outputs() > 0).all()


def least_loss(state: State) -> float:
    """The least loss of networks with these patterns: convex in Σ a_k w_k of every pattern."""
    planes = state.planes
    sides = np.unique(state.side, axis=0)
    slopes = planes.slopes(sides) * planes.y
    frames = []
    for side in sides:
        normals = planes.e[side == 0]
        _, size, Vt = np.linalg.svd(normals, full_matrices=True)
        frames.append(Vt[(size > 1e-12).sum() :].T)
    A = np.hstack([s[:, None] * (planes.X @ f) for s, f in zip(slopes, frames, strict=True)])
    A /= np.abs(A).max(axis=0, initial=1e-300)

    def loss(v: np.ndarray) -> tuple[float, np.ndarray]:
        q = A @ v
        return float(np.logaddexp(0, -q).sum()), -A.T @ (1 / (1 + np.exp(q)))

    return float(minimize(loss, np.zeros(A.shape[1]), jac=True, tol=1e-12).fun)


@pytest.mark.parametrize(
    "seed, alpha", rest_long([(1, 0.3), (2, 0.3), (5, 0.0), (6, 0.0)], [(1, 0.3), (5, 0.0)])
)
def test_at_rest_no_network_with_these_patterns_is_better(seed: int, alpha: float) -> None:
    """And it is the same rest in other units of the data."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 2)), np.tile([1, -1], 6)
    W, a = 1e-2 * rng.normal(size=(1, 2)), np.array([1e-2])
    losses = []
    for scale in (1e-8, 1e8):
        unit = np.sqrt(scale)
        path = follow(scale * X, y, alpha, W / unit, a / unit)
        assert path.end == "rest", path.reason
        losses.append(np.exp(path.last.log_L))
        assert losses[-1] == pytest.approx(least_loss(path.last.state), rel=1e-6)
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def test_what_cancels_to_rounding_is_not_what_cancels() -> None:
    W, a = neurons(0, 6, 2, 1e-2)
    same, almost = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 1e-17]])
    assert follow(same, np.array([1, -1]), 0.0, W, a).end == "rest"
    assert begin(almost, np.array([1, -1]), 0.0, W, a).run(-1.0, most_tries=50).end == "undecided"


def test_weights_that_grow_without_end_are_not_at_rest() -> None:
    """One point has both labels, and keeps a loss of log 4; the other is fitted ever better."""
    data = Dataset([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [1, -1, 1])
    end = limit(data, Setting(width=6))
    assert end.outcome == "undecided" and "ever larger weights" in end.reason
    assert np.exp(end.path.last.log_L) == pytest.approx(2 * np.log(2), abs=1e-3)


def test_rest_with_a_neuron_at_0_is_not_claimed() -> None:
    """Balanced layers shrink to 0 for ever; in descent the neuron passes 0 and fits a point."""
    data = Dataset([[0.65], [0.0], [0.81], [0.57], [-1.18]], [-1, 1, 1, 1, 1])
    path = follow(
        data.X, data.y, 0.7, np.array([[1e-4], [-1e-4]]), np.array([-1e-4, -1e-4]), log_L_end=-1.0
    )
    assert path.end == "undecided" and "at 0" in path.reason


def test_rest_with_a_neuron_that_has_all_but_vanished_is_not_claimed() -> None:
    """Balanced layers lead it to a cell without pull, past which descent goes, and fits more."""
    X = [[-2, 2], [-1, -1], [2, 1], [1, 0], [2, -2], [1, 2]]
    W = np.array([[-0.0639311, 0.03863791], [0.07342701, 0.01373129]])
    start = Network(W, np.linalg.norm(W, axis=1) * [1, -1], 0.3)
    end = limit(X, np.ones(6, int), start=start)
    assert end.outcome == "undecided" and "1 active neuron at 0 or nearly" in end.reason
    smaller = Network(W, start.a * [1, 0.9], 0.3)
    assert limit(X, np.ones(6, int), start=smaller).log10_loss < end.log10_loss - 0.2


def test_rest_after_a_neuron_had_all_but_vanished_is_not_claimed() -> None:
    """Descent goes on, to a seventh of the loss: it steps past w = 0 and a = 0."""
    X = np.array([[1.0, 0.9], [1.9, 1.6], [2.4, -0.9], [-0.5, 1.1], [1.6, -0.1]])
    y = np.array([-1, 1, -1, -1, -1])
    W = 0.01 * np.array([[np.cos(angle), np.sin(angle)] for angle in (2.61, 5.5)])
    a = np.linalg.norm(W, axis=1) * [-1, 1]
    path = follow(X, y, 0.1, W, a, log_L_end=-20.0, seconds=60)
    assert path.end == "undecided" and "grown again" in path.reason
    # With layers that differ by 1e-6 the neuron comes to a = 0, not to w = 0.
    assert follow(X, y, 0.1, W, a * (1 - 1e-6), log_L_end=-20.0, seconds=60).end == "branched"


def test_output_weights_of_0_are_no_dead_network() -> None:
    """The neurons are active: their output weights move."""
    data = load("orthogonal:n=6,d=2")
    W, _ = neurons(3, 8, 2, 0.1)
    path = follow(data.X, data.y, 0.0, W, np.zeros(8), log_L_end=-1.0)
    assert path.end == "reached"


@pytest.mark.parametrize("seed", [0, 906])
def test_symmetric_points_on_a_line_have_an_end(seed: int) -> None:
    """Deep down the margins of such points have no digits left that tell the samples apart."""
    half = np.array([[-0.42187448601569877], [0.73758852956281684], [1.3126822720464455]])
    data = Dataset(np.vstack([half, -half]), [1, -1, -1, -1, 1, 1])
    end = limit(data, Setting(width=4, activation="leaky:0.7"), seed=seed)
    assert end.outcome.settled


def random_labels(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Ten points of the plane with random labels, and four neurons."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(10, 2)), rng.choice([-1, 1], 10)
    W = rng.normal(size=(4, 2))
    return X, y, 0.1 * W / np.linalg.norm(W, axis=1)[:, None], 0.1 * rng.choice([-1.0, 1.0], 4)


def test_rest_on_both_hyperplanes_of_a_cell_without_pull() -> None:
    """Neurons that slide along them need no more than the cell gives: their κ is at its bound."""
    X, y, W, a = random_labels(5)
    path = begin(X, y, 0.0, W, a).run(-20.0, most_tries=400)
    assert path.end == "rest", path.reason
    assert np.exp(path.last.log_L) == pytest.approx(least_loss(path.last.state), rel=1e-6)


def test_samples_that_cannot_be_fitted_end_a_path() -> None:
    """What the reason says is so: the others can be fitted at no cost to these, which cannot."""
    X, y, W, a = random_labels(14)
    path = begin(X, y, 0.0, W, a).run(-20.0, most_tries=400)
    assert path.end == "undecided" and "ever larger weights" in path.reason
    state = path.last.state
    kept = int(path.reason.split("moment ")[1].split()[0])
    assert 0 < kept < 10 and np.sort(state.outputs())[kept:].min() > 5
    assert np.exp(path.last.log_L) == pytest.approx(least_loss(state), rel=1e-2)


@pytest.mark.parametrize("alpha", [1e-4, 1e-15, 1e-300])
def test_slopes_whose_fraction_is_beyond_64_bits(alpha: float) -> None:
    """The rank of contradictory points is counted in whole numbers."""
    setting = Setting(activation=f"leaky:{alpha}", width=6, init="gaussian:0.05")
    end = limit([[1, 0], [1, 0], [0, 1]], [1, -1, 1], setting, seconds=20)
    assert end.outcome == "undecided" and "ever larger weights" in end.reason


def test_a_point_at_0_has_no_pull_to_be_weighed() -> None:
    """Beside points of 1e34 it was 1e304 times that of the others."""
    X, y = 3e34 * np.array([[-1.0], [1.0], [1.0], [0.0]]), [-1, 1, 1, 1]
    setting = Setting(activation="leaky:0.99", width=50, init="gaussian:5e-7", train="first")
    assert limit(X, y, setting, seconds=20).outcome == "partial"


def test_neurons_that_came_to_a_hyperplane_just_now_are_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where pulls are within rounding of 0 neurons come to hyperplanes and leave them by chance."""
    flow = begin(np.eye(2), np.array([1.0, -1.0]), 0.0, np.eye(2), np.ones(2))
    for name, answer in (("rest", None), ("is_slow", True), ("is_still", True)):
        monkeypatch.setattr(following, name, lambda *given, answer=answer: answer)
    monkeypatch.setattr(following, "is_faint", lambda *given: False)
    flow.log_t = flow.log_t_event = 3.0
    assert not flow._comes_to_rest()
    flow.log_t, flow.look_again, flow.give_up = 4.0, 0, 0
    with pytest.raises(Undecided, match="within rounding of 0"):
        flow._comes_to_rest()
