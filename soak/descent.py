"""`descent.c`, compiled when it is first used."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).with_name("descent.c")


class NoCompiler(Exception):
    """There is none, or it did not take the source."""


@lru_cache
def compiled() -> ctypes.CDLL:
    """The function; what is compiled lies in a temporary folder that is gone afterwards."""
    compiler = os.environ.get("CC") or "cc"
    if shutil.which(compiler) is None:
        raise NoCompiler(f"no C compiler ('{compiler}')")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "descent.so"
        command = [compiler, "-O3", "-shared", "-fPIC", str(SOURCE), "-o", str(target), "-lm"]
        if subprocess.run(command, capture_output=True).returncode:
            raise NoCompiler(f"'{compiler}' does not compile descent.c")
        return ctypes.CDLL(str(target))


@dataclass(frozen=True)
class Descent:
    """Where gradient descent went."""

    kept: np.ndarray
    """The weights, all in one row, at each of the losses that were reached."""
    W: np.ndarray
    a: np.ndarray
    log_L: float


def descend(
    X: np.ndarray,
    y: np.ndarray,
    W: np.ndarray,
    a: np.ndarray,
    alpha: float,
    both: bool,
    exponential: bool,
    log_Ls: np.ndarray,
    part: float,
    most: int,
) -> Descent:
    """Descend by steps of `part` of the weights' length through the losses with these logarithms.

    In loss-normalised time a neuron grows at a rate of at most max‖x_i‖, so a step of a tenth of
    its inverse is short.
    """
    (n, d), m = X.shape, len(a)
    X, y, W, a = (np.array(value, dtype=np.float64, order="C") for value in (X, y, W, a))
    log_Ls = np.ascontiguousarray(log_Ls, dtype=np.float64)
    kept, end = np.zeros((max(len(log_Ls), 1), m * (d + 1))), ctypes.c_double()
    longest = 0.1 / max(float(np.linalg.norm(X, axis=1).max()), 1e-300)
    reached = compiled().descend(
        *map(ctypes.c_long, (n, d, m)), _at(X), _at(y), ctypes.c_double(alpha),
        ctypes.c_int(both), ctypes.c_int(exponential), ctypes.c_double(part),
        ctypes.c_double(longest), ctypes.c_long(most), _at(W), _at(a),
        ctypes.c_long(len(log_Ls)), _at(log_Ls), _at(kept), ctypes.byref(end),
    )  # fmt: skip
    return Descent(kept[:reached], W, a, end.value)


def _at(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
