"""All sign vectors of an arrangement on one side of its first hyperplane, vertex by vertex.

Every cell on the side x_1·w > 0 has one lowest vertex v on the slice x_1·w = 1: the one where
δx_2·w, δ²x_3·w, …, each with the sign it has in the cell, add up to the least, for δ small enough.
A vertex is where r − 1 further rows S vanish (r is the rank); in general position it is the lowest
of the cells with these signs σ:

    σ_j = sign(x_j·v) for j not in S,
    σ_k = any, for k in S before g, the first row from x_2 on that is not in S,
    σ_k = sign(a_k)·σ_g for k in S after g, where x_g = b x_1 + Σ_{k∈S} a_k x_k.

So each cell is met once. Where a_k is not surely different from 0, both signs are tried; where more
than r − 1 rows may vanish, `_decided` meets all cells around v. Nothing is missed, every vector is
that of some w, and sorting removes what was met twice. Faces are met in the same way, with 0 as
one more choice for σ_k; those with x_1·w = 0 are the faces of an arrangement of one rank less.

Floats with a bound on their error look at all vertices, in blocks; signs within the bound are
decided in integers (`exact_signs`), so the answers are exact.
"""

from collections.abc import Iterator
from itertools import chain, combinations, islice

import numpy as np

from tacit.numerics.exact_signs import adjugates, product_signs, scaled_floats, words_of_products
from tacit.numerics.float64 import EPS

BLOCK = 2**18
"""Numbers in one block of work."""


def candidates(A: np.ndarray, zeros: bool) -> Iterator[np.ndarray]:
    """Sign vectors with A[0] positive, in blocks: every one, some of them more than once."""
    n, r = A.shape
    if n == r:  # independent rows have all signs
        S = np.arange(1, n)[None]
        yield from _completed(np.eye(1, n, dtype=np.int8), S, np.zeros_like(S, np.int8), zeros)
        return
    U = scaled_floats(A)
    # Integers of many digits take more memory than floats, so fewer vertices at a time.
    piece = 1 + BLOCK // (n * r * r * words_of_products(A))
    for S in _subsets(n, r - 1):
        signs, forced, unsure = _vertices(U, S)
        look = unsure.any(axis=1)
        if not look.any():
            yield from _completed(signs, S, forced, zeros)
            continue
        yield from _completed(signs[~look], S[~look], forced[~look], zeros)
        rows = np.flatnonzero(look)
        for part in (rows[i : i + piece] for i in range(0, len(rows), piece)):
            yield from _decided(A, signs[part], S[part], unsure[part], zeros)


