"""Folders of limits: the round trip, and every folder that is not one."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import refused, spoil
from tacit import Dataset, Setting
from tacit import load as load_data
from tacit.flow import Limit, Limits, Outcome, limit
from tacit.flow import limit_folder as runs
from tacit.flow.limit_folder import load
from tacit.flow.saved_path import SavedEvents
from tacit.values import BadInput

SETTING = Setting(width=4, train="both", init="balanced:1e-4")


@pytest.fixture(scope="module")
def data() -> Dataset:
    return load_data("gaussians:n=8,d=2,test=3")


@pytest.fixture(scope="module")
def ended(data: Dataset) -> Limit:
    end = limit(data, SETTING, seed=1, log10_loss=-40.0)
    assert isinstance(end, Limit) and not end.interrupted and end.outcome.settled
    return end


@pytest.fixture(scope="module")
def folder(ended: Limit, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("limits") / "run"
    ended.save(path)
    return path


def arrays_of(folder: Path) -> dict[str, np.ndarray]:
    with np.load(folder / "arrays.npz") as archive:
        return dict(archive)


def copy(folder: Path, target: Path, about=None, arrays=None) -> Path:
    """The folder with another limit.json (text or object) or other arrays."""
    target.mkdir()
    text = (folder / "limit.json").read_text() if about is None else about
    (target / "limit.json").write_text(text if isinstance(text, str) else json.dumps(text))
    if arrays is None:
        (target / "arrays.npz").write_bytes((folder / "arrays.npz").read_bytes())
    else:
        np.savez(target / "arrays.npz", **arrays)
    return target


# --- round trip ----------------------------------------------------------------------------------


def test_what_is_saved_is_what_is_loaded(ended, data, folder) -> None:
    one, got = ended, Limit.load(folder)
    assert isinstance(got, Limit)
    assert (got.setting, got.seed, got.outcome) == (SETTING, 1, Outcome.PROVED)
    np.testing.assert_array_equal(got.data.X, data.X)
    np.testing.assert_array_equal(got.data.y, data.y)
    np.testing.assert_array_equal(got.data.test.X, data.test.X)
    assert got.data.to_dict() == data.to_dict()
    np.testing.assert_array_equal(got.network.W, one.network.W)
    np.testing.assert_array_equal(got.network.a, one.network.a)
    assert got.network.alpha == one.network.alpha == 0
    for mine, theirs in zip(got.path.moments, one.path.moments, strict=True):
        assert (mine.s, mine.log_t, mine.log_L) == (theirs.s, theirs.log_t, theirs.log_L)
        for name in ("W", "a", "side"):
            np.testing.assert_array_equal(getattr(mine.state, name), getattr(theirs.state, name))
        np.testing.assert_array_equal(mine.state.outputs(), theirs.state.outputs())
    assert got.path.events == one.path.events
    assert got.to_dict() == one.to_dict() and got.to_dict()["margin"] == one.margin
    assert repr(got) == repr(one)


def test_the_same_limit_gives_the_same_bytes(ended, folder, tmp_path) -> None:
    ended.save(tmp_path / "again")
    for name in ("limit.json", "arrays.npz"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_long_paths_are_thinned_and_keep_their_ends(ended, tmp_path, monkeypatch) -> None:
    moments = ended.path.moments
    for name, value in (("MOST_MOMENTS", 7), ("MOST_NUMBERS", 7 * 12), ("MOST_NUMBERS", 1)):
        monkeypatch.setattr(runs, name, value)
        ended.save(tmp_path / f"{name} {value}")
        got = load(tmp_path / f"{name} {value}")
        kept = got.path.moments
        assert 2 <= len(kept) <= 7
        assert (kept[0].s, kept[-1].s) == (moments[0].s, moments[-1].s)
        assert got.to_dict() == ended.to_dict()  # what was measured is that of all moments
        monkeypatch.undo()


def test_classes_and_names_that_are_no_text(tmp_path) -> None:
    """A file name on Linux may hold bytes that are no text."""
    three = Dataset(np.eye(3), [0, 1, 2], "caf\udce9", ("a", "ü", "\udcff"))
    limits = limit(three, SETTING, log10_loss=-20.0)
    limits.save(tmp_path / "run")
    got = load(tmp_path / "run")
    assert got.data.classes == three.classes and got.data.name == three.name
    assert isinstance(got, Limits) and got.to_dict() == limits.to_dict()
    for one, other in zip(limits, got, strict=True):
        assert other.data.to_dict() == one.data.to_dict()
        np.testing.assert_array_equal(other.last_network.W, one.last_network.W)


def test_without_a_limit_there_are_the_last_weights(ended, tmp_path) -> None:
    none = {"groups": (), "network": None, "kkt": None, "certificate": None}
    lost = replace(ended, outcome=Outcome.STUCK, **none)
    lost.save(tmp_path / "run")
    got = load(tmp_path / "run")
    assert got.network is None and got.outcome is Outcome.STUCK
    np.testing.assert_array_equal(got.last_network.W, lost.path.last.state.W)


def test_nothing_is_overwritten_unless_forced(ended, folder, tmp_path) -> None:
    target = copy(folder, tmp_path / "run")
    (target / "notes.txt").write_text("mine")
    refused(lambda: ended.save(target), "already exists")
    replace(ended, seed=5).save(target, force=True)
    assert load(target).seed == 5 and (target / "notes.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


# --- what is read --------------------------------------------------------------------------------


def test_what_is_no_folder_of_limits(tmp_path, folder) -> None:
    refused(lambda: load(tmp_path / "nowhere"), "is not a run folder", "tacit limit")
    refused(lambda: load(folder / "limit.json"), "is not a run folder")
    empty = tmp_path / "empty"
    empty.mkdir()
    refused(lambda: load(empty), "is not a run folder", "tacit limit")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '"x"', "[" * 100_000, "\x00", "{}"])
def test_json_that_is_no_limit(folder, tmp_path, text) -> None:
    target = copy(folder, tmp_path / "run", text)
    refused(lambda: load(target), "run")


@pytest.mark.parametrize(
    "path, value",
    [
        ("format", KeyError), ("setting", KeyError), ("data", KeyError), ("seed", KeyError),
        ("limits", KeyError), ("summary", KeyError), ("format", 1), ("format", "a\nb"),
        ("setting", []), ("setting.more", 1), ("setting.model", "nothing"),
        ("setting.model", "residual:3"), ("setting.activation", "leaky:2"), ("setting.width", 3),
        ("setting.width", "4"), ("setting.width", 10**30), ("setting.width", True),
        ("setting.train", "last"), ("setting.lr", math.nan), ("data.classes", ["a", "b", "c"]),
        ("data.classes", 5), ("data.parameters", 5), ("seed", -1), ("seed", 2**70), ("seed", 1.5),
        ("seed", True), ("seed", "1"), ("limits", []), ("limits", 5),
        ("limits", None), ("limits", [None]), ("limits.0", {}), ("limits.0.outcome", "stuck"),
        ("limits.0.outcome", "fine"), ("limits.0.outcome", ["converged"]), ("limits.0.kkt", 5),
        ("limits.0.certificate", None), ("limits.0.groups", [5]), ("limits.0.seconds", "1"),
        ("limits.0.approach", []), ("limits.0.approach", {"array": ["object", [1], "AAAA"]}),
        ("limits.0.approach", {"array": ["float64", [10**9], "AAAA"]}),
        ("limits.0.approach", {"array": ["float64", [-1], "!"]}), ("limits.0.early", {}),
        ("limits.0.events", []), ("limits.0.events.what", None),
        ("limits.0.events.s", {"array": ["float64", [0], ""]}), ("limits.0.path.end", "x"),
        ("limits.0.path.moments", [1]), ("summary", []),
        ("summary.margin", 5.0), ("interrupted", 0), ("interrupted", KeyError),
    ],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
def test_altered_json(folder, tmp_path, path, value) -> None:
    about = json.loads((folder / "limit.json").read_text())
    *way, last = path.split(".")
    inner = about
    for key in way:
        inner = inner[int(key) if isinstance(inner, list) else key]
    last = int(last) if isinstance(inner, list) else last
    if value is KeyError:
        del inner[last]
    else:
        inner[last] = value
    target = copy(folder, tmp_path / "run", about)
    refused(lambda: load(target), "run")


def test_altered_arrays(folder, tmp_path) -> None:
    arrays = arrays_of(folder)
    tried = 0
    for name, array in arrays.items():
        wrong = [array[:-1], array.reshape(-1)[:, None, None, None], np.array(1.0)]
        wrong += [array.astype(str), array.astype(complex)]
        wrong.append(array.astype(np.float32 if array.dtype.kind == "f" else float))
        if array.dtype.kind == "f":
            wrong += [np.where(np.arange(array.size) == array.size - 1, bad, array.ravel())
                      .reshape(array.shape) for bad in (np.nan, np.inf)]  # fmt: skip
        changed = [{**arrays, name: value} for value in wrong]
        if name != "test_X":  # a limit without a test set
            changed.append({key: value for key, value in arrays.items() if key != name})
        for one in changed:
            target = copy(folder, tmp_path / f"{tried}", arrays=one)
            refused(lambda target=target: load(target))
            tried += 1
    assert tried > 70


@pytest.mark.parametrize(
    "name, value",
    [
        ("path.s", lambda s: s[::-1]), ("path.s", lambda s: 0 * s),
        ("path.log_t", lambda t: t[::-1]), ("path.length", lambda n: n - 1),
        ("path.length", lambda n: -n), ("path.length", lambda n: 0 * n + 2**62),
        ("path.side", lambda side: side * 2 + 1), ("path.side", lambda side: side[:, :, :0]),
        ("path.side", lambda side: np.repeat(side, 9, axis=2)),
        ("limit.W", lambda W: 0 * W), ("limit.a", lambda a: 0 * a), ("y", lambda y: 2 * y),
        ("test_X", lambda X: X[:, :1]),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be(folder, tmp_path, name, value) -> None:
    arrays = arrays_of(folder)
    arrays[name] = value(arrays[name])
    target = copy(folder, tmp_path / "run", arrays=arrays)
    refused(lambda: load(target), "run")


@pytest.mark.parametrize(
    "name, value",
    [
        ("s", math.nan),
        ("neuron", -1),
        ("neuron", 10**6),
        ("plane", -2),
        ("plane", 10**6),
        ("what", 4),
    ],
)
def test_events_that_cannot_be(ended, name, value) -> None:
    saved, state = SavedEvents.of(ended.path.events), ended.path.last.state
    assert saved.events(state) == ended.path.events
    column = getattr(saved, name).copy()
    column[-1] = value
    refused(lambda: replace(saved, **{name: column}).events(state), "events")


@settings(
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.sampled_from(["limit.json", "arrays.npz"]),
    st.integers(0, 2**32),
    st.sampled_from(["flip", "cut", "insert", "remove"]),
)
def test_random_corruption_is_refused_or_harmless(
    folder, tmp_path_factory, name, seed, how
) -> None:
    """One line, or limits whose weights have the right shape: never a traceback."""
    target = copy(folder, tmp_path_factory.mktemp("broken") / "run")
    spoil(target / name, seed, how)
    try:
        got = load(target)
    except BadInput as error:
        assert "\n" not in str(error)
    else:
        assert got.network.W.shape == (4, 2) and repr(got) and got.to_dict()
