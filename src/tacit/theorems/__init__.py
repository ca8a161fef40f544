"""Published theorems as objects: hypotheses with slack, predictions, residuals.

Each paper has a folder; a new theorem is a class in its `statements`, listed in `THEOREMS` there.
"""

from tacit.theorems import hypotheses
from tacit.theorems.case import Case
from tacit.theorems.errata import Erratum, Evidence
from tacit.theorems.judgement import Verdict, VerdictStatus, applies, judge
from tacit.theorems.observation import Observation, PathPoint
from tacit.theorems.registry import theorem, theorems
from tacit.theorems.statement import Estimate, Prediction, Source, Theorem
from tacit.values import Check, Network

__all__ = [
    "Case",
    "Check",
    "Erratum",
    "Estimate",
    "Evidence",
    "Network",
    "Observation",
    "PathPoint",
    "Prediction",
    "Source",
    "Theorem",
    "Verdict",
    "VerdictStatus",
    "applies",
    "hypotheses",
    "judge",
    "theorem",
    "theorems",
]
