"""Numba is imported here alone: functions on arrays, compiled when they are first called.

Importing this module imports Numba (half a second), so modules with compiled functions are imported
where they are used. Numba keeps what it compiled beside the source and notices by itself when that
file changes, but not when a file changes whose functions it calls; here it is also held against the
files `_*.py` of the same folder, which compiled functions may call, and its `tolerances.py`, whose
values become part of them. With NUMBA_DISABLE_JIT=1 everything runs as plain Python. Several
processes may compile at once (`_DataFiles`).
"""

import warnings
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from tacit.messages import BadInput

with warnings.catch_warnings():  # a NUMBA_… of the environment that Numba cannot read
    warnings.filterwarnings("error", "Environment variable", RuntimeWarning)
    try:
        from numba import njit
        from numba.core.caching import IndexDataCacheFile
        from numba.core.event import install_timer
    except RuntimeWarning as warning:
        raise BadInput(str(warning).partition("\n")[0]) from None

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function; it holds no lock while it runs, and divides by zero as NumPy does.

    Sums may be taken in any order, as NumPy does too: without that they would not be vectorised,
    and take four times as long.
    """
    return _compiled(function, {"reassoc"})


def compiled_in_place(function: Function) -> Function:
    """The same for a function that makes no array and returns none: it counts no references.

    Numba counts them for every row of an array that it looks at, and locks the bus for it: that
    takes longer than what is done with a short row.
    """
    return _compiled(function, {"reassoc"}, _nrt=False)


def compiled_as_written(function: Function) -> Function:
    """The same for a function that reckons with its own rounding errors: nothing is reordered."""
    return _compiled(function, False)


def _compiled(function: Function, fastmath: set[str] | bool, _nrt: bool = True) -> Function:
    # Said of every function, or what is called takes it from its caller.
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    options["_nrt"] = _nrt
    try:
        made = njit(cache=True, **options)(function)
        if made is not function:
            file = made._cache._cache_file
            file.__class__ = _DataFiles
            file._source_stamp = stamp(Path(function.__code__.co_filename))
            # Held against before the rest is read, which may name classes that are gone.
            file._version += file._source_stamp
    except (RuntimeError, AttributeError):  # no folder can be written to, or Numba has changed:
        made = njit(**options)(function)  # compiled anew by each process
    return cast(Function, made)


class _DataFiles(IndexDataCacheFile):
    """What is compiled, one file per signature, by as many processes at once as there may be.

    Numba numbers these files in the order of an index that it writes before them: two processes may
    give one number to two signatures, and a third one would read a file that is not written anew
    yet, so that old code runs, or that of other types. Here the signature itself makes the number,
    and the file is there before the index tells of it.
    """

    def save(self, key: object, data: object) -> None:
        index = self._load_index()
        number = int(sha256(repr(key).encode()).hexdigest()[:12], 16)
        while index.get(key) is None and self._data_name(number) in index.values():
            number += 1
        name = index.get(key) or self._data_name(number)
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


@cache
def stamp(file: Path) -> str:
    """What changes with the text of the file, of files `_*.py` beside it and of `tolerances.py`."""
    files = sorted({file, *file.parent.glob("_*.py"), file.parent / "tolerances.py"})
    return sha256(b"".join(path.read_bytes() for path in files if path.is_file())).hexdigest()


def seconds_compiling(call: Callable[[], object]) -> float:
    """Call it, and tell for how long Numba compiled: not at all where it loads from disk.

    Compiling happens once, and is no part of the time that a computation is given.
    """
    spent: list[float] = []
    with install_timer("numba:compile", spent.append):
        call()
    return sum(spent)
