"""Proofs that no direction separates: λ ≥ 0, not zero, with Σ λ_i z_i = 0 (Farkas' lemma).

A floating-point λ makes that sum small, not zero. `farkas_proof` closes the distance by an argument
or by rational arithmetic: what it returns is a λ next to which an exact one provably exists; None
only says that nothing was proved.
"""

from fractions import Fraction

import numpy as np

from tacit.numerics.float64 import EPS
from tacit.numerics.tolerances import FARKAS


def farkas_proof(Z: np.ndarray, multipliers: np.ndarray) -> np.ndarray | None:
    """λ ≥ 0 of sum 1, near `multipliers`, that proves 0 to be in the convex hull of the rows."""
    proof = np.zeros(len(Z))
    zero_rows = np.flatnonzero(~Z.any(axis=1))
    if len(zero_rows):
        proof[zero_rows[0]] = 1
        return proof
    for share in FARKAS.shares:
        rows = np.flatnonzero(multipliers > share * multipliers.max())
        weights = _interior(_without_followers(Z[rows]), multipliers[rows])
        if weights is None and len(rows) <= FARKAS.most_exact_rows:
            weights = _exactly(Z[rows], multipliers[rows])
        if weights is not None:
            proof[rows] = weights / weights.sum()
            return proof
    return None


def _interior(Z: np.ndarray, multipliers: np.ndarray) -> np.ndarray | None:
    """λ > 0 on some rows with 0 well inside their hull; rows that do not fit are dropped."""
    rows = np.arange(len(Z))
    weights = multipliers
    for _ in range(FARKAS.most_tries):
        takes_part = _can_take_part(Z[rows])
        rows, weights = rows[takes_part], weights[takes_part]
        A = Z[rows]
        A = A[:, A.any(axis=0)]
        if len(rows) <= A.shape[1]:
            return None
        weights = _into_null_space(A, weights)
        if (weights > 0).all():
            whole = np.zeros(len(Z))
            whole[rows] = weights
            return whole if _certain(A, weights) else None
        rows, weights = rows[weights > 0], weights[weights > 0]
    return None


def _can_take_part(Z: np.ndarray) -> np.ndarray:
    """Where a column has one sign only, the rows that use it must have λ = 0; and so on."""
    alive = np.ones(len(Z), dtype=bool)
    while True:
        one_sign = (Z[alive] > 0).any(axis=0) ^ (Z[alive] < 0).any(axis=0)
        out = alive & (Z[:, one_sign] != 0).any(axis=1)
        if not out.any():
            return alive
        alive &= ~out


def _into_null_space(Z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The λ with Σ λ_i z_i = 0 whose entries change by the least shares (least squares)."""
    for _ in range(2):  # twice: the second time removes what rounding left
        Q, _ = np.linalg.qr(weights[:, None] * Z)
        weights = weights * (1 - Q @ Q.sum(axis=0))
    return weights


def _certain(Z: np.ndarray, weights: np.ndarray) -> bool:
    """Next to this λ > 0 there is an exact one.

    With rows b_i = λ_i z_i that span the space, some t with Σ t_i b_i = 0 has
    ‖t − 1‖ ≤ ‖Σ b_i‖ / σ_min(B); when that is below 1, t_i λ_i > 0 is an exact proof.
    """
    B = weights[:, None] * Z
    largest = np.abs(B).max()
    if largest == 0:
        return False
    B = B / largest
    singular = np.linalg.svd(B, compute_uv=False)
    smallest = singular[-1] - 16 * len(B) * EPS * singular[0]  # less the error of the SVD
    residual = np.linalg.norm(B.sum(axis=0))
    residual += (len(B) + 4) * EPS * np.linalg.norm(B, axis=1).sum()
    # The argument needs residual < smallest; half of it leaves room for the rounding of both.
    return bool(smallest > 0 and residual < smallest / 2)


def _without_followers(Z: np.ndarray) -> np.ndarray:
    """Z less columns that are sums of simple multiples of others, exactly: their Σ λ_i z_i follows.

    Without it a repeated column, or an indicator per category next to a constant, would leave no
    interior for `_certain`.
    """
    from scipy.linalg import qr

    Z = Z[:, Z.any(axis=0)]
    unit = Z / np.abs(Z).max(axis=0)
    # The Gram matrix only suggests which columns follow from others; fractions decide.
    R, order = qr(unit.T @ unit, mode="r", pivoting=True)
    sizes = np.abs(np.diag(R))
    rank = int((sizes > FARKAS.rank * sizes[0]).sum())
    basis, rest = order[:rank], order[rank:]
    if len(rest) == 0:
        return Z
    coefficients = np.linalg.lstsq(Z[:, basis], Z[:, rest], rcond=None)[0].T
    follows = [j for j, c in zip(rest, coefficients, strict=True) if _follows(Z, j, basis, c)]
    return np.delete(Z, follows, axis=1)


def _follows(Z: np.ndarray, j: int, basis: np.ndarray, coefficients: np.ndarray) -> bool:
    """Column j is the combination of the basis whose coefficients are fractions near these."""
    if not np.isfinite(coefficients).all():
        return False
    # Indicators, means and differences have such coefficients; the exact test refuses all others.
    simple = [Fraction(float(c)).limit_denominator(1000) for c in coefficients]
    terms = [(c, k) for c, k in zip(simple, basis, strict=True) if c]
    if len(terms) * len(Z) > FARKAS.most_products:
        return False
    return all(sum(c * Fraction(float(z[k])) for c, k in terms) == float(z[j]) for z in Z)


def _exactly(Z: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    """Rational arithmetic: solve Σ λ_i z_i = 0 for the λ of the pivot rows, the others kept."""
    # A rank that rounding has made too small only costs time: fractions then find λ = 0.
    if np.linalg.matrix_rank(Z) == len(Z):
        return None  # only λ = 0
    order = np.argsort(-weights)  # pivots on the largest weights: they change by the least share
    lam = [Fraction(float(weights[i])) for i in order]
    solved: dict[int, list[Fraction]] = {}  # pivot → its equation, without the other pivots
    for column in Z.T[:, order]:
        equation = [Fraction(float(value)) for value in column]
        for pivot, known in solved.items():
            equation = _less(equation, equation[pivot], known)
        new = next((i for i, value in enumerate(equation) if value), None)
        if new is None:
            continue
        if len(solved) == len(lam) - 1:
            return None  # only λ = 0 is left
        equation = [value / equation[new] for value in equation]
        solved = {pivot: _less(known, known[new], equation) for pivot, known in solved.items()}
        solved[new] = equation
    free = [i for i in range(len(lam)) if i not in solved]
    for pivot, equation in solved.items():
        lam[pivot] = -sum((equation[i] * lam[i] for i in free), Fraction(0))
    if min(lam) < 0:
        return None
    exact = np.zeros(len(lam))
    exact[order] = [float(value / max(lam)) for value in lam]
    return exact


def _less(a: list[Fraction], factor: Fraction, b: list[Fraction]) -> list[Fraction]:
    """The row a − factor·b."""
    return [x - factor * y for x, y in zip(a, b, strict=True)] if factor else a
