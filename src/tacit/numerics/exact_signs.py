"""Rows of floats as the exact rational numbers that they are: lines, rank, inverses, signs.

Positive factors of rows and any factors of columns do not change which signs Xw can have, so rows
become integers without common factors. Floats only look first; what they cannot tell is decided
in integer arithmetic.
"""

import math
from itertools import chain

import numpy as np

from tacit.numerics.float64 import EPS


def integer_rows(X: np.ndarray) -> np.ndarray:
    """Each row times the power of two that makes it integer, as an array of Python's integers."""
    rows = []
    for row in X.tolist():
        ratios = [value.as_integer_ratio() for value in row]
        common = max(below for _, below in ratios)  # all are powers of two
        rows.append([above * (common // below) for above, below in ratios])
    return _as_objects(rows, X.shape)


def distinct_lines(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(A, line, turn): row i is a positive multiple of turn[i] · A[line[i]], seen by signs.

    The rows of A are pairwise not parallel and oriented as the first of their kind; its columns
    span what those of `rows` span, up to factors. A row of zeros has turn 0.
    """
    factors = [math.gcd(*column) for column in rows.T.tolist()]
    rows = rows[:, [factor > 0 for factor in factors]]
    factors = [factor for factor in factors if factor]
    lines: dict[tuple[int, ...], int] = {}
    first: list[int] = []  # how the first row on each line is turned
    line, turn = np.zeros(len(rows), dtype=np.intp), np.zeros(len(rows), dtype=np.int8)
    for i, row in enumerate(rows.tolist()):
        if not any(row):
            continue
        row = [value // factor for value, factor in zip(row, factors, strict=True)]
        side = 1 if next(value for value in row if value) > 0 else -1
        common = side * math.gcd(*row)
        key = tuple(value // common for value in row)
        line[i] = lines.setdefault(key, len(lines))
        if line[i] == len(first):
            first.append(side)
        turn[i] = side * first[line[i]]
    signed = [[s * v for v in key] for key, s in zip(lines, first, strict=True)]
    return _as_objects(signed, (len(signed), len(factors))), line, turn


def rank_at_least(A: np.ndarray) -> int:
    """A lower bound of the rank: the singular values that rounding cannot have made."""
    if not A.size:
        return 0
    singular = np.linalg.svd(scaled_floats(A), compute_uv=False)
    # LAPACK's singular values are off by a small multiple of EPS of the largest.
    return int((singular > 32 * max(A.shape) * EPS * singular[0]).sum())


def with_full_rank(A: np.ndarray, at_least: int) -> np.ndarray:
    """Exactly as many independent columns of A as its rank, which is `at_least` that number."""
    if at_least < A.shape[1]:
        from scipy.linalg import qr

        order = qr(scaled_floats(A), mode="r", pivoting=True)[1].tolist()
        A = A[:, sorted(_pivots(A.tolist(), order))]  # columns that look independent come first
    return _compact(A)


def _pivots(M: list[list[int]], order: list[int]) -> list[int]:
    """Columns with a pivot in Bareiss' elimination, whose divisions leave no remainder."""
    pivots: list[int] = []
    before = 1
    for column in order:
        done = len(pivots)
        at = next((i for i in range(done, len(M)) if M[i][column]), None)
        if at is None:
            continue
        M[done], M[at] = M[at], M[done]
        top = M[done]
        pivot = top[column]
        # Bareiss: the pivot before divides these without remainder, so entries stay minors of M.
        for i in range(done + 1, len(M)):
            own = M[i][column]
            M[i] = [(pivot * v - own * t) // before for v, t in zip(M[i], top, strict=True)]
        before = pivot
        pivots.append(column)
    return pivots


def rank_modulo_primes(A: np.ndarray) -> int:
    """The rank of a matrix of integers, from eliminations modulo two primes.

    It is never too large, and too small only if both primes divide the same minors, a chance of
    about 1e-18 for each of them.
    """
    # Below 2³¹, so that products of two residues fit into 64 bits.
    return max(_rank_modulo(A, prime) for prime in (2**31 - 1, 2**31 - 19))


def _rank_modulo(A: np.ndarray, prime: int) -> int:
    M = (A % prime).astype(np.int64)
    rank = 0
    for column in range(M.shape[1]):
        rows = np.flatnonzero(M[rank:, column]) + rank
        if len(rows) == 0:
            continue
        M[[rank, rows[0]]] = M[[rows[0], rank]]
        top = M[rank, column:] * pow(int(M[rank, column]), -1, prime) % prime
        below = np.flatnonzero(M[rank + 1 :, column]) + rank + 1
        M[below, column:] = (M[below, column:] - M[below, column, None] * top) % prime
        rank += 1
        if rank == len(M):
            break
    return rank


def restricted(A: np.ndarray) -> np.ndarray:
    """The rows as functions on the hyperplane where the first one vanishes, in one dimension less.

    The first row itself becomes zero.
    """
    A = A.astype(object)
    pivot = int(np.flatnonzero(A[0])[0])
    size = abs(A[0, pivot])
    side = 1 if A[0, pivot] > 0 else -1
    return np.delete(A * size - A[:, pivot, None] * (side * A[0]), pivot, axis=1)


def scaled_floats(A: np.ndarray) -> np.ndarray:
    """Rows and columns of A times powers of two, the largest entry of each row below 1.

    An entry is wrong by at most EPS of itself, or by underflow: then by less than 1e-323.
    """
    flat = [value.bit_length() for row in A.tolist() for value in row]
    bits = np.array(flat, dtype=np.int64).reshape(A.shape)
    # 60 leading bits are more than the 53 of a float; int64 holds them.
    cut = np.maximum(bits - 60, 0)
    leading = A if not cut.any() else A.astype(object) >> cut.astype(object)
    size = np.where(bits > 0, bits, np.iinfo(np.int32).min)
    size = size - size.max(axis=0)
    exponent = cut - bits + size - size.max(axis=1, keepdims=True)
    # Beyond ±2000 ldexp gives 0 in any case, and the exponents must fit into an int32.
    exponent = np.clip(exponent, -2000, 2000).astype(np.int32)
    return np.where(bits > 0, np.ldexp(leading.astype(np.float64), exponent), 0.0)


def adjugates(B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(J, regular): J[i] = |det B[i]| · B[i]⁻¹ in integers, for those i where B[i] is regular.

    Elimination without fractions, above and below the pivots; every division is exact.
    """
    m, r, _ = B.shape
    regular = np.arange(m)
    before = np.ones(m, dtype=B.dtype)
    M = np.concatenate([B, np.broadcast_to(np.eye(r, dtype=np.int64).astype(B.dtype), B.shape)], 2)
    for k in range(r):
        nonzero = M[:, k:, k] != 0
        some = nonzero.any(axis=1)
        if not some.all():
            M, before, nonzero, regular = M[some], before[some], nonzero[some], regular[some]
        each, at = np.arange(len(M)), k + nonzero.argmax(axis=1)
        top = M[each, at]
        M[each, at] = M[:, k]
        pivot = top[:, k]
        # As in `_pivots`, for all matrices at once and above the pivots too.
        M = M * pivot[:, None, None] - M[:, :, k, None] * top[:, None, :]
        M //= before[:, None, None]
        M[:, k] = top
        before = pivot
    return M[:, :, r:] * np.sign(before)[:, None, None], regular


def product_signs(A: np.ndarray, V: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """The signs of A[j] V[i] for pairs of a matrix i and a row j."""
    product = (A[j][:, :, None] * V[i]).sum(axis=1)
    return (product > 0).astype(np.int8) - (product < 0).astype(np.int8)


def words_of_products(A: np.ndarray) -> int:
    """How many times more memory than a float the largest number of `adjugates` takes, at most."""
    return 1 if A.dtype == np.int64 else 5 + A.shape[1] * _bits(A) // 60


def _compact(A: np.ndarray) -> np.ndarray:
    """A in 64 bits if every number that `adjugates` and products meet fits into them."""
    r = A.shape[1]
    largest_minor = r * (_bits(A) + math.log2(max(r, 1)) / 2)  # Hadamard's bound, in bits
    # Before they are divided, numbers are differences of products of two minors.
    return A.astype(np.int64) if 2 * largest_minor < 60 else A


def _bits(A: np.ndarray) -> int:
    return max((value.bit_length() for value in chain.from_iterable(A.tolist())), default=0)


def _as_objects(rows: list[list[int]], shape: tuple[int, ...]) -> np.ndarray:
    A = np.empty(shape, dtype=object)
    if A.size:
        A[:] = rows
    return A
