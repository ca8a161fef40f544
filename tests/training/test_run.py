"""Run folders: exact round trips, nothing overwritten, and nothing trusted when read."""

import io
import json
import math
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import spoil
from tacit.training import load, save, train
from tacit.training.runs import plain
from tacit.values import BadInput, Dataset, Setting

SETTING = Setting(width=4, rule="adam", batch=3, stop=("zero_error", "loss:1e-9"), lr=0.01)


@pytest.fixture(scope="module")
def run():
    rng = np.random.default_rng(4)
    test = Dataset(rng.normal(size=(3, 2)), [1, -1, 1], name="points (test)")
    parameters = {"generator": "made", "seed": 3, "nested": {"a": [1, 2.5, None, "ü"]}}
    data = Dataset(rng.normal(size=(7, 2)), [1, -1, 1, 1, -1, 1, 1], "points", (), parameters, test)
    return train(data, SETTING, epochs=6, seeds=(2, 0))


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run"
    save(run, path)
    return path


def arrays_of(folder) -> dict[str, np.ndarray]:
    with np.load(folder / "arrays.npz") as archive:
        return dict(archive)


def copy(folder, target, about=None, arrays=None):
    """The folder with another run.json (text or object) or other arrays."""
    target.mkdir()
    text = (folder / "run.json").read_text() if about is None else about
    (target / "run.json").write_text(text if isinstance(text, str) else json.dumps(text))
    if arrays is None:
        (target / "arrays.npz").write_bytes((folder / "arrays.npz").read_bytes())
    else:
        np.savez(target / "arrays.npz", **arrays)
    return target


def refused(path) -> str:
    with pytest.raises(BadInput) as error:
        load(path)
    assert "\n" not in str(error.value) and path.name in str(error.value)
    return str(error.value)


# --- round trip ----------------------------------------------------------------------------------


def test_what_is_saved_is_what_is_loaded(run, folder) -> None:
    loaded = load(folder)
    for name in ("setting", "members", "outcomes", "seconds", "epoch", "train_error", "test_error"):
        assert getattr(loaded, name) == getattr(run, name), name
    for ours, theirs in ((run.state, loaded.state), (run.measures, loaded.measures)):
        assert list(ours) == list(theirs)
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name])
            assert ours[name].dtype == theirs[name].dtype
    for ours, theirs in ((run.data, loaded.data), (run.data.test, loaded.data.test)):
        np.testing.assert_array_equal(ours.X, theirs.X)
        np.testing.assert_array_equal(ours.y, theirs.y)
        assert (ours.name, ours.classes, ours.parameters) == (
            theirs.name, theirs.classes, theirs.parameters,
        )  # fmt: skip
    np.testing.assert_array_equal(run.epochs, loaded.epochs)


def test_saving_what_was_loaded_gives_the_same_bytes(folder, tmp_path) -> None:
    save(load(folder), tmp_path / "again")
    for name in ("run.json", "arrays.npz"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_k_classes_and_names_that_are_no_text(tmp_path) -> None:
    """A file name on Linux may hold bytes that are no text."""
    data = Dataset(np.eye(3), [0, 1, 2], "caf\udce9", ("a", "ü", "\udcff"))
    run = train(data, Setting(width=2), epochs=3, seeds=(1, 0))
    save(run, tmp_path / "run")
    loaded = load(tmp_path / "run")
    assert loaded.members == run.members and loaded.data.classes == data.classes
    assert loaded.data.name == data.name and loaded.train_error == run.train_error


def test_nothing_is_overwritten_unless_forced(run, folder, tmp_path) -> None:
    target = copy(folder, tmp_path / "run")
    before = {p.name: p.read_bytes() for p in target.iterdir()}
    longer = train(run.data, run.setting, epochs=9, resume=replace(run))
    with pytest.raises(BadInput, match="already exists"):
        save(longer, target)
    assert {p.name: p.read_bytes() for p in target.iterdir()} == before
    save(longer, target, force=True)
    assert load(target).epoch == longer.epoch
    assert [p.name for p in tmp_path.iterdir()] == ["run"]  # nothing else is left


def test_measures_of_another_shape_are_not_continued(run):
    measures = {**run.measures, "margin": run.measures["margin"][:, :, None]}
    with pytest.raises(BadInput, match="'margin' has shape"):
        train(run.data, run.setting, epochs=9, resume=replace(run, measures=measures))


def test_a_write_that_fails_leaves_the_old_run(run, folder, tmp_path, monkeypatch) -> None:
    target = copy(folder, tmp_path / "run")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(BadInput, match="No space left"):
        save(run, target, force=True)
    monkeypatch.undo()
    assert load(target).epoch == run.epoch and [p.name for p in tmp_path.iterdir()] == ["run"]


# --- what is read --------------------------------------------------------------------------------


def test_what_is_no_run_folder(tmp_path, folder) -> None:
    assert "is not a run folder" in refused(tmp_path / "nowhere")
    assert "is not a run folder" in refused(folder / "run.json")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "is not a run folder" in refused(empty)
    (empty / "run.json").write_text("{")
    (empty / "arrays.npz").write_bytes((folder / "arrays.npz").read_bytes())
    assert str(empty / "run.json") in refused(empty)
    (empty / "arrays.npz").unlink()
    assert "no such file" in refused(empty)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '"x"', "[" * 100_000, "\x00", "{}"])
