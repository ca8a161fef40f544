"""What a sweep is made of: runs, each with a key, and their results."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

import tacit
from tacit.values import Dataset, Setting

FORMAT = 1
"""The format of run folders; part of every key."""


@dataclass(frozen=True)
class DataCall:
    """A data set as the command line names it."""

    text: str
    labels: str | None = None
    bias: float | None = None
    test: str | None = None


@dataclass(frozen=True)
class PlannedRun:
    """One network: everything its result depends on."""

    data: DataCall
    setting: Setting
    epochs: int
    seed: int
    record: tuple[str, ...]
    """Names of measures, and of what else is asked for (`limit`, `certificate`, `weights`)."""
    seconds: float
    """The most that the limit and the certificate may take, each."""
    files: tuple[tuple[str, str], ...] = ()
    """The files it reads and their SHA-256."""

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON holds it."""
        return {**asdict(replace(self, setting=Setting())), "setting": self.setting.to_dict()}

    @property
    def key(self) -> str:
        """The name of its folder: runs with the same key have the same result."""
        said = {"format": FORMAT, "tacit": tacit.__version__, **self.to_dict()}
        text = json.dumps(said, sort_keys=True, ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class RunResult:
    """What a run gave; `reason` is empty unless it failed."""

    values: dict[str, Any]
    """Column → number, text, list of numbers, or None; as JSON holds them. The same whenever and
    wherever it is computed on one machine."""
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    """The weights, where they are asked for."""
    seconds: float = 0.0
    device: str = "cpu"
    reason: str = ""
    folder: str = ""
    """The name of the folder it was read from."""

    @property
    def failed(self) -> bool:
        return bool(self.reason)


Pack = tuple[PlannedRun, ...]
"""Runs that are trained together."""
Sets = Mapping[DataCall, Dataset]
"""Data that a worker cannot make itself: what is read from files."""
