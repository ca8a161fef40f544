"""A path of the flow: its moments, its events at activation hyperplanes, and how it ended."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.flow.state import State
from tacit.messages import count
from tacit.numerics.float64 import LN10
from tacit.values import Status


class PathEnd(Status):
    """Why a path was not followed further."""

    REACHED = "reached", "The loss is as small as was asked for."
    REST = "rest", "The flow is at rest at a positive loss."
    DEAD = "dead", "All neurons are inactive on every sample."
    BRANCHED = "branched", "The flow may go on in more than one way."
    INTERRUPTED = "interrupted", "A KeyboardInterrupt ended it."
    UNDECIDED = "undecided", "Time, steps or floating point were not enough to go on."


def log10_depth(log_L: float, beyond: float = 0.0) -> float:
    """log₁₀ log₁₀(1/L) of a loss below 1; −inf of others."""
    return math.log10(-log_L / LN10) + beyond / LN10 if log_L < 0 else -math.inf


@dataclass(frozen=True)
class Moment:
    """The path at one time."""

    s: float
    """Loss-normalised time, ds = L dt."""
    log_t: float
    """Natural logarithm of the time t of gradient flow on the sum of the losses."""
    log_L: float
    """Natural logarithm of the loss, summed over all samples."""
    state: State
    errors: np.ndarray | None = None
    """An estimate of the error of every neuron (w_k, a_k) relative to its size, added up from the
    steps until then; 1 where all digits may be lost. None between the moments of a path."""
    beyond: float = 0.0
    """The logarithm of what log(1/L) is larger by than `log_L` says: 0, but where the loss is
    beyond floating point. The state is then scaled to `log_L`."""

    @property
    def log10_depth(self) -> float:
        """log₁₀ log₁₀(1/L) of a loss below 1; −inf of others."""
        return log10_depth(self.log_L, self.beyond)

    def loss_text(self, digits: int = 4) -> str:
        """The loss in words."""
        if self.beyond:
            return f"log₁₀ L = -10^{self._depth_text}"
        return f"log₁₀ L = {self.log_L / LN10:.{digits}g}"

    def time_text(self, digits: int = 6) -> str:
        """The time in words; beyond floating point it is 1/L, but for a factor like log(1/L)."""
        if self.beyond:
            return f"log₁₀ t = 10^{self._depth_text}"
        return f"log₁₀ t = {self.log_t / LN10:.{digits}g}" if self.log_t > -math.inf else "t = 0"

    @property
    def _depth_text(self) -> str:
        return f"{self.log10_depth:.5g}" if self.log10_depth < 1e5 else f"{self.log10_depth:.0f}"


@dataclass(frozen=True)
class Event:
    """What a neuron did at an activation hyperplane, or that it died."""

    s: float
    """Loss-normalised time."""
    neuron: int
    plane: int
    """The number of the hyperplane; −1 for a death."""
    what: str
    """cross, slide, release, or die."""


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """A path as far as it was followed; the first moment is the start."""

    moments: list[Moment]
    events: list[Event]
    end: PathEnd
    reason: str
    """What ended it, in words, where `end` does not say it all; else empty."""
    steps: int
    rejected: int
    drift: float
    """max |‖w_k‖² − a_k² − its start| over the largest ‖w_k‖² + a_k²: 0 for the exact flow."""
    out_of_time: bool = False
    """Whether it is undecided because the seconds it was given were over."""
    weights: np.ndarray | None = None
    """p of the samples at its end, where rounding may hide it in the margins."""

    def __repr__(self) -> str:
        moments, events = count(len(self.moments), "moment"), count(len(self.events), "event")
        return f"Path: {moments}, {events}; {self.end.sentence}"

    @property
    def last(self) -> Moment:
        return self.moments[-1]
