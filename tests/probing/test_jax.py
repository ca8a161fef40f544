"""probe of JAX functions, beside homogeneous_kkt, certify and sums written out by hand."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tacit
from helpers import refused, rest_long
from tacit._jax import jax, jnp
from tacit.certificates import homogeneous_kkt
from tacit.probing.stationarity import planned


def layers(sizes: tuple[int, ...], seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    pairs = zip(sizes, sizes[1:], strict=False)
    return [rng.normal(size=(out, into)) / np.sqrt(into) for into, out in pairs]


def deep(params: list[Any], x: Any) -> Any:
    for W in params[:-1]:
        x = jnp.maximum(W @ x, 0.1 * (W @ x))
    return (params[-1] @ x)[0]


def scores(params: list[Any], X: Any) -> Any:
    """For a batch, three classes."""
    Z = X @ params[0].T
    return jnp.maximum(Z, 0.2 * Z) @ params[1].T


def fitted(f: Any, params: Any, X: np.ndarray) -> np.ndarray:
    """The labels that the network gives itself, so that every margin is positive."""
    return np.sign(np.array([float(f(params, x)) for x in X]))


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(24, 4))


@pytest.mark.parametrize("depth", rest_long([2, 3, 4, 5, 6], [3]))
def test_the_degree_is_the_depth(depth: int, points: np.ndarray) -> None:
    params = layers((4, *(6,) * (depth - 1), 1), depth)
    probed = tacit.probe((deep, params), points, fitted(deep, params, points), seconds=0)
    assert probed.homogeneity.holds and probed.homogeneity.degree == depth
    assert [group.degree for group in probed.homogeneity.groups] == [1.0] * depth
    kkt = homogeneous_kkt(deep, params, points, fitted(deep, params, points), depth)
    assert probed.support is not None
    assert probed.margin == pytest.approx(kkt.margin, rel=1e-12)
    assert probed.support.stationarity == pytest.approx(kkt.stationarity, rel=1e-7)
    assert probed.support.complementarity == pytest.approx(kkt.complementarity, rel=1e-5, abs=1e-9)


def test_blocks_of_gradients_give_the_same_multipliers(points: np.ndarray) -> None:
    params = layers((4, 30, 20, 1), 0)
    y = fitted(deep, params, points)
    whole = tacit.probe((deep, params), points, y).support
    n, P = len(points), sum(W.size for W in params)
    memory = 3 * 8 * n**2 + 8 * P * 14.0  # enough for a few rows at a time
    assert planned(n, P, memory).block < n / 3 and planned(n, P, memory).memory <= memory
    parts = tacit.probe((deep, params), points, y, memory=memory).support
    assert whole is not None and parts is not None
    assert parts.stationarity == pytest.approx(whole.stationarity, rel=1e-6)
    order = np.argsort(whole.points), np.argsort(parts.points)
    np.testing.assert_array_equal(whole.points[order[0]], parts.points[order[1]])
    np.testing.assert_allclose(
        parts.multipliers[order[1]], whole.multipliers[order[0]], rtol=1e-4, atol=1e-9
    )
    refused(lambda: tacit.probe((deep, params), points, y, memory=1e3), "memory", "GB")


def test_a_rescaled_network_is_the_same_direction(points: np.ndarray) -> None:
    params = layers((4, 7, 5, 1), 1)
    y = fitted(deep, params, points)
    one = tacit.probe((deep, params), points, y)
    other = tacit.probe((deep, [1e3 * W for W in params]), points, y)
    assert other.margin == pytest.approx(one.margin, rel=1e-10)
    assert other.residual == pytest.approx(one.residual, rel=1e-6)
    assert other.q_min == pytest.approx(1e9 * one.q_min, rel=1e-10)


def test_classes_are_compared_in_pairs(points: np.ndarray) -> None:
    """The residual at λ, and the optimality of λ, from gradients of q_ik taken one by one."""
    params = layers((4, 6, 3), 2)
    f = np.asarray(scores(params, points))
    y = f.argmax(axis=1)
    probed = tacit.probe((scores, params), points, y)
    q = f[np.arange(len(y)), y][:, None] - f
    q[np.arange(len(y)), y] = np.inf
    np.testing.assert_allclose(probed.q, q.min(axis=1), rtol=1e-12)
    theta = np.concatenate([W.ravel() for W in params])
    norm = np.linalg.norm(theta)
    unit = [W / norm for W in params]

    def gradient(i: int, k: int) -> np.ndarray:
        def q_ik(weights: Any) -> Any:
            made = scores(weights, points[i : i + 1])[0]
            return made[y[i]] - made[k]

        return np.concatenate([np.asarray(g).ravel() for g in jax.grad(q_ik)(unit)])

    support = probed.support
    assert support is not None and support.candidates == 2 * len(y)
    pairs = list(zip(support.points.tolist(), support.rivals.tolist(), strict=True))
    each = zip(support.multipliers, pairs, strict=True)
    residual = theta / norm - sum(lam * gradient(i, k) for lam, (i, k) in each)
    assert np.linalg.norm(residual) == pytest.approx(support.stationarity, rel=1e-9)
    excess = np.where(np.isfinite(q), q - q.min(), 0) / norm**2
    total = 2 * sum(
        lam * excess[i, k] for lam, (i, k) in zip(support.multipliers, pairs, strict=True)
    )
    assert total == pytest.approx(support.complementarity, rel=1e-9)
    for i in range(len(y)):  # no other pair would help, those in use are at rest
        for k in {0, 1, 2} - {int(y[i])}:
            slope = gradient(i, k) @ residual - 2 * excess[i, k] * total
            assert slope <= 1e-7 and ((i, k) not in pairs or slope >= -1e-7)


def test_a_two_layer_network_is_recognised_and_handed_on(points: np.ndarray) -> None:
    """Its own optimum, with a bias, as a JAX function: certify and probe agree that it is one."""
    data = tacit.load(points, np.sign(points[:, 0] + 0.3 * points[:, 1] + 0.2)).with_bias(1.0)
    best = tacit.optimum(data).network
    params = {"W": best.W[:, :-1], "b": best.W[:, -1], "a": best.a}
    balance = np.sqrt(np.abs(best.a) / np.linalg.norm(best.W, axis=1))
    params = {
        "W": params["W"] * balance[:, None],
        "b": params["b"] * balance,
        "a": best.a / balance,
    }

    def f(p: Any, x: Any) -> Any:
        return p["a"] @ jax.nn.relu(p["W"] @ x + p["b"])

    probed = tacit.probe((f, params), points, data.y, seconds=120)
    assert probed.network is not None and probed.network.alpha == 0 and probed.network.d == 5
    assert probed.certificate is not None and probed.certificate.optimality == "certified"
    assert "0.0% short of the widest margin" in repr(probed)
    assert probed.margin == pytest.approx(probed.certificate.margin, rel=1e-12)
    # At kinks certify chooses the best of all gradients, JAX one of them.
    assert probed.support is not None
    assert probed.support.stationarity >= probed.certificate.kkt.stationarity - 1e-9
    assert probed.optimum().margin == pytest.approx(probed.margin, rel=1e-6)


@pytest.mark.long
def test_theorems_and_the_flow_speak_of_it(points: np.ndarray) -> None:
    W, a = layers((4, 6, 1), 5)
    y = np.sign(np.maximum(points @ W.T, 0.1 * points @ W.T) @ a[0])
    probed = tacit.probe((deep, [W, a]), points, y, seconds=0)
    assert len(probed.predict().verdicts) > 0
    assert probed.limit(seconds=5.0).last_network.alpha == 0.1


def test_away_from_kinks_certify_has_the_same_residual(points: np.ndarray) -> None:
    W, a = layers((4, 6, 1), 5)
    y = np.sign(np.maximum(points @ W.T, 0.3 * points @ W.T) @ a[0])

    def f(p: Any, x: Any) -> Any:
        z = p[0] @ x
        return (p[1] @ jnp.where(z > 0, z, 0.3 * z))[0]

    probed = tacit.probe((f, [W, a]), points, y, seconds=0)
    kkt = tacit.certify(points, y, tacit.Network(W, a, 0.3), seconds=1).kkt
    assert probed.network is not None and probed.network.alpha == 0.3
    assert probed.support is not None
    assert probed.support.stationarity == pytest.approx(kkt.stationarity, rel=1e-8)
    assert probed.support.complementarity == pytest.approx(kkt.complementarity, rel=1e-6)


def biased(params: Any, x: Any) -> Any:
    x = jax.nn.relu(params["one"]["kernel"] @ x + params["one"]["bias"])
    x = jax.nn.relu(params["two"]["kernel"] @ x + params["two"]["bias"])
    return params["three"] @ x


def test_biases_are_named_but_the_first(points: np.ndarray) -> None:
    W, V, a = layers((4, 6, 5, 1), 6)
    rng = np.random.default_rng(0)
    params = {
        "one": {"kernel": W, "bias": rng.normal(size=6)},
        "two": {"kernel": V, "bias": rng.normal(size=5)},
        "three": a[0],
    }
    probed = tacit.probe((biased, params), points, np.where(points[:, 0] > 0, 1, -1))
    assert not probed.homogeneity.holds
    assert [reason.partition(" (")[0] for reason in probed.homogeneity.reasons] == ["bias in two"]
    assert "bias=False" in probed.homogeneity.advice and np.isnan(probed.margin)
    params["two"]["bias"] = np.zeros(5)
    probed = tacit.probe((biased, params), points, np.where(points[:, 0] > 0, 1, -1))
    assert probed.homogeneity.holds and probed.homogeneity.degree == 3


@jax.custom_vjp
def with_own_gradient(z: Any) -> Any:
    return jnp.tanh(z)


with_own_gradient.defvjp(lambda z: (jnp.tanh(z), z), lambda z, g: (g * (1 - jnp.tanh(z) ** 2),))

NOT_HOMOGENEOUS = {
    "tanh": (jnp.tanh, ["tanh"]),
    "softplus": (jax.nn.softplus, ["exp", "log1p"]),
    "plus one": (lambda z: jax.nn.relu(z) + 1, ["add (of values of degrees 0 and 1)"]),
    "a constant beside": (
        lambda z: jnp.concatenate([z[:5], jnp.ones(1)]),
        ["concatenate (of values of degrees 0 and 1)"],
    ),
    "normalised": (
        lambda z: (z - z.mean()) / jnp.sqrt(z.var() + 0.1),
        ["add (of values of degrees 0 and 2)"],
    ),
    "a loop": (lambda z: jax.lax.fori_loop(0, 2, lambda _, u: jnp.sin(u), z), ["scan"]),
    "custom_vjp": (with_own_gradient, ["tanh"]),
    "two of them": (lambda z: jnp.sin(jnp.tanh(z)), ["tanh", "sin"]),
}


@pytest.mark.parametrize("name", NOT_HOMOGENEOUS)
def test_the_operation_that_breaks_it_is_named(name: str, points: np.ndarray) -> None:
    phi, operations = NOT_HOMOGENEOUS[name]

    def f(p: Any, x: Any) -> Any:
        return (p[1] @ phi(p[0] @ x))[0]

    homogeneity = tacit.probe(
        (f, layers((4, 6, 1), 7)), points, np.where(points[:, 0] > 0, 1, -1)
    ).homogeneity
    assert not homogeneity.holds and "leave out" in homogeneity.advice
    # JAX keeps lines and names of compiled functions as it likes; the next test has a line.
    place = r" at test_jax\.py:\d+| in softplus"
    named = [re.sub(place, "", reason) for reason in homogeneity.reasons]
    assert named == [f"the operation {operation}" for operation in operations]


def test_the_line_that_breaks_it_is_named(points: np.ndarray) -> None:
    def f(p: Any, x: Any) -> Any:
        z = p[0] @ x
        return (p[1] @ jnp.cos(z))[0]

    line = f.__code__.co_firstlineno + 2
    probed = tacit.probe((f, layers((4, 6, 1), 7)), points, np.where(points[:, 0] > 0, 1, -1))
    assert probed.homogeneity.reasons == (f"the operation cos at test_jax.py:{line}",)


@pytest.mark.parametrize(
    "phi", [lambda z: z / jnp.linalg.norm(z), lambda z: z**3, lambda z: jnp.sqrt(z @ z) * z]
)
def test_homogeneous_parts_are_not_blamed(phi: Any, points: np.ndarray) -> None:
    """Of degree 0, 3 and 2; a bias of the output is what breaks it, and is alone named."""

    def f(p: Any, x: Any) -> Any:
        return (p["V"] @ phi(p["W"] @ x))[0] + p["b"]

    W, V = layers((4, 6, 1), 7)
    y = np.where(points[:, 0] > 0, 1, -1)
    degree = tacit.probe((f, {"W": W, "V": V, "b": np.zeros(())}), points, y).homogeneity.degree
    homogeneity = tacit.probe((f, {"W": W, "V": V, "b": np.ones(())}), points, y).homogeneity
    assert homogeneity.holds == (degree == 1)
    assert [one.partition(" (")[0] for one in homogeneity.reasons] == ["bias in b"] * (degree != 1)


def test_what_holds_nearby_is_tried_far_off(points: np.ndarray) -> None:
    """min(z, 6) is z for these weights, and Euler's identity sees no difference."""

    def f(p: Any, x: Any) -> Any:
        return (p[1] @ jnp.clip(p[0] @ x, 0, 60))[0]

    params = layers((4, 6, 1), 7)
    probed = tacit.probe((f, params), points, np.where(points[:, 0] > 0, 1, -1))
    assert probed.homogeneity.error < 1e-12 and not probed.homogeneity.holds
    assert "the operation min" in probed.homogeneity.reasons[0]


