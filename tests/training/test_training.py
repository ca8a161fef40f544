"""Training as a whole: the same bits however it is arranged, interrupts, K classes."""

import math
from dataclasses import replace

import numpy as np
import pytest

from helpers import rest_long
from tacit.models import TwoLayer
from tacit.models.initialisations import initial_weights
from tacit.training import load, save, train
from tacit.values import BadInput, Dataset, Setting

SETTING = Setting(width=6, activation="leaky:0.2", init="gaussian:0.3", lr=0.1)
RULES = {
    "gd": SETTING,
    "scaled": replace(SETTING, step="scaled"),
    "sgd": replace(SETTING, rule="sgd", batch=4),
    "adam": replace(SETTING, rule="adam", batch=4, lr=0.01),
}
each_rule = pytest.mark.parametrize("rule", RULES)


@pytest.fixture
def data(rng) -> Dataset:
    test = Dataset(rng.normal(size=(5, 3)), [1, -1, 1, -1, 1])
    return Dataset(rng.normal(size=(10, 3)), np.where(np.arange(10) % 3, 1, -1), test=test)


def same(one, other) -> None:
    """Equal to the last bit in all that training needs to go on."""
    assert one.state.keys() == other.state.keys()
    for name, array in one.state.items():
        np.testing.assert_array_equal(array, other.state[name], err_msg=name)


def member(run, i: int):
    return replace(run, state={name: array[[i]] for name, array in run.state.items()})


# --- the same bits -------------------------------------------------------------------------------


@each_rule
def test_alone_or_in_any_ensemble(data, rule) -> None:
    together = train(data, RULES[rule], epochs=40, seeds=(3, 11, 5))
    reversed_ = train(data, RULES[rule], epochs=40, seeds=(5, 11, 3, 8))
    alone = train(data, RULES[rule], epochs=40, seeds=(11,))
    same(member(together, 1), alone)
    same(member(reversed_, 1), alone)
    same(member(reversed_, 2), member(together, 0))
    for name, values in alone.measures.items():
        np.testing.assert_array_equal(values[:, 0], together.measures[name][:, 1])


@each_rule
def test_however_it_is_measured_and_cut(data, rule) -> None:
    whole = train(data, RULES[rule], epochs=40)
    same(train(data, RULES[rule], epochs=40, record=1000), whole)
    for cuts in ((1, 2, 3), (17,), (39,)):
        run = None
        for epochs in (*cuts, 40):
            run = train(data, RULES[rule], epochs=epochs, resume=run)
        same(run, whole)
        assert run.epochs.tolist() == sorted(set(run.epochs.tolist()) | {0, *cuts, 40})


@each_rule
def test_continued_from_a_folder(data, rule, tmp_path) -> None:
    """Also when the file the weights came from is gone."""
    start = initial_weights(TwoLayer(), 3, 6, "gaussian:0.3", 2)
    np.savez(tmp_path / "start.npz", **start)
    setting = replace(RULES[rule], init=f"file:{tmp_path / 'start.npz'}")
    whole = train(data, setting, epochs=30, seeds=(1, 2))
    save(train(data, setting, epochs=13, seeds=(1, 2)), tmp_path / "run")
    (tmp_path / "start.npz").unlink()
    part = load(tmp_path / "run")
    same(train(part.data, part.setting, epochs=30, resume=part), whole)


def test_pieces_of_another_length(data, monkeypatch) -> None:
    """The length of compiled pieces follows the clock; the result does not."""
    whole = train(data, SETTING, epochs=40)
    monkeypatch.setattr("tacit.training.loop.PIECE_SECONDS", 1e9)
    same(train(data, SETTING, epochs=40), whole)
    monkeypatch.setattr("tacit.training.loop.PIECE_SECONDS", 0)
    same(train(data, SETTING, epochs=40), whole)


# --- interrupts ----------------------------------------------------------------------------------


