"""Runs of which the end is what matters."""

import math

from tacit.theorems import Observation, PathPoint
from tacit.values import Network

LOG_LOSS = -1000 * math.log(10)
"""Log loss of a run made by hand."""


def ended(network: Network) -> Observation:
    """A run of which nothing but the limit is known."""
    return Observation((PathPoint(0.0, LOG_LOSS, network),), network)


def known_end(run: Observation | None) -> Network | None:
    """The limit, or the last network of a run that ends in another way; None when it is not known.

    Convergence is part of what these theorems conclude, so a run that gets stuck counts.
    """
    if run is None or run.outcome in ("undecided", "branched"):
        return None
    return run.end
