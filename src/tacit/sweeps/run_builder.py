"""Values become runs; every setting and every call of data is made and checked once."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit.sweeps import settings
from tacit.sweeps.data_calls import MOST_TRIED, RUN, TRIED, Calls
from tacit.sweeps.plan_values import Kind, as_keys
from tacit.sweeps.planned_run import DataCall, PlannedRun
from tacit.values import BadInput, Setting

OWN = {"epochs": Kind(int), "seed": Kind(int)}
"""Axes outside of [data] and [setting], in the order of their columns."""
EPOCHS = 1000
"""Where the plan says nothing; as `tacit.train` has it."""

Values = tuple[Any, ...]


class Builder:
    """Makes the runs of one plan."""

    def __init__(
        self, path: Path, columns: Sequence[str], record: tuple[str, ...], seconds: float
    ) -> None:
        self.calls = Calls(path)
        self._path, self._columns, self._record, self._seconds = path, columns, record, seconds
        self._data = [key for key in columns if key.startswith("data.")]
        self._shape = [key for key in self._data if key != "data.seed"]
        self._of_setting = [key for key in columns if key not in OWN and key not in self._data]
        self._called: dict[Values, DataCall] = {}
        self._settings: dict[Values, Setting] = {}
        self._first: dict[DataCall, Values] = {}
        self._tries: dict[Values, list[DataCall]] = {}
        """The first calls of data that differ in more than the seed."""
        self._pairs: dict[tuple[Values, Values], None] = {}
        """Data without its seed, and settings, that occur together."""

    def point(self, given: Values) -> tuple[dict[str, Any], PlannedRun]:
        """The values that the table shows, and the run."""
        values = dict(zip(self._columns, given, strict=True))
        if values.get("data.seed") == RUN:
            values["data.seed"] = values["seed"]
        data = tuple([values[key] for key in self._data])
        chosen = tuple([values[key] for key in self._of_setting])
        shape = tuple([values[key] for key in self._shape])
        call = self._called.get(data) or self._call(data, shape)
        setting = self._settings.get(chosen) or self._setting(chosen)
        self._pairs[shape, chosen] = None
        run = PlannedRun(
            data=call,
            setting=setting,
            epochs=values.get("epochs", EPOCHS),
            seed=values["seed"],
            record=self._record,
            seconds=self._seconds,
            files=self.calls.files(call),
        )
        if "stop" in values:
            values["stop"] = list(values["stop"])
        return values, run

    def check(self) -> None:
        """Refuse data that the generators refuse, and settings that do not go with their data.

        Small data sets are made for that, with some of their seeds. What only other seeds or large
        data sets show is the reason of a failed run.
        """
        looked = {}
        for shape, calls in list(self._tries.items())[:MOST_TRIED]:
            try:
                looked[shape] = self.calls.look(calls, "test_error" in self._record)
            except BadInput as error:
                raise BadInput(f"{self._path}: data: {as_keys(error)}") from None
        for shape, chosen in self._pairs:
            if (points := looked.get(shape)) is not None:
                try:
                    settings.check_points(self._settings[chosen], *points)
                except BadInput as error:
                    raise BadInput(f"{self._path}: setting: {as_keys(error)}") from None

    def _call(self, values: Values, shape: Values) -> DataCall:
        keys = [key.removeprefix("data.") for key in self._data]
        call = self.calls.call(dict(zip(keys, values, strict=True)))
        if self._first.setdefault(call, shape) != shape:  # a file and its copy
            raise BadInput(f"{self._path}: data: {call.text} is there twice, from two places")
        self._called[values] = call
        tries = self._tries.setdefault(shape, [])
        if len(tries) < TRIED:
            tries.append(call)
        return call

    def _setting(self, values: Values) -> Setting:
        try:
            setting = settings.setting_of(dict(zip(self._of_setting, values, strict=True)))
            settings.check(setting, self._record)
        except BadInput as error:
            raise BadInput(f"{self._path}: setting: {as_keys(error)}") from None
        self._settings[values] = setting
        return setting
