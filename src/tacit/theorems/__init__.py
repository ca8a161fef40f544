"""Published theorems as objects: hypotheses with slack, predictions, residuals.

Each paper has a folder; a new theorem is a class there, listed in the folder's `THEOREMS`.
"""

from tacit.theorems import shared_hypotheses as common
from tacit.theorems.judgement import Verdict, applies, judge
from tacit.theorems.registry import theorem, theorems
from tacit.theorems.theorem import (
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
from tacit.values import Check

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
