"""From nearly optimal to optimal: Newton's method on the optimality conditions.

Close to the optimum it is known which neurons live, on which hyperplanes they lie and which points
are on the margin. What is left are equations: for neurons v_g along the faces they lie on,

    ∇size(v)_g = Σ_i λ_i s_g y_i m_gi x_i,        y_i f(x_i) = 1 on the margin.

A few steps bring them to rounding error. The guess may be wrong: what comes out is a proposal.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tacit.numerics.neurons import Neurons, size
from tacit.numerics.pricing import best_in_cell
from tacit.numerics.restricted import Budget
from tacit.numerics.tolerances import POLISH


def polish(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    net: Neurons,
    lam: np.ndarray,
    budget: Budget,
    support: float = POLISH.support,
) -> Iterator[tuple[Neurons, np.ndarray]]:
    """Networks with no more neurons than a vertex has, and their λ, the loosest guess first.

    Directions that λ makes smaller than the largest of their sign, by more than a share, are left
    out: with the optimal λ they would have no weight. Points with λ_i‖x_i‖ above the share
    `support` of `scale_of_pulls` are taken to be on the margin.
    """
    room = _room(net, budget)
    sharp = _sharpen(X, y, alpha, net, lam)
    tried = set()
    for share in POLISH.shares:
        rows = np.flatnonzero(sharp.short <= share)
        if len(rows) in tried:
            continue
        tried.add(len(rows))
        near = Neurons(sharp.net.V[rows], sharp.net.sign[rows])
        weights = best_weights(X, y, alpha, near, room, budget)
        if weights is None:
            continue
        kept = np.flatnonzero(weights > POLISH.weight * weights.max())
        vertex = Neurons(near.V[kept] * weights[kept][:, None], near.sign[kept])
        faces = [sharp.faces[rows[k]] for k in kept]
        better = newton(X, y, alpha, vertex, faces, lam, budget, support)
        if better is not None:
            yield better
    pulls = lam * np.linalg.norm(X, axis=1)
    if float(pulls.max()) == scale_of_pulls(pulls, sharp.value):
        return
    # What is left when pulls cancel needs small weights: the linear program's error is 1e-7.
    rows = np.flatnonzero(sharp.short <= POLISH.direct)
    whole = Neurons(sharp.net.V[rows] * sharp.lengths[rows][:, None], sharp.net.sign[rows])
    better = newton(X, y, alpha, whole, [sharp.faces[k] for k in rows], lam, budget, support)
    if better is not None:
        yield better


def fewer(X: np.ndarray, y: np.ndarray, alpha: float, net: Neurons, budget: Budget) -> Neurons:
    """The same y_i f(x_i) with as many neurons as there are points at most (one more with a pair).

    Among more there are changes of their lengths that leave every y_i f(x_i) as it is, and the
    size does not grow in one of the two directions: as far as until a neuron is 0.
    """
    most = len(X) + (budget == "pair")
    while len(net.sign) > most:
        net = _fewer_first(X, y, alpha, net, budget, most)
    return net


def _fewer_first(
    X: np.ndarray, y: np.ndarray, alpha: float, net: Neurons, budget: Budget, most: int
) -> Neurons:
    """The same where the first 2 `most` neurons give way to `most`: they have a few changes."""
    V, sign = net.V[: 2 * most], net.sign[: 2 * most]
    lengths = np.linalg.norm(V, axis=1)
    t = X @ (V / np.maximum(lengths, 1e-300)[:, None]).T
    H = y[:, None] * sign * np.maximum(t, alpha * t) / np.linalg.norm(X, axis=1)[:, None]
    if budget == "pair":
        H = np.vstack([H, sign > 0])
    left = lengths.copy()
    changes = np.linalg.qr(H.T, mode="complete")[0][:, most:]
    while changes.shape[1]:
        change = changes[:, -1] * (-1.0 if changes[:, -1].sum() > 0 else 1.0)
        falling = np.flatnonzero(change < -1e-30)  # by less only rounding falls
        steps = left[falling] / -change[falling]
        gone = falling[np.argmin(steps)]
        left = np.maximum(left + steps.min() * change, 0.0)
        # A reflection leaves one change that moves this neuron, the last one.
        mirror = changes[gone].copy()
        mirror[-1] += math.copysign(float(np.linalg.norm(mirror)), mirror[-1])
        changes -= np.outer(changes @ mirror, 2 / (mirror @ mirror) * mirror)
        changes = changes[:, :-1]
        left[gone] = changes[gone] = 0.0
    kept = left > POLISH.gone * lengths
    V = np.vstack(
        [V[kept] * (left / np.maximum(lengths, 1e-300))[kept][:, None], net.V[2 * most :]]
    )
    return Neurons(V, np.concatenate([sign[kept], net.sign[2 * most :]]))


@dataclass(frozen=True, eq=False)
class _Sharp:
    net: Neurons
    """The directions, as unit vectors."""
    lengths: np.ndarray
    """How long the neurons in these directions were together."""
    short: np.ndarray
    """The share by which λ makes them smaller than the largest of their sign."""
    faces: list[np.ndarray]
    """The rows whose hyperplanes they lie on."""
    value: float
    """The largest that λ makes of one."""


def _room(net: Neurons, budget: Budget) -> np.ndarray:
    """Σ‖v_g‖, or its two parts over the positive and over the negative neurons."""
    lengths = np.linalg.norm(net.V, axis=1)
    if budget == "sum":
        return np.array([lengths.sum()])
    return np.array([lengths[net.sign > 0].sum(), lengths[net.sign < 0].sum()])


def _sharpen(X: np.ndarray, y: np.ndarray, alpha: float, net: Neurons, lam: np.ndarray) -> _Sharp:
    """The best direction of every neuron's cell for this λ, each once."""
    rows = np.flatnonzero(lam > 0)
    U: list[np.ndarray] = []
    sign: list[int] = []
    length, faces = [], []
    lengths: list[float] = []
    for v, s in zip(net.V, net.sign.tolist(), strict=True):
        signs = np.where(X[rows] @ v > 0, 1, -1)
        r, on = best_in_cell(X[rows], s * lam[rows] * y[rows], alpha, signs)
        norm = float(np.linalg.norm(r))
        same = [u @ r > POLISH.same * norm and s == t for u, t in zip(U, sign, strict=True)]
        if any(same):
            lengths[same.index(True)] += float(np.linalg.norm(v))
        elif norm > 0:
            lengths.append(float(np.linalg.norm(v)))
            U.append(r / norm)
            sign.append(s)
            length.append(norm)
            faces.append(rows[on])
    which, values = np.array(sign, dtype=int), np.array(length)
    largest = np.where(which > 0, *(values[which == s].max(initial=0.0) for s in (1, -1)))
    V = np.array(U).reshape(len(U), X.shape[1])
    net = Neurons(V, which)
    return _Sharp(net, np.array(lengths), 1 - values / largest, faces, values.max(initial=0.0))


