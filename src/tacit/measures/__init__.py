"""Measures of a network at one moment. A new one is a function with `@measure(name)` here."""

from tacit.measures import agreement, clustering, margin, rank
from tacit.measures.base import MEASURES, NotDefined, Snapshot, measure, measure_all

__all__ = [
    "MEASURES",
    "NotDefined",
    "Snapshot",
    "agreement",
    "clustering",
    "margin",
    "measure",
    "measure_all",
    "rank",
]
