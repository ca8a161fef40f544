"""Limits and the paths to them on disk.

A folder with `limit.json` (setting, results and what was measured along the paths) and `arrays.npz`
(data, limits, moments of the paths), written whole or not at all, and read without trusting it. A
limit that is loaded has the `to_dict()` and the pictures of the one that was saved; of a long path
it has some of the moments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import tacit
from tacit.certificates import KKT, Certificate, ProvedEnd
from tacit.files import npz_bytes, path_of, write_folder
from tacit.flow.early import Early
from tacit.flow.ending import SMALLEST
from tacit.flow.hyperplanes import Hyperplanes, hyperplanes_of
from tacit.flow.limits import Limit, Limits
from tacit.flow.path import Moment, Path
from tacit.flow.path_measures import Measures
from tacit.flow.saved_path import SavedEvents, SavedMoments
from tacit.messages import require
from tacit.models import model_text
from tacit.training.run_reading import read_data, read_folder
from tacit.training.runs import about_data, data_arrays
from tacit.values import BadInput, Dataset, Group, Network, Outcome, Setting
from tacit.values.arguments import MOST_SEED
from tacit.values.jsonable import agree, json_bytes, plain
from tacit.values.saved_form import from_saved, to_saved

FORMAT = 6
NAME = "limit.json"
MOST_MOMENTS = 400
"""Moments kept of a path, the first and the last among them."""
MOST_NUMBERS = 10**7
"""Numbers kept of a path; of large networks fewer moments are kept."""


@dataclass(frozen=True, eq=False)
class SavedLimit:
    """What the JSON holds of one network; see `Limit`."""

    outcome: Outcome
    reason: str
    path: Path
    """Without its moments and events."""
    events: SavedEvents
    errors: np.ndarray | None
    """Of the last moment."""
    groups: tuple[Group, ...]
    kkt: KKT | None
    certificate: Certificate | None
    proved: ProvedEnd | None
    approach: np.ndarray
    fitted_rate: float | None
    seconds: float
    measures: Measures
    """Of all moments."""
    early: dict[str, Any] | None
    """The fields of `Early`, without its end."""
    early_end: SavedMoments | None

    @classmethod
    def of(cls, limit: Limit) -> SavedLimit:
        """What is kept of a limit, beside its arrays."""
        early = limit.early_phase
        return cls(
            limit.outcome,
            limit.reason,
            replace(limit.path, moments=[], events=[]),
            SavedEvents.of(limit.path.events),
            limit.path.last.errors,
            limit.groups,
            limit.kkt,
            limit.certificate,
            limit.proved,
            limit.approach,
            limit.fitted_rate,
            limit.seconds,
            limit.measures,
            None if early is None else {**vars(early), "end": None},
            None if early is None else SavedMoments.of([early.end]),
        )


def save(result: Limit | Limits, path: str | FilePath, force: bool = False) -> None:
    """Write the folder of a limit, or of several; an older one is replaced only with `force`."""
    write_folder(path, folder_files(result), force)


def folder_files(result: Limit | Limits) -> dict[str, bytes]:
    """The files of such a folder."""
    limits = result.each
    arrays = data_arrays(result.data)
    kept = [SavedMoments.of(_thinned(one)) for one in limits]
    ends = [
        one.network
        or Network(np.zeros_like(one.path.last.state.W), np.zeros_like(one.path.last.state.a))
        for one in limits
    ]
    arrays["limit.W"] = np.stack([network.W for network in ends])
    arrays["limit.a"] = np.stack([network.a for network in ends])
    arrays["path.length"] = np.array([len(part.s) for part in kept])
    for name in ("s", "log_t", "log_L", "beyond", "W", "a", "side"):
        arrays[f"path.{name}"] = np.concatenate([getattr(part, name) for part in kept])
    about = {
        "tacit": tacit.__version__,
        "format": FORMAT,
        "setting": limits[0].setting.to_dict(),
        "data": plain(about_data(result.data)),
        "seed": limits[0].seed,
        "interrupted": result.interrupted,
        "limits": [to_saved(SavedLimit.of(one), arrays) for one in limits],
        "summary": _summary(result.to_dict()),
    }
    return {NAME: json_bytes(about), "arrays.npz": npz_bytes(arrays)}


def _summary(result: dict[str, Any]) -> dict[str, Any]:
    """The result without what it says of each single neuron, which may be millions."""
    early = result["early"]
    short = {**result, "early": early and {k: early[k] for k in early if k != "cosines"}}
    if networks := result.get("networks"):
        short["networks"] = [_summary(one) for one in networks]
    return short


def _thinned(limit: Limit) -> list[Moment]:
    moments, state = limit.path.moments, limit.path.last.state
    numbers = state.W.size + state.a.size + state.side.size // 8
    most = min(MOST_MOMENTS, MOST_NUMBERS // numbers)
    if len(moments) <= most:
        return moments
    chosen = np.unique(np.linspace(0, len(moments) - 1, max(most, 2)).round().astype(int))
    return [moments[i] for i in chosen]


def load(path: str | FilePath) -> Limit | Limits:
    """Read such a folder; anything that is not exactly one is refused with what is wrong."""
    if not (path_of(path) / NAME).exists():
        raise BadInput(
            f"{path} is not a run folder with {NAME}; `tacit limit … --out FOLDER` writes one"
        )
    return read_folder(FilePath(path), NAME, _limits)


def _limits(about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Limit | Limits:
    require(about["format"] == FORMAT, f"its format is {about['format']!r}, not {FORMAT}")
    setting = Setting.from_dict(about["setting"])
    data = read_data(about["data"], arrays)
    largest = float(np.abs(data.X).max(initial=0.0))
    require(largest <= 1 / SMALLEST, f"its points have entries of {largest:.1e}")
    require(setting.two_layer, f"its model is {model_text(setting.model)}, not two_layer")
    seed, interrupted = about["seed"], about["interrupted"]
    require(type(seed) is int and 0 <= seed <= MOST_SEED, f"its seed is {seed!r}")
    require(type(interrupted) is bool, f"interrupted is {interrupted!r}")
    saved = from_saved(tuple[SavedLimit, ...], about["limits"], arrays)
    require(1 <= len(saved) <= max(len(data.classes), 1), f"it has {len(saved)} limits")
    networks = _networks(arrays, [one.outcome for one in saved], setting, data.d)
    parts = [data] if data.binary else [data.one_vs_rest(k) for k in range(len(saved))]
    planes = [hyperplanes_of(part.X, part.y, setting.alpha) for part in parts]
    kept = _moments(arrays, len(saved), setting.width, data, len(planes[0].e))
    limits = tuple(
        _limit(one, setting, part, seed, network, moments, its)
        for one, part, network, moments, its in zip(
            saved, parts, networks, kept, planes, strict=True
        )
    )
    result = limits[0] if data.binary else Limits(data, limits, interrupted)
    summaries = _summary(result.to_dict()), _summary(about["summary"])
    require(agree(*summaries), "its parts contradict each other")
    return result


def _limit(
    saved: SavedLimit,
    setting: Setting,
    data: Dataset,
    seed: int,
    network: Network | None,
    kept: SavedMoments,
    planes: Hyperplanes,
) -> Limit:
    both = setting.train == "both"
    moments = kept.moments(planes, both)
    for name, numbers, count in (
        ("errors", saved.errors, setting.width),
        ("weights", saved.path.weights, data.n),
    ):
        right = numbers is None or (numbers.shape == (count,) and bool((numbers >= 0).all()))
        require(right, f"the {name} of its last moment are not {count} numbers that are ≥ 0")
    moments[-1] = replace(moments[-1], errors=saved.errors)
    limit = Limit(
        setting=setting,
        data=data,
        seed=seed,
        outcome=saved.outcome,
        reason=saved.reason,
        path=replace(saved.path, moments=moments, events=saved.events.events(moments[-1].state)),
        groups=saved.groups,
        network=network,
        kkt=saved.kkt,
        certificate=saved.certificate,
        proved=saved.proved,
        approach=saved.approach,
        fitted_rate=saved.fitted_rate,
        seconds=saved.seconds,
    )
    early = None
    if saved.early is not None and saved.early_end is not None:
        (end,) = saved.early_end.moments(planes, both)
        early = Early(**{**saved.early, "end": end})
    # What was computed from all moments is not computed again from those that were kept.
    vars(limit).update(measures=saved.measures, early_phase=early)
    return limit


def _networks(
    arrays: dict[str, np.ndarray], outcomes: list[Outcome], setting: Setting, d: int
) -> tuple[Network | None, ...]:
    m = setting.width
    W = _array(arrays, "limit.W", (len(outcomes), m, d))
    a = _array(arrays, "limit.a", (len(outcomes), m))
    for k, outcome in enumerate(outcomes):
        there = bool(W[k].any() and a[k].any())
        require(
            there == outcome.settled,
            f"network {k} is {outcome} and has {'a' if there else 'no'} limit",
        )
    return tuple(
        Network(W[k], a[k], setting.alpha) if W[k].any() else None for k in range(len(outcomes))
    )


def _moments(
    arrays: dict[str, np.ndarray], networks: int, m: int, data: Dataset, planes: int
) -> list[SavedMoments]:
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
        "beyond": _array(arrays, "path.beyond", (total,), least=0.0),
        "W": _array(arrays, "path.W", (total, m, data.d)),
        "a": _array(arrays, "path.a", (total, m)),
        "side": arrays["path.side"],
    }
    side = parts["side"]
    require(
        side.dtype == np.int8
        and side.shape == (total, m, planes)
        and bool(np.isin(side, (-1, 0, 1)).all()),
        f"its sides have shape {side.shape} of {side.dtype}, not ({total}, {m}, {planes}) "
        "of int8 in −1, 0, 1",
    )
    cuts = np.cumsum(lengths)[:-1]
    split = {name: np.split(array, cuts) for name, array in parts.items()}
    kept = [
        SavedMoments(**{name: pieces[k] for name, pieces in split.items()}) for k in range(networks)
    ]
    for k, one in enumerate(kept):
        require(
            bool((np.diff(one.s) > 0).all() and (one.log_t[1:] >= one.log_t[:-1]).all()),
            f"the moments of path {k} are not in the order of time",
        )
    return kept


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
