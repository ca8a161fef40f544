"""Whether the flow is at rest: slow is not rest, so there must be a point near where nothing moves.

With the sides of all neurons fixed, the margins are linear in v_g = Σ a_k w_k, one vector for each
group of neurons with the same sides, and the loss is a convex function of them. It has a minimum
exactly if some weights p > 0 of the samples make all pulls vanish, Σ p_i y_i φ'_gi x_i = 0, up to
the normals of the hyperplanes along which the group slides. Three things are needed:

- Newton's method leads from these margins to such p nearby, and so to a stationary point;
- the pulls vanish there exactly and not only to rounding: the rank that it takes is computed in
  integer arithmetic, since points that are close have pulls that nearly cancel;
- no neuron can meet a hyperplane before it comes to rest that would change its pull. The margins
  approach at a rate of at least µ, which bounds the way that is left.

Along the flow the loss falls, and its minimum is unique in the margins, so they stay this near.
None of it has a scale: margins are compared with the 1 that is natural to the loss, the ways of
neurons with their own size, and pulls with the sum of what they consist of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.flow.exponential_tail import Kind, Weights, weights
from tacit.flow.stage import hold, velocities
from tacit.flow.state import State
from tacit.flow.tolerances import PATH, REST
from tacit.numerics.exact_signs import integer_rows, rank_modulo_primes


@dataclass(frozen=True)
class Rest:
    """A stationary point near a state that is about to come to it."""

    distance: float
    """The largest difference of a margin there from the one now."""
    fitted: int
    """Samples that were left out, since their loss goes to 0 as the weights grow without end."""
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


def is_still(state: State, now: Weights) -> bool:
    """Whether no pull is larger than the error of its computation: then no stage moves a neuron."""
    return _largest_pull(state, now) <= REST.rounding


def _largest_pull(state: State, now: Weights) -> float:
    """The largest ‖g_k‖ of a neuron that is active on some sample, over Σ p_i‖x_i‖."""
    velocity = velocities(state, now.p * state.planes.y)
    pulls = np.linalg.norm(velocity[_live(state, velocity)], axis=1)
    return float(pulls.max(initial=0.0) / max(float(now.p @ np.abs(state.planes.r)), 1e-300))


def _live(state: State, velocity: np.ndarray) -> np.ndarray:
    """Neurons that are active on some sample and do not die out.

    A small balanced neuron that a face lets move along a ray only, and that shrinks, comes to 0.
    """
    length = np.linalg.norm(state.W, axis=1)
    size = np.hypot(length, state.a)
    live = (length > 0) & ((state.a != 0) | state.both)
    live &= (state.planes.slopes(state.side) > 0).any(axis=1)
    if state.both:
        shrinks = state.a * (velocity * state.W).sum(axis=1) < 0
        shrinks &= size <= PATH.negligible * size.max(initial=0.0)
        shrinks &= np.abs(length - np.abs(state.a)) <= PATH.balanced * size
        for k in np.flatnonzero(live & shrinks).tolist():
            on = np.flatnonzero(state.side[k] == 0)
            live[k] = state.W.shape[1] - len(state.planes.face(on).across) > 1
    return live


def rest(state: State, now: Weights, seen: np.ndarray, kind: Kind) -> Rest | None:
    """The stationary point that the flow comes to; None where it cannot be shown that there is one.

    Samples whose loss is already negligible may keep all others from having a minimum: they are
    fitted with ever larger weights. Then the point is that of the others, and `fitted` is positive.
    """
    share = now.p * np.abs(state.planes.r)
    core = seen & (share > REST.fitted * float(share[seen].max(initial=0.0)))
    for rows in (seen,) if (core == seen).all() else (seen, core):
        distance = _distance(state, now, seen, np.flatnonzero(rows), kind)
        if distance is not None:
            active = (state.planes.slopes(state.side) > 0).any(axis=1) & state.W.any(axis=1)
            dying = active & ~_live(state, velocities(state, now.p * state.planes.y))
            return Rest(distance, int((seen & ~rows).sum()), int(dying.sum()))
    return None


def _distance(
    state: State, now: Weights, seen: np.ndarray, rows: np.ndarray, kind: Kind
) -> float | None:
    """How far the margins of these samples are from a stationary point; None if none is near."""
    planes = state.planes
    live = np.flatnonzero(_live(state, velocities(state, now.p * planes.y)))
    sides, group = np.unique(state.side[live], axis=0, return_inverse=True)
    if len(rows) * len(sides) * planes.X.shape[1] > REST.most_entries:
        return None
    slopes = planes.slopes(sides)[:, rows] * planes.y[rows]
    blocks = [
        slope[:, None] * planes.face(np.flatnonzero(side == 0)).along(planes.X[rows])
        for side, slope in zip(sides, slopes, strict=True)
    ]  # q = Σ block_g v_g
    start = state.outputs()[rows]
    near = REST.near if len(rows) == seen.sum() else REST.near_without
    nearest = _minimum(np.hstack(blocks), start, kind, near) if blocks else (start, 0)
    if nearest is None or nearest[1] != _exact_rank(state, rows, sides):
        return None
    q = nearest[0]
    there = weights(q, kind)
    p = np.where(seen, 0.0, now.p)
    p[rows] = there.p
    lengths = _ways(state, live, group.ravel(), blocks, there, q - start)
    return float(np.abs(q - start).max()) if _stays(state, p * planes.y, live, lengths) else None


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
    factors = np.where(towards > 0, below, np.where(towards < 0, above, 0)).astype(object)
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
    group: np.ndarray,
    blocks: list[np.ndarray],
    there: Weights,
    left: np.ndarray,
) -> np.ndarray:
    """A bound of the way that each neuron has left, while the margins change by `left`.

    With z = D^½ (q − q*), D = −∂p, the margins obey z' = −D^½ K D^½ z, where K is at least
    Σ_k a_k² block block'. So ‖z‖ falls at the rate µ, and ∫‖g_k‖ ds ≤ ‖D^½ block‖ ‖z‖/µ.
    """
    if not blocks:
        return np.zeros(0)
    root = np.sqrt(there.p * there.bend)
    scaled = [root[:, None] * block for block in blocks]
    heavy = np.sqrt(np.bincount(group, (state.copies * state.a**2)[live], len(blocks)))
    basis = _range(np.hstack(scaled))
    S = basis.T @ np.hstack([size * part for size, part in zip(heavy, scaled, strict=True)])
    rate = float(np.linalg.svd(S, compute_uv=False).min(initial=math.inf)) ** 2
    pulls = np.array([np.linalg.norm(part, 2) for part in scaled]) * np.linalg.norm(root * left)
    size = np.hypot(np.linalg.norm(state.W[live], axis=1), state.a[live])
    moved = size if state.both else np.abs(state.a[live])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return REST.safety * np.nan_to_num(pulls[group] * moved / rate, posinf=math.inf)


def _stays(state: State, c: np.ndarray, live: np.ndarray, ways: np.ndarray) -> bool:
    """Whether nothing moves with these pulls, also after every neuron has gone its way."""
    planes = state.planes
    plus, minus = planes.pulls(c)
    none = REST.rounding * float(np.abs(c) @ np.abs(planes.r))
    held = state.copy()
    hold(held, c)
    velocity = velocities(state, c)
    if held.events or (np.linalg.norm(velocity[live], axis=1) > none).any():
        return False
    if set(np.flatnonzero(_live(state, velocity))) - set(live):  # one that was to die out grows
        return False
    kinks = np.abs(plus - minus) > none
    t, side = np.abs(state.W[live] @ planes.e.T), state.side[live]
    if ((t <= ways[:, None]) & kinks & (side != 0)).any():
        return False
    low, high = np.minimum(plus, minus), np.maximum(plus, minus)
    for k in live[(side == 0).any(axis=1)].tolist():
        on = np.flatnonzero((state.side[k] == 0) & kinks)
        if len(on) == 0:
            continue
        face = planes.face(on)
        kappa = -(face.solve @ state.pull_of(k, plus, minus))
        if (kappa < low[on] + none).any() or (kappa > high[on] - none).any():
            return False
    return True
