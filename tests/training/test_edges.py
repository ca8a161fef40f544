"""Where training ends badly, and settings and data at the edge of what there is."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tacit.models import TwoLayer
from tacit.models.initialisations import initial_weights
from tacit.training import Diverged, load, save, train
from tacit.values import Dataset, Setting

SETTING = Setting(width=6, activation="leaky:0.2", init="gaussian:0.3", lr=0.1)


@pytest.fixture
def data(rng) -> Dataset:
    return Dataset(rng.normal(size=(10, 3)), np.where(np.arange(10) % 3, 1, -1))


# --- divergence ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rule, batch, lr", [("gd", None, 1.0), ("sgd", 4, 0.3)])
def test_divergence_names_the_step(data, numpy_path, rule, batch, lr) -> None:
    """The first step after which a weight or an output is not finite."""
    setting = replace(SETTING, rule=rule, batch=batch, loss="exponential:sum", lr=lr)
    start = initial_weights(TwoLayer(0.2), 3, 6, SETTING.init, 0)
    with np.errstate(all="ignore"):
        path = numpy_path(start["W"], start["a"], data, 40, lr, 0.2, "exponential:sum", rule, batch)

    def broken(t: int) -> bool:
        W, a = path[t]
        with np.errstate(all="ignore"):
            Z = data.X @ W.T
            outputs = np.where(Z > 0, Z, 0.2 * Z) @ a
        return not all(np.isfinite(v).all() for v in (W, a, outputs))

    epoch = next(t for t in range(41) if broken(t))
    assert epoch > 1
    with pytest.raises(Diverged, match=rf"at step \d+ \(seed 0\).*`lr={lr / 10:g}`") as error:
        train(data, setting, epochs=40)
    step = int(str(error.value).split("step ")[1].split()[0])
    steps = 1 if batch is None else 3
    assert (epoch - 1) * steps < step <= epoch * steps
    assert "\n" not in str(error.value)


def test_one_member_that_diverges_ends_the_ensemble(data, tmp_path) -> None:
    small = initial_weights(TwoLayer(0.2), 3, 6, "gaussian:0.3", 0)
    np.savez(tmp_path / "huge.npz", W=1e160 * small["W"], a=1e160 * small["a"])
    with pytest.raises(Diverged, match="outputs of the initial network .seed 0. are not finite"):
        train(data, replace(SETTING, init=f"file:{tmp_path / 'huge.npz'}"), epochs=5)
    wild = replace(SETTING, lr=1e12)
    with pytest.raises(Diverged, match="seed [24]"):
        train(data, wild, epochs=100, seeds=(2, 4))


@pytest.mark.parametrize("epochs", [1, 2, 50])
def test_outputs_may_end_before_the_weights_do(epochs) -> None:
    """Weights of 1e199 on points of 1e200, also if nothing comes after that step."""
    with pytest.raises(Diverged, match="at step 1 "):
        train(Dataset(1e200 * np.eye(2), [1, -1]), SETTING, epochs=epochs, record=1)


def test_scaled_steps_to_the_end_of_float64_are_a_divergence(data) -> None:
    """The outputs of a both-layer net grow exponentially under scaled steps."""
    easy = Dataset(np.eye(3), [1, -1, 1])
    with pytest.raises(Diverged, match="outputs are no longer finite"):
        train(easy, replace(SETTING, step="scaled", lr=1.0), epochs=10_000)


# --- odd settings and data -----------------------------------------------------------------------


ODD = {
    "one point": ({}, Dataset(np.array([[1.0, 2.0]]), [1])),
    "one class": ({}, Dataset(np.eye(2), [-1, -1])),
    "one coordinate": ({}, Dataset(np.array([[1.0], [-2.0]]), [1, -1])),
    "all points zero": ({}, Dataset(np.zeros((2, 2)), [1, -1])),
    "equal points, other labels": ({}, Dataset(np.ones((2, 2)), [1, -1])),
    "width 1": ({"width": 1}, Dataset(np.eye(2), [1, -1])),
    "tiny points": ({}, Dataset(1e-300 * np.eye(2), [1, -1])),
    "tiny weights": ({"init": "gaussian:1e-300"}, Dataset(np.eye(2), [1, -1])),
    "large weights": ({"init": "gaussian:1e150"}, Dataset(np.eye(2), [1, -1])),
    "zero loss": ({"loss": "hinge", "init": "gaussian:30"}, Dataset(np.eye(2), [1, -1])),
    "whole batch": ({"rule": "sgd", "batch": 2}, Dataset(np.eye(2), [1, -1])),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_settings_give_numbers_that_json_can_hold(name, tmp_path) -> None:
    changes, data = ODD[name]
    run = train(data, replace(SETTING, **changes), epochs=20, seeds=(0, 1, 2))
    text = json.dumps(run.to_dict(), allow_nan=False)
    assert len(json.loads(text)["loss"]) == 3
    save(run, tmp_path / "run")
    for part, array in load(tmp_path / "run").params.items():
        np.testing.assert_array_equal(array, run.params[part])
