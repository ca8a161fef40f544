"""A limit and the path to it on disk.

A folder with `limit.json` (setting and results) and `arrays.npz` (data, limits, paths), written
whole or not at all, and read without trusting it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from tacit.files import npz_bytes, write_folder
from tacit.flow.ending import MOST_SEED
from tacit.flow.limits import Limit, Limits, Outcome, layers_text
from tacit.messages import printable
from tacit.models import model_text
from tacit.training.run_reading import read_data, read_folder, read_setting, require
from tacit.training.runs import about_data, data_arrays
from tacit.values import BadInput, Dataset, Network, Result, Setting
from tacit.values.jsonable import plain

FORMAT = 1
NAME = "limit.json"
MOST_MOMENTS = 400
"""Moments kept of a path, the first and the last among them."""
MOST_NUMBERS = 10**7
"""Numbers kept of a path; of large networks fewer moments are kept."""


@dataclass(frozen=True, eq=False)
class SavedPath:
    """T moments of one network's path; see `flow.path.Moment`."""

    s: np.ndarray
    log_t: np.ndarray
    log_L: np.ndarray
    W: np.ndarray
    """T × m × d."""
    a: np.ndarray
    """T × m."""
    side: np.ndarray
    """m × hyperplanes: the side of each on which every neuron is at the last moment."""


