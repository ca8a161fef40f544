"""The limit that surviving patterns point to: the convex program restricted to them.

Once activation patterns stop changing, neurons with one pattern and one sign share a direction in
the limit, and the limit direction is the best network with these patterns: min Σ‖v_g‖ with both
layers trained, min Σ‖v_g‖²/(v² size_g) with the output layer fixed. A group that slides is kept on
its face. Whether this is the limit of the path is decided in `flow.evidence`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from tacit.flow.state import State, check_time
from tacit.flow.tolerances import CANDIDATE, EVIDENCE
from tacit.numerics.cell_program import Widest, widest
from tacit.numerics.max_margin import max_margin
from tacit.numerics.neurons import Neurons, margins
from tacit.numerics.polish import along, newton
from tacit.numerics.restricted import Groups, Restricted, restricted_program


@dataclass(frozen=True, eq=False)
class Candidate:
    """Groups of the surviving neurons, and where the program sends each."""

    sign: np.ndarray
    """The sign of each group's output weights."""
    size: np.ndarray
    """The number of neurons of each group."""
    group: np.ndarray
    """The group of every neuron; −1 for those that are inactive on every sample or die out."""
    pattern: np.ndarray
    """Groups × points: 1, −1, or 0 where the group slides."""
    V: np.ndarray
    """v_g = Σ|a_k| w_k of the group at the limit, scaled so that the smallest margin is 1."""
    multipliers: np.ndarray
    """λ ≥ 0 of the samples, of sum 1."""
    touches: np.ndarray
    """Samples on whose hyperplane, or beyond it, a group would end although it does not slide
    along it: then the patterns have not settled yet."""
    exact: bool = True
    """Whether it is as good as the solvers make it; else its margin is a little below the best."""


def surviving(state: State, least: float) -> tuple[np.ndarray, list[int]]:
    """The group of every neuron, and the first neuron of each group.

    The group is −1 for neurons that are inactive on every sample, and with both layers trained for
    those of groups that weigh less than the share `least` of the heaviest.
    """
    pattern = state.pattern()
    felt = pattern >= 0 if state.planes.alpha == 0 else np.ones(pattern.shape, dtype=bool)
    alive = felt.any(axis=1) & (state.a != 0) & state.W.any(axis=1)
    keys: dict[bytes, int] = {}
    group = np.full(len(state.a), -1)
    firsts: list[int] = []
    for k in np.flatnonzero(alive):
        output = b"+" if state.a[k] > 0 else b"-"
        key = state.side[k].tobytes() + (output if state.both else state.a[k].tobytes())
        if key not in keys:
            keys[key] = len(firsts)
            firsts.append(int(k))
        group[k] = keys[key]
    if not state.both or not firsts:
        return group, firsts
    weight = np.abs(state.a) * np.linalg.norm(state.W, axis=1)
    total = np.bincount(group[alive], weight[alive], len(firsts))
    heavy = total >= least * total.max()
    number = np.append(np.where(heavy, np.cumsum(heavy) - 1, -1), -1)
    return number[group], [k for k, kept in zip(firsts, heavy, strict=True) if kept]


