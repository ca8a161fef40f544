"""Bounds of a node by a quadratic function, in whole numbers of 64 bits.

With t = p_k·u, and for any β > 0 in the first, and β|low|/2 ≤ x ≤ 1 − β·high/2 in the second,

    t₊ ≤ t/2 + βt²/2 + 1/(8β)         (rows with +, side unknown)
    −t₊ ≤ −βt²/2 − xt                 (rows with −, low ≤ t ≤ high; here ±‖p_k‖)

and rows with a known side have multipliers x ≥ 0 as with chords. All added up,
F(u) ≤ constant + g·u + ½µ − ½u·Su for every µ ≥ 0 and ‖u‖ ≤ 1, where S = µI ∓ Σβ p_k p_kᵀ. If
S + δI ⪰ LLᵀ, then g·u − ½u·Su ≤ ‖g − Lv‖ + ½‖v‖² + ½δ for every v. L and v are found in floats
and rounded; whatever they are, δ and the rest follow in whole numbers. So do β and x: those of the
file are rounded to valid ones, and what is checked is the bound that these give.

Rows are rounded to 30 bits, and so is what they are multiplied with, relative to the sum of it all:
nothing can become too long for 64 bits, and a bound loses about 1e-7 of that sum. It is meant for
parts of the ball that do not hold a maximum; chords, in numbers of any length, close the others.
"""

import math

import numpy as np

from tacit.proofs.entries import Rejected
from tacit.proofs.exact import Budget
from tacit.proofs.tree_reading import QuadraticRound
from tacit.values.products import integer_product

_BITS = 30
_MOST_ENTRIES = 1 << 25
"""Entries of all p_k p_kᵀ together (256 MB)."""
_AT_ONCE = 16
"""So many products of 64 bits take no longer than one of longer numbers."""


