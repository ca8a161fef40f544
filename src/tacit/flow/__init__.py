"""Gradient flow as a differential inclusion: its path, its limit, and what is claimed of it."""

from tacit.flow.candidates import Candidate, candidate
from tacit.flow.ending import binary_limit, initial_network, limit
from tacit.flow.limits import Limit, Limits
from tacit.flow.path import PathEnd
from tacit.values import Outcome

__all__ = [
    "Candidate",
    "Limit",
    "Limits",
    "Outcome",
    "PathEnd",
    "binary_limit",
    "candidate",
    "initial_network",
    "limit",
]
