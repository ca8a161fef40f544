"""A JAX function with parameters as `probe` sees it: Equinox modules, Flax variables, plain trees.

Everything runs in float64, in this thread alone: who trains in float32 goes on in float32.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np

from tacit._jax import float64
from tacit.messages import printable
from tacit.probing.differentiable import DenseLayer, Differentiable, as_rows, running
from tacit.probing.examples import as_array
from tacit.probing.jax_layers import LayerKey, layer_outputs
from tacit.probing.jax_operations import broken_operations
from tacit.values import BadInput

GIVE = (
    "give (f, params) with f(params, x) for one example or f(params, X) for a batch, a Flax module "
    "with its variables, or an Equinox module"
)


class JaxModel(Differentiable):
    """A function of parameters in float64 and one example."""

    def __init__(self, model: Any, example: Any) -> None:
        apply, params, fixed = _split(model)
        self.name = getattr(apply, "__name__", None) or type(apply).__name__
        if not isinstance(model, tuple):
            self.name = type(model).__name__
        elif hasattr(model[0], "apply"):
            self.name = type(model[0]).__name__
        self.name = printable(self.name)
        with float64() as jax, running(example):
            paths, tree = jax.tree_util.tree_flatten_with_path(params)
            values = [leaf for _, leaf in paths]
            trained = [i for i, leaf in enumerate(values) if _is_real(leaf)]
            names = [jax.tree_util.keystr(paths[i][0], simple=True, separator=".") for i in trained]
            names = [name or "params" for name in names]
            self.parameters = {
                name: np.asarray(values[i], np.float64)
                for name, i in zip(names, trained, strict=True)
            }
            _check(self.parameters)
            others = tuple(None if i in trained else leaf for i, leaf in enumerate(values))
            one = np.asarray(example[0])
            function = _Function(apply, tree, others, fixed, True)
            if not _takes_batches(jax, function, self._leaves, one):
                function = _Function(apply, tree, others, fixed, False)
                jax.eval_shape(function.outputs, self._leaves, one)
        self._function = function

    @property
    def _leaves(self) -> list[np.ndarray]:
        return list(self.parameters.values())

    @property
    def _compiled(self) -> _Compiled:
        try:
            return _kept(self._function)
        except TypeError:  # something in the tree has no hash
            return _compile(self._function)

    def outputs(self, X: Any) -> np.ndarray:
        with float64(), running(X):
            batch, b = _padded(X)
            return as_rows(self._compiled.outputs(self._leaves, batch), len(batch))[:b]

    def along(self, X: Any, names: Collection[str]) -> np.ndarray:
        ways = [v if k in names else np.zeros_like(v) for k, v in self.parameters.items()]
        with float64(), running(X):
            batch, b = _padded(X)
            try:
                slopes = self._compiled.along(self._leaves, ways, batch)
            except TypeError:
                slopes = self._compiled.along_transposed(self._leaves, ways, batch)
            return as_rows(slopes, len(batch))[:b]

    def gradients(self, X: Any, C: np.ndarray) -> np.ndarray:
        with float64(), running(X):
            batch, b = _padded(X)
            parts = self._compiled.gradients(self._leaves, batch, _padded(C)[0])
            return np.hstack([np.asarray(part[:b]).reshape(b, -1) for part in parts])

    def combination(self, X: Any, C: np.ndarray) -> np.ndarray:
        with float64(), running(X):
            weights, b = _padded(C)
            weights[b:] = 0.0
            parts = self._compiled.combination(self._leaves, _padded(X)[0], weights)
            return np.concatenate([np.asarray(part).ravel() for part in parts])

    def times(self, factors: Mapping[str, float]) -> Self:
        other = copy(self)
        other.parameters = {k: factors.get(k, 1.0) * v for k, v in self.parameters.items()}
        return other

    def dense_layers(self, batches: Iterator[Any]) -> list[DenseLayer]:
        names = list(self.parameters)
        layers: dict[LayerKey, tuple[Any, float, int]] = {}
        for X in batches:
            with float64(), running(X):
                batch, b = _padded(X)
                for layer, z in layer_outputs(self._function.outputs, self._leaves, batch):
                    active = z[: b * len(z) // len(batch)] > 0
                    share = active.mean(axis=1)
                    alive, total, n = layers.get(layer, (False, 0.0, 0))
                    same = float((share**2 + (1 - share) ** 2).sum())
                    layers[layer] = alive | active.any(axis=0), total + same, n + len(active)
        made = []
        for (index, transposed, bias), (alive, total, n) in layers.items():
            W = np.atleast_2d(self.parameters[names[index]])
            shift = None if bias is None else self.parameters[names[bias]].ravel()
            made.append(DenseLayer(names[index], W.T if transposed else W, shift, alive, total / n))
        return made

    def breaking(self, X: Any, tolerance: float) -> list[str]:
        with float64() as jax, running(X):
            f = jax.vmap(self._function.outputs, in_axes=(None, 0))
            return broken_operations(f, self._leaves, _padded(X)[0], tolerance)


@dataclass(frozen=True)
class _Function:
    """f with everything but its trained leaves; equal ones are compiled once."""

    apply: Callable[..., Any]
    tree: Any
    others: tuple[Any, ...]
    fixed: Any
    batched: bool

    def called(self, leaves: list[Any], X: Any) -> Any:
        """What the user's function gives."""
        given = iter(leaves)
        whole = [next(given) if other is None else other for other in self.others]
        params = self.tree.unflatten(whole)
        if isinstance(self.fixed, Mapping):
            params = {**self.fixed, "params": params}
        return self.apply(params, X)

    def outputs(self, leaves: list[Any], x: Any) -> Any:
        """f(x) of one example as a vector."""
        made = self.called(leaves, x[None])[0] if self.batched else self.called(leaves, x)
        if not hasattr(made, "reshape"):
            raise BadInput(f"f gives a {type(made).__name__}; it must give one array of outputs")
        if made.ndim > 1:
            raise BadInput(
                f"f gives an array of shape {made.shape} for one example; one number or one score "
                "per class is needed"
            )
        return made.reshape(-1)


