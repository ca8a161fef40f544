"""The layers inside of a JAX function, read off the program that JAX makes of it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tacit._jax import float64
from tacit.probing.jax_programs import Pair, bound, interpreted

VIEWS = {"transpose", "convert_element_type", "reshape", "broadcast_in_dim", "squeeze", "copy"}
"""Operations after which a parameter is still that parameter."""


class LayerKey(NamedTuple):
    """A matrix by the number of its leaf; whether units are its columns; the leaf of its bias."""

    weight: int
    transposed: bool
    bias: int | None


class _View(NamedTuple):
    """A parameter as it is, or transposed."""

    leaf: int
    flipped: bool = False


class _Made(NamedTuple):
    """The outputs of a layer, before its bias is added or after."""

    layer: int


class _Reader:
    """Runs a program and keeps the outputs of its layers."""

    def __init__(self, leaves: list[Any]) -> None:
        self.leaves = leaves
        self.keys: list[LayerKey] = []
        self.values: list[Any] = []

    def compute(self, eqn: Any, given: list[Pair], inside: str) -> list[Pair]:
        """Arrays with their marks."""
        made = bound(eqn)(*(array for array, _ in given))
        marks = [self._mark(eqn, [mark for _, mark in given], made[0])] + [None] * (len(made) - 1)
        return list(zip(made, marks, strict=True))

    def _mark(self, eqn: Any, marks: list[Any], made: Any) -> Any:
        name = eqn.primitive.name
        views = [one for one in marks if isinstance(one, _View)]
        layers = [one.layer for one in marks if isinstance(one, _Made)]
        if name in VIEWS and len(marks) == 1:
            turned = name == "transpose" and eqn.params["permutation"] == (1, 0)
            return views[0]._replace(flipped=not views[0].flipped) if views and turned else marks[0]
        if name == "dot_general" and len(views) == 1 and self.leaves[views[0].leaf].ndim <= 2:
            return self._layer(eqn, views[0], marks.index(views[0]), made)
        if name in ("add", "add_any") and layers and views:
            key = self.keys[layers[0]]
            if key.bias is None:
                self.keys[layers[0]] = key._replace(bias=views[0].leaf)
                self.values[layers[0]] = made
                return _Made(layers[0])
        return None

    def _layer(self, eqn: Any, view: _View, side: int, made: Any) -> Any:
        """Units are on the axis of the matrix that is not summed over."""
        contracted = eqn.params["dimension_numbers"][0][side]
        shape = eqn.invars[side].aval.shape
        if len(contracted) != 1 or len(shape) != self.leaves[view.leaf].ndim:
            return None
        columns = len(shape) == 2 and (contracted[0] == 0) != view.flipped
        self.keys.append(LayerKey(view.leaf, columns, None))
        self.values.append(made)
        return _Made(len(self.keys) - 1)


def layer_outputs(
    f: Callable[[list[Any], Any], Any], leaves: list[Any], X: np.ndarray
) -> list[tuple[LayerKey, np.ndarray]]:
    """Every product with a matrix, its bias added; rows are examples, or places in them."""
    with float64() as jax:
        closed = jax.make_jaxpr(f)(leaves, X[0])
    keys: list[LayerKey] = []

    def one(x: Any) -> list[Any]:
        reader = _Reader(leaves)
        given = [*((leaf, _View(i)) for i, leaf in enumerate(leaves)), (x, None)]
        interpreted(closed.jaxpr, closed.consts, given, reader.compute)
        keys[:] = reader.keys
        return reader.values

    with float64() as jax:
        rows = jax.vmap(one)(X)
    each = zip(keys, rows, strict=True)
    return [(key, np.asarray(z).reshape(-1, _units(leaves, key))) for key, z in each]


def _units(leaves: list[Any], key: LayerKey) -> int:
    shape = leaves[key.weight].shape
    return shape[int(key.transposed)] if len(shape) == 2 else 1
