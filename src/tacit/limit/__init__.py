"""Where the flow ends: surviving patterns, and the convex program restricted to them."""

from tacit.limit.candidate import Candidate, candidate
from tacit.limit.find import find
from tacit.limit.result import Group, Limit

__all__ = ["Candidate", "Group", "Limit", "candidate", "find"]
