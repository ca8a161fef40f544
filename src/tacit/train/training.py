"""Train one network or many, measure on the way, and be able to go on later."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

from tacit._jax import jax, jnp
from tacit._types import BadInput, Dataset, Setting
from tacit.measures import Snapshot, measure_all
from tacit.measures.base import Value
from tacit.train import stop as stops
from tacit.train.descent import Descent, advance, parse_descent, start
from tacit.train.initial import initial_weights
from tacit.train.run import Run

Progress = Callable[[int, float], None]
"""Called with the epochs done and the largest log loss of the members when last measured."""

WORKERS = 2
PIECE_SECONDS = 0.3
"""Compiled pieces are cut so that progress is shown, and an interrupt is heard, this often."""


MOST_EPOCHS = 10**15
MOST_SEED = 2**32 - 1
MOST_ENTRIES = 10**9
"""Numbers in the weights, or in the hidden layer over all points (8 GB)."""


class Diverged(BadInput):
    """The step size was too large; nothing is kept."""


def train(
    setting: Setting,
    data: Dataset,
    epochs: int = 1000,
    seeds: Sequence[int] = (0,),
    record: int = 60,
    progress: Progress | None = None,
    earlier: Run | None = None,
) -> Run:
    """Train a network for every seed (and, of K classes, for every class against the rest).

    Measures are taken at epoch 0, at `record` epochs spread evenly in log time, and at the end.
    `earlier` continues a run until it has `epochs` in all. After a KeyboardInterrupt the run up to
    then is returned, with outcome `interrupted`.
    """
    if not 1 <= epochs <= MOST_EPOCHS:
        raise BadInput(f"--epochs {epochs} must be between 1 and {MOST_EPOCHS:.0e}")
    if record < 1:
        raise BadInput(f"--record {record} must be at least 1")
    if any(not 0 <= seed <= MOST_SEED for seed in seeds):
        raise BadInput(f"--seed {seeds[0]} must be between 0 and {MOST_SEED}")
    if setting.width * max(data.n, data.d) > MOST_ENTRIES:
        raise BadInput(
            f"--width {setting.width} with {data.n} points in {data.d} dimensions needs more than "
            f"{MOST_ENTRIES:,} numbers at once; choose it smaller"
        )
    descent = parse_descent(setting, data.n)
    shapes = descent.model.shapes(data.d, setting.width)
    if descent.stop.agreement and not ("a" in shapes and shapes["W"].shape[1] == data.d):
        raise BadInput("the stop rule 'agreement' speaks of the neurons of a two-layer net")
    weights = {part: jax.ShapeDtypeStruct(s.shape, float) for part, s in shapes.items()}
    points = jax.ShapeDtypeStruct(data.X.shape, float)
    if jax.eval_shape(descent.model, weights, points).ndim != 1:
        raise BadInput(f"model '{setting.model}' has several outputs; training needs one")
    if earlier is None:
        classes = range(len(data.classes)) if data.classes else (None,)
        members = tuple((seed, k) for seed in seeds for k in classes)
    elif epochs <= earlier.epoch:
        raise BadInput(
            f"the run is at epoch {earlier.epoch} already; --epochs {epochs} is not more"
        )
    else:
        members = earlier.members
    parts = {k: data if k is None else data.one_vs_rest(k) for _, k in members}
    ensemble = _Ensemble([_Member(setting, descent, parts[k], seed) for seed, k in members])
    at: list[int] = []
    measures: list[list[dict[str, Value]]] = []
    if earlier is not None:
        at = earlier.epochs.tolist()
        measures = _rows(earlier)
        ensemble.restore(earlier.state)

    begun = time.perf_counter()
    interrupted = False
    try:
        for checkpoint in _checkpoints(epochs, record):
            if at and checkpoint <= at[-1]:
                continue
            for epoch in ensemble.advance(checkpoint):
                if progress:
                    progress(epoch, max(float(m["log_loss"]) for m in measures[-1]))
            measures.append(ensemble.measure())
            at.append(checkpoint if not ensemble.done else ensemble.epoch)
            if ensemble.done:
                break
    except KeyboardInterrupt:
        interrupted = True
        if not at or at[-1] < ensemble.epoch:
            measures.append(ensemble.measure())
            at.append(ensemble.epoch)
    return Run(
        setting=setting,
        data=data,
        members=members,
        epochs=np.array(at),
        measures={k: np.array([[m[k] for m in row] for row in measures]) for k in measures[0][0]},
        state=ensemble.arrays(),
        outcomes=tuple("interrupted" if interrupted else m.outcome for m in ensemble.members),
        seconds=time.perf_counter() - begun + (earlier.seconds if earlier else 0.0),
    )


def _checkpoints(epochs: int, record: int) -> list[int]:
    spread = np.geomspace(1, epochs, record).round().astype(int)
    return [0, *np.unique(np.append(spread, epochs)).tolist()]


def _rows(run: Run) -> list[list[dict[str, Value]]]:
    """Measures as they are taken: a list over time of lists over members."""
    return [
        [{k: v[t, i] for k, v in run.measures.items()} for i in range(len(run.members))]
        for t in range(len(run.epochs))
    ]


class _Ensemble:
    """Networks that are trained side by side, each on its own."""

    def __init__(self, members: list[_Member]) -> None:
        self.members = members
        self._piece = 1

    def advance(self, until: int) -> Iterator[int]:
        """Train all members until that epoch; yields the epoch reached after every piece."""
        with ThreadPoolExecutor(WORKERS) as pool:
            while self.epoch < until and not self.done:
                begun = time.perf_counter()
                goal = min(self.epoch + self._piece, until)
                first, *others = self.members
                first.advance(goal)  # alone: it may have to compile
                tasks = [pool.submit(member.advance, goal) for member in others]
                try:
                    wait(tasks)
                except KeyboardInterrupt:
                    wait(tasks)  # all members end at the same epoch
                    raise
                for task in tasks:
                    task.result()
                for member in self.members:
                    member.raise_if_diverged()
                elapsed = time.perf_counter() - begun
                if elapsed < PIECE_SECONDS / 2:
                    self._piece *= 2
                elif elapsed > PIECE_SECONDS:
                    self._piece = max(1, self._piece // 2)
                yield goal

    @property
    def epoch(self) -> int:
        return max(int(member.state.epoch) for member in self.members)

    @property
    def done(self) -> bool:
        return all(member.done for member in self.members)

    def measure(self) -> list[dict[str, Value]]:
        return [member.measure() for member in self.members]

    def arrays(self) -> dict[str, np.ndarray]:
        """The states as named arrays, one entry per member."""
        states = [member.arrays() for member in self.members]
        return {name: np.stack([state[name] for state in states]) for name in states[0]}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        for i, member in enumerate(self.members):
            member.restore({name: array[i] for name, array in arrays.items()})


class _Member:
    """One network of the ensemble."""

    def __init__(self, setting: Setting, descent: Descent, data: Dataset, seed: int) -> None:
        weights = initial_weights(
            descent.model, data.d, setting.width, setting.init, seed, setting.output_weight
        )
        self.descent, self.data = descent, data
        self.X, self.y = jnp.asarray(data.X), jnp.asarray(data.y, dtype=jnp.float64)
        self.seed, self.lr = jnp.asarray(seed), jnp.asarray(setting.lr)
        self.state = start(descent, weights)

    def advance(self, until: int) -> None:
        arguments = (self.X, self.y, self.seed, self.lr, jnp.asarray(until))
        self.state = jax.block_until_ready(advance(self.descent, self.state, *arguments))

    def measure(self) -> dict[str, Value]:
        params = {part: np.asarray(array) for part, array in self.state.params.items()}
        return measure_all(Snapshot(self.descent.model, self.descent.loss, params, self.data))

    @property
    def done(self) -> bool:
        return int(self.state.status) != stops.RUNNING

    @property
    def outcome(self) -> str:
        text = stops.OUTCOMES[int(self.state.status)]
        return f"{text} (epoch {int(self.state.epoch)})" if self.done else text

    def raise_if_diverged(self) -> None:
        if int(self.state.status) == stops.DIVERGED:
            raise Diverged(
                f"diverged at step {int(self.state.step)} (seed {int(self.seed)}): the weights are "
                f"no longer finite; try a smaller step size, say --lr {float(self.lr) / 10:g}"
            )

    def arrays(self) -> dict[str, np.ndarray]:
        flat, _ = jax.tree.flatten_with_path(self.state)
        return {_name(path): np.asarray(leaf) for path, leaf in flat}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on from that state; a stop rule that ended it has to end it anew."""
        flat, tree = jax.tree.flatten_with_path(self.state)
        leaves = []
        for path, leaf in flat:
            array = arrays.get(_name(path))
            if array is None or array.shape != leaf.shape or array.dtype.kind not in "iuf":
                found = None if array is None else array.shape
                raise BadInput(f"the run's {_name(path)} has shape {found}, not {leaf.shape}")
            leaves.append(jnp.asarray(array, leaf.dtype))
        state = jax.tree.unflatten(tree, leaves)
        self.state = state._replace(status=jnp.asarray(stops.RUNNING))


def _name(path: tuple) -> str:
    parts = [getattr(p, "name", getattr(p, "key", getattr(p, "idx", p))) for p in path]
    return ".".join(map(str, parts))
