"""The flow against gradient descent with tiny steps, and what the exact flow must keep."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import load_wine

from helpers import rest_long
from tacit import Dataset, Network, Setting, limit
from tacit._jax import jax, jnp
from tacit.data import load
from tacit.flow.ending import initial_network
from tacit.flow.follow import begin, follow
from tacit.flow.hyperplanes import hyperplanes_of
from tacit.flow.path import Path, PathEnd
from tacit.flow.stage import Undecided
from tacit.flow.state import start
from tacit.flow.steps import explicit, weigh
from tacit.numerics.max_margin import max_margin

LN10 = math.log(10)


def random_net(seed: int, n: int, m: int, size: float, d: int = 2):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.choice([-1, 1], n)
    W = rng.normal(size=(m, d))
    W *= size / np.linalg.norm(W, axis=1)[:, None]
    return X, y, W, size * rng.choice([-1.0, 1.0], m)


def descent(X, y, alpha, W, a, step: float, times: np.ndarray) -> list[np.ndarray]:
    """Gradient descent on the sum of logistic losses; its weights at the given times."""

    def body(_, weights):
        W, a = weights
        t = X @ W.T
        slopes = jnp.where(t > 0, 1.0, alpha)
        pull = y * jax.nn.sigmoid(-y * ((slopes * t) @ a))
        return W + step * a[:, None] * ((slopes * pull[:, None]).T @ X), a + step * (
            (slopes * t).T @ pull
        )

    run = jax.jit(lambda W, a, k: jax.lax.fori_loop(0, k, body, (W, a)))
    seen, done = [], 0
    for time in times:
        steps = int(round(time / step))
        W, a = run(W, a, steps - done)
        done = steps
        seen.append(np.concatenate([np.asarray(W).ravel(), np.asarray(a)]))
    return seen


def kinds(path: Path) -> set[str]:
    return {event.what for event in path.events}


@pytest.mark.parametrize(
    "seed, alpha",
    rest_long([(1, 0.3), (3, 0.3), (4, 0.0), (5, 0.3), (6, 0.0)], [(3, 0.3), (4, 0.0), (6, 0.0)]),
)
def test_gradient_descent_goes_the_same_way(seed: int, alpha: float) -> None:
    X, y, W, a = random_net(seed, 3 + seed % 3, 2 + seed % 3, 0.05)
    path = follow(X, y, alpha, W, a, log_L_end=-2.0, seconds=60)
    moments = [m for m in path.moments[1:] if 1 < math.exp(m.log_t) < 25]
    times = np.array([math.exp(m.log_t) for m in moments])
    compared = descent(X, y, alpha, W, a, 2e-5, times)
    assert len(times) >= 5
    for moment, other in zip(moments, compared, strict=True):
        z = np.concatenate([moment.state.W.ravel(), moment.state.a])
        distance = np.linalg.norm(z / np.linalg.norm(z) - other / np.linalg.norm(other))
        assert distance < 2e-3  # steps of relative error 1e-5, many of them, and descent's own


def test_a_neuron_that_slides_to_where_three_planes_meet_goes_where_descent_goes() -> None:
    """Points of a lattice: on two of the planes it lies on the third one, too.

    Its side of that was a matter of rounding; it stayed for the rest of the step.
    """
    X = np.array([[1, -1, 2], [1, 2, -2], [-2, -1, -2], [2, -2, 0], [-2, 1, -2], [-2, 2, 1]])
    X = np.vstack([X, [[1, -1, 0], [-1, 1, -1], [0, 1, -1], [-2, 1, -2], [-1, -1, -2], [0, 2, -1]]])
    X = np.vstack([X, [[2, -1, -1], [-2, 1, -1], [0, -2, -1], [2, 2, 2], [-1, -2, 0], [1, 2, -2]]])
    y = np.array([1, -1, 1, -1, 1, 1, -1, -1, -1, -1, -1, -1, 1, -1, -1, -1, 1, 1])
    W, a = np.array([[0.09, 0.019, -0.044], [-0.013, 0.216, -0.108]]), np.array([-0.101, 0.238])
    X = X.astype(float)
    last = follow(X, y, 0.0, W, a, log_L_end=2.2, seconds=60).last
    (other,) = descent(X, y, 0.0, W, a, 1e-5, np.array([math.exp(last.log_t)]))
    ours = np.concatenate([last.state.W.ravel(), last.state.a])
    assert np.linalg.norm(ours - other) < 1e-3 * np.linalg.norm(ours)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_what_the_flow_keeps(alpha: float) -> None:
    """‖w_k‖² − a_k² stays, the loss falls, and neurons stay on the side they are said to be on."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(16, 2))
    y = np.sign(X[:, 0]).astype(int)
    _, _, W, a = random_net(2, 16, 40, 1e-4)
    path = follow(X, y, alpha, W, a)
    assert path.end == "reached" and path.last.log_L <= -1000 * LN10
    assert path.drift < 1e-13 and kinds(path) >= {"cross", "slide", "release"}
    losses = [moment.log_L for moment in path.moments]
    assert all(after <= before + 1e-9 for before, after in zip(losses, losses[1:], strict=False))
    state = path.last.state
    t = state.W @ state.planes.e.T / np.linalg.norm(state.W, axis=1)[:, None]
    assert (t * state.side > -1e-12).all() and np.abs(t[state.side == 0]).max(initial=0) < 1e-12