def test_data_that_is_not_fitted_says_what_it_can(points: np.ndarray) -> None:
    params = layers((4, 6, 1), 8)
    y = fitted(deep, params, points)
    y[:3] *= -1
    probed = tacit.probe((deep, params), points, y)
    assert probed.errors == 3 and probed.support is None and probed.margin < 0
    assert probed.homogeneity.degree == 2 and len(probed.layers) == 2
    assert "3 of 24 examples do not get their label" in repr(probed)


def test_layers_are_measured_on_the_examples(points: np.ndarray) -> None:
    W, V, a = layers((4, 6, 6, 1), 9)
    W[2] = -np.abs(W[2])
    V[3] = -np.abs(V[3])  # its inputs are never negative
    X = np.abs(points)

    def f(p: Any, X: Any) -> Any:
        return (jax.nn.relu(jax.nn.relu(X @ p["W"].T) @ p["V"].T) @ p["a"].T)[:, 0]

    probed = tacit.probe((f, {"W": W, "V": V, "a": a}), X, np.where(points[:, 0] > 0, 1, -1))
    one, two, three = sorted(probed.layers, key=lambda layer: "WVa".index(layer.name))
    z = X @ W.T
    u = np.maximum(z, 0) @ V.T
    assert (one.dead, two.dead) == ((z <= 0).all(0).sum(), (u <= 0).all(0).sum())
    assert three.dead is None and one.dead >= 1 and two.dead >= 1
    pairs = ((z > 0)[:, :, None] == (z > 0)[:, None, :]).mean()
    assert one.agreement == pytest.approx(pairs, rel=1e-12)
    values = np.linalg.svd(V, compute_uv=False)
    assert two.effective_rank == pytest.approx((values**2).sum() / values[0] ** 2)
    into, out = (W**2).sum(1), (V**2).sum(0)
    assert one.balance == pytest.approx(np.abs(into - out).max() / (into.sum() + out.sum()))


