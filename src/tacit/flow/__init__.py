"""Where the flow ends: surviving patterns, and the convex program restricted to them."""

from tacit.flow.candidates import Candidate, candidate
from tacit.flow.ending import find
from tacit.flow.result import Group, Limit

__all__ = ["Candidate", "Group", "Limit", "candidate", "find"]
