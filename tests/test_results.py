"""What all results share, on one of every kind: short texts, escaped HTML, pictures, files."""

from __future__ import annotations

import inspect
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tacit
from helpers import refused, spoil
from tacit import Setting
from tacit.certificates import proof_of
from tacit.messages import printable
from tacit.training.run_reading import read_data
from tacit.training.runs import about_data, data_arrays
from tacit.values import BadInput, Result

HOSTILE = "<img src=x onerror=alert(1)> & \x1b[31m$x^2$"
HOSTILE_SHOWN = printable(HOSTILE)
SMALL = Setting(width=4)
TYPES = sorted(
    name
    for name in dir(tacit)
    if inspect.isclass(getattr(tacit, name)) and issubclass(getattr(tacit, name), Result)
)
FOLDERS = ("Explanation", "Limit", "Limits", "Run")


def _linear(params: dict[str, Any], x: Any) -> Any:
    return params[HOSTILE] @ x


_linear.__name__ = HOSTILE


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """One result of every type, about data whose name and labels are hostile."""
    folder = tmp_path_factory.mktemp("results")
    X = np.array([[1.0, 0.1], [0.9, -0.2], [-1.0, 0.2], [-0.8, -0.1]])
    data = tacit.load(X, [HOSTILE, HOSTILE, "b", "b"], test=(X[:2], [HOSTILE, "b"]))
    data = tacit.Dataset(
        *(data.X, data.y, HOSTILE, (), data.parameters, data.test, ("<u>", "v"), data.names)
    )
    three = tacit.Dataset(np.eye(3), [0, 1, 2], HOSTILE, (HOSTILE, "b", "c"))
    best = tacit.optimum(data)
    plan = folder / "grid.toml"
    plan.write_text(
        'record = ["train_error", "margin"]\nepochs = [2, 3]\n'
        '[data]\nname = "xor"\n[setting]\nwidth = [2, 4]\n'
    )
    made = {
        "Dataset": data,
        "Geometry": tacit.check(data),
        "Predictions": tacit.predict(three, SMALL, only="lyu2021:thm3.1"),
        "Explanation": tacit.explain(data, SMALL, only="lyu2021:thm3.1", log10_loss=-20.0),
        "Run": tacit.train(data, SMALL, epochs=3),
        "Limit": tacit.limit(data, SMALL, log10_loss=-20.0),
        "Limits": tacit.limit(three, SMALL, log10_loss=-20.0),
        "Optimum": best,
        "Certificate": tacit.certify(data, best.network),
        "Verification": tacit.verify(proof_of(best)[0]),
        "Sweep": tacit.sweep(plan, folder / "sweep", workers=1),
        "Reproduction": tacit.reproduce("wang2022:fig2", quick=True, out=folder / "figures"),
    }
    made["Probed"] = tacit.probe((_linear, {HOSTILE: np.array([1.0, 0.0])}), X, data.y)
    log = made["Probe"] = tacit.Probe(X, data.y, every=1)
    for weight in (1.0, 2.0):
        log((_linear, {HOSTILE: np.array([weight, 0.0])}))
    assert sorted(made) == TYPES
    return made


@pytest.mark.parametrize("name", TYPES)
def test_texts_are_short_and_harmless(results: dict[str, Result], name: str) -> None:
    text = repr(results[name])
    assert 1 <= len(text.splitlines()) <= 5
    assert max(map(len, text.splitlines())) <= 120 + text.count(HOSTILE_SHOWN) * len(HOSTILE_SHOWN)
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    html = results[name]._repr_html_()
    assert "<img" not in html and "\x1b" not in html
    json.dumps(results[name].to_dict(), allow_nan=False)


def test_long_lines_are_cut_in_a_terminal_and_not_in_a_notebook() -> None:
    long = ["a" * 200, "b" * 200]
    data = tacit.load([[1.0, 2.0], [-1.0, 0.5]], long)
    assert max(map(len, repr(data).splitlines())) <= 120 and "…" in repr(data)
    assert all(name in data._repr_html_() for name in long)
    dead = tacit.Network(np.array([[1.0, 0.0]]), np.array([0.5]))
    end = tacit.limit([[1.0, 0.2], [1.0, -0.2], [-1.0, 0.3]], [1, 1, -1], start=dead)
    assert end.outcome == "partial" and len(end.reason) > 120
    assert max(map(len, repr(end).splitlines())) <= 120 and end.reason in end._repr_html_()


def test_parts_of_results_have_short_texts(results: dict[str, Any]) -> None:
    end, why = results["Limit"], results["Explanation"]
    parts = [end.path, end.path.last, end.measures, end.early_phase, end.last_network, why.parts]
    parts += [why.worst.verdicts, why.worst.verdicts[0].theorem, results["Predictions"].verdicts]
    parts += [results["Certificate"].kkt, results["Optimum"].per_class]
    for text in map(repr, parts):
        assert len(text.splitlines()) <= 5 and len(text) < 600 and " at 0x" not in text


@pytest.mark.parametrize("name", TYPES)
def test_pictures_draw_on_the_axes_they_are_given(results: dict[str, Result], name: str) -> None:
    figure = Figure()
    first, second = figure.subplots(1, 2)
    assert results[name].plot(second) is second and second.has_data()
    assert not first.has_data()
    alone = results[name].plot()
    assert isinstance(alone, Axes) and alone.figure is not figure and alone.has_data()
    pyplot.close(alone.figure)
    figure.canvas.draw()  # what cannot be drawn, such as a broken formula, fails here