class Interrupt:
    """Ctrl-C at the nth sign of progress."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, epoch: int, log_loss: float) -> None:
        assert math.isfinite(log_loss)
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@each_rule
@pytest.mark.parametrize("after", rest_long([1, 4], [4]))
def test_an_interrupted_run_is_kept_and_goes_on(data, rule, after, tmp_path) -> None:
    whole = train(data, RULES[rule], epochs=60, seeds=(0, 4))
    part = train(data, RULES[rule], epochs=60, seeds=(0, 4), progress=Interrupt(after))
    assert part.outcomes == ("interrupted",) * 2 and 0 < part.epoch < 60
    assert part.epochs[-1] == part.state["epoch"].max() == part.state["epoch"].min()
    save(part, tmp_path / "run")
    earlier = load(tmp_path / "run")
    run = train(earlier.data, earlier.setting, epochs=60, resume=earlier)
    same(run, whole)
    assert run.outcomes == whole.outcomes


@pytest.mark.parametrize("calls", rest_long(range(1, 9), [1, 4, 8]))
def test_an_interrupt_between_members_leaves_none_behind(data, monkeypatch, calls) -> None:
    """Ctrl-C while any member is being trained, or has just been."""
    from tacit.training import loop as training

    whole = train(data, SETTING, epochs=9, seeds=range(3))
    left, advance = [calls], training.advance

    def interrupted(*args):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return advance(*args)

    monkeypatch.setattr(training, "advance", interrupted)
    part = train(data, SETTING, epochs=9, seeds=range(3))
    assert set(part.outcomes) == {"interrupted"} and set(part.state["epoch"]) == {part.epoch}
    assert all(len(values) == len(part.epochs) for values in part.measures.values())
    same(train(data, SETTING, epochs=9, resume=part), whole)


def test_an_interrupt_before_the_first_epoch(data, monkeypatch) -> None:
    from tacit.training import loop as training

    measure, left = training.measure_all, [1]

    def interrupted(snapshot):
        if left.pop() if left else 0:
            raise KeyboardInterrupt
        return measure(snapshot)

    monkeypatch.setattr(training, "measure_all", interrupted)
    run = train(data, SETTING, epochs=5)
    assert run.epochs.tolist() == [0] and run.outcomes == ("interrupted",)
    same(train(data, SETTING, epochs=5, resume=run), train(data, SETTING, epochs=5))


def test_members_that_have_ended_are_not_interrupted(data) -> None:
    setting = replace(SETTING, stop=("loss:0.6",))
    ends = train(data, setting, epochs=500, seeds=range(4)).state["epoch"]

    def interrupt(epoch: int, _: float) -> None:
        if epoch >= min(ends):
            raise KeyboardInterrupt

    part = train(data, setting, epochs=500, seeds=range(4), record=500, progress=interrupt)
    expected = ["interrupted" if end > part.epoch else "reached" for end in ends]
    assert [text.split()[0] for text in part.outcomes] == expected and len(set(expected)) == 2


# --- K classes -----------------------------------------------------------------------------------


def output(run, i: int, x: np.ndarray) -> float:
    z = run.params["W"][i] @ x
    return float(run.params["a"][i] @ np.maximum(z, 0.2 * z))


def test_one_network_per_class_and_the_largest_output_decides(rng) -> None:
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 3
    test = Dataset(rng.normal(size=(9, 3)), np.arange(9) % 3, classes=("a", "b", "c"))
    data = Dataset(X, y, classes=("a", "b", "c"), test=test)
    run = train(data, replace(SETTING, lr=0.5), epochs=30, seeds=(9, 4))
    assert run.members == tuple((seed, k) for seed in (9, 4) for k in range(3))
    errors = {"train": [], "test": []}
    for first in (0, 3):
        for name, points in (("train", data), ("test", test)):
            wrong = 0
            for x, label in zip(points.X, points.y, strict=True):
                f = [output(run, first + k, x) for k in range(3)]
                wrong += int(np.argmax(f)) != label
            errors[name].append(wrong / points.n)
    assert run.train_error == errors["train"] and run.test_error == errors["test"]
    assert errors["train"][0] != errors["train"][1]  # so that the order of the seeds shows
    for i, (seed, k) in enumerate(run.members):
        alone = train(data.one_vs_rest(k), replace(SETTING, lr=0.5), epochs=30, seeds=(seed,))
        same(member(run, i), alone)
    result = run.to_dict()
    assert result["classes"] == ["a", "b", "c"] * 2 and result["seeds"] == [9] * 3 + [4] * 3


# --- arguments ------------------------------------------------------------------------------------


def test_whole_numbers_will_do_for_real_ones(data) -> None:
    same(
        train(data, replace(SETTING, lr=1), epochs=3),
        train(data, replace(SETTING, lr=1.0), epochs=3),
    )


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"epochs": 0}, "epochs=0"),
        ({"epochs": 10**30}, "epochs=1"),
        ({"record": 0}, "record=0"),
        ({"record": 10**12}, "record=1"),
        ({"seeds": ()}, "at least one seed"),
        ({"seeds": (3, -1)}, "`seed=-1`"),
        ({"seeds": (3, 2**64)}, "`seed=1844"),
    ],
)
def test_arguments_that_cannot_be(data, arguments, message) -> None:
    with pytest.raises(BadInput, match=message):
        train(data, SETTING, **arguments)


def test_several_outputs_cannot_be_trained_yet(rng) -> None:
    images = Dataset(rng.normal(size=(3, 16)), [1, -1, 1])
    with pytest.raises(BadInput, match="has several outputs"):
        train(images, Setting(model="image_cnn:3:4:1", width=2), epochs=2)


def test_a_run_is_continued_by_its_own_setting(data) -> None:
    run = train(data, SETTING, epochs=5)
    with pytest.raises(BadInput, match="is at epoch 5 already"):
        train(data, SETTING, epochs=5, resume=run)
    with pytest.raises(BadInput, match="params.W has shape .6, 3.; this setting needs .7, 3."):
        train(data, replace(SETTING, width=7), epochs=9, resume=run)
    with pytest.raises(BadInput, match="optimizer.* is missing"):
        train(data, RULES["adam"], epochs=9, resume=run)
