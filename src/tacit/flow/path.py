"""A path of the flow: its moments, its events at activation hyperplanes, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.flow.state import State
from tacit.messages import count
from tacit.values import Status


class PathEnd(Status):
    """Why a path was not followed further."""

    REACHED = "reached", "The loss is as small as was asked for."
    REST = "rest", "The flow is at rest at a positive loss."
    DEAD = "dead", "All neurons are inactive on every sample."
    BRANCHED = "branched", "The flow may go on in more than one way."
    INTERRUPTED = "interrupted", "A KeyboardInterrupt ended it."
    UNDECIDED = "undecided", "Time, steps or floating point were not enough to go on."


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