def test_orthogonally_separable_data_ends_at_the_two_max_margin_vectors() -> None:
    """phuong2021 Thm. 1; from weights of 1e-12, and as close as 1/log(1/L) lets it be."""
    data = load("orthogonal:n=40,d=3")
    _, _, W, a = random_net(0, 1, 20, 1e-12, 3)
    path = follow(data.X, data.y, 0.0, W, a)
    assert path.end == "reached"
    state = path.last.state
    for label in (1, -1):
        w = max_margin(data.X[data.y == label]).direction
        mine = state.W[(np.sign(state.a) == label) & (state.W @ w > 0)]
        heavy = mine[np.linalg.norm(mine, axis=1) > 1e-3 * np.linalg.norm(mine, axis=1).max()]
        cosines = heavy @ w / np.linalg.norm(heavy, axis=1)
        assert np.arccos(np.clip(cosines.min(), -1, 1)) < 0.02


def test_opposite_points_share_a_hyperplane() -> None:
    """On symmetric data the early pull has no kink, so no neuron sticks (lyu2021 (40))."""
    data = load("symmetric:n=10,d=2")
    _, _, W, a = random_net(1, 1, 10, 1e-6)
    path = follow(data.X, data.y, 0.2, W, a, log_L_end=-50.0)
    assert path.end == "reached"
    early = [event for event in path.events if event.s < path.moments[5].s]
    assert all(event.what == "cross" for event in early)
    assert len(path.last.state.planes.e) == data.n // 2


def test_dead_and_stuck_networks_are_named() -> None:
    X, y = np.array([[1.0, 0.0], [0.9, 0.1]]), np.array([1, 1])
    dead = follow(X, y, 0.0, np.array([[-1.0, 0.0]]), np.array([1.0]))
    assert dead.end == "dead"
    contradiction = follow(
        np.array([[1.0, 0.0], [1.0, 0.0]]),
        np.array([1, -1]),
        0.0,
        np.array([[0.1, 0.2]]),
        np.ones(1),
    )
    assert contradiction.end == "rest" and contradiction.last.log_L > 0


def test_leaky_neurons_leave_the_hyperplane_of_a_point_that_nobody_fits_yet():
    """Both slide along the hyperplane of the negative point until the positive ones are fitted."""
    X = np.array(
        [
            [-0.25804891, 1.87819283, -0.58229085, -0.16109766],
            [0.28751764, 0.5543615, 1.27723079, 0.92201345],
            [-1.43140724, 0.6577523, -0.49551625, 1.97018311],
        ]
    )
    W = np.array(
        [
            [-0.06096559, 0.00665525, 0.04339186, -0.06600039],
            [-0.01317534, 0.06065911, -0.07840173, 0.00022908],
        ]
    )
    y = np.array([1, -1, 1])
    path = follow(X, y, 0.01, W, np.linalg.norm(W, axis=1), log_L_end=-50.0)
    assert path.end == PathEnd.REACHED and path.last.state.outputs().min() > 0
    assert "slide" in {event.what for event in path.events}


