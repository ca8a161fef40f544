"""Many networks of one kind, trained for what they end at: the ensembles of figures and sweeps.

`train` follows a few networks and measures everything on the way; `train_many` trains hundreds, on
one data set or on one each, and keeps their weights at the epochs that were asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from tacit._jax import jax, jnp
from tacit._types import BadInput, Dataset, Setting
from tacit.models import Model
from tacit.train import stop as stops
from tacit.train.descent import Descent, advance, parse_descent, start
from tacit.train.initial import initial_weights
from tacit.train.lanes import Lanes, Pool, pool, size_of_block
from tacit.train.lanes import advance as advance_lanes

Weights = dict[str, np.ndarray]

T = TypeVar("T")

PIECE = 1000
"""Epochs after which members that have ended leave the lanes."""
ROWS = 1000
"""Points that outputs are computed of at once: the layers of image networks are large."""


@dataclass(frozen=True, eq=False)
class Many:
    """The members of an ensemble and where they went."""

    model: Model
    seeds: tuple[int, ...]
    at: np.ndarray
    """The T epochs at which weights were kept, the last one included; a member that ended earlier
    stays as it was."""
    weights: Weights
    """Part → T × members × its shape."""
    epochs: np.ndarray
    """Epochs that each member was trained for."""
    outcomes: tuple[str, ...]
    """How each member ended, see `tacit.train.stop.OUTCOMES`."""

    @property
    def last(self) -> Weights:
        """Part → members × its shape, at the end."""
        return {part: array[-1] for part, array in self.weights.items()}

    def member(self, i: int, t: int = -1) -> Weights:
        """The weights of one network."""
        return {part: array[t, i] for part, array in self.weights.items()}

    def outputs(self, X: np.ndarray, t: int = -1) -> np.ndarray:
        """f(x) of every member: members × n (× classes)."""
        return np.stack(
            [
                np.concatenate(
                    [
                        np.asarray(_outputs(self.model, weights, X[first : first + ROWS]))
                        for first in range(0, len(X), ROWS)
                    ]
                )
                for weights in (self.member(i, t) for i in range(self.size))
            ]
        )

    @property
    def size(self) -> int:
        return len(self.seeds)


def train_many(
    setting: Setting,
    data: Dataset | Sequence[Dataset],
    epochs: int,
    seeds: Sequence[int],
    at: Sequence[int] = (),
    start_at: Mapping[str, np.ndarray] | None = None,
    single: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Many:
    """Train a network for every seed; on the one data set, or each on its own.

    `at` are epochs at which weights are kept besides the last (0 is the start). `start_at` gives
    the initial weights, members × shape of each part, in place of the setting's. `single` computes
    in float32, as image networks are trained. `progress` is
    called with the number of members that are done and their number. Nothing is raised when a
    member diverges: its outcome says so, and its weights are those of the last good epoch.
    """
    real = np.float32 if single else np.float64
    sets = [data] * len(seeds) if isinstance(data, Dataset) else list(data)
    if len(sets) != len(seeds) or not sets:
        raise BadInput(f"{len(sets)} data sets for {len(seeds)} seeds; there must be one for each")
    descent = parse_descent(setting, sets[0].n)
    moments = sorted({*(int(t) for t in at if 0 <= t < epochs), epochs})
    if start_at is None:
        drawn = [
            initial_weights(
                descent.model, points.d, setting.width, setting.init, seed, setting.output_weight
            )
            for seed, points in zip(seeds, sets, strict=True)
        ]
        begin = {part: np.stack([one[part] for one in drawn]) for part in drawn[0]}
    else:
        begin = dict(start_at)
    begin = {part: np.asarray(array, real) for part, array in begin.items()}
    tell = progress or (lambda done, of: None)
    common = None if single else pool(descent, sets)
    if common is not None:
        kept, reached, status = _in_lanes(descent, common, begin, setting.lr, moments, tell)
        broken = np.flatnonzero(status == stops.DIVERGED)
    else:
        kept = {p: np.empty((len(moments), *array.shape), real) for p, array in begin.items()}
        reached, status = np.zeros((2, len(sets)), np.int64)
        broken = np.arange(len(sets))
    _one_by_one(
        descent, setting.lr, sets, seeds, begin, moments, (kept, reached, status), broken, tell
    )
    return Many(
        model=descent.model,
        seeds=tuple(int(seed) for seed in seeds),
        at=np.array(moments),
        weights=kept,
        epochs=reached,
        outcomes=tuple(stops.OUTCOMES[int(code)] for code in status),
    )


def _one_by_one(
    descent: Descent,
    lr: float,
    sets: Sequence[Dataset],
    seeds: Sequence[int],
    begin: Weights,
    moments: Sequence[int],
    results: tuple[Weights, np.ndarray, np.ndarray],
    members: np.ndarray,
    tell: Callable[[int, int], None],
) -> None:
    """Train these members on their own and write into the arrays of all."""
    kept, reached, status = results
    real = next(iter(begin.values())).dtype

    def one(i: int) -> None:
        state = start(descent, {part: array[i] for part, array in begin.items()})
        X = jnp.asarray(sets[i].X, real)
        y = jnp.asarray(sets[i].y, np.int64 if descent.loss is None else real)
        rate = jnp.asarray(lr, real)
        for t, moment in enumerate(moments):
            state = advance(descent, state, X, y, int(seeds[i]), rate, moment)
            for part, array in state.params.items():
                kept[part][t, i] = array
        reached[i], status[i] = int(state.epoch), int(state.status)

    for done, _ in enumerate(_on_all_cores(one, members.tolist()), start=1):
        tell(done, len(members))


def _in_lanes(
    descent: Descent,
    common: Pool,
    begin: Weights,
    lr: float,
    moments: Sequence[int],
    tell: Callable[[int, int], None],
) -> tuple[Weights, np.ndarray, np.ndarray]:
    """Train all members side by side; those that end make room for others after every piece."""
    members = len(begin["a"])
    W, a = np.moveaxis(begin["W"], 0, -1).swapaxes(0, 1).copy(), begin["a"].T.copy()
    epoch, stale = np.zeros((2, members), np.int64)
    status, best = np.full(members, stops.RUNNING), np.full(members, np.inf)
    arrays = W, a, epoch, status, best, stale
    fixed = jnp.asarray(common.patches), jnp.asarray(common.labels)
    size = size_of_block(W.shape[1])
    kept = {part: np.empty((len(moments), *array.shape)) for part, array in begin.items()}

    def block(chosen: np.ndarray, until: int) -> None:
        padded = np.resize(chosen, size)
        lanes = Lanes(*(jnp.asarray(array[..., padded]) for array in arrays))
        weights = jnp.asarray(common.weights[:, padded])
        numbers = jnp.asarray(lr), jnp.asarray(until, jnp.int64)
        moved = advance_lanes(descent, common.examples, lanes, *fixed, weights, *numbers)
        for array, new in zip(arrays, moved, strict=True):
            array[..., chosen] = np.asarray(new)[..., : len(chosen)]

    for t, moment in enumerate(moments):
        while (going := np.flatnonzero((status == stops.RUNNING) & (epoch < moment))).size:
            until = min(int(epoch[going].min()) + PIECE, moment)
            blocks = [going[first : first + size] for first in range(0, len(going), size)]
            for _ in _on_all_cores(partial(block, until=until), blocks):
                tell(int((status != stops.RUNNING).sum()), members)
        kept["W"][t], kept["a"][t] = np.moveaxis(W, -1, 0).swapaxes(1, 2), a.T
    return kept, epoch, status


def _on_all_cores(work: Callable[[T], None], items: Sequence[T]) -> Iterator[None]:
    """Do the work for all items; compiled code of several threads runs at the same time."""
    if not items:
        return
    work(items[0])  # alone: it may have to compile
    yield
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        tasks = [threads.submit(work, item) for item in items[1:]]
        try:
            for task in as_completed(tasks):
                task.result()
                yield
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise


_outputs = jax.jit(lambda model, params, X: model(params, X), static_argnums=0)
