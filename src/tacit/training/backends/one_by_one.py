"""Networks one after the other through the same compiled function, on all cores.

So a seed gives the same bits alone, in any ensemble, and however its epochs are cut into pieces.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from tacit._jax import jax, jit, jnp
from tacit.training import rules
from tacit.training import stopping as stops
from tacit.training.backends import blocks
from tacit.training.backends.job import Job, Trained
from tacit.training.backends.threads import in_threads
from tacit.training.orders import epochs_at_once, orders
from tacit.training.rules import Descent, TrainingState, check_stop, start


def suits(job: Job) -> bool:
    """True: any networks can be trained one by one."""
    return True


def train(job: Job, members: np.ndarray, trained: Trained) -> None:
    """Train each of these networks on its own."""
    lr = jnp.asarray(job.lr, job.dtype)

    def one(i: int) -> None:
        state = start(job.descent, job.start_of(i))
        X = jnp.asarray(job.sets[i].X, job.dtype)
        y = jnp.asarray(job.sets[i].y, job.label_dtype)
        for t, moment in enumerate(job.moments):
            state = advance(job.descent, state, X, y, int(job.seeds[i]), lr, moment)
            for part, array in state.params.items():
                trained.weights[part][t, i] = array
        trained.epochs[i], trained.status[i] = int(state.epoch), int(state.status)

    for done, _ in enumerate(in_threads(one, members.tolist(), job.threads), start=1):
        job.tell(done, len(members))


def advance(
    descent: Descent,
    state: TrainingState,
    X: jax.Array,
    y: jax.Array,
    seed: int,
    lr: jax.Array,
    until: int,
) -> TrainingState:
    """Train until epoch `until`, or until a stop rule or a number that is not finite ends it."""
    n = X.shape[0]
    if descent.batch is None:
        return run_epochs(descent, state, X, y, jnp.zeros((1, 0), jnp.int32), lr, until)
    many = epochs_at_once(n)
    while (epoch := int(state.epoch)) < until and int(state.status) == stops.RUNNING:
        chapter = epoch // many
        drawn = jnp.asarray(orders(seed, chapter, n))
        state = run_epochs(descent, state, X, y, drawn, lr, min(until, (chapter + 1) * many))
    return state


@jit(static_argnames="descent")
def run_epochs(
    descent: Descent,
    state: TrainingState,
    X: jax.Array,
    y: jax.Array,
    orders: jax.Array,
    lr: jax.Array,
    until: int,
) -> TrainingState:
    """`advance` within a chapter, compiled; `orders` are those of the chapter's epochs."""
    steps = 1 if descent.batch is None else math.ceil(X.shape[0] / descent.batch)
    one_pass = blocks.epoch if blocks.suits(descent, X.shape[1]) else rules.epoch

    def running(state: TrainingState) -> jax.Array:
        return (state.epoch < until) & (state.status == stops.RUNNING)

    def one_epoch(state: TrainingState) -> TrainingState:
        moved = one_pass(descent, state, X, y, orders[state.epoch % len(orders)], lr)
        finite = moved.step == state.step + steps
        for part in moved.params.values():
            finite &= jnp.all(jnp.isfinite(part))
        diverged = state._replace(
            step=moved.step, status=jnp.full_like(state.status, stops.DIVERGED)
        )
        moved = moved._replace(epoch=state.epoch + 1)
        if descent.stop.any:
            moved = check_stop(descent, moved, X, y)
        return jax.tree.map(partial(jnp.where, finite), moved, diverged)

    return jax.lax.while_loop(running, one_epoch, state)
