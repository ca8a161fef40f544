"""Statements that cannot be meant as they are printed, each with a computation that shows it."""

from collections.abc import Callable
from typing import Literal, NamedTuple


class Evidence(NamedTuple):
    """What a computation says of a misprint."""

    supports: Literal["printed", "corrected"]
    words: str
    """The numbers that decide."""


class Erratum(NamedTuple):
    """A statement that cannot be meant as it is printed."""

    printed: str
    corrected: str
    check: Callable[[], Evidence]
    """The computation that decides; it takes a second or so."""
