"""A path of the flow: moments, what happened at walls, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.flow.state import State


@dataclass(frozen=True)
class Moment:
    """The path at one time."""

    s: float
    """Loss-normalised time, ds = L dt."""
    log_t: float
    """Natural logarithm of the time t of gradient flow on the sum of the losses."""
    log_L: float
    """Of all points."""
    state: State


@dataclass(frozen=True)
class Event:
    s: float
    neuron: int
    wall: int
    what: str
    """cross, slide, release, or die (then there is no wall)."""


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """How it went; the first moment is the start."""

    moments: list[Moment]
    events: list[Event]
    end: str
    """reached (the loss asked for), rest, dead, branched, undecided, or interrupted."""
    reason: str
    steps: int
    rejected: int
    drift: float
    """max |‖w_k‖² − a_k² − its start| over the largest ‖w_k‖² + a_k²: 0 for the exact flow."""
    out_of_time: bool = False
    """Whether it is undecided because the seconds it was given were over."""

    @property
    def last(self) -> Moment:
        return self.moments[-1]