def test_what_is_read_off_a_path_has_no_deadline() -> None:
    """The theorems follow it again, also when the time that the path had is over."""
    data = load("orthogonal:n=6,d=2")
    end = limit(data, Setting(width=4), seconds=20.0, log10_loss=-5.0)
    assert all(moment.state.deadline == math.inf for moment in end.path.moments)


def test_nearly_aligned_neurons_that_shrink_do_not_move_as_one() -> None:
    """Against the pull the angle between them grows, from 1e-11 to two directions of the limit."""
    angles = np.deg2rad([100, -100, 0])
    X, y = np.column_stack([np.cos(angles), np.sin(angles)]), np.array([1, 1, -1])
    margins = []
    for apart in (1e-11, 1e-10):
        W = 1e-2 * np.array([[1, apart], [1, -1.3 * apart]])
        end = limit(X, y, start=Network(W, np.linalg.norm(W, axis=1), 0.3))
        assert len(end.groups) == 2
        margins.append(end.margin)
    assert margins == pytest.approx([0.1318255754] * 2)


def test_an_implicit_step_across_a_hyperplane_misses_no_fast_motion() -> None:
    """A neuron crosses late and then moves fast; gradient descent crosses at s = 291.88 too."""
    X = np.array([[0.0258844, 2.00963856], [-0.09353431, -0.42675121]])
    X = np.vstack([X, [[-1.79548075, 1.25859106], [2.62066169, -0.39498882]]])
    y, a = np.array([1, 1, 1, -1]), np.array([-1.0, 1.0, -1.0, -1.0])
    W = np.array([[-0.02877281, 0.0436791], [-0.02863636, 0.04376868]])
    W = np.vstack([W, [[0.04876659, -0.01890921], [-0.05019861, 0.01469141]]])
    path = follow(X, y, 0.3, W, a, False, "exponential", -0.6)
    (crossing,) = [event for event in path.events if (event.neuron, event.plane) == (1, 1)]
    assert crossing.s == pytest.approx(291.88, abs=0.05)


def test_an_implicit_step_knows_what_a_sample_weighs_that_a_neuron_comes_to_see() -> None:
    """As the loss of the third point falls from e⁶⁷ the others come to weigh as much as it.

    A step of twenty took their p, e⁻¹⁷, for what it was before. The weights are those of descent.
    """
    X = np.array([[-8.0, -50.0, -220.0], [-18.0, -58.0, -222.0], [19.0, 27.0, 61.0]])
    W = np.array([[0.54, -0.26, 0.56], [-0.31, 0.42, 0.63]])
    path = follow(X, np.ones(3), 0.0, W, -np.linalg.norm(W, axis=1), kind="exponential")
    here = min(path.moments, key=lambda moment: abs(moment.log_L - 4.0))
    w = np.array([0.39126117, -0.47058229, 0.08642169])
    assert abs(here.log_L - 4) < 0.1 and np.linalg.norm(here.state.W[0] - w) < 1e-3


@pytest.mark.parametrize("h", np.geomspace(1e-3, 10, 9))
def test_a_step_in_which_a_long_point_is_fitted_knows_its_error(h: float) -> None:
    """Its p falls from 1/2 to nothing: the last two of five stages have the same p, none."""
    X, y = np.array([[20.0, 0.0], [0.0, 1e-3]]), np.ones(2)
    begin = start(hyperplanes_of(X, y, 0.0), np.array([[1e-6, 1.0]]), np.ones(1), False)

    def steps(many: int) -> tuple[np.ndarray, float]:
        state, error = begin, 0.0
        for _ in range(many):
            one = explicit(state, weigh(state, "logistic"), h / many, "logistic")
            state, error = one.state, error + float(one.errors.max())
        return state.W, error

    (W, error), (exact, _) = steps(1), steps(1000)
    assert np.linalg.norm(W - exact) <= 1e-7 or error > 1e-6


