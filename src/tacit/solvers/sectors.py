"""Extremal directions: where the neurons of a network near zero turn to (phuong2021 §4.1).

They are the strict local maxima and minima on the unit sphere of

    G(w) = Σ c_i φ(w·x_i),   φ(z) = max(z, αz).   (12)

Rows on one line through 0 are taken together: line ℓ, along its row u, adds `up`·(u·w) to G on its
positive side and `down`·(u·w) on the other. On a sector σ, G is linear with the gradient g, the sum
of up·u or down·u over the lines with σ ≠ 0. Its only candidate is the direction of P g, P the
projection onto L = {w in the span : u·w = 0 where σ = 0} (Lemma A.1), except that L may be a line,
whose two directions are candidates whatever G is there. Near a candidate w, for v ⟂ w,

    G(w + v) = G(w) + F(v),   F(v) = g·v + Σ_{σ=0} up·(u·v)₊ − down·(u·v)₋,

so with G(w) > 0 it is a strict maximum if and only if F ≤ 0 (the sphere's curvature does the
rest), and with G(w) ≤ 0 if and only if F < 0 for all v ≠ 0, which needs data that spans the space
(or all but one dimension, with w orthogonal to the data and G(v) < 0 for all v ≠ 0 in its span).
F is linear between the lines, so in up to three dimensions it is enough to look at the v along
which a line vanishes. In one dimension the sphere is two points; ours: only those with G > 0 count
as maxima, and with G < 0 as minima, as if there were more dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from tacit._types import BadInput
from tacit.solvers._exact_signs import EPS, distinct_lines, integer_rows
from tacit.solvers.arrangements import TooManyCells, cells, faces
from tacit.solvers.pricing import climb

NEAR = 1e-8
"""Relative to Σ|c_i|‖x_i‖. What fails by more has failed; the rest is decided in integers."""
FLAT = 1e-11
"""Data that has a rank of 3, 2 or 1 up to this, each row relative to its size, is taken to."""
MOST_ENTRIES = 2**28
"""Signs in all sectors together that are enumerated: 400 points in space, 8,000 in the plane."""
BLOCK = 2**21
"""Signs looked at together."""
LARGE = 1_000_000
"""Entries of X from which on the first steps up are cheap and long, so that less is met."""
MOST_ROUNDS = 40
"""Of going up from one start."""
MOST_SIGNS = 10
"""Rows that vanish and pull away from w, in the check of a direction found by going up."""


@dataclass(frozen=True, eq=False)
class Direction:
    """A strict local maximum or minimum of G."""

    direction: np.ndarray
    """w, a unit vector."""
    value: float
    """G(w)."""
    sign: int
    """+1: a maximum, a positive extremal direction. −1: a minimum, a negative one."""
    sector: np.ndarray
    """The signs of w·x_i, in {−1, 0, 1}."""
    doubtful: bool
    """Floats could not tell, and no exact arithmetic was done."""


@dataclass(frozen=True, eq=False)
class Extremal:
    """Extremal directions: maxima from the largest value on, then minima from the smallest on."""

    items: list[Direction]
    complete: bool
    """These are all, provably; otherwise they are those that were met."""

    @property
    def positive(self) -> list[Direction]:
        return [item for item in self.items if item.sign > 0]

    @property
    def negative(self) -> list[Direction]:
        return [item for item in self.items if item.sign < 0]


def extremal_directions(
    X: np.ndarray, c: np.ndarray, alpha: float = 0.0, seed: int = 0, starts: int = 40
) -> Extremal:
    """The strict local maxima and minima of Σ c_i φ(w·x_i) on the unit sphere (Definition 2).

    All of them when X has rank 3 at most and not too many sectors: the entries of up to three
    columns are taken as the rational numbers that they are, and nothing is left to rounding. With
    more columns, or where rounding alone seems to keep the rank up, X is first projected onto its
    span, and a direction is `doubtful` when changes of 1e-8 could matter. Beyond that, what is met
    when going up (with G > 0) and down (G < 0) from `starts` directions each; w·x_i = 0 and F ≤ 0
    then mean up to 1e-8 as well.
    """
    X, c = _checked(X, c, alpha)
    if not (X.any(axis=1) & (c != 0)).any():
        return Extremal([], True)
    flat = _in_three(X)
    if flat is not None:
        try:
            return _enumerated(X, c, alpha, flat)
        except TooManyCells:
            pass
    return _met(X, c, alpha, seed, starts)


def lemma_2(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The positive and the negative extremal sector of orthogonally separable data, for α = 0.

    None when the data is not orthogonally separable, or has one class only. Signs of inner
    products that floats cannot tell are decided exactly.
    """
    X, y = _checked(X, y, 0.0)
    if not np.isin(y, (-1, 1)).all():
        raise BadInput("labels must be −1 or +1")
    if len(np.unique(y)) < 2:
        return None
    below = np.zeros(len(X), dtype=bool)  # x_j·x_i < 0 for some i of the other class
    for rows, signs in _signs_of_products(X):
        same = y[rows, None] == y
        if (signs[same] <= 0).any() or (signs[~same] > 0).any():
            return None
        below[rows] = (signs < 0).any(axis=1)
    other = np.where(below, -1, 0)
    plus, minus = np.where(y > 0, 1, other), np.where(y < 0, 1, other)  # (13), (14)
    return plus.astype(np.int8), minus.astype(np.int8)


