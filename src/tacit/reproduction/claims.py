"""Claims that can fail: numbers against bounds, and probabilities by their confidence interval.

Every claim keeps apart what the paper states and the bound of ours that decides: where the paper
has words ("nearly zero"), the bound is the criterion. With `STATED` the bound is the paper's own.
"""

from dataclasses import replace
from typing import Final

from tacit.numerics.confidence import mean_interval as mean_interval
from tacit.numerics.confidence import share_interval
from tacit.reproduction.artefact import Claim, Whose

STATED: Final = "stated"
"""Written in place of the paper's words where the bound itself is what it states."""
NOT_STATED: Final = "not stated"


def at_most(
    id: str, text: str, ours: float, bound: float, paper: float | str = NOT_STATED
) -> Claim:
    """The claim that a number is at most `bound`."""
    return _judged(Claim(id, text, paper, float(ours), bool(ours <= bound)), f"≤ {bound:g}")


def at_least(
    id: str, text: str, ours: float, bound: float, paper: float | str = NOT_STATED
) -> Claim:
    """The claim that a number is at least `bound`."""
    return _judged(Claim(id, text, paper, float(ours), bool(ours >= bound)), f"≥ {bound:g}")


def near(
    id: str, text: str, ours: float, paper: float, tolerance: float, said: float | str | None = None
) -> Claim:
    """The claim that a number is the paper's, up to a tolerance that the text should justify.

    `said` is what the paper states, where the number is only what follows from it.
    """
    holds = bool(abs(ours - paper) <= tolerance)
    criterion = f"within {tolerance:.2g}" + ("" if said is None else f" of {paper:.6g}")
    criterion = criterion if tolerance or said is not None else ""
    stated = float(paper) if said is None else said
    return Claim(id, text, stated, float(ours), holds, criterion=criterion)


def true(
    id: str, text: str, holds: bool, ours: float | str, paper: float | str, criterion: str = ""
) -> Claim:
    """A claim judged by its caller."""
    return Claim(id, text, paper, ours, bool(holds), criterion=criterion)


def probability_at_least(
    id: str, text: str, successes: int, trials: int, bound: float, paper: float | str = STATED
) -> Claim:
    """The claim that a probability is at least `bound`: it fails when the interval is below it."""
    low, high = share_interval(successes, trials)
    claim = Claim(id, text, paper, successes / trials, high >= bound, (low, high))
    return _judged(claim, f"≥ {bound:.6g}")


def probability_at_most(
    id: str, text: str, successes: int, trials: int, bound: float, paper: float | str = STATED
) -> Claim:
    """The claim that a probability is at most `bound`: it fails when the interval is above it."""
    low, high = share_interval(successes, trials)
    claim = Claim(id, text, paper, successes / trials, low <= bound, (low, high))
    return _judged(claim, f"≤ {bound:.6g}")


def probability_is(
    id: str, text: str, successes: int, trials: int, value: float, paper: float | str = STATED
) -> Claim:
    """The claim that a probability is `value`: it fails when the interval misses it."""
    low, high = share_interval(successes, trials)
    claim = Claim(id, text, paper, successes / trials, low <= value <= high, (low, high))
    return replace(claim, paper=float(value)) if paper == STATED else _judged(claim, f"{value:.6g}")


def explained(claim: Claim, finding: str, whose: Whose, known: bool = True) -> Claim:
    """The claim with why it fails, where it does and what the finding says is `known` to be so."""
    if claim.holds or not known:
        return claim
    return replace(claim, finding=finding, whose=str(whose))


def _judged(claim: Claim, bound: str) -> Claim:
    """The claim with the bound as the paper's, or as the criterion that is ours."""
    if claim.paper == STATED:
        return replace(claim, paper=bound)
    return replace(claim, criterion=bound)
