"""The geometry of a data set: every predicate with its signed slack.

A new predicate is a function decorated with `@predicate(name, place)` in a file of this folder that
`TOPICS` names, or in the `geometry` of a paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.geometry.facts import facts, remarks
from tacit.geometry.predicate import View, predicates
from tacit.values import BadInput, Check, Dataset
from tacit.values.text import near_miss

__all__ = ["Geometry", "check", "predicates"]


@dataclass(frozen=True)
class Geometry:
    data: Dataset
    alpha: float
    facts: dict[str, Any]
    properties: dict[str, Check]
    max_margin: tuple[float, float] | None
    """Lower and upper bound of the largest margin (of K classes: the smallest of the K, each
    against the rest); None when there is none, or it was not asked for."""
    max_margin_direction: np.ndarray | None

    @property
    def remarks(self) -> list[str]:
        return remarks(self.facts)


def check(data: Dataset, properties: Sequence[str] = (), alpha: float = 0.5) -> Geometry:
    """Every predicate on `data`, or the named ones only (these without a limit on their time)."""
    known = predicates()
    for name in properties:
        if name not in known:
            raise BadInput(f"unknown property '{name}'{near_miss(name, known)}")
    view = View(data, alpha, unlimited=bool(properties))
    found = {name: known[name](view) for name in properties or known}
    margin = direction = None
    asked = found.get("linearly_separable")
    if asked and asked.holds and asked.slack is not None:
        margin = asked.slack, asked.slack + asked.error
        direction = view.margin.direction if data.binary else None
    return Geometry(data, alpha, facts(data), found, margin, direction)
