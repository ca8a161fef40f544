"""What following gradient flow to its end has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.certificates.certificate import Certificate
from tacit.certificates.kkt import KKT
from tacit.flow.path import Path
from tacit.values import Dataset, Setting

Outcome = Literal["converged", "partial", "stuck", "dead", "undecided", "branched"]


@dataclass(frozen=True, eq=False)
class Group:
    """Neurons that end in one direction."""

    sign: int
    """Of their output weights."""
    members: np.ndarray
    """Which neurons."""
    direction: np.ndarray
    """A unit vector."""
    weight: float
    """Σ|a_k|‖w_k‖ over the group at the limit, scaled so that the smallest margin is 1."""
    pattern: np.ndarray
    """Per point: the sign of w·x_i, 0 where the direction lies in the point's wall."""

    @property
    def size(self) -> int:
        return len(self.members)


@dataclass(frozen=True, eq=False, repr=False)
class Limit:
    """The end of one network's path on binary data.

    Only `converged` claims a limit; else `groups` is empty and what depends on it None.
    """

    setting: Setting
    data: Dataset
    seed: int
    outcome: Outcome
    reason: str
    """One sentence: the evidence for the outcome."""
    path: Path
    groups: tuple[Group, ...]
    W: np.ndarray | None
    a: np.ndarray | None
    """The limit as a network of the same neurons, scaled so that the smallest margin is 1."""
    kkt: KKT | None
    certificate: Certificate | None
    """Where its margin stands among all networks."""
    approach: np.ndarray
    """T × 2: log₁₀ loss, and the angle between the path's weights there and those of the limit."""
    rate: float | None
    """r of the fit angle ~ log(1/L)^(−r) over the late path."""
    seconds: float

    @property
    def margin(self) -> float | None:
        """q_min/‖θ‖^L of the limit."""
        return self.kkt.margin if self.kkt is not None else None

    @property
    def log10_loss(self) -> float:
        """Where the path was followed to."""
        return self.path.last.log_L / float(np.log(10))
