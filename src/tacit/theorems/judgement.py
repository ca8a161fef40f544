"""Does a theorem apply, what does it promise, and did the run keep the promise?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.geometry.predicate import EPS
from tacit.theorems.theorem import Case, Prediction, Run, Theorem
from tacit.values import Check

Status = Literal["confirmed", "refuted", "agrees", "differs", "open", "not applicable"]
MOST_SPREAD, MOST_ENTRIES = 1e5, 10**6
"""Beyond that, rounding may be what breaks a promise; and up to so many entries of the data its
directions are looked at."""
MOST_REASONS = 2
"""Failing hypotheses that a sentence names."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """One theorem on one case."""

    theorem: Theorem
    hypotheses: tuple[Check, ...]
    prediction: Prediction | None
    """None when a hypothesis fails."""
    status: Status
    """`agrees` and `differs` stand for `confirmed` and `refuted` where a hypothesis is undecided;
    `open` when there is no run that could tell."""
    residual: float | None
    words: str
    """One sentence."""

    @property
    def applies(self) -> bool | None:
        """None also when no hypothesis could be evaluated."""
        return applies(self.hypotheses) if self.hypotheses else None


def applies(hypotheses: tuple[Check, ...]) -> bool | None:
    """True, False, or None: it cannot be decided."""
    if any(check.holds is False for check in hypotheses):
        return False
    return None if any(check.holds is None for check in hypotheses) else True


def judge(theorem: Theorem, case: Case, run: Run | None = None) -> Verdict:
    """Hypotheses and prediction; with a run also whether it keeps the prediction."""
    checks = theorem.hypotheses(case, run)
    fit = applies(checks)
    if fit is False:
        return Verdict(theorem, checks, None, "not applicable", None, _why_not(checks))
    prediction = theorem.predict(case)
    if not _can_tell(theorem, run):
        return Verdict(theorem, checks, prediction, "open", None, _open(theorem, checks, run))
    residual = theorem.residual(prediction, case, run)
    if residual is None or math.isnan(residual):
        words = "This run cannot tell whether the conclusion holds."
        if theorem.needs == "data":
            words = "Whether the conclusion holds could not be computed here."
        return Verdict(theorem, checks, prediction, "open", None, words + _undecided(checks))
    kept = residual <= theorem.tolerance
    status: Status = "agrees" if kept else "differs"
    words = theorem.verdict(residual, prediction, run)
    if fit and kept:
        status = "confirmed"
    elif fit and (spread := _spread(case)) > MOST_SPREAD:
        words += f" Sizes or directions of the points differ by {spread:.0e}: it may be rounding."
    elif fit:
        status = "refuted"
    return Verdict(theorem, checks, prediction, status, residual, words + _undecided(checks))


def _spread(case: Case) -> float:
    """How many times larger some points, or some directions in them, are than others."""
    sizes = np.linalg.norm(case.view.rows, axis=1) * case.view.sizes
    sizes = sizes[sizes > 0]
    if len(sizes) == 0:
        return math.inf
    spread = float(sizes.max() / sizes.min())
    if case.data.X.size <= MOST_ENTRIES:
        values = np.linalg.svd(case.view.rows, compute_uv=False)
        values = values[values > EPS * len(case.data.X) * values.max()]
        spread = max(spread, float(values.max() / values.min()))
    return spread


def _can_tell(theorem: Theorem, run: Run | None) -> bool:
    if theorem.needs == "data":
        return True
    if run is None:
        return False
    if theorem.needs == "ensemble":
        return len(run.members) > 0
    if theorem.needs == "descent":
        return run.outcome == "done"
    return bool(run.moments or run.members) and run.outcome != "done"


def _open(theorem: Theorem, checks: tuple[Check, ...], run: Run | None) -> str:
    unknown = [check for check in checks if check.holds is None]
    if unknown and run is None:
        names = ", ".join(check.name for check in unknown)
        return f"It applies if {names} hold{'s' if len(unknown) == 1 else ''}."
    if run is None:
        return "It applies; a run will tell whether the conclusion holds."
    wanted = {"descent": "a run of gradient descent", "ensemble": "many runs"}
    return f"It applies; {wanted.get(theorem.needs, 'another run')} would tell."


def _undecided(checks: tuple[Check, ...]) -> str:
    unknown = [check.name for check in checks if check.holds is None]
    return f" Undecided: {', '.join(unknown)}." if unknown else ""


def _why_not(checks: tuple[Check, ...]) -> str:
    failed = [check for check in checks if check.holds is False]
    parts = []
    for check in failed:
        far = "" if not check.slack or check.slack == -1 else f" by {-check.slack:.2g}"
        parts.append(f"{check.name} fails{far}" + (f" ({check.note})" if check.note else ""))
    more = len(parts) - MOST_REASONS
    rest = f"; and {more} more" if more > 0 else ""
    return "It does not apply: " + "; ".join(parts[:MOST_REASONS]) + rest + "."
