"""Where the flow may go on in more than one way, and where it only seems so."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tacit
from tacit.flow.branching import FlowBranched, leave_origin
from tacit.flow.follow import follow
from tacit.flow.hyperplanes import hyperplanes_of
from tacit.flow.path import Path
from tacit.flow.state import start


def one_neuron(x, y, w, a, alpha: float = 0.0, both: bool = True) -> Path:
    """One neuron and a few points in the plane."""
    X = np.array(x, dtype=float).reshape(-1, 2)
    W, a = np.array([w], dtype=float), np.array([a], dtype=float)
    return follow(X, np.array(y), alpha, W, a, both, log_L_end=-20.0, seconds=20)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_a_neuron_on_a_ridge_may_go_either_way(alpha: float) -> None:
    """On the hyperplane of a point that pulls it on its active side, and less on the other."""
    path = one_neuron([[0, 1], [0, -1]], [1, 1], [1.0, 0.0], 0.5, alpha)
    assert path.end == "branched" and "Neuron 0 starts on an activation hyperplane" in path.reason
    assert len(path.moments) == 1  # nothing is claimed beyond


def test_a_neuron_on_a_hyperplane_that_is_pulled_one_way_goes_that_way() -> None:
    path = one_neuron([[0, 1], [1, 1]], [1, 1], [1.0, 0.0], 0.5)
    assert path.end == "reached"
    assert path.moments[0].state.side[0].tolist() == [1, 1]


def test_a_neuron_in_a_valley_slides_from_the_start() -> None:
    """a > 0 on the hyperplane of a negative point that pushes it back; another pulls it across."""
    path = one_neuron([[0, 1], [1, 0.5]], [-1, 1], [1.0, 0.0], 0.5)
    assert path.moments[0].state.side[0, 0] == 0
    later = path.moments[len(path.moments) // 2].state
    assert later.side[0, 0] == 0 and later.W[0, 1] == 0 and later.W[0, 0] > 1


def test_without_weights_a_relu_neuron_may_stay_and_a_leaky_one_cannot() -> None:
    """On one point: ReLU has 0 among its velocities at w = 0, Leaky ReLU has not."""
    stays = one_neuron([[1, 0.5]], [1], [0.0, 0.0], 1.0)
    assert stays.end == "branched" and "w = 0" in stays.reason
    goes = one_neuron([[1, 0.5]], [1], [0.0, 0.0], 1.0, 0.3)
    assert goes.end == "reached"
    w = goes.last.state.W[0]
    assert w[1] / w[0] == pytest.approx(0.5, rel=1e-6)


def test_without_weights_a_neuron_leaves_along_a_point_whose_opposite_has_the_other_label() -> None:
    """Both sides of their hyperplane pull alike, so that nothing is left to choose."""
    pair = [[1, 0.5], [-1, -0.5]]
    for more, labels in (([], []), ([[0.2, 1]], [1])):
        path = one_neuron(pair + more, [1, -1, *labels], [0.0, 0.0], 1.0)
        w = path.moments[1].state.W[0]
        first = np.sum([[1, 0.5], *more], axis=0)
        assert w @ first / np.linalg.norm(w) / np.linalg.norm(first) > 0.999


def test_an_output_weight_that_changes_its_sign_in_a_valley_branches() -> None:
    """There the hyperplane that held the neuron begins to repel it on both sides."""
    for a in (0.1, 0.2, 0.3):
        path = one_neuron([[0, 1], [1, -0.2]], [-1, -1], [1.0, 0.0], a)
        assert path.end == "branched" and "a = 0" in path.reason
        last = path.last.state
        assert 0 <= last.a[0] < 1e-5 and last.side[0, 0] == 0
        assert last.W[0, 0] ** 2 - last.a[0] ** 2 == pytest.approx(1 - a**2, rel=1e-12)


def test_with_a_fixed_output_layer_a_neuron_passes_through_zero_where_there_is_one_way() -> None:
    """Leaky, separable: every pull has a part along the separator, so none can stay at w = 0."""
    rng = np.random.default_rng(4)
    for seed in range(6):
        X = rng.normal(size=(6, 2))
        y = np.sign(X @ [1.0, 0.4]).astype(int)
        W, a = 0.01 * rng.normal(size=(4, 2)), np.array([0.5, 0.5, -0.5, -0.5])
        path = follow(X, y, 0.3, W, a, False, log_L_end=-50.0, seconds=30)
        assert path.end in ("reached", "branched"), (seed, path.reason)
        if path.end == "reached":
            assert path.last.log_L <= -50


def test_the_loss_never_rises_and_reaches_any_depth() -> None:
    """−100,000 in decimal logarithms takes a few more steps than −1,000."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(8, 2))
    y = np.sign(X[:, 0] * X[:, 1]).astype(int)
    W = rng.normal(size=(12, 2))
    W *= 1e-4 / np.linalg.norm(W, axis=1)[:, None]
    a = 1e-4 * rng.choice([-1.0, 1.0], 12)
    near, far = (
        follow(X, y, 0.2, W, a, log_L_end=-depth * math.log(10), seconds=60) for depth in (1e3, 1e5)
    )
    assert near.end == far.end == "reached" and far.last.log_L <= -1e5 * math.log(10)
    assert far.steps < near.steps + 60
    losses = np.array([moment.log_L for moment in far.moments])
    assert (np.diff(losses) < 0).all()


