"""Max-pooling over patches: ties, the kink, a literal loop, what two pairs of filters can do."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit._jax import jax, jnp
from tacit.models import ConvMaxPool, output_signs


def test_the_first_patch_wins_a_tie() -> None:
    model = ConvMaxPool(patch=2)
    params = {"W": jnp.array([[1.0, 0.0], [0.0, 1.0]]), "a": output_signs(2)}
    X, g = jnp.array([[0.0, -1.0, 1.0, 5.0, 1.0, 7.0]]), jnp.ones(1)
    gradient = model.gradient(params, X, g)
    np.testing.assert_array_equal(gradient["W"], [[1, 5], [-1, -7]])
    autodiff = jax.grad(lambda W: model({**params, "W": W}, X)[0])(params["W"])
    np.testing.assert_array_equal(autodiff, gradient["W"])


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_conv_max_pool_at_the_kink(alpha: float) -> None:
    params = {"W": jnp.zeros((2, 2)), "a": output_signs(2)}
    X, g = jnp.array([[1.0, 2.0, 3.0, 4.0]]), jnp.ones(1)
    gradient = ConvMaxPool(alpha=alpha).gradient(params, X, g)
    np.testing.assert_array_equal(gradient["W"], [[alpha, 2 * alpha], [-alpha, -2 * alpha]])


@settings(deadline=None, max_examples=20)
@given(  # each pair of sizes is compiled
    st.integers(0, 10_000),
    st.sampled_from([1, 3]),
    st.sampled_from([1, 4]),
    st.sampled_from([0.0, 0.4]),
)
def test_conv_max_pool_is_the_literal_triple_loop(
    seed: int, k: int, patches: int, alpha: float
) -> None:
    rng = np.random.default_rng(seed)
    W, X = rng.normal(size=(2 * k, 2)), rng.choice([-1.0, 1.0], size=(6, 2 * patches))
    f, dW = np.zeros(6), np.zeros((6, 2 * k, 2))
    for n in range(6):
        for i in range(2 * k):
            best, where = -np.inf, 0
            for j in range(patches):
                z = W[i, 0] * X[n, 2 * j] + W[i, 1] * X[n, 2 * j + 1]
                if max(z, alpha * z) > best:  # (2), the first of equals
                    best, where, slope = max(z, alpha * z), j, 1.0 if z > 0 else alpha
            sign = 1 if i < k else -1
            f[n] += sign * best
            dW[n, i] = sign * slope * X[n, 2 * where : 2 * where + 2]
    g = rng.normal(size=6)
    model, params = ConvMaxPool(alpha=alpha), {"W": jnp.asarray(W), "a": output_signs(2 * k)}
    np.testing.assert_allclose(model(params, X), f, rtol=1e-13, atol=1e-13)
    gradient = model.gradient(params, X, jnp.asarray(g))["W"]
    np.testing.assert_allclose(gradient, np.tensordot(g, dW, 1), rtol=1e-12, atol=1e-13)


def test_two_pairs_of_filters_realise_the_xord_rule() -> None:
    """brutzkus2019 §4: w = 3p₁, 3p₃ and u = p₂, p₄ give sign N = f* on every point."""
    W = jnp.array([[3.0, 3.0], [-3.0, -3.0], [1.0, -1.0], [-1.0, 1.0]])
    X = jnp.array(list(itertools.product([-1.0, 1.0], repeat=6)))
    positive = np.any(np.asarray(X[:, 0::2] == X[:, 1::2]), axis=1)  # (3)
    f = ConvMaxPool()({"W": W, "a": output_signs(4)}, X)
    np.testing.assert_array_equal(np.sign(f), np.where(positive, 1, -1))
