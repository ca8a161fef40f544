"""`kernels.c`, compiled when it is asked for, and called with the weights that `train_many` has."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from tacit import Dataset, Setting
from tacit.models import ConvMaxPool
from tacit.models.initialisations import initial_weights
from tacit.training import orders as sgd_orders
from tacit.training.backends import blocks
from tacit.training.rules import parse_descent

SOURCE = Path(__file__).with_name("kernels.c")
FLAGS = ("-O3", "-march=native")

Weights = dict[str, np.ndarray]


class NoCompiler(Exception):
    """There is none, or it did not take the source."""


@lru_cache
def compiled(lanes: int = 8) -> ctypes.CDLL:
    """The kernels; what is compiled lies in a temporary folder that is gone afterwards."""
    compiler = os.environ.get("CC") or "cc"
    if shutil.which(compiler) is None:
        raise NoCompiler(f"no C compiler ('{compiler}')")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "kernels.so"
        for flags in (FLAGS, FLAGS[:1]):  # not every compiler knows -march
            command = [compiler, *flags, f"-DL={lanes}", "-shared", "-fPIC", str(SOURCE)]
            command += ["-o", str(target), "-lm"]
            if subprocess.run(command, capture_output=True).returncode == 0:
                return ctypes.CDLL(str(target))
    raise NoCompiler(f"'{compiler}' does not compile kernels.c")


def orders(seeds: Sequence[int], epochs: int, n: int) -> np.ndarray:
    """The orders of the examples that `train_many` has: seeds × epochs × n."""
    chapters = range(-(-epochs // sgd_orders.epochs_at_once(n)))
    drawn = [np.concatenate([sgd_orders.orders(s, c, n) for c in chapters]) for s in seeds]
    return np.ascontiguousarray(np.stack([one[:epochs] for one in drawn]), np.int32)


def prepare(
    setting: Setting, data: Sequence[Dataset], epochs: int, seeds: Sequence[int]
) -> Callable[[], Weights]:
    """A function that trains as `train_many` does, from the same weights in the same orders."""
    kernels = compiled(4 if setting.width <= 4 else 8)
    n, d, m, runs = data[0].n, data[0].d, setting.width, len(seeds)
    model = setting.model
    drawn = [initial_weights(model, d, m, setting.init, seed) for seed in seeds]
    begin = {part: np.stack([np.asarray(one[part], float) for one in drawn]) for part in drawn[0]}
    X = np.stack([one.X for one in data])
    y = np.stack([one.y for one in data]).astype(float)
    sgd = setting.rule == "sgd"
    order = orders(seeds, epochs, n) if sgd else None
    sizes = [ctypes.c_long(number) for number in (runs, n, d, m)]

    def train() -> Weights:
        weights = {part: array.copy() for part, array in begin.items()}
        W, a = at(weights["W"]), at(weights["a"])
        rate, whole = ctypes.c_double(setting.lr), ctypes.c_long(epochs)
        if isinstance(setting.model, ConvMaxPool):
            kernels.conv_max_pool(*sizes, at(X), at(y), whole, rate, W, a)
            return weights
        batch = (setting.batch or 1) if sgd else n
        in_blocks = blocks.suits(parse_descent(setting, n), d)
        kernel = kernels.one_by_one if in_blocks else kernels.two_layer
        rows = ctypes.c_long(blocks.BLOCK if in_blocks else batch)
        both = ctypes.c_int(setting.train != "first")
        kernel(*sizes, at(X), at(y), None if order is None else at(order), whole, rows, rate, both,
               W, a)  # fmt: skip
        return weights

    return train


def at(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def difference(ours: Weights, theirs: Weights) -> float:
    """The largest difference of two sets of weights, relative to the largest weight."""
    return max(
        float(np.abs(ours[part] - theirs[part]).max() / np.abs(theirs[part]).max()) for part in ours
    )
