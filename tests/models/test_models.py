"""Models: outputs and gradients by independent routes, homogeneity, conventions at kinks."""

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import rest_long
from tacit._jax import jax, jnp
from tacit.models import (
    ConvMaxPool,
    ImageCNN,
    Model,
    Params,
    Residual,
    SixConv,
    TwoLayer,
    output_signs,
)

# model, d, width, n
CASES = [
    (TwoLayer(), 3, 5, 7),
    (TwoLayer(alpha=0.3), 4, 6, 5),
    (TwoLayer(alpha=0.3, train="first"), 3, 4, 6),
    (ConvMaxPool(), 8, 6, 7),
    (ConvMaxPool(patch=3, alpha=0.2), 9, 4, 5),
    (ConvMaxPool(patch=4), 4, 2, 3),
    (Residual(depth=2), 3, 4, 5),
    (Residual(depth=3, alpha=0.3), 3, 4, 5),
    (Residual(depth=5), 4, 3, 6),
    (ImageCNN(filter=3, side=5, classes=4), 25, 3, 4),
    (ImageCNN(filter=4, side=6, classes=3, train_filters=False), 36, 2, 3),
    (SixConv(side=3), 9, 6, 2),
]
SIX_CONV = CASES[-1]
"""Compiled in three seconds, its gradient, which is that of `gradient_by_autodiff`, in ten."""
QUICK = [CASES[1], CASES[4], CASES[7], CASES[9]]
"""One of each other kind."""
HOMOGENEOUS = [case for case in CASES if case[0].homogeneity]
SEEDS = [0, 1, 2]
each_case = pytest.mark.parametrize(
    ("model", "d", "width", "n"), rest_long(CASES, CASES[:-1]), ids=lambda c: str(c)
)
each_compiled = pytest.mark.parametrize(
    ("model", "d", "width", "n"), rest_long(CASES, QUICK), ids=lambda c: str(c)
)
each_seed = pytest.mark.parametrize("seed", SEEDS)


def draw(
    model: Model, d: int, width: int, n: int, seed: int
) -> tuple[Params, jax.Array, jax.Array]:
    """Random parameters of size about 1/√fan_in, points, and coefficients of the outputs."""
    rng = np.random.default_rng(seed)
    params = {
        name: jnp.asarray(rng.normal(size=shape) / np.sqrt(fan_in))
        for name, (shape, fan_in) in model.shapes(d, width).items()
    }
    if isinstance(model, ConvMaxPool):
        params["a"] = output_signs(width)
    X = jnp.asarray(rng.normal(size=(n, d)))
    return params, X, jnp.asarray(rng.normal(size=jax.eval_shape(model, params, X).shape))


@functools.partial(jax.jit, static_argnums=0)
def outputs(model: Model, params: Params, X: jax.Array) -> jax.Array:
    return model(params, X)


@functools.partial(jax.jit, static_argnums=0)
def gradient_of(model: Model, params: Params, X: jax.Array, g: jax.Array) -> Params:
    return model.gradient(params, X, g)


def inner(p: Params, q: Params) -> float:
    return float(sum(np.sum(np.asarray(p[name]) * q[name]) for name in p))


# The same networks written as plainly as can be, one point at a time.


def naive(model: Model, params: Params, x: Any, np: Any) -> Any:
    """`np` is numpy, which needs no compilation, or that of JAX, which differentiates."""

    def act(z: Any) -> Any:
        return np.maximum(z, getattr(model, "alpha", 0.0) * z)

    match model:
        case TwoLayer():
            return sum(a * act(w @ x) for a, w in zip(params["a"], params["W"], strict=True))
        case ConvMaxPool():
            k = len(params["W"]) // 2
            patches = [x[j : j + model.patch] for j in range(0, len(x), model.patch)]
            pooled = [np.max(np.array([act(w @ x_j) for x_j in patches])) for w in params["W"]]
            return sum(pooled[:k]) - sum(pooled[k:])
        case Residual():
            f = params["W1"] @ x
            for l in range(2, model.depth):
                f = f + params[f"W{l}"] @ act(f)
            return (params[f"W{model.depth}"] @ act(f))[0]
        case ImageCNN():
            before, after = (model.filter - 1) // 2, model.filter // 2
            image = np.pad(x.reshape(model.side, model.side), ((before, after), (before, after)))
            half, size = model.side // 2, model.filter
            pooled = []
            for r, s in itertools.product(range(half), range(half)):
                windows = [
                    image[2 * r + i : 2 * r + i + size, 2 * s + j : 2 * s + j + size].ravel()
                    for i, j in itertools.product(range(2), range(2))
                ]
                heights = [act(params["W"] @ window + params["b"]) for window in windows]
                pooled.append(np.max(np.array(heights), axis=0))
            return params["V"] @ np.concatenate(pooled) + params["bV"]
        case SixConv():
            table = [(3, 1, 1), (3, 1, 1), (5, 2, 2), (3, 1, 1), (3, 1, 1), (5, 2, 2)]
            h = x.reshape(1, model.side, model.side)
            for l, (size, stride, pad) in enumerate(table, start=1):
                padded = np.pad(h, ((0, 0), (pad, pad), (pad, pad)))
                out = (h.shape[1] + 2 * pad - size) // stride + 1
                W, b = params[f"W{l}"], params[f"b{l}"]
                places = itertools.product(range(0, out * stride, stride), repeat=2)
                windows = [padded[:, r : r + size, s : s + size].ravel() for r, s in places]
                f = np.array(windows) @ W.reshape(len(b), -1).T + b
                h = act(f.T.reshape(len(b), out, out))
            # Our images keep the channels last.
            f = params["W7"] @ np.moveaxis(h, 0, -1).ravel() + params["b7"]
            return (params["W8"] @ act(f) + params["b8"])[0]
    raise AssertionError(model)


