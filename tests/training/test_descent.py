"""The rules against plain numpy, against the flow they follow, and where the loss underflows."""

import math
from dataclasses import replace

import numpy as np
import pytest

from helpers import rest_long
from tacit._jax import jax, jnp
from tacit.models import TwoLayer, parse_model
from tacit.models.initialisations import initial_weights
from tacit.models.losses import parse_loss
from tacit.training import train
from tacit.training.orders import epochs_at_once, orders
from tacit.training.rules import parse_descent
from tacit.values import BadInput, Dataset, Setting

SETTING = Setting(width=4, activation="leaky:0.3", init="gaussian:0.4", lr=0.2)


@pytest.fixture
def data(rng) -> Dataset:
    return Dataset(rng.normal(size=(10, 3)), np.where(np.arange(10) % 3, 1, -1))


RULES = [
    {"rule": "gd"},
    {"rule": "gd", "loss": "hinge:2"},
    {"rule": "sgd"},
    {"rule": "sgd", "batch": 4, "train": "first"},
    {"rule": "adam", "batch": 4, "lr": 0.05},
    {"rule": "gd", "loss": "exponential:sum", "lr": 0.02},
    {"rule": "gd", "train": "first"},
    {"rule": "sgd", "batch": 4},
    {"rule": "sgd", "batch": 10},
    {"rule": "adam", "lr": 0.05},
    {"rule": "adam", "batch": 4, "train": "first", "lr": 0.05},
]


