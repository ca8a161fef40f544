"""The one door to JAX: float64 is switched on before anything is computed."""

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

__all__ = ["jax", "jnp"]
