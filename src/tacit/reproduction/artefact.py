"""What a paper's figures are made of: settings with their sources, and one function for each.

An artefact is a function `(settings, tell) → Exhibit`, registered by `@PAPER.artefact`. Its
settings are a frozen dataclass whose fields say where each value comes from: `paper(100, "§5.1")`,
or `ours(0.1, "why")` where the paper does not say. Everything a reader must know to judge a picture
(what was shrunk, what we chose) is collected from there.
"""

import inspect
import operator
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tacit.messages import near_miss
from tacit.values import BadInput
from tacit.values.status import Status

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
    """All settings in the order of their dataclass; the seed last."""
    seed, *others = (
        Entry(f.name, getattr(settings, f.name), f.default, f.metadata["place"], f.metadata["ours"])
        for f in fields(settings)
    )
    return [*others, seed]


class Whose(Status):
    """Why a claim does not hold."""

    PAPER = "paper", "What is printed is mistaken; the finding derives it."
    OURS = "ours", "Something of ours (a choice, a size) is the reason."
    OPEN = "open", "We do not know; the finding says what would settle it."


@dataclass(frozen=True)
class Claim:
    """What a paper says of an artefact, and what we measured."""

    id: str
    text: str
    """The claim as a sentence that can be false."""
    paper: float | str
    """What the paper states, its number or its words; `not stated` where the claim is ours."""
    ours: float | str
    """What was measured."""
    holds: bool
    interval: tuple[float, float] | None = None
    """99% confidence interval of `ours`, where it was estimated from random runs."""
    finding: str = ""
    """Where the claim does not hold for us: why (our reading, our choice, a mistake in print)."""
    criterion: str = ""
    """The bound of ours that decides; empty where the paper's own number does."""
    whose: str = ""
    """A word of `Whose` where the claim does not hold and there is a finding."""


@dataclass(frozen=True, eq=False)
class Exhibit:
    """What the function of an artefact returns."""

    claims: tuple[Claim, ...]
    figure: Any
    """A matplotlib figure, made by `tacit.plot.new_figure`."""
    data: dict[str, np.ndarray]
    """The numbers behind the picture."""
    departures: tuple[str, ...] = ()
    """How it departs from the paper, beyond what the settings say."""


Tell = Callable[[str], None]
"""Called with a few words on what is being computed."""
Make = Callable[[Any, Tell], Exhibit]


@dataclass(frozen=True)
class Identity:
    """Which figure or table something is about."""

    key: str
    """The paper, `phuong2021`; `beyond` for pictures that no paper has."""
    name: str
    """`fig1`."""
    place: str
    """`Figure 1, §5.1`."""

    @property
    def id(self) -> str:
        return f"{self.key}:{self.name}"

    @property
    def folder(self) -> str:
        """The name of the folder that holds it when it is made."""
        return f"{self.key}-{self.name}"


@dataclass(frozen=True)
class Artefact(Identity):
    """A figure or table of a paper, and how it is made."""

    settings: type[Settings]
    quick: dict[str, Any]
    """The settings that `--quick` changes."""
    make: Make
    images: bool
    """Trains convolutional networks on images: hours on a CPU."""

    @property
    def title(self) -> str:
        """The first line of the function's docstring."""
        return inspect.cleandoc(self.make.__doc__ or "").partition("\n")[0].rstrip(".")

    def choose(self, quick: bool, **changes: Any) -> Settings:
        """The settings to use: the paper's, shrunk where `quick`, then changed.

        A change may be a value of the setting's kind, or that value as text.
        """
        defaults = {f.name: f.default for f in fields(self.settings)}
        for name, value in changes.items():
            if name not in defaults:
                raise BadInput(f"{self.id} has no setting '{name}'{near_miss(name, defaults)}")
            try:
                changes[name] = _of_kind(defaults[name], value)
            except (ValueError, TypeError, KeyError):
                raise BadInput(
                    f"{name}={value}: {self.id} has {name} = {defaults[name]!r}; "
                    "write a value of that kind"
                ) from None
        return replace(self.settings(), **{**(self.quick if quick else {}), **changes})


def _of_kind(like: Any, value: Any) -> Any:
    """The value, or a text of it, as the type of `like`; commas separate the entries of a tuple."""
    if isinstance(like, tuple):
        parts = [part for part in value.split(",") if part] if isinstance(value, str) else value
        return tuple(_of_kind(like[0], part) for part in parts)
    if isinstance(like, bool):
        return {"true": True, "false": False}[str(value).lower()]
    if isinstance(value, bool) or (isinstance(like, str) and not isinstance(value, str)):
        raise TypeError
    if isinstance(like, int) and not isinstance(value, str):
        return operator.index(value)  # int(2.5) would be 2
    return type(like)(value)


class Paper:
    """The artefacts of one paper.

    Parameters
    ----------
    key : str
        The name of the paper's folder.
    **contents : str
        For every artefact, in the order of the paper, the file in `figures/` that makes it:
        `fig1="two_layers"`. These files are imported when they are needed. A paper whose figures
        are one file, `figures.py`, has no contents.
    """

    def __init__(self, key: str, **contents: str) -> None:
        self.key = key
        self.contents = contents
        self._artefacts: dict[str, Artefact] = {}

    @property
    def artefacts(self) -> dict[str, Artefact]:
        """All artefacts by name, in the order of the paper."""
        return {name: self[name] for name in self.contents or self._artefacts}

    def __getitem__(self, name: str) -> Artefact:
        if name not in self._artefacts:
            import_module(f"tacit.papers.{self.key}.figures.{self.contents[name]}")
        return self._artefacts[name]

    def artefact(
        self,
        name: str,
        place: str,
        settings: type[Settings],
        quick: dict[str, Any] | None = None,
        images: bool = False,
    ) -> Callable[[Make], Make]:
        """Register the decorated function; the first line of its docstring is the title.

        `name` and `place` are written out as texts: lists of artefacts are read from the source.
        """

        def register(make: Make) -> Make:
            assert name not in self._artefacts, f"{self.key} has an artefact '{name}' already"
            self._artefacts[name] = Artefact(
                self.key, name, place, settings, quick or {}, make, images
            )
            return make

        return register
