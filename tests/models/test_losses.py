"""Losses: against high-precision decimals at any margin, and against their own derivatives."""

import decimal
import math
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import rest_long
from tacit._jax import jax, jnp
from tacit.models.losses import Exponential, Hinge, Logistic, Loss
from tacit.models.losses import softmax_cross_entropy as cross_entropy
from tacit.values import BadInput

ULP = 2.0**-52
MARGINS = np.sort(
    np.concatenate(
        [
            [
                s * m
                for s in (-1, 1)
                for m in (1e-300, 1e-8, 0.5, 1, 36, 37, 40, 700, 1e3, 1e5, 1e6)
            ],
            [0.0, np.nextafter(40, 50), np.nextafter(1, 0), np.nextafter(-1, 0)],
            np.random.default_rng(0).normal(size=60) * 3,
            np.random.default_rng(1).uniform(-60, 60, size=60),
        ]
    )
)
TAILED = [Logistic("mean"), Logistic("sum"), Exponential("mean"), Exponential("sum")]
ALL = [*TAILED, Hinge(), Hinge(1.0), Hinge(5.0)]
each_tailed = pytest.mark.parametrize("loss", TAILED, ids=str)
each_loss = pytest.mark.parametrize("loss", ALL, ids=str)
each_compiled = pytest.mark.parametrize(
    "loss", rest_long(ALL, [Logistic("mean"), Exponential("sum"), Hinge(5.0)]), ids=str
)


@pytest.fixture(autouse=True)
def many_digits() -> Iterator[None]:
    with decimal.localcontext(prec=80, Emin=-9_999_999, Emax=9_999_999):
        yield


def softplus(z: Decimal) -> Decimal:
    """log(1 + e^z)."""
    t = (-abs(z)).exp()
    log1p = (1 + t).ln() if t > Decimal("1e-30") else t - t**2 / 2 + t**3 / 3
    return max(z, Decimal(0)) + log1p


def value(loss: Loss, q: float) -> Decimal:
    q_exact = Decimal(float(q))
    return softplus(-q_exact) if isinstance(loss, Logistic) else (-q_exact).exp()


def slope(loss: Loss, q: float) -> Decimal:
    q_exact = Decimal(float(q))
    return (-softplus(q_exact)).exp() if isinstance(loss, Logistic) else (-q_exact).exp()


def error(ours: jax.Array, exact: list[Decimal]) -> float:
    """Largest relative error, in ulp."""
    ours = np.asarray(ours).tolist()
    errors = [abs((Decimal(a) - b) / b) if b else abs(a) for a, b in zip(ours, exact, strict=True)]
    return float(max(errors)) / ULP


def sample(n: int = 6, seed: int = 0) -> tuple[jax.Array, jax.Array]:
    rng = np.random.default_rng(seed)
    return jnp.asarray(rng.normal(size=n)), jnp.asarray(np.where(np.arange(n) % 3 > 0, 1.0, -1.0))


def total(loss: Loss, q: jax.Array) -> Decimal:
    c = Decimal(1) / len(q) if loss.reduction == "mean" else Decimal(1)
    return sum((c * value(loss, q_i) for q_i in q), Decimal(0))


@each_tailed
def test_log_values_and_log_slopes_at_any_margin(loss: Loss) -> None:
    q, y = jnp.asarray(MARGINS), jnp.ones(len(MARGINS))
    assert error(loss.log_values(q, y), [value(loss, a).ln() for a in MARGINS]) < 4
    # log|ℓ'| of the logistic loss is −e^q at very negative q; below 1e-308 it is 0.
    exact = [slope(loss, a).ln() for a in MARGINS]
    assert error(loss.log_slopes(q, y), [b if abs(b) > 1e-307 else Decimal(0) for b in exact]) < 4


