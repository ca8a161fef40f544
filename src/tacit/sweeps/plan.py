"""A sweep's plan: a TOML file becomes runs, after everything in it was checked.

Axes of the grid multiply, the entries of [[list]] stand side by side, and every run is a point with
the values that the table shows of it.
"""

import itertools
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.files import open_regular
from tacit.messages import near_miss
from tacit.sweeps import data_calls as calls
from tacit.sweeps import settings
from tacit.sweeps.columns import LISTS, OTHERS, STATE, result_columns
from tacit.sweeps.data_calls import RUN
from tacit.sweeps.plan_values import MOST_RUNS, Kind, known, one, several, table
from tacit.sweeps.planned_run import PlannedRun, Sets
from tacit.sweeps.run_builder import OWN, Builder
from tacit.values import BadInput
from tacit.values.arguments import MOST_SEED

MOST_BYTES = 1 << 20
"""Bytes of a plan."""
KEYS = ("record", "epochs", "seed", "seconds", "data", "setting", "list", "plot", "slurm")
SECONDS = 60.0
"""For one run, where the plan says nothing."""
PLOT = ("x", "y", "value")


@dataclass(frozen=True, slots=True)
class Point:
    """A run and the values that the table shows of it."""

    values: dict[str, Any]
    run: PlannedRun


@dataclass(frozen=True, eq=False)
class Plan:
    """All runs of a sweep, in the order of the table."""

    name: str
    points: tuple[Point, ...]
    axes: tuple[str, ...]
    """Columns that vary; data with the seed of its run does not count."""
    plot: Mapping[str, Any]
    slurm: Mapping[str, Any]
    record: tuple[str, ...]
    """What is recorded of every run."""
    sets: Sets = field(default_factory=dict)
    """Data read from files, which workers cannot make themselves."""
    text: str = ""
    """The file."""


def read(path: Path, shift: int = 0) -> Plan:
    """The plan in a TOML file; `shift` is added to every seed in it."""
    path = Path(path)
    text = _text(path)
    document = _document(path, text)
    known(f"{path}", document, KEYS)
    record = _record(path, document.get("record"))
    seconds = one(f"{path}: seconds", document.get("seconds", SECONDS), Kind(float))
    if not seconds > 0:
        raise BadInput(f"{path}: seconds = {seconds:g} must be positive")
    grid, entries = _axes(path, document, shift)
    runs = len(entries) * math.prod(len(values) for values in grid.values())
    if runs > MOST_RUNS:
        raise BadInput(f"{path}: these are {runs:,} runs; at most {MOST_RUNS:,} are allowed")
    columns = _in_order([*grid, *entries[0]])
    build = Builder(path, columns, record, seconds)
    points = []
    for entry in entries:
        whole = [[entry[key]] if key in entry else grid[key] for key in columns]
        points += [Point(*build.point(values)) for values in itertools.product(*whole)]
    build.check()
    varied = [key for key in entries[0] if len({entry[key] for entry in entries}) > 1]
    varied += [key for key, values in grid.items() if len(values) > 1]
    return Plan(
        name=path.stem,
        points=tuple(points),
        axes=tuple(column for column in columns if column in varied),
        plot=_plot(path, document.get("plot", {}), columns, record),
        slurm=table(f"{path}: slurm", document.get("slurm", {})),
        record=record,
        sets=build.calls.sets,
        text=text,
    )


def _text(path: Path) -> str:
    with open_regular(path, MOST_BYTES) as file:
        raw = file.read()
    try:
        return raw.decode("utf-8-sig")
    except ValueError as error:
        raise BadInput(f"{path} is not a TOML file: {error}") from None