def test_no_step_loses_a_sample_that_is_fitted() -> None:
    """A long step led past the hyperplane of a sample that a pull of 1e-14 of its own holds fitted.

    None sees it there, and the loss of the others alone had fallen.
    """
    X = np.array([[0.0188, -0.0094], [-0.0188, -0.0094], [4.14e-15, 1.084e-14], [-8e-16, -0.0188]])
    W = np.array([[0.02625, -0.019], [-0.01942, -0.02594], [0.02736, -0.01736], [0.00861, 0.03124]])
    a = np.linalg.norm(W, axis=1) * [1, 1, -1, -1]
    path = begin(X, np.array([1, -1, 1, -1]), 0.0, W, a).run(-50.0, most_tries=700)
    losses = np.array([moment.log_L for moment in path.moments])
    assert (np.diff(losses) < 0).all()


def test_a_trial_step_that_leaves_floating_point_is_made_shorter() -> None:
    X = [[1.6907871953707689e-37, -1.2980571134907425e-37]]
    setting = Setting(activation="leaky:9.478283807562767e-12", width=1, init="gaussian:0.689")
    end = limit(X, [-1], setting, seed=685, log10_loss=-112, seconds=20)
    assert end.outcome == "proved", end


def test_a_step_whose_stages_leave_floating_point_is_none() -> None:
    """The last stage did: with weights that are no numbers it moved nothing, with a warning."""
    X = np.array([[0.4999639062463091, 0.7913589672279769]])
    X = np.vstack([X, [[0.49996234527622657, 0.7913580372574878]]])
    W, a = 1e-9 * np.array([[-3.590662845432292, 2.222102771977163]]), np.array([-4.22262956e-9])
    state = start(hyperplanes_of(X, -np.ones(2), 1e-4), W, a, True)
    with pytest.raises(Undecided, match="floating point"):
        explicit(state, weigh(state, "logistic"), 1127.3, "logistic")


def test_a_step_to_margins_of_0_and_infinity_is_none() -> None:
    """They have a loss, but weights that are infinite have no speed: it was a warning."""
    X = np.array([[-0.04354189126302078, -0.04259947627044971]])
    X = np.vstack([X, [[0.040696069443741954, -0.07689046]]])
    W, a = np.array([[0.00158278, 0.00101735]]), np.array([-0.00188154])
    state = start(hyperplanes_of(X, np.array([1.0, -1.0]), 3.7785457e-07), W, a, True)
    with pytest.raises(Undecided, match="floating point"):
        explicit(state, weigh(state, "exponential"), 9716295.2, "exponential")


def test_the_clock_does_without_a_middle_that_leaves_floating_point() -> None:
    """A neuron that decays for long and then grows: a warning came to the terminal."""
    x = [-0.6285267855755445, 0.44630834608420594, -1.409718449917938, 0.9147242106838429, 0.1]
    data = Dataset(np.array([x] * 3), np.ones(3, dtype=int))
    setting = Setting(activation="leaky:1e-6", width=4, init="uniform:1")
    end = limit(data, setting, seed=87, seconds=30)
    assert np.isfinite([moment.log_t for moment in end.path.moments[1:]]).all()


@pytest.mark.long
def test_samples_that_join_the_nearest_ones_do_not_make_steps_short() -> None:
    """Raw wine took 8,000 tries to log₁₀ L = −4000: the jumps of p there were taken for errors."""
    X, label = load_wine(return_X_y=True)
    X, y = X[label < 2], np.where(label[label < 2] == 0, 1.0, -1.0)
    start = initial_network(Dataset(X, y.astype(int)), Setting(width=100), 0)
    path = begin(X, y, 0.0, start.W, start.a).run(-1e5 * LN10, 300.0, most_tries=2500)
    assert path.end is PathEnd.REACHED
