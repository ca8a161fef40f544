"""Is the network that the surviving patterns point to the limit of the path?

Four things are needed: it is a KKT point of the max-margin problem; no neuron would have to
change sides on the way there; neurons that it leaves out do not grow faster than the others; and
the path comes nearer. The thresholds are in `flow.tolerances.EvidenceTolerances`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from tacit.certificates import two_layer_kkt
from tacit.certificates.kkt import KKT
from tacit.certificates.margin_gradients import TooLong
from tacit.flow.approach import angle_to, angles, fitted_rate
from tacit.flow.branching import led_away
from tacit.flow.candidates import Candidate, candidate
from tacit.flow.path import Path
from tacit.flow.stage import Undecided, advance, velocities
from tacit.flow.state import Events, OutOfTime, State, check_time
from tacit.flow.tolerances import EVIDENCE
from tacit.values import Dataset, Group, Network
from tacit.values.setting import Layers


@dataclass(frozen=True, eq=False)
class LimitEvidence:
    """A limit, and what speaks for it."""

    groups: tuple[Group, ...]
    network: Network
    kkt: KKT
    approach: np.ndarray
    rate: float | None
    sentence: str


def judge(
    path: Path, data: Dataset, train: Layers, deadline: float = math.inf
) -> LimitEvidence | str:
    """The limit, or a sentence that says what is missing; OutOfTime after the deadline."""
    state = replace(path.last.state, deadline=deadline)
    at = path.last.loss_text()

    def far(end: Candidate) -> bool:
        return angle_to(state, _network(end, state), end) >= EVIDENCE.near + EVIDENCE.apart

    end = candidate(state, EVIDENCE.negligible, path.weights, far)
    if end is None:
        return (
            f"At {at} the surviving patterns cannot give every point its label: they still change."
        )
    network = _network(end, state)
    depth, angle = path.last.log10_depth, angle_to(state, network, end)
    touches = len(end.touches) > 0
    near = EVIDENCE.near_on_plane if touches else EVIDENCE.near
    # The angle is asked before the KKT conditions: it costs next to nothing, and most paths that
    # are not there yet fail it.
    if angle > near or (touches and depth < EVIDENCE.deep):
        return f"At {at} the path is still {angle:.2g} rad from the network its patterns point to."
    check_time(state)
    try:
        kkt = two_layer_kkt(data, network, train=train, seconds=deadline - perf_counter())
    except TooLong:
        raise OutOfTime from None
    if not kkt.holds(EVIDENCE.stationary):
        residual = max(kkt.stationarity, kkt.complementarity)
        return (
            f"At {at} the surviving patterns point to a network that is no KKT point (residual "
            f"{residual:.1e}), {angle:.2g} rad away: neurons have yet to change sides."
        )
    growth, share = _growth(end, state, network, kkt) if state.both else (0.0, 0.0)
    if growth > 1 + EVIDENCE.grows:
        how = f"are still growing, {growth:.4g} times as fast as the others"
        how = how if growth < math.inf else "may grow again, which rounding hides"
        return f"At {at} the path passes a KKT point: small-norm neurons {how}."
    if len(led_away(state, kkt.multipliers * state.planes.y, EVIDENCE.grows)):
        return f"At {at} the path passes a KKT point: a neuron at w = 0 may leave it."
    if share > EVIDENCE.negligible:
        return (
            f"At {at} the KKT point of the surviving patterns leaves out neurons of {share:.2g} of "
            "the weight, which grow as fast as the others: they have yet to change sides."
        )
    approach = angles(path, network, end)
    rate = fitted_rate(approach)
    if angle > EVIDENCE.rounding and not _falls(approach):
        return f"At {at} the path keeps {angle:.2g} rad away from the KKT point of its patterns."
    arrived = rate is None or rate <= 0 or angle <= EVIDENCE.rounding
    comes = "" if arrived else f", falling like log(1/L)^−{rate:.2g}"
    sentence = (
        f"The path is {angle:.1e} rad from a KKT point of the max-margin problem at {at}{comes}."
    )
    return LimitEvidence(_groups(end, data.X), network, kkt, approach[:, :2], rate, sentence)


def _growth(end: Candidate, state: State, network: Network, kkt: KKT) -> tuple[float, float]:
    """How fast neurons that the limit leaves out can grow, over the rate of those it keeps; and
    what share of the weight those have that grow as fast.

    Near the limit the pull on a neuron is g = Σ λ_i y_i φ'_i x_i. Neurons that are kept lie along
    it, or along what a hyperplane leaves of it, so they all grow at one rate, Σ λ_i q_i over the
    sum of their |a|‖w‖. The others turn under such pulls, from cell to cell, and in the end none is
    faster than the ‖g‖ of the cell that it stays in. It is inf where floating point cannot tell.
    """
    live = np.linalg.norm(end.V, axis=1) > 0
    kept = np.append(live, False)[end.group]
    moves = (state.a != 0) & state.W.any(axis=1)
    if not kept.any() or not (moves & ~kept).any():
        return 0.0, 0.0
    c = kkt.multipliers * state.planes.y
    size = float(np.abs(network.a) @ np.linalg.norm(network.W, axis=1))
    rate = float(c @ network.outputs(state.planes.X)) / size
    others = state.part(np.flatnonzero(moves & ~kept))
    weight = state.copies * np.abs(state.a) * np.linalg.norm(state.W, axis=1)
    weight = weight[moves & ~kept] / weight.sum()
    for _ in range(EVIDENCE.rounds):
        sizes = np.hypot(np.linalg.norm(others.W, axis=1), others.a)
        # Every round they grow by up to e^30, and after twelve of them squares would overflow.
        others.W, others.a = others.W / sizes[:, None], others.a / sizes
        others.events = Events()
        fastest = max(float(_rates(others, c).max()), rate)
        try:
            # Divided by what those that are kept grow by, one that shrinks along a line does so
            # for ever; rounding would turn it around.
            advance(others, c, EVIDENCE.turn / fastest, None, np.full(len(others.a), rate))
        except Undecided:
            return math.inf, 0.0
        if not others.events:
            break
    growth = _rates(others, c) / rate
    return float(growth.max()), float(weight[growth >= 1 - EVIDENCE.grows].sum())


def _rates(state: State, c: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(velocities(state, c), axis=1))


def _falls(approach: np.ndarray) -> bool:
    """Whether the angle to the limit falls as log(1/L) grows."""
    angle, depth = approach[:, 1:].T
    if angle[-1] <= EVIDENCE.fall * float(np.interp(depth[-1] - 1, depth, angle)):
        return True
    since = depth[-1] / 2
    before = float(np.interp(since, depth, angle))
    if since >= EVIDENCE.far and angle[-1] <= EVIDENCE.far_fall * before:
        return True
    if depth[-1] < EVIDENCE.far:
        return False
    # Rescaled weights come to rest where their margins, which are not infinite, lead.
    furthest = float(angle[depth >= EVIDENCE.deep].max(initial=0.0))
    return bool(angle[-1] <= min(EVIDENCE.resting, EVIDENCE.far_rest * furthest))


def _network(end: Candidate, state: State) -> Network:
    """The limit as a network of the path's neurons, each with its share of its group."""
    W, a = np.zeros(state.W.shape), np.zeros(len(state.a))
    if not state.both:
        a = state.a.copy()
    for g, v in enumerate(end.V):
        rows = np.flatnonzero(end.group == g)
        length = float(np.linalg.norm(v))
        if length == 0:
            continue
        if state.both:
            part = np.abs(state.a[rows])
            part = part / np.linalg.norm(part) * math.sqrt(length)
            W[rows], a[rows] = part[:, None] * (v / length), part * end.sign[g]
        else:
            W[rows] = v / (np.abs(state.a[rows[0]]) * len(rows))
    return Network(W, a, state.planes.alpha)


def _groups(end: Candidate, X: np.ndarray) -> tuple[Group, ...]:
    """The groups of the limit, with their activation patterns on X."""
    lengths = np.linalg.norm(X, axis=1)
    groups = []
    for g, v in enumerate(end.V):
        weight = float(np.linalg.norm(v))
        if weight > 0:
            direction = v / weight
            t = X @ direction
            inside = np.abs(t) <= EVIDENCE.stationary * lengths
            pattern = np.where(inside, 0, np.sign(t)).astype(np.int8)
            members = np.flatnonzero(end.group == g)
            groups.append(Group(int(end.sign[g]), members, direction, weight, pattern))
    return tuple(groups)
