"""Arrangements of hyperplanes: the sign vectors sign(Xw), over all w, of the rows of X.

The hyperplanes x_i·w = 0 cut the space into cells. All are found, from the vertices where the
hyperplanes meet (`_vertices`); what floats cannot tell is decided in integers (`exact_signs`). The
length of a row plays no part.
"""

import math

import numpy as np

from tacit.numerics._packed_signs import gather, unpack, words_for
from tacit.numerics._vertices import BLOCK, candidates
from tacit.numerics.exact_signs import (
    distinct_lines,
    integer_rows,
    rank_at_least,
    restricted,
    with_full_rank,
)
from tacit.numerics.tolerances import ARRANGEMENT
from tacit.values import BadInput


class TooManyCells(BadInput):
    """An exact answer would take too much time or memory."""


def cells(X: np.ndarray, most: int = ARRANGEMENT.most_cells) -> np.ndarray:
    """The sign vectors of all cells, p × n with entries ±1, in lexicographic order (− before +).

    Exact for every finite X: its entries are taken as the rational numbers that they are. A row of
    zeros has sign 0 in every cell.
    """
    return _sign_vectors(_integers(X), False, most)


def faces(X: np.ndarray, most: int = ARRANGEMENT.most_cells) -> np.ndarray:
    """The sign vectors of all w, zeros included, in lexicographic order (− before 0 before +).

    These are the cells, their faces of every dimension, and the vector of zeros; exact as `cells`.
    """
    return _sign_vectors(_integers(X), True, most)


def cover(n: int, d: int) -> int:
    """Cover's count 2·Σ_{k<d} C(n−1, k): cells of n rows in general position in rank d.

    No n rows of rank d have more.
    """
    return 2 * sum(math.comb(n - 1, k) for k in range(d)) if n > 0 and d > 0 else 1


def _checked(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or 0 in X.shape:
        raise BadInput(f"X has shape {X.shape}; it must be (n, d), both at least 1")
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0].tolist()
        raise BadInput(
            f"X holds {X[row, column]} at row {row}, column {column} (counted from 0); "
            "every entry must be a finite number"
        )
    return X


def _integers(X: np.ndarray) -> np.ndarray:
    X = _checked(X)
    size = X.size * ARRANGEMENT.bytes_of_integer
    if size > ARRANGEMENT.most_bytes:
        raise TooManyCells(
            f"{len(X)} points in {X.shape[1]} dimensions would take {_gib(size)} as integers, "
            f"before any cell; {_gib(ARRANGEMENT.most_bytes)} are allowed: take fewer points "
            "or dimensions"
        )
    return integer_rows(X)


def _sign_vectors(rows: np.ndarray, zeros: bool, most: int | None = None) -> np.ndarray:
    """All cells, or with `zeros` all faces, of rows of integers."""
    A, line, turn = distinct_lines(rows)
    at_least = rank_at_least(A)
    if most is not None:  # first, since the rank of much data would take long
        _refuse_more(len(A), at_least, rows, zeros, most)
    A = with_full_rank(A, at_least)
    n, r = A.shape
    if most is not None:
        _refuse_more(n, r, rows, zeros, most)
    if n == 0:
        return np.zeros((1, len(rows)), dtype=np.int8)
    half = gather(candidates(A, zeros), n, zeros)
    middle = _sign_vectors(restricted(A), True) if zeros else np.empty((0, n), dtype=np.int8)
    p = len(half)
    out = np.empty((2 * p + len(middle), len(rows)), dtype=np.int8)
    out[p : p + len(middle)] = middle[:, line] * turn
    step = max(1, BLOCK // len(rows))
    repeated = len(rows) > n  # otherwise row i is line i, and turned as it is
    for start in range(0, p, step):
        block = unpack(half[start : start + step], n, zeros)
        if repeated:
            block = block[:, line] * turn
        last = len(out) - p + start
        out[last : last + len(block)] = block
        # −w has the opposite signs, and these come first in the lexicographic order, reversed.
        out[p - start - len(block) : p - start] = -block[::-1]
    return out


def _most_faces(n: int, r: int) -> int:
    """Faces of n rows in general position in rank r: choose k rows that vanish, then a cell."""
    return sum(math.comb(n, k) * cover(n - k, r - k) for k in range(r)) + 1


def _bytes_needed(count: int, n: int, lines: int, zeros: bool) -> int:
    """Memory at the peak: the answer, packed copies of its half while they are sorted, blocks."""
    return count * n + count // 2 * (40 * words_for(lines, zeros) + 16) + 64 * BLOCK


def _refuse_more(n: int, r: int, rows: np.ndarray, zeros: bool, most: int) -> None:
    """Raise if n hyperplanes of rank r, seen from `rows`, may have too many cells or faces."""
    count, what = cover(n, r), "cells"
    if zeros and count <= most:
        count, what = _most_faces(n, r), "faces"
    size = _bytes_needed(count, len(rows), n, zeros) + rows.size * ARRANGEMENT.bytes_of_integer
    if count > most or size > ARRANGEMENT.most_bytes:
        raise TooManyCells(
            f"{n} points of rank {r} can have {_number(count)} {what}, which would take "
            f"{_gib(size)}; {most:,} and {_gib(ARRANGEMENT.most_bytes)} are allowed: take fewer "
            "points or dimensions, or sample"
        )


def _number(count: int) -> str:
    return f"{count:,}" if count < 10**15 else f"10^{math.log10(count):.0f}"


def _gib(size: int) -> str:
    return f"{size / 2**30:.3g} GiB" if size < 2**60 else f"{_number(size >> 30)} GiB"
