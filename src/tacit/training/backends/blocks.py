"""SGD with one example a step, exactly, without touching all weights in every step.

A step of SGD-1 moves W along one point only, W ← W + s_i x_iᵀ. So over a block of B points the
pre-activations are z_i = W₀ x_i + Σ_{j<i} (x_i·x_j) s_j: one matrix product at the start of the
block, one at its end, and small sums between. The iterates are those of SGD-1 up to rounding. In
R^784 this is several times faster: the weights are read twice in a block, not twice in a step.
"""

from __future__ import annotations

from typing import NamedTuple

from tacit._jax import jax, jnp
from tacit.models import TwoLayer, phi, phi_prime
from tacit.models.losses import Loss
from tacit.training.rules import Descent, TrainingState, in_turn

BLOCK = 50
"""Points in a block. In fewer dimensions than this, plain steps cost less."""


class Moved(NamedTuple):
    """The weights after some steps, and the number of steps whose output was finite."""

    W: jax.Array
    a: jax.Array
    finite: jax.Array


def suits(descent: Descent, d: int) -> bool:
    """Whether this training of networks on R^d goes through blocks."""
    one_by_one = descent.rule == "sgd" and descent.batch == 1
    return one_by_one and isinstance(descent.model, TwoLayer) and d >= BLOCK


def epoch(
    descent: Descent,
    state: TrainingState,
    X: jax.Array,
    y: jax.Array,
    order: jax.Array,
    lr: jax.Array,
) -> TrainingState:
    """What `rules.epoch` computes, up to rounding."""
    model, loss = descent.model, descent.loss
    assert isinstance(model, TwoLayer) and loss is not None

    def move(state: TrainingState, rows: jax.Array) -> TrainingState:
        moved = block(model, loss, state.params["W"], state.params["a"], X[rows], y[rows], lr)
        params = {"W": moved.W, "a": moved.a}
        return state._replace(params=params, step=state.step + moved.finite)

    return in_turn(move, state, order, BLOCK)


def block(
    model: TwoLayer,
    loss: Loss,
    W: jax.Array,
    a: jax.Array,
    X: jax.Array,
    y: jax.Array,
    lr: jax.Array,
) -> Moved:
    """A step of SGD-1 for each row of X, in their order."""

    class Inside(NamedTuple):
        S: jax.Array
        """Row i is s_i, or zero while its step has not been made."""
        a: jax.Array
        finite: jax.Array

    def step(at: Inside, row: tuple[jax.Array, ...]) -> tuple[Inside, None]:
        start, products, label, i = row
        z = start + products @ at.S
        hidden = phi(z, model.alpha)
        f = hidden @ at.a
        g = loss.output_gradient((label * f)[None], label[None])[0]
        s = -lr * g * phi_prime(z, model.alpha) * at.a
        return Inside(
            jax.lax.dynamic_update_slice(at.S, s[None], (i, jnp.zeros_like(i))),
            at.a - lr * g * hidden if model.train == "both" else at.a,
            at.finite + jnp.isfinite(f),
        ), None

    begin = Inside(jnp.zeros((len(X), len(a)), W.dtype), a, jnp.zeros((), jnp.int64))
    rows = (X @ W.T, X @ X.T, y, jnp.arange(len(X)))
    end, _ = jax.lax.scan(step, begin, rows)
    return Moved(W + end.S.T @ X, end.a, end.finite)
