"""Is the network that the surviving patterns point to the limit of the path?

Four things must be seen: it is a KKT point of the max-margin problem; no neuron would have to
change sides on the way there; neurons that it leaves out do not grow faster than the others; and
the path comes nearer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.certificates import two_layer_kkt
from tacit.certificates.kkt import KKT
from tacit.flow.approach import angles, fitted_rate
from tacit.flow.candidates import Candidate, candidate
from tacit.flow.path import Path
from tacit.flow.stage import velocities
from tacit.flow.state import State
from tacit.values import Dataset, Group, Network

LN10 = math.log(10)
STATIONARY = 1e-9
"""KKT residuals of a limit are at most this."""
FAINT = 1e-6
"""Groups that weigh less than this share of the heaviest have died out."""
NEAR, NEAR_A_WALL = 0.3, 0.2
"""Angles to the limit at the end of the path: at most this; the second where it lies in a wall."""
DEEP = 1e4
"""log₁₀(1/L) from which on a limit in a wall is believed: earlier the pattern may still change."""
FALL, FAR_FALL, ROUNDING = 0.98, 0.9, 1e-6
"""While log(1/L) grows by 10 the angle falls at least by the first factor, or by the second while
log₁₀(1/L) grows from FAR to its square, unless it is rounding."""
FAR = 1e100
GROWS = 1e-6
"""Neurons that the limit leaves out may grow by this share faster than those it keeps."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """A limit, and what speaks for it."""

    groups: tuple[Group, ...]
    network: Network
    kkt: KKT
    approach: np.ndarray
    rate: float | None
    sentence: str


def judge(path: Path, data: Dataset, train: str) -> Evidence | str:
    """The limit, or a sentence that says what is missing."""
    state = path.last.state
    depth = -path.last.log_L / LN10
    at = f"log₁₀ L = {-depth:.4g}"
    found = candidate(state, FAINT)
    if found is None:
        return (
            f"At {at} the surviving patterns cannot give every point its label: they still change."
        )
    W, a = network(found, path)
    kkt = two_layer_kkt(W, a, data.X, data.y, state.walls.alpha, train)  # type: ignore[arg-type]
    approach = angles(path, W, a, found)
    rate, angle = fitted_rate(approach), float(approach[-1, 1])
    if not kkt.holds(STATIONARY):
        residual = max(kkt.stationarity, kkt.complementarity)
        return (
            f"At {at} the surviving patterns point to a network that is no KKT point (residual "
            f"{residual:.1e}), {angle:.2g} rad away: neurons have yet to change sides."
        )
    if state.both and (growth := _growth(found, state, kkt)) > 1 + GROWS:
        return (
            f"At {at} the path passes a KKT point: neurons that are faint yet grow {growth:.4g} "
            "times as fast as the others."
        )
    walls = len(found.touches) > 0
    if angle > (NEAR_A_WALL if walls else NEAR) or (walls and depth < DEEP):
        return f"At {at} the path is still {angle:.2g} rad from the KKT point it heads for."
    if angle > ROUNDING and not _falls(approach):
        return f"At {at} the path keeps {angle:.2g} rad away from the KKT point of its patterns."
    comes = "" if rate is None or angle <= ROUNDING else f", falling like log(1/L)^−{rate:.2g}"
    sentence = (
        f"The path is {angle:.1e} rad from a KKT point of the max-margin problem at {at}{comes}."
    )
    return Evidence(
        _groups(found, data.X), Network(W, a, state.walls.alpha), kkt, approach, rate, sentence
    )


def _growth(found: Candidate, state: State, kkt: KKT) -> float:
    """How fast neurons that the limit leaves out can grow, over the rate of those it keeps.

    Near the limit a neuron feels g = Σ λ_i y_i φ'_i x_i. Those that are kept lie along it, so they
    all grow at the rate ‖g‖, and in their own cell no others can be faster than their ‖g‖.
    """
    live = np.linalg.norm(found.V, axis=1) > 0
    kept = np.append(live, False)[found.group]
    moves = (state.a != 0) & state.W.any(axis=1)
    rates = np.linalg.norm(velocities(state, kkt.multipliers * state.walls.y), axis=1)
    if not kept.any() or not (moves & ~kept).any():
        return 0.0
    return float(rates[moves & ~kept].max() / rates[kept].max())


def _falls(approach: np.ndarray) -> bool:
    depth, angle = np.log10(np.maximum(-approach[:, 0], 1e-300)), approach[:, 1]
    if angle[-1] <= FALL * float(np.interp(depth[-1] - 1, depth, angle)):
        return True
    since = depth[-1] / 2
    return bool(10**since >= FAR and angle[-1] <= FAR_FALL * float(np.interp(since, depth, angle)))


def network(found: Candidate, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The limit as a network of the path's neurons, each with its share of its group."""
    state = path.last.state
    W, a = np.zeros(state.W.shape), np.zeros(len(state.a))
    if not state.both:
        a = state.a.copy()
    for g, v in enumerate(found.V):
        rows = np.flatnonzero(found.group == g)
        length = float(np.linalg.norm(v))
        if length == 0:
            continue
        if state.both:
            part = np.abs(state.a[rows])
            part = part / np.linalg.norm(part) * math.sqrt(length)
            W[rows], a[rows] = part[:, None] * (v / length), part * found.sign[g]
        else:
            W[rows] = v / (np.abs(state.a[rows[0]]) * len(rows))
    return W, a


def _groups(found: Candidate, X: np.ndarray) -> tuple[Group, ...]:
    lengths = np.linalg.norm(X, axis=1)
    groups = []
    for g, v in enumerate(found.V):
        weight = float(np.linalg.norm(v))
        if weight > 0:
            direction = v / weight
            t = X @ direction
            inside = np.abs(t) <= STATIONARY * lengths
            pattern = np.where(inside, 0, np.sign(t)).astype(np.int8)
            members = np.flatnonzero(found.group == g)
            groups.append(Group(int(found.sign[g]), members, direction, weight, pattern))
    return tuple(groups)
