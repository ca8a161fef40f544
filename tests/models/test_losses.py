"""Losses: against high-precision decimals at any margin, and against their own derivatives."""

import decimal
import functools
import math
from collections.abc import Callable, Iterator
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


FUNCTIONS = ["values", "log_values", "slopes", "log_slopes", "total", "log_total"]
FUNCTIONS += ["output_gradient", "scaled_output_gradient"]


@functools.cache
def all_functions(loss: Loss) -> Callable[..., dict[str, jax.Array]]:
    return jax.jit(lambda q, y: {name: getattr(loss, name)(q, y) for name in FUNCTIONS})


def compiled(loss: Loss, name: str) -> Callable[..., jax.Array]:
    """A function of q and y, compiled as in training; all at once, since that takes the time."""
    return lambda q, y: all_functions(loss)(q, y)[name]


def error(ours: jax.Array, exact: list[Decimal]) -> float:
    """Largest relative error, in ulp."""
    ours = np.atleast_1d(ours).tolist()
    errors = [abs((Decimal(a) - b) / b) if b else abs(a) for a, b in zip(ours, exact, strict=True)]
    return float(max(errors)) / ULP


def sample(n: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(seed).normal(size=n), np.where(np.arange(n) % 3 > 0, 1.0, -1.0)


def total(loss: Loss, q: np.ndarray) -> Decimal:
    c = Decimal(1) / len(q) if loss.reduction == "mean" else Decimal(1)
    return sum((c * value(loss, q_i) for q_i in q), Decimal(0))


@each_tailed
def test_log_values_and_log_slopes_at_any_margin(loss: Loss) -> None:
    y = np.ones(len(MARGINS))
    log_values, log_slopes = (compiled(loss, name) for name in ("log_values", "log_slopes"))
    assert error(log_values(MARGINS, y), [value(loss, a).ln() for a in MARGINS]) < 4
    # log|ℓ'| of the logistic loss is −e^q at very negative q; below 1e-308 it is 0.
    exact = [slope(loss, a).ln() for a in MARGINS]
    exact = [b if abs(b) > 1e-307 else Decimal(0) for b in exact]
    assert error(log_slopes(MARGINS, y), exact) < 4


@each_tailed
def test_values_and_slopes_where_float64_reaches(loss: Loss) -> None:
    reached, y = np.abs(MARGINS) <= 700, np.ones(len(MARGINS))
    values, slopes = (compiled(loss, name)(MARGINS, y)[reached] for name in ("values", "slopes"))
    assert error(values, [value(loss, a) for a in MARGINS[reached]]) < 4
    assert error(slopes, [slope(loss, a) for a in MARGINS[reached]]) < 4


def test_log_of_the_logistic_loss_is_right_where_it_crosses_zero() -> None:
    root = -math.log(math.e - 1)
    q = [root]
    for _ in range(20):
        q = [np.nextafter(q[0], -1), *q, np.nextafter(q[-1], 0)]
    q = [*q, *(root + s * 10.0**-k for s in (-1, 1) for k in range(1, 16))]
    q = np.resize(q, len(MARGINS))  # repeated: other sizes would be compiled again
    log_values = compiled(Logistic(), "log_values")(q, np.ones(len(q)))
    assert error(log_values, [value(Logistic(), a).ln() for a in q]) < 4


@each_tailed
@pytest.mark.parametrize("level", [-1e6, -1e3, -30.0, 0.0, 30.0, 1e3, 1e5, 1e5 * math.log(10), 1e6])
def test_log_total_at_any_level(loss: Loss, level: float) -> None:
    q, y = sample()
    q = level + q
    assert error(compiled(loss, "log_total")(q, y), [total(loss, q).ln()]) < 20


@each_tailed
@pytest.mark.parametrize("level", [-1e6, -30.0, 0.0, 30.0, 1e5, 1e6])
def test_scaled_output_gradient_at_any_level(loss: Loss, level: float) -> None:
    q, y = sample()
    q = level + q
    c = Decimal(1) / len(q) if loss.reduction == "mean" else Decimal(1)
    L = total(loss, q)
    exact = [-int(y_i) * c * slope(loss, q_i) / L for q_i, y_i in zip(q, y, strict=True)]
    # The logarithms it starts from are of the size of 30, so exp amplifies their rounding.
    assert error(compiled(loss, "scaled_output_gradient")(q, y), exact) < 40


@each_tailed
def test_total_is_the_definition(loss: Loss) -> None:
    q, y = sample()
    L = compiled(loss, "total")(q, y)
    assert error(L, [total(loss, q)]) < 8
    np.testing.assert_allclose(compiled(loss, "log_total")(q, y), np.log(L), rtol=1e-13)


def test_a_loss_that_underflows_is_zero_and_its_logarithm_is_not() -> None:
    q, y = np.full(6, 230_258.0), np.ones(6)
    assert compiled(Logistic(), "total")(q, y) == 0
    assert compiled(Logistic(), "log_total")(q, y) == -230_258
    gradient = compiled(Logistic(), "scaled_output_gradient")(q, y)
    np.testing.assert_allclose(gradient, -1 / 6, rtol=1e-15)


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
    q, y = sample(len(MARGINS))
    h = 1e-6
    values, slopes = compiled(loss, "values"), np.asarray(compiled(loss, "slopes")(q, y))
    measured = (np.asarray(values(q - h, y)) - values(q + h, y)) / (2 * h)
    np.testing.assert_allclose(slopes, measured, rtol=1e-8, atol=1e-9)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(compiled(loss, "log_slopes")(q, y), np.log(slopes), rtol=1e-13)


@functools.cache
def autodiff(loss: Loss) -> Callable[..., tuple[jax.Array, jax.Array]]:
    """The gradients of L and log L in the outputs."""
    functions = (loss.total, loss.log_total)
    return jax.jit(lambda f, y: [jax.grad(lambda f, L=L: L(y * f, y))(f) for L in functions])


@each_loss
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gradients_are_those_of_autodiff(loss: Loss, seed: int) -> None:
    q, y = sample(seed=seed)
    gradient, of_the_log = map(np.asarray, autodiff(loss)(y * q, y))
    np.testing.assert_allclose(compiled(loss, "output_gradient")(q, y), gradient, rtol=1e-13)
    scaled = compiled(loss, "scaled_output_gradient")(q, y)
    np.testing.assert_allclose(scaled, of_the_log, rtol=1e-12)
    np.testing.assert_allclose(scaled, gradient / compiled(loss, "total")(q, y), rtol=1e-12)


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
    levels = np.array([-50.0, 0.0, 50.0, 1e5])
    q, y = sample()
    many = levels[:, None] + q
    together = jax.jit(jax.vmap(all_functions(loss), in_axes=(0, None)))(many, y)
    for name in FUNCTIONS:
        alone = [getattr(loss, name)(row, y) for row in many]
        np.testing.assert_allclose(together[name], alone, rtol=1e-13, err_msg=name)


@each_loss
def test_number_types(loss: Loss) -> None:
    q, y = sample()
    whole = y.astype(int)
    single = q.astype(np.float32)
    for name in ("total", "log_total", "output_gradient", "scaled_output_gradient"):
        function = compiled(loss, name)
        np.testing.assert_array_equal(function(q, whole), function(q, y))
        assert jax.eval_shape(function, single, whole).dtype == jnp.float32


@each_tailed
@pytest.mark.parametrize(
    "q", MARGINS[np.abs(MARGINS) < 1e-300][:1].tolist() + [-50.0, -3.0, 2.0, 1e5]
)
def test_one_example_has_its_margin_as_smoothed_margin(loss: Loss, q: float) -> None:
    log_L = float(compiled(loss, "log_total")(np.array([q]), np.ones(1)))
    np.testing.assert_allclose(loss.margin_of_log_total(log_L, 1), q, rtol=1e-13, atol=1e-15)


@each_tailed
@settings(deadline=None, max_examples=30)
@given(
    st.sampled_from([1, 6]).flatmap(  # each other size would be compiled as well
        lambda n: st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n)
    )
)
def test_smoothed_margin_is_just_below_the_least_margin(loss: Loss, margins: list[float]) -> None:
    q = np.array(margins)
    n = len(margins)
    log_L = float(compiled(loss, "log_total")(q, np.ones(n)))
    smoothed = loss.margin_of_log_total(log_L, n)
    slack = 1e-9 + 1e-13 * np.abs(q).max()
    assert smoothed <= q.min() + slack
    if loss == Exponential(loss.reduction) or q.min() > 0:
        assert smoothed >= q.min() - math.log(2**n - 1) - slack


