"""Ensembles: the same networks as one by one, batched or not, each on its own data."""

from dataclasses import replace

import numpy as np
import pytest

from helpers import rest_long
from tacit import BadInput, Setting, load
from tacit.training import train, train_many
from tacit.training.backends.pools import pool
from tacit.training.rules import parse_descent

CONV = Setting(model="conv_max_pool", width=6, init="gaussian:0.1", lr=0.02, loss="hinge")
XORDS = [load(f"xord:n=9,d=5,seed={seed}") for seed in range(5)]
CASES = {
    "conv": (CONV, XORDS),
    "leaky conv": (replace(CONV, activation="leaky:0.3"), XORDS),
    "confidence": (replace(CONV, loss="hinge:3"), XORDS),
    "zero error": (replace(CONV, stop=("zero_error",)), XORDS),
    "patience": (replace(CONV, loss="logistic", lr=2.0, stop=("no_improvement:4",)), XORDS),
    "loss": (replace(CONV, loss="logistic", stop=("loss:0.5",)), XORDS),
    "first": (Setting(width=4, train="first", init="gaussian:0.1", lr=0.05), load("xor")),
    "both": (Setting(width=5, activation="leaky:0.1", init="balanced:0.3"), load("lyu2021_left")),
    "one class": (Setting(width=5, loss="exponential:sum"), load("wang2022_f2")),
}


@pytest.mark.parametrize("case", rest_long(CASES, ["conv", "patience", "both"]))
def test_batched_networks_are_the_same(case):
    setting, data = CASES[case]
    given = {"epochs": 300, "seeds": range(3, 8), "at": (0, 7)}
    fast = train_many(data, setting, **given)
    assert pool(parse_descent(setting, 9), data if isinstance(data, list) else [data])
    slow = train_many(data, setting, **given, batched=False)
    assert fast.outcomes == slow.outcomes
    np.testing.assert_array_equal(fast.epochs, slow.epochs)
    np.testing.assert_array_equal(fast.at, [0, 7, 300])
    for part, array in slow.weights.items():
        np.testing.assert_allclose(fast.weights[part], array, rtol=1e-9, atol=1e-12)
    if setting.stop:
        assert len(set(fast.epochs)) > 1


def test_a_member_is_the_same_in_any_ensemble():
    """Bit for bit: also when the others end earlier, and however many there are."""
    setting = replace(CONV, stop=("no_improvement:20",))
    sets = [load(f"xord:n=12,d=7,seed={seed}") for seed in range(40)]
    whole = train_many(sets, setting, 3000, range(40))
    part = train_many(sets[33:34], setting, 3000, [33])
    assert part.epochs[0] == whole.epochs[33]
    np.testing.assert_array_equal(part.last["W"][0], whole.last["W"][33])


def test_many_agree_with_train():
    setting = Setting(width=8, rule="sgd", batch=5, lr=0.05)
    data = load("linear:n=23,d=3,seed=2")
    trained = train_many(data, setting, 20, [4, 5])
    for i, seed in enumerate((4, 5)):
        run = train(data, setting, epochs=20, seeds=[seed])
        np.testing.assert_array_equal(trained.last["W"][i], run.params["W"][0])
    X = data.X[:4]
    np.testing.assert_allclose(
        trained.outputs(X)[1], np.maximum(X @ trained.last["W"][1].T, 0) @ trained.last["a"][1]
    )


@pytest.mark.parametrize("batched", [True, False])
def test_what_diverges_says_so_and_keeps_its_last_good_weights(batched):
    setting = Setting(width=4, train="both", lr=1e200, loss="exponential")
    run = train_many(load("xor"), setting, 50, [0, 1], batched=batched)
    assert set(run.outcomes) == {"diverged"}
    assert np.isfinite(run.last["W"]).all()


def test_given_weights_are_the_start():
    start = {"W": np.array([[[1.0, 0.5], [-1.0, 0.2]]]), "a": np.array([[1.0, -1.0]])}
    setting = Setting(width=2, train="first", lr=0.01, loss="hinge")
    run = train_many(load("xor"), setting, 3, [0], at=[0], start_at=start)
    np.testing.assert_array_equal(run.weights["W"][0], start["W"])
    assert (run.last["W"] != start["W"]).any()


def test_a_data_set_for_each_seed():
    with pytest.raises(BadInput, match="3 data sets for 2 seeds"):
        train_many(XORDS[:3], CONV, 10, [0, 1])


def test_softmax_of_several_outputs():
    """Errors fall, in float64 and in float32, and `train` says who trains such networks."""
    data = load("digits:classes=0/1/2,n=60,test=60")
    setting = Setting(
        model="image_cnn:3:8:3",
        width=4,
        init="he:1",
        loss="softmax",
        rule="adam",
        batch=20,
        lr=0.01,
    )
    for single in (False, True):
        run = train_many(data, setting, 15, [0], at=[0], single=single)
        before, after = (
            float((run.outputs(data.test.X, t)[0].argmax(axis=1) != data.test.y).mean())
            for t in (0, 1)
        )
        assert after < 0.15 < before
    with pytest.raises(BadInput, match="softmax"):
        train(data, setting, epochs=5)


def test_the_order_of_the_examples_does_not_depend_on_where_training_pauses():
    """Orders are drawn for 64 epochs at once."""
    setting, data = Setting(width=3, rule="sgd", batch=4, lr=0.05), load("linear:n=11,d=2,seed=1")
    whole = train_many(data, setting, 150, [0])
    cut = train_many(data, setting, 150, [0], at=(10, 63, 64, 65, 140))
    np.testing.assert_array_equal(whole.last["W"], cut.last["W"])
