"""Stop rules: what a text means, and that each ends a run at the first epoch it should."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tacit.models import TwoLayer
from tacit.models.initialisations import initial_weights
from tacit.training import train
from tacit.training.stopping import Stop, stop_of
from tacit.values import BadInput, Dataset, Setting

EPOCHS = 250
ALPHA = 0.3
SETTING = Setting(width=5, activation="leaky:0.3", init="gaussian:0.1", lr=0.3)
SEED = 1


@pytest.mark.parametrize(
    "texts, stop",
    [
        ((), Stop()),
        (["loss:1e-6"], Stop(log_loss=math.log(1e-6))),
        (["log10_loss:-1000"], Stop(log_loss=-1000 * math.log(10))),
        (["zero_error", "agreement"], Stop(zero_error=True, agreement=True)),
        (["no_improvement:20", "direction:0.01"], Stop(patience=20, angle=0.01)),
    ],
)
def test_texts(texts, stop) -> None:
    assert stop_of(Setting(stop=texts).stop) == stop
    assert stop.any == bool(texts)


@pytest.mark.parametrize(
    "text, message",
    [
        ("zero_eror", "did you mean 'zero_error'"),
        ("los:1", "did you mean 'loss'"),
        ("", "there are: loss, "),
        ("loss", "write loss:X"),
        ("loss:", "with a number"),
        ("loss:small", "with a number"),
        ("loss:0", "positive"),
        ("loss:-1", "positive"),
        ("loss:nan", "positive"),
        ("log10_loss:inf", "finite"),
        ("log10_loss:nan", "finite"),
        ("zero_error:1", "write zero_error"),
        ("no_improvement:2.5", "whole number"),
        ("no_improvement:1e300", "whole number"),
        ("direction:0", "positive"),
    ],
)
def test_mistyped_texts(text, message) -> None:
    with pytest.raises(BadInput, match=message):
        Setting(stop=[text])


def test_a_rule_is_given_once() -> None:
    with pytest.raises(BadInput, match="already"):
        Setting(stop=["loss:1e-3", "log10_loss:-5"])


def test_agreement_speaks_of_two_layer_nets() -> None:
    data = Dataset(np.eye(4), [1, -1, 1, -1])
    for model in ("residual", "conv_max_pool:2"):
        with pytest.raises(BadInput, match="neurons of a two-layer net"):
            train(data, Setting(model=model, width=4, stop=("agreement",)), epochs=5)


@pytest.fixture
def data(rng) -> Dataset:
    y = np.where(np.arange(8) % 2, 1, -1)
    return Dataset(rng.normal(size=(8, 2)) + y[:, None] * [1.0, 0.5], y)


@pytest.fixture
def path(data, numpy_path):
    """(W, a) after every epoch of the same training, by plain numpy."""
    start = initial_weights(TwoLayer(), 2, 5, SETTING.init, SEED)
    return numpy_path(start["W"], start["a"], data, EPOCHS, SETTING.lr, ALPHA)


def margins(W, a, data) -> np.ndarray:
    Z = data.X @ W.T
    return data.y * (np.where(Z > 0, Z, ALPHA * Z) @ a)


def angle(one, other) -> float:
    u, v = (np.concatenate([W.ravel(), a]) for W, a in (one, other))
    return math.acos(min(1.0, u @ v / np.linalg.norm(u) / np.linalg.norm(v)))


def holds(name: str, path, data, limit: float, t: int) -> bool:
    """Whether a rule is fulfilled after epoch t ≥ 1, by its words."""
    W, a = path[t]
    q = margins(W, a, data)
    if name == "loss":
        return np.log1p(np.exp(-q)).mean() <= limit
    if name == "zero_error":
        return bool((q > 0).all())
    if name == "agreement":
        sides = [np.sign(data.X @ W[a * sign > 0].T) for sign in (1, -1)]
        return all((abs(s.sum(axis=1)) == s.shape[1]).all() for s in sides)
    assert name == "direction"
    if t < 2 or t & (t - 1):  # at powers of two, compared with half as many epochs
        return False
    return bool((q > 0).all()) and angle(path[t], path[t // 2]) <= limit


@pytest.mark.parametrize(
    "rule, text, limit",
    [
        ("loss", "loss:0.15", 0.15),
        ("loss", "log10_loss:-1", 0.1),
        ("zero_error", "zero_error", 0),
        ("agreement", "agreement", 0),
        ("direction", "direction:0.2", 0.2),
    ],
)
def test_a_rule_ends_the_run_at_the_first_epoch_it_holds(data, path, rule, text, limit) -> None:
    first = next(t for t in range(1, EPOCHS) if holds(rule, path, data, limit, t))
    assert first > 1
    run = train(data, replace(SETTING, stop=(text,)), epochs=EPOCHS, seeds=(SEED,))
    assert run.epoch == first and f"(epoch {first})" in run.outcomes[0]
    np.testing.assert_allclose(run.params["W"][0], path[first][0], rtol=1e-9)


def test_no_improvement_counts_from_the_last_minimum(rng, numpy_path) -> None:
    """A large step makes the loss go up and down."""
    X = rng.normal(size=(3, 2))
    data = Dataset(np.vstack([X, X[1:], -X[:1]]), [1, -1, 1, 1, -1, -1])  # contradictions
    setting = replace(SETTING, lr=5.0)
    start = initial_weights(TwoLayer(), 2, 5, SETTING.init, SEED)
    path = numpy_path(start["W"], start["a"], data, EPOCHS, 5.0, ALPHA)
    losses = [np.logaddexp(0, -margins(W, a, data)).mean() for W, a in path[1:]]
    for patience in (2, 5):
        first = next(t for t in range(EPOCHS) if t - int(np.argmin(losses[: t + 1])) >= patience)
        assert first > patience  # there were improvements before
        stop = (f"no_improvement:{patience}",)
        run = train(data, replace(setting, stop=stop), epochs=EPOCHS, seeds=(SEED,))
        assert run.epoch == first + 1
        assert run.outcomes[0].startswith("the loss stopped improving")


def test_a_dead_network_stops_improving_at_once() -> None:
    """A positive point that no neuron sees."""
    data = Dataset(np.array([[1.0, 1.0]]), [1])
    setting = replace(SETTING, activation="relu", width=1, stop=("no_improvement:7",))
    starts = (initial_weights(TwoLayer(), 2, 1, SETTING.init, seed) for seed in range(99))
    seed, start = next((seed, w) for seed, w in enumerate(starts) if (w["W"] < 0).all())
    run = train(data, setting, epochs=50, seeds=(seed,))
    assert run.epoch == 8 and run.measures["dead_neurons"][-1, 0] == 1
    np.testing.assert_array_equal(run.params["W"][0], start["W"])
    np.testing.assert_array_equal(run.params["a"][0], start["a"])


def test_the_first_of_several_rules_ends_the_run(data, path) -> None:
    stop = ("loss:0.15", "zero_error", "direction:1e-9")
    run = train(data, replace(SETTING, stop=stop), epochs=EPOCHS, seeds=(SEED,))
    assert run.epoch == next(t for t in range(1, EPOCHS) if holds("zero_error", path, data, 0, t))
    assert run.outcomes[0].startswith("classifies every training point correctly")


def test_the_last_epoch_ends_a_run_that_no_rule_ends(data) -> None:
    run = train(data, replace(SETTING, stop=("loss:1e-300",)), epochs=9)
    assert run.epoch == 9 and run.outcomes == ("ran all epochs",)


def test_members_stop_on_their_own_as_if_they_were_alone(data) -> None:
    setting = replace(SETTING, stop=("loss:0.2",))
    seeds = range(5)
    together = train(data, setting, epochs=EPOCHS, seeds=seeds)
    epochs = together.state["epoch"].tolist()
    assert len(set(epochs)) > 2 and together.epoch == max(epochs)
    for i, seed in enumerate(seeds):
        alone = train(data, setting, epochs=EPOCHS, seeds=(seed,))
        assert alone.epoch == epochs[i] and alone.outcomes[0] == together.outcomes[i]
        np.testing.assert_array_equal(alone.params["W"][0], together.params["W"][i])


def test_a_point_on_no_side_is_never_agreed_on_and_an_absent_sign_always_is(data) -> None:
    setting = replace(SETTING, stop=("agreement",))
    zero = Dataset(np.vstack([data.X, [[0.0, 0.0]]]), [*data.y, 1])
    assert train(zero, setting, epochs=EPOCHS, seeds=(SEED,)).outcomes == ("ran all epochs",)
    alone = train(data, replace(setting, width=1), epochs=EPOCHS)
    assert alone.epoch == 1 and alone.outcomes[0].startswith("neurons of one sign agree")


def test_a_run_that_has_ended_goes_on_with_another_rule_only(data) -> None:
    ended = train(data, replace(SETTING, stop=("zero_error",)), epochs=EPOCHS)
    with pytest.raises(
        BadInput, match="the run has ended: classifies every .*change its stop rules"
    ):
        train(data, ended.setting, epochs=EPOCHS, resume=ended)
    further = replace(SETTING, stop=("loss:0.15",))
    went_on = train(data, further, epochs=EPOCHS, resume=ended)
    direct = train(data, further, epochs=EPOCHS)
    assert went_on.epoch == direct.epoch > ended.epoch
    np.testing.assert_array_equal(went_on.params["W"], direct.params["W"])


def test_a_new_direction_rule_has_nothing_to_compare_with_at_first(data) -> None:
    """It was not watching before, so it waits for two powers of two of its own."""
    before = train(data, SETTING, epochs=100)
    run = train(data, replace(SETTING, stop=("direction:3",)), epochs=1000, resume=before)
    assert run.epoch == 256


def test_members_that_have_ended_stay_as_they_are_when_the_others_go_on(data) -> None:
    setting = replace(SETTING, stop=("loss:0.2",))
    whole = train(data, setting, epochs=EPOCHS, seeds=range(4))
    middle = sorted(whole.state["epoch"].tolist())[1]
    part = train(data, setting, epochs=middle, seeds=range(4))
    assert "ran all epochs" in part.outcomes and len(set(part.outcomes)) > 1
    went_on = train(data, setting, epochs=EPOCHS, resume=part)
    assert went_on.outcomes == whole.outcomes
    np.testing.assert_array_equal(went_on.params["W"], whole.params["W"])
