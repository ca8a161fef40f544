"""Losses with an exponential tail at many margins, compiled: `exponential_tail` has the words."""

from __future__ import annotations

import numpy as np

from tacit.numerics.compiled import compiled

Array = np.ndarray


@compiled
def softplus(x: float) -> float:
    """log(1 + eˣ)."""
    return max(x, 0.0) + np.log1p(np.exp(-abs(x)))


@compiled
def terms(q: Array, exponential: bool) -> tuple[Array, Array, Array]:
    """log ℓ, log |ℓ'| and −ℓ''/ℓ' at every margin."""
    log_values, log_slopes, bend = -q, -q, np.ones(len(q))
    if not exponential:
        for i in range(len(q)):
            if q[i] <= 40:  # beyond, ℓ = e^(−q) to the last digit
                log_values[i] = np.log(softplus(-q[i]))
            log_slopes[i] = -softplus(q[i])
            bend[i] = np.exp(-softplus(-q[i]))  # the sigmoid of q
    return log_values, log_slopes, bend


@compiled
def margin_at(log_slope: float, exponential: bool) -> float:
    """The margin at which log |ℓ'| has this value; −∞ where it is nowhere that large."""
    # From 40 on expm1 is the exponential to the last digit; at 709 it overflows.
    if exponential or log_slope < -40:
        return -log_slope
    return np.log(np.expm1(-log_slope)) if log_slope < 0 else -np.inf


@compiled
def weigh(q: Array, seen: Array, lengths: Array, exponential: bool) -> tuple[Array, float, Array]:
    """p, log L and the bends, relative to the loss of the samples that are seen.

    The p of the others is cut where their pull outweighs that of all that are seen; a point at 0
    pulls nothing.
    """
    log_values, log_slopes, bend = terms(q, exponential)
    top = -np.inf
    for i in range(len(q)):
        if seen[i]:
            top = max(top, log_values[i])
    # Relative to the largest term, which becomes 1: no sum over- or underflows.
    total = 0.0
    for i in range(len(q)):
        if seen[i]:
            total += np.exp(log_values[i] - top)
    log_L = top + np.log(total)
    p, pull = np.empty(len(q)), 0.0
    for i in range(len(q)):
        if seen[i]:
            p[i] = np.exp(log_slopes[i] - log_L)
            pull += p[i] * lengths[i]
    for i in range(len(q)):
        if not seen[i]:
            most = 2 * pull / max(lengths[i], 1e-300) if lengths[i] > 0 else 0.0
            # exp overflows at 709; what is that large is cut anyway.
            p[i], bend[i] = min(np.exp(min(log_slopes[i] - log_L, 700.0)), most), 0.0
    return p, log_L, bend
