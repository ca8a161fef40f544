"""Many networks on a GPU at once, by `jax.vmap`: many small networks fill it and one does not.

The bits of a network may depend on how many stand beside it, because the products of matrices do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tacit._jax import jax, jit, jnp
from tacit.models import ConvMaxPool, TwoLayer
from tacit.training import stopping as stops
from tacit.training.backends.job import Job, Trained
from tacit.training.backends.one_by_one import run_epochs
from tacit.training.orders import MOST_ORDERS, epochs_at_once, orders
from tacit.training.rules import Descent, TrainingState, start

MOST_NUMBERS = 2**27
"""Numbers in the data, orders, weights and layers of what is trained together (1 GB)."""


def suits(job: Job) -> bool:
    """Whether there is a GPU, and the networks have small layers."""
    return job.for_gpu and isinstance(job.descent.model, TwoLayer | ConvMaxPool)


def train(job: Job, members: np.ndarray, trained: Trained) -> None:
    """Train these networks, as many together as memory takes."""
    n, d, m = job.sizes
    model, batch = job.descent.model, job.descent.batch
    patches = d // model.patch if isinstance(model, ConvMaxPool) else 1
    weights = sum(array[0].size for array in job.start.values())
    drawn = MOST_ORDERS * n if batch else 0
    each = n * d + weights + drawn + (batch or n) * patches * m
    size = max(1, MOST_NUMBERS // each)
    for first in range(0, len(members), size):
        some = members[first : first + size]
        X, y = job.stacked(some)
        begun = [start(job.descent, job.start_of(i)) for i in some]
        states = jax.tree.map(lambda *leaves: jnp.stack(leaves), *begun)
        seeds, lr = [int(job.seeds[i]) for i in some], jnp.asarray(job.lr)
        for t, moment in enumerate(job.moments):
            states = advance_all(job.descent, states, X, y, seeds, lr, moment)
            for part, array in states.params.items():
                trained.weights[part][t, some] = array
        trained.epochs[some], trained.status[some] = states.epoch, states.status
        job.tell(first + len(some), len(members))


def advance_all(
    descent: Descent,
    states: TrainingState,
    X: jax.Array,
    y: jax.Array,
    seeds: Sequence[int],
    lr: jax.Array,
    until: int,
) -> TrainingState:
    """`one_by_one.advance` of several networks: every array has an axis of them in front."""
    n = X.shape[1]
    if descent.batch is None:
        nothing = jnp.zeros((len(seeds), 1, 0), jnp.int32)
        return _run_epochs(descent, states, X, y, nothing, lr, until)
    many = epochs_at_once(n)
    while True:
        epochs = np.asarray(states.epoch)[np.asarray(states.status) == stops.RUNNING]
        if not (epochs < until).any():
            return states
        chapter = int(epochs.min()) // many
        drawn = jnp.asarray(np.stack([orders(seed, chapter, n) for seed in seeds]))
        states = _run_epochs(descent, states, X, y, drawn, lr, min(until, (chapter + 1) * many))


@jit(static_argnames="descent")
def _run_epochs(descent: Descent, states: TrainingState, *rest: Any) -> TrainingState:
    return jax.vmap(partial(run_epochs, descent), in_axes=(0, 0, 0, 0, None, None))(states, *rest)
