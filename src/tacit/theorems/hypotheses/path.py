"""Hypotheses about the trajectory."""

from tacit.theorems.hypotheses.checks import needs_a_run, yes_or_no
from tacit.theorems.observation import Observation
from tacit.values import Check


def reaches_the_limit(run: Observation | None, place: str) -> Check:
    """The run separates the data and its direction converges."""
    if run is None:
        return needs_a_run("converges", place)
    return yes_or_no("converges", run.settled, place, f"the run is {run.outcome}")
