"""Gradient flow to its limit, for the figures that compare limits with the optimum."""

import math

from tacit.flow import Limit, binary_limit
from tacit.reproduction.artefact import Settings
from tacit.values import Dataset, Network, Setting

FOLLOWED_TO = -1e5
"""log₁₀ loss to which flows are followed; what is undecided by then is reported as such."""


def seed_of(s: Settings, i: int) -> int:
    """The seed of run i."""
    return 1000 * s.seed + i


def limit_of(
    data: Dataset,
    width: int,
    scale: float,
    seed: int = 0,
    log10_loss: float = FOLLOWED_TO,
    start: Network | None = None,
) -> Limit:
    """Where gradient flow ends from balanced weights of that scale."""
    flow = Setting(rule="flow", width=width, init=f"balanced:{scale}", loss="logistic:sum")
    return binary_limit(data, flow, seed=seed, log10_loss=log10_loss, start=start)


def kkt_residual(limit: Limit) -> float:
    """How far the limit is from a KKT point; infinite where it does not separate the data."""
    kkt = limit.kkt
    if kkt is None or kkt.feasibility > 0:
        return math.inf
    return max(kkt.stationarity, kkt.complementarity)


def is_compared(limit: Limit) -> bool:
    """Whether there is a limit and the widest margin is known: both are bounded in time."""
    certificate = limit.certificate
    return certificate is not None and certificate.margin_bounds.gap <= 1e-6
