"""Moments and events of a path as arrays: there may be a million of either."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.flow.hyperplanes import Hyperplanes
from tacit.flow.motion import KINDS
from tacit.flow.path import Event, Moment
from tacit.flow.state import State
from tacit.messages import require

EVENTS = (*KINDS, "die")
"""Kinds of events, by their numbers."""


@dataclass(frozen=True, eq=False)
class SavedMoments:
    """T moments of one network's path; see `flow.path.Moment`."""

    s: np.ndarray
    log_t: np.ndarray
    log_L: np.ndarray
    beyond: np.ndarray
    W: np.ndarray
    """T × m × d."""
    a: np.ndarray
    """T × m."""
    side: np.ndarray
    """T × m × hyperplanes."""

    @classmethod
    def of(cls, moments: list[Moment]) -> SavedMoments:
        """The arrays of these moments."""
        return cls(
            s=np.array([moment.s for moment in moments]),
            log_t=np.array([moment.log_t for moment in moments]),
            log_L=np.array([moment.log_L for moment in moments]),
            beyond=np.array([moment.beyond for moment in moments]),
            W=np.stack([moment.state.W for moment in moments]),
            a=np.stack([moment.state.a for moment in moments]),
            side=np.stack([moment.state.side for moment in moments]),
        )

    def moments(self, planes: Hyperplanes, both: bool) -> list[Moment]:
        """The moments of these arrays."""
        copies = np.ones(self.a.shape[1])
        states = [
            State(planes, W, a, both, side, copies)
            for W, a, side in zip(self.W, self.a, self.side, strict=True)
        ]
        times = zip(self.s, self.log_t, self.log_L, self.beyond, strict=True)
        return [
            Moment(float(s), float(log_t), float(log_L), state, beyond=float(beyond))
            for (s, log_t, log_L, beyond), state in zip(times, states, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class SavedEvents:
    """The events of one network's path; see `flow.path.Event`."""

    s: np.ndarray
    neuron: np.ndarray
    plane: np.ndarray
    what: np.ndarray
    """The number of the kind."""

    @classmethod
    def of(cls, events: list[Event]) -> SavedEvents:
        """The arrays of these events."""
        number = {what: k for k, what in enumerate(EVENTS)}
        return cls(
            s=np.array([event.s for event in events], dtype=np.float64),
            neuron=np.array([event.neuron for event in events], dtype=np.int64),
            plane=np.array([event.plane for event in events], dtype=np.int64),
            what=np.array([number[event.what] for event in events], dtype=np.int8),
        )

    def events(self, state: State) -> list[Event]:
        """The events of these arrays, on the path of this state; BadInput where there are none."""
        columns = (self.s, self.neuron, self.plane, self.what)
        require(
            all(column.shape == (len(self.what),) for column in columns)
            and bool(np.isfinite(self.s).all())
            and all(column.dtype.kind == "i" for column in columns[1:])
            and _within(self.neuron, 0, len(state.a))
            and _within(self.plane, -1, len(state.planes.e))
            and _within(self.what, 0, len(EVENTS)),
            "its events are not those of its neurons at its hyperplanes",
        )
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [Event(s, neuron, plane, EVENTS[what]) for s, neuron, plane, what in rows]


def _within(numbers: np.ndarray, least: int, most: int) -> bool:
    return bool(((least <= numbers) & (numbers < most)).all())
