"""Gradient descent, stochastic gradient descent without replacement, and Adam.

This is what training means: the state of one network, one step, one pass over the examples, and the
stop rules. Time is counted in epochs; a step of gd is an epoch. How many epochs of many networks
are computed fast is the business of `tacit.training.backends`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit._jax import jax, jnp
from tacit.messages import near_miss
from tacit.models import Model, Params
from tacit.models.losses import Loss, Softmax, softmax_cross_entropy
from tacit.training import stopping as stops
from tacit.training.stopping import Stop, stop_of
from tacit.values import BadInput, Setting

if TYPE_CHECKING:
    import optax

RULES = ("gd", "sgd", "adam")


@dataclass(frozen=True)
class Descent:
    """Everything about the training that the compiled code depends on."""

    model: Model
    loss: Loss | None
    """None is the cross-entropy of the softmax of several outputs; labels are then 0, …, K−1."""
    rule: str
    scaled: bool
    """Step size lr / loss."""
    batch: int | None
    """Examples in a batch; None is all of them, in their order."""
    stop: Stop


class TrainingState(NamedTuple):
    """One network on its way."""

    params: Params
    optimizer: Any
    epoch: jax.Array
    step: jax.Array
    status: jax.Array
    """A code of `tacit.training.stopping`; RUNNING until something ends the run."""
    best: jax.Array
    """Smallest log loss so far, and the epochs since it was reached."""
    stale: jax.Array
    reference: Params
    """The weights at the last power of two of epochs, for the `direction` rule; zero before."""


def parse_descent(setting: Setting, n: int) -> Descent:
    """The rule of a setting, for n examples."""
    rule, batch = setting.rule, setting.batch
    if rule == "flow":
        raise BadInput(f"unknown rule 'flow'{near_miss('flow', RULES)}")
    if rule == "gd" and batch not in (None, n):
        raise BadInput(
            f"`rule='gd'` uses all {n} examples; `batch={batch}` needs `rule='sgd'` or adam"
        )
    if batch is not None and batch > n:
        raise BadInput(f"`batch={batch}` must be between 1 and the number of examples, {n}")
    return Descent(
        model=setting.model,
        loss=None if isinstance(setting.loss, Softmax) else setting.loss,
        rule=rule,
        scaled=setting.step == "scaled",
        batch={"gd": None, "sgd": batch or 1, "adam": batch}[rule],
        stop=stop_of(setting.stop),
    )


def start(descent: Descent, weights: dict[str, Any]) -> TrainingState:
    """Epoch 0 with these weights."""
    params = {part: jnp.asarray(array) for part, array in weights.items()}
    zero = jnp.zeros((), jnp.int64)
    state = TrainingState(
        params=params,
        optimizer=_adam(0.0).init(descent.model.trained(params)) if descent.rule == "adam" else (),
        epoch=zero,
        step=zero,
        status=zero,
        best=jnp.zeros(()),
        stale=zero,
        reference=params,
    )
    return reset_stopping(state)


def reset_stopping(state: TrainingState) -> TrainingState:
    """The state with the same weights, its stop rules as if they had seen nothing yet."""
    return state._replace(
        status=jnp.full_like(state.status, stops.RUNNING),
        best=jnp.full_like(state.best, jnp.inf),
        stale=jnp.zeros_like(state.stale),
        reference=jax.tree.map(jnp.zeros_like, state.params),
    )


def named_leaves(state: TrainingState) -> dict[str, jax.Array]:
    """Every array of a state under a name such as `params.W`."""

    def word(key: Any) -> str:
        return str(getattr(key, "name", getattr(key, "key", getattr(key, "idx", key))))

    leaves = jax.tree.leaves_with_path(state)
    return {".".join(map(word, path)): leaf for path, leaf in leaves}


def epoch(
    descent: Descent,
    state: TrainingState,
    X: jax.Array,
    y: jax.Array,
    order: jax.Array,
    lr: jax.Array,
) -> TrainingState:
    """One pass over the data. `step` stops counting where an output is no longer finite."""
    if descent.batch is None:
        return step(descent, state, X, y, lr)

    def move(state: TrainingState, rows: jax.Array) -> TrainingState:
        return step(descent, state, X[rows], y[rows], lr)

    return in_turn(move, state, order, descent.batch)


def in_turn(
    move: Callable[[TrainingState, jax.Array], TrainingState],
    state: TrainingState,
    order: jax.Array,
    size: int,
) -> TrainingState:
    """Move along batches of so many examples, in this order; the last batch may be smaller."""
    whole = len(order) // size * size

    def some(state: TrainingState, rows: jax.Array) -> tuple[TrainingState, None]:
        return move(state, rows), None

    state, _ = jax.lax.scan(some, state, order[:whole].reshape(-1, size))
    return move(state, order[whole:]) if whole < len(order) else state


def step(
    descent: Descent, state: TrainingState, X: jax.Array, y: jax.Array, lr: jax.Array
) -> TrainingState:
    """One step on these examples."""
    model, params = descent.model, state.params
    f = model(params, X)
    gradient = model.gradient(params, X, _output_gradient(descent, f, y))
    optimizer = state.optimizer
    if descent.rule == "adam":
        trained = model.trained(params)
        change, optimizer = _adam(lr).update(model.trained(gradient), optimizer, trained)
        params = {**params, **jax.tree.map(jnp.add, trained, change)}
    else:
        params = jax.tree.map(lambda p, dp: p - lr * dp, params, gradient)
    # While the outputs are finite, the steps count: the count ends at the step that broke them.
    count = jnp.where(jnp.all(jnp.isfinite(f)), 1, 0)
    return state._replace(params=params, optimizer=optimizer, step=state.step + count)


def _output_gradient(descent: Descent, f: jax.Array, y: jax.Array) -> jax.Array:
    """∂L/∂f(x_i); ∂log L/∂f(x_i) where the step is scaled."""
    if descent.loss is None:
        return softmax_cross_entropy(f, y)[1]
    q = y * f
    if descent.scaled:
        return descent.loss.scaled_output_gradient(q, y)
    return descent.loss.output_gradient(q, y)


def _margins(descent: Descent, f: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
    """How far each point is on its right side, and the log loss."""
    if descent.loss is not None:
        q = y * f
        return q, descent.loss.log_total(q, y)
    own = jnp.arange(f.shape[1]) == y[:, None]
    best_other = jnp.max(f, axis=1, where=~own, initial=-jnp.inf)
    return jnp.sum(f * own, axis=1) - best_other, jnp.log(softmax_cross_entropy(f, y)[0])


def check_stop(descent: Descent, state: TrainingState, X: jax.Array, y: jax.Array) -> TrainingState:
    """Apply the stop rules to the weights as they are."""
    stop, params = descent.stop, state.params
    q, log_loss = _margins(descent, descent.model(params, X), y)
    better = log_loss < state.best
    stale = jnp.where(better, 0, state.stale + 1)
    status = state.status

    def on(condition: jax.Array, code: int) -> None:
        nonlocal status
        status = jnp.where((status == stops.RUNNING) & condition, code, status)

    if stop.log_loss is not None:
        on(log_loss <= stop.log_loss, stops.REACHED_LOSS)
    if stop.zero_error:
        on(jnp.all(q > 0), stops.ZERO_ERROR)
    if stop.patience is not None:
        on(stale >= stop.patience, stops.NO_IMPROVEMENT)
    if stop.agreement:
        on(_agree(params, X), stops.AGREEMENT)
    reference = state.reference
    if stop.angle is not None:
        # Directions settle like 1/log t: from one epoch to the next hardly anything turns, long
        # before.
        power_of_two = (state.epoch & (state.epoch - 1)) == 0
        turned = _angle(descent.model.trained(params), descent.model.trained(reference))
        settled = power_of_two & jnp.all(q > 0) & (turned <= stop.angle)  # no angle to zero
        on(settled, stops.DIRECTION)
        reference = jax.tree.map(partial(jnp.where, power_of_two), params, reference)
    return state._replace(
        status=status, best=jnp.minimum(state.best, log_loss), stale=stale, reference=reference
    )


def _agree(params: Params, X: jax.Array) -> jax.Array:
    """All neurons of one output sign are on the same side of every point."""
    side = jnp.sign(X @ params["W"].T)
    agree = jnp.asarray(True)
    for sign in (1, -1):
        chosen = params["a"] * sign > 0
        high = jnp.max(side, axis=1, where=chosen, initial=-1)
        low = jnp.min(side, axis=1, where=chosen, initial=1)
        agree &= ~chosen.any() | jnp.all((high == low) & (high != 0))
    return agree


def _angle(params: Params, others: Params) -> jax.Array:
    """Angle between two sets of weights; accurate also when it is tiny."""
    u, v = (jnp.concatenate([p[k].ravel() for k in sorted(p)]) for p in (params, others))
    u, v = u / jnp.linalg.norm(u), v / jnp.linalg.norm(v)
    # The arccosine of u·v could not tell an angle below 1e-8 from 0.
    return 2 * jnp.arctan2(jnp.linalg.norm(u - v), jnp.linalg.norm(u + v))


def _adam(lr: Any) -> optax.GradientTransformation:
    import optax  # and with it JAX, which who only reads runs does not need

    return optax.adam(lr)