def best_weights(
    X: np.ndarray, y: np.ndarray, alpha: float, net: Neurons, room: np.ndarray, budget: Budget
) -> np.ndarray | None:
    """Weights of the directions within the room that make the smallest y_i f(x_i) largest.

    A vertex of the linear program has no more weights that are not 0 than there are points (and
    one more with a pair).
    """
    from scipy.optimize import linprog

    if len(net.sign) == 0:
        return None
    lengths = np.linalg.norm(X, axis=1)
    t = X @ net.V.T
    H = y[:, None] * net.sign * np.maximum(t, alpha * t) / lengths[:, None]
    owners = [np.ones(len(net.sign))] if budget == "sum" else [net.sign > 0, net.sign < 0]
    # The dual simplex ends at a vertex, where few weights are not 0; an interior point would keep
    # all.
    answer = linprog(
        np.append(np.zeros(len(net.sign)), -1.0),
        A_ub=np.vstack(
            [np.column_stack([-H, lengths.min() / lengths]), np.column_stack([owners, 0 * room])]
        ),
        b_ub=np.concatenate([np.zeros(len(X)), room / room.sum()]),
        method="highs-ds",
    )
    if answer.x is None or not answer.x[-1] > 0:
        return None
    weights: np.ndarray = answer.x[:-1]
    return weights