def test_a_balanced_neuron_that_shrinks_to_nothing_may_yet_see_the_samples_that_none_sees() -> None:
    """Descent steps past w = 0 and a = 0; there the neuron grows, and fits the third sample."""
    X, y = np.array([[-2.0, 0.0], [-1.0, -1.0], [0.0, 1.0]]), np.array([-1, -1, -1])
    W = np.array([[-1.8e-3, 1.4e-5], [-1.5e-3, -9e-4]])
    balanced = np.linalg.norm(W, axis=1) * [1, -1]
    end = tacit.limit(X, y, start=(W, balanced), log10_loss=-100)
    assert end.outcome == "undecided"
    unbalanced = tacit.limit(X, y, start=(W, 0.999 * balanced), log10_loss=-100)
    assert unbalanced.outcome.settled


def test_a_neuron_may_leave_where_points_of_both_labels_no_longer_hold_it() -> None:
    """Three samples at one place: neuron 1, which sees nothing beside them, stays or comes back."""
    X = np.array([[-0.37, 0.55], [0.69, -0.25], [-0.37, 0.55], [0.02, 0.17], [-0.37, 0.55]])
    y = np.array([-1, 1, 1, -1, -1])
    W = np.array([[0.4, 1.6], [-1.4, -0.7], [-1.5, 0.6], [-1.1, 1.2]])
    a = np.linalg.norm(W, axis=1) * [1, 1, 1, -1]
    path = follow(X, y, 0.0, W, a, log_L_end=-20.0, seconds=60)
    assert path.end == "branched" and "stay or leave" in path.reason
    state = path.last.state

    def off_it_later(side: int) -> float:
        start = state.W.copy()
        start[1] += side * 1e-6 * X[0]
        goal = path.last.log_L - 0.05
        w = follow(X, y, 0.0, start, state.a, log_L_end=goal, seconds=60).last.state.W[1]
        return float(w @ X[0] / np.linalg.norm(w))

    assert abs(off_it_later(-1)) < 1e-4 and off_it_later(1) > 1e-2


def test_a_leaky_neuron_at_zero_between_opposite_points_is_judged() -> None:
    """The two sides of a hyperplane pull alike there, and the box of their pulls is flat."""
    X = tacit.load("lyu2021_left").X.copy()
    X[0] = [0.1, 2.5]
    y = np.array([1.0, 1, 1, -1, -1, -1])
    up, down = (
        start(hyperplanes_of(X, y, 0.5), np.zeros((1, 2)), np.array([a]), True) for a in (0.5, -0.5)
    )
    with pytest.raises(FlowBranched, match="different directions"):
        leave_origin(up, 0, y / 6, "comes to w = 0")
    leave_origin(down, 0, y / 6, "comes to w = 0")
    w = down.W[0]
    slopes = np.where(X @ w > 0, 1.0, 0.5)
    pull = -(y * slopes) @ X  # that of its own side: it goes there at once
    assert w @ pull == pytest.approx(np.linalg.norm(w) * np.linalg.norm(pull), rel=1e-6)


