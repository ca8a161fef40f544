"""Losses with an exponential tail, in log space and in numpy: p_i = |ℓ'(q_i)| / Σ ℓ(q_j).

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


def terms(q: np.ndarray, kind: Kind) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """log ℓ, log |ℓ'| and −ℓ''/ℓ' at every margin."""
    if kind == "exponential":
        return -q, -q, np.ones(len(q))
    tail = q > 40  # ℓ = e^(−q) to the last digit
    log_values = np.where(tail, -q, np.log(np.logaddexp(0, -np.where(tail, 0.0, q))))
    log_slopes = -np.logaddexp(0, q)
    return log_values, log_slopes, np.exp(-np.logaddexp(0, -q))  # the sigmoid of q


def margins_at(log_slopes: np.ndarray, kind: Kind) -> np.ndarray:
    """The margins at which log |ℓ'| has these values; −∞ where it is nowhere that large."""
    if kind == "exponential":
        return -log_slopes
    with np.errstate(divide="ignore", over="ignore"):
        q = np.log(np.expm1(np.maximum(-log_slopes, 0.0)))
    # From 40 on expm1 is the exponential to the last digit; at 709 it overflows.
    return np.where(log_slopes < -40, -log_slopes, q)


def weights(q: np.ndarray, kind: Kind) -> Weights:
    """The weights at these margins, right at any size: a loss of 10^(−100000) is ordinary here."""
    log_values, log_slopes, bend = terms(q, kind)
    # Relative to the largest term, which becomes 1: no sum over- or underflows.
    top = log_values.max()
    log_L = float(top + np.log(np.exp(log_values - top).sum()))
    with np.errstate(under="ignore"):
        return Weights(np.exp(log_slopes - log_L), log_L, bend)


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