def newton(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    net: Neurons,
    faces: list[np.ndarray],
    lam: np.ndarray,
    budget: Budget,
    support: float = POLISH.support,
) -> tuple[Neurons, np.ndarray] | None:
    """Solve the optimality conditions; None where the guess leads nowhere.

    Rows are divided by their lengths and λ_i multiplied by them, so that all is of one size.
    """
    lengths = np.linalg.norm(X, axis=1)
    t = X @ net.V.T
    value = float((lam * y) @ np.maximum(t, alpha * t) @ net.sign) / (size(net, budget) or 1.0)
    if not value > 0:
        return None
    rows = np.flatnonzero(lam * lengths > support * scale_of_pulls(lam * lengths, value))
    frames = [along(X[on]) for on in faces]
    if any(frame.shape[1] == 0 for frame in frames):
        return None
    unit = X[rows] / lengths[rows][:, None]
    H = np.hstack(
        [
            _response(unit, y[rows], alpha, v, s, frame) * ~np.isin(rows, on)[:, None]
            for v, s, frame, on in zip(net.V, net.sign, frames, faces, strict=True)
        ]
    )
    ends = np.cumsum([frame.shape[1] for frame in frames])
    parts = [slice(end - frame.shape[1], end) for frame, end in zip(frames, ends, strict=True)]
    x = np.concatenate([frame.T @ v for v, frame in zip(net.V, frames, strict=True)])
    if not all(x[part].any() for part in parts):  # a neuron without length has no direction
        return None
    x /= size(net, budget)
    slope, _ = _size(x, parts, net.sign, budget)
    dual = lam[rows] * lengths[rows]
    reached = float(dual @ (H @ x))
    if not reached > 0:  # what the points ask for cancels
        return None
    dual *= float(slope @ x) / reached
    # The margin of all: the mean over λ, in which what is wrong with single points cancels.
    goal = float(dual @ (H @ x)) / float((dual / lengths[rows]).sum()) / lengths[rows]
    if not goal.min() > 0:
        return None
    smallest, fruitless = np.inf, 0
    for _ in range(POLISH.most_steps):
        slope, norms = _size(x, parts, net.sign, budget)
        lacks, short = H.T @ dual - slope, H @ x - goal
        # Both conditions relative to what they are about: 1, and margins that may be tiny.
        wrong = math.hypot(float(np.linalg.norm(lacks)), float(np.linalg.norm(short / goal)))
        # Newton's method squares the error: a step that does not halve it is at rounding, or lost.
        fruitless = 0 if wrong < smallest / 2 else fruitless + 1
        smallest = min(wrong, smallest)
        if fruitless == POLISH.most_fruitless:
            break
        solve = _whole if len(x) + len(rows) <= POLISH.whole else _one_by_one
        step, change = solve(x, dual, H, goal, lacks, short, parts, net.sign, budget)
        share = np.abs(step) / norms
        # The equations hold inside these cells, which a neuron that turns far would leave.
        most = min(1.0, POLISH.most_turn / max(share.max(), 1e-300))
        x, dual = x + most * step, dual + most * change
        if not (np.isfinite(x).all() and np.isfinite(dual).all() and dual.max() > 0):
            return None
    V = np.array([frame @ x[p] for frame, p in zip(frames, parts, strict=True)])
    whole = np.zeros(len(lam))
    whole[rows] = np.maximum(dual, 0) / lengths[rows]
    return Neurons(V, net.sign), whole / whole.sum()


def scale_of_pulls(pulls: np.ndarray, value: float) -> float:
    """What λ_i‖x_i‖ is compared with: the largest, unless these cancel to a much smaller value."""
    return min(float(pulls.max()), POLISH.cancelling * value)


def along(rows: np.ndarray) -> np.ndarray:
    """Orthonormal columns that span what is perpendicular to all rows."""
    d = rows.shape[1]
    if len(rows) == 0:
        return np.eye(d)
    _, sizes, directions = np.linalg.svd(rows / np.linalg.norm(rows, axis=1)[:, None])
    return directions[int((sizes > POLISH.rank).sum()) :].T


def _response(
    X: np.ndarray, y: np.ndarray, alpha: float, v: np.ndarray, s: int, frame: np.ndarray
) -> np.ndarray:
    """What the coordinates of a neuron do to y_i f(x_i)."""
    return (y * s * np.where(X @ v > 0, 1.0, alpha))[:, None] * (X @ frame)