def candidate(
    state: State,
    least: float = 0.0,
    p: np.ndarray | None = None,
    far: Callable[[Candidate], bool] | None = None,
) -> Candidate | None:
    """The candidate; None when the surviving patterns cannot give every sample its label.

    Groups below the share `least` of the heaviest are taken to die out. Where the state is near the
    candidate already, Newton's method leads there from it and its weights p of the samples. Where a
    rough answer, with a margin up to 1e-4 below the best, shows that the path is `far` from it,
    that one is returned.
    """
    planes = state.planes
    group, firsts = surviving(state, least)
    if not firsts:
        return None
    pattern = state.pattern()[firsts]
    sign = np.sign(state.a[firsts]).astype(int)
    size = np.bincount(group[group >= 0], minlength=len(firsts))
    scale = float(np.abs(planes.r).max())
    X, y = planes.X / scale, planes.y
    check_time(state)
    # With more dimensions than points, coordinates in their span say the same in fewer unknowns.
    Q, R = np.linalg.qr(X.T) if X.shape[1] > len(X) else (np.eye(X.shape[1]), X.T)
    if state.both and p is not None:
        near = _from_here(state, R.T, Q, group, sign, pattern, p)
        if near is not None:
            V, lam = near[0] @ Q.T, near[1]
            return _candidate(state, X, scale, group, sign, size, pattern, V, lam, True)

    def made(V: np.ndarray, lam: np.ndarray, exact: bool) -> Candidate | None:
        V = V @ Q.T
        if state.both:
            V = _nearest(state, X, group, V, sign, pattern, lam)
        return _candidate(state, X, scale, group, sign, size, pattern, V, lam, exact)

    def enough(found: Widest) -> bool:
        if far is None or not found.value >= (1 - EVIDENCE.rough) * found.bound > 0:
            return False
        end = made(found.V, found.multipliers, False)
        return end is not None and far(end)

    exact = True
    if state.both:  # the limit is in the span of the points
        key = sign.tobytes() + pattern.tobytes()
        if key not in planes.solved:
            planes.solved.clear()
            here = _sums(state, group, len(sign)) @ Q
            solved, exact = _both_layers(state, R.T, here, sign, pattern, enough)
            if exact:
                planes.solved[key] = solved
        else:
            solved = planes.solved[key]
    else:
        solved = _first_layer(R.T, y, planes.alpha, sign, pattern, size * state.a[firsts] ** 2)
    return None if solved is None else made(*solved, exact)


def _candidate(
    state: State,
    X: np.ndarray,
    scale: float,
    group: np.ndarray,
    sign: np.ndarray,
    size: np.ndarray,
    pattern: np.ndarray,
    V: np.ndarray,
    lam: np.ndarray,
    exact: bool,
) -> Candidate | None:
    """These neurons, of the points X divided by the scale, as a candidate."""
    smallest = float(margins(X, state.planes.y, state.planes.alpha, Neurons(V, sign))[0].min())
    if not smallest > CANDIDATE.none * float(np.linalg.norm(V, axis=1).sum()):
        return None
    room = np.outer(np.linalg.norm(V, axis=1), np.linalg.norm(X, axis=1))
    outside = ((V @ X.T) * pattern < CANDIDATE.on_plane * room) & (pattern != 0) & (room > 0)
    touches = np.flatnonzero(outside.any(axis=0))
    return Candidate(sign, size, group, pattern, V / (smallest * scale), lam, touches, exact)


def _from_here(
    state: State,
    X: np.ndarray,
    Q: np.ndarray,
    group: np.ndarray,
    sign: np.ndarray,
    pattern: np.ndarray,
    p: np.ndarray,
) -> tuple[np.ndarray, np.ndarray] | None:
    """The state itself, or where Newton's method leads from it; None if neither is optimal.

    X and the answer are in the coordinates of the orthonormal columns of Q, which span the samples.
    Optimal for its patterns, to rounding: margins are at least that of the samples with λ > 0, and
    the pulls on all groups are of one size and along them.
    """
    V = _sums(state, group, len(sign)) @ Q
    faces = [np.flatnonzero(signs == 0) for signs in pattern]
    y, alpha = state.planes.y, state.planes.alpha
    frames = [along(X[on]) for on in faces]
    slopes = np.where(pattern > 0, 1.0, np.where(pattern < 0, alpha, 0.0)) * sign[:, None] * y

    def optimal(V: np.ndarray, lam: np.ndarray) -> bool:
        q = margins(X, y, alpha, Neurons(V, sign))[0]
        pulls = [F @ (F.T @ g) for g, F in zip((slopes * lam) @ X, frames, strict=True)]
        lengths = np.linalg.norm(V, axis=1)
        least = float(lam @ q)
        rate = least / float(lengths.sum())
        wrong = np.linalg.norm(pulls - rate * V / np.maximum(lengths, 1e-300)[:, None], axis=1)
        return bool(
            wrong.max() <= CANDIDATE.none * rate and q.min() >= (1 - CANDIDATE.none) * least
        )

    lam = p / p.sum()
    if optimal(V, lam):
        return V, lam
    better = newton(X, y, alpha, Neurons(V, sign), faces, lam, "sum")
    return (better[0].V, better[1]) if better and optimal(better[0].V, better[1]) else None


