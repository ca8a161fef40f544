"""Statements about probabilities, judged by how often an event happened in many runs."""

from tacit.numerics.confidence import share_interval
from tacit.theorems import Observation, PathPoint
from tacit.values import Network


def below_bound(events: list[bool], bound: float) -> float:
    """How far the 99% interval of the frequency stays below the bound."""
    return max(0.0, bound - share_interval(sum(events), len(events))[1])


def frequency_sentence(events: list[bool], bound: float, what: str) -> str:
    """How often the event happened, and what the theorem says of its probability."""
    low, high = share_interval(sum(events), len(events))
    return (
        f"{sum(events)} of {len(events)} runs {what}: a probability between {low:.4f} and "
        f"{high:.4f} (99%); the theorem says at least {bound:.4f}."
    )


def ensemble(networks: list[tuple[Network, Network]]) -> Observation:
    """Runs of descent known by their starts and ends."""
    members = tuple(
        Observation((PathPoint(0, 0.0, start), PathPoint(1, 0.0, end)), outcome="done")
        for start, end in networks
    )
    return Observation((), outcome="done", members=members)
