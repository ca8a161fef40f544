"""What a theorem is shown of a run: networks on its path, and where it leads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.certificates import ProvedEnd
from tacit.values import Network, Outcome

BALANCE_ROUNDING = 1e-14
"""What rounding makes of ‖w‖² − a² over a path, relative to the largest ‖w‖² + a² on it."""


class PathPoint(NamedTuple):
    """A network on the path of a run."""

    time: float
    """log t (natural) of gradient flow on the sum of the losses; of descent, the iteration."""
    log_loss: float
    """Natural logarithm of the sum of the losses."""
    network: Network
    errors: np.ndarray | None = None
    """The error of every neuron (w_k, a_k), relative to its size, where the run tells it."""

    @property
    def known_errors(self) -> np.ndarray:
        """`errors`; 0 where the run does not tell them."""
        return np.zeros(len(self.network.a)) if self.errors is None else self.errors


@dataclass(frozen=True, eq=False)
class Observation:
    """What was observed of a run, or of many.

    Parameters
    ----------
    path : tuple of PathPoint
        Networks in order of time; the first is the start.
    limit : Network, optional
        Where the path leads, when that is known, scaled so that the smallest margin is 1.
    outcome : str
        The outcome as `tacit limit` calls it; of descent, `done`.
    members : tuple of Observation
        The runs of an ensemble, or one for each class against the rest; then the path is empty.
    events : tuple of (float, int, str)
        (log t, neuron, what) in order of time: neurons that cross an activation hyperplane, slide
        along it, are released from it or die.
    proved : ProvedEnd, optional
        What is proved of the margin and the directions that the flow ends in.
    """

    path: tuple[PathPoint, ...]
    limit: Network | None = None
    outcome: str = "converged"
    members: tuple[Observation, ...] = ()
    events: tuple[tuple[float, int, str], ...] = ()
    proved: ProvedEnd | None = None

    @property
    def settled(self) -> bool:
        """Whether the run has a limit, proved or by evidence."""
        return self.outcome in (Outcome.PROVED, Outcome.CONVERGED)

    @property
    def start(self) -> Network:
        """The first network."""
        return self.path[0].network

    @property
    def end(self) -> Network:
        """The limit when it is known, else the last network."""
        return self.path[-1].network if self.limit is None else self.limit

    def lost_digits(self) -> Iterator[np.ndarray]:
        """What rounding may have made of (‖w_k‖² − a_k²)/(‖w_k‖² + a_k²) at every moment.

        A neuron that shrinks keeps the rounding errors it had when it was large, and one that grows
        again does not get its digits back.
        """
        largest = lost = np.zeros(len(self.start.a))
        for moment in self.path:
            W, a = moment.network.W, moment.network.a
            squares = np.maximum((W**2).sum(axis=1) + a**2, 1e-300)
            largest = np.maximum(largest, squares)
            lost = np.maximum(lost, BALANCE_ROUNDING * largest / squares)
            yield lost
