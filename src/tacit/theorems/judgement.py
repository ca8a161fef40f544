"""Does a theorem apply, what does it promise, and did the run keep the promise?"""

import math
from dataclasses import dataclass

import numpy as np

from tacit.certificates.proved_end import NARROW
from tacit.messages import percent_below
from tacit.numerics.float64 import EPS
from tacit.theorems.case import Case
from tacit.theorems.observation import Observation
from tacit.theorems.statement import Estimate, Prediction, Theorem
from tacit.values import Check, Status

MOST_SPREAD = 1e5
"""Where sizes or directions of the points differ by more, rounding may be what breaks a promise."""
MOST_ENTRIES = 10**6
"""The directions of data with more entries are not looked at: an SVD would take too long."""
SAME = 1e-6
"""Radians up to which a direction that was proved is the one that was promised."""
NEARLY_ALL = 0.99
"""The share of the weight that must be proved to end near the directions that were promised."""
MOST_REASONS = 2
"""Failing hypotheses that a sentence names."""
_Directions = tuple[tuple[int, np.ndarray], ...]


class VerdictStatus(Status):
    """What became of a theorem on one case, the most telling first."""

    REFUTED = (
        "refuted",
        "Every hypothesis holds, and the run breaks the promise, by more than all errors.",
    )
    CONFIRMED = (
        "confirmed",
        "Every hypothesis holds, and the run keeps the promise up to the tolerance.",
    )
    DIFFERS = (
        "differs",
        "The run breaks the promise, but a hypothesis is undecided, or nobody says how small is "
        "small enough for it.",
    )
    AGREES = (
        "agrees",
        "The run, or one from a smaller start, keeps the promise, but a hypothesis is undecided.",
    )
    OPEN = "open", "The theorem may apply, but this run cannot tell, or not for sure."
    NOT_APPLICABLE = "not applicable", "A hypothesis fails, so nothing is promised."


@dataclass(frozen=True, eq=False)
class Verdict:
    """One theorem on one case."""

    theorem: Theorem
    hypotheses: tuple[Check, ...]
    prediction: Prediction | None
    """None when a hypothesis fails."""
    status: VerdictStatus
    residual: float | None
    words: str
    """One sentence."""
    proved: bool = False
    """Whether the margin and the directions that it promises are proved, and not only observed."""

    def __repr__(self) -> str:
        return f"{self.theorem.id}: {self.status}. {self.words}"

    @property
    def applies(self) -> bool | None:
        """Whether every hypothesis holds; None also when none could be evaluated."""
        return applies(self.hypotheses) if self.hypotheses else None


def applies(hypotheses: tuple[Check, ...]) -> bool | None:
    """Whether every hypothesis holds; None where none fails and some are undecided."""
    if any(check.holds is False for check in hypotheses):
        return False
    return None if any(check.holds is None for check in hypotheses) else True


def judge(theorem: Theorem, case: Case, run: Observation | None = None) -> Verdict:
    """Judge a theorem on a case.

    Parameters
    ----------
    theorem : Theorem
        The statement.
    case : Case
        Data, setting and, where known, initial weights.
    run : Observation, optional
        What training did; without it only theorems about the data alone can be confirmed.

    Returns
    -------
    Verdict
        The hypotheses, the prediction, and whether the run keeps it.
    """
    checks = theorem.hypotheses(case, run)
    fit = applies(checks)
    if fit is False:
        status, words = VerdictStatus.NOT_APPLICABLE, _why_not(checks)
        return Verdict(theorem, checks, None, status, None, words)
    prediction = theorem.predict(case)
    if not _can_tell(theorem, run):
        words = _what_is_missing(theorem, checks, run)
        return Verdict(theorem, checks, prediction, VerdictStatus.OPEN, None, words)
    residual = theorem.residual(prediction, case, run)
    if residual is None or math.isnan(residual):
        words = "This run cannot tell whether the conclusion holds."
        if theorem.needs == "data":
            words = "Whether the conclusion holds could not be computed here."
        words += _undecided(checks)
        return Verdict(theorem, checks, prediction, VerdictStatus.OPEN, None, words)
    kept = residual <= theorem.tolerance
    status = VerdictStatus.AGREES if kept else VerdictStatus.DIFFERS
    words = theorem.verdict(residual, prediction, run)
    vague = [check.name for check in checks if not check.quantified]
    proved = False
    if kept:
        status = VerdictStatus.CONFIRMED if fit else status
        proof, proved = _proof(theorem, prediction, run) if fit else ("", False)
        words += proof
    elif isinstance(residual, Estimate) and not residual - residual.error > theorem.tolerance:
        status = VerdictStatus.OPEN
        words = f"A residual of {residual:.1e} may be off by {residual.error:.1e}: "
        words += f"{residual.reason}."
    elif vague:
        words += (
            " The statement does not say how small, near or large is enough "
            f"({', '.join(vague)}), so nothing is refuted."
        )
    elif fit and (spread := _spread(case)) > MOST_SPREAD:
        words += f" Sizes or directions of the points differ by {spread:.0e}: it may be rounding."
    elif fit:
        status = VerdictStatus.REFUTED
    words += _undecided(checks)
    return Verdict(theorem, checks, prediction, status, float(residual), words, proved)


def _proof(theorem: Theorem, prediction: Prediction, run: Observation | None) -> tuple[str, bool]:
    """What is proved of a promise about the limit, and whether that is all that it promises."""
    end = run.proved if run is not None and theorem.needs == "limit" else None
    if end is None or not end.narrow:
        return "", False
    proved = []
    if "margin" in prediction.values:
        off = abs(prediction.values["margin"] / end.margin_bounds.upper - 1)
        if off > NARROW:
            return "", False
        most = 1.1 * (end.margin_bounds.gap + off)  # .1e rounds down by less than a tenth
        proved.append(f"the margin can only end there, up to {most:.1e} of it")
    whole = bool(proved) and theorem.proof_covers_it
    if prediction.directions:
        share = end.share if _same(end.directions, prediction.directions) else None
        if share is None or share < NEARLY_ALL:
            whole = False
        else:
            near = f"within {end.angle:g} rad of these directions"
            proved.append(f"at least {percent_below(share)} of the weight ends {near}")
    return f" Proved: {', and '.join(proved)}." if proved else "", whole


def _same(one: _Directions, other: _Directions) -> bool:
    """Whether each direction of either is one of the other's, with its sign."""

    def covers(these: _Directions, those: _Directions) -> bool:
        return all(
            any(s == sign and angle_between(u, v) <= SAME for sign, v in these) for s, u in those
        )

    return covers(one, other) and covers(other, one)


def angle_between(u: np.ndarray, v: np.ndarray) -> float:
    """The angle of two unit vectors in radians; accurate also where it is small."""
    return 2 * math.atan2(float(np.linalg.norm(u - v)), float(np.linalg.norm(u + v)))


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


def _can_tell(theorem: Theorem, run: Observation | None) -> bool:
    """Whether the run is of the kind that the theorem needs."""
    if theorem.needs == "data":
        return True
    if run is None:
        return False
    if theorem.needs == "ensemble":
        return len(run.members) > 0
    if theorem.needs == "descent":
        return run.outcome == "done"
    return bool(run.path or run.members) and run.outcome != "done"


def _what_is_missing(theorem: Theorem, checks: tuple[Check, ...], run: Observation | None) -> str:
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
