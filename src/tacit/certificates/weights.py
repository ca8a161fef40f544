"""Networks to certify: those of a run, or of a file made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit.certificates.optima import Train
from tacit.files import read_npz
from tacit.models import model_text, parse_activation
from tacit.values import BadInput, Dataset, Setting
from tacit.values.text import near_miss

MOST_WEIGHTS = 1 << 30
"""Bytes read from a file of weights."""


@dataclass(frozen=True, eq=False)
class Network:
    """A two-layer network and the binary data it is held against."""

    name: str
    W: np.ndarray
    a: np.ndarray
    data: Dataset
    alpha: float
    train: Train

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.W, self.a, self.data.X, self.data.y


def networks_of_run(
    setting: Setting,
    data: Dataset,
    params: Mapping[str, Sequence[np.ndarray] | np.ndarray],
    members: Sequence[tuple[int, int | None]],
) -> list[Network]:
    """Every member of a run of two-layer networks."""
    if not setting.two_layer:
        raise BadInput(
            f"certify speaks of two_layer networks; this run trained {model_text(setting.model)} "
            "(tacit.certificates.kkt_homogeneous takes any homogeneous function)"
        )
    alpha = setting.alpha
    return [
        Network(
            f"seed {seed}" if k is None else f"{data.classes[k]} against the rest, seed {seed}",
            W,
            a,
            data if k is None else data.one_vs_rest(k),
            alpha,
            setting.train,
        )
        for (seed, k), W, a in zip(members, params["W"], params["a"], strict=True)
    ]


def networks_in_file(path: Path, data: Dataset, activation: str, train: Train) -> list[Network]:
    """The network with arrays W (m × d) and a (m) in a .npz file."""
    alpha = parse_activation(activation).alpha
    if not data.binary:
        names = ",".join(data.classes[:2])
        raise BadInput(f"weights W, a are one network; choose two classes, say --labels {names}")
    arrays = read_npz(path, most_bytes=MOST_WEIGHTS)
    for name in ("W", "a"):
        if name not in arrays:
            hint = near_miss(name, arrays)
            raise BadInput(f"{path} has no array '{name}'; it needs W (m × d) and a (m){hint}")
    W, a = arrays["W"], arrays["a"]
    for name, array in (("W", W), ("a", a)):
        if array.dtype.kind not in "iuf":
            raise BadInput(f"{path}: array '{name}' holds {array.dtype}, not real numbers")
    if W.ndim != 2 or W.shape[1] != data.d:
        raise BadInput(f"{path}: W has shape {W.shape}; the data needs (m, {data.d})")
    return [Network(path.name, W, a, data, alpha, train)]
