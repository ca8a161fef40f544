"""Networks that lyu2021 writes down, all of unit norm."""

import math
from typing import Literal

import numpy as np

from tacit.values import Network


def linear_network(w: np.ndarray, alpha: float) -> Network:
    """½(w, −w, 1, −1), which represents (1+α)/4 w·x (Lemma F.3)."""
    return Network(np.array([w, -w]) / 2, np.array([0.5, -0.5]), alpha)


def one_neuron(w: np.ndarray, alpha: float, sign: Literal[1, -1] = 1) -> Network:
    """½ φ(w·x), or −½ φ(−w·x) (Lemma A.4)."""
    return Network(sign * w[None] / math.sqrt(2), np.array([sign / math.sqrt(2)]), alpha)
