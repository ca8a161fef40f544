"""Losses with an exponential tail, in log space: p_i = |ℓ'(q_i)| / Σ ℓ(q_j).

In the time ds = L dt gradient flow is θ' = Σ p_i ∂q_i(θ), whatever the size of the loss. The sum
and the mean give the same curve and the same p up to a factor that time absorbs.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from tacit.models.losses import Exponential, Logistic, Loss, Softmax
from tacit.values import BadInput

Kind = Literal["logistic", "exponential"]


class Weights(NamedTuple):
    """The weights of the samples in the flow, and the loss."""

    p: np.ndarray
    """The weights p_i = |ℓ'(q_i)|/L."""
    log_L: float
    """Natural logarithm of L = Σ ℓ(q_i)."""
    bend: np.ndarray
    """−ℓ''/ℓ' at q_i, so that ∂p_i/∂q_j = p_i (p_j − bend_i δ_ij)."""


def weights(q: np.ndarray, kind: Kind) -> Weights:
    """The weights at these margins, right at any size: a loss of 10^(−100000) is ordinary here."""
    from tacit.flow._tail import weigh

    return Weights(*weigh(q, np.ones(len(q), np.bool_), np.ones(len(q)), kind == "exponential"))


def tail_of(loss: Loss | Softmax) -> Kind:
    """The tail of a loss; losses whose flow ends at a finite point have none."""
    if isinstance(loss, Logistic):
        return "logistic"
    if isinstance(loss, Exponential):
        return "exponential"
    raise BadInput(
        f"loss '{loss}' has no exponential tail, so the flow ends at a finite point; "
        "take logistic or exponential"
    )
