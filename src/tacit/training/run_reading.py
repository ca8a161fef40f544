"""Read a run folder without trusting it: what it holds is a run, or one line says why not."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tacit.files import open_regular, path_of, read_npz
from tacit.messages import require
from tacit.training import stopping as stops
from tacit.training.rules import named_leaves, parse_descent, start
from tacit.training.runs import FORMAT, Run
from tacit.values import BadInput, Dataset, Setting
from tacit.values.jsonable import read_json
from tacit.values.result import reading

MOST_JSON_BYTES = 64 << 20
"""Bytes of the JSON part of a run folder."""

T = TypeVar("T")


def load(path: str | Path) -> Run:
    """Read a run folder; anything that is not exactly one is refused with what is wrong."""
    if (path_of(path) / "limit.json").exists():
        raise BadInput(f"{path} is a folder of `tacit limit`; this needs one of `tacit train`")
    if not (Path(path) / "run.json").exists():
        raise BadInput(
            f"{path} is not a run folder with run.json; `tacit train … --out FOLDER` writes one"
        )
    return read_folder(Path(path), "run.json", _run)


def read_folder(
    folder: Path, name: str, build: Callable[[dict[str, Any], dict[str, np.ndarray]], T]
) -> T:
    """What `build` makes of a JSON file of this name and of `arrays.npz`, or one line."""
    with open_regular(folder / name, MOST_JSON_BYTES) as file:
        text = file.read()
    arrays = read_npz(folder / "arrays.npz")
    with reading(folder / name, "a JSON file"):
        about = read_json(text)
    with reading(folder, "a run folder"):
        return build(about, arrays)


def _run(about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Run:
    require(about["format"] == FORMAT, f"its format is {about['format']!r}, not {FORMAT}")
    setting = Setting.from_dict(about["setting"])
    data = read_data(about["data"], arrays)
    members = _members(about["members"], len(data.classes))
    outcomes, seconds = about["outcomes"], float(about["seconds"])
    require(0 <= seconds < math.inf, f"it took {seconds} seconds")
    require(
        len(outcomes) == len(members) and all(isinstance(text, str) for text in outcomes),
        f"it has {len(members)} members and the outcomes {outcomes!r}",
    )

    def part(prefix: str) -> dict[str, np.ndarray]:
        return {k[len(prefix) :]: v for k, v in arrays.items() if k.startswith(prefix)}

    run = Run(
        setting=setting,
        data=data,
        members=members,
        epochs=arrays["epochs"],
        measures=part("measure."),
        state=part("state."),
        outcomes=tuple(outcomes),
        seconds=seconds,
    )
    _check_measures(run)
    _check_state(run)
    return run


def read_data(about: dict[str, Any], arrays: dict[str, np.ndarray], prefix: str = "") -> Dataset:
    """What `about_data` wrote, and X, y (test_X, test_y) of the arrays."""
    name, classes = str(about["name"]), tuple(map(str, about["classes"]))
    X, y = arrays[f"{prefix}X"], arrays[f"{prefix}y"]
    require(
        X.dtype == np.float64 and y.dtype.kind in "iu",
        f"{prefix}X and {prefix}y are {X.dtype} and {y.dtype}, not float64 and whole numbers",
    )
    test = None
    if not prefix and "test_X" in arrays:
        said = about.get("test") or {**about, "name": f"{name} (test)", "parameters": {}}
        test = read_data({**said, "classes": classes}, arrays, "test_")
        require(test.d == X.shape[-1], "training and test points differ in dimension")
    return Dataset(
        X,
        y,
        name,
        classes,
        parameters=dict(about["parameters"]),
        test=test,
        columns=tuple(map(str, about.get("columns", ()))),
        names={int(label): str(word) for label, word in about.get("names", ())},
    )


def _members(given: list[Any], classes: int) -> tuple[tuple[int, int | None], ...]:
    members = tuple((seed, k) for seed, k in given)
    seeds = [seed for seed, _ in members][:: classes or 1]
    expected = tuple((seed, k) for seed in seeds for k in (range(classes) if classes else (None,)))
    whole = all(isinstance(seed, int) and 0 <= seed < 2**63 for seed in seeds)
    require(
        bool(members) and whole and members == expected,
        "its members are not a list of (seed, class) with every class for each seed",
    )
    return expected


def _check_measures(run: Run) -> None:
    epochs, shape = run.epochs, (len(run.epochs), len(run.members))
    require(
        epochs.dtype.kind == "i"
        and epochs.ndim == 1
        and len(epochs) > 0
        and epochs[0] >= 0
        and bool((np.diff(epochs) > 0).all()),
        "its epochs are not whole numbers that increase",
    )
    for name in ("log_loss", "train_error", *(["test_error"] if run.data.test else [])):
        require(name in run.measures, f"the measure '{name}' is missing")
    for name, values in run.measures.items():
        require(
            values.dtype == np.float64 and values.ndim <= 3 and values.shape[:2] == shape,
            f"the measure '{name}' has shape {values.shape} of {values.dtype}, not {shape}",
        )


def _check_state(run: Run) -> None:
    """The state is one that this setting can be in on this data."""
    descent = parse_descent(run.setting, run.data.n)
    entries = sum(array.size for array in run.params.values())
    require(run.setting.width <= entries, f"width {run.setting.width} does not fit its weights")
    for part, s in descent.model.shapes(run.data.d, run.setting.width).items():
        _check_array(run, f"params.{part}", s.shape)
    whole = named_leaves(start(descent, {part: array[0] for part, array in run.params.items()}))
    require(set(run.state) == set(whole), f"its state has {list(run.state)}, not {list(whole)}")
    for name, leaf in whole.items():
        _check_array(run, name, leaf.shape, leaf.dtype)
    epoch, status = run.state["epoch"], run.state["status"]
    require(
        bool((epoch >= 0).all()) and int(epoch.max()) == run.epoch,
        f"its members are at epochs {epoch.tolist()}, its last measures at {run.epoch}",
    )
    possible = [code for code in stops.OUTCOMES if code != stops.DIVERGED]
    require(bool(np.isin(status, possible).all()), f"its status is {status.tolist()}")


def _check_array(run: Run, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> None:
    require(name in run.state, f"its {name} is missing")
    array, needed = run.state[name], (len(run.members), *shape)
    require(
        array.shape == needed and array.dtype == dtype,
        f"its {name} has shape {array.shape} of {array.dtype}, not {needed} of {np.dtype(dtype)}",
    )
    right = ~np.isnan(array) if name == "best" else np.isfinite(array)
    require(bool(right.all()), f"its {name} holds numbers that are not finite")
