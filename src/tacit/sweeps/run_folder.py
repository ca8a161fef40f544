"""A run folder: run.json (the run and its values) and arrays.npz (its weights, if asked for).

It is read without trusting it: it is the run with the key that is asked for, unaltered, or one line
says what is wrong.
"""

import functools
import hashlib
import json
import os
import platform
import stat
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tacit
from tacit.files import npz_bytes, open_regular
from tacit.sweeps.index import IndexRow
from tacit.sweeps.planned_run import FORMAT, PlannedRun, RunResult
from tacit.values import BadInput
from tacit.values.jsonable import plain

MOST_BYTES = 64 << 20
"""The size of a run.json, at most."""
NEEDED = {"values": dict, "reason": str, "seconds": float, "device": str, "arrays": int}


def files(run: PlannedRun, result: RunResult) -> dict[str, bytes]:
    """The files of the folder."""
    arrays = npz_bytes(result.arrays) if result.arrays else b""
    about = {
        "format": FORMAT,
        "tacit": tacit.__version__,
        "run": run.to_dict(),
        "values": plain(result.values),
        "reason": result.reason,
        "seconds": float(result.seconds),
        "device": result.device,
        "arrays": len(arrays),
        "versions": _versions(),
    }
    about["hash"] = _hash(about)
    text = json.dumps(about, indent=1, ensure_ascii=False, allow_nan=False)
    return {"run.json": text.encode(), **({"arrays.npz": arrays} if arrays else {})}


def read(folder: Path, key: str, row: IndexRow | None = None) -> tuple[RunResult, IndexRow]:
    """The result, without its arrays, and the row for the index; `row` saves reading if it is of
    the file that is there. FileNotFoundError if there is no folder, BadInput if it is broken."""
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        raise BadInput("it is a link or a file, not a folder")
    try:
        now = os.lstat(folder / "run.json")
    except FileNotFoundError:
        raise BadInput("it holds no run.json") from None
    if not stat.S_ISREG(now.st_mode):
        raise BadInput("its run.json is not a plain file")
    if row is None or (row.time, row.size) != (now.st_mtime_ns, now.st_size):
        with open_regular(folder / "run.json", MOST_BYTES) as file:
            needed = _checked(file.read(), key)
        text = json.dumps(needed, ensure_ascii=False, allow_nan=False)
        row = IndexRow(now.st_mtime_ns, now.st_size, text)
    about = json.loads(row.text)
    arrays = about.pop("arrays")
    if arrays and _size(folder / "arrays.npz") != arrays:
        raise BadInput("its arrays.npz is missing or cut off")
    return RunResult(**about, folder=folder.name), row


def _checked(data: bytes, key: str) -> dict[str, Any]:
    """What is needed of a run.json that is whole and of the run with this key."""

    def refuse(constant: str) -> None:
        raise ValueError(f"it holds {constant}")

    try:
        about = json.loads(data, parse_constant=refuse)
        right = about.pop("hash") == _hash(about)
        said = {"format": about["format"], "tacit": about["tacit"], **about["run"]}
        right &= _hash(said)[:32] == key
        needed = {name: about[name] for name in NEEDED}
        right &= all(type(needed[name]) is kind for name, kind in NEEDED.items())
        right &= all(map(_is_value, needed["values"].values()))
    except KeyError as error:
        raise BadInput(f"its run.json has no {error}") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise BadInput(f"its run.json is broken: {reason}") from None
    if not right:
        raise BadInput("its run.json is of another run, or altered")
    return needed


def _hash(said: Mapping[str, Any]) -> str:
    """The hash as `PlannedRun.key` computes it."""
    text = json.dumps(said, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _is_value(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_value, value))
    return value is None or isinstance(value, int | float | str)


def _size(path: Path) -> int:
    try:
        about = os.lstat(path)
    except OSError:
        return -1
    return about.st_size if stat.S_ISREG(about.st_mode) else -1


@functools.cache
def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), "numpy": version("numpy"), "jax": version("jax")}
