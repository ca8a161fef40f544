"""What a paper's file is made of: settings with their place, one function per figure or table.

An artefact is a function `(settings, tell) → Result`, registered by `@artefact`. Its settings are a
frozen dataclass whose fields say where each value comes from: `paper(100, "§5.1")`, or
`ours(0.1, "why")` where the paper does not say. Everything a reader must know to judge a picture
(what was shrunk, what was chosen by us) is collected from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tacit.values import BadInput
from tacit.values.text import near_miss

T = TypeVar("T")


def paper(value: T, place: str) -> T:
    """A setting that the paper states, and where."""
    return field(default=value, metadata={"place": place, "ours": False})


def ours(value: T, why: str) -> T:
    """A setting that the paper leaves open, and why we choose this value."""
    return field(default=value, metadata={"place": why, "ours": True})


@dataclass(frozen=True)
class Settings:
    """What the settings of every artefact have."""

    seed: int = ours(0, "all randomness follows from it; claims must hold for others too")


class Entry(NamedTuple):
    """One setting as it was used."""

    name: str
    value: Any
    default: Any
    """The paper's value, or ours where it gives none."""
    place: str
    """Where in the paper it stands, or why it was chosen."""
    ours: bool


def entries(settings: Settings) -> list[Entry]:
    """All settings in the order of the paper's file; the seed last."""
    found = [
        Entry(f.name, getattr(settings, f.name), f.default, f.metadata["place"], f.metadata["ours"])
        for f in fields(settings)
    ]
    return [*found[1:], found[0]]


@dataclass(frozen=True)
class Claim:
    """What a paper says of an artefact, and what we found."""

    id: str
    text: str
    """The claim as a sentence that can be false."""
    paper: float | str
    """The paper's value or bound."""
    ours: float | str
    """What was measured."""
    holds: bool
    interval: tuple[float, float] | None = None
    """99% confidence interval of `ours`, where it was estimated from random runs."""
    finding: str = ""
    """Where the claim does not hold for us: why (our reading, our choice, a mistake in print)."""


@dataclass(frozen=True, eq=False)
class Result:
    """What one artefact gives."""

    claims: tuple[Claim, ...]
    figure: Any
    """A matplotlib figure, made by `tacit.plot.new_figure`."""
    data: dict[str, np.ndarray]
    """The numbers behind the picture."""
    departures: tuple[str, ...] = ()
    """How it departs from the paper, beyond what the settings say."""


Tell = Callable[[str], None]
"""Called with a few words on what is being computed."""


@dataclass(frozen=True)
class Artefact:
    """A figure or table of a paper, and how it is made."""

    key: str
    """The paper, `phuong2021`; `beyond` for pictures that no paper has."""
    name: str
    """`fig1`."""
    title: str
    place: str
    """`Figure 1, §5.1`."""
    settings: type[Settings]
    quick: dict[str, Any]
    """The settings that `--quick` changes."""
    make: Callable[[Any, Tell], Result]
    images: bool
    """Trains convolutional networks on images: hours on a CPU."""

    @property
    def id(self) -> str:
        return f"{self.key}:{self.name}"

    @property
    def folder(self) -> str:
        """The name of the folder that holds it."""
        return f"{self.key}-{self.name}"

    def choose(self, quick: bool, **changes: Any) -> Settings:
        """Its settings: the paper's, shrunk, changed."""
        known = [f.name for f in fields(self.settings)]
        for name in changes:
            if name not in known:
                raise BadInput(f"{self.id} has no setting '{name}'{near_miss(name, known)}")
        return replace(self.settings(), **{**(self.quick if quick else {}), **changes})


class Paper:
    """The artefacts of one paper, in its order."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.artefacts: dict[str, Artefact] = {}

    def artefact(
        self,
        name: str,
        place: str,
        settings: type[Settings],
        quick: dict[str, Any] | None = None,
        images: bool = False,
    ) -> Callable[[Callable[[Any, Tell], Result]], Callable[[Any, Tell], Result]]:
        """Register the decorated function; the first line of its docstring is the title."""

        def register(make: Callable[[Any, Tell], Result]) -> Callable[[Any, Tell], Result]:
            assert name not in self.artefacts, f"{self.key} has an artefact '{name}' already"
            title = (make.__doc__ or "").partition("\n")[0].rstrip(".")
            self.artefacts[name] = Artefact(
                self.key, name, title, place, settings, quick or {}, make, images
            )
            return make

        return register