def _document(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise BadInput(f"{path}: its values are nested too deeply") from None
    except ValueError as error:  # no TOML, or a number with thousands of digits
        raise BadInput(f"{path} is not a TOML file: {' '.join(str(error).split())}") from None


def _record(path: Path, given: Any) -> tuple[str, ...]:
    """What is recorded, in an order that does not depend on the file's."""
    from tacit.measures import MEASURES

    names = (*MEASURES, *OTHERS)
    if given is None:
        raise BadInput(f'{path}: say what to record, such as record = ["train_error", "margin"]')
    given = one(f"{path}: record", given, Kind(tuple))
    if not given:
        raise BadInput(f"{path}: record = [] is empty; there are: {', '.join(names)}")
    for name in given:
        if name not in names:
            raise BadInput(f"{path}: record: unknown measure '{name}'{near_miss(name, names)}")
        if given.count(name) > 1:
            raise BadInput(f"{path}: record has '{name}' twice; give it once")
    return tuple(name for name in names if name in given)


def _in_order(keys: Sequence[str]) -> tuple[str, ...]:
    """Data, setting, epochs, seed: what comes last changes fastest."""
    data = [key for key in keys if key.startswith("data.")]
    own = [key for key in OWN if key in keys]
    return (*data, *(key for key in keys if key not in (*data, *own)), *own)


def _axes(
    path: Path, document: dict[str, Any], shift: int
) -> tuple[dict[str, Sequence[Any]], list[dict[str, Any]]]:
    """The values of every column of the grid, and the entries of the list: one if there is none."""
    data = table(f"{path}: data", document.get("data", {}))
    setting = table(f"{path}: setting", document.get("setting", {}))
    known(f"{path}: setting", setting, settings.kinds())
    own = {key: document[key] for key in OWN if key in document}
    grid = {**{f"data.{key}": value for key, value in data.items()}, **setting, **own}
    entries = _entries(path, document.get("list", [{}]), grid)
    keys = [*grid, *entries[0]]
    settings.exclude(f"{path}: setting", keys)
    if "seed" not in keys:
        grid["seed"] = 0
    kinds = _kinds(path, grid, entries)
    values = {key: several(f"{path}: {key}", value, kinds[key]) for key, value in grid.items()}
    listed = [
        {key: one(f"{_nth(path, i)}: {key}", value, kinds[key]) for key, value in entry.items()}
        for i, entry in enumerate(entries)
    ]
    seen: dict[frozenset[tuple[str, Any]], int] = {}
    for i, entry in enumerate(listed):
        if (first := seen.setdefault(frozenset(entry.items()), i)) != i:
            raise BadInput(f"{_nth(path, i)} is the same as entry {first + 1}")
    for key in ("seed", "data.seed"):
        for entry in listed:
            if key in entry:
                entry[key] = _shifted(f"{path}: {key}", entry[key], shift)
        if key in values:
            values[key] = [_shifted(f"{path}: {key}", value, shift) for value in values[key]]
    for value in (*values.get("epochs", ()), *(entry.get("epochs", 1) for entry in listed)):
        _check_epochs(path, value)
    return values, listed


def _entries(path: Path, given: Any, grid: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries of the list by the names of their columns."""
    if not isinstance(given, list) or not given or not all(isinstance(e, dict) for e in given):
        raise BadInput(f"{path}: list: write its entries as [[list]]")
    entries = []
    for i, whole in enumerate(given):
        entry = {key: value for key, value in whole.items() if key != "data"}
        known(_nth(path, i), entry, (*settings.kinds(), *OWN))
        data = table(f"{_nth(path, i)}: data", whole.get("data", {}))
        entries.append({**{f"data.{key}": value for key, value in data.items()}, **entry})
        for key in entries[i]:
            if key in grid:
                raise BadInput(f"{_nth(path, i)}: '{key}' is in the grid as well; give it once")
        if odd := sorted(set(entries[i]) ^ set(entries[0])):
            raise BadInput(
                f"{_nth(path, i)} and the first differ in the key '{odd[0]}'; every entry has the "
                "same keys"
            )
    return entries


def _nth(path: Path, i: int) -> str:
    return f"{path}: list, entry {i + 1}"


def _kinds(
    path: Path, grid: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]
) -> dict[str, Kind]:
    """What every column may hold; of data that depends on the generator."""
    keys = [*grid, *entries[0]]
    names: list[str] = []
    if ("data.name" in keys) == ("data.file" in keys):
        raise BadInput(
            f'{path}: [data] needs either name = "…" (`tacit list data` shows the generators) '
            'or file = "…"'
        )
    if "data.name" in grid:
        names = list(several(f"{path}: data.name", grid["data.name"], Kind(str)))
    elif "data.name" in keys:
        names = [one(f"{path}: list: data.name", e["data.name"], Kind(str)) for e in entries]
    own = [key.removeprefix("data.") for key in keys if key.startswith("data.")]
    data = calls.kinds(f"{path}: data", list(dict.fromkeys(names)), own)
    return {**{f"data.{key}": kind for key, kind in data.items()}, **settings.kinds(), **OWN}


def _shifted(where: str, seed: int | str, shift: int) -> int | str:
    if isinstance(seed, str):
        assert seed == RUN
        return seed
    if not 0 <= seed + shift <= MOST_SEED:
        moved = f" moved by {shift}" if shift else ""
        raise BadInput(f"{where} = {seed}{moved} must be between 0 and {MOST_SEED}")
    return seed + shift


def _check_epochs(path: Path, epochs: int) -> None:
    from tacit.values.stop_rules import MOST_EPOCHS

    if not 1 <= epochs <= MOST_EPOCHS:
        raise BadInput(f"{path}: epochs = {epochs} must be between 1 and {MOST_EPOCHS:.0e}")


def _plot(path: Path, given: Any, columns: Sequence[str], record: Sequence[str]) -> dict[str, Any]:
    """What to draw; every name is that of a column."""
    plot = table(f"{path}: plot", given)
    known(f"{path}: plot", plot, PLOT)
    recorded = result_columns(record)[len(STATE) :]
    options: dict[str, Any] = {}
    for key in ("x", "y"):
        if key in plot:
            options[key] = one(f"{path}: plot.{key}", plot[key], Kind(str))
            if options[key] not in columns:
                there = near_miss(options[key], columns)
                raise BadInput(f"{path}: plot.{key}: there is no column '{options[key]}'{there}")
    if "y" in options and options["y"] == options.get("x"):
        raise BadInput(f"{path}: plot: x and y are both '{options['x']}'; take two columns")
    if "value" in plot:
        options["value"] = list(several(f"{path}: plot.value", plot["value"], Kind(str)))
        for name in options["value"]:
            if name not in recorded:
                there = near_miss(name, recorded)
                raise BadInput(f"{path}: plot.value: '{name}' is not recorded{there}")
            if name in LISTS:
                raise BadInput(f"{path}: plot.value: '{name}' is a list; take a number or a text")
    return options