def _sums(state: State, group: np.ndarray, count: int) -> np.ndarray:
    """Σ|a_k| w_k of every group, in a unit of their size."""
    alive = group >= 0
    V = np.zeros((count, state.W.shape[1]))
    np.add.at(V, group[alive], (np.abs(state.a)[:, None] * state.W)[alive])
    # Deep down the weights may be 1e250, and their squares would overflow.
    return V / float(np.abs(V).max())


def _both_layers(
    state: State,
    X: np.ndarray,
    here: np.ndarray,
    sign: np.ndarray,
    pattern: np.ndarray,
    enough: Callable[[Widest], bool],
) -> tuple[tuple[np.ndarray, np.ndarray] | None, bool]:
    """min Σ‖v_g‖ inside the cells, and whether it is exact; the state's own groups are `here`."""
    y, alpha = state.planes.y, state.planes.alpha
    # The margin of the path tells the solver how large the best one may be.
    unit = float((state.outputs() / _total(state)).min()) / float(np.abs(state.planes.r).max())
    unit = unit if unit > CANDIDATE.none else 1.0
    check_time(state)
    found = widest(X, y, alpha, sign, pattern, unit, state.deadline, enough)
    check_time(state)
    if found.bound <= CANDIDATE.none:
        return None, True
    closed = found.value >= (1 - CANDIDATE.none) * found.bound
    if closed:
        V, lam = found.V, found.multipliers
    elif enough(found):
        return (found.V, found.multipliers), False
    else:
        solution = _by_sparse_solver(state, X, sign, pattern, unit)
        if solution is None:
            return None, True
        V, lam = solution
    lengths = np.linalg.norm(V, axis=1)
    live = np.flatnonzero(lengths > CANDIDATE.dead * lengths.max())
    room = np.outer(lengths, np.linalg.norm(X, axis=1))
    touching = ((V @ X.T) * pattern < CANDIDATE.on_plane * room) & (pattern != 0)
    if closed and not touching[live].any():
        return (V, lam), True
    # There may be more beyond the hyperplanes that are in the way; a little inside of them it is
    # clear on which side a group is.
    sizes = np.maximum(np.linalg.norm(here, axis=1), 1e-300)[live, None]
    inside = V[live] / lengths[live, None] + CANDIDATE.inside * here[live] / sizes
    faces = [np.flatnonzero(pattern[g] == 0) for g in live]
    net = Neurons(inside * lengths[live, None], sign[live])
    better = newton(X, y, alpha, net, faces, lam, "sum")
    # Newton's method may leave the cells: it is believed only where it loses nothing of the margin.
    if better is None or _ratio(X, y, alpha, better[0]) < (1 - CANDIDATE.none) * _ratio(
        X, y, alpha, Neurons(V, sign)
    ):
        return (V, lam), True
    V = np.zeros(V.shape)
    V[live] = better[0].V
    return (V, better[1]), True