def test_a_limit_beside_which_a_leaky_neuron_dies_out_is_claimed() -> None:
    """Deep down it comes to w = 0, and may go on in different directions: no others change."""
    X = tacit.load("lyu2021_left").X.copy()
    X[0] = [0.1, 2.5]
    data = tacit.load(X, [1, 1, 1, -1, -1, -1])
    setting = tacit.Setting(activation="leaky:0.5", width=20, init="balanced_gaussian:1e-6")
    assert tacit.limit(data, setting).outcome == "proved"


def test_a_neuron_that_slides_to_where_it_sees_no_point_may_go_on_in_several_ways() -> None:
    """In the plane of the points it comes to w = 0; beside it, the same neuron is not 0 there."""
    X = np.array([[-0.28, 0.67], [1.61, 1.93], [0.12, 0.93], [-2.16, -1.52]])
    y = np.array([1, 1, -1, 1])
    W = np.array([[0.0022, 0.0011], [-0.00033, 0.00081], [0.00044, 0.0027], [-0.0031, -0.0011]])
    a = np.array([1.0, -1.0, 1.0, 1.0])
    setting = tacit.Setting(activation="leaky:0.3", train="first", loss="exponential")
    plane = tacit.limit(X, y, setting, start=tacit.Network(W, a, 0.3))
    assert plane.outcome == "branched"
    beside = np.column_stack([W, [0.003, -0.003, 0.002, 0.001]])
    space = tacit.limit(
        np.column_stack([X, np.zeros(4)]), y, setting, start=tacit.Network(beside, a, 0.3)
    )
    assert space.outcome == "undecided" and "orthogonal to all points" in space.reason


def test_where_a_rate_underflows_nothing_is_told() -> None:
    X, y = 1e-40 * np.array([[1.0, 0.2], [0.3, 1.0]]), np.array([1, -1])
    path = follow(X, y, 0.0, np.zeros((1, 2)), np.array([1e-290]), True, -20.0, 20)
    assert path.end != "rest"


def test_a_neuron_that_is_held_at_zero_may_leave_it_later() -> None:
    """All sides push it back, until points are fitted; then one side alone lets it go.

    The flow was claimed to rest, but descent went on.
    """
    X = np.array([[-0.2, 0.6], [-0.6, 2.4], [-0.9, 1.0], [0.0, 1.0], [-0.4, -1.2], [0.4, 0.2]])
    y = np.array([-1, 1, -1, -1, -1, -1])
    W, a = np.array([[0.18, 0.01], [0.19, 0.2], [-0.04, 0.03]]), np.array([-1.0, 1.0, 1.0])
    path = follow(X, y, 0.3, W, a, False, log_L_end=-20.0, seconds=20)
    assert path.end == "branched" and "Neuron 2 is at w = 0" in path.reason
    state, lengths = path.last.state, []
    for angle in np.linspace(0, 2 * np.pi, 16, endpoint=False):
        start = state.W.copy()
        start[2] = 1e-6 * np.cos(angle), 1e-6 * np.sin(angle)
        goal = path.last.log_L - 0.01
        w = follow(X, y, 0.3, start, a, False, log_L_end=goal, seconds=20).last.state.W[2]
        lengths.append(float(np.linalg.norm(w)))
    assert min(lengths) == 0 and max(lengths) > 1e-2


def test_a_relu_neuron_held_at_zero_may_come_to_see_points_that_none_sees() -> None:
    """Four points were said to be seen by no neuron for ever; descent fits two of them."""
    rng = np.random.default_rng(0)
    X, y, W = rng.normal(size=(10, 3)), rng.choice([-1, 1], 10), 0.01 * rng.normal(size=(8, 3))
    path = follow(X, y, 0.0, W, np.tile([1.0, -1.0], 4), False, log_L_end=-20.0, seconds=60)
    assert path.end == "branched" and "is at w = 0" in path.reason
    later = path.last.state.W + 1e-9 * rng.normal(size=W.shape)  # from here on there is one way
    path = follow(X, y, 0.0, later, np.tile([1.0, -1.0], 4), False, log_L_end=0.5, seconds=60)
    assert path.end == "reached"
