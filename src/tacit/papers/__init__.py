"""The papers' figures and tables: `tacit reproduce KEY:ID`. Papers never import papers."""

from __future__ import annotations

from importlib import import_module

from tacit._types import BadInput
from tacit._words import near_miss
from tacit.papers.base import Artefact

KEYS = ("sarussi2021", "phuong2021", "lyu2021", "brutzkus2019", "wang2022", "beyond")


def artefacts() -> dict[str, Artefact]:
    """Every figure and table by its id, in the order of the papers."""
    papers = [import_module(f"tacit.papers.{key}").PAPER for key in KEYS]
    return {one.id: one for paper in papers for one in paper.artefacts.values()}


def choose(names: tuple[str, ...]) -> list[Artefact]:
    """The artefacts of names such as `phuong2021:fig1`, `phuong2021` (all of it) and `all`.

    Those that train networks on images come last: they take hours.
    """
    known = artefacts()
    chosen: dict[str, Artefact] = {}
    for name in names:
        found = [one for one in known.values() if name in ("all", one.key, one.id)]
        if not found:
            raise BadInput(f"unknown figure '{name}'{near_miss(name, [*known, *KEYS, 'all'])}")
        chosen |= {one.id: one for one in found}
    return sorted(chosen.values(), key=lambda one: one.images)
