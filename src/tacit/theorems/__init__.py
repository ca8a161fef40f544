"""Published theorems as objects: hypotheses with slack, predictions, residuals.

Each paper has a folder; a new theorem is a class there, listed in the folder's `THEOREMS`.
"""

from tacit._types import Check
from tacit.theorems import common
from tacit.theorems.base import (
    Case,
    Erratum,
    Evidence,
    Moment,
    Network,
    Prediction,
    Run,
    Source,
    Theorem,
)
from tacit.theorems.judge import Verdict, applies, judge
from tacit.theorems.registry import theorem, theorems

__all__ = [
    "Case",
    "Check",
    "Erratum",
    "Evidence",
    "Moment",
    "Network",
    "Prediction",
    "Run",
    "Source",
    "Theorem",
    "Verdict",
    "applies",
    "common",
    "judge",
    "theorem",
    "theorems",
]