class _Compiled(NamedTuple):
    outputs: Any
    along: Any
    along_transposed: Any
    """The same where something, by custom_vjp, has gradients alone."""
    gradients: Any
    combination: Any


def _compile(function: _Function) -> _Compiled:
    with float64() as jax:
        grad, jit, jvp, vjp, vmap = jax.grad, jax.jit, jax.jvp, jax.vjp, jax.vmap
    f = vmap(function.outputs, in_axes=(None, 0))

    def weighted(leaves: Any, x: Any, c: Any) -> Any:
        return (function.outputs(leaves, x) * c).sum()

    def along(leaves: Any, ways: Any, X: Any) -> Any:
        return jvp(lambda moved: f(moved, X), (leaves,), (ways,))[1]

    def transposed(leaves: Any, ways: Any, X: Any) -> Any:
        made, pullback = vjp(lambda moved: f(moved, X), leaves)
        return jax.linear_transpose(lambda u: pullback(u)[0], made)(ways)[0]

    def total(leaves: Any, X: Any, C: Any) -> Any:
        return (f(leaves, X) * C).sum()

    each = vmap(grad(weighted), in_axes=(None, 0, 0))
    return _Compiled(jit(f), jit(along), jit(transposed), jit(each), jit(grad(total)))


_kept = lru_cache(maxsize=4)(_compile)


def _split(model: Any) -> tuple[Callable[..., Any], Any, Any]:
    """The function, its tree of parameters, and Flax' collections beside `params`."""
    if not isinstance(model, tuple):
        return _call_module, model, None
    if len(model) != 2:
        raise BadInput(f"the model is a tuple of {len(model)}; {GIVE}")
    apply, params = model
    apply = getattr(apply, "apply", apply)
    if not callable(apply):
        raise BadInput(f"the first of (f, params) is a {type(apply).__name__}; {GIVE}")
    if isinstance(params, Mapping) and "params" in params:
        rest = {name: one for name, one in params.items() if name != "params"}
        return apply, params["params"], _Fixed(rest)
    return apply, params, None


class _Fixed(dict[str, Any]):
    """Collections that are not trained; told apart by identity, so that they have a hash."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Fixed) and not self and not other)


def _call_module(module: Any, x: Any) -> Any:
    return module(x)


def _is_real(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") and as_array(np.zeros(1, leaf.dtype)).dtype.kind == "f"


def _check(parameters: dict[str, np.ndarray]) -> None:
    if not parameters:
        raise BadInput(f"the tree has no arrays of real numbers, so no parameters; {GIVE}")
    for name, array in parameters.items():
        if not np.isfinite(array).all():
            raise BadInput(f"parameter {name} holds NaN or infinite entries; it cannot be probed")


def _takes_batches(jax: Any, function: _Function, leaves: list[Any], x: np.ndarray) -> bool:
    """Whether a batch of one example gives one row."""
    try:
        shape = jax.eval_shape(function.called, leaves, x[None]).shape
    except Exception:  # it was written for one example, or fails there too
        return False
    return len(shape) in (1, 2) and shape[0] == 1


def _padded(X: Any) -> tuple[np.ndarray, int]:
    """The batch, filled up with its own rows to a power of two, so that few shapes are compiled."""
    array = as_array(X)
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
    b = len(array)
    return array[np.arange(1 << (b - 1).bit_length()) % b], b