@each_tailed
def test_values_and_slopes_where_float64_reaches(loss: Loss) -> None:
    margins = MARGINS[np.abs(MARGINS) <= 700]
    q, y = jnp.asarray(margins), jnp.ones(len(margins))
    assert error(loss.values(q, y), [value(loss, a) for a in margins]) < 4
    assert error(loss.slopes(q, y), [slope(loss, a) for a in margins]) < 4


def test_log_of_the_logistic_loss_is_right_where_it_crosses_zero() -> None:
    root = -math.log(math.e - 1)
    q = [root]
    for _ in range(20):
        q = [np.nextafter(q[0], -1), *q, np.nextafter(q[-1], 0)]
    q = [*q, *(root + s * 10.0**-k for s in (-1, 1) for k in range(1, 16))]
    log_values = Logistic().log_values(jnp.asarray(q), jnp.ones(len(q)))
    assert error(log_values, [value(Logistic(), a).ln() for a in q]) < 4


@each_tailed
@pytest.mark.parametrize("level", [-1e6, -1e3, -30.0, 0.0, 30.0, 1e3, 1e5, 1e5 * math.log(10), 1e6])
def test_log_total_at_any_level(loss: Loss, level: float) -> None:
    q, y = sample()
    q = level + q
    assert error(loss.log_total(q, y)[None], [total(loss, q).ln()]) < 20


@each_tailed
@pytest.mark.parametrize("level", [-1e6, -30.0, 0.0, 30.0, 1e5, 1e6])
def test_scaled_output_gradient_at_any_level(loss: Loss, level: float) -> None:
    q, y = sample()
    q = level + q
    c = Decimal(1) / len(q) if loss.reduction == "mean" else Decimal(1)
    L = total(loss, q)
    exact = [-int(y_i) * c * slope(loss, q_i) / L for q_i, y_i in zip(q, y, strict=True)]
    # The logarithms it starts from are of the size of 30, so exp amplifies their rounding.
    assert error(loss.scaled_output_gradient(q, y), exact) < 40


@each_tailed
def test_total_is_the_definition(loss: Loss) -> None:
    q, y = sample()
    assert error(loss.total(q, y)[None], [total(loss, q)]) < 8
    np.testing.assert_allclose(loss.log_total(q, y), jnp.log(loss.total(q, y)), rtol=1e-13)


def test_a_loss_that_underflows_is_zero_and_its_logarithm_is_not() -> None:
    q, y = jnp.full(6, 230_258.0), jnp.ones(6)
    assert Logistic().total(q, y) == 0
    assert Logistic().log_total(q, y) == -230_258
    np.testing.assert_allclose(Logistic().scaled_output_gradient(q, y), -1 / 6, rtol=1e-15)


def test_hinge_is_equation_4_of_brutzkus2019() -> None:
    f, y = np.array([0.5, 5.0, 7.0, 0.5, -3.0]), np.array([1, 1, 1, -1, -1])
    q = jnp.asarray(y * f)
    expected = np.maximum(5 - f[:3], 0).mean() + np.maximum(1 + f[3:], 0).mean()  # (4)
    np.testing.assert_allclose(Hinge(5.0).total(q, y), expected, rtol=1e-15)
    np.testing.assert_allclose(Hinge(5.0).log_total(q, y), np.log(expected), rtol=1e-14)
    np.testing.assert_allclose(Hinge().total(q, y), np.maximum(1 - y * f, 0).sum(), rtol=1e-15)
    np.testing.assert_allclose(Hinge(5.0).weights(y), [1 / 3] * 3 + [1 / 2] * 2, rtol=1e-15)
    np.testing.assert_array_equal(Hinge(5.0).weights(np.ones(4)), np.full(4, 0.25))


