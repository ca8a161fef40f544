"""Train one network or many, measure on the way, and be able to go on later."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tacit._jax import jax, jnp
from tacit.data import takes_data
from tacit.measures import Snapshot, measure_all
from tacit.measures.measure import Value
from tacit.models import model_text
from tacit.models.initialisations import initial_weights
from tacit.training import stopping as stops
from tacit.training.backends.one_by_one import advance
from tacit.training.rules import Descent, named_leaves, parse_descent, reset_stopping, start
from tacit.training.runs import Run
from tacit.values import BadInput, Dataset, Setting
from tacit.values.arguments import check_seed
from tacit.values.stop_rules import MOST_EPOCHS

Progress = Callable[[int, float], None]
"""Called with the epochs done and the largest log loss of the members when last measured."""

WORKERS = 2
"""Networks that are trained at a time."""
PIECE_SECONDS = 0.3
"""Compiled pieces are cut so that progress is shown, and an interrupt is heard, this often."""

MOST_RECORDS = 10**5
"""Moments at which a run is measured."""
MOST_ENTRIES = 10**9
"""Numbers in the weights, or in the hidden layer over all points (8 GB)."""


class Diverged(BadInput):
    """The step size was too large; nothing is kept."""


@takes_data
def train(
    data: Dataset,
    setting: Setting | None = None,
    *,
    epochs: int = 1000,
    seeds: Sequence[int] = (0,),
    record: int = 60,
    progress: Progress | None = None,
    resume: Run | None = None,
) -> Run:
    """Train a network for every seed (and, of K classes, for every class against the rest).

    Parameters
    ----------
    data : Dataset, str, Path, or X, y
        What `tacit.load` takes; with arrays, the labels are the second argument.
    setting : Setting, optional
        Network, initialisation, loss and rule.
    epochs : int, default 1000
        Passes over the data; a step of `gd` is one.
    seeds : sequence of int, default (0,)
        One network is trained for each.
    record : int, default 60
        Measures are taken at epoch 0, at so many epochs spread evenly in log time, and at the end.
    progress : callable, optional
        Called with the epochs done and the largest log loss when last measured.
    resume : Run, optional
        A run to continue until it has `epochs` in all.

    Returns
    -------
    Run
        After a KeyboardInterrupt the run up to then, with outcome `interrupted`.

    Examples
    --------
    >>> from tacit.data import load
    >>> run = train(load("xor"), Setting(width=20, init="gaussian:0.5"), epochs=200)
    >>> run.train_error
    [0.0]
    """
    setting = setting or (resume.setting if resume else Setting())
    earlier = resume
    if not 1 <= epochs <= MOST_EPOCHS:
        raise BadInput(f"`epochs={epochs}` must be between 1 and {MOST_EPOCHS:.0e}")
    if not 1 <= record <= MOST_RECORDS:
        raise BadInput(f"`record={record}` must be between 1 and {MOST_RECORDS}")
    if setting.width * max(data.n, data.d) > MOST_ENTRIES:
        raise BadInput(
            f"`width={setting.width}` with {data.n} points in {data.d} dimensions needs more than "
            f"{MOST_ENTRIES:,} numbers at once; choose it smaller"
        )
    descent = parse_descent(setting, data.n)
    if descent.loss is None:
        raise BadInput(
            "the loss 'softmax' needs a network with an output for each class; `tacit.training."
            "train_many` trains those"
        )
    shapes = descent.model.shapes(data.d, setting.width)
    if descent.stop.agreement and not ("a" in shapes and shapes["W"].shape[1] == data.d):
        raise BadInput("the stop rule 'agreement' speaks of the neurons of a two-layer net")
    weights = {part: jax.ShapeDtypeStruct(s.shape, float) for part, s in shapes.items()}
    points = jax.ShapeDtypeStruct(data.X.shape, float)
    if jax.eval_shape(descent.model, weights, points).ndim != 1:
        raise BadInput(
            f"model '{model_text(setting.model)}' has several outputs; training needs one"
        )
    members = earlier.members if earlier else _members(seeds, len(data.classes))
    parts = {k: data if k is None else data.one_vs_rest(k) for _, k in members}
    X, new = jnp.asarray(data.X), earlier is None
    ensemble = _Ensemble([_Member(setting, descent, X, parts[k], seed, new) for seed, k in members])
    records: list[_Record] = []
    if earlier is not None:
        records = _records(earlier)
        for i, member in enumerate(ensemble.members):
            state = {name: array[i] for name, array in earlier.state.items()}
            member.restore(state, same_stop=setting.stop == earlier.setting.stop)
        if epochs <= earlier.epoch:
            raise BadInput(
                f"the run is at epoch {earlier.epoch} already; `epochs={epochs}` is not more"
            )
        if ensemble.done:
            raise BadInput(
                f"the run has ended: {earlier.outcomes[0]}; to go on, change its stop rules"
            )
        _check_shapes(records[-1], ensemble.measure())

    begun = time.perf_counter()
    interrupted = False
    try:
        for checkpoint in _checkpoints(epochs, record):
            if records and checkpoint <= records[-1].epoch:
                continue
            for epoch in ensemble.advance(checkpoint):
                if progress:
                    progress(epoch, max(float(m["log_loss"]) for m in records[-1].measures))
            records.append(ensemble.measure())
            if ensemble.done:
                break
    except KeyboardInterrupt:
        interrupted = True
        ensemble.level()
        if not records or records[-1].epoch < ensemble.epoch:
            records.append(ensemble.measure())
    names = [name for name in records[-1].measures[0] if name in records[0].measures[0]]
    return Run(
        setting=setting,
        data=data,
        members=members,
        epochs=np.array([r.epoch for r in records]),
        measures={k: np.array([[m[k] for m in r.measures] for r in records]) for k in names},
        state=ensemble.arrays(),
        outcomes=tuple(
            stops.TrainingOutcome.INTERRUPTED if interrupted and not m.done else m.outcome
            for m in ensemble.members
        ),
        seconds=time.perf_counter() - begun + (earlier.seconds if earlier else 0.0),
    )


@cache
def _blas() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # a GPU machine may not have it; it only saves time
        return None
    return ThreadpoolController()


def _one_thread() -> AbstractContextManager:
    """Let BLAS use one thread: for small matrices its threads would mostly wait for each other."""
    blas = _blas()
    return blas.limit(limits=1, user_api="blas") if blas else nullcontext()


class _Record(NamedTuple):
    """What was measured at one epoch, of each member."""

    epoch: int
    measures: list[dict[str, Value]]


def _members(seeds: Sequence[int], classes: int) -> tuple[tuple[int, int | None], ...]:
    if len(seeds) == 0:
        raise BadInput("`seeds` is empty; there must be at least one seed")
    for seed in seeds:
        check_seed(seed)
    return tuple((int(seed), k) for seed in seeds for k in (range(classes) if classes else (None,)))


def _checkpoints(epochs: int, record: int) -> list[int]:
    # Evenly in log time: late losses fall like 1/t, and directions turn like 1/log t.
    spread = np.geomspace(1, epochs, record).round().astype(int)
    return [0, *np.unique(np.append(spread, epochs)).tolist()]


def _check_shapes(before: _Record, now: _Record) -> None:
    """What was measured earlier must continue in one array with what is measured from now on."""
    for name, value in now.measures[0].items():
        old = np.shape(before.measures[0].get(name, value))
        if old != np.shape(value):
            raise BadInput(
                f"the run's measure '{name}' has shape {old} at each epoch, not {np.shape(value)}; "
                "the run was altered"
            )


def _records(run: Run) -> list[_Record]:
    """The records that a run was made of."""
    return [
        _Record(
            epoch, [{k: v[t, i] for k, v in run.measures.items()} for i in range(len(run.members))]
        )
        for t, epoch in enumerate(run.epochs.tolist())
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
                for task in tasks:
                    task.result()
                # How epochs are cut into pieces does not change the weights, so the clock may
                # decide it.
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

    def level(self) -> None:
        """Bring members that an interrupt left behind to the epoch of the others."""
        for member in self.members:
            if int(member.state.epoch) < self.epoch:
                member.advance(self.epoch)

    def measure(self) -> _Record:
        with _one_thread():
            return _Record(self.epoch, [member.measure() for member in self.members])

    def arrays(self) -> dict[str, np.ndarray]:
        """The states as named arrays, one entry per member."""
        states = [named_leaves(member.state) for member in self.members]
        return {name: np.stack([state[name] for state in states]) for name in states[0]}


class _Member:
    """One network of the ensemble, with its initial weights if it is `new`."""

    def __init__(
        self, setting: Setting, descent: Descent, X: jax.Array, data: Dataset, seed: int, new: bool
    ) -> None:
        self.descent, self.data = descent, data
        self.X, self.y = X, jnp.asarray(data.y, jnp.float64)
        self.seed, self.lr = seed, jnp.asarray(setting.lr, jnp.float64)
        model, d, m = descent.model, data.d, setting.width
        if new:
            weights = initial_weights(model, d, m, setting.init, seed, setting.output_weight)
        else:
            weights = {part: np.zeros(s.shape) for part, s in model.shapes(d, m).items()}
        self.state = start(descent, weights)

    def advance(self, until: int) -> None:
        arguments = (self.X, self.y, self.seed, self.lr, until)
        self.state = jax.block_until_ready(advance(self.descent, self.state, *arguments))
        if int(self.state.status) == stops.DIVERGED:
            raise self._diverged()

    def measure(self) -> dict[str, Value]:
        params = {part: np.asarray(array) for part, array in self.state.params.items()}
        assert self.descent.loss is not None
        snapshot = Snapshot(self.descent.model, self.descent.loss, params, self.data)
        if not np.isfinite(snapshot.q).all():
            raise self._diverged()
        return measure_all(snapshot)

    @property
    def done(self) -> bool:
        return int(self.state.status) != stops.RUNNING

    @property
    def outcome(self) -> str:
        text = stops.OUTCOMES[int(self.state.status)]
        return f"{text} (epoch {int(self.state.epoch)})" if self.done else text

    def restore(self, arrays: dict[str, np.ndarray], same_stop: bool) -> None:
        """Go on from that state; other stop rules begin to look now."""
        leaves = []
        for name, leaf in named_leaves(self.state).items():
            array = arrays.get(name)
            if array is None or array.shape != leaf.shape:
                fault = "is missing" if array is None else f"has shape {array.shape}"
                raise BadInput(f"the run's {name} {fault}; this setting needs {leaf.shape}")
            leaves.append(jnp.asarray(array, leaf.dtype))
        state = jax.tree.unflatten(jax.tree.structure(self.state), leaves)
        self.state = state if same_stop else reset_stopping(state)

    def _diverged(self) -> Diverged:
        step, seed = int(self.state.step), int(self.seed)
        if step == 0:
            return Diverged(
                f"the outputs of the initial network (seed {seed}) are not finite; "
                "take smaller weights or scale the data down"
            )
        return Diverged(
            f"diverged at step {step} (seed {seed}): weights or outputs are no longer finite; "
            f"try a smaller step size, say `lr={float(self.lr) / 10:g}`"
        )
