"""Where the flow is: weights, and the side of every wall each neuron is on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tacit.flow.hyperplanes import Walls

AT_WALL = 1e-13
"""|e·w| up to this share of ‖w‖ is a neuron in the wall."""


class Met(NamedTuple):
    """A neuron and a wall, and what happened."""

    neuron: int
    wall: int
    what: str
    """cross, slide, or release."""
    when: float = 0.0
    """Since the beginning of the stage."""
    bend: float = 0.0
    """Of its path: the change of its velocity over the speed at which it meets the wall. For a
    release, the speed (over a_k) at which it leaves."""


@dataclass(eq=False)
class State:
    """Neurons of a network; `copies` is how many equal units a row stands for."""

    walls: Walls
    W: np.ndarray
    a: np.ndarray
    both: bool
    """Whether the output layer is trained too."""
    side: np.ndarray
    """m × L, int8: +1, −1, or 0 while a neuron slides along the wall."""
    copies: np.ndarray
    events: list[Met] = field(default_factory=list)
    """Since this state was copied."""

    def copy(self) -> State:
        return replace(self, W=self.W.copy(), a=self.a.copy(), side=self.side.copy(), events=[])

    def outputs(self) -> np.ndarray:
        """y_i f(x_i)."""
        t = self.W @ self.walls.X.T
        return self.walls.y * ((self.a * self.copies) @ (self.walls.slopes(self.side) * t))

    def pattern(self) -> np.ndarray:
        """m × n: the signs of w_k·x_i, 0 while a neuron slides."""
        return (self.side[:, self.walls.line] * np.sign(self.walls.r)).astype(np.int8)

    def pull(self, plus: np.ndarray, minus: np.ndarray) -> np.ndarray:
        """Σ κ e of every neuron over the walls it is not in: its velocity over a_k, unprojected."""
        kappa = np.where(self.side > 0, plus, minus)
        kappa[self.side == 0] = 0.0
        return kappa @ self.walls.e

    def pull_of(self, k: int, plus: np.ndarray, minus: np.ndarray) -> np.ndarray:
        """The same for one neuron."""
        side = self.side[k]
        return np.where(side > 0, plus, np.where(side < 0, minus, 0.0)) @ self.walls.e


def start(walls: Walls, W: np.ndarray, a: np.ndarray, both: bool) -> State:
    """A network at rest; neurons that lie in a wall are put on its negative side for now."""
    side = np.where(W @ walls.e.T > 0, 1, -1).astype(np.int8)
    return State(walls, W.astype(float), a.astype(float), both, side, np.ones(len(a)))