def test_clusters_are_counted_by_weight(points: np.ndarray) -> None:
    W = np.array([[1.0, 0, 0, 0], [2, 0.01, 0, 0], [0, 1, 0, 0], [0, 0, 1e-3, 0]])
    probed = tacit.probe((deep, [W, np.ones((1, 4))]), points, np.where(points[:, 0] > 0, 1, -1))
    assert probed.layers[0].clusters == 2


def test_one_dense_layer_is_not_two(points: np.ndarray) -> None:
    probed = tacit.probe((deep, layers((4, 1), 2)), points, np.where(points[:, 0] > 0, 1, -1))
    assert probed.why_not_two_layer == "it has 1 dense layer, not two"


def test_the_smoothed_margin_is_that_of_cross_entropy(points: np.ndarray) -> None:
    params = [3 * W for W in layers((4, 6, 3), 2)]
    f = np.asarray(scores(params, points))
    y = f.argmax(axis=1)
    probed = tacit.probe((scores, params), points, y)
    losses = -np.log(np.exp(f)[np.arange(24), y] / np.exp(f).sum(axis=1))
    assert probed.log_loss == pytest.approx(np.log(losses.mean()), rel=1e-9)
    smoothed = -np.log(np.expm1(losses.sum())) / sum((W**2).sum() for W in params)
    assert probed.smoothed_margin == pytest.approx(smoothed, rel=1e-9)
    assert probed.smoothed_margin <= probed.margin