def test_the_hinge_has_slope_zero_where_it_becomes_zero() -> None:
    q, y = jnp.array([5.0, np.nextafter(5, 0), 1.0, np.nextafter(1, 0)]), jnp.array([1, 1, -1, -1])
    loss = Hinge(5.0)
    np.testing.assert_array_equal(loss.slopes(q, y), [0, 1, 0, 1])
    np.testing.assert_array_equal(loss.log_slopes(q, y), [-np.inf, 0, -np.inf, 0])
    np.testing.assert_array_equal(np.isneginf(loss.log_values(q, y)), [True, False, True, False])
    np.testing.assert_array_equal(loss.output_gradient(q, y), [0, -1 / 2, 0, 1 / 2])


@pytest.mark.parametrize("loss", [Hinge(), Hinge(5.0)], ids=str)
def test_a_hinge_of_zero_has_gradient_zero(loss: Loss) -> None:
    q, y = jnp.array([6.0, 1e6]), jnp.array([1.0, -1.0])
    assert loss.total(q, y) == 0
    assert loss.log_total(q, y) == -np.inf
    np.testing.assert_array_equal(loss.scaled_output_gradient(q, y), [0, 0])
    np.testing.assert_array_equal(jax.jit(jax.grad(loss.log_total))(q, y), [0, 0])


@each_loss
def test_slopes_by_central_differences(loss: Loss) -> None:
    q, y = sample(20)
    h = 1e-6
    measured = (loss.values(q - h, y) - loss.values(q + h, y)) / (2 * h)
    np.testing.assert_allclose(loss.slopes(q, y), measured, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(loss.log_slopes(q, y), jnp.log(loss.slopes(q, y)), rtol=1e-13)


@each_loss
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gradients_are_those_of_autodiff(loss: Loss, seed: int) -> None:
    q, y = sample(seed=seed)
    f = y * q
    gradient = jax.grad(lambda f: loss.total(y * f, y))(f)
    np.testing.assert_allclose(loss.output_gradient(q, y), gradient, rtol=1e-13)
    scaled = jax.grad(lambda f: loss.log_total(y * f, y))(f)
    np.testing.assert_allclose(loss.scaled_output_gradient(q, y), scaled, rtol=1e-12)
    L = loss.total(q, y)
    np.testing.assert_allclose(loss.scaled_output_gradient(q, y), gradient / L, rtol=1e-12)


@each_compiled
def test_no_derivative_is_nan(loss: Loss) -> None:
    margins = MARGINS[MARGINS > -700] if isinstance(loss, Exponential) else MARGINS
    q, y = jnp.asarray(margins), jnp.ones(len(margins))
    for function in (loss.values, loss.log_values, loss.slopes, loss.log_slopes):
        derivative = jax.jit(jax.vmap(jax.grad(lambda a, f=function: f(a, jnp.ones(())))))(q)
        assert np.isfinite(derivative).all(), function
    for function in (loss.total, loss.log_total):
        assert np.isfinite(jax.jit(jax.grad(function))(q, y)).all(), function


@each_compiled
def test_jit_and_vmap_change_nothing(loss: Loss) -> None:
    levels = jnp.array([-50.0, 0.0, 50.0, 1e5])
    q, y = sample()
    many = levels[:, None] + q
    names = ["values", "log_values", "slopes", "log_slopes", "total", "log_total"]
    for name in [*names, "output_gradient", "scaled_output_gradient"]:
        function = getattr(loss, name)
        together = jax.jit(jax.vmap(function, in_axes=(0, None)))(many, y)
        alone = [function(row, y) for row in many]
        np.testing.assert_allclose(together, alone, rtol=1e-13, err_msg=name)


@each_loss
def test_number_types(loss: Loss) -> None:
    q, y = sample()
    whole = jnp.asarray(y, int)
    single = q.astype(jnp.float32)
    for name in ("total", "log_total", "output_gradient", "scaled_output_gradient"):
        function = getattr(loss, name)
        np.testing.assert_array_equal(function(q, whole), function(q, y))
        assert jax.eval_shape(function, single, whole).dtype == jnp.float32


@each_tailed
@pytest.mark.parametrize(
    "q", MARGINS[np.abs(MARGINS) < 1e-300][:1].tolist() + [-50.0, -3.0, 2.0, 1e5]
)
def test_one_example_has_its_margin_as_smoothed_margin(loss: Loss, q: float) -> None:
    log_L = loss.log_total(jnp.array([q]), jnp.ones(1))
    np.testing.assert_allclose(loss.margin_of_log_total(log_L, 1), q, rtol=1e-13, atol=1e-15)


@each_tailed
@settings(deadline=None, max_examples=30)
@given(
    st.sampled_from([1, 6]).flatmap(  # each other size would be compiled as well
        lambda n: st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n)
    )
)
def test_smoothed_margin_is_just_below_the_least_margin(loss: Loss, margins: list[float]) -> None:
    q = jnp.asarray(margins)
    n = len(margins)
    smoothed = loss.margin_of_log_total(loss.log_total(q, jnp.ones(n)), n)
    slack = 1e-9 + 1e-13 * float(jnp.max(jnp.abs(q)))
    assert smoothed <= jnp.min(q) + slack
    if loss == Exponential(loss.reduction) or jnp.min(q) > 0:
        assert smoothed >= jnp.min(q) - math.log(2**n - 1) - slack


