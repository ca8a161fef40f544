"""The sign vectors sign(Xu) of a data set: each is an activation pattern, with 0 on hyperplanes."""

from functools import lru_cache

import numpy as np

from tacit.numerics.arrangements import TooManyCells, cover, faces
from tacit.theorems import Case
from tacit.theorems.hypotheses import by_slack, undecided
from tacit.values import Check

ON_HYPERPLANE = 1e-9
"""A neuron with |w·x| up to this share of ‖w‖‖x‖ is on the activation hyperplane of x."""
MOST_SIGN_VECTORS = 3000
"""Sign vectors up to which all of them are listed."""


def sign_vector(X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """sign(Xw), 0 on activation hyperplanes."""
    t = X @ w
    on = np.abs(t) <= ON_HYPERPLANE * np.linalg.norm(w) * np.linalg.norm(X, axis=1)
    return np.where(on, 0, np.sign(t))


def all_sign_vectors(X: np.ndarray) -> np.ndarray | None:
    """All sign(Xu), zeros included, as rows; None when there are too many."""
    return _faces(X.tobytes(), *X.shape)


@lru_cache(maxsize=16)
def _faces(entries: bytes, n: int, d: int) -> np.ndarray | None:
    X = np.frombuffer(entries).reshape(n, d)
    if X.size > MOST_SIGN_VECTORS:
        return None
    if cover(n, int(np.linalg.matrix_rank(X))) > MOST_SIGN_VECTORS:
        return None
    try:
        return faces(X, MOST_SIGN_VECTORS)
    except TooManyCells:
        return None


def without_zeros(signs: np.ndarray, X: np.ndarray) -> np.ndarray:
    """The rows that have no zeros, but for points that are 0."""
    return signs[((signs != 0) | ~X.any(axis=1)).all(axis=1)]


def few_sign_vectors(case: Case, place: str) -> Check:
    """There are so few sign vectors that all of them can be listed."""
    name, signs = "few_sign_vectors", all_sign_vectors(case.data.X)
    if signs is None:
        note = f"there may be more than {MOST_SIGN_VECTORS:,} sign vectors; they were not listed"
        return undecided(name, place, note)
    note = f"{len(signs)} sign vectors; at most {MOST_SIGN_VECTORS:,} are listed"
    return by_slack(name, 1 - len(signs) / MOST_SIGN_VECTORS, place, note)