def _by_sparse_solver(
    state: State, X: np.ndarray, sign: np.ndarray, pattern: np.ndarray, unit: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """The same by a general solver, which takes ten times as long and knows close points apart.

    OutOfTime after the state's deadline: what the solver has by then is not the answer.
    """
    y, alpha = state.planes.y, state.planes.alpha

    def solved(groups: Groups, unit: float) -> Restricted | None:
        left = state.deadline - perf_counter()
        found = restricted_program(X, y, alpha, groups, unit=unit, seconds=left)
        check_time(state)
        return found

    face = pattern == 0
    # The hyperplanes of samples with s_g y_i > 0 are seldom in the way: first without them.
    solution = None
    for held in ((sign[:, None] * y < 0) & ~face, ~face):
        groups = Groups(sign, np.where(face, 1, pattern).astype(np.int8), held, face)
        solution = solved(groups, unit)
        if solution is None or not solution.value > CANDIDATE.none:
            return None
        before, unit = unit, solution.value
        if not 1 / CANDIDATE.same_unit < unit / before < CANDIDATE.same_unit:
            solution = solved(groups, unit) or solution
        room = np.outer(np.linalg.norm(solution.V, axis=1), np.linalg.norm(X, axis=1))
        if not ((solution.V @ X.T) * pattern < -CANDIDATE.on_plane * room).any():
            break
    assert solution is not None
    return solution.V, solution.multipliers


def _nearest(
    state: State,
    X: np.ndarray,
    group: np.ndarray,
    V: np.ndarray,
    sign: np.ndarray,
    pattern: np.ndarray,
    lam: np.ndarray,
) -> np.ndarray:
    """Of all solutions the one nearest to the state, where there are many.

    They share their directions, which λ fixes: neurons of one sign with opposite directions, say,
    may make up for each other. Their lengths are changed as little as makes all margins right.
    """
    y, alpha = state.planes.y, state.planes.alpha
    lengths = np.linalg.norm(V, axis=1)
    live = np.flatnonzero(lengths > CANDIDATE.dead * lengths.max())
    rows = np.flatnonzero(lam > CANDIDATE.dead * lam.max())
    units = V[live] / lengths[live, None]
    slopes = np.where(pattern > 0, 1.0, np.where(pattern < 0, alpha, 0.0))[live][:, rows]
    M = y[rows, None] * (sign[live, None] * slopes * (units @ X[rows].T)).T
    if len(rows) >= len(live) and np.linalg.matrix_rank(M, CANDIDATE.none) == len(live):
        return V
    q = margins(X, y, alpha, Neurons(V, sign))[0]
    weight = np.abs(state.a) * np.linalg.norm(state.W, axis=1)
    now = np.bincount(group[group >= 0], weight[group >= 0], len(sign))[live]
    now *= lengths.sum() / now.sum()
    # The pseudo-inverse gives the smallest change of the lengths that sets the margins right.
    now += np.linalg.pinv(M, CANDIDATE.none) @ (q[rows] - M @ now)
    better = np.zeros_like(V)
    better[live] = now[:, None] * units
    least = float(margins(X, y, alpha, Neurons(better, sign))[0].min())
    kept = (now > 0).all() and least >= (1 - CANDIDATE.none) * q.min()
    return better if kept else V


def _total(state: State) -> float:
    """Σ |a_k|‖w_k‖."""
    return float(state.copies @ (np.abs(state.a) * np.linalg.norm(state.W, axis=1)))


def _ratio(X: np.ndarray, y: np.ndarray, alpha: float, net: Neurons) -> float:
    """The smallest margin over Σ‖v_g‖."""
    return float(margins(X, y, alpha, net)[0].min() / np.linalg.norm(net.V, axis=1).sum())


def _first_layer(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    sign: np.ndarray,
    pattern: np.ndarray,
    sizes: np.ndarray,
) -> tuple[np.ndarray, np.ndarray] | None:
    """min Σ‖v_g‖²/size_g: a max-margin problem, as PAR is; its cells are checked afterwards."""
    frames = [along(X[signs == 0]) * np.sqrt(k) for signs, k in zip(pattern, sizes, strict=True)]
    slopes = np.where(pattern > 0, 1.0, np.where(pattern < 0, alpha, 0.0)) * sign[:, None] * y
    features = [m[:, None] * (X @ frame) for m, frame in zip(slopes, frames, strict=True)]
    problem = max_margin(np.hstack(features))
    if problem.status != "separable":
        return None
    parts = np.split(problem.direction, np.cumsum([frame.shape[1] for frame in frames])[:-1])
    V = [frame @ part for frame, part in zip(frames, parts, strict=True)]
    return np.array(V), problem.multipliers
