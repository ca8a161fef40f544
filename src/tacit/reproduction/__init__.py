"""The papers' figures and tables: `tacit reproduce KEY:ID`. Papers never import papers."""

from __future__ import annotations

from tacit.reproduction.artefact import Artefact
from tacit.values import BadInput
from tacit.values.discovery import paper_keys, paper_parts
from tacit.values.text import near_miss


def artefacts() -> dict[str, Artefact]:
    """Every figure and table by its id, in the order of the papers."""
    papers = [module.PAPER for module in paper_parts("figures").values()]
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
            raise BadInput(
                f"unknown figure '{name}'{near_miss(name, [*known, *paper_keys(), 'all'])}"
            )
        chosen |= {one.id: one for one in found}
    return sorted(chosen.values(), key=lambda one: one.images)
