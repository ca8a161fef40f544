"""Whether the flow is at rest: slow is not rest, so there must be a point near where nothing moves.

With the sides of all neurons fixed, the margins are linear in v_g = Σ a_k w_k, one vector for each
group of neurons with the same sides, and the loss is a convex function of them. It has a minimum
exactly if some weights p > 0 of the samples make all pulls vanish, Σ p_i y_i φ'_gi x_i = 0, up to
the normals of the hyperplanes along which the group slides. Three things are needed:

- Newton's method leads from these margins to such p nearby, and so to a stationary point;
- the pulls vanish there exactly and not only to rounding: the rank that it takes is computed in
  integer arithmetic, since points that are close have pulls that nearly cancel;
- no neuron can meet a hyperplane before it comes to rest that would change its pull. The margins
  approach at a rate of at least µ, which bounds the way that is left. Hyperplanes that hold a
  neuron now and then do no harm: they have to push it back from both sides, and the range of
  margins has to be the same (its exact rank is) whether all of them hold their neurons or none.

Along the flow the loss falls, and its minimum is unique in the margins, so they stay this near.
None of it has a scale: margins are compared with the 1 that is natural to the loss, the ways of
neurons with their own size, and pulls with the sum of what they consist of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.flow.branching import led_away
from tacit.flow.exponential_tail import Kind, Weights, weights
from tacit.flow.hyperplanes import Hyperplanes
from tacit.flow.sizes import norms
from tacit.flow.stage import hold, pull, velocities
from tacit.flow.state import State
from tacit.flow.tolerances import PATH, REST
from tacit.numerics.exact_signs import integer_rows, rank_modulo_primes
from tacit.numerics.least_squares import linear_program


@dataclass(frozen=True)
class Rest:
    """A stationary point near a state that is about to come to it."""

    distance: float
    """The largest difference of a margin there from the one now."""
    dying: int
    """Neurons that were left out, since they shrink to 0."""

    @property
    def sentence(self) -> str:
        """How near the point is, and what it is."""
        return (
            f"all pulls on the neurons vanish at a point where no margin differs by more than "
            f"{self.distance:.1e} from here, and no neuron can leave its cell before"
        )


def is_slow(state: State, now: Weights) -> bool:
    """Whether all pulls nearly cancel, as they do at rest and between points that are close."""
    return _largest_pull(state, now) <= REST.slow


def is_faint(state: State, now: Weights) -> bool:
    """Whether the pulls are so far below those that are slow that no event has changed much."""
    return _largest_pull(state, now) <= REST.faint


def is_still(state: State, now: Weights) -> bool:
    """Whether no pull is larger than the error of its computation: then no stage moves a neuron."""
    return _largest_pull(state, now) <= REST.rounding


def _largest_pull(state: State, now: Weights) -> float:
    """The largest ‖g_k‖ of a neuron that is active on some sample, over Σ p_i‖x_i‖."""
    velocity = velocities(state, now.p * state.planes.y)
    pulls = norms(velocity[_remains(state, velocity)])  # 0 of a neuron that is active on none
    return float(pulls.max(initial=0.0) / max(float(now.p @ np.abs(state.planes.r)), 1e-300))


def _live(state: State, velocity: np.ndarray) -> np.ndarray:
    """Neurons that are active on some sample and do not die out."""
    return _remains(state, velocity) & (state.planes.slopes(state.side) > 0).any(axis=1)


def _remains(state: State, velocity: np.ndarray) -> np.ndarray:
    """Neurons that are not 0 and do not come to it.

    A small balanced neuron that a face lets move along a ray only, and that shrinks, comes to 0.
    """
    length = norms(state.W)
    size = np.hypot(length, state.a)
    live = (length > 0) & ((state.a != 0) | state.both)
    if state.both:
        shrinks = state.a * (velocity * state.W).sum(axis=1) < 0
        shrinks &= size <= PATH.negligible * size.max(initial=0.0)
        shrinks &= np.abs(length - np.abs(state.a)) <= PATH.balanced * size
        for k in np.flatnonzero(live & shrinks).tolist():
            on = np.flatnonzero(state.side[k] == 0)
            live[k] = state.W.shape[1] - len(state.planes.face(on).across) > 1
    return live


def rest(state: State, now: Weights, seen: np.ndarray, kind: Kind) -> Rest | None:
    """The stationary point that the flow comes to, if it can be shown that there is one."""
    distance = _distance(state, now, seen, kind)
    if distance is None:
        return None
    active = (state.planes.slopes(state.side) > 0).any(axis=1) & state.W.any(axis=1)
    dying = active & ~_live(state, velocities(state, now.p * state.planes.y))
    return Rest(distance, int(dying.sum()))


def unfitted(state: State, now: Weights, seen: np.ndarray, kind: Kind) -> int:
    """How many samples networks with these sides cannot fit, while the loss of others goes to 0.

    The others are those whose margins can grow at no cost to any (a linear program). It is 0 unless
    their loss is negligible and the margins of the rest are near a minimum of theirs.
    """
    planes, rows = state.planes, np.flatnonzero(seen)
    live = np.flatnonzero(_live(state, velocities(state, now.p * planes.y)))
    sides = np.unique(state.side[live], axis=0)
    share = now.p[rows] * np.abs(planes.r[rows])
    light = share <= REST.fitted * float(share.max(initial=0.0))
    if len(live) == 0 or not light.any() or len(rows) ** 2 > REST.most_program:
        return 0
    if len(rows) * len(sides) * planes.X.shape[1] > REST.most_entries:
        return 0
    A = np.hstack(_cells(planes, state.side[live], rows).blocks)
    kept = ~_growing(_range(A))
    if kept.all() or not (kept | light).all():
        return 0
    nearest = _minimum(A[kept], state.outputs()[rows[kept]], kind, REST.near_without)
    if nearest is None or nearest[1] != _exact_rank(state, rows[kept], sides):
        return 0
    return int(kept.sum()) + int((~seen).sum())


def _growing(A: np.ndarray) -> np.ndarray:
    """The rows that are positive for some v with Av ≥ 0, of which there is one for all of them."""
    n, rank = A.shape
    costs = np.append(np.zeros(rank), -np.ones(n))
    none = np.zeros((0, rank + n)), np.zeros(0)
    bounds = [(None, None)] * rank + [(0.0, 1.0)] * n
    best = linear_program(costs, (np.hstack([-A, np.eye(n)]), np.zeros(n)), none, bounds)
    # An optimum has only 0 and 1: a v that lets some margins grow can be taken as long as one
    # likes.
    return np.zeros(n, dtype=bool) if best is None else best[rank:] > 0.5


class Cells(NamedTuple):
    """The margins of some samples as a linear function of one vector for every group of neurons."""

    group: np.ndarray
    """The group of each neuron."""
    blocks: list[np.ndarray]
    """q = Σ block_g v_g."""


def _cells(planes: Hyperplanes, sides: np.ndarray, rows: np.ndarray) -> Cells:
    """Groups of neurons with the same sides, each of which can move along its face."""
    sides, group = np.unique(sides, axis=0, return_inverse=True)
    slopes = planes.slopes(sides)[:, rows] * planes.y[rows]
    blocks = [
        slope[:, None] * planes.face(np.flatnonzero(side == 0)).along(planes.X[rows])
        for side, slope in zip(sides, slopes, strict=True)
    ]
    return Cells(group.ravel(), blocks)


def _distance(state: State, now: Weights, seen: np.ndarray, kind: Kind) -> float | None:
    """How far the margins of these samples are from a stationary point; None if none is near."""
    planes, rows = state.planes, np.flatnonzero(seen)
    live = np.flatnonzero(_live(state, velocities(state, now.p * planes.y)))
    if len(rows) * len(np.unique(state.side[live], axis=0)) * planes.X.shape[1] > REST.most_entries:
        return None
    start = state.outputs()[rows]
    free = held = state.side[live]
    for _ in range(REST.most_borders):
        cells = _cells(planes, free, rows)
        nearest = (
            _minimum(np.hstack(cells.blocks), start, kind, REST.near) if len(live) else (start, 0)
        )
        if nearest is None:
            return None
        q, rank = nearest
        there = weights(q, kind)
        p = np.where(seen, 0.0, now.p)
        p[rows] = there.p
        ways = _ways(state, live, cells, _cells(planes, held, rows), there, q - start)
        borders = _borders(state, live, p * planes.y, ways)
        if (borders[0] == free).all() and (borders[1] == held).all():
            break
        free, held = borders
    else:
        return None
    if not _stays(state, p * planes.y, live, free, ways):
        return None
    for sides in (free,) if (free == held).all() else (free, held):
        if rank != _exact_rank(state, rows, np.unique(sides, axis=0)):
            return None
    return float(np.abs(q - start).max())


def _borders(
    state: State, live: np.ndarray, c: np.ndarray, ways: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The sides of these neurons if hyperplanes that may hold them never do, and if all do.

    Such are those that a neuron can come to and that then push it back from both sides, and those
    it slides along with a κ at its bound. Where the pulls in a cell vanish, neurons come to its
    hyperplanes and leave them, and move no faster than they would in the cell.
    """
    planes = state.planes
    plus, minus = planes.pulls(c)
    side, low, high = state.side[live], np.minimum(plus, minus), np.maximum(plus, minus)
    repels = state.a[live, None] * (plus - minus) > 0
    t = np.abs(state.W[live] @ planes.e.T)
    held = np.where((t <= ways[:, None]) & ~repels & (low < high), 0, side)
    free, pulls = side.copy(), pull(state, c)
    for j, k in enumerate(live.tolist()):
        on = np.flatnonzero((side[j] == 0) & (low < high))
        if len(on) == 0:
            continue
        kappa = -(planes.face(on).solve @ pulls[k])
        share = (kappa - low[on]) / (high - low)[on]
        at_plus = (plus[on] == high[on]) == (share > 0.5)
        loose = np.minimum(share, 1 - share) <= REST.loose
        free[j, on[loose]] = np.where(at_plus, 1, -1)[loose]
    return free, held