@functools.partial(jax.jit, static_argnums=0)
@functools.partial(jax.grad, argnums=1)
def naive_gradient(
    model: Model, trained: Params, params: Params, X: jax.Array, g: jax.Array
) -> jax.Array:
    f = jax.vmap(lambda x: naive(model, {**params, **trained}, x, jnp))(X)
    return jnp.sum(g * f)


@each_case
@each_seed
def test_outputs_are_those_of_the_naive_network(model, d, width, n, seed) -> None:
    params, X, _ = draw(model, d, width, n, seed)
    plain = [naive(model, jax.tree.map(np.asarray, params), x, np) for x in np.asarray(X)]
    np.testing.assert_allclose(outputs(model, params, X), plain, rtol=1e-12, atol=1e-12)


@each_compiled
@each_seed
def test_gradient_is_that_of_the_naive_network(model, d, width, n, seed) -> None:
    params, X, g = draw(model, d, width, n, seed)
    gradient = gradient_of(model, params, X, g)
    assert gradient.keys() == params.keys()
    for name, part in naive_gradient(model, model.trained(params), params, X, g).items():
        np.testing.assert_allclose(gradient[name], part, rtol=1e-11, atol=1e-12)


@each_case
@each_seed
def test_gradient_agrees_with_central_differences(model, d, width, n, seed) -> None:
    params, X, g = draw(model, d, width, n, seed)
    rng = np.random.default_rng(seed + 100)
    step, gradient = 1e-6, gradient_of(model, params, X, g)
    for name in model.trained(params):
        direction = rng.normal(size=params[name].shape)
        direction = direction / np.linalg.norm(direction)
        above, below = (
            outputs(model, {**params, name: np.asarray(params[name]) + sign * step * direction}, X)
            for sign in (1, -1)
        )
        measured = np.sum(np.asarray(g) * (np.asarray(above) - below)) / (2 * step)
        slope = np.sum(np.asarray(gradient[name]) * direction)
        np.testing.assert_allclose(slope, measured, rtol=1e-6, atol=1e-8)


@each_case
def test_gradient_is_zero_where_nothing_is_trained(model, d, width, n) -> None:
    params, X, g = draw(model, d, width, n, seed=0)
    gradient, trained = gradient_of(model, params, X, g), model.trained(params)
    for name, part in params.items():
        assert gradient[name].shape == part.shape
        assert gradient[name].dtype == part.dtype
        assert bool(jnp.any(gradient[name] != 0)) == (name in trained)


@each_compiled
def test_vmap_changes_nothing(model, d, width, n) -> None:
    draws = [draw(model, d, width, n, seed) for seed in SEEDS]
    ensemble, X, g = jax.tree.map(lambda *parts: jnp.stack(parts), *draws)

    @functools.partial(jax.jit, static_argnums=0)
    def both(model: Model, params: Params, X: jax.Array, g: jax.Array) -> tuple[jax.Array, Params]:
        return jax.vmap(model)(params, X), jax.vmap(model.gradient)(params, X, g)

    f, gradient = both(model, ensemble, X, g)
    for i, (params, X_i, g_i) in enumerate(draws):
        np.testing.assert_allclose(f[i], outputs(model, params, X_i), rtol=1e-12, atol=1e-13)
        for name, part in gradient_of(model, params, X_i, g_i).items():
            np.testing.assert_allclose(gradient[name][i], part, rtol=1e-11, atol=1e-13)


def test_jit_changes_nothing() -> None:
    model, d, width, n = CASES[1]
    params, X, g = draw(model, d, width, n, seed=0)
    np.testing.assert_allclose(outputs(model, params, X), model(params, X), rtol=1e-12)
    for name, part in model.gradient(params, X, g).items():
        np.testing.assert_allclose(gradient_of(model, params, X, g)[name], part, rtol=1e-11)


@each_case
def test_single_precision_stays_single(model, d, width, n) -> None:
    single = jax.tree.map(lambda part: part.astype(jnp.float32), draw(model, d, width, n, seed=0))
    assert jax.eval_shape(model, *single[:2]).dtype == jnp.float32
    gradient = jax.eval_shape(model.gradient, *single)
    assert all(part.dtype == jnp.float32 for part in gradient.values())


