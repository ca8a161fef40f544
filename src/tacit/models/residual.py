"""The residual network of phuong2021 §5.2."""

from __future__ import annotations

from dataclasses import dataclass

from tacit._jax import jax
from tacit.messages import BadInput
from tacit.models.activation import check_alpha, phi
from tacit.models.model import Params, Shape, T, gradient_by_autodiff

MOST_LAYERS = 100
"""Far beyond what the papers train."""


@dataclass(frozen=True)
class Residual:
    """phuong2021 (30): a residual network of `depth` = L layers, all of them trained.

    Parameters: W1 (p, d), W2, …, W{L−1} (p, p), W{L} (1, p).
    """

    depth: int = 4
    alpha: float = 0.0
    """The paper has 0 (ReLU)."""

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if not 2 <= self.depth <= MOST_LAYERS:
            raise BadInput(f"depth = {self.depth} must be between 2 and {MOST_LAYERS}")

    def shapes(self, d: int, width: int) -> dict[str, Shape]:
        inner = {f"W{l}": Shape((width, width), width) for l in range(2, self.depth)}
        last = {f"W{self.depth}": Shape((1, width), width)}
        return {"W1": Shape((width, d), d), **inner, **last}

    def __call__(self, params: Params, X: jax.Array) -> jax.Array:
        f = X @ params["W1"].T  # (30)
        for l in range(2, self.depth):
            f = f + phi(f, self.alpha) @ params[f"W{l}"].T  # (30)
        return (phi(f, self.alpha) @ params[f"W{self.depth}"].T)[:, 0]  # (30)

    def gradient(self, params: Params, X: jax.Array, g: jax.Array) -> Params:
        return gradient_by_autodiff(self, params, X, g)

    def trained(self, params: dict[str, T]) -> dict[str, T]:
        return dict(params)

    @property
    def homogeneity(self) -> int | None:
        """2 for two layers; with more, a skip adds terms of different degrees and there is none."""
        return 2 if self.depth == 2 else None
