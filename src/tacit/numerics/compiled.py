"""The one door to Numba: functions on arrays, compiled when they are first called.

Importing this module imports Numba (half a second), so modules with compiled functions are imported
where they are used. Numba keeps what it compiled beside the source and notices when that file
changes, not when a file changes whose functions it calls: functions that call each other are best
kept in one file. With NUMBA_DISABLE_JIT=1 everything runs as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function; it holds no lock while it runs, and divides by zero as NumPy does."""
    try:
        made = njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # no folder can be written to: compiled anew by each process
        made = njit(nogil=True, error_model="numpy")(function)
    return cast(Function, made)
