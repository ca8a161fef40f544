"""Makers of checks: by a yes or no, by a slack, or undecided."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import ParamSpec

from tacit.values import Check

P = ParamSpec("P")

NEEDS_A_RUN = "needs a run"
"""How the note of a hypothesis begins that only a run can decide."""


def yes_or_no(name: str, holds: bool, place: str, note: str = "") -> Check:
    """A hypothesis that no number measures: its slack is 0 or −1."""
    return Check(name, bool(holds), 0.0 if holds else -1.0, place, note)


def by_slack(name: str, slack: float, place: str, note: str = "", strict: bool = False) -> Check:
    """A hypothesis that holds when the slack is not negative (`strict`: when it is positive)."""
    slack = float(slack)  # a NumPy number would give a NumPy boolean
    return Check(name, slack > 0 if strict else slack >= 0, slack, place, note)


def unquantified(hypothesis: Callable[P, Check]) -> Callable[P, Check]:
    """Mark a hypothesis of which the statement does not say how small, near or large is enough.

    Such a hypothesis is read in our way, so that a run that breaks the promise refutes nothing.
    """

    @wraps(hypothesis)
    def marked(*args: P.args, **options: P.kwargs) -> Check:
        return replace(hypothesis(*args, **options), quantified=False)

    return marked


def undecided(name: str, place: str, note: str) -> Check:
    """A hypothesis that nothing here can decide; the note says why."""
    return Check(name, None, None, place, note)


def needs_a_run(name: str, place: str) -> Check:
    """A hypothesis about the trajectory, before there is one."""
    return undecided(name, place, f"{NEEDS_A_RUN}: `tacit explain` makes one")
