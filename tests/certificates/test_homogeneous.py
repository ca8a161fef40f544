"""Any homogeneous function: against the two-layer certificate, and deeper nets."""

import numpy as np
import pytest

from helpers import kkt_of, refused
from tacit._jax import jnp
from tacit.certificates import homogeneous_kkt
from tacit.models.activation import phi
from tacit.models.two_layer import TwoLayer
from tacit.numerics.max_margin import max_margin


def residuals(kkt):
    return np.array([kkt.stationarity, kkt.complementarity, kkt.feasibility, kkt.margin])


@pytest.mark.parametrize("alpha", [0.0, 0.4])
@pytest.mark.parametrize("train", ["both", "first"])
def test_the_same_as_the_two_layer_certificate_off_the_kinks(rng, alpha, train):
    model = TwoLayer(alpha, train)
    X, W, a = rng.standard_normal((300, 4)), rng.standard_normal((8, 4)), rng.standard_normal(8)
    y = np.where(phi(X @ W.T, alpha) @ a > 0, 1, -1)
    y[0] *= int(rng.choice([-1, 1]))
    params = model.trained({"W": W, "a": a})
    found = homogeneous_kkt(
        lambda p, x: model({"a": a, **p}, x[None])[0], params, X, y, model.homogeneity
    )
    expected = kkt_of(W, a, X, y, alpha, train)
    assert expected.boundary == 0
    np.testing.assert_allclose(residuals(found), residuals(expected), atol=1e-12)
    np.testing.assert_allclose(found.multipliers, expected.multipliers, atol=1e-9)
    assert "automatic" in found.subdifferential and found.masks == {}


def test_known_kkt_points(straight, bent):
    for case in (straight(0.4), bent(0.0)):  # at the kinks of `bent`, φ'(0) = α is what it needs
        model = TwoLayer(case.alpha)
        params = {"W": case.W, "a": case.a}
        kkt = homogeneous_kkt(lambda p, x, f=model: f(p, x[None])[0], params, case.X, case.y, 2)
        assert kkt.holds(1e-12)


def product(params, x):
    """A linear network of three layers, in a tree that is not a dict."""
    w, (a, b) = params
    return a * b * (w @ x)


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
@pytest.mark.parametrize("length", [1.0, 1e-100, 1e100])
def test_three_layers(rng, scale, length):
    X = rng.standard_normal((50, 6)) + [5, 0, 0, 0, 0, 0]
    w = max_margin(X).direction
    kkt = homogeneous_kkt(product, [scale * w, (scale, scale)], length * X, np.ones(50), 3)
    assert kkt.holds(1e-10)
    assert kkt.margin == pytest.approx(length * max_margin(X).margin / 3**1.5)
    off = homogeneous_kkt(product, [scale * w, (2 * scale, scale)], length * X, np.ones(50), 3)
    # θ ∝ (w, 2, 1), and every sum of gradients with a part along w is along (2w, 1, 2).
    assert off.stationarity == pytest.approx(np.sqrt(1 / 3))


def test_examples_of_any_shape(rng):
    images = rng.standard_normal((20, 3, 3)) + 1
    params = jnp.ones((3, 3))
    kkt = homogeneous_kkt(lambda p, x: jnp.sum(p * x), params, images, np.ones(20), 1)
    assert kkt.stationarity > 0.01
    w = max_margin(images.reshape(20, 9)).direction.reshape(3, 3)
    assert homogeneous_kkt(lambda p, x: jnp.sum(p * x), w, images, np.ones(20), 1).holds(1e-10)


def test_what_is_refused():
    def linear(p, x):
        return p["w"] @ x

    X, y, params = np.ones((4, 2)), np.ones(4), {"w": np.ones(2)}
    homogeneous_kkt(linear, params, X, y, 1)
    refused(lambda: homogeneous_kkt(linear, params, X, y, 2), "degree 2", "5.0e-01")
    refused(lambda: homogeneous_kkt(lambda p, x: linear(p, x) + 1, params, X, y, 1), "homogeneous")
    refused(lambda: homogeneous_kkt(lambda p, x: p["w"] * x, params, X, y, 1), "shape (2,)")
    refused(lambda: homogeneous_kkt(lambda p, x: linear(p, x) / 0, params, X, y, 1), "not finite")
    refused(lambda: homogeneous_kkt(linear, {"w": np.zeros(2)}, X, y, 1), "zero")
    refused(lambda: homogeneous_kkt(linear, {"w": np.array([1, np.nan])}, X, y, 1), "nan")
    refused(lambda: homogeneous_kkt(linear, params, X * np.inf, y, 1), "X holds inf")
    refused(lambda: homogeneous_kkt(linear, params, X, y[:3], 1), "y has shape (3,)")
    refused(lambda: homogeneous_kkt(linear, params, np.float64(1), y, 1), "X is one number")
    large = {"w": np.ones(10**6)}
    refused(lambda: homogeneous_kkt(linear, large, np.ones((1000, 1)), np.ones(1000), 1), "8.0 GB")
