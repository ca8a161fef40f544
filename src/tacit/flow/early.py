"""The early phase: near zero every neuron turns on its own, up or down G, before the net fits.

As long as the outputs are small the loss pulls on all samples as it does at f = 0, and the neurons
do not interact (phuong2021 §4.1, lyu2021 §5.1, wang2022 Prop. 6):

    G(w) = Σ −ℓ'(0) y_i φ(w·x_i),   w_k' = a_k ∇G(w_k),   a_k' = G(w_k).   phuong2021 (12)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tacit.flow.exponential_tail import Kind
from tacit.flow.interpolation import between
from tacit.flow.path import Moment, Path
from tacit.flow.state import State
from tacit.flow.tolerances import STAGE
from tacit.numerics.extremal_directions import extremal_directions
from tacit.numerics.float64 import LN10

MOST_SIGNS = 10**6
"""Neurons times samples up to which `to_dict` writes the sectors out."""
SHARE = 0.1
"""Ours: the early phase lasts while no |ℓ'(y_i f(x_i))| is further from |ℓ'(0)| than this share."""


@dataclass(frozen=True, eq=False)
class Early:
    """The end of the early phase and what the neurons have come to by then."""

    end: Moment
    """The moment at which it ends; as a rule between two moments of the path."""
    index: int
    """The number of the last moment of the path that belongs to it."""
    sectors: np.ndarray
    """m × n: the signs of w_k·x_i then, 0 where the neuron slides (phuong2021 Definition 1)."""
    dead_at_start: np.ndarray
    """m flags: neurons that are inactive on every sample and so never move again (ReLU only)."""
    dead_then: np.ndarray
    """Neurons that are dead at the end of the early phase."""
    dead_at_end: np.ndarray
    """Neurons that are dead at the end of the path."""
    cosines: np.ndarray
    """cos(w_k, sign(a_k) ∇G(w_k)) at the end of the early phase; nan where ∇G(w_k) is 0."""
    aligned: np.ndarray | None
    """log t at which the cosine is first 1 − δ or more (wang2022 Theorem 1): −inf where it is so
    from the start, inf where it never is; None when no δ was given. It is accurate to a few percent
    of a neuron's own time."""
    extremal: np.ndarray | None
    """m flags: neurons in an extremal sector of the sign of a_k (phuong2021 Lemma 1); None when
    they were not asked for."""
    complete: bool
    """Whether all extremal sectors are known, and not only those that the search met."""

    def __repr__(self) -> str:
        lost = int((self.dead_then & ~self.dead_at_start).sum())
        return f"Early phase: until log₁₀ t = {self.log_t / LN10:.4g}, {lost} neurons died in it"

    @property
    def s(self) -> float:
        """The loss-normalised time at which it ends."""
        return self.end.s

    @property
    def log_t(self) -> float:
        """The natural logarithm of the time at which it ends; the loss is the sum."""
        return self.end.log_t

    @property
    def median_cosine(self) -> float | None:
        """The median of `cosines` over the neurons that have one."""
        known = self.cosines[~np.isnan(self.cosines)]
        return float(np.median(known)) if len(known) else None

    def to_dict(self) -> dict[str, Any]:
        """The early phase as scripts read it."""
        known = self.cosines[~np.isnan(self.cosines)]
        small = self.sectors.size <= MOST_SIGNS
        return {
            "s": self.s,
            "log10_time": self.log_t / LN10,
            "log10_loss": self.end.log_L / LN10,
            "median_cosine": self.median_cosine,
            "smallest_cosine": float(known.min()) if len(known) else None,
            "dead_at_start": int(self.dead_at_start.sum()),
            "dead_then": int(self.dead_then.sum()),
            "dead_at_end": int(self.dead_at_end.sum()),
            "cosines": self.cosines,
            "sectors": [_signs_text(row) for row in self.sectors] if small else None,
        }


def _signs_text(pattern: np.ndarray) -> str:
    """An activation pattern as a text of +, - and 0."""
    return "".join("0+-"[sign] for sign in pattern.tolist())


def early(
    path: Path,
    kind: Kind = "logistic",
    share: float = SHARE,
    delta: float | None = None,
    extremal: bool = False,
) -> Early | None:
    """The early phase of a path; None when the initial outputs are too large for there to be one.

    `delta` asks for the times of alignment, over the whole path, `extremal` for the sectors that
    phuong2021 Definition 2 calls so (a search in more than three dimensions).
    """
    last = -1
    for moment in path.moments:
        if not _near_zero(moment.state, kind, share):
            break
        last += 1
    if last < 0:
        return None
    end = path.moments[last]
    if last + 1 < len(path.moments):
        for moment in between(end, path.moments[last + 1], kind):
            if not _near_zero(moment.state, kind, share):
                break
            end = moment
    sectors = end.state.pattern()
    in_extremal, complete = _extremal(end.state, sectors) if extremal else (None, False)
    return Early(
        end=end,
        index=last,
        sectors=sectors,
        dead_at_start=dead(path.moments[0].state),
        dead_then=dead(end.state),
        dead_at_end=dead(path.last.state),
        cosines=cosines(end.state),
        aligned=None if delta is None else _aligned(path, kind, delta),
        extremal=in_extremal,
        complete=complete,
    )


