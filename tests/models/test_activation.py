"""φ, its derivative, and the convention at the kink."""

import numpy as np
import pytest

from tacit._jax import jax, jnp
from tacit.models import parse_activation, phi, phi_prime
from tacit.values import BadInput


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.99])
def test_phi_is_the_maximum(alpha: float) -> None:
    z = np.linspace(-3, 3, 13)
    np.testing.assert_array_equal(phi(jnp.asarray(z), alpha), np.maximum(z, alpha * z))


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.99])
@pytest.mark.parametrize("z", [-2.0, -1e-300, -0.0, 0.0, 1e-300, 2.0])
def test_the_derivative_is_alpha_at_zero_by_hand_and_by_autodiff(alpha: float, z: float) -> None:
    slope = 1.0 if z > 0 else alpha
    assert phi_prime(jnp.asarray(z), alpha) == slope
    assert jax.grad(phi)(z, alpha) == slope


def test_jax_differs_at_zero_as_the_docstring_says() -> None:
    assert jax.grad(jax.nn.relu)(0.0) == 0
    assert jax.grad(jax.nn.leaky_relu)(0.0) == 1
    assert jax.grad(lambda z: jnp.maximum(z, 0.0))(0.0) == 0.5


def test_the_number_type_is_kept() -> None:
    z = jnp.ones(3, jnp.float32)
    assert phi(z, 0.3).dtype == phi_prime(z, 0.3).dtype == jnp.float32


@pytest.mark.parametrize(
    ("text", "alpha"), [("relu", 0.0), ("leaky:0.3", 0.3), ("leaky:0", 0.0), ("leaky:1e-2", 0.01)]
)
def test_parse(text: str, alpha: float) -> None:
    assert parse_activation(text).alpha == alpha


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rellu", "did you mean 'relu'"),
        ("leeky:0.3", "did you mean 'leaky'"),
        ("relu:0.1", "did you mean 'relu'"),
        ("tanh", "there are: relu, leaky"),
        ("", "there are: relu, leaky"),
        ("leaky", "write leaky:ALPHA"),
        ("leaky:", "write leaky:ALPHA"),
        ("leaky:much", "write leaky:ALPHA"),
        ("leaky:1", "must be in"),
        ("leaky:-0.1", "must be in"),
        ("leaky:nan", "must be in"),
    ],
)
def test_parse_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        parse_activation(text)