@each_tailed
def test_smoothed_margin_tends_to_the_least_margin(loss: Loss) -> None:
    q, y = sample()
    q = q - q.min() + 0.5
    gaps = []
    for c in (1e1, 1e3, 1e5):
        smoothed = loss.margin_of_log_total(compiled(loss, "log_total")(c * q, y), len(q))
        gaps.append(abs(float(smoothed / (c * q.min()) - 1)))
    assert gaps[0] < 0.1 and gaps[1] < 1e-3 and gaps[2] < 1e-9


def test_smoothed_margin_is_equation_5_of_sarussi2021() -> None:
    for n in (1, 7):
        for log_L in (-1e5, -40 - math.log(n), -39.9, -5.0, 0.0, 1.0, 3.0):
            n_L = n * Decimal(log_L).exp()
            exact = -(n_L.exp() - 1).ln() if n_L > Decimal("1e-60") else -n_L.ln()
            ours = Logistic("mean").margin_of_log_total(log_L, n)
            np.testing.assert_allclose(ours, float(exact), rtol=1e-14)
    assert Exponential("mean").margin_of_log_total(-1e5, 1) == 1e5
    assert Logistic("sum").margin_of_log_total(-1e5, 50) == 1e5
    assert Logistic().margin_of_log_total(-np.inf, 3) == np.inf
    assert Logistic().margin_of_log_total(1e6, 3) == -np.inf


def test_the_hinge_has_no_smoothed_margin() -> None:
    assert not Hinge().has_exponential_tail
    assert all(loss.has_exponential_tail for loss in TAILED)
    with pytest.raises(BadInput, match="no smoothed margin"):
        Hinge().margin_of_log_total(-1.0, 3)


def test_cross_entropy_of_ten_classes() -> None:
    rng = np.random.default_rng(0)
    outputs, labels = rng.normal(size=(6, 10)), rng.integers(10, size=6)
    p = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    value, gradient = jax.jit(cross_entropy)(outputs, labels)
    np.testing.assert_allclose(value, -np.log(p[np.arange(6), labels]).mean(), rtol=1e-14)
    by_autodiff = jax.jit(jax.grad(lambda f: cross_entropy(f, labels)[0]))(outputs)
    np.testing.assert_allclose(gradient, by_autodiff, rtol=1e-12, atol=1e-16)


def test_cross_entropy_of_two_classes_is_the_logistic_loss() -> None:
    f, y = sample()
    f = 1e3 * f
    labels = np.where(y > 0, 1, 0)
    value, _ = jax.jit(cross_entropy)(np.stack([np.zeros_like(f), f], axis=1), labels)
    np.testing.assert_allclose(value, compiled(Logistic(), "total")(y * f, y), rtol=1e-13)
