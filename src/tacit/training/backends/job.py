"""What is to be trained, where the result is written, and what every backend offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from tacit._jax import jax, jnp
from tacit.training import stopping as stops
from tacit.training.rules import Descent
from tacit.values import Dataset

Weights = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Job:
    """Networks of one kind; every sequence has an entry for each of them."""

    descent: Descent
    lr: float
    sets: Sequence[Dataset]
    seeds: Sequence[int]
    start: Weights
    """Part → networks × its shape."""
    moments: Sequence[int]
    """The epochs at which weights are kept, in increasing order."""
    tell: Callable[[int, int], None]
    """Called with the number of networks that are done and how many there are."""
    threads: int
    batched: bool = True
    """Whether tiny networks may be batched on the last axis."""

    @property
    def all(self) -> np.ndarray:
        return np.arange(len(self.sets))

    @property
    def dtype(self) -> np.dtype:
        return next(iter(self.start.values())).dtype

    @property
    def label_dtype(self) -> np.dtype:
        """Losses of margins need numbers, a softmax the number of the class."""
        return np.dtype(np.int64) if self.descent.loss is None else self.dtype

    @property
    def double(self) -> bool:
        return self.dtype == np.float64

    @cached_property
    def for_gpu(self) -> bool:
        """Whether there is a GPU, and the networks can be stacked for it."""
        stackable = self.double and len({data.X.shape for data in self.sets}) == 1
        return stackable and jax.default_backend() == "gpu"

    @property
    def sizes(self) -> tuple[int, int, int]:
        """n, d, and the number of neurons (0 where a network has none)."""
        neurons = self.start["W"].shape[1] if "W" in self.start else 0
        return self.sets[0].n, self.sets[0].d, neurons

    def start_of(self, i: int) -> Weights:
        """The initial weights of one network."""
        return {part: array[i] for part, array in self.start.items()}

    def stacked(self, members: Iterable[int]) -> tuple[jax.Array, jax.Array]:
        """X and y of these networks, with an axis of networks in front."""
        sets = [self.sets[i] for i in members]
        return (
            jnp.asarray(np.stack([data.X for data in sets]), self.dtype),
            jnp.asarray(np.stack([data.y for data in sets]), self.label_dtype),
        )


@dataclass(frozen=True, eq=False)
class Trained:
    """The networks of a job after training; backends write into these arrays."""

    weights: Weights
    """Part → moments × networks × its shape."""
    epochs: np.ndarray
    """The epochs that each network was trained for."""
    status: np.ndarray
    """How each ended: codes of `tacit.training.stopping`."""

    @classmethod
    def nothing_of(cls, job: Job) -> Trained:
        """Arrays to be filled; as long as they are not, every network counts as diverged."""
        shape = (len(job.moments),)
        weights = {part: np.empty(shape + a.shape, job.dtype) for part, a in job.start.items()}
        number = len(job.sets)
        return cls(weights, np.zeros(number, np.int64), np.full(number, stops.DIVERGED))

    @property
    def left(self) -> np.ndarray:
        """The networks that have diverged, or that no backend has trained."""
        return np.flatnonzero(self.status == stops.DIVERGED)


class Backend(Protocol):
    """A way to train the networks of a job. The modules of this package are backends."""

    def suits(self, job: Job) -> bool:
        """Whether this way can train the job here, or at least some of its networks."""

    def train(self, job: Job, members: np.ndarray, trained: Trained) -> None:
        """Train these networks as far as it can, and write them into `trained`."""
