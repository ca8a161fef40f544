"""Where the flow is: weights, and the side of every activation hyperplane each neuron is on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from tacit.flow.hyperplanes import Hyperplanes


class OutOfTime(Exception):
    """The time that was given is over; the state of the last step is whole."""


class Met(NamedTuple):
    """What a neuron did at an activation hyperplane."""

    neuron: int
    plane: int
    what: str
    """cross, slide, or release."""
    when: float = 0.0
    """The time since the beginning of the stage."""
    bend: float = 0.0
    """The bend of its path: the change of its velocity over the speed at which it meets the
    hyperplane. For a release, the speed (over a_k) at which it leaves."""


@dataclass(eq=False)
class State:
    """The neurons of a network, and on which side of every activation hyperplane they are."""

    planes: Hyperplanes
    W: np.ndarray
    a: np.ndarray
    both: bool
    """Whether the output layer is trained too."""
    side: np.ndarray
    """m × L, int8: +1, −1, or 0 while a neuron slides along the hyperplane."""
    copies: np.ndarray
    """How many equal neurons a row stands for."""
    events: list[Met] = field(default_factory=list)
    """What happened since this state was copied."""
    deadline: float = math.inf
    """When to give up what is computed from this state, on the clock of `perf_counter`."""

    def __repr__(self) -> str:
        return f"State: {len(self.a)} neurons, {len(self.planes.e)} activation hyperplanes"

    def copy(self) -> State:
        """A copy whose list of events is empty."""
        return replace(self, W=self.W.copy(), a=self.a.copy(), side=self.side.copy(), events=[])

    def outputs(self) -> np.ndarray:
        """The margins q_i = y_i f(x_i)."""
        t = self.W @ self.planes.X.T
        return self.planes.y * ((self.a * self.copies) @ (self.planes.slopes(self.side) * t))

    def pattern(self) -> np.ndarray:
        """The activation patterns (m × n): the signs of w_k·x_i, 0 while a neuron slides."""
        return (self.side[:, self.planes.line] * np.sign(self.planes.r)).astype(np.int8)

    def pull(self, plus: np.ndarray, minus: np.ndarray) -> np.ndarray:
        """Σ κ e of every neuron over the hyperplanes that it is not on.

        That is its velocity over a_k before it is projected on those it slides along.
        """
        kappa = np.where(self.side > 0, plus, minus)
        kappa[self.side == 0] = 0.0
        return kappa @ self.planes.e

    def pull_of(self, k: int, plus: np.ndarray, minus: np.ndarray) -> np.ndarray:
        """The pull of one neuron."""
        side = self.side[k]
        return np.where(side > 0, plus, np.where(side < 0, minus, 0.0)) @ self.planes.e


def check_time(state: State) -> None:
    """Raise OutOfTime after the state's deadline."""
    if perf_counter() > state.deadline:
        raise OutOfTime


def start(planes: Hyperplanes, W: np.ndarray, a: np.ndarray, both: bool) -> State:
    """The initial state. Neurons that lie on a hyperplane are put on its negative side for now."""
    side = np.where(W @ planes.e.T > 0, 1, -1).astype(np.int8)
    return State(planes, W.astype(float), a.astype(float), both, side, np.ones(len(a)))
