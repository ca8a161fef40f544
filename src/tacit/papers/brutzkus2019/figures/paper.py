"""The paper that the figures of this folder register with, and how they draw their seeds."""

from __future__ import annotations

import numpy as np

from tacit.reproduction.artefact import Paper, Settings

PAPER = Paper("brutzkus2019")


def network_seeds(s: Settings, number: int) -> list[int]:
    """One seed for each network, all from the seed of the figure."""
    return [int(seed) for seed in np.random.SeedSequence(s.seed).generate_state(number)]
