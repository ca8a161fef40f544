"""What a measure is: a number or a short vector computed from one network at one moment.

A measure is a function `Snapshot → float | array`, registered by `@measure(name)`. One that has no
meaning for the architecture or the loss, whatever the weights, raises `NotDefined` and is left out;
one that has none for these weights is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from tacit._jax import jax, jit
from tacit.models import Model, Params
from tacit.models.losses import Loss
from tacit.values import Dataset, NotDefined


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One network, and the binary data it is trained on."""

    model: Model
    loss: Loss
    params: dict[str, np.ndarray]
    data: Dataset

    @cached_property
    def q(self) -> np.ndarray:
        """Margins q_i = y_i f(x_i) on the training data."""
        return self.data.y * self.outputs(self.data.X)

    @cached_property
    def log_loss(self) -> float:
        return float(_log_total(self.loss, self.q, self.data.y))

    @cached_property
    def norm(self) -> float:
        """‖θ‖ of the trained parts."""
        trained = self.model.trained(self.params)
        return float(norms(np.concatenate([part.ravel() for part in trained.values()])))

    @property
    def homogeneity(self) -> int:
        if self.model.homogeneity is None:
            raise NotDefined("the network is not homogeneous")
        return self.model.homogeneity

    @property
    def W(self) -> np.ndarray:
        """Neurons of a two-layer net on the inputs themselves."""
        W = self.params.get("W")
        if W is None or "a" not in self.params or W.shape[1] != self.data.d:
            raise NotDefined("speaks of the neurons of a two-layer net")
        return W

    @property
    def a(self) -> np.ndarray:
        return self.params["a"]

    @property
    def first_layer(self) -> np.ndarray:
        W = self.params.get("W", self.params.get("W1"))
        if W is None or W.ndim != 2:
            raise NotDefined("there is no first-layer matrix")
        return W

    @cached_property
    def singular_values(self) -> np.ndarray:
        """Of the first layer, the largest first; of a wide one nothing takes longer."""
        return np.linalg.svd(self.first_layer, compute_uv=False)

    @cached_property
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """The neurons with positive and with negative output weight (w and u of sarussi2021)."""
        return self.W[self.a > 0], self.W[self.a < 0]

    def outputs(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(_outputs(self.model, self.params, X))


def norms(rows: np.ndarray) -> np.ndarray:
    """Euclidean norms of rows; right where the squares of their entries leave float64."""
    scale = _largest(rows)
    # By the largest entry first: weights along a flow may be 1e-200 or 1e200.
    return scale[..., 0] * np.linalg.norm(rows / scale, axis=-1)


def directions(rows: np.ndarray) -> np.ndarray:
    """Rows of norm 1; zero rows stay zero."""
    rows = rows / _largest(rows)
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1.0)


def _largest(rows: np.ndarray) -> np.ndarray:
    largest = np.abs(rows).max(axis=-1, keepdims=True)
    return np.where(largest > 0, largest, 1.0)


@jit(static_argnums=0)
def _outputs(model: Model, params: Params, X: jax.Array) -> jax.Array:
    return model(params, X)


@jit(static_argnums=0)
def _log_total(loss: Loss, q: jax.Array, y: jax.Array) -> jax.Array:
    return loss.log_total(q, y)


Value = float | np.ndarray
MEASURES: dict[str, Callable[[Snapshot], Value]] = {}


V = TypeVar("V", float, np.ndarray)


def measure(name: str) -> Callable[[Callable[[Snapshot], V]], Callable[[Snapshot], V]]:
    """Register the decorated function under a name that users see."""

    def register(compute: Callable[[Snapshot], V]) -> Callable[[Snapshot], V]:
        assert name not in MEASURES, f"there is a measure '{name}' already"
        MEASURES[name] = compute
        return compute

    return register


def measure_all(snapshot: Snapshot) -> dict[str, Value]:
    """Every measure that has a meaning for this network; NaN or inf where float64 ends."""
    values: dict[str, Value] = {}
    with np.errstate(all="ignore"):
        for name, compute in MEASURES.items():
            try:
                values[name] = compute(snapshot)
            except NotDefined:
                continue
    return values
