"""All theorems by id: those of the five papers, and those of installed packages.

A package adds its own through the entry-point group `tacit.theorems`: each entry point names a
class derived from `Theorem`, or an iterable of such classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from tacit._types import BadInput
from tacit._words import near_miss
from tacit.theorems.base import Theorem

GROUP = "tacit.theorems"
PAPERS = ("sarussi2021", "phuong2021", "lyu2021", "brutzkus2019", "wang2022")


@cache
def theorems() -> dict[str, Theorem]:
    """Id → theorem."""
    found: dict[str, Theorem] = {}
    for key in PAPERS:
        for one in import_module(f"tacit.theorems.{key}").THEOREMS:
            _add(found, one(), f"tacit.theorems.{key}")
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        for one in _classes(entry.load(), entry.name):
            _add(found, one(), f"entry point '{entry.name}'")
    return found


def theorem(id: str) -> Theorem:
    """The theorem of that id."""
    known = theorems()
    if id not in known:
        raise BadInput(f"unknown theorem '{id}'{near_miss(id, known)}")
    return known[id]


def _classes(loaded: object, name: str) -> Iterable[type[Theorem]]:
    many = list(loaded) if isinstance(loaded, Iterable) else [loaded]
    for one in many:
        if not (isinstance(one, type) and issubclass(one, Theorem)):
            raise BadInput(
                f"entry point '{name}' of {GROUP} gives {one!r}; "
                "it must give a class derived from tacit.theorems.Theorem, or several"
            )
    return many


def _add(found: dict[str, Theorem], one: Theorem, origin: str) -> None:
    if one.id in found:
        raise BadInput(f"{origin} brings a theorem '{one.id}', which there is already")
    found[one.id] = one
