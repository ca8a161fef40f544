"""The layers inside of a JAX function, read off the program that JAX makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tacit._jax import float64

VIEWS = {"transpose", "convert_element_type", "reshape", "broadcast_in_dim", "squeeze", "copy"}
"""Operations after which a parameter is still that parameter."""
BENT = {"tanh", "logistic", "erf", "erfc", "exp", "log", "log1p", "sqrt", "rsqrt", "sin", "cos"}
"""Operations φ without φ(cz) = cφ(z) that activations and normalisations are made of."""
INNER = ("jaxpr", "call_jaxpr", "fun_jaxpr")
"""Where an operation that calls a program keeps it."""


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

    def run(self, jaxpr: Any, consts: Any, given: list[Any], marks: list[Any]) -> tuple[Any, Any]:
        values: dict[Any, Any] = {}
        known: dict[Any, Any] = {}
        for names, arrays in ((jaxpr.constvars, consts), (jaxpr.invars, given)):
            values.update(zip(names, arrays, strict=True))
        known.update(zip(jaxpr.invars, marks, strict=True))

        def value(one: Any) -> Any:
            return one.val if hasattr(one, "val") else values[one]

        def mark(one: Any) -> Any:
            return None if hasattr(one, "val") else known.get(one)

        for eqn in jaxpr.eqns:
            inputs, input_marks = [value(v) for v in eqn.invars], [mark(v) for v in eqn.invars]
            inner = next((eqn.params[key] for key in INNER if key in eqn.params), None)
            if inner is not None and eqn.primitive.name not in ("scan", "while", "cond"):
                inside = getattr(inner, "jaxpr", inner)
                consts_in = getattr(inner, "consts", ())
                made, made_marks = self.run(inside, consts_in, inputs, input_marks)
            else:
                bound = eqn.primitive.get_bind_params(eqn.params)
                functions, options = bound if isinstance(bound, tuple) else ((), bound)
                made = eqn.primitive.bind(*functions, *inputs, **options)
                made = list(made) if eqn.primitive.multiple_results else [made]
                made_marks = [self._mark(eqn, input_marks, made[0])] + [None] * (len(made) - 1)
            values.update(zip(eqn.outvars, made, strict=True))
            known.update(zip(eqn.outvars, made_marks, strict=True))
        return [value(v) for v in jaxpr.outvars], [mark(v) for v in jaxpr.outvars]

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
        marks = [_View(i) for i in range(len(leaves))] + [None]
        reader.run(closed.jaxpr, closed.consts, [*leaves, x], marks)
        keys[:] = reader.keys
        return reader.values

    with float64() as jax:
        rows = jax.vmap(one)(X)
    each = zip(keys, rows, strict=True)
    return [(key, np.asarray(z).reshape(-1, _units(leaves, key))) for key, z in each]


def _units(leaves: list[Any], key: LayerKey) -> int:
    shape = leaves[key.weight].shape
    return shape[int(key.transposed)] if len(shape) == 2 else 1


def bent_primitives(
    f: Callable[[list[Any], Any], Any], leaves: list[Any], x: np.ndarray
) -> list[str]:
    """Operations in the program that are not homogeneous, by name."""
    names: dict[str, None] = {}

    def walk(jaxpr: Any) -> None:
        for eqn in jaxpr.eqns:
            names.setdefault(eqn.primitive.name)
            for inner in eqn.params.values():
                inside = getattr(inner, "jaxpr", inner)
                if hasattr(inside, "eqns"):
                    walk(inside)

    with float64() as jax:
        walk(jax.make_jaxpr(f)(leaves, x).jaxpr)
    return [f"the operation {name}" for name in names if name in BENT]
