"""A few lines of gradient descent, for errata only: predictions never run it."""

import numpy as np

from tacit.data.xor import PATTERNS
from tacit.papers.brutzkus2019.statements.kinds import outputs_by_kind
from tacit.values import Network


def descend(
    start: Network, kinds: np.ndarray, labels: np.ndarray, goals: np.ndarray, eta: float, steps: int
) -> list[Network]:
    """W_0, W_1, … on Σ_i max(goal_i − y_i N(x_i), 0), until nothing moves.

    For XOR this is the sum of §3.1; for diverse data it is (4), whose terms of one class agree.
    """
    path = [start]
    for _ in range(steps):
        W, a = path[-1].W, path[-1].a
        z = W @ PATTERNS.T
        update = np.zeros_like(W)
        active = labels * outputs_by_kind(path[-1], kinds) < goals
        for kind, label in zip(kinds[active], labels[active], strict=True):
            winner = np.where(kind, z, -np.inf).argmax(axis=1)
            on = z[np.arange(len(W)), winner] > 0
            update += label * (a * on)[:, None] * PATTERNS[winner]  # (7), (8)
        if not update.any():
            break
        path.append(Network(W + eta * update, a))
    return path
