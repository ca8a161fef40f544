"""Extremal directions met by going up from many starts: in any dimension, without completeness."""

import numpy as np

from tacit.numerics._extremal_result import Direction, Extremal, in_order, scaled_rows, value_of
from tacit.numerics.arrangements import cells
from tacit.numerics.float64 import EPS
from tacit.numerics.pricing import climb
from tacit.numerics.tolerances import EXTREMAL


def met(X: np.ndarray, c: np.ndarray, alpha: float, seed: int, starts: int) -> Extremal:
    """The directions met by going up and down from several starts."""
    rows, exponents = scaled_rows(X)
    norms = np.linalg.norm(rows, axis=1)
    used = norms > 0
    U = rows / np.where(used, norms, 1.0)[:, None]
    weights = c / np.abs(c).max() * norms
    weights = np.ldexp(weights, exponents - exponents[used].max())
    weights /= np.abs(weights).sum()
    directions: list[Direction] = []
    for sign in (1, -1):
        for u in _starts(U, sign * weights, starts, np.random.default_rng(seed)):
            top = _ascend(U[used], sign * weights[used], alpha, u)
            if top is None or any(
                top[0] @ f.direction > EXTREMAL.same for f in directions if f.sign == sign
            ):
                continue
            w, doubtful = top
            sector = _signs(U, w).astype(np.int8)
            directions.append(Direction(w, value_of(X, c, alpha, w), sign, sector, doubtful))
    return Extremal(in_order(directions), False)


def _starts(U: np.ndarray, c: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """The sum of all c_i x_i and of those with c_i > 0, then points and random directions."""
    up = np.flatnonzero(c > 0)
    points = rng.permutation(up)[: count // 2]
    sums = [c @ U, c[up] @ U[up]]
    random = rng.standard_normal((max(count - len(points) - len(sums), 0), U.shape[1]))
    u = np.vstack([sums, U[points], random])[:count]
    norms = np.linalg.norm(u, axis=1)
    return u[norms > 0] / norms[norms > 0][:, None]


def _signs(U: np.ndarray, w: np.ndarray) -> np.ndarray:
    t = U @ w
    return np.where(np.abs(t) <= EXTREMAL.near, 0, np.sign(t))


def _ascend(
    U: np.ndarray, c: np.ndarray, alpha: float, u: np.ndarray
) -> tuple[np.ndarray, bool] | None:
    """A local maximum with G > 0 above u, and whether it is doubtful."""
    for _ in range(EXTREMAL.most_rounds):
        if U.size > EXTREMAL.large:
            u = _along_gradients(U, c, alpha, u)
        w, up, doubtful = _inspected(U, c, alpha, u)
        if up is not None:
            w, up, doubtful = _inspected(U, c, alpha, climb(U, c, alpha, u)[0])
        if up is None:
            return (w, doubtful) if np.linalg.norm(w) > 0 else None
        u = _stepped(U, w, up)
    return None


def _along_gradients(U: np.ndarray, c: np.ndarray, alpha: float, u: np.ndarray) -> np.ndarray:
    """Replace u by the direction of the gradient, again and again, as long as G grows."""
    best, value = u, -np.inf
    for _ in range(EXTREMAL.most_rounds):
        t = U @ u
        now = float(c @ np.maximum(t, alpha * t))
        g = np.where(t > 0, c, alpha * c) @ U
        length = float(np.linalg.norm(g))
        if now <= value + EPS:
            break
        best, value = u, now
        if length == 0:
            break
        u = g / length
    return best


def _inspected(
    U: np.ndarray, c: np.ndarray, alpha: float, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None, bool]:
    """(w, up, doubtful): the candidate in the sector of u and a way up from there, or none.

    w is 0 where nothing leads up. If w is in another sector, u itself and the way to w.
    """
    signs = _signs(U, u)
    zero = signs == 0
    g = np.where(signs > 0, c, np.where(signs < 0, alpha * c, 0.0)) @ U
    _, singular, V = np.linalg.svd(U[zero], full_matrices=False)
    V = V[singular > EXTREMAL.near]
    w = g - (g @ V.T) @ V
    length = np.linalg.norm(w)
    if length <= EXTREMAL.near:
        return np.zeros_like(w), None, False
    # Projected again: where w is short, the first projection leaves rounding errors of its size.
    w = (w - (w @ V.T) @ V) / length
    w /= np.linalg.norm(w)
    if (_signs(U, w) != signs).any():
        away = w - (w @ u) * u
        lost = np.linalg.norm(away) <= EXTREMAL.near  # at a minimum
        return (np.zeros_like(w), None, False) if lost else (u, away, False)
    up, doubtful = _way_up(U[zero], c[zero], alpha, (g @ V.T) @ V)
    return w, up, doubtful or bool(np.abs(U[~zero] @ w).min() < 10 * EXTREMAL.near)


def _way_up(
    U: np.ndarray, c: np.ndarray, alpha: float, q: np.ndarray
) -> tuple[np.ndarray | None, bool]:
    """v with F(v) = q·v + Σ c_i φ(u_i·v) > 0, or None; and whether that is doubtful.

    φ(z) is (1+α)z/2 + (1−α)|z|/2. Where c_i > 0, |z| is the larger of z and −z, so F is the largest
    of several functions b·v − Σ k_i|u_i·v|. Such a one is never positive if and only if b is a sum
    of t_i k_i u_i with |t_i| ≤ 1; otherwise v is what the nearest such sum leaves of b.
    """
    bend = c * (1 - alpha) / 2
    away, back = bend > 0, bend < 0
    if away.sum() > EXTREMAL.most_vanishing:
        return None, True
    q = q + (c * (1 + alpha) / 2) @ U
    choices = cells(U[away]) if away.any() else np.zeros((1, 0))
    doubtful = False
    for choice in choices:
        b = q + (choice * bend[away]) @ U[away]
        A = (bend[back, None] * U[back]).T
        if np.linalg.norm(_left_over(A, b, EXTREMAL.strictly)) > EXTREMAL.near:
            doubtful = True
            rest = _left_over(A, b, 1.0)
            if np.linalg.norm(rest) > EXTREMAL.near:
                return rest, False
    return None, doubtful


def _left_over(A: np.ndarray, b: np.ndarray, most: float) -> np.ndarray:
    """b − At for the best t with |t_i| ≤ most."""
    from scipy.optimize import lsq_linear

    if A.shape[1] == 0:
        return b
    # Bounds are active at the solution; the default, an interior method, only comes near them.
    return b - A @ lsq_linear(A, b, bounds=(-most, most), method="bvls").x


def _stepped(U: np.ndarray, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Go from w along v, half of the way to where another row vanishes."""
    t, change = np.abs(U @ w), np.abs(U @ v)
    ahead = (t > EXTREMAL.near) & (change > 0)
    step = min(float((t[ahead] / change[ahead]).min(initial=2.0)) / 2, 1 / float(np.linalg.norm(v)))
    u = w + step * v
    return u / np.linalg.norm(u)