@each_tailed
def test_smoothed_margin_tends_to_the_least_margin(loss: Loss) -> None:
    q, y = sample()
    q = q - jnp.min(q) + 0.5
    gaps = []
    for c in (1e1, 1e3, 1e5):
        smoothed = loss.margin_of_log_total(loss.log_total(c * q, y), len(q))
        gaps.append(abs(float(smoothed / (c * jnp.min(q)) - 1)))
    assert gaps[0] < 0.1 and gaps[1] < 1e-3 and gaps[2] < 1e-9


def test_smoothed_margin_is_equation_5_of_sarussi2021() -> None:
    for n in (1, 7):
        for log_L in (-1e5, -40 - math.log(n), -39.9, -5.0, 0.0, 1.0, 3.0):
            n_L = n * Decimal(log_L).exp()
            exact = -(n_L.exp() - 1).ln() if n_L > Decimal("1e-60") else -n_L.ln()
            ours = Logistic("mean").margin_of_log_total(jnp.asarray(log_L), n)
            np.testing.assert_allclose(ours, float(exact), rtol=1e-14)
    assert Exponential("mean").margin_of_log_total(jnp.asarray(-1e5), 1) == 1e5
    assert Logistic("sum").margin_of_log_total(jnp.asarray(-1e5), 50) == 1e5
    assert Logistic().margin_of_log_total(jnp.asarray(-np.inf), 3) == np.inf


def test_the_hinge_has_no_smoothed_margin() -> None:
    assert not Hinge().has_exponential_tail
    assert all(loss.has_exponential_tail for loss in TAILED)
    with pytest.raises(BadInput, match="no smoothed margin"):
        Hinge().margin_of_log_total(jnp.asarray(-1.0), 3)


def test_cross_entropy_of_ten_classes() -> None:
    rng = np.random.default_rng(0)
    outputs, labels = rng.normal(size=(6, 10)), rng.integers(10, size=6)
    p = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    value, gradient = cross_entropy(jnp.asarray(outputs), jnp.asarray(labels))
    np.testing.assert_allclose(value, -np.log(p[np.arange(6), labels]).mean(), rtol=1e-14)
    autodiff = jax.jit(jax.grad(lambda f: cross_entropy(f, labels)[0]))(jnp.asarray(outputs))
    np.testing.assert_allclose(gradient, autodiff, rtol=1e-12, atol=1e-16)


def test_cross_entropy_of_two_classes_is_the_logistic_loss() -> None:
    f, y = sample()
    f = 1e3 * f
    labels = jnp.where(y > 0, 1, 0)
    value, _ = cross_entropy(jnp.stack([jnp.zeros_like(f), f], axis=1), labels)
    np.testing.assert_allclose(value, Logistic().total(y * f, y), rtol=1e-13)
