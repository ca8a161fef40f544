"""The ways to train the networks of an ensemble, and the choice of the fastest that there is.

On a processor tiny networks stand side by side in lanes and others are trained one by one, on all
cores. On a GPU a network has a multiprocessor to itself where it fits, else many go side by side.
Except side by side on a GPU, a network's bits do not depend on how many are trained beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from tacit._jax import jax, jnp
from tacit.models import ConvMaxPool, TwoLayer
from tacit.training import stopping as stops
from tacit.training.backends import cuda as fused
from tacit.training.backends.lanes import Lanes, Pool, pool, size_of_block
from tacit.training.backends.lanes import advance as advance_lanes
from tacit.training.rules import MOST_ORDERS, Descent, advance, advance_all, start
from tacit.values import Dataset

Weights = dict[str, np.ndarray]
Trained = tuple[Weights, np.ndarray, np.ndarray]
"""Weights at every moment, the epochs reached, and codes of how it ended, of each member."""

T = TypeVar("T")

PIECE = 1000
"""Epochs after which members that have ended leave the lanes."""
TOGETHER = 2**27
"""Numbers in the data, orders, weights and layers of what a GPU trains side by side."""
LARGEST = 1e100
"""Weights beyond this are on their way out of float64."""


@dataclass(frozen=True, eq=False)
class Ensemble:
    """What is to be trained, and the ways to do it."""

    descent: Descent
    lr: float
    sets: Sequence[Dataset]
    seeds: Sequence[int]
    begin: Weights
    moments: Sequence[int]
    tell: Callable[[int, int], None]
    threads: int
    lanes: bool = True
    """Whether tiny networks may stand in lanes."""

    def train(self) -> Trained:
        """By the fastest way there is here; what diverges by it is trained again on its own."""
        trained = self._nothing()
        status = trained[2]
        status[:] = stops.DIVERGED
        double = self._real == np.float64
        on_gpu = double and jax.default_backend() == "gpu"
        one_shape = len({data.X.shape for data in self.sets}) == 1
        step = fused.kernel(self.descent, *self._sizes) if on_gpu and one_shape else None
        if step is not None:
            self._fused(step, trained)
        elif self.lanes and double:
            for members, common in self._pools():
                self._in_lanes(common, members, trained)
        rest = np.flatnonzero(status == stops.DIVERGED)
        if on_gpu and one_shape and isinstance(self.descent.model, TwoLayer | ConvMaxPool):
            self._side_by_side(rest, trained)
        else:
            self._one_by_one(rest, trained)
        return trained

    def _pools(self) -> list[tuple[np.ndarray, Pool]]:
        """Members that go into lanes together, and the pool of their examples.

        Which other examples are in a pool changes how sums are rounded, unless all products are
        exact. So different data sets share lanes only then, and others are trained one by one: the
        bits of a network do not depend on what the other data sets are. (They may depend on whether
        there are any, since data that all members share may have lanes in any case.)
        """
        distinct = {id(data): data for data in self.sets}
        shared = [key for key, data in distinct.items() if len(distinct) == 1 or exact(data)]

        def of(keys: list[int]) -> list[tuple[np.ndarray, Pool]]:
            members = np.array([i for i, data in enumerate(self.sets) if id(data) in keys])
            common = pool(self.descent, [self.sets[i] for i in members]) if len(keys) else None
            return [] if common is None else [(members, common)]

        return of(shared) or [found for key in shared for found in of([key])]

    @property
    def _real(self) -> np.dtype:
        return next(iter(self.begin.values())).dtype

    @property
    def _labels(self) -> np.dtype:
        """Margins want numbers, a softmax the number of the class."""
        return np.dtype(np.int64) if self.descent.loss is None else self._real

    @property
    def _sizes(self) -> tuple[int, int, int]:
        """n, d and the number of neurons (0 where the network has no such)."""
        return self.sets[0].n, self.sets[0].d, self.begin["W"].shape[1] if "W" in self.begin else 0

    def _nothing(self) -> Trained:
        kept = {
            part: np.empty((len(self.moments), *array.shape), self._real)
            for part, array in self.begin.items()
        }
        reached, status = np.zeros((2, len(self.sets)), np.int64)
        return kept, reached, status

    def _one_by_one(self, members: np.ndarray, trained: Trained) -> None:
        """Train these members on their own and write into the arrays of all."""
        kept, reached, status = trained
        lr = jnp.asarray(self.lr, self._real)

        def one(i: int) -> None:
            state = start(self.descent, {part: array[i] for part, array in self.begin.items()})
            X = jnp.asarray(self.sets[i].X, self._real)
            y = jnp.asarray(self.sets[i].y, self._labels)
            for t, moment in enumerate(self.moments):
                state = advance(self.descent, state, X, y, int(self.seeds[i]), lr, moment)
                for part, array in state.params.items():
                    kept[part][t, i] = array
            reached[i], status[i] = int(state.epoch), int(state.status)

        for done, _ in enumerate(_in_threads(one, members.tolist(), self.threads), start=1):
            self.tell(done, len(members))

    def _arrays(self, members: Iterable[int]) -> tuple[jax.Array, jax.Array]:
        """X and y of these members."""
        sets = [self.sets[i] for i in members]
        return (
            jnp.asarray(np.stack([data.X for data in sets]), self._real),
            jnp.asarray(np.stack([data.y for data in sets]), self._labels),
        )

    def _side_by_side(self, members: np.ndarray, trained: Trained) -> None:
        """Train these members on a GPU, as many together as its memory takes."""
        kept, reached, status = trained
        n, d, m = self._sizes
        model, batch = self.descent.model, self.descent.batch
        patches = d // model.patch if isinstance(model, ConvMaxPool) else 1
        weights = sum(array[0].size for array in self.begin.values())
        orders = MOST_ORDERS * n if batch else 0
        each = n * d + weights + orders + (batch or n) * patches * m
        size = max(1, TOGETHER // each)
        for first in range(0, len(members), size):
            some = members[first : first + size]
            X, y = self._arrays(some)
            begun = [
                start(self.descent, {part: array[i] for part, array in self.begin.items()})
                for i in some
            ]
            states = jax.tree.map(lambda *leaves: jnp.stack(leaves), *begun)
            seeds, lr = [int(self.seeds[i]) for i in some], jnp.asarray(self.lr)
            for t, moment in enumerate(self.moments):
                states = advance_all(self.descent, states, X, y, seeds, lr, moment)
                for part, array in states.params.items():
                    kept[part][t, some] = array
            reached[some], status[some] = states.epoch, states.status
            self.tell(first + len(some), len(members))

    def _fused(self, step: fused.Step, trained: Trained) -> None:
        """Train all on a GPU, each on one multiprocessor; no stop rule is looked at."""
        kept, reached, status = trained
        assert self.descent.loss is not None
        members = {id(data): i for i, data in enumerate(self.sets)}  # one for each data set
        place = {key: k for k, key in enumerate(members)}
        X, y = self._arrays(members.values())
        signed = y * jax.vmap(self.descent.loss.weights)(y)
        which = jnp.asarray([place[id(data)] for data in self.sets], jnp.int32)
        W, a = jnp.asarray(self.begin["W"]), jnp.asarray(self.begin["a"])
        for t, moment in enumerate(self.moments):
            steps = moment - (self.moments[t - 1] if t else 0)
            W, a = step(X, signed, which, W, a, jnp.array([self.lr, float(steps)]))
            kept["W"][t], kept["a"][t] = W, a
            self.tell(len(self.sets) * (t + 1) // len(self.moments), len(self.sets))
        sizes = np.maximum(
            np.abs(kept["W"][-1]).max(axis=(1, 2)), np.abs(kept["a"][-1]).max(axis=1)
        )
        reached[:] = self.moments[-1]
        status[:] = np.where(sizes < LARGEST, stops.RUNNING, stops.DIVERGED)  # NaN is not smaller

    def _in_lanes(self, common: Pool, members: np.ndarray, trained: Trained) -> None:
        """Train these side by side; those that end make room for others after every piece."""
        kept, reached, outcomes = trained
        W = np.moveaxis(self.begin["W"][members], 0, -1).swapaxes(0, 1).copy()
        a = self.begin["a"][members].T.copy()
        epoch, stale = np.zeros((2, len(members)), np.int64)
        status, best = np.full(len(members), stops.RUNNING), np.full(len(members), np.inf)
        arrays = W, a, epoch, status, best, stale
        fixed = jnp.asarray(common.patches), jnp.asarray(common.labels)
        size = size_of_block(W.shape[1])

        def block(chosen: np.ndarray, until: int) -> None:
            padded = np.resize(chosen, size)
            lanes = Lanes(*(jnp.asarray(array[..., padded]) for array in arrays))
            weights = jnp.asarray(common.weights[:, padded])
            numbers = jnp.asarray(self.lr), jnp.asarray(until, jnp.int64)
            moved = advance_lanes(self.descent, common.examples, lanes, *fixed, weights, *numbers)
            for array, new in zip(arrays, moved, strict=True):
                array[..., chosen] = np.asarray(new)[..., : len(chosen)]

        for t, moment in enumerate(self.moments):
            while (going := np.flatnonzero((status == stops.RUNNING) & (epoch < moment))).size:
                until = min(int(epoch[going].min()) + PIECE, moment)
                blocks = [going[first : first + size] for first in range(0, len(going), size)]
                for _ in _in_threads(partial(block, until=until), blocks, self.threads):
                    self.tell(int((status != stops.RUNNING).sum()), len(members))
            kept["W"][t, members] = np.moveaxis(W, -1, 0).swapaxes(1, 2)
            kept["a"][t, members] = a.T
        reached[members], outcomes[members] = epoch, status


def exact(data: Dataset) -> bool:
    """Whether products with the entries of X are exact: these are 0 and ±1."""
    return bool(np.isin(data.X, (-1.0, 0.0, 1.0)).all())


def _in_threads(work: Callable[[T], None], items: Sequence[T], threads: int) -> Iterator[None]:
    """Do the work for all items; compiled code of several threads runs at the same time."""
    if not items:
        return
    work(items[0])  # alone: it may have to compile
    yield
    with ThreadPoolExecutor(threads) as others:
        tasks = [others.submit(work, item) for item in items[1:]]
        try:
            for task in as_completed(tasks):
                task.result()
                yield
        except BaseException:
            others.shutdown(cancel_futures=True)
            raise
