"""From nearly optimal to optimal: Newton's method on the optimality conditions.

Close to the optimum it is known which neurons live, which walls they lean on and which points are
on the margin. What is left are equations: for neurons v_g along the faces they lean on,

    ∇size(v)_g = Σ_i λ_i s_g y_i m_gi x_i,        y_i f(x_i) = 1 on the margin.

A few steps bring them to rounding error. The guess may be wrong: what comes out is a proposal.
"""

from __future__ import annotations

import numpy as np

from tacit.solvers.network import Neurons
from tacit.solvers.pricing import best_in_cell
from tacit.solvers.restricted import Budget

MOST_STEPS = 25


def polish(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    net: Neurons,
    lam: np.ndarray,
    budget: Budget,
    share: float,
) -> tuple[Neurons, np.ndarray] | None:
    """A network with no more neurons than a vertex has, and its λ; None when nothing fits.

    Directions that λ makes smaller than the largest of their sign, by more than this share, are
    left out: with the optimal λ they would have no weight.
    """
    room = _room(net, budget)
    net, leans = _sharpen(X, y, alpha, net, lam, share)
    weights = _vertex(X, y, alpha, net, room, budget)
    if weights is None:
        return None
    kept = np.flatnonzero(weights > 1e-7 * weights.max())
    net = Neurons(net.V[kept] * weights[kept][:, None], net.sign[kept])
    return _newton(X, y, alpha, net, [leans[k] for k in kept], lam, budget)


def _room(net: Neurons, budget: Budget) -> np.ndarray:
    """Σ‖v_g‖, or its two parts over the positive and over the negative neurons."""
    lengths = np.linalg.norm(net.V, axis=1)
    if budget == "sum":
        return np.array([lengths.sum()])
    return np.array([lengths[net.sign > 0].sum(), lengths[net.sign < 0].sum()])


def _sharpen(
    X: np.ndarray, y: np.ndarray, alpha: float, net: Neurons, lam: np.ndarray, share: float
) -> tuple[Neurons, list[np.ndarray]]:
    """The best direction of every neuron's cell for this λ, each once, and the rows it leans on."""
    rows = np.flatnonzero(lam > 0)
    found: list[tuple[float, np.ndarray, int, np.ndarray]] = []
    for v, s in zip(net.V, net.sign.tolist(), strict=True):
        signs = np.where(X[rows] @ v > 0, 1, -1)
        r, leans = best_in_cell(X[rows], s * lam[rows] * y[rows], alpha, signs)
        length = float(np.linalg.norm(r))
        if length > 0:
            found.append((length, r / length, s, rows[leans]))
    largest = {s: max((one[0] for one in found if one[2] == s), default=0.0) for s in (1, -1)}
    kept: list[tuple[float, np.ndarray, int, np.ndarray]] = []
    for one in sorted(found, key=lambda one: -one[0]):
        if one[0] < (1 - share) * largest[one[2]]:
            continue
        if not any(one[2] == other[2] and one[1] @ other[1] > 1 - 1e-9 for other in kept):
            kept.append(one)
    U = np.array([one[1] for one in kept]).reshape(len(kept), X.shape[1])
    return Neurons(U, np.array([one[2] for one in kept], dtype=int)), [one[3] for one in kept]


def _vertex(
    X: np.ndarray, y: np.ndarray, alpha: float, net: Neurons, room: np.ndarray, budget: Budget
) -> np.ndarray | None:
    """Weights of the directions within the room that make the smallest y_i f(x_i) largest, over it.

    A vertex of the linear program has no more weights that are not 0 than there are points (and
    one more with a pair).
    """
    from scipy.optimize import linprog

    t = X @ net.V.T
    H = y[:, None] * net.sign * np.maximum(t, alpha * t)
    largest = np.abs(H).max(initial=0.0)
    if largest == 0:
        return None
    owners = [np.ones(len(net.sign))] if budget == "sum" else [net.sign > 0, net.sign < 0]
    found = linprog(
        np.append(np.zeros(len(net.sign)), -1.0),
        A_ub=np.vstack(
            [np.column_stack([-H / largest, np.ones(len(X))]), np.column_stack([owners, 0 * room])]
        ),
        b_ub=np.concatenate([np.zeros(len(X)), room / room.sum()]),
        method="highs-ds",
    )
    if found.x is None or not found.x[-1] > 0:
        return None
    return found.x[:-1] / (found.x[-1] * largest)


