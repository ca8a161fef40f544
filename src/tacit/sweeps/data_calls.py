"""The data of a plan: calls of generators, and files, which are read once and known by content."""

import hashlib
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.data import GENERATORS, load
from tacit.files import open_regular
from tacit.messages import near_miss
from tacit.sweeps.plan_values import Kind, known, shown
from tacit.sweeps.planned_run import DataCall
from tacit.values import BadInput, Dataset

OPTIONS = {"labels": Kind(str), "bias": Kind(float), "test": Kind(str)}
"""Those of `tacit train`. Where a generator has a parameter of that name, it is the parameter; a
`test` that is a text is always the option."""
RUN = "run"
"""The text that asks for the seed of the run as that of the data."""
TRIED, MOST_TRIED = 2, 100
"""Seeds with which a generator's parameters are tried, and combinations of parameters that are."""
MOST_NUMBERS = 200_000
"""Numbers in a data set that is made only to try."""
NOT_TRIED = ("mnist",)
"""Generators that read files which perhaps only the workers have."""

Files = tuple[tuple[str, str], ...]
"""The names of files and their SHA-256."""


def kinds(where: str, names: Sequence[str], keys: Sequence[str]) -> dict[str, Kind]:
    """What the keys of [data] may hold, for these generators; for files where there are none."""
    if not names:
        known(where, dict.fromkeys(keys), ("file", *OPTIONS))
        return {"file": Kind(str), **OPTIONS}
    agreed: dict[str, Kind] = {}
    for name in names:
        if name not in GENERATORS:
            raise BadInput(f"{where}.name: unknown generator '{name}'{near_miss(name, GENERATORS)}")
        there = {"name": Kind(str), **OPTIONS, **_parameters(name)}
        for key in keys:
            if key not in there:
                hint = near_miss(key, there)
                raise BadInput(f"{where}: generator '{name}' has no parameter '{key}'{hint}")
            if agreed.setdefault(key, there[key]) != there[key]:
                raise BadInput(f"{where}: '{key}' means another thing for '{name}'")
    return agreed


def _parameters(name: str) -> dict[str, Kind]:
    hints = typing.get_type_hints(GENERATORS[name].make)
    kinds = {key: _kind(hints[key]) for key in GENERATORS[name].parameters}
    if "seed" in kinds:
        kinds["seed"] = Kind(int, (RUN,))
    if "test" in kinds:
        kinds["test"] = Kind(int, text=True)
    return kinds


def _kind(hint: Any) -> Kind:
    choices = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    kind = next(choice for choice in choices if choice is not type(None))
    return Kind(kind, ("none",) if type(None) in choices else ())


class Calls:
    """Data calls of one plan, and the data sets of its files."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hashes: dict[Path, str] = {}
        self._files: dict[DataCall, Files] = {}
        self.sets: dict[DataCall, Dataset] = {}

    def call(self, values: Mapping[str, Any]) -> DataCall:
        """The call of [data] with these values."""
        options = {key: values[key] for key in OPTIONS if key in values}
        if "file" in values:
            return self._of_file(values["file"], options)
        name = values["name"]
        parameters = GENERATORS[name].parameters
        for key in [key for key in options if key in parameters]:
            if key != "test" or isinstance(options[key], int):
                del options[key]
        own = {k: v for k, v in values.items() if k != "name" and k not in options}
        for key, value in own.items():
            if isinstance(value, str) and ("," in value or value != value.strip()):
                raise BadInput(f"{self._path}: data.{key} = {shown(value)} cannot have a comma")
        if "test" in options and not _generated(options["test"]):
            raise BadInput(
                f"{self._path}: data.test = {shown(options['test'])} must be a generator call, as "
                "the data is generated; a file can only test data that is read from a file"
            )
        said = [f"{key}={_said(own[key])}" for key in parameters if key in own]
        return DataCall(f"{name}:{','.join(said)}" if said else name, **options)

    def files(self, call: DataCall) -> Files:
        """The files of a call and their SHA-256."""
        return self._files.get(call, ())

    def look(self, calls: Sequence[DataCall], tests: bool) -> tuple[int, int] | None:
        """n and d of the first of these calls that gives data; None where none is tried.

        BadInput when none does, or when it is not what a sweep needs.
        """
        refused = None
        for call in calls:
            if call not in self.sets and not _small(call):
                return None
            try:
                data = self.sets[call] if call in self.sets else load_call(call)
            except BadInput as error:
                refused = refused or error
                continue
            except Exception:  # say, a library that only the workers have
                return None
            need_two_classes(data)
            if tests and data.test is None:
                raise BadInput("test_error is recorded, but there is no test set; give data.test")
            return data.n, data.d
        assert refused is not None
        raise refused

    def _of_file(self, text: str, options: dict[str, Any]) -> DataCall:
        if not text.strip() or _generated(text):
            raise BadInput(f"{self._path}: data.file = {shown(text)} is not the name of a file")
        place, name, files = self._named(text)
        places, names = dict(options), dict(options)
        if "test" in options and not _generated(options["test"]):
            places["test"], names["test"], more = self._named(options["test"])
            files += more
        call = DataCall(name, **names)
        if call not in self.sets:
            self.sets[call] = load(place, **places)
            self._files[call] = tuple(dict.fromkeys(files))
        return call

    def _named(self, text: str) -> tuple[str, str, list[tuple[str, str]]]:
        """A file by its place; by its name and content; and its hash. It may be a pair of files."""
        parts = text.split(",") if text.lower().endswith(".npy") else [text]
        paths = [self._path.parent / part.strip() for part in parts]
        files = [(path.name, self._hash(path)) for path in paths]
        name = ",".join(f"{name}#{digest[:16]}" for name, digest in files)
        return ",".join(map(str, paths)), name, files

    def _hash(self, path: Path) -> str:
        if path not in self._hashes:
            digest = hashlib.sha256()
            with open_regular(path) as file:
                while piece := file.read(1 << 20):
                    digest.update(piece)
            self._hashes[path] = digest.hexdigest()
        return self._hashes[path]


def load_call(call: DataCall) -> Dataset:
    """Data that a generator makes."""
    return load(call.text, labels=call.labels, bias=call.bias, test=call.test)


def need_two_classes(data: Dataset) -> Dataset:
    """Refuse data of more than two classes, saying how to choose a pair."""
    if not data.binary:
        raise BadInput(
            f"{data.name} has {len(data.classes)} classes; a sweep trains on two, which are chosen "
            f'by labels = "{",".join(data.classes[:2])}"'
        )
    return data


def _generated(text: str) -> bool:
    return text.partition(":")[0].strip() in GENERATORS


def _small(call: DataCall) -> bool:
    """Whether the data of a generator is made in no time."""
    name, _, arguments = call.text.partition(":")
    given = dict(part.split("=", 1) for part in arguments.split(",") if part)
    sizes = {**GENERATORS[name].parameters, **given}
    n, d, test = (_size(sizes.get(key)) for key in ("n", "d", "test"))
    others = (call.test or "").partition(":")[0]
    return name not in NOT_TRIED and others not in NOT_TRIED and (n + test) * d <= MOST_NUMBERS


def _size(value: Any) -> int:
    try:
        return max(1, int(value))
    except (TypeError, ValueError):  # none, or no such parameter
        return 1


def _said(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
