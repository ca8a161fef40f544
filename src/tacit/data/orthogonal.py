"""Orthogonally separable data: acute angles within a class, none between classes."""

import numpy as np

from tacit.data._sampling import Points, between, train_and_test
from tacit.data.generators import generator
from tacit.messages import require
from tacit.values import Dataset


@generator("phuong2021 §5.1, Fig. 1 and Fig. 2")
def orthogonal(n: int = 500, d: int = 20, seed: int = 0, test: int = 0) -> Dataset:
    """Orthogonally separable Gaussian points in two opposite orthants, with x·z ≥ 0.

    z = (1, −1, 1, −1, …). A Gaussian x has label +1 if x > 0, −1 if x < 0 (coordinate by
    coordinate), is discarded otherwise, and also if x·z < 0; this keeps w₊ away from −w₋.

    The same distribution without rejection, which would accept one in 2^d: x = s·|g| with a
    random sign s, and where x·z < 0 the coordinates change places in pairs, which turns x·z into
    −x·z and leaves the distribution of |g| as it is.

    Ours: for odd d the last entry of z is 0, so that both labels stay equally likely (with z = (1)
    in one dimension every point would be positive).
    """
    return train_and_test(
        lambda k, r: _in_two_orthants(k, d, r), n, test, np.random.default_rng(seed)
    )


def _in_two_orthants(n: int, d: int, rng: np.random.Generator) -> Points:
    s = np.where(rng.random(n) < 0.5, 1, -1)
    X = s[:, None] * np.abs(rng.standard_normal((n, d)))
    even, odd = X[:, 0 : d - d % 2 : 2], X[:, 1::2]
    swap = np.flatnonzero((even - odd).sum(axis=1) < 0)  # x·z < 0
    even[swap], odd[swap] = odd[swap], even[swap]
    return X, s


@generator("wang2022 §2.1, Theorem 2")
def orthogonal_classes(
    n: int = 60, d: int = 3, classes: int = 3, spread: float = 0.9, seed: int = 0, test: int = 0
) -> Dataset:
    """Orthogonally separable data of K classes: x·x' > 0 within a class, < 0 between classes.

    Point i has class i mod K and lies within the angle ρ of the class's centre; the K centres are
    the vertices of a regular simplex, in a random position. Centres are 90° + arcsin(1/(K−1))
    apart, so ρ < ½ arcsin(1/(K−1)) guarantees the definition; ρ is `spread` times that.

    Ours: all of it (the paper has a definition, no data); the angle is uniform in [0, ρ], the
    length in [½, 1½]. Two classes give labels +1 and −1.
    """
    name, K = "orthogonal_classes", classes
    between(name, "classes", K, 2, 1000)
    require(d >= K - 1, f"{name}: d={d} must be at least classes − 1 = {K - 1}")
    require(K == 2 or n >= K, f"{name}: n={n} must be at least classes={K}")
    between(name, "spread", spread, 0, 0.99)
    rng = np.random.default_rng(seed)
    centres = _simplex(K, d, rng)
    rho = spread * np.arcsin(1 / (K - 1)) / 2

    def draw(k: int, r: np.random.Generator) -> Points:
        y = np.arange(k) % K
        return _around(centres[y], rho, r), y if K > 2 else 1 - 2 * y

    names = tuple(str(k) for k in range(K)) if K > 2 else ()
    return train_and_test(draw, n, test, rng, names)


def _simplex(K: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """K unit vectors (rows) in R^d with inner products −1/(K−1)."""
    # An orthonormal basis whose first vector is (1, …, 1)/√K; the others carry the simplex.
    basis, _ = np.linalg.qr(np.column_stack([np.ones(K), np.eye(K)[:, 1:]]))
    turn, _ = np.linalg.qr(rng.standard_normal((d, K - 1)))
    return np.sqrt(K / (K - 1)) * basis[:, 1:] @ turn.T


def _around(centres: np.ndarray, rho: float, rng: np.random.Generator) -> np.ndarray:
    """Draw for each centre (unit row) a point at an angle of at most ρ from it."""
    n = len(centres)
    angle, length = rng.uniform(0, rho, (n, 1)), rng.uniform(0.5, 1.5, (n, 1))
    sideways = rng.standard_normal(centres.shape)
    sideways -= np.sum(sideways * centres, axis=1, keepdims=True) * centres
    norms = np.linalg.norm(sideways, axis=1, keepdims=True)
    sideways /= np.where(norms > 0, norms, 1)  # 0 in one dimension: there is no sideways
    return length * (np.cos(angle) * centres + np.sin(angle) * sideways)
