"""Where the flow is: weights, and the side of every activation hyperplane each neuron is on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

import numpy as np

from tacit.flow._lines import margins
from tacit.flow.hyperplanes import Hyperplanes
from tacit.flow.motion import KINDS


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
    hyperplane. For a release at the beginning, the speed (over a_k) at which it leaves."""


class Events:
    """Events in an array, in the order in which they were found; most are never looked at."""

    def __init__(self, rows: np.ndarray | None = None) -> None:
        self.rows = np.empty((0, 5)) if rows is None else rows
        """Neuron, hyperplane, kind, time, bend."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Met]:
        for k, plane, what, when, bend in self.rows.tolist():
            yield Met(int(k), int(plane), KINDS[int(what)], when, bend)

    def __add__(self, later: Events) -> Events:
        return Events(np.concatenate([self.rows, later.rows])) if len(later) else self


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
    """How many equal neurons a row stands for; far down, less than one."""
    events: Events = field(default_factory=Events)
    """What happened since this state was copied."""
    known: tuple[np.ndarray, np.ndarray] | None = None
    """The products of this W with the normals of the hyperplanes, and this W; what changes its
    entries sets it to None."""
    less: np.ndarray | float = 0.0
    """The logarithm of what rows count less than `copies` says, where that would underflow."""
    deadline: float = math.inf
    """When to give up what is computed from this state, on the clock of `perf_counter`."""

    def __repr__(self) -> str:
        return f"State: {len(self.a)} neurons, {len(self.planes.e)} activation hyperplanes"

    def copy(self) -> State:
        """A copy whose list of events is empty."""
        W = self.W.copy()
        known = (self.known[0], W) if self.known and self.known[1] is self.W else None
        a, side = self.a.copy(), self.side.copy()
        rest = Events(), known, self.less, self.deadline
        return State(self.planes, W, a, self.both, side, self.copies, *rest)

    def part(self, rows: np.ndarray) -> State:
        """The state of some of the neurons."""
        W, a, side, copies = self.W[rows], self.a[rows], self.side[rows], self.copies[rows]
        return State(self.planes, W, a, self.both, side, copies)

    def scale(self, factor: float) -> None:
        """Multiply both layers by a factor."""
        products = self.products() * factor
        self.W, self.a = self.W * factor, self.a * factor
        self.known = products, self.W

    def products(self) -> np.ndarray:
        """The products of W with the normals of the hyperplanes."""
        if self.known is None or self.known[1] is not self.W:
            self.known = self.W @ self.planes.e.T, self.W
        return self.known[0]

    def outputs(self) -> np.ndarray:
        """The margins q_i = y_i f(x_i)."""
        return margins(self.products(), self.side, self.a * self.copies, self.planes.lines)

    def pattern(self) -> np.ndarray:
        """The activation patterns (m × n): the signs of w_k·x_i, 0 while a neuron slides."""
        return (self.side[:, self.planes.line] * np.sign(self.planes.r)).astype(np.int8)


def check_time(state: State) -> None:
    """Raise OutOfTime after the state's deadline."""
    if perf_counter() > state.deadline:
        raise OutOfTime


def start(planes: Hyperplanes, W: np.ndarray, a: np.ndarray, both: bool) -> State:
    """The initial state. Neurons that lie on a hyperplane are put on its negative side for now."""
    side = np.where(W @ planes.e.T > 0, 1, -1).astype(np.int8)
    W = np.array(W, float, order="C")
    return State(planes, W, a.astype(float), both, side, np.ones(len(a)))
