"""What a model is: a pure function of a dict of arrays, and its gradient.

A model object holds no weights, only the architecture; it is frozen and hashable, so it can be a
static argument of `jax.jit`. Every function takes one network: an ensemble is `jax.vmap`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from tacit._jax import jax, jnp
from tacit.messages import BadInput

Params: TypeAlias = "dict[str, jax.Array]"
"""Name → array. Names that begin with `b` are biases."""

T = TypeVar("T")


class Shape(NamedTuple):
    """What an initialiser must fill: the shape, and the number of inputs of each unit."""

    shape: tuple[int, ...]
    fan_in: int


class Model(Protocol):
    """What every architecture has: shapes of its weights, outputs and gradients."""

    def shapes(self, d: int, width: int) -> dict[str, Shape]:
        """Every part of the parameters, trained or not, for inputs in R^d.

        `trained` also works on this dict. The parts it leaves out are fixed output weights: an
        initialiser sets them to a multiple of `output_signs(width)`.
        """
        ...

    def __call__(self, params: Params, X: jax.Array) -> jax.Array:
        """The outputs f(x_i): (n,) for X of shape (n, d), or (n, classes)."""
        ...

    def gradient(self, params: Params, X: jax.Array, g: jax.Array) -> Params:
        """Σ_i g_i ∂f(x_i)/∂θ, shaped like `params`; zero for parts that are not trained.

        `g` has the shape of the outputs. At a kink it is one element of Clarke's subdifferential of
        each f(x_i): φ'(0) = α, and the first patch wins a tie under max-pooling.
        """
        ...

    def trained(self, params: dict[str, T]) -> dict[str, T]:
        """The trained parts only."""
        ...

    @property
    def homogeneity(self) -> int | None:
        """L with f(cθ) = c^L f(θ) for c > 0 and θ the trained parts; None where there is none."""
        ...


def output_signs(width: int) -> np.ndarray:
    """k times +1, then k times −1: the fixed output layer of sarussi2021 (1), brutzkus2019 (1)."""
    if width < 2 or width % 2:
        raise BadInput(f"width {width} must be even: half of the output weights are +, half are −")
    return np.repeat([1.0, -1.0], width // 2)


def gradient_by_autodiff(model: Model, params: Params, X: jax.Array, g: jax.Array) -> Params:
    """`Model.gradient` for models whose gradient is not written by hand."""

    def outputs(trained: Params) -> jax.Array:
        return model({**params, **trained}, X)

    f, pull_back = jax.vjp(outputs, model.trained(params))
    return {**jax.tree.map(jnp.zeros_like, params), **pull_back(jnp.asarray(g, f.dtype))[0]}
