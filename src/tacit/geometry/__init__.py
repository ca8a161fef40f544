"""The geometry of a data set: every property that a theorem assumes, with its signed slack.

A new property is a function decorated with `@predicate(name, place)` in a file of this folder that
`TOPICS` names, or in the `geometry` of a paper.
"""

from tacit.geometry.checking import Geometry, check
from tacit.geometry.predicate import predicates

__all__ = ["Geometry", "check", "predicates"]
