"""Before a refutation is shown, other computations have to agree with it.

The statement is asked again where nothing that matters has changed: in exact arithmetic where that
is possible, else along a path with smaller steps (in other coordinates, where these play no part),
and on data that is moved by a millionth. What does not fail there too is not refuted: it was
rounding, the steps, or exceptional data such as ties.
"""

from collections.abc import Iterator
from dataclasses import replace

from tacit.explanation.other_runs import (
    MOVED,
    OtherRuns,
    OutOfTime,
    beside,
    in_other_coordinates,
)
from tacit.explanation.predictions import careful_judge
from tacit.theorems import Verdict, VerdictStatus
from tacit.values import BadInput


def confirmed_refutation(verdict: Verdict, others: OtherRuns) -> Verdict:
    """The verdict of a theorem that one computation refutes, after the others.

    It stays `refuted` if all of them agree, and is `open` otherwise; exact arithmetic decides.
    """
    theorem = verdict.theorem
    exact = theorem.exact_residual(others.case)
    if exact is not None:
        if exact > theorem.tolerance:
            return replace(verdict, residual=exact)
        words = f"In exact arithmetic the residual is {exact:.1e}."
        return replace(verdict, status=VerdictStatus.CONFIRMED, residual=exact, words=words)
    try:
        for where, again in _again(verdict, others):
            if not _agrees(verdict, again):
                return _open(verdict, f"{where} it is {_said(again)}")
    except OutOfTime:
        return _open(verdict, "there was no time for a second computation")
    except BadInput as reason:
        return _open(verdict, f"a second computation is not possible ({reason})")
    return verdict


def _again(verdict: Verdict, others: OtherRuns) -> Iterator[tuple[str, Verdict]]:
    """Where the statement is asked once more, and its verdict there."""
    theorem, case = verdict.theorem, others.case
    turns = "rotation" in theorem.invariances
    if theorem.needs == "data":
        if turns:
            yield "in other coordinates", careful_judge(theorem, in_other_coordinates(case))
        moved = careful_judge(theorem, beside(case))
    else:
        if turns:
            where, other = "with smaller steps, in other coordinates,", others.turned()
        else:
            where, other = "with smaller steps", others.with_smaller_steps()
        yield where, careful_judge(theorem, *other)
        moved = careful_judge(theorem, *others.moved())
    if not _structure_is_lost(verdict, moved):
        yield f"on data that is moved by {MOVED:g} of its size", moved


def _agrees(verdict: Verdict, again: Verdict) -> bool:
    """Whether it is refuted again, by a residual that differs less than it exceeds the tolerance.

    An error of the computation changes with it by about as much as it is.
    """
    if again.status != VerdictStatus.REFUTED:
        return False
    assert verdict.residual is not None and again.residual is not None
    excess = min(verdict.residual, again.residual) - verdict.theorem.tolerance
    return 2 * abs(verdict.residual - again.residual) <= excess


def _structure_is_lost(verdict: Verdict, moved: Verdict) -> bool:
    """Whether moving the data lost a structure, such as symmetry, that the statement is about.

    Hypotheses of this kind held exactly: their slack was 0.
    """
    exactly = {check.name for check in verdict.hypotheses if check.slack == 0}
    failed = {check.name for check in moved.hypotheses if check.holds is not True}
    return bool(failed) and failed <= exactly


def _said(again: Verdict) -> str:
    residual = "" if again.residual is None else f", with the residual {again.residual:.1e}"
    return f"{again.status}{residual}"


def _open(verdict: Verdict, reason: str) -> Verdict:
    words = f"{verdict.words} This is not decided: {reason}."
    return replace(verdict, status=VerdictStatus.OPEN, words=words)