def dead(state: State) -> np.ndarray:
    """Neurons that nothing can move: they are 0, or (ReLU) no w_k·x_i is positive.

    The latter includes neurons that were pushed to an activation hyperplane and lie on it, unless
    there are samples on either side of 0 along its line: then the neuron becomes active on one of
    them wherever it goes.
    """
    planes, sign = state.planes, state.pattern()
    here = (state.a != 0) & state.W.any(axis=1)
    if planes.alpha != 0:
        return ~here
    ahead = np.bincount(planes.line, planes.r > 0, len(planes.e)) > 0
    behind = np.bincount(planes.line, planes.r < 0, len(planes.e)) > 0
    held = (state.side == 0) & ahead & behind
    return ~(here & ((sign > 0).any(axis=1) | held.any(axis=1)))


def cosines(state: State) -> np.ndarray:
    """cos(w_k, sign(a_k) ∇G(w_k)), with ∇G projected on the hyperplanes along which w_k slides."""
    g = gradients(state, state.planes.y)
    size = np.linalg.norm(state.W, axis=1) * np.linalg.norm(g, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size > 0, np.sign(state.a) * (g * state.W).sum(axis=1) / size, np.nan)


def gradients(state: State, c: np.ndarray) -> np.ndarray:
    """Σ c_i φ'(w_k·x_i) x_i of every neuron, projected on the hyperplanes along which it slides."""
    planes, sign = state.planes, state.pattern()
    slopes = np.where(sign > 0, 1.0, np.where(sign < 0, planes.alpha, 0.0))
    g = (slopes * c) @ planes.X
    none = STAGE.on_plane * (slopes @ np.abs(c * planes.r))  # sums that are only rounding
    for k in np.flatnonzero((state.side == 0).any(axis=1)):
        basis = np.linalg.qr(planes.e[state.side[k] == 0].T)[0]
        g[k] -= basis @ (basis.T @ g[k])
    g[np.linalg.norm(g, axis=1) <= none] = 0.0
    return g


def _near_zero(state: State, kind: Kind, share: float) -> bool:
    """Whether |ℓ'| at every sample is within this share of |ℓ'(0)|."""
    q = state.outputs()
    # expm1 and tanh, since ℓ'(q)/ℓ'(0) − 1 as a difference loses its digits for small outputs.
    with np.errstate(over="ignore"):  # inf is not near
        change = np.expm1(-q) if kind == "exponential" else np.tanh(-q / 2)  # ℓ'(q)/ℓ'(0) − 1
    return bool((np.abs(change) <= share).all())


def _extremal(state: State, sectors: np.ndarray) -> tuple[np.ndarray, bool]:
    """Whether each neuron is in an extremal sector, and whether all of these are known."""
    known = extremal_directions(state.planes.X, state.planes.y, state.planes.alpha)
    keys = {(item.sign, item.sector.astype(np.int8).tobytes()) for item in known.items}
    mine = zip(np.sign(state.a).astype(int).tolist(), sectors, strict=True)
    return np.array([(sign, row.tobytes()) in keys for sign, row in mine]), known.complete


def _aligned(path: Path, kind: Kind, delta: float) -> np.ndarray:
    """log t at which each neuron's cosine is first 1 − δ or more."""
    when = np.where(cosines(path.moments[0].state) >= 1 - delta, -math.inf, math.inf)
    for one, other in pairwise(path.moments):
        new = (cosines(other.state) >= 1 - delta) & (when == math.inf)
        if not new.any():
            continue
        for before, after in pairwise([*between(one, other, kind), other]):
            low, high = cosines(before.state), cosines(after.state)
            for k in np.flatnonzero(new & (when == math.inf) & (high >= 1 - delta)):
                share = (1 - delta - low[k]) / (high[k] - low[k]) if high[k] > low[k] else 1.0
                times = math.exp(before.log_t), math.exp(after.log_t)
                # Never 0: the first moment is at t = 0, whose logarithm is −∞.
                when[k] = math.log(times[0] + max(share, 1e-3) * (times[1] - times[0]))
    return when