@pytest.mark.parametrize(
    "changes",
    rest_long(RULES, RULES[:5]),
    ids=lambda c: "-".join(map(str, c.values())),
)
def test_rules_against_plain_numpy(data, numpy_path, changes) -> None:
    """Ten examples in batches of four: the third one has two, and its own mean."""
    setting, seed = replace(SETTING, **changes), 7
    model = setting.model
    start = initial_weights(model, 3, 4, setting.init, seed)
    batch = setting.batch or {"gd": None, "sgd": 1, "adam": None}[setting.rule]
    path = numpy_path(
        start["W"], start["a"], data, 12, setting.lr, 0.3, str(setting.loss), setting.rule, batch,
        seed, setting.train == "first",
    )  # fmt: skip
    for epochs in (1, 12):
        run = train(data, setting, epochs=epochs, seeds=(seed,))
        W, a = path[epochs]
        np.testing.assert_allclose(run.params["W"][0], W, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(run.params["a"][0], a, rtol=1e-11, atol=1e-13)
        assert run.state["step"][0] == epochs * math.ceil(10 / (batch or 10))
    assert not np.allclose(path[12][0], start["W"], atol=0.05)  # it has moved


@pytest.mark.parametrize("batch", rest_long([1, 3], [3]))
def test_sgd_visits_every_example_once_in_an_epoch(rng, batch) -> None:
    """Orthogonal examples do not interact: any order gives one step of gd on the sum."""
    data = Dataset(np.diag(rng.uniform(0.5, 2, size=7)), [1, -1, 1, -1, -1, 1, 1])
    one = replace(SETTING, train="first", loss="exponential:sum", lr=0.1)
    sgd = train(data, replace(one, rule="sgd", batch=batch), epochs=5)
    gd = train(data, one, epochs=5)
    np.testing.assert_allclose(sgd.params["W"], gd.params["W"], rtol=1e-13)


def test_the_order_changes_from_epoch_to_epoch_and_from_seed_to_seed(data) -> None:
    """The same start, so that only the order differs."""
    drawn = [
        tuple(order.tolist())
        for seed in range(3)
        for chapter in range(3)
        for order in orders(seed, chapter, 10)
    ]
    assert len(set(drawn)) == 9 * epochs_at_once(10)
    assert {tuple(sorted(order)) for order in drawn} == {tuple(range(10))}
    weights = initial_weights(TwoLayer(0.3), 3, 4, "gaussian:0.4", 0)
    ends = []
    for seed in (1, 2):
        run = train(data, replace(SETTING, rule="sgd"), epochs=2, seeds=(seed,))
        ends.append(run.params["W"])
        assert not np.array_equal(run.params["W"][0], weights["W"])
    assert not np.array_equal(*ends)


@pytest.mark.parametrize(
    "model, loss, step",
    [
        ("two_layer", "logistic:sum", "scaled"),
        ("conv_max_pool:2", "hinge", "constant"),
        ("residual:4", "exponential", "scaled"),
        pytest.param("two_layer", "logistic:sum", "constant", marks=pytest.mark.long),
        pytest.param("conv_max_pool:2", "exponential", "scaled", marks=pytest.mark.long),
        pytest.param("residual:3", "logistic", "constant", marks=pytest.mark.long),
        pytest.param("six_conv:2", "logistic", "constant", marks=pytest.mark.long),
    ],
)
def test_a_step_of_any_network_is_the_gradient(rng, model, loss, step) -> None:
    """By autodiff of the loss, or of its logarithm for scaled steps."""
    d, width = 4, 6
    data = Dataset(rng.normal(size=(5, d)), [1, -1, 1, -1, 1])
    setting = Setting(model=model, width=width, loss=loss, lr=0.01, step=step, init="gaussian:0.3")
    network = parse_model(model)
    weights = initial_weights(network, d, width, "gaussian:0.3", 0)

    def total(params):
        q = data.y * network(params, jnp.asarray(data.X))
        L = parse_loss(loss).total(q, jnp.asarray(data.y))
        return jnp.log(L) if step == "scaled" else L

    gradient = jax.jit(jax.grad(total))({part: jnp.asarray(w) for part, w in weights.items()})
    run = train(data, setting, epochs=1)
    trained = network.trained(weights)
    for part, w in weights.items():
        change = -0.01 * gradient[part] if part in trained else np.zeros_like(w)
        np.testing.assert_allclose(run.params[part][0], w + change, rtol=1e-12, atol=1e-15)


def test_xord_is_learned_with_the_hinge_loss() -> None:
    """brutzkus2019: the network with one pair of filters per pattern learns these six points."""
    X = np.array([[1, 1, 1, -1], [-1, -1, -1, 1], [1, -1, 1, 1], [1, -1, 1, -1], [-1, 1, 1, -1]])
    data = Dataset(np.vstack([X, [[-1, 1, -1, 1]]]), [1, 1, 1, -1, -1, -1])
    setting = Setting(
        model="conv_max_pool:2", width=20, loss="hinge:2", lr=0.02, stop=("zero_error",)
    )
    run = train(data, setting, epochs=2000)
    assert run.train_error == [0.0] and run.epoch < 2000
    np.testing.assert_array_equal(run.params["a"][0], [1.0] * 10 + [-1.0] * 10)


def test_a_fixed_output_weight_scales_the_function(data) -> None:
    """f = v Σ ±φ(w·x): with v = ½ and lr = 4 · lr, 2W takes the place of W."""
    one = replace(SETTING, train="first", lr=0.1)
    full = train(data, one, epochs=20)
    half = train(data, replace(one, output_weight=0.5, init="gaussian:0.8", lr=0.4), epochs=20)
    np.testing.assert_allclose(half.params["W"], 2 * full.params["W"], rtol=1e-12)
    np.testing.assert_array_equal(half.params["a"][0], [0.5, 0.5, -0.5, -0.5])
    assert half.measures["log_loss"][-1] == pytest.approx(full.measures["log_loss"][-1], rel=1e-12)


# --- the flow ------------------------------------------------------------------------------------


def in_time(data: Dataset, setting: Setting, lr: float, time: float):
    return train(data, replace(setting, lr=lr), epochs=round(time / lr), record=1)


def slope(rates: list[float], errors: list[float]) -> float:
    return float(np.polyfit(np.log(rates), np.log(errors), 1)[0])


@pytest.fixture
def smooth(rng, tmp_path) -> tuple[Dataset, Setting]:
    """Neurons in the cone of their class or its negative stay there: the flow is smooth."""
    y, a = np.array([1, 1, 1, -1, -1, -1]), np.array([0.5, -0.5, 0.5, -0.5])
    W = np.sign(a)[:, None] * rng.uniform(0.1, 0.3, size=(4, 3))
    np.savez(tmp_path / "start.npz", W=W, a=a)
    setting = replace(SETTING, init=f"file:{tmp_path / 'start.npz'}")
    return Dataset(y[:, None] * rng.uniform(0.5, 1.5, size=(6, 3)), y), setting


def test_balance_drifts_in_proportion_to_the_step_size(smooth) -> None:
    """Gradient flow conserves ‖w_k‖² − a_k²; gd over equal time loses O(lr)."""
    rates = [0.04, 0.02, 0.01, 0.005]
    differences = [
        [(W**2).sum(axis=1) - a**2 for W, a in zip(run.params["W"], run.params["a"], strict=True)]
        for run in (in_time(*smooth, lr, 4.0) for lr in rates)
    ]
    start = initial_weights(TwoLayer(0.3), 3, 4, smooth[1].init, 0)
    kept = (start["W"] ** 2).sum(axis=1) - start["a"] ** 2
    drifts = [np.abs(one[0] - kept).max() for one in differences]
    assert drifts[-1] < 0.01 and slope(rates, drifts) == pytest.approx(1, abs=0.05)


def test_gd_approaches_the_flow_in_proportion_to_the_step_size(smooth) -> None:
    """The flow by classical Runge–Kutta with 4,000 steps, its error far below the others."""
    data, setting = smooth
    start = initial_weights(TwoLayer(0.3), 3, 4, setting.init, 0)
    X, y = jnp.asarray(data.X), jnp.asarray(data.y, jnp.float64)
    model, loss = TwoLayer(0.3), parse_loss("logistic")

    def velocity(p):
        g = loss.output_gradient(y * model(p, X), y)
        return jax.tree.map(jnp.negative, model.gradient(p, X, g))

    def along(p, v, h):
        return jax.tree.map(lambda a, b: a + h * b, p, v)

    def runge_kutta(_, p, h=1e-3):
        k1 = velocity(p)
        k2 = velocity(along(p, k1, h / 2))
        k3 = velocity(along(p, k2, h / 2))
        k4 = velocity(along(p, k3, h))
        mean = jax.tree.map(lambda a, b, c, d: (a + 2 * b + 2 * c + d) / 6, k1, k2, k3, k4)
        return along(p, mean, h)

    flow = jax.lax.fori_loop(0, 4000, runge_kutta, jax.tree.map(jnp.asarray, start))
    assert ((data.X @ start["W"].T > 0) == (data.X @ np.asarray(flow["W"]).T > 0)).all()  # smooth
    rates = [0.04, 0.02, 0.01, 0.005]
    errors = [np.abs(in_time(*smooth, h, 4.0).params["W"][0] - flow["W"]).max() for h in rates]
    assert errors[-1] < 0.01 and slope(rates, errors) == pytest.approx(1, abs=0.05)


# --- below the smallest float --------------------------------------------------------------------


@pytest.fixture
def wedge() -> Dataset:
    """Each class is two points about an axis: the max-margin directions are the axes."""
    return Dataset(np.array([[1.0, 0.5], [1.0, -0.5], [-0.5, 1.0], [-1.0, 1.5]]), [1, 1, -1, -1])


SCALED = Setting(width=6, init="balanced:0.1", step="scaled", lr=0.002)


def test_a_scaled_step_is_a_step_over_the_loss(wedge) -> None:
    weights = initial_weights(TwoLayer(), 2, 6, SCALED.init, 0)
    run = train(wedge, SCALED, epochs=1)
    L = math.exp(run.measures["log_loss"][0, 0])
    plain = train(wedge, replace(SCALED, step="constant", lr=0.002 / L), epochs=1)
    np.testing.assert_allclose(run.params["W"], plain.params["W"], rtol=1e-13)
    assert not np.array_equal(run.params["W"][0], weights["W"])


@pytest.mark.parametrize("goal, near", rest_long([(-1e3, 5e-3), (-1e5, 5e-4)], [(-1e3, 5e-3)]))
def test_scaled_steps_go_on_below_the_smallest_float(wedge, goal, near) -> None:
    """log₁₀ L = −1,000 and −100,000: towards the max-margin directions of each class alone."""
    plus, minus = np.array([1.0, 0.0]), np.array([-0.5, 1.0]) / math.hypot(0.5, 1)  # phuong2021
    angles = []
    run = train(wedge, replace(SCALED, stop=(f"log10_loss:{goal}",)), epochs=20_000, record=999)
    log_loss = run.measures["log_loss"][:, 0]
    assert run.outcomes[0].startswith("reached")
    assert 1.1 * goal < log_loss[-1] / math.log(10) <= goal
    W, a = run.params["W"][0], run.params["a"][0]
    shares = np.linalg.norm(W, axis=1) / np.linalg.norm(W)
    for direction, sign in ((plus, 1), (minus, -1)):
        w = W[np.argmax(shares * (a * sign > 0))]
        w = w / np.linalg.norm(w)
        turned = 2 * math.atan2(np.linalg.norm(w - direction), np.linalg.norm(w + direction))
        angles.append(turned)
    margin, smoothed = run.measures["margin"][:, 0], run.measures["smoothed_margin"][:, 0]
    assert (smoothed <= margin).all()
    # The optimum is 1/(2 Σ‖v‖); steps of lr keep the rule O(lr) away from it.
    optimum = 1 / (2 + 2 / math.hypot(0.5, 1))
    assert margin[-1] == pytest.approx(optimum, rel=5 * SCALED.lr)
    # Once the points are fitted the flow's smoothed margin grows, and the rule's while the
    # steps are small: rates grow like log(1/L).
    small = (log_loss < math.log(math.log(2) / 4)) & (-log_loss * SCALED.lr < 0.5)
    assert small.sum() > 20 and (np.diff(smoothed[small]) > 0).all()
    assert max(angles) < near


# --- what is compiled, what is refused -----------------------------------------------------------


def test_one_setting_is_compiled_once(data, monkeypatch) -> None:
    """However it is cut into pieces, whatever the seed, and when it is continued."""
    traced = []
    whole = TwoLayer.gradient
    monkeypatch.setattr(
        TwoLayer, "gradient", lambda self, *args: traced.append(1) or whole(self, *args)
    )
    stop = ("loss:1e-9", "no_improvement:50", "direction:1e-9", "agreement")
    for rule in ("gd", "sgd", "adam"):
        setting = replace(SETTING, rule=rule, activation="leaky:0.31", stop=stop)
        run = train(data, setting, epochs=1)
        before = len(traced)
        train(data, setting, epochs=33, seeds=(3, 4), record=7)
        train(data, replace(setting, lr=1), epochs=2)
        train(data, setting, epochs=20, resume=run)
        assert before > 0 and len(traced) == before


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"rule": "sdg"}, "did you mean 'sgd'"),
        ({"lr": 0.0}, "`lr=0.0`"),
        ({"lr": math.nan}, "`lr=nan`"),
        ({"lr": math.inf}, "`lr=inf`"),
        ({"step": "scald"}, "did you mean 'scaled'"),
        ({"step": "scaled", "rule": "adam"}, "goes with `rule='gd'`"),
        ({"batch": 3}, "`rule='gd'` uses all 10 examples"),
        ({"batch": 0, "rule": "sgd"}, "batch=0"),
        ({"batch": 11, "rule": "adam"}, "between 1 and the number of examples, 10"),
        ({"train": "last"}, "unknown train 'last'; there are: both, first"),
        ({"loss": "logistik"}, "did you mean 'logistic'"),
        ({"model": "two_layers"}, "did you mean 'two_layer'"),
        ({"stop": ("never",)}, "unknown stop rule"),
    ],
)
def test_settings_that_cannot_be(changes, message) -> None:
    with pytest.raises(BadInput, match=message):
        parse_descent(replace(SETTING, **changes), 10)
