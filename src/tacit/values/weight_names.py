"""Which arrays of a file of weights are the two layers, and which their biases.

Understood are W, a and b, layers by number (W1, b1, W2, b2), and what PyTorch (`fc1.weight`,
`fc1.bias`) and Keras (`dense.kernel`) call them; Keras has matrices the other way round.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tacit.messages import BadInput, near_miss

_LAYER = re.compile(r"(?P<stem>.*)\.(?P<kind>weight|kernel|bias)|(?P<letter>[Wwb])(?P<number>\d+)")
NEEDED = (
    "it needs W (m × d) and a (m), or two layers such as fc1.weight (m × d), fc2.weight (1 × m)"
)


class TwoLayers(NamedTuple):
    """The arrays of f(x) = Σ_k a_k φ(w_k·x + b_k) + c; a bias is None where the file has none."""

    W: np.ndarray
    a: np.ndarray
    b: np.ndarray | None
    c: np.ndarray | None


def two_layers(arrays: Mapping[str, np.ndarray], where: str) -> TwoLayers:
    """The arrays as layers; BadInput for those that are not understood."""
    for name, array in arrays.items():
        if array.dtype.kind not in "iuf":
            raise BadInput(f"{where}: array '{name}' holds {array.dtype}, not real numbers")
    if {"W", "a"} & set(arrays):
        matrices, biases = [arrays.get("W"), arrays.get("a")], [arrays.get("b"), None]
        others = set(arrays) - {"W", "a", "b"}
    else:
        matrices, biases, others = _by_layer(arrays)
    if len(matrices) != 2 or any(matrix is None for matrix in matrices):
        absent = [f"array '{name}'" for name in ("W", "a") if name not in arrays]
        missing = absent[0] if len(absent) == 1 else "two layers"
        hint = "; name two of them, `layers=fc1,fc2`" if len(matrices) > 2 else ""
        raise BadInput(f"{where} has no {missing}; {NEEDED}; there are: {_shapes(arrays)}{hint}")
    if others:
        raise BadInput(
            f"{where} has arrays that are not understood: {', '.join(sorted(others))}; {NEEDED}"
        )
    both = _in_order(matrices, biases)
    if both is None and "W" not in arrays:  # names need not be in the order of the layers
        both = _in_order(matrices[::-1], biases[::-1])
    if both is None:
        raise BadInput(f"{where}: the shapes do not fit; {NEEDED}; there are: {_shapes(arrays)}")
    return both


def chosen(
    arrays: Mapping[str, np.ndarray], layers: Sequence[str], where: str
) -> dict[str, np.ndarray]:
    """The arrays of two layers, numbered in the order in which these are named."""
    if len(layers) != 2:
        raise BadInput(f"`layers={','.join(layers)}` names {len(layers)}; a network has two")
    mapped: dict[str, np.ndarray] = {}
    for number, layer in enumerate(layers, 1):
        parts = {name: name.removeprefix(f"{layer}.") for name in arrays}
        mine = {k: p for k, p in parts.items() if p != k and p in ("weight", "kernel", "bias")}
        if not mine:
            stems = dict.fromkeys(name.rpartition(".")[0] or name for name in arrays)
            raise BadInput(f"{where} has no layer '{layer}'{near_miss(layer, list(stems))}")
        mapped |= {f"{number}.{part}": arrays[name] for name, part in mine.items()}
    return mapped


def _by_layer(
    arrays: Mapping[str, np.ndarray],
) -> tuple[list[np.ndarray | None], list[np.ndarray | None], set[str]]:
    """Matrices and biases of layers whose names share a stem, in the order of their numbers."""
    matrices: dict[str, np.ndarray] = {}
    biases: dict[str, np.ndarray] = {}
    others: set[str] = set()
    for name, array in arrays.items():
        match = _LAYER.fullmatch(name)
        if match is None:
            others.add(name)
            continue
        stem = match["stem"] if match["kind"] else match["number"]
        kind = biases if match["kind"] == "bias" or match["letter"] == "b" else matrices
        if stem in kind:
            others.add(name)
        kind[stem] = array.T if match["kind"] == "kernel" else array
    others |= {f"bias of {stem}" for stem in set(biases) - set(matrices)}
    numbers = {stem: [int(part) for part in re.findall(r"\d+", stem)] for stem in matrices}
    order = sorted(matrices, key=lambda stem: (numbers[stem], stem))
    return [matrices[stem] for stem in order], [biases.get(stem) for stem in order], others


def _in_order(
    matrices: list[np.ndarray | None], biases: list[np.ndarray | None]
) -> TwoLayers | None:
    """These as the first and the second layer, if their shapes fit; W may lie the other way."""
    W, a = np.asarray(matrices[0]), np.asarray(matrices[1])
    b, c = biases
    if W.ndim != 2 or a.ndim not in (1, 2) or (a.ndim == 2 and 1 not in a.shape):
        return None
    a = a.ravel()
    if len(a) != len(W) and len(a) == W.shape[1]:
        W = W.T
    if b is not None and c is None and b.size == 1 < len(a):
        b, c = None, b
    fits = len(a) == len(W) and (b is None or b.size == len(a)) and (c is None or c.size == 1)
    return TwoLayers(W, a, None if b is None else b.ravel(), c) if fits else None


def _shapes(arrays: Mapping[str, np.ndarray]) -> str:
    return ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "none"
