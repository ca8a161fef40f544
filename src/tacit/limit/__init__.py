"""Where the flow ends: surviving patterns, and the convex program restricted to them."""

from tacit.limit.candidate import Candidate, candidate

__all__ = ["Candidate", "candidate"]
