"""Numba is imported here alone: functions on arrays, compiled when they are first called.

Importing this module imports Numba (half a second), so modules with compiled functions are imported
where they are used. Numba keeps what it compiled beside the source and notices when that file
changes, not when a file changes whose functions it calls: functions that call each other are best
kept in one file. With NUMBA_DISABLE_JIT=1 everything runs as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.event import install_timer

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function; it holds no lock while it runs, and divides by zero as NumPy does.

    Sums may be taken in any order, as NumPy does too: without that they would not be vectorised,
    and take four times as long.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc"}}
    try:
        made = njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written to: compiled anew by each process
        made = njit(**options)(function)
    return cast(Function, made)


def seconds_compiling(call: Callable[[], object]) -> float:
    """Call it, and tell for how long Numba compiled: not at all where it loads from disk.

    Compiling happens once, and is no part of the time that a computation is given.
    """
    spent: list[float] = []
    with install_timer("numba:compile", spent.append):
        call()
    return sum(spent)
