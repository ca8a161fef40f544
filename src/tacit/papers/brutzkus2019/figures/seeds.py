"""Seeds of many networks."""

import numpy as np

from tacit.reproduction.artefact import Settings


def network_seeds(s: Settings, number: int) -> list[int]:
    """One seed for each network, all from the seed of the figure."""
    return [int(seed) for seed in np.random.SeedSequence(s.seed).generate_state(number)]
