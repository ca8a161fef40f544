"""Many tiny networks at once, batched on the last axis: gradient descent on a few examples.

Networks of a few filters on a few examples cost less to compute than to start computing. So the
networks of an ensemble are batched on the last axis of every array, and each operation serves all
of them. Two facts keep the arrays small. To a filter an example is the set of its distinct patches;
and the data sets of a batch are drawn from a small pool of such examples, so that the data of one
network is a weight for each example of the pool, zero for those it does not have. (A two-layer
network is the case of one patch, the point itself.)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from operator import add
from typing import NamedTuple

import numpy as np

from tacit._jax import jax, jit, jnp
from tacit.models import ConvMaxPool, TwoLayer, phi
from tacit.training import stopping as stops
from tacit.training.backends.job import Job, Trained
from tacit.training.backends.pools import Example, Pool, exact, pool
from tacit.training.backends.threads import in_threads
from tacit.training.rules import Descent

PIECE = 1000
"""Epochs after which networks that have ended leave their batch."""


class Networks(NamedTuple):
    """Networks on their way, on the last axis of every array."""

    W: jax.Array
    """p × m × networks."""
    a: jax.Array
    """m × networks."""
    epoch: jax.Array
    status: jax.Array
    best: jax.Array
    stale: jax.Array


def suits(job: Job) -> bool:
    """Full-batch gradient descent in float64 with stop rules that look at margins only.

    Whether the data is small enough is seen when it is pooled.
    """
    model, stop, descent = job.descent.model, job.descent.stop, job.descent
    plain = descent.rule == "gd" and not descent.scaled and descent.loss is not None
    margins_only = not stop.agreement and stop.angle is None
    kind = isinstance(model, ConvMaxPool | TwoLayer)
    return job.batched and job.double and plain and margins_only and kind


def train(job: Job, members: np.ndarray, trained: Trained) -> None:
    """Train the networks whose data sets can be pooled; the others are left as they are."""
    for some, common in _pools(job):
        _train_pool(job, common, some, trained)


def _pools(job: Job) -> list[tuple[np.ndarray, Pool]]:
    """Networks that are batched together, and the pool of their examples.

    Which other examples are in a pool changes how sums are rounded, unless all products are exact.
    So different data sets share a batch only then, and others are left to another backend: the bits
    of a network do not depend on what the other data sets are. (They may depend on whether there
    are any, since data that all networks share may be batched in any case.)
    """
    distinct = {id(data): data for data in job.sets}
    shared = [key for key, data in distinct.items() if len(distinct) == 1 or exact(data)]

    def of(keys: list[int]) -> Iterator[tuple[np.ndarray, Pool]]:
        members = np.array([i for i, data in enumerate(job.sets) if id(data) in keys])
        common = pool(job.descent, [job.sets[i] for i in members]) if keys else None
        if common is not None:
            yield members, common

    return list(of(shared)) or [one for key in shared for one in of([key])]


def _train_pool(job: Job, common: Pool, members: np.ndarray, trained: Trained) -> None:
    """Train these together; those that end make room for others after every piece."""
    W = np.moveaxis(job.start["W"][members], 0, -1).swapaxes(0, 1).copy()
    a = job.start["a"][members].T.copy()
    epoch, stale = np.zeros((2, len(members)), np.int64)
    status, best = np.full(len(members), stops.RUNNING), np.full(len(members), np.inf)
    arrays = W, a, epoch, status, best, stale
    fixed = jnp.asarray(common.patches), jnp.asarray(common.labels)
    size = batch_size(W.shape[1])

    def block(chosen: np.ndarray, until: int) -> None:
        # Repeated to the full size: another shape would be compiled anew, and might round
        # otherwise.
        padded = np.resize(chosen, size)
        nets = Networks(*(jnp.asarray(array[..., padded]) for array in arrays))
        weights = jnp.asarray(common.weights[:, padded])
        numbers = jnp.asarray(job.lr), jnp.asarray(until, jnp.int64)
        moved = advance(job.descent, common.examples, nets, *fixed, weights, *numbers)
        for array, new in zip(arrays, moved, strict=True):
            array[..., chosen] = np.asarray(new)[..., : len(chosen)]

    for t, moment in enumerate(job.moments):
        while (going := np.flatnonzero((status == stops.RUNNING) & (epoch < moment))).size:
            until = min(int(epoch[going].min()) + PIECE, moment)
            blocks = [going[first : first + size] for first in range(0, len(going), size)]
            for _ in in_threads(partial(block, until=until), blocks, job.threads):
                job.tell(int((status != stops.RUNNING).sum()), len(members))
        trained.weights["W"][t, members] = np.moveaxis(W, -1, 0).swapaxes(1, 2)
        trained.weights["a"][t, members] = a.T
    trained.epochs[members], trained.status[members] = epoch, status


def batch_size(width: int) -> int:
    """Networks that go through the compiled code together: what fits into the fast caches.

    It is the same however many there are: other sizes may compile to other roundings.
    """
    return 104 if width <= 4 else max(16, min(32, 1600 // width // 8 * 8))


@jit(static_argnames=("descent", "examples"))
def advance(
    descent: Descent,
    examples: tuple[Example, ...],
    nets: Networks,
    patches: jax.Array,
    labels: jax.Array,
    weights: jax.Array,
    lr: jax.Array,
    until: jax.Array,
) -> Networks:
    """Train every network until epoch `until` or until a stop rule ends it.

    Among patches that tie for a maximum, the first one of the pool takes the gradient. A network
    whose numbers stop being finite ends as diverged; its weights are then of no use.
    """
    model, loss = descent.model, descent.loss
    assert isinstance(model, ConvMaxPool | TwoLayer) and loss is not None
    begun, y = nets.epoch, labels[:, None]

    def hidden(W: jax.Array) -> tuple[jax.Array, jax.Array]:
        """φ of every patch, and of every example its maximum over patches: (U, m, networks), …"""
        scores = jnp.stack([reduce(add, [x[c] * W[c] for c in range(len(W))]) for x in patches])
        # Without barriers the compiler computes all of this anew for every number it is used in.
        t = jax.lax.optimization_barrier(phi(scores, model.alpha))
        H = jnp.stack([reduce(jnp.maximum, [t[u] for u in example]) for example in examples])
        return t, jax.lax.optimization_barrier(H)

    def outputs(a: jax.Array, H: jax.Array) -> jax.Array:
        if model.homogeneity == 1:  # the output layer is the same in all networks
            return jnp.einsum("m,kms->ks", a[:, 0], H)
        return jnp.sum(a * H, axis=1)

    def look(nets: Networks, f: jax.Array) -> Networks:
        """Apply the stop rules where an epoch was trained since the last look."""
        q = y * f
        here = (nets.status == stops.RUNNING) & (nets.epoch > begun)
        status = jnp.where(here & ~jnp.all(jnp.isfinite(f), axis=0), stops.DIVERGED, nets.status)
        best, stale, stop = nets.best, nets.stale, descent.stop

        def on(condition: jax.Array, code: int) -> jax.Array:
            return jnp.where(here & (status == stops.RUNNING) & condition, code, status)

        if stop.log_loss is not None or stop.patience is not None:
            values = jnp.where(weights > 0, loss.log_values(q, y), -jnp.inf)
            shift = jnp.max(values, axis=0)
            # A hinge loss of 0 has the logarithm −∞, and −∞ − (−∞) would be nan.
            shift = jnp.where(shift > -jnp.inf, shift, 0.0)
            log_loss = shift + jnp.log(jnp.sum(weights * jnp.exp(values - shift), axis=0))
            stale = jnp.where(here, jnp.where(log_loss < best, 0, stale + 1), stale)
            best = jnp.where(here, jnp.minimum(best, log_loss), best)
            if stop.log_loss is not None:
                status = on(log_loss <= stop.log_loss, stops.REACHED_LOSS)
        if stop.zero_error:
            status = on(jnp.all((q > 0) | (weights == 0), axis=0), stops.ZERO_ERROR)
        if stop.patience is not None:
            status = on(stale >= stop.patience, stops.NO_IMPROVEMENT)
        return nets._replace(status=status, best=best, stale=stale)

    def one_epoch(nets: Networks) -> Networks:
        t, H = hidden(nets.W)
        f = outputs(nets.a, H)
        nets = look(nets, f)
        going = (nets.status == stops.RUNNING) & (nets.epoch < until)
        step = jnp.where(going, lr, 0.0)
        g = -y * weights * loss.slopes(y * f, y)
        g = jax.lax.optimization_barrier(jnp.where(going, step * g, 0.0))
        pull = [jnp.zeros(())] * len(patches)
        for k, example in enumerate(examples):
            rest = jnp.where(H[k] > 0, g[k], model.alpha * g[k])
            for u in example[:-1]:
                taken = jnp.where(t[u] == H[k], rest, 0.0)
                pull[u] = pull[u] + taken
                rest = rest - taken
            pull[example[-1]] = pull[example[-1]] + rest
        pulls = jax.lax.optimization_barrier(jnp.stack(pull))
        moves = [
            reduce(add, [x[c] * pulls[u] for u, x in enumerate(patches)])
            for c in range(len(nets.W))
        ]
        a = nets.a
        if model.homogeneity == 2:
            a = a - jnp.sum(g[:, None] * H, axis=0)
        return nets._replace(W=nets.W - nets.a * jnp.stack(moves), a=a, epoch=nets.epoch + going)

    def running(nets: Networks) -> jax.Array:
        return jnp.any((nets.status == stops.RUNNING) & (nets.epoch < until))

    nets = jax.lax.while_loop(running, one_epoch, nets)
    return look(nets, outputs(nets.a, hidden(nets.W)[1]))