def _minimum(
    A: np.ndarray, start: np.ndarray, kind: Kind, near: float
) -> tuple[np.ndarray, int] | None:
    """The margins start + Av with the least loss, and the rank of A; None unless they are near."""
    q = start
    for _ in range(REST.most_newton):
        now = weights(q, kind)
        root = np.sqrt(now.p * now.bend)
        if not (root > 0).all():
            return None
        # Newton's step as a projection: normal equations would square the condition of A.
        basis, target = _range(root[:, None] * A), now.p / root
        step = basis @ (basis.T @ target)
        q = q + step / root
        if np.abs(q - start).max() > near:
            return None
        if np.linalg.norm(step) <= REST.newton * np.linalg.norm(target):
            return q, basis.shape[1]
    return None


def _range(B: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the space that the columns span, up to rounding."""
    lengths = np.linalg.norm(B, axis=0)
    # Unit columns: that a group moves slowly does not make it depend on the others.
    B = B[:, lengths > 0] / lengths[lengths > 0]
    U, size, _ = np.linalg.svd(B, full_matrices=False)
    return U[:, size > REST.dependent * size.max(initial=0.0)]


def _exact_rank(state: State, rows: np.ndarray, sides: np.ndarray) -> int | None:
    """The rank of v ↦ q on the faces of the groups; None where it would take too long."""
    planes, d = state.planes, state.planes.X.shape[1]
    if len(sides) == 0:
        return 0
    above, below = float(planes.alpha).as_integer_ratio()
    X = integer_rows(planes.X)
    towards = sides[:, planes.line[rows]] * np.sign(planes.r[rows]).astype(np.int8)
    factors = np.array([0, below, above], dtype=object)[towards]  # the last where it is −1
    A = np.hstack([factor[:, None] * X[rows] for factor in factors])
    of_line = dict(zip(planes.line[planes.r != 0].tolist(), X[planes.r != 0], strict=True))
    normals, held = [], 0
    for g, side in enumerate(sides):
        E = np.array([of_line[plane] for plane in np.flatnonzero(side == 0).tolist()])
        if len(E):
            normals.append(np.zeros((len(E), A.shape[1]), dtype=object))
            normals[-1][:, g * d : (g + 1) * d] = E
            held += rank_modulo_primes(E)
    M = np.vstack([A, *normals])
    return None if M.size * len(M) > REST.most_work else rank_modulo_primes(M) - held


def _ways(
    state: State,
    live: np.ndarray,
    free: Cells,
    held: Cells,
    there: Weights,
    left: np.ndarray,
) -> np.ndarray:
    """A bound of the way that each neuron has left, while the margins change by `left`.

    With z = D^½ (q − q*), D = −∂p, the margins obey z' = −D^½ K D^½ z, where K is at least
    Σ_k a_k² block block' over the cells in which all is held that can be. So ‖z‖ falls at the rate
    µ, and ∫‖g_k‖ ds ≤ ‖D^½ block‖ ‖z‖/µ in the cell in which nothing is.
    """
    if len(live) == 0:
        return np.zeros(0)
    root = np.sqrt(there.p * there.bend)
    heavy = np.sqrt(np.bincount(held.group, (state.copies * state.a**2)[live], len(held.blocks)))
    scaled = [root[:, None] * block for block in held.blocks]
    basis = _range(np.hstack(scaled))
    S = basis.T @ np.hstack([size * part for size, part in zip(heavy, scaled, strict=True)])
    rate = float(np.linalg.svd(S, compute_uv=False).min(initial=math.inf)) ** 2
    pulls = np.array([np.linalg.norm(root[:, None] * block, 2) for block in free.blocks])
    size = np.hypot(np.linalg.norm(state.W[live], axis=1), state.a[live])
    moved = size if state.both else np.abs(state.a[live])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ways = np.linalg.norm(root * left) * pulls[free.group] * moved / rate
        return REST.safety * np.nan_to_num(ways, posinf=math.inf)


def _stays(
    state: State, c: np.ndarray, live: np.ndarray, free: np.ndarray, ways: np.ndarray
) -> bool:
    """Whether nothing moves with these pulls, also after every neuron has gone its way."""
    planes = state.planes
    plus, minus = planes.pulls(c)
    none = REST.rounding * float(np.abs(c) @ np.abs(planes.r))
    state = state.copy()
    state.side[live] = free
    held = state.copy()
    hold(held, c)
    velocity = velocities(state, c)
    if held.events or (np.linalg.norm(velocity[live], axis=1) > none).any():
        return False
    if set(np.flatnonzero(_live(state, velocity))) - set(live):  # one that was to die out grows
        return False
    if len(led_away(state, c)):
        return False
    kinks = np.abs(plus - minus) > none
    repels = state.a[live, None] * (plus - minus) > 0
    t = np.abs(state.W[live] @ planes.e.T)
    if ((t <= ways[:, None]) & kinks & repels & (free != 0)).any():
        return False
    low, high = np.minimum(plus, minus), np.maximum(plus, minus)
    pulls = pull(state, c)
    for k in live[(free == 0).any(axis=1)].tolist():
        on = np.flatnonzero((state.side[k] == 0) & kinks)
        if len(on) == 0:
            continue
        face = planes.face(on)
        kappa = -(face.solve @ pulls[k])
        if (kappa < low[on] + none).any() or (kappa > high[on] - none).any():
            return False
    return True