def _subsets(n: int, size: int) -> Iterator[np.ndarray]:
    """All subsets of rows 1, …, n − 1, in blocks."""
    numbers = combinations(range(1, n), size)
    step = max(1, BLOCK // max(n, size * size))
    while block := list(islice(numbers, step)):
        flat = np.fromiter(chain.from_iterable(block), dtype=np.intp, count=size * len(block))
        yield flat.reshape(-1, size)


def _vertices(U: np.ndarray, S: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(signs, forced, unsure): signs of all rows at the vertices S, and signs that S must have.

    0 in `forced` leaves the sign open. Where `unsure` is marked, `signs` may be wrong.
    """
    Y, error = _inverses(U[_with_first(S)])
    with np.errstate(all="ignore"):
        # The first column of the inverse is where x_1·w = 1 and the rows of S vanish.
        at = Y[:, :, 0] @ U.T
    np.put_along_axis(at, S, np.inf, axis=1)
    # Written so that nan, where the inverse failed, is unsure too.
    unsure = ~(np.abs(at) > error[:, None])
    signs = 2 * (at > 0).view(np.int8) - np.int8(1)
    np.put_along_axis(signs, S, 0, axis=1)
    g = 1 + (S == np.arange(1, S.shape[1] + 1)).sum(axis=1)
    with np.errstate(all="ignore"):
        a = np.einsum("mi,mik->mk", U[g], Y[:, :, 1:])
    sure = (np.abs(a) > error[:, None]) & (S > g[:, None])
    forced = np.where(sure, np.where(a > 0, 1, -1), 0).astype(np.int8)
    return signs, forced * np.take_along_axis(signs, g[:, None], axis=1), unsure


def _with_first(S: np.ndarray) -> np.ndarray:
    return np.column_stack([np.zeros(len(S), dtype=np.intp), S])


def _inverses(B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(Y, error): x Y as computed is within `error` of x B⁻¹, for any row x with entries up to 1.

    With R = I − BY, x B⁻¹ = x Y (I − R)⁻¹ differs from x Y by at most 2ρ‖xY‖₁ in each entry if ρ
    bounds the entries of R and rρ ≤ 1/2. The rounding of B, of R and of the products is in ρ.
    """
    r = B.shape[1]
    singular = np.zeros(len(B), dtype=bool)
    with np.errstate(all="ignore"):
        try:
            Y = np.linalg.inv(B)
        except np.linalg.LinAlgError:
            singular = np.linalg.slogdet(B)[0] == 0
            Y = np.linalg.inv(np.where(singular[:, None, None], np.eye(r), B))
        size = np.abs(Y).sum(axis=1)
        rho = np.abs(B @ Y - np.eye(r)).max(axis=(1, 2)) + (r + 6) * EPS * (1 + size.max(axis=1))
        error = 4 * rho * size.sum(axis=1)
    return Y, np.where((r * rho <= 0.5) & ~singular, error, np.inf)


def _completed(
    signs: np.ndarray, S: np.ndarray, forced: np.ndarray, zeros: bool
) -> Iterator[np.ndarray]:
    """`signs` with each choice for the rows S: what is forced, or any sign where nothing is."""
    n = signs.shape[1]
    patterns = (forced == 0) @ (1 << np.arange(S.shape[1]))
    for pattern in np.unique(patterns).tolist():
        rows = np.flatnonzero(patterns == pattern)
        free = [bool(pattern >> k & 1) for k in range(S.shape[1])]
        choices = _choices(free, zeros)
        step = max(1, BLOCK // (len(choices) * n))
        for part in (rows[i : i + step] for i in range(0, len(rows), step)):
            whole = np.repeat(signs[part][:, None], len(choices), axis=1)
            each, choice = np.arange(len(part))[:, None], np.arange(len(choices))
            for k in range(S.shape[1]):
                sign = 1 if free[k] else forced[part, k, None]
                whole[each, choice, S[part, k, None]] = choices[:, k] * sign
            yield whole.reshape(-1, n)


def _decided(
    A: np.ndarray, signs: np.ndarray, S: np.ndarray, unsure: np.ndarray, zeros: bool
) -> Iterator[np.ndarray]:
    """Sign vectors around the vertices S, whose unsure signs are decided in integers.

    For the k-th row of S let e_k be where it is 1, and x_1 and the rest of S vanish. The vectors
    are the signs at v + εt_1 e_1 + ε²t_2 e_2 + … for all t = ±1, with `zeros` for t = 0 too.
    """
    n, size = signs.shape[1], S.shape[1]
    J, regular = adjugates(A[_with_first(S)])  # v and the e_k, each times a positive number
    signs, S, unsure = signs[regular], S[regular], unsure[regular]
    i, j = np.nonzero(unsure)
    signs[i, j] = product_signs(A, J[:, :, :1], i, j)[:, 0]
    slopes = np.zeros((len(signs), size, n), dtype=np.int8)
    i, j = np.nonzero(signs == 0)
    slopes[i, :, j] = product_signs(A, J[:, :, 1:], i, j)
    if not zeros:
        enough = _in_order(signs == 0, slopes, S)
        signs, slopes = signs[enough], slopes[enough]
    choices = _choices([True] * size, zeros)
    step = max(1, BLOCK // (len(choices) * n))
    for part in (slice(i, i + step) for i in range(0, len(signs), step)):
        whole = np.repeat(signs[part][:, None], len(choices), axis=1)
        for k in range(size):
            whole += (whole == 0) * slopes[part, None, k] * choices[:, k, None]
        yield whole.reshape(-1, n)


def _in_order(flat: np.ndarray, slopes: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Where S is the first row that vanishes at v, then the first of those that do along e_1, …

    These meet every cell around v: on the slice where that first row is ±1, the cell of the rows
    that vanish at v has a vertex e_1; the rows that vanish there too have one less in rank.
    """
    enough = np.ones(len(S), dtype=bool)
    for k in range(S.shape[1]):
        enough &= flat.argmax(axis=1) == S[:, k]
        flat = flat & (slopes[:, k] == 0)
    return enough


def _choices(free: list[bool], zeros: bool) -> np.ndarray:
    """One row for each choice of factors: ±1 where free and else 1, with `zeros` 0 as well."""
    table = np.zeros((1, 0), dtype=np.int8)
    for is_free in free:
        factors = np.array([-1] * is_free + [0] * zeros + [1], dtype=np.int8)
        old = np.repeat(table, len(factors), axis=0)
        table = np.column_stack([old, np.tile(factors, len(table))])
    return table
