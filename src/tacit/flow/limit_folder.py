"""A limit and the path to it on disk.

A folder with `limit.json` (setting and results) and `arrays.npz` (data, limits, paths), written
whole or not at all, and read without trusting it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

import tacit
from tacit.files import npz_bytes, write_folder
from tacit.flow.limits import MOST_SEED
from tacit.flow.result import Limit, Outcome
from tacit.flow.summary import summary
from tacit.models import model_text
from tacit.training.run_reading import read_data, read_folder, read_setting, require
from tacit.training.runs import about_data, data_arrays
from tacit.values import BadInput, Dataset, Setting
from tacit.values.jsonable import plain

FORMAT = 1
NAME = "limit.json"
MOST_MOMENTS = 400
"""Moments kept of a path, the first and the last among them."""
MOST_NUMBERS = 10**7
"""Numbers kept of a path; of large networks fewer moments are kept."""


@dataclass(frozen=True, eq=False)
class SavedPath:
    """T moments of one network's path; see `flow.follow.Moment`."""

    s: np.ndarray
    log_t: np.ndarray
    log_L: np.ndarray
    W: np.ndarray
    """T × m × d."""
    a: np.ndarray
    """T × m."""
    side: np.ndarray
    """m × walls, at the last moment."""


@dataclass(frozen=True, eq=False)
class SavedLimits:
    """What a folder holds: one entry per network in each of the tuples."""

    setting: Setting
    data: Dataset
    seed: int
    outcomes: tuple[str, ...]
    limits: tuple[tuple[np.ndarray, np.ndarray] | None, ...]
    """W and a of the limit; None where the path has none."""
    paths: tuple[SavedPath, ...]
    summary: dict[str, Any]

    @property
    def members(self) -> list[tuple[int, int | None]]:
        """(seed, class) of every network."""
        return [(self.seed, None if self.data.binary else k) for k in range(len(self.paths))]

    @property
    def weights(self) -> dict[str, list[np.ndarray]]:
        """The weights of the limits, or those of the last moment where there is none."""
        pairs = [
            limit if limit is not None else (path.W[-1], path.a[-1])
            for limit, path in zip(self.limits, self.paths, strict=True)
        ]
        return {"W": [W for W, _ in pairs], "a": [a for _, a in pairs]}

    @property
    def whats(self) -> list[str]:
        """What each of the weights are, in words."""
        return [
            "the limit" if limit is not None else f"the last moment of the path ({outcome})"
            for limit, outcome in zip(self.limits, self.outcomes, strict=True)
        ]


def save(found: Sequence[Limit], data: Dataset, path: str | Path, force: bool = False) -> None:
    """Write the folder of the limits on this data; an older one is replaced only with `force`."""
    arrays = data_arrays(data)
    kept = [_thinned(one) for one in found]
    for name in ("W", "a"):
        arrays[f"limit.{name}"] = np.stack(
            [
                getattr(one, name)
                if one.outcome == "converged"
                else np.zeros_like(getattr(one.path.last.state, name))
                for one in found
            ]
        )
    arrays["path.length"] = np.array([len(part.s) for part in kept])
    for name in ("s", "log_t", "log_L", "W", "a"):
        arrays[f"path.{name}"] = np.concatenate([getattr(part, name) for part in kept])
    arrays["side"] = np.stack([part.side for part in kept])
    about = {
        "tacit": tacit.__version__,
        "format": FORMAT,
        "setting": found[0].setting.to_dict(),
        "data": about_data(data),
        "seed": found[0].seed,
        "outcomes": [one.outcome for one in found],
        "summary": summary(found, data),
    }
    text = json.dumps(plain(about), indent=1, allow_nan=False)
    write_folder(path, {NAME: text.encode(), "arrays.npz": npz_bytes(arrays)}, force)


def _thinned(found: Limit) -> SavedPath:
    moments = found.path.moments
    state = found.path.last.state
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
        and all(outcome in get_args(Outcome) for outcome in outcomes),
        f"its outcomes are {outcomes!r}",
    )
    require(isinstance(about["summary"], dict), "its summary is no object")
    paths = _paths(arrays, len(outcomes), setting.width, data)
    limits = _weights(arrays, outcomes, setting.width, data.d)
    return SavedLimits(setting, data, seed, tuple(outcomes), limits, paths, about["summary"])


def _weights(
    arrays: dict[str, np.ndarray], outcomes: list[str], m: int, d: int
) -> tuple[tuple[np.ndarray, np.ndarray] | None, ...]:
    W = _array(arrays, "limit.W", (len(outcomes), m, d))
    a = _array(arrays, "limit.a", (len(outcomes), m))
    for k, outcome in enumerate(outcomes):
        there = bool(W[k].any() and a[k].any())
        require(
            there == (outcome == "converged"),
            f"network {k} is {outcome} and has {'a' if there else 'no'} limit",
        )
    return tuple((W[k], a[k]) if W[k].any() else None for k in range(len(outcomes)))


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
        f"its sides have shape {side.shape} of {side.dtype}, not ({networks}, {m}, walls) of int8 "
        "in −1, 0, 1",
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
