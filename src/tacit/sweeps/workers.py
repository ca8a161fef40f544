"""Who does the work of a sweep: the cores of this machine, or a cluster."""

from collections.abc import Sequence
from typing import Protocol

from tacit.sweeps.planned_run import Pack, RunResult, Sets

CRASHES = 3
"""A run that ends its worker that often, alone, has failed."""


class Crashed(Exception):
    """A worker ended while it worked on a pack; the message says how."""


class Workers(Protocol):
    """Who does the work: the cores of this machine, or a cluster."""

    @property
    def pack(self) -> int:
        """The most runs in a pack."""

    @property
    def at_once(self) -> int:
        """Packs that should be in the hands of the workers at any time."""

    @property
    def crashes(self) -> int:
        """Crashes of a pack with one run after which that run has failed."""

    def start(self, pack: Pack, sets: Sets) -> None:
        """Give a pack to the workers."""

    def wait(self) -> tuple[Pack, Sequence[RunResult] | Crashed]:
        """The next pack that has ended, with the results of its runs in their order."""

    def close(self) -> None:
        """End the workers, whatever they do."""
