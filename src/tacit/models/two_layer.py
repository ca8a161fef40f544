"""The two-layer network f(x) = Σ_k a_k φ(w_k·x)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tacit._jax import jax, jnp
from tacit.messages import BadInput, near_miss
from tacit.models.activation import check_alpha, phi, phi_prime
from tacit.models.model import Params, Shape, T


@dataclass(frozen=True)
class TwoLayer:
    """phuong2021 (2) with both layers trained; sarussi2021 (1), brutzkus2019 (1) with the first.

    Parameters: W (m, d), rows are neurons, and a (m,). A bias is an extra input coordinate.
    """

    alpha: float = 0.0
    """φ(z) = max(z, αz); 0 is ReLU."""
    train: Literal["both", "first"] = "both"
    """`first` keeps `a` as it is."""

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if self.train not in ("both", "first"):
            raise BadInput(
                f"unknown layers to train '{self.train}'{near_miss(self.train, ('both', 'first'))}"
            )

    def shapes(self, d: int, width: int) -> dict[str, Shape]:
        return {"W": Shape((width, d), d), "a": Shape((width,), width)}

    def __call__(self, params: Params, X: jax.Array) -> jax.Array:
        return phi(X @ params["W"].T, self.alpha) @ params["a"]  # (2)

    def gradient(self, params: Params, X: jax.Array, g: jax.Array) -> Params:
        W, a = params["W"], params["a"]
        Z = X @ W.T
        s = g[:, None] * phi_prime(Z, self.alpha) * a
        da = g @ phi(Z, self.alpha) if self.train == "both" else jnp.zeros_like(a)
        return {"W": s.T @ X, "a": da}

    def trained(self, params: dict[str, T]) -> dict[str, T]:
        return dict(params) if self.train == "both" else {"W": params["W"]}

    @property
    def homogeneity(self) -> int:
        return 2 if self.train == "both" else 1
