"""Many networks of one kind, trained for what they end at: the ensembles of figures and sweeps.

`train` follows a few networks and measures everything on the way; `train_many` trains hundreds, on
one data set or on one each, and keeps their weights at the epochs that were asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tacit._jax import jax, jit
from tacit.models import Model, Params
from tacit.models.initialisations import initial_weights
from tacit.training import backends
from tacit.training import stopping as stops
from tacit.training.backends.job import Job, Weights
from tacit.training.rules import parse_descent
from tacit.training.stopping import TrainingOutcome
from tacit.values import BadInput, Dataset, Setting

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
    outcomes: tuple[TrainingOutcome, ...]
    """How each member ended."""

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
    data: Dataset | Sequence[Dataset],
    setting: Setting,
    epochs: int,
    seeds: Sequence[int],
    at: Sequence[int] = (),
    start_at: Mapping[str, np.ndarray] | None = None,
    single: bool = False,
    progress: Callable[[int, int], None] | None = None,
    threads: int | None = None,
    batched: bool = True,
) -> Many:
    """Train a network for every seed; on the one data set, or each on its own.

    `at` are epochs at which weights are kept besides the last (0 is the start). `start_at` gives
    the initial weights, members × shape of each part, in place of the setting's. `single` computes
    in float32, as image networks are trained. `progress` is called with the number of members that
    are done and their number. `threads` are those used besides a GPU; the default is all cores.
    Without `batched`, tiny networks are trained one by one too, as they are where members have
    data sets of their own whose products are not exact; that gives other bits. Nothing is raised
    when a member diverges: its outcome says so, and its weights are those of the last good epoch.
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
    threads = threads or os.cpu_count() or 1
    job = Job(descent, setting.lr, sets, seeds, begin, moments, tell, threads, batched)
    trained = backends.train(job)
    return Many(
        model=descent.model,
        seeds=tuple(int(seed) for seed in seeds),
        at=np.array(moments),
        weights=trained.weights,
        epochs=trained.epochs,
        outcomes=tuple(stops.OUTCOMES[int(code)] for code in trained.status),
    )


@jit(static_argnums=0)
def _outputs(model: Model, params: Params, X: jax.Array) -> jax.Array:
    return model(params, X)
