"""An independent checker of proofs about the best of all two-layer networks.

A proof file holds the data, a network (a bound from above), multipliers (a bound from below) and
the claims. Everything is recomputed in exact arithmetic, and nothing of the solvers that made the
file is used here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from tacit.files import open_regular
from tacit.proofs.bracket import combined, prove
from tacit.proofs.entries import Rejected
from tacit.proofs.exact import Budget, float_above, float_below
from tacit.proofs.reading import FORMAT, MOST_BYTES, Proof, check_first_line, parse, write_proof
from tacit.values import Dataset

__all__ = ["FORMAT", "MOST_BYTES", "Verdict", "float_above", "float_below"]
__all__ += ["about", "verify", "verify_bytes", "write_proof"]


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a file proves. What it is about is filled in as far as the file could be read."""

    verified: bool
    reason: str = ""
    """Why the file was rejected, in one line that names the place; empty when it was verified."""
    infeasible: bool = False
    """No network of any width fits the data (of K classes: at least one against the rest)."""
    lower: Fraction | None = None
    upper: Fraction | None = None
    """The optimal objective is between the two. For both layers it is the smallest Σ|a_k|‖w_k‖ with
    margins of at least 1 (the largest margin over ‖θ‖² is 1/(2·objective)), else ‖W‖_F."""
    cells: int = 0
    """The number of cells that were enumerated, over all problems."""
    alpha: float | None = None
    train: str | None = None
    output_weight: float | None = None
    units: int | None = None
    X: np.ndarray | None = None
    y: list[np.ndarray] | None = None
    """The labels ±1 of each problem: one list, or for K classes each class against the rest."""
    classes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return 0 if self.X is None else self.X.shape[0]

    @property
    def d(self) -> int:
        return 0 if self.X is None else self.X.shape[1]


def verify(path: str | Path, most_bytes: int = MOST_BYTES) -> Verdict:
    """Check the proof in a file; BadInput if there is none, or it would take too long."""
    with open_regular(path, most_bytes) as file:
        raw = file.read(most_bytes)
    return verify_bytes(raw, str(path))


def verify_bytes(raw: bytes, name: str = "the file") -> Verdict:
    """The same for the bytes of a file."""
    check_first_line(raw, name)
    try:
        proof = parse(raw)
    except Rejected as error:
        return Verdict(False, str(error))
    read = Verdict(
        False,
        alpha=proof.alpha,
        train=proof.train,
        output_weight=proof.output_weight,
        units=proof.units,
        X=proof.X,
        y=[problem.y for problem in proof.problems],
        classes=proof.classes,
    )
    try:
        return _verified(proof, read)
    except Rejected as error:
        return replace(read, reason=str(error))


def about(found: Verdict, data: Dataset) -> Verdict:
    """Rejected, too, unless it is about exactly these points and labels."""
    if not found.verified or found.X is None or found.y is None:
        return found
    if found.X.shape != data.X.shape or not np.array_equal(found.X, data.X):
        return replace(found, verified=False, reason="the proof is about other points than DATA")
    parts = [data.one_vs_rest(k).y for k in range(len(data.classes))] or [data.y]
    if (
        found.classes != data.classes
        or len(parts) != len(found.y)
        or any(
            not np.array_equal(mine, theirs) for mine, theirs in zip(parts, found.y, strict=True)
        )
    ):
        return replace(found, verified=False, reason="the proof is about other labels than DATA's")
    return found


def _verified(proof: Proof, read: Verdict) -> Verdict:
    budget = Budget()
    brackets = [prove(proof, problem, budget) for problem in proof.problems]
    cells = sum(bracket.cells for bracket in brackets)
    found = combined(brackets, proof.train)
    if found is None:
        return replace(read, verified=True, infeasible=True, cells=cells)
    lower, upper = found
    assert proof.lower is not None and proof.upper is not None
    if Fraction(proof.lower) > lower:
        raise Rejected(
            f"lower is claimed to be {proof.lower!r}, but only {float_below(lower)!r} is proved"
        )
    if Fraction(proof.upper) < upper:
        raise Rejected(
            f"upper is claimed to be {proof.upper!r}, but only {float_above(upper)!r} is proved"
        )
    return replace(read, verified=True, lower=lower, upper=upper, cells=cells)
