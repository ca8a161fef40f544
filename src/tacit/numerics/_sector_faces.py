"""All extremal directions in up to three dimensions: every face of the arrangement is looked at."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from tacit.numerics._extremal_result import (
    Direction,
    Extremal,
    in_order,
    scaled_rows,
    unit_vector,
    value_of,
)
from tacit.numerics.arrangements import faces
from tacit.numerics.exact_signs import distinct_lines, integer_rows
from tacit.numerics.float64 import EPS
from tacit.numerics.tolerances import EXTREMAL
from tacit.values.products import integer_product


@dataclass(frozen=True, eq=False)
class Flat:
    """X = 2^exponents · Y · basis, Y with at most three columns."""

    Y: np.ndarray
    exponents: np.ndarray
    basis: np.ndarray
    """Orthonormal rows that span the data."""
    exact: bool


def in_three(X: np.ndarray) -> Flat | None:
    """X in at most three dimensions, if it is."""
    n, d = X.shape
    used = X.any(axis=0)
    scaled, exponents = scaled_rows(X)
    # Eight random sums of rows span what all rows do, if that has at most three dimensions.
    mixed = scaled.T @ np.random.default_rng(0).standard_normal((n, 8))
    left, singular, _ = np.linalg.svd(mixed, full_matrices=False)
    basis = left[:, singular > EXTREMAL.flat * singular[0]].T
    if used.sum() <= 3 and _rank(_distinct(X[:, used])[0]) == len(basis):
        axes = np.zeros((used.sum(), d))
        axes[:, used] = np.eye(len(axes))
        return Flat(X[:, used], np.zeros(n, dtype=np.int64), axes, True)
    if len(basis) > 3:
        return None
    rows, back = np.unique(scaled, axis=0, return_inverse=True)  # equal rows stay equal
    Y = rows @ basis.T
    if np.abs(rows - Y @ basis).max() > EXTREMAL.flat:
        return None
    return Flat(Y[back.reshape(-1)], exponents, basis, False)


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
    flat: Flat, c: np.ndarray, alpha: float
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
    return 3 if integer_product(rows, _cross(rows[0], rows[1])).any() else 2


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


def enumerated(X: np.ndarray, c: np.ndarray, alpha: float, flat: Flat) -> Extremal:
    """Every sector is looked at, in floats first and in integers where these leave it open."""
    lines, first, line, turn = _lines(flat, c, alpha)
    if not lines.slopes.any():
        return Extremal([], True)
    signs = faces(flat.Y[first], most=EXTREMAL.most_signs // len(first))
    directions: list[Direction] = []
    complete = True
    for sign in (1, -1):
        G = lines.turned(sign)
        for s in signs[_plausible(G, signs, EXTREMAL.near)]:
            w = _decided(G, s)
            doubtful = not flat.exact and not _plausible(G, s[None], -EXTREMAL.near)[0]
            if w is not None:
                sector = np.where(turn != 0, s[line] * turn, 0).astype(np.int8)
                unit = unit_vector(w)[: len(flat.basis)] @ flat.basis
                unit /= np.linalg.norm(unit)
                directions.append(
                    Direction(unit, value_of(X, c, alpha, unit), sign, sector, doubtful)
                )
            complete &= w is not None or not doubtful
        if _falls_away(G, flat):
            w = _orthogonal(flat, lines.units)
            none = np.zeros(len(X), dtype=np.int8)
            directions += [Direction(side * w, 0.0, sign, none, not flat.exact) for side in (1, -1)]
    return Extremal(in_order(directions), complete)


def _falls_away(lines: _Lines, flat: Flat) -> bool:
    """The rows span all but one dimension, and G < 0 on their span but for 0, exactly."""
    if lines.rank != flat.basis.shape[1] - 1:
        return False
    for v in _rays(lines):
        z = integer_product(lines.rows, v)
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


def _orthogonal(flat: Flat, units: np.ndarray) -> np.ndarray:
    """The unit vector that is orthogonal to all rows."""
    rows = units[:, : len(flat.basis)] @ flat.basis
    return np.linalg.svd(np.linalg.qr(rows, mode="r"))[2][-1]


def _plausible(lines: _Lines, signs: np.ndarray, slack: float) -> np.ndarray:
    """Sectors in which floats find a maximum, the conditions loosened by `slack`."""
    kept = np.zeros(len(signs), dtype=bool)
    step = max(1, EXTREMAL.block // signs.shape[1])
    for start in range(0, len(signs), step):
        block = signs[start : start + step]
        zeros = (block == 0).sum(axis=1)
        for count in np.unique(zeros).tolist():
            if count < signs.shape[1]:  # otherwise w = 0
                rows = np.flatnonzero(zeros == count)
                kept[start + rows] = _plausible_with(lines, block[rows], count, slack)
    return kept


def _plausible_with(lines: _Lines, signs: np.ndarray, count: int, slack: float) -> np.ndarray:
    """`_plausible` for sectors with `count` zeros."""
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
        # The cross product of nearly parallel rows has lost its digits: then integers decide.
        known = length > 10 * EPS / EXTREMAL.near
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
        w = integer_product(Z[0], Z[0]) * g - integer_product(g, Z[0]) * Z[0]
    else:
        w = _cross(Z[0], Z[1] if lines.rank == 3 else _cross(U[0], U[1]))
        other = np.flatnonzero(signs)[0]
        w = w if (integer_product(U[other], w) > 0) == (signs[other] > 0) else -w
    at = integer_product(U, w)
    if ((at > 0).astype(int) - (at < 0) != signs).any():
        return None
    value = integer_product(g, w)
    if value <= 0 and not lines.full:
        return None
    for v in Z if len(Z) == 1 else (_cross(w, u) for u in Z):
        z, along = integer_product(Z, v), integer_product(g, v)
        for s in (1, -1):
            bend = (np.where(s * z > 0, up[zero], down[zero]) * z).sum()
            slope = s * (along + bend)
            if slope > 0 or (slope == 0 and value <= 0):
                return None
    return w


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    turns = ((1, 2), (2, 0), (0, 1))
    return np.array([a[i] * b[j] - a[j] * b[i] for i, j in turns], dtype=object)
