"""SGD-1 in blocks makes the steps of SGD-1."""

from itertools import product

import numpy as np
import pytest

from helpers import rest_long
from tacit import Setting, load
from tacit._jax import jax, jnp
from tacit.models import TwoLayer
from tacit.models.losses import parse_loss
from tacit.training import train_many
from tacit.training.backends.blocks import block

LR = 1e-3


@pytest.mark.parametrize(
    "train, loss",
    rest_long(
        product(["first", "both"], ["logistic", "hinge", "exponential"]),
        [("first", "exponential"), ("both", "logistic"), ("first", "hinge")],
    ),
)
def test_a_block_is_as_many_plain_steps(train, loss, rng):
    model, loss = TwoLayer(alpha=0.2, train=train), parse_loss(loss)
    X, y = rng.standard_normal((37, 60)), rng.choice([-1.0, 1.0], 37)
    params = {"W": jnp.asarray(0.01 * rng.standard_normal((8, 60))), "a": jnp.ones(8)}
    moved = block(model, loss, params["W"], params["a"], jnp.asarray(X), jnp.asarray(y), LR)

    @jax.jit
    def plain(params, x, label):
        g = loss.output_gradient(label * model(params, x), label)
        step = model.gradient(params, x, g)
        return {part: params[part] - LR * step[part] for part in params}

    for x, label in zip(X[:, None], y[:, None], strict=True):
        params = plain(params, x, label)
    np.testing.assert_allclose(moved.W, params["W"], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(moved.a, params["a"], rtol=1e-12, atol=1e-13)
    assert moved.finite == 37


def test_a_step_too_large_ends_as_diverged():
    """With its last good weights: 120 points are two blocks of 50 and a rest of 20."""
    data = load("linear:n=120,d=60,seed=1")
    setting = Setting(width=6, rule="sgd", lr=1e200, loss="hinge")
    run = train_many(data, setting, epochs=5, seeds=[0, 1])
    assert set(run.outcomes) == {"diverged"}
    assert np.isfinite(run.last["W"]).all()