@dataclass(frozen=True, eq=False, repr=False)
class SavedLimits(Result):
    """What a folder holds: one entry per network in each of the tuples."""

    setting: Setting
    data: Dataset
    seed: int
    outcomes: tuple[Outcome, ...]
    limits: tuple[Network | None, ...]
    """The limit of each network; None where the path has none."""
    paths: tuple[SavedPath, ...]
    summary: dict[str, Any]
    """What `to_dict` gave when the folder was written; nothing in it was checked."""

    @property
    def members(self) -> list[tuple[int, int | None]]:
        """(seed, class) of every network."""
        return [(self.seed, None if self.data.binary else k) for k in range(len(self.paths))]

    @property
    def networks(self) -> tuple[Network, ...]:
        """The limits, or the network at the last moment of the path where there is none."""
        return tuple(
            limit or Network(path.W[-1], path.a[-1], self.setting.alpha)
            for limit, path in zip(self.limits, self.paths, strict=True)
        )

    @property
    def network(self) -> Network:
        """The first of the networks: the only one of binary data."""
        return self.networks[0]

    @property
    def descriptions(self) -> list[str]:
        """What each of the networks is, in words."""
        return [
            "the limit" if limit is not None else f"the last moment of the path ({outcome})"
            for limit, outcome in zip(self.limits, self.outcomes, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `tacit limit --json`, as the folder has it."""
        return self.summary

    def _lines(self) -> list[str]:
        s, outcomes = self.setting, Counter(str(outcome) for outcome in self.outcomes)
        said = ", ".join(f"{n} {outcome}" for outcome, n in outcomes.items())
        return [
            f"Saved limit of gradient flow on {printable(self.data.name)}: {said}",
            f"{s.activation}, width {s.width}, {layers_text(s)} trained, seed {self.seed}",
        ]


def save(result: Limit | Limits, path: str | Path, force: bool = False) -> None:
    """Write the folder of a limit, or of several; an older one is replaced only with `force`."""
    data, limits = result.data, result.each
    arrays = data_arrays(data)
    kept = [_thinned(one) for one in limits]
    ends = [
        one.network
        or Network(np.zeros_like(one.path.last.state.W), np.zeros_like(one.path.last.state.a))
        for one in limits
    ]
    arrays["limit.W"] = np.stack([network.W for network in ends])
    arrays["limit.a"] = np.stack([network.a for network in ends])
    arrays["path.length"] = np.array([len(part.s) for part in kept])
    for name in ("s", "log_t", "log_L", "W", "a"):
        arrays[f"path.{name}"] = np.concatenate([getattr(part, name) for part in kept])
    arrays["side"] = np.stack([part.side for part in kept])
    about = {
        "tacit": tacit.__version__,
        "format": FORMAT,
        "setting": limits[0].setting.to_dict(),
        "data": about_data(data),
        "seed": limits[0].seed,
        "outcomes": [str(one.outcome) for one in limits],
        "summary": result.to_dict(),
    }
    text = json.dumps(plain(about), indent=1, allow_nan=False)
    write_folder(path, {NAME: text.encode(), "arrays.npz": npz_bytes(arrays)}, force)


def _thinned(limit: Limit) -> SavedPath:
    moments = limit.path.moments
    state = limit.path.last.state
    most = min(MOST_MOMENTS, MOST_NUMBERS // (state.W.size + len(state.a)))
    if len(moments) > most:
        chosen = np.unique(np.linspace(0, len(moments) - 1, max(most, 2)).round().astype(int))
        moments = [moments[i] for i in chosen]
    return SavedPath(
        s=np.array([moment.s for moment in moments]),
        log_t=np.array([moment.log_t for moment in moments]),
        log_L=np.array([moment.log_L for moment in moments]),
        W=np.stack([moment.state.W for moment in moments]),
        a=np.stack([moment.state.a for moment in moments]),
        side=state.side,
    )


def load(path: str | Path) -> SavedLimits:
    """Read such a folder; anything that is not exactly one is refused with what is wrong."""
    if not Path(path).is_dir():
        raise BadInput(f"{path} is not a run folder; `tacit limit … --out FOLDER` writes one")
    return read_folder(Path(path), NAME, _limits)


def _limits(about: dict[str, Any], arrays: dict[str, np.ndarray]) -> SavedLimits:
    require(about["format"] == FORMAT, f"its format is {about['format']!r}, not {FORMAT}")
    setting = read_setting(about["setting"])
    data = read_data(about["data"], arrays)
    require(setting.two_layer, f"its model is {model_text(setting.model)}, not two_layer")
    seed, outcomes = about["seed"], about["outcomes"]
    require(type(seed) is int and 0 <= seed <= MOST_SEED, f"its seed is {seed!r}")
    require(
        isinstance(outcomes, list)
        and 1 <= len(outcomes) <= max(len(data.classes), 1)
        and all(outcome in list(Outcome) for outcome in outcomes),
        f"its outcomes are {outcomes!r}",
    )
    require(isinstance(about["summary"], dict), "its summary is no object")
    paths = _paths(arrays, len(outcomes), setting.width, data)
    limits = _networks(arrays, outcomes, setting, data.d)
    ends = tuple(Outcome(outcome) for outcome in outcomes)
    return SavedLimits(setting, data, seed, ends, limits, paths, about["summary"])


def _networks(
    arrays: dict[str, np.ndarray], outcomes: list[str], setting: Setting, d: int
) -> tuple[Network | None, ...]:
    m = setting.width
    W = _array(arrays, "limit.W", (len(outcomes), m, d))
    a = _array(arrays, "limit.a", (len(outcomes), m))
    for k, outcome in enumerate(outcomes):
        there = bool(W[k].any() and a[k].any())
        require(
            there == (outcome == Outcome.CONVERGED),
            f"network {k} is {outcome} and has {'a' if there else 'no'} limit",
        )
    return tuple(
        Network(W[k], a[k], setting.alpha) if W[k].any() else None for k in range(len(outcomes))
    )


def _paths(
    arrays: dict[str, np.ndarray], networks: int, m: int, data: Dataset
) -> tuple[SavedPath, ...]:
    lengths = arrays["path.length"]
    require(
        lengths.dtype.kind == "i" and lengths.shape == (networks,) and bool((lengths > 0).all()),
        f"its {networks} paths have {lengths.tolist()} moments",
    )
    total = sum(lengths.tolist())
    parts = {
        "s": _array(arrays, "path.s", (total,)),
        "log_t": _array(arrays, "path.log_t", (total,), least=-math.inf),
        "log_L": _array(arrays, "path.log_L", (total,)),
        "W": _array(arrays, "path.W", (total, m, data.d)),
        "a": _array(arrays, "path.a", (total, m)),
    }
    side = arrays["side"]
    require(
        side.dtype == np.int8
        and side.ndim == 3
        and side.shape[:2] == (networks, m)
        and 1 <= side.shape[2] <= data.n
        and bool(np.isin(side, (-1, 0, 1)).all()),
        f"its sides have shape {side.shape} of {side.dtype}, not ({networks}, {m}, hyperplanes) "
        "of int8 in −1, 0, 1",
    )
    cuts = np.cumsum(lengths)[:-1]
    split = {name: np.split(array, cuts) for name, array in parts.items()}
    paths = []
    for k in range(networks):
        path = SavedPath(**{name: pieces[k] for name, pieces in split.items()}, side=side[k])
        require(
            bool((np.diff(path.s) > 0).all() and (path.log_t[1:] >= path.log_t[:-1]).all()),
            f"the moments of path {k} are not in the order of time",
        )
        paths.append(path)
    return tuple(paths)


def _array(
    arrays: dict[str, np.ndarray],
    name: str,
    shape: tuple[int, ...],
    least: float = -np.finfo(float).max,
) -> np.ndarray:
    array = arrays[name]
    require(
        array.shape == shape and array.dtype == np.float64,
        f"its {name} has shape {array.shape} of {array.dtype}, not {shape} of float64",
    )
    finite = (array >= least) & (array < math.inf)
    require(bool(finite.all()), f"its {name} holds numbers that are not finite")
    return array
