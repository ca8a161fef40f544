"""Many tiny networks at once, one in each lane: gradient descent on a handful of examples.

Networks of a few filters on a few examples cost less to compute than to start computing. So the
networks of an ensemble stand side by side on the last axis, and each operation serves all of them.
Two facts keep the work small. To a filter an example is the set of its distinct patches; and data
sets that differ from lane to lane are drawn from a small pool of such examples, so that a lane's
data is a weight for each example of the pool, zero for those it does not have. (A two-layer net is
the case of one patch, the point itself.)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache, partial, reduce
from operator import add
from typing import NamedTuple

import numpy as np

from tacit._jax import jax, jnp
from tacit.models import ConvMaxPool, TwoLayer, phi
from tacit.models.losses import Loss
from tacit.training import stopping as stops
from tacit.training.rules import Descent
from tacit.values import Dataset

MOST_TERMS = 64
"""Above this many products or patches per step, all written out, compiling takes too long."""

Example = tuple[int, ...]
"""The numbers of its distinct patches."""


class Pool(NamedTuple):
    """The distinct examples of an ensemble's data sets."""

    patches: np.ndarray
    """U × p, distinct."""
    examples: tuple[Example, ...]
    labels: np.ndarray
    weights: np.ndarray
    """K examples × members: the loss coefficients of a member's data, 0 where it has no such."""


class Lanes(NamedTuple):
    """Networks on their way, on the last axis of every array."""

    W: jax.Array
    """p × m × lanes."""
    a: jax.Array
    """m × lanes."""
    epoch: jax.Array
    status: jax.Array
    best: jax.Array
    stale: jax.Array


def pool(descent: Descent, sets: Sequence[Dataset]) -> Pool | None:
    """The pool of these data sets; None where lanes are not for this training or this data."""
    model, stop, loss = descent.model, descent.stop, descent.loss
    if descent.batch is not None or descent.rule == "adam" or descent.scaled or loss is None:
        return None
    if stop.agreement or stop.angle is not None or not isinstance(model, ConvMaxPool | TwoLayer):
        return None
    size = model.patch if isinstance(model, ConvMaxPool) else sets[0].d
    distinct = list({id(data): data for data in sets}.values())
    patches: set[tuple[float, ...]] = set()
    found: dict[tuple[frozenset, int], dict[int, float]] = {}
    terms = 0

    @cache
    def rows_of(point: bytes) -> frozenset[tuple[float, ...]]:
        return frozenset(map(tuple, np.frombuffer(point).reshape(-1, size).tolist()))

    for i, data in enumerate(distinct):
        labels = tuple(data.y.tolist())
        for x, y, c in zip(data.X, labels, _coefficients(loss, labels), strict=True):
            rows = rows_of((x + 0.0).tobytes())  # −0 becomes 0
            if (rows, y) not in found:
                found[rows, y] = {}
                patches |= rows
                terms += len(rows)
            weights = found[rows, y]
            weights[i] = weights.get(i, 0.0) + c
            if len(patches) * size > MOST_TERMS or terms > MOST_TERMS:
                return None
    # In an order of their own, so that sums do not depend on what else is in the pool.
    number = {row: u for u, row in enumerate(sorted(patches))}
    keys = {key: (tuple(sorted(number[row] for row in key[0])), key[1]) for key in found}
    ordered = sorted(keys, key=keys.__getitem__)
    table = np.zeros((len(ordered), len(distinct)))
    for k, key in enumerate(ordered):
        for i, weight in found[key].items():
            table[k, i] = weight
    column = {id(data): i for i, data in enumerate(distinct)}
    return Pool(
        np.array(list(number)),
        tuple(keys[key][0] for key in ordered),
        np.array([float(y) for _, y in ordered]),
        table[:, [column[id(data)] for data in sets]],
    )


@lru_cache
def _coefficients(loss: Loss, labels: tuple[int, ...]) -> list[float]:
    return np.asarray(loss.weights(jnp.array(labels))).tolist()


def size_of_block(width: int) -> int:
    """Networks that go through the compiled code together: what fits into the fast caches.

    It is the same however many there are: other sizes may compile to other roundings.
    """
    return 104 if width <= 4 else max(16, min(32, 1600 // width // 8 * 8))


@partial(jax.jit, static_argnames=("descent", "examples"))
def advance(
    descent: Descent,
    examples: tuple[Example, ...],
    lanes: Lanes,
    patches: jax.Array,
    labels: jax.Array,
    weights: jax.Array,
    lr: jax.Array,
    until: jax.Array,
) -> Lanes:
    """Train every lane until epoch `until` or until a stop rule ends it.

    Among patches that tie for a maximum, the first one of the pool takes the gradient. A lane whose
    numbers stop being finite ends as diverged; its weights are then of no use.
    """
    model, loss = descent.model, descent.loss
    assert isinstance(model, ConvMaxPool | TwoLayer) and loss is not None
    begun, y = lanes.epoch, labels[:, None]

    def hidden(W: jax.Array) -> tuple[jax.Array, jax.Array]:
        """φ of every patch, and of every example its maximum over patches: (U, m, lanes), …"""
        scores = jnp.stack(
            [reduce(add, [x[c] * W[c] for c in range(len(W))]) for x in patches],
        )
        # Without barriers the compiler computes all of this anew for every number it is used in.
        t = jax.lax.optimization_barrier(phi(scores, model.alpha))
        H = jnp.stack([reduce(jnp.maximum, [t[u] for u in example]) for example in examples])
        return t, jax.lax.optimization_barrier(H)

    def outputs(a: jax.Array, H: jax.Array) -> jax.Array:
        if model.homogeneity == 1:  # the output layer is the same in all lanes
            return jnp.einsum("m,kms->ks", a[:, 0], H)
        return jnp.sum(a * H, axis=1)

    def look(lanes: Lanes, f: jax.Array) -> Lanes:
        """Apply the stop rules where an epoch was trained since the last look."""
        q = y * f
        here = (lanes.status == stops.RUNNING) & (lanes.epoch > begun)
        status = jnp.where(here & ~jnp.all(jnp.isfinite(f), axis=0), stops.DIVERGED, lanes.status)
        best, stale, stop = lanes.best, lanes.stale, descent.stop

        def on(condition: jax.Array, code: int) -> jax.Array:
            return jnp.where(here & (status == stops.RUNNING) & condition, code, status)

        if stop.log_loss is not None or stop.patience is not None:
            values = jnp.where(weights > 0, loss.log_values(q, y), -jnp.inf)
            shift = jnp.max(values, axis=0)
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
        return lanes._replace(status=status, best=best, stale=stale)

    def one_epoch(lanes: Lanes) -> Lanes:
        t, H = hidden(lanes.W)
        f = outputs(lanes.a, H)
        lanes = look(lanes, f)
        going = (lanes.status == stops.RUNNING) & (lanes.epoch < until)
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
            for c in range(len(lanes.W))
        ]
        a = lanes.a
        if model.homogeneity == 2:
            a = a - jnp.sum(g[:, None] * H, axis=0)
        return lanes._replace(
            W=lanes.W - lanes.a * jnp.stack(moves), a=a, epoch=lanes.epoch + going
        )

    def running(lanes: Lanes) -> jax.Array:
        return jnp.any((lanes.status == stops.RUNNING) & (lanes.epoch < until))

    lanes = jax.lax.while_loop(running, one_epoch, lanes)
    return look(lanes, outputs(lanes.a, hidden(lanes.W)[1]))
