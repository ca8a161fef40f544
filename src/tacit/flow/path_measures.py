"""Numbers along the path: loss, time, norm, and the margins that gradient flow makes grow."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.flow.exponential_tail import Kind
from tacit.flow.path import Path
from tacit.flow.state import State
from tacit.measures.margin import normalised
from tacit.models.losses import Exponential, Logistic, Loss
from tacit.numerics.float64 import EPS, LN10

LOSSES: dict[Kind, tuple[Loss, float]] = {
    "logistic": (Logistic("sum"), math.log(math.log(2))),
    "exponential": (Exponential("sum"), 0.0),
}
"""The loss of each kind, and log ℓ(0)."""


@dataclass(frozen=True, eq=False)
class Measures:
    """One entry per moment of the path."""

    log10_loss: np.ndarray
    """log₁₀ of the sum of the losses."""
    log10_time: np.ndarray
    """log₁₀ of the time of gradient flow on the sum; −inf at the start."""
    norm: np.ndarray
    """‖θ‖ of the trained weights."""
    margin: np.ndarray
    """γ = q_min/‖θ‖^L, sarussi2021 (4)."""
    smoothed_margin: np.ndarray
    """γ̃ = ℓ⁻¹(Σ ℓ(q_i))/‖θ‖^L, sarussi2021 (5) generalised; never above γ."""
    rounding: np.ndarray
    """A bound of the rounding error of γ̃."""
    separation: int | None
    """The first moment with Σ ℓ(q_i) < ℓ(0), from which on every point has its label and γ̃ > 0."""
    falls: list[int]
    """Moments after separation at which γ̃ is below that of the moment before by more than both
    roundings. Along the exact flow it never falls, so each is an error of the path."""

    def __repr__(self) -> str:
        first, last = self.log10_loss[[0, -1]]
        return f"Measures at {len(self.norm)} moments, log₁₀ loss {first:.4g} to {last:.4g}"


def along(path: Path, kind: Kind = "logistic") -> Measures:
    """The measures of a path that was followed with this loss."""
    states = [moment.state for moment in path.moments]
    log_L = np.array([moment.log_L for moment in path.moments])
    norm = np.array([_norm(state) for state in states])
    loss, log_at_zero = LOSSES[kind]
    inverse = loss.margin_of_log_total(log_L, len(states[0].planes.y))
    degree = 2 if states[0].both else 1
    smooth = normalised(inverse, norm, degree)
    rounding = normalised(np.array([_rounding(state) for state in states]), norm, degree)
    rounding += 4 * EPS * np.abs(smooth)
    apart = np.flatnonzero(log_L < log_at_zero).tolist()
    fallen = smooth[1:] < smooth[:-1] - (rounding[1:] + rounding[:-1])
    return Measures(
        log10_loss=log_L / LN10,
        log10_time=np.array([moment.log_t for moment in path.moments]) / LN10,
        norm=norm,
        margin=normalised(np.array([state.outputs().min() for state in states]), norm, degree),
        smoothed_margin=smooth,
        rounding=rounding,
        separation=apart[0] if apart else None,
        falls=[i + 1 for i in np.flatnonzero(fallen).tolist() if apart and i >= apart[0]],
    )


def _norm(state: State) -> float:
    first = float(np.linalg.norm(state.W))
    return math.hypot(first, float(np.linalg.norm(state.a))) if state.both else first


def _rounding(state: State) -> float:
    """A bound of the error of ℓ⁻¹(Σ ℓ(q_i)): sums of m products over d entries, twice over.

    It is at most 1.4 times that of the outputs, since Σ|ℓ'(q_i)| ≤ 1.4 |ℓ'(q̃)| once Σ ℓ < ℓ(0).
    """
    m, d = state.W.shape
    size = float(np.abs(state.a) @ np.linalg.norm(state.W, axis=1))
    return 2 * (m + d) * EPS * size * float(np.abs(state.planes.r).max())