BAD = {
    "no model": (3, None, None, "`model` is of the type int; give a"),
    "no function": ((3, [np.ones(4)]), None, None, "first of (f, params)"),
    "no parameters": ((deep, []), None, None, "no parameters"),
    "nan in the weights": ((deep, [np.full((1, 4), np.nan)]), None, None, "NaN"),
    "no labels": (None, None, "none", "`y` is missing"),
    "other shapes": (None, np.ones((5, 4)), None, "(5, 4)"),
    "nan in X": (None, np.full((24, 4), np.nan), None, "example 0 of X"),
    "pairs in X": (None, [(np.ones(4), 1)] * 24, None, "`X` must be an array"),
    "text in X": (None, np.full((24, 4), "a"), None, "real numbers"),
    "three labels": (None, None, np.arange(24) % 3, "3 labels (0, 1, 2)"),
    "not its inputs": (None, np.ones((24, 7)), None, "fails on a batch of shape"),
    "wrong outputs": ((lambda p, x: p[0] @ p[0].T, [np.ones((2, 4))]), None, None, "shape"),
    "infinite outputs": ((lambda p, x: p[0] @ x / 0, [np.ones(4)]), None, None, "not finite"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name: str, points: np.ndarray) -> None:
    model, X, y, words = BAD[name]
    y = None if isinstance(y, str) else np.where(points[:, 0] > 0, 1, -1) if y is None else y
    model = (deep, layers((4, 6, 1), 0)) if model is None else model
    refused(lambda: tacit.probe(model, points if X is None else X, y), words)


def test_labels_that_are_no_classes(points: np.ndarray) -> None:
    net = (scores, layers((4, 6, 3), 2))
    refused(lambda: tacit.probe(net, points, ["0", "1", "2"] * 8), "y holds the texts 0, 1, 2")
    refused(lambda: tacit.probe((scores, layers((4, 6, 3), 2)), points, np.full(24, 3)), "0 to 2")
    refused(
        lambda: tacit.probe((deep, layers((4, 1), 2)), points, [1] * 24, tau=-1.0), "`tau=-1.0`"
    )


def test_float64_stays_inside() -> None:
    """Who trains in float32 goes on in float32: in a process of its own, as the tests have 64."""
    import subprocess
    import sys

    code = (
        "import jax, jax.numpy as jnp, numpy as np, tacit\n"
        "p = tacit.probe((lambda w, x: w @ x, jnp.ones(2)), np.eye(2), [1, 1])\n"
        "import sys\n"
        "print(jnp.zeros(2).dtype, p.homogeneity.error < 1e-12, 'torch' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["float32", "True", "False"]


def test_the_page_stands_alone_and_escapes(points: np.ndarray, tmp_path: Any) -> None:
    params = {"<b>": layers((4, 3), 0)[0]}

    def f(p: Any, x: Any) -> Any:
        return jnp.maximum(p["<b>"] @ x, 0).sum() + 1.0

    f.__name__ = "<script>alert(1)</script>"
    probed = tacit.probe((f, params), points, np.where(points[:, 0] > 0, 1, -1))
    probed.save(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "<script" not in text and "&lt;b&gt;" in text and "Euler" in text
    assert list(probed.to_frame("parameters")["name"]) == ["<b>"] and len(probed.to_frame()) == 1
    refused(lambda: probed.to_frame("other"), "`what='other'`")
    refused(probed.certify, "no two-layer network")
