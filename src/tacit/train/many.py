"""Many networks of one kind, trained for what they end at: the ensembles of figures and sweeps.

`train` follows a few networks and measures everything on the way; `train_many` trains hundreds, on
one data set or on one each, and keeps their weights at the epochs that were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit._jax import jax, jnp
from tacit._types import BadInput, Dataset, Setting
from tacit.models import Model
from tacit.train import stop as stops
from tacit.train.descent import advance, parse_descent, start
from tacit.train.initial import initial_weights

Weights = dict[str, np.ndarray]

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
    kept: list[list[dict[str, Any]]] = [[] for _ in moments]
    reached, outcomes = [], []
    for i, (seed, points) in enumerate(zip(seeds, sets, strict=True)):
        if start_at is None:
            weights = initial_weights(
                descent.model, points.d, setting.width, setting.init, seed, setting.output_weight
            )
        else:
            weights = {part: array[i] for part, array in start_at.items()}
        state = start(descent, {part: array.astype(real) for part, array in weights.items()})
        X = jnp.asarray(points.X, real)
        y = jnp.asarray(points.y, np.int64 if descent.loss is None else real)
        lr, number = jnp.asarray(setting.lr, real), jnp.asarray(seed, jnp.int64)
        for t, moment in enumerate(moments):
            state = advance(descent, state, X, y, number, lr, jnp.asarray(moment, jnp.int64))
            kept[t].append({part: np.asarray(array) for part, array in state.params.items()})
        reached.append(int(state.epoch))
        outcomes.append(stops.OUTCOMES[int(state.status)])
        if progress:
            progress(i + 1, len(sets))
    return Many(
        model=descent.model,
        seeds=tuple(int(seed) for seed in seeds),
        at=np.array(moments),
        weights={part: np.array([[m[part] for m in row] for row in kept]) for part in kept[0][0]},
        epochs=np.array(reached),
        outcomes=tuple(outcomes),
    )


_outputs = jax.jit(lambda model, params, X: model(params, X), static_argnums=0)