@pytest.mark.parametrize(("model", "d", "width", "n"), HOMOGENEOUS, ids=lambda c: str(c))
@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000), c=st.floats(1e-3, 1e3))
def test_homogeneous_in_what_is_trained(model, d, width, n, seed: int, c: float) -> None:
    params, X, g = draw(model, d, width, n, seed)
    L = model.homogeneity
    scaled = {**params, **{name: c * part for name, part in model.trained(params).items()}}
    f = outputs(model, params, X)
    np.testing.assert_allclose(outputs(model, scaled, X), c**L * f, rtol=1e-9, atol=1e-12)
    # Euler: ⟨θ, ∇f⟩ = L f
    euler = inner(model.trained(params), gradient_of(model, params, X, g))
    np.testing.assert_allclose(euler, L * np.sum(np.asarray(g) * f), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("model", [Residual(3), Residual(4, alpha=0.3)], ids=str)
def test_a_skip_connection_is_not_homogeneous(model: Residual) -> None:
    params, X, _ = draw(model, 3, 4, 5, seed=0)
    double = model({name: 2 * part for name, part in params.items()}, X)
    degrees = np.log2(np.abs(double / model(params, X)))
    assert model.homogeneity is None
    assert np.ptp(degrees) > 0.1  # not one power for all points


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_two_layer_at_the_kink(alpha: float) -> None:
    params = {"W": jnp.array([[0.0, 1.0]]), "a": jnp.array([2.0])}
    X, g = jnp.array([[3.0, 0.0]]), jnp.array([1.0])
    gradient = TwoLayer(alpha).gradient(params, X, g)
    np.testing.assert_array_equal(gradient["W"], [[alpha * 2 * 3, 0]])  # φ'(0) = α
    autodiff = jax.grad(lambda p: TwoLayer(alpha)(p, X)[0])(params)
    np.testing.assert_array_equal(autodiff["W"], gradient["W"])


def test_two_layer_is_conv_max_pool_with_one_patch() -> None:
    params, X, g = draw(ConvMaxPool(patch=3), 3, 6, 5, seed=0)
    one_patch, plain = ConvMaxPool(patch=3), TwoLayer(train="first")
    np.testing.assert_allclose(one_patch(params, X), plain(params, X), rtol=1e-13)
    for name, part in plain.gradient(params, X, g).items():
        np.testing.assert_allclose(one_patch.gradient(params, X, g)[name], part, rtol=1e-12)


def test_a_residual_network_of_two_layers_is_the_two_layer_network() -> None:
    params, X, _ = draw(TwoLayer(), 3, 5, 7, seed=0)
    same = {"W1": params["W"], "W2": params["a"][None]}
    np.testing.assert_allclose(Residual(2)(same, X), TwoLayer()(params, X), rtol=1e-14)


def test_shapes_of_table_1() -> None:
    shapes = SixConv().shapes(784, 128)
    assert shapes["W1"].shape == (32, 1, 3, 3)
    assert shapes["W6"].shape == (64, 64, 5, 5)
    assert shapes["W7"] == ((128, 3136), 3136)  # phuong2021 Table 1: fc(3136, 128)
    assert shapes["W8"] == ((1, 128), 128)
    params = {name: jnp.full(shape, 0.01) for name, (shape, _) in shapes.items()}
    X = jnp.ones((2, 784))
    features = jax.eval_shape(SixConv().features, params, X)
    sizes = [32 * 784, 32 * 784, 32 * 196, 64 * 196, 64 * 196, 3136, 128]
    assert [f.shape for f in features] == [(2, size) for size in sizes]
    assert jax.eval_shape(SixConv(), params, X).shape == (2,)


def test_the_features_of_six_convolutions() -> None:
    model, d, width, n = SIX_CONV
    params, X, _ = draw(model, d, width, n, seed=0)

    @jax.jit  # one compilation for all three
    def compiled(params: Params, X: jax.Array) -> tuple[list[jax.Array], list[jax.Array], Any]:
        return (
            model.features(params, X),
            model.features(params, X, activated=True),
            model(params, X),
        )

    before, after, f = compiled(params, X)
    assert bool(np.any(np.asarray(before[6]) < 0))
    for feature, activated in zip(before, after, strict=True):
        np.testing.assert_array_equal(activated, np.maximum(feature, 0))
    f_from_last = np.asarray(after[6]) @ params["W8"][0] + params["b8"]
    np.testing.assert_allclose(f_from_last, f, rtol=1e-14)
    plain = [naive(model, jax.tree.map(np.asarray, params), x, np) for x in np.asarray(X)]
    np.testing.assert_allclose(f, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("filter", "side"), [(3, 28), (4, 28), (7, 28), (3, 9)])
def test_image_cnn_fits_its_filters(filter: int, side: int) -> None:
    model = ImageCNN(filter=filter, side=side)
    params, X, _ = draw(model, side**2, 2, 3, seed=0)
    assert params["W"].shape == (2, filter**2)
    assert params["V"].shape == (10, 2 * (side // 2) ** 2)
    assert jax.eval_shape(model, params, X).shape == (3, 10)