def _signs_of_products(X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """The signs of x_i·x_j, exactly, for blocks of rows i and all j."""
    scaled = _scaled(X)[0]
    n, d = X.shape
    step = max(1, BLOCK // n)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        gram, size = scaled[rows] @ scaled.T, np.abs(scaled[rows]) @ np.abs(scaled).T
        signs = np.sign(gram).astype(np.int8)
        unsure = np.abs(gram) <= (d + 4) * EPS * size + 1e-300  # what underflow may do
        if (size <= 1e-200).any():  # rows without a common column have the product 0
            unsure &= (X[rows] != 0).astype(float) @ (X != 0).astype(float).T > 0
        for i, j in np.argwhere(unsure):
            product = integer_rows(X[start + i, None])[0] @ integer_rows(X[j, None])[0]
            signs[i, j] = (product > 0) - (product < 0)
        yield rows, signs


def _checked(X: np.ndarray, c: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    X, c = np.asarray(X, dtype=np.float64), np.asarray(c, dtype=np.float64)
    if X.ndim != 2 or 0 in X.shape or c.shape != X.shape[:1]:
        raise BadInput(f"X has shape {X.shape} and c {c.shape}; they must be (n, d) and (n,)")
    if not (np.isfinite(X).all() and np.isfinite(c).all()):
        raise BadInput("X or c holds nan or inf; every entry must be a finite number")
    if not (math.isfinite(alpha) and alpha <= 1):
        raise BadInput(f"alpha={alpha} must be a number up to 1, since φ(z) = max(z, αz)")
    return X, c


def _scaled(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows divided by powers of two, their largest entries in [½, 1); and the exponents."""
    exponents = np.frexp(np.abs(X).max(axis=1))[1]
    return np.ldexp(X, -exponents[:, None]), exponents


# --- Up to three dimensions: every sector --------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Flat:
    """X = 2^exponents · Y · basis, Y with at most three columns."""

    Y: np.ndarray
    exponents: np.ndarray
    basis: np.ndarray
    """Orthonormal rows."""
    exact: bool


def _in_three(X: np.ndarray) -> _Flat | None:
    """X in at most three dimensions, if it is."""
    n, d = X.shape
    used = X.any(axis=0)
    scaled, exponents = _scaled(X)
    mixed = scaled.T @ np.random.default_rng(0).standard_normal((n, 8))
    left, singular, _ = np.linalg.svd(mixed, full_matrices=False)
    basis = left[:, singular > FLAT * singular[0]].T
    if used.sum() <= 3 and _rank(_distinct(X[:, used])[0]) == len(basis):
        return _Flat(X[:, used], np.zeros(n, dtype=np.int64), np.eye(d)[used], True)
    if len(basis) > 3:
        return None
    rows, back = np.unique(scaled, axis=0, return_inverse=True)  # equal rows stay equal
    Y = rows @ basis.T
    if np.abs(rows - Y @ basis).max() > FLAT:
        return None
    return _Flat(Y[back.reshape(-1)], exponents, basis, False)


def _distinct(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Integer rows in space, one for each line; the first row on it; line and turn of each row."""
    integers = integer_rows(Y)
    _, line, turn = distinct_lines(integers)
    used = np.flatnonzero(turn)
    first = used[np.unique(line[used], return_index=True)[1]]
    rows = np.zeros((len(first), 3), dtype=object)
    rows[:, : Y.shape[1]] = integers[first]
    return rows, first, line, turn


@dataclass(frozen=True, eq=False)
class _Lines:
    """G by lines: integers u, up and down (objects), and the same in floats with |u| = 1."""

    rows: np.ndarray
    up: np.ndarray
    down: np.ndarray
    units: np.ndarray
    slopes: np.ndarray
    """Two columns, up and down for `units`, with Σ max(|up|, |down|) = 1."""
    rank: int
    full: bool
    """The rows span the whole space."""

    def turned(self, sign: int) -> _Lines:
        """The lines of sign · G."""
        return replace(self, up=sign * self.up, down=sign * self.down, slopes=sign * self.slopes)


def _lines(
    flat: _Flat, c: np.ndarray, alpha: float
) -> tuple[_Lines, np.ndarray, np.ndarray, np.ndarray]:
    """The lines; the first row on each, the line of each row, and how it is turned (0: zero)."""
    rows, first, line, turn = _distinct(flat.Y)
    up, down = [Fraction(0)] * len(first), [Fraction(0)] * len(first)
    for i in np.flatnonzero(turn).tolist():
        k = line[i]
        at = next(j for j, value in enumerate(rows[k]) if value)
        weight = Fraction(float(flat.Y[i, at])) / rows[k, at] * Fraction(float(c[i]))
        weight *= Fraction(2) ** int(flat.exponents[i])
        same, other = weight, weight * Fraction(float(alpha))
        up[k] += same if turn[i] > 0 else other
        down[k] += other if turn[i] > 0 else same
    units, slopes = _floats(rows, up, down)
    common = math.lcm(*(value.denominator for value in up + down))
    whole = [np.array([int(v * common) for v in slope], dtype=object) for slope in (up, down)]
    rank = _rank(rows)
    full = rank == flat.basis.shape[1]
    return _Lines(rows, whole[0], whole[1], units, slopes, rank, full), first, line, turn


def _rank(rows: np.ndarray) -> int:
    """The rank of integer rows in space, no two on one line."""
    if len(rows) < 3:
        return len(rows)
    return 3 if (rows @ _cross(rows[0], rows[1])).any() else 2


def _floats(
    rows: np.ndarray, up: list[Fraction], down: list[Fraction]
) -> tuple[np.ndarray, np.ndarray]:
    """Units and slopes of `_Lines`, with nothing that could overflow on the way."""
    peaks = [max(map(abs, row)) for row in rows.tolist()]
    units = np.array([[v / p for v in row] for row, p in zip(rows.tolist(), peaks, strict=True)])
    norms = np.linalg.norm(units, axis=1, keepdims=True)
    sizes = [(a * p, b * p) for a, b, p in zip(up, down, peaks, strict=True)]
    largest = max(max(abs(a), abs(b)) for a, b in sizes)
    if largest == 0:  # opposite weights on every line
        return units / norms, np.zeros((len(rows), 2))
    slopes = np.array([[float(v / largest) for v in pair] for pair in sizes]) * norms
    return units / norms, slopes / np.abs(slopes).max(axis=1).sum()


def _enumerated(X: np.ndarray, c: np.ndarray, alpha: float, flat: _Flat) -> Extremal:
    """Every sector is looked at, in floats first and in integers where these leave it open."""
    lines, first, line, turn = _lines(flat, c, alpha)
    if not lines.slopes.any():
        return Extremal([], True)
    signs = faces(flat.Y[first], most=MOST_ENTRIES // len(first))
    found: list[Direction] = []
    complete = True
    for sign in (1, -1):
        G = lines.turned(sign)
        for s in signs[_plausible(G, signs, NEAR)]:
            w = _decided(G, s)
            doubtful = not flat.exact and not _plausible(G, s[None], -NEAR)[0]
            if w is not None:
                sector = np.where(turn != 0, s[line] * turn, 0).astype(np.int8)
                unit = _unit(w)[: len(flat.basis)] @ flat.basis
                unit /= np.linalg.norm(unit)
                found.append(Direction(unit, _value(X, c, alpha, unit), sign, sector, doubtful))
            complete &= w is not None or not doubtful
        if _falls_away(G, flat):
            w = _orthogonal(flat, lines.units)
            none = np.zeros(len(X), dtype=np.int8)
            found += [Direction(side * w, 0.0, sign, none, not flat.exact) for side in (1, -1)]
    return Extremal(_in_order(found), complete)


def _falls_away(lines: _Lines, flat: _Flat) -> bool:
    """The rows span all but one dimension, and G < 0 on their span but for 0, exactly."""
    if lines.rank != flat.basis.shape[1] - 1:
        return False
    for v in _rays(lines):
        z = lines.rows @ v
        if any((np.where(s * z > 0, lines.up, lines.down) * s * z).sum() >= 0 for s in (1, -1)):
            return False
    return True


def _rays(lines: _Lines) -> Iterator[np.ndarray]:
    """Integer vectors of the span along which all lines vanish that can, up to their signs."""
    U = lines.rows
    if lines.rank == 1:
        yield U[0]
    elif lines.rank == 2:
        yield from (_cross(u, _cross(U[0], U[1])) for u in U)
    else:
        yield from (_cross(u, v) for u, v in combinations(U, 2))


def _orthogonal(flat: _Flat, units: np.ndarray) -> np.ndarray:
    """The unit vector that is orthogonal to all rows."""
    rows = units[:, : len(flat.basis)] @ flat.basis
    return np.linalg.svd(np.linalg.qr(rows, mode="r"))[2][-1]


def _in_order(found: list[Direction]) -> list[Direction]:
    return sorted(found, key=lambda item: (-item.sign, -item.sign * item.value))


def _unit(w: np.ndarray) -> np.ndarray:
    """Integers as a unit vector of floats."""
    peak = max(map(abs, w.tolist()))
    unit = np.array([value / peak for value in w.tolist()])
    return unit / np.linalg.norm(unit)


def _value(X: np.ndarray, c: np.ndarray, alpha: float, w: np.ndarray) -> float:
    """G(w)."""
    rows, exponents = _scaled(X)
    t = rows @ w
    top = int(exponents[X.any(axis=1)].max())
    largest = float(np.abs(c).max())
    terms = np.ldexp(c / largest * np.maximum(t, alpha * t), exponents - top)
    with np.errstate(over="ignore"):  # what no float can hold is inf
        return float(np.ldexp(terms.sum(), top) * largest)


def _plausible(lines: _Lines, signs: np.ndarray, slack: float) -> np.ndarray:
    """Sectors in which floats find a maximum, the conditions loosened by `slack`."""
    kept = np.zeros(len(signs), dtype=bool)
    step = max(1, BLOCK // signs.shape[1])
    for start in range(0, len(signs), step):
        block = signs[start : start + step]
        zeros = (block == 0).sum(axis=1)
        for count in np.unique(zeros).tolist():
            if count < signs.shape[1]:  # otherwise w = 0
                rows = np.flatnonzero(zeros == count)
                kept[start + rows] = _plausible_with(lines, block[rows], count, slack)
    return kept


def _plausible_with(lines: _Lines, signs: np.ndarray, count: int, slack: float) -> np.ndarray:
    """The same for sectors with `count` zeros."""
    U, (up, down) = lines.units, lines.slopes.T
    g = (signs > 0) @ (up[:, None] * U) + (signs < 0) @ (down[:, None] * U)
    at = np.nonzero(signs == 0)[1].reshape(len(signs), count)
    if count == 0 or count < lines.rank - 1:
        w = g if count == 0 else g - (g * U[at[:, 0]]).sum(axis=1)[:, None] * U[at[:, 0]]
        inside = (w @ U.T) * signs
        good = (np.where(signs == 0, np.inf, inside) >= -slack).all(axis=1)
        known = np.ones(len(w), dtype=bool)
    else:
        w = np.cross(U[at[:, 0]], U[at[:, 1]] if lines.rank == 3 else np.cross(U[0], U[1]))
        length = np.linalg.norm(w, axis=1)
        known = length > 10 * EPS / NEAR
        w /= np.where(known, length, 1.0)[:, None]
        inside = (w @ U.T) * signs
        w *= np.where(inside.sum(axis=1) < 0, -1.0, 1.0)[:, None]
        good = (np.where(signs == 0, np.inf, np.abs(inside)) >= -slack).all(axis=1)
        if not lines.full:
            good &= (g * w).sum(axis=1) >= -slack
    if not lines.full:
        good &= g.any(axis=1)  # no point is active
    if count:
        v = U[at] if count == 1 else np.cross(w[:, None], U[at])
        along = np.einsum("mjc,mc->mj", v, g)
        z = np.einsum("mjc,mlc->mjl", v, U[at])
        bend = [np.where(s * z > 0, up[at][:, None], down[at][:, None]) * s * z for s in (1, -1)]
        for s, terms in zip((1, -1), bend, strict=True):
            good &= (s * along + terms.sum(axis=2) <= slack).all(axis=1)
    return good | ~known if slack > 0 else good & known


def _decided(lines: _Lines, signs: np.ndarray) -> np.ndarray | None:
    """The maximum in this sector, in integers, if there is one."""
    U, up, down = lines.rows, lines.up, lines.down
    g = (np.where(signs > 0, up, np.where(signs < 0, down, 0))[:, None] * U).sum(axis=0)
    zero = np.flatnonzero(signs == 0)
    Z = U[zero]
    if len(Z) == 0:
        w = g
    elif len(Z) == 1 and lines.rank == 3:
        w = (Z[0] @ Z[0]) * g - (g @ Z[0]) * Z[0]
    else:
        w = _cross(Z[0], Z[1] if lines.rank == 3 else _cross(U[0], U[1]))
        other = np.flatnonzero(signs)[0]
        w = w if (U[other] @ w > 0) == (signs[other] > 0) else -w
    at = U @ w
    if ((at > 0).astype(int) - (at < 0) != signs).any():
        return None
    value = g @ w
    if value <= 0 and not lines.full:
        return None
    for v in Z if len(Z) == 1 else (_cross(w, u) for u in Z):
        z = Z @ v
        for s in (1, -1):
            slope = s * (g @ v + (np.where(s * z > 0, up[zero], down[zero]) * z).sum())
            if slope > 0 or (slope == 0 and value <= 0):
                return None
    return w


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    turns = ((1, 2), (2, 0), (0, 1))
    return np.array([a[i] * b[j] - a[j] * b[i] for i, j in turns], dtype=object)


# --- Any dimension: what is met when going up ----------------------------------------------------


def _met(X: np.ndarray, c: np.ndarray, alpha: float, seed: int, starts: int) -> Extremal:
    """Up and down from several directions."""
    rows, exponents = _scaled(X)
    norms = np.linalg.norm(rows, axis=1)
    used = norms > 0
    U = rows / np.where(used, norms, 1.0)[:, None]
    weights = c / np.abs(c).max() * norms
    weights = np.ldexp(weights, exponents - exponents[used].max())
    weights /= np.abs(weights).sum()
    found: list[Direction] = []
    for sign in (1, -1):
        for u in _starts(U, sign * weights, starts, np.random.default_rng(seed)):
            top = _ascend(U[used], sign * weights[used], alpha, u)
            if top is None or any(
                top[0] @ f.direction > 1 - 1e-10 for f in found if f.sign == sign
            ):
                continue
            w, doubtful = top
            sector = _signs(U, w).astype(np.int8)
            found.append(Direction(w, _value(X, c, alpha, w), sign, sector, doubtful))
    return Extremal(_in_order(found), False)


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
    return np.where(np.abs(t) <= NEAR, 0, np.sign(t))


def _ascend(
    U: np.ndarray, c: np.ndarray, alpha: float, u: np.ndarray
) -> tuple[np.ndarray, bool] | None:
    """A local maximum with G > 0 above u, and whether it is doubtful."""
    for _ in range(MOST_ROUNDS):
        if U.size > LARGE:
            u = _along_gradients(U, c, alpha, u)
        w, up, doubtful = _inspected(U, c, alpha, u)
        if up is not None:
            w, up, doubtful = _inspected(U, c, alpha, climb(U, c, alpha, u)[0])
        if up is None:
            return (w, doubtful) if np.linalg.norm(w) > 0 else None
        u = _stepped(U, w, up)
    return None


def _along_gradients(U: np.ndarray, c: np.ndarray, alpha: float, u: np.ndarray) -> np.ndarray:
    """Again and again the direction of the gradient, as long as G grows."""
    best, value = u, -np.inf
    for _ in range(MOST_ROUNDS):
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
    V = V[singular > NEAR]
    w = g - (g @ V.T) @ V
    length = np.linalg.norm(w)
    if length <= NEAR:
        return np.zeros_like(w), None, False
    w = (w - (w @ V.T) @ V) / length
    w /= np.linalg.norm(w)
    if (_signs(U, w) != signs).any():
        away = w - (w @ u) * u
        lost = np.linalg.norm(away) <= NEAR  # at a minimum
        return (np.zeros_like(w), None, False) if lost else (u, away, False)
    up, doubtful = _way_up(U[zero], c[zero], alpha, (g @ V.T) @ V)
    return w, up, doubtful or bool(np.abs(U[~zero] @ w).min() < 10 * NEAR)


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
    if away.sum() > MOST_SIGNS:
        return None, True
    q = q + (c * (1 + alpha) / 2) @ U
    choices = cells(U[away]) if away.any() else np.zeros((1, 0))
    doubtful = False
    for choice in choices:
        b = q + (choice * bend[away]) @ U[away]
        A = (bend[back, None] * U[back]).T
        if np.linalg.norm(_left_over(A, b, 1 - 1e-6)) > NEAR:
            doubtful = True
            rest = _left_over(A, b, 1.0)
            if np.linalg.norm(rest) > NEAR:
                return rest, False
    return None, doubtful


def _left_over(A: np.ndarray, b: np.ndarray, most: float) -> np.ndarray:
    """b − At for the best t with |t_i| ≤ most."""
    from scipy.optimize import lsq_linear

    if A.shape[1] == 0:
        return b
    return b - A @ lsq_linear(A, b, bounds=(-most, most), method="bvls").x


def _stepped(U: np.ndarray, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """From w along v, half of the way to where another row vanishes."""
    t, change = np.abs(U @ w), np.abs(U @ v)
    ahead = (t > NEAR) & (change > 0)
    step = min(float((t[ahead] / change[ahead]).min(initial=2.0)) / 2, 1 / float(np.linalg.norm(v)))
    u = w + step * v
    return u / np.linalg.norm(u)
