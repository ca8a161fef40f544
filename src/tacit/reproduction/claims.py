"""Claims that can fail: numbers against bounds, and probabilities by their confidence interval."""

from __future__ import annotations

from tacit.numerics.confidence import mean_interval as mean_interval
from tacit.numerics.confidence import share_interval
from tacit.reproduction.artefact import Claim


def at_most(
    id: str, text: str, ours: float, bound: float, paper: float | str | None = None
) -> Claim:
    """The claim that a number is at most `bound`."""
    said = f"≤ {bound:g}" if paper is None else paper
    return Claim(id, text, said, float(ours), bool(ours <= bound))


def at_least(
    id: str, text: str, ours: float, bound: float, paper: float | str | None = None
) -> Claim:
    """The claim that a number is at least `bound`."""
    said = f"≥ {bound:g}" if paper is None else paper
    return Claim(id, text, said, float(ours), bool(ours >= bound))


def near(id: str, text: str, ours: float, paper: float, tolerance: float) -> Claim:
    """The claim that a number is the paper's, up to a tolerance that the text should justify."""
    return Claim(id, text, float(paper), float(ours), bool(abs(ours - paper) <= tolerance))


def true(id: str, text: str, holds: bool, ours: float | str, paper: float | str) -> Claim:
    """A claim judged by its caller."""
    return Claim(id, text, paper, ours, bool(holds))


def probability_at_least(id: str, text: str, successes: int, trials: int, bound: float) -> Claim:
    """The claim that a probability is at least `bound`: it fails when the interval is below it."""
    low, high = share_interval(successes, trials)
    return Claim(id, text, f"≥ {bound:.6g}", successes / trials, high >= bound, (low, high))


def probability_at_most(id: str, text: str, successes: int, trials: int, bound: float) -> Claim:
    """The claim that a probability is at most `bound`: it fails when the interval is above it."""
    low, high = share_interval(successes, trials)
    return Claim(id, text, f"≤ {bound:.6g}", successes / trials, low <= bound, (low, high))


def probability_is(id: str, text: str, successes: int, trials: int, paper: float) -> Claim:
    """The claim that a probability is the paper's: it fails when the interval misses it."""
    low, high = share_interval(successes, trials)
    return Claim(id, text, float(paper), successes / trials, low <= paper <= high, (low, high))