def test_json_that_is_no_run(folder, tmp_path, text) -> None:
    refused(copy(folder, tmp_path / "run", text))


def test_json_that_is_too_large(folder, tmp_path) -> None:
    target = copy(folder, tmp_path / "run")
    with open(target / "run.json", "ab") as file:
        file.truncate((64 << 20) + 1)
    assert "at most 67,108,864 are read" in refused(target)


def altered(about: dict, path: str, value: object) -> dict:
    about = json.loads(json.dumps(about))
    *way, last = path.split(".")
    inner = about
    for key in way:
        inner = inner[key]
    if value is KeyError:
        del inner[last]
    else:
        inner[last] = value
    return about


@pytest.mark.parametrize(
    "path, value",
    [
        ("format", KeyError), ("setting", KeyError), ("data", KeyError), ("members", KeyError),
        ("outcomes", KeyError), ("seconds", KeyError),
        *[(f"setting.{key}", KeyError) for key in ("model", "lr", "stop")],
        *[(f"data.{key}", KeyError) for key in ("name", "classes", "parameters")],
        ("format", 2), ("format", "a\nb"), ("setting", []), ("setting.more", 1),
        ("setting.model", "nothing"), ("setting.model", 3), ("setting.model", "residual"),
        ("setting.width", 3), ("setting.width", "4"), ("setting.width", 10**30),
        ("setting.width", True), ("setting.width", None), ("setting.width", 4.0),
        ("setting.rule", "gd"), ("setting.rule", ["adam"]), ("setting.lr", "fast"),
        ("setting.lr", -1), ("setting.lr", math.nan), ("setting.lr", 10**400),
        ("setting.batch", 0), ("setting.batch", 2.5), ("setting.stop", "zero_error"),
        ("setting.stop", [1]), ("setting.stop", ["nothing"]), ("setting.train", "last"),
        ("setting.init", 7), ("data.classes", ["a", "b", "c"]), ("data.classes", 5),
        ("data.parameters", 5), ("data.parameters", [1]),
        ("members", []), ("members", [[0, None]]), ("members", [[0, 1], [1, 1]]),
        ("members", [[-1, None], [1, None]]), ("members", [["a", None], [1, None]]),
        ("members", [[2**70, None], [1, None]]), ("members", [0, 1]), ("members", 5),
        ("members", [[0, None, 1], [1, None]]), ("members", [[0.5, None], [1, None]]),
        ("outcomes", []), ("outcomes", [1, 2]), ("outcomes", 5), ("seconds", "long"),
        ("seconds", -1), ("seconds", 10**400), ("seconds", None),
    ],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
def test_altered_json(folder, tmp_path, path, value) -> None:
    about = json.loads((folder / "run.json").read_text())
    refused(copy(folder, tmp_path / "run", altered(about, path, value)))


def wrong(arrays: dict[str, np.ndarray], name: str):
    """Arrays that cannot stand under this name."""
    array = arrays[name]
    yield "shorter", array[:-1]
    yield "flat", array.reshape(-1)[:, None, None, None]
    yield "scalar", np.array(1.0)
    yield "text", array.astype(str)
    yield "complex", array.astype(complex)
    yield "other type", array.astype(np.float32 if array.dtype.kind == "f" else float)
    if array.dtype.kind == "f" and not name.startswith("measure."):  # NaN is a measure
        spoiled = array.copy()
        spoiled.flat[-1] = np.nan
        yield "NaN", spoiled


def test_altered_arrays(folder, tmp_path) -> None:
    arrays = arrays_of(folder)
    tried = 0
    for name in arrays:
        without = {k: v for k, v in arrays.items() if k != name}
        if not name.startswith("measure.") or name in ("measure.log_loss", "measure.train_error"):
            if name != "test_X":  # a run without a test set
                refused(copy(folder, tmp_path / f"without {name}", arrays=without))
        for how, array in wrong(arrays, name):
            refused(copy(folder, tmp_path / f"{name} {how}", arrays={**arrays, name: array}))
            tried += 1
    assert tried > 150


@pytest.mark.parametrize(
    "name, value",
    [
        ("epochs", lambda e: e[::-1]), ("epochs", lambda e: e - 1), ("epochs", lambda e: 2 * e),
        ("state.epoch", lambda e: e + 1), ("state.epoch", lambda e: e * [1, -1]),
        ("state.status", lambda s: s + 6), ("state.status", lambda s: s - 1),
        ("y", lambda y: 2 * y), ("test_X", lambda X: X[:, :1]),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be(folder, tmp_path, name, value) -> None:
    arrays = arrays_of(folder)
    arrays[name] = value(arrays[name])
    refused(copy(folder, tmp_path / "run", arrays=arrays))


@settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.sampled_from(["run.json", "arrays.npz"]),
    st.integers(0, 2**32),
    st.sampled_from(["flip", "cut", "insert", "remove"]),
)
def test_random_corruption_is_refused_or_harmless(
    folder, tmp_path_factory, name, seed, how
) -> None:
    """One line, or a run that can be summed up: never a traceback."""
    target = copy(folder, tmp_path_factory.mktemp("broken") / "run")
    spoil(target / name, seed, how)
    try:
        loaded = load(target)
    except BadInput as error:
        assert "\n" not in str(error)
    else:
        json.dumps(loaded.to_dict(), allow_nan=False)
        assert loaded.params["W"].shape == (2, 4, 2)


def test_an_archive_with_a_pickle_is_not_opened(folder, tmp_path) -> None:
    target = copy(folder, tmp_path / "run")
    part = io.BytesIO()
    np.lib.format.write_array(part, np.array([{}], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(target / "arrays.npz", "a") as archive:
        archive.writestr("state.more.npy", part.getvalue())
    assert "no pickle" in refused(target)


# --- summary -------------------------------------------------------------------------------------


def test_a_summary_has_numbers_for_one_and_lists_for_many(run) -> None:
    many = run.to_dict()
    data = Dataset(9 * np.eye(2), [1, -1])
    one = train(data, Setting(width=20, loss="hinge"), epochs=200).to_dict()
    assert len(many["loss"]) == len(many["train_error"]) == len(many["test_error"]) == 2
    assert isinstance(many["measures"]["margin"][-1], list)
    assert one["loss"] == 0 and one["log10_loss"] is None and one["train_error"] == 0
    assert one["measures"]["epoch"][-1] == one["epochs"] == 200
    assert len(one["measures"]["singular_values"][0]) == 10
    for each in (one, many):
        assert {"loss", "train_error", "measures", "seconds"} <= set(each)
        json.dumps(each, allow_nan=False)


def test_plain_values() -> None:
    value = {1: (np.float64("nan"), np.array([1.0, np.inf]), np.int64(3), True, None, "x")}
    assert plain(value) == {"1": [None, [1.0, None], 3, True, None, "x"]}
