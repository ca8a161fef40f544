"""Measures of a network at one moment. A new one is a function with `@measure(name)` here."""

from tacit.measures.measure import MEASURES, NotDefined, Snapshot, measure, measure_all

# Measures are shown in the order of this line.
# isort: off
from tacit.measures import margin
from tacit.measures import clustering
from tacit.measures import agreement
from tacit.measures import rank
# isort: on

__all__ = ["MEASURES", "NotDefined", "Snapshot", "measure", "measure_all"]
