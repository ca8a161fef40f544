"""The activation φ(z) = max(z, αz) and its one convention at the kink: φ'(0) = α."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from tacit._jax import jax, jnp
from tacit.messages import BadInput, near_miss, number_text


@dataclass(frozen=True)
class Leaky:
    """The activation φ(z) = max(z, αz) with 0 ≤ α < 1."""

    alpha: float

    def __post_init__(self) -> None:
        check_alpha(self.alpha)

    def __str__(self) -> str:
        return f"leaky:{number_text(self.alpha)}"


@dataclass(frozen=True)
class ReLU:
    """The activation φ(z) = max(z, 0)."""

    @property
    def alpha(self) -> float:
        """The slope for z < 0."""
        return 0.0

    def __str__(self) -> str:
        return "relu"


Activation = ReLU | Leaky


def parse_activation(text: str) -> Activation:
    """The activation of a text: `relu`, or `leaky:0.3`."""
    if text == "relu":
        return ReLU()
    name, _, slope = text.partition(":")
    if name != "leaky":
        raise BadInput(f"unknown activation '{text}'{near_miss(name, ('relu', 'leaky'))}")
    try:
        alpha = float(slope)
    except ValueError:
        raise BadInput(f"activation '{text}': write leaky:ALPHA with 0 ≤ ALPHA < 1") from None
    return Leaky(alpha)


def check_alpha(alpha: float) -> None:
    """Refuse slopes for which φ is no activation."""
    if not isinstance(alpha, Real) or not 0 <= alpha < 1:
        raise BadInput(f"the slope α = {alpha} of the activation must be in [0, 1)")


def phi(z: jax.Array, alpha: float) -> jax.Array:
    """φ(z) = z for z > 0 and αz otherwise; α = 0 is ReLU.

    The derivative at exactly 0 is α, as in sarussi2021 (App. B, "WLOG, we set σ′(0) = α"), here and
    under autodiff. Libraries differ: PyTorch's `relu` and `leaky_relu` and `jax.nn.relu` agree with
    this choice, `jax.nn.leaky_relu` has slope 1 at 0, and `jnp.maximum(z, 0)` has slope ½.
    """
    return jnp.where(z > 0, z, alpha * z)


def phi_prime(z: jax.Array, alpha: float) -> jax.Array:
    """φ'(z): 1 for z > 0, α otherwise, so α at exactly 0."""
    return jnp.where(z > 0, jnp.ones_like(z), alpha)