class Quadratics:
    """One sign: the rows p_k and b as whole numbers, which of the p_k count with +, and T."""

    def __init__(
        self,
        vectors: np.ndarray,
        gram: np.ndarray,
        up: list[bool],
        threshold: int,
        budget: Budget,
        where: str,
    ) -> None:
        self.up, self.threshold, self.budget, self.where = np.array(up), threshold, budget, where
        norms = [math.isqrt(gram[k, k]) + 1 if gram[k, k] else 0 for k in range(len(gram))]
        exponents = [norm.bit_length() for norm in norms]
        K, r = len(up), min(vectors.shape[1], len(gram))
        if K * r * r > _MOST_ENTRIES:
            raise Rejected(f"{where}: {K} rows in {r} dimensions are too many for quadratic bounds")
        budget.take(K * r * r // _AT_ONCE + len(gram) ** 3, f"{where}: the products of its rows")
        if r == vectors.shape[1]:
            fine = np.array(
                [row << 2 * _BITS >> e for row, e in zip(vectors, exponents, strict=True)]
            )
        else:
            fine = _coordinates(gram, exponents, where)
        self.rows = ((fine >> (_BITS - 1)) + 1 >> 1).astype(np.int64)  # ‖row‖ ≤ 2^30
        half = 1 << (_BITS - 1)
        self.products = np.empty((K, r * r), dtype=np.int64)
        for k, row in enumerate(self.rows[:K]):
            self.products[k] = (np.outer(row, row) + half >> _BITS).ravel()
        self.r, self.root = r, math.isqrt(r) + 1
        self.scale = threshold.bit_length()
        self.exponents = np.array(exponents) - self.scale
        """‖p_k‖ ≤ 2^exponent, in units of 2^scale, which is about T."""
        self.reach = np.array(
            [(n << _BITS >> e) + 1 for n, e in zip(norms, exponents, strict=True)]
        )[:K]
        self.peak = (threshold << 60 >> self.scale) / 2**60

    def closes(self, given: QuadraticRound, side: np.ndarray, place: str) -> bool:
        """Is F ≤ T for these multipliers?"""
        K, up = len(self.up), self.up
        if self.threshold <= 0:
            return False
        if len(given.values) != K or len(given.bends) != K - up.sum():
            raise Rejected(f"{place}: there must be {K} values and {K - up.sum()} bends")
        work = self.r * self.r * (K + self.r)
        self.budget.take(work // _AT_ONCE, f"{self.where}: its nodes")
        free, with_side = up & (side == 0), up & (side != 0)
        E = self.exponents[:K]
        bend = np.zeros(K)
        bend[free], bend[~up] = given.values[free], given.bends
        slope = np.where(free, 0.5, np.where(with_side, (side > 0) + given.values, given.values))
        with np.errstate(over="ignore", under="ignore"):
            bend = np.ldexp(bend / self.peak, 2 * E)
            sizes = [given.mu * self.peak, bend.sum(), np.ldexp(slope, E).sum()]
            total = float(sum(sizes) + np.ldexp(1.0, self.exponents[-1]))
            if not math.isfinite(total):
                return False
            J = math.frexp(total)[1]
            mu = math.floor(math.ldexp(given.mu * self.peak, _BITS - J))
            bends = np.floor(np.ldexp(bend, _BITS - J)).astype(np.int64)
            extra = np.floor(np.ldexp(given.values, E + _BITS - J).clip(0, 2**_BITS))
        tiny = self.exponents + _BITS - 1 < J  # no whole number is half of such a row's unit
        # They are left out, and count with all of their length instead.
        lost = sum(1 << max(int(e) - J + 60, 0) for e in self.exponents[tiny])
        one = np.left_shift(1, np.where(tiny, 0, np.minimum(self.exponents + _BITS - J, 31)))
        one[tiny] = 0
        bends[tiny[:K]] = 0
        slopes = np.append(self._slopes(extra.astype(np.int64), bends, one[:K], side), one[-1])
        if (bends[free & ~tiny[:K]] < 1).any() or (bends < 0).any():
            return False
        used = np.flatnonzero(free & (bends > 0)).tolist()
        # 1/(8β) in units of 2^(J − 60), rounded up: 87 = 60 − 3, and 30 for the bits of a bend.
        constant = sum(-(-(1 << 87 + 2 * (int(E[k]) - J)) // int(bends[k])) for k in used)
        weight = mu + int(bends.sum())
        if max(weight, int(np.abs(slopes).sum())) > 1 << 31:
            return False
        S = (np.where(up, -bends, bends) @ self.products).reshape(self.r, self.r)
        S[np.diag_indices(self.r)] += mu << _BITS
        bound = self._quadratic(S, slopes @ self.rows)
        if bound is None:
            return False
        bound += 2 * (constant + lost) + (mu << _BITS)
        bound += int(np.abs(slopes).sum()) * self.root  # rows were rounded …
        bound += int(bends.sum()) * (self.root + self.r // 2 + 2)  # … and their products
        shift = 61 - J - self.scale
        return bound <= (self.threshold << shift if shift >= 0 else self.threshold >> -shift)

    def _slopes(
        self, extra: np.ndarray, bends: np.ndarray, one: np.ndarray, side: np.ndarray
    ) -> np.ndarray:
        """What each p_k is multiplied with in g; x of rows with − is moved to where it is valid."""
        down = ~self.up
        least = -(-bends * self.reach >> 31)
        most = (one << 31) - bends * self.reach >> 31
        bends[down & (least > most)] = 0
        x = np.clip(extra, np.where(bends, least, 0), np.where(bends, most, one))
        active = np.where(side > 0, one, 0) + side * extra
        return np.where(down, -x, np.where(side == 0, one >> 1, active))

    def _quadratic(self, S: np.ndarray, g: np.ndarray) -> int | None:
        """Twice a bound of g·u − ½u·Su over the ball; None where S is not seen to be positive."""
        try:
            root = np.linalg.cholesky(S.astype(np.float64))
            v = np.linalg.solve(root, g.astype(np.float64))
        except np.linalg.LinAlgError:
            return None
        # So that L @ L.T and L @ v, and what S and g differ from them, fit into 63 bits.
        if not (np.linalg.norm(root, axis=1).max() < 1.6 * 2**30 and np.linalg.norm(v) < 2**30.9):
            return None
        L, v = np.rint(root).astype(np.int64), np.rint(v).astype(np.int64)
        error, rest = np.abs(S - L @ L.T), np.abs(g - L @ v)
        if max(error.max(), rest.max()) > 1 << 50:
            return None
        return int(error.sum(axis=1).max()) + int((v * v).sum()) + 2 * int(rest.sum())


def _coordinates(gram: np.ndarray, exponents: list[int], where: str) -> np.ndarray:
    """Rows C_k in few dimensions, 2^60 being 1, with CCᵀ − (p_k·p_l / 2^(e_k + e_l)) positive.

    Then all p_k·u with ‖u‖ ≤ 1 are C_k·v with ‖v‖ ≤ 1. That a matrix is positive is seen from its
    diagonal, which is larger than what is beside it.
    """
    K = len(gram)
    e = np.array(exponents, dtype=object)
    unit = (gram << 120) >> np.add.outer(e, e)
    near = np.array([[entry >> 60 for entry in row] for row in unit], dtype=np.float64) / 2**60
    # More than Cholesky's rounding and that of C below: C then exceeds the matrix for certain.
    near[np.diag_indices(K)] += (K + 8) ** 2 * 2.0**-50
    try:
        root = np.linalg.cholesky(near)
    except np.linalg.LinAlgError:
        raise Rejected(f"{where}: its rows have no coordinates") from None
    C = np.array([[int(x) for x in row] for row in np.rint(root * 2.0**60)], dtype=object)
    rest = integer_product(C, C.T) - unit
    diagonal = np.diag(rest)
    # 2K is more than `unit` lost when the K entries of a row were rounded down.
    if not (2 * diagonal >= np.abs(rest).sum(axis=1) + 2 * K).all():
        raise Rejected(f"{where}: its rows have no coordinates")
    return C
