"""What several tests use."""

import json
import math
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.certificates import KKT, two_layer_kkt
from tacit.data import load
from tacit.values import BadInput, Dataset, Network


def refused(call: object, *words: str) -> str:
    """The one line with which `call` is refused; it holds all the words."""
    with pytest.raises(BadInput) as caught:
        call()  # type: ignore[operator]
    line = str(caught.value)
    assert "\n" not in line
    for word in words:
        assert word in line
    return line


def kkt_of(
    W: Any,
    a: Any,
    X: Any,
    y: Any,
    alpha: float,
    train: Any = "both",
    boundary: float = 1e-9,
) -> KKT:
    """The KKT certificate of plain arrays."""
    network = Network(W, a, alpha)
    return two_layer_kkt(Dataset(X, y), network, train=train, boundary=boundary)


def rest_long(cases: Iterable[Any], quick: Collection[Any]) -> list[Any]:
    """All cases for `parametrize`; those that are not among the quick ones are long."""
    every = list(cases)
    assert all(case in every for case in quick)
    return [
        case if case in quick else pytest.param(*_parts(case), marks=pytest.mark.long)
        for case in every
    ]


def _parts(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)


def with_packages(*folders: Path) -> dict[str, str]:
    """The environment of a process that finds the packages in these folders before all others."""
    before = [path for path in (os.environ.get("PYTHONPATH"),) if path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, folders), *before])}


def spoil(path: Path, seed: int, how: str) -> None:
    """Damage a file at a random place: flip, cut, insert or remove."""
    rng = np.random.default_rng(seed)
    content = bytearray(path.read_bytes())
    at = int(rng.integers(len(content)))
    if how == "flip":
        content[at] = int(rng.integers(256))
    elif how == "cut":
        del content[at:]
    elif how == "insert":
        content[at:at] = rng.bytes(int(rng.integers(1, 9)))
    else:
        del content[at : at + int(rng.integers(1, 9))]
    path.write_bytes(content)


def symmetric_start(
    size: float, seed: int = 0, m: int = 6, d: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X, y, W, a: symmetric data in the unit ball and initial weights with √m ‖θ₀‖_M = size."""
    data = load(f"symmetric:n=10,d={d},seed={seed}")
    X = data.X / np.linalg.norm(data.X, axis=1).max()
    rng = np.random.default_rng(seed)
    W, a = rng.normal(size=(m, d)), rng.normal(size=m)
    largest = max(np.linalg.norm(W, axis=1).max(), np.abs(a).max())
    scale = size / largest / math.sqrt(m)
    return X, data.y, scale * W, scale * a


def safetensors(arrays: dict[str, tuple[str, np.ndarray]], **change: Any) -> bytes:
    """A .safetensors file as the format's page describes it; `change` alters fc1.weight's entry."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, (kind, array) in arrays.items():
        data = array.tobytes()
        offsets = [len(body), len(body) + len(data)]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": offsets}
        body += data
    for name, part in change.items():
        header["fc1.weight"][name] = part
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body