def _whole(
    x: np.ndarray,
    dual: np.ndarray,
    H: np.ndarray,
    goal: np.ndarray,
    lacks: np.ndarray,
    short: np.ndarray,
    parts: list[slice],
    sign: np.ndarray,
    budget: Budget,
) -> tuple[np.ndarray, np.ndarray]:
    """The changes of the neurons and multipliers that take away what is lacking.

    All unknowns are in one linear system, which keeps digits that elimination loses where rows are
    of very different lengths.
    """
    lengths = np.array([np.linalg.norm(x[part]) for part in parts])
    bend = np.zeros((len(x), len(x)))
    for part, length, total in zip(parts, lengths, _counted_in(lengths, sign, budget), strict=True):
        u = x[part] / length
        bend[part, part] = total * (np.eye(len(u)) - np.outer(u, u)) / length
    if budget == "pair":
        which = _owners(parts)
        unit = x / lengths[which]
        bend += np.outer(unit, unit) * np.equal.outer(sign[which], sign[which])
    matrix = np.block([[-bend, H.T], [H, np.zeros((len(H), len(H)))]])
    weight = np.concatenate([np.ones(len(x)), 1 / goal])
    scale = np.concatenate([lengths[_owners(parts)], _sizes_of(dual)])
    # Singular where a neuron or multiplier can move freely: the shortest step leaves it alone.
    matrix = weight[:, None] * matrix * scale
    lacking = weight * np.concatenate([lacks, short])
    step = scale * np.linalg.lstsq(matrix, -lacking, rcond=POLISH.singular)[0]
    return step[: len(x)], step[len(x) :]


def _one_by_one(
    x: np.ndarray,
    dual: np.ndarray,
    H: np.ndarray,
    goal: np.ndarray,
    lacks: np.ndarray,
    short: np.ndarray,
    parts: list[slice],
    sign: np.ndarray,
    budget: Budget,
) -> tuple[np.ndarray, np.ndarray]:
    """The same for many unknowns.

    Across its direction a neuron answers on its own to the pull of λ: by its length over the sum it
    is counted in. So only the lengths and λ are unknowns of a linear system.
    """
    lengths = np.array([np.linalg.norm(x[part]) for part in parts])
    which = _owners(parts)
    unit = x / lengths[which]
    answer = (lengths / _counted_in(lengths, sign, budget))[which]
    starts = [part.start for part in parts]
    along_them = np.add.reduceat(H * unit, starts, axis=1)
    across = H - along_them[:, which] * unit
    outward = np.add.reduceat(unit * lacks, starts)
    turn = answer * (lacks - outward[which] * unit)
    together = -np.equal.outer(sign, sign).astype(float) if budget == "pair" else 0.0
    corner = np.full((len(parts), len(parts)), together)
    matrix = np.block([[(across * answer) @ across.T, along_them], [along_them.T, corner]])
    right = -np.concatenate([short + H @ turn, outward])
    weight = np.concatenate([1 / goal, np.ones(len(parts))])
    scale = np.concatenate([_sizes_of(dual), lengths])
    matrix = weight[:, None] * matrix * scale
    found = scale * np.linalg.lstsq(matrix, weight * right, rcond=POLISH.singular)[0]
    change, longer = found[: len(dual)], found[len(dual) :]
    return turn + answer * (across.T @ change) + longer[which] * unit, change


def _owners(parts: list[slice]) -> np.ndarray:
    """The number of the neuron that every entry belongs to."""
    return np.repeat(np.arange(len(parts)), [part.stop - part.start for part in parts])


def _sizes_of(dual: np.ndarray) -> np.ndarray:
    return np.maximum(np.abs(dual), POLISH.least_scale * np.abs(dual).max())


def _counted_in(lengths: np.ndarray, sign: np.ndarray, budget: Budget) -> np.ndarray:
    """For every neuron the factor of its length in the gradient of the size."""
    if budget == "sum":
        return np.ones(len(lengths))
    return np.where(sign > 0, lengths[sign > 0].sum(), lengths[sign < 0].sum())


def _size(
    x: np.ndarray, parts: list[slice], sign: np.ndarray, budget: Budget
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient of Σ‖v_g‖, or of half the sum of the squares of the two sums; and all ‖v_g‖.

    Both are given for every entry of x.
    """
    lengths = np.array([np.linalg.norm(x[part]) for part in parts])
    which = _owners(parts)
    return _counted_in(lengths, sign, budget)[which] * (x / lengths[which]), lengths[which]
