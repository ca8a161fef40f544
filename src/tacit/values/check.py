"""One property of a data set or setting: does it hold, and by how much."""

from dataclasses import dataclass


class NotDefined(Exception):
    """A property or a measure has no meaning here; the message says what is missing."""


@dataclass(frozen=True)
class Check:
    """One property of a data set or setting: does it hold, and by how much.

    `slack` is positive when the property holds with room to spare and negative when it fails; its
    unit is stated in `note`. `error` bounds the rounding error of `slack`. `holds` is None when
    nothing was decided, and `note` then says why. `quantified` is False of a hypothesis of which
    the statement does not say how small, near or large is enough: then `holds` is our reading.
    """

    name: str
    holds: bool | None
    slack: float | None
    place: str
    note: str = ""
    error: float = 0.0
    quantified: bool = True