def _newton(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    net: Neurons,
    leans: list[np.ndarray],
    lam: np.ndarray,
    budget: Budget,
) -> tuple[Neurons, np.ndarray] | None:
    rows = np.flatnonzero(lam > 1e-6 * lam.max())
    frames = [_along(X[on]) for on in leans]
    if any(frame.shape[1] == 0 for frame in frames):
        return None
    H = np.hstack(
        [
            _response(X[rows], y[rows], alpha, v, s, frame) * ~np.isin(rows, on)[:, None]
            for v, s, frame, on in zip(net.V, net.sign, frames, leans, strict=True)
        ]
    )
    ends = np.cumsum([frame.shape[1] for frame in frames])
    parts = [slice(end - frame.shape[1], end) for frame, end in zip(frames, ends, strict=True)]
    x = np.concatenate([frame.T @ v for v, frame in zip(net.V, frames, strict=True)])
    slope, _ = _size(x, parts, net.sign, budget)
    dual = lam[rows] / lam[rows].sum() * float(slope @ x)  # Σ λ_i = ⟨∇size, v⟩ at the optimum
    for _ in range(MOST_STEPS):
        slope, bend = _size(x, parts, net.sign, budget)
        residual = np.concatenate([H.T @ dual - slope, H @ x - 1])
        if np.abs(residual).max() < 1e-14:
            break
        matrix = np.block([[-bend, H.T], [H, np.zeros((len(rows), len(rows)))]])
        lengths = np.concatenate([np.full(p.stop - p.start, np.linalg.norm(x[p])) for p in parts])
        scale = np.concatenate([lengths, np.maximum(dual, 1e-3 * dual.max())])
        step = scale * np.linalg.lstsq(matrix * scale, -residual, rcond=1e-13)[0]
        share = np.abs(step[: len(x)]) / lengths
        step *= min(1.0, 0.5 / max(share.max(), 1e-300))  # no neuron turns around in one step
        x, dual = x + step[: len(x)], dual + step[len(x) :]
        if not (np.isfinite(x).all() and np.isfinite(dual).all() and dual.max() > 0):
            return None
    V = np.array([frame @ x[p] for frame, p in zip(frames, parts, strict=True)])
    whole = np.zeros(len(lam))
    whole[rows] = np.maximum(dual, 0)
    return Neurons(V, net.sign), whole / whole.sum()


def _along(rows: np.ndarray) -> np.ndarray:
    """Orthonormal columns that span what is perpendicular to all rows."""
    d = rows.shape[1]
    if len(rows) == 0:
        return np.eye(d)
    _, sizes, directions = np.linalg.svd(rows / np.linalg.norm(rows, axis=1)[:, None])
    return directions[int((sizes > 1e-7).sum()) :].T


def _response(
    X: np.ndarray, y: np.ndarray, alpha: float, v: np.ndarray, s: int, frame: np.ndarray
) -> np.ndarray:
    """What the coordinates of a neuron do to y_i f(x_i)."""
    return (y * s * np.where(X @ v > 0, 1.0, alpha))[:, None] * (X @ frame)


def _size(
    x: np.ndarray, parts: list[slice], sign: np.ndarray, budget: Budget
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of Σ‖v_g‖, or of half the sum of the squares of the two sums."""
    lengths = np.array([np.linalg.norm(x[part]) for part in parts])
    total = np.ones(len(parts))
    if budget == "pair":
        total = np.where(sign > 0, lengths[sign > 0].sum(), lengths[sign < 0].sum())
    slope, bend = np.zeros(len(x)), np.zeros((len(x), len(x)))
    for part, length, sum_ in zip(parts, lengths, total, strict=True):
        u = x[part] / length
        slope[part] = sum_ * u
        bend[part, part] = sum_ * (np.eye(len(u)) - np.outer(u, u)) / length
    if budget == "pair":
        for s in (1, -1):
            u = np.zeros(len(x))
            for part, length, sign_ in zip(parts, lengths, sign, strict=True):
                if sign_ == s:
                    u[part] = x[part] / length
            bend += np.outer(u, u)
    return slope, bend