@pytest.mark.parametrize("name", TYPES)
def test_what_is_saved_is_loaded(results: dict[str, Result], name: str, tmp_path: Path) -> None:
    result = results[name]
    path = tmp_path / "saved"
    result.save(path)
    assert path.is_dir() == (name in FOLDERS)
    again = type(result).load(path)
    assert type(again) is type(result)
    assert again.to_dict() == result.to_dict() and repr(again) == repr(result)
    assert again._repr_html_() == result._repr_html_()
    titles = [one.plot(Figure().subplots()).get_title() for one in (result, again)]
    assert titles[0] == titles[1]
    for one in ("network", "networks", "last_network"):
        if hasattr(result, one):
            assert repr(getattr(again, one)) == repr(getattr(result, one))
    refused(lambda: result.save(path), "already exists")


FILES = [name for name in TYPES if name not in FOLDERS]


@pytest.mark.parametrize("name", FILES)
def test_files_of_strangers_are_refused_in_one_line(
    results: dict[str, Result], name: str, tmp_path: Path
) -> None:
    kind, path = type(results[name]), tmp_path / "saved"
    results[name].save(path)
    about = json.loads(path.read_text())

    def altered(change: dict[str, Any]) -> None:
        path.write_text(json.dumps(change))
        line = refused(lambda: kind.load(path), str(path))
        assert len(line) < 1000

    for text in ("", "{", "[]", "null", "{}", "[" * 10**5, '{"saved": NaN}'):
        path.write_text(text)
        refused(lambda: kind.load(path), str(path))
    altered({**about, "saved": {**about["saved"], "type": "Path"}})
    value = about["saved"]["value"]
    for key in value:
        altered({**about, "saved": {**about["saved"], "value": {**value, key: {"x": [1]}}}})
        less = {other: value[other] for other in value if other != key}
        altered({**about, "saved": {**about["saved"], "value": less}})
    altered({**about, next(iter(about)): "something else"})


@pytest.mark.parametrize("seed", range(60))
def test_broken_files_are_refused_or_harmless(
    results: dict[str, Result], seed: int, tmp_path: Path
) -> None:
    name = ("Optimum", "Predictions", "Verification", "Certificate")[seed % 4]
    path = tmp_path / "saved"
    results[name].save(path)
    spoil(path, seed, ("flip", "cut", "insert", "remove")[seed // 4 % 4])
    try:
        again = type(results[name]).load(path)
    except BadInput as error:
        assert "\n" not in str(error)
    else:
        assert repr(again)


def test_large_files_are_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "saved"
    tacit.load("xor").save(path)
    monkeypatch.setattr("tacit.values.result.MOST_BYTES", 100)
    refused(lambda: tacit.Dataset.load(path), "at most 100 are read")


def test_one_type_is_not_loaded_as_another(results: dict[str, Result], tmp_path: Path) -> None:
    results["Geometry"].save(tmp_path / "saved")
    refused(lambda: tacit.Optimum.load(tmp_path / "saved"), "is not a saved Optimum", "a Geometry")
    results["Run"].save(tmp_path / "run")
    refused(lambda: tacit.Limit.load(tmp_path / "run"), "limit.json")
    results["Limit"].save(tmp_path / "limit")
    refused(lambda: tacit.Explanation.load(tmp_path / "limit"), "explanation.json")


def test_names_of_classes_survive_in_run_folders() -> None:
    """The generator, not the user, names the classes of digits."""
    data = tacit.load("digits:classes=3/5,n=20,test=10")
    assert data.names == {1: "3", -1: "5"}
    about = json.loads(json.dumps(about_data(data)))
    assert read_data(about, data_arrays(data)).to_dict() == data.to_dict()


def test_a_data_file_for_other_programs_has_points_and_labels(tmp_path: Path) -> None:
    data = tacit.load([[1.0, 0.0], [0.0, 1.0]], ["yes", "no"])
    data.save(tmp_path / "points.npz")
    again = tacit.load(tmp_path / "points.npz")
    assert again.names == data.names
    np.testing.assert_array_equal(again.X, data.X)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_time_of_explain_is_passed_on(monkeypatch: pytest.MonkeyPatch, classes: int) -> None:
    """The clock stands still: each network gets its share of what is not kept for the theorems."""
    from tacit.explanation import explanation

    given: list[float] = []
    deadlines: list[float] = []

    def limit(*args: Any, seconds: float, **options: Any) -> Any:
        given.append(seconds)
        return real_limit(*args, seconds=seconds, **options)

    def judge_each(asked: Any, case: Any, run: Any, deadline: float = math.inf, *more: Any) -> Any:
        deadlines.append(deadline)
        return []

    real_limit = explanation.limit
    monkeypatch.setattr(explanation, "limit", limit)
    monkeypatch.setattr(explanation, "judge_each", judge_each)
    monkeypatch.setattr(explanation, "perf_counter", lambda: 1000.0)
    data = "xor" if classes == 2 else "orthogonal_classes:n=6,d=3"
    tacit.explain(data, SMALL, seconds=10.0, log10_loss=-10.0)
    kept = min(explanation.KEPT_BACK[0] * 10.0, explanation.KEPT_BACK[1])
    networks = 1 if classes == 2 else classes
    assert given == [pytest.approx((10.0 - kept) / (networks - k)) for k in range(networks)]
    assert deadlines == sorted(deadlines) and 1000 < deadlines[0] and deadlines[-1] <= 1010
