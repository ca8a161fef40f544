"""A network of two neurons in the plane: what Figures 3 and 5 share."""

from dataclasses import dataclass

import numpy as np

from tacit.reproduction.artefact import Settings, ours, paper
from tacit.values import Network


@dataclass(frozen=True)
class TwoNeurons(Settings):
    """The slope, and the two neurons."""

    alpha: float = ours(0.2, "any slope between 0 and 1")
    w: tuple[float, ...] = paper((1.0, 0.0), "Fig. 5")
    u: tuple[float, ...] = paper((0.0, 1.0), "Fig. 5")


def two_neurons(s: TwoNeurons, alpha: float) -> Network:
    """N(x) = σ(w·x) − σ(u·x)."""
    return Network(np.array([s.w, s.u]), np.array([1.0, -1.0]), alpha)  # (1)
