"""What moves a neuron: condition (9), and the gradient that the flow follows."""

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from tacit.numerics.least_squares import boxed_least_squares
from tacit.papers.wang2022.statements.sign_vectors import all_sign_vectors, sign_vector
from tacit.values import Dataset, Network

CANCELLED = 1e-12
"""Gradients, and their products with unit vectors, of this share of Σ‖x_n‖ are 0 but for
rounding."""


def matching_slacks(network: Network, data: Dataset) -> np.ndarray:
    """sign(a_k)·yᵀ(Xw_k)₊ / (‖w_k‖ Σ‖x_n‖) for every neuron: (9) holds where it is positive.

    What rounding leaves of pulls that cancel is 0.
    """
    pull = data.y @ np.maximum(data.X @ network.W.T, 0)
    sizes = np.linalg.norm(network.W, axis=1) * np.linalg.norm(data.X, axis=1).sum()
    slacks = np.sign(network.a) * pull / np.maximum(sizes, 1e-300)  # (9)
    return np.where(np.abs(slacks) <= CANCELLED, 0.0, slacks)


def flow_gradient(X: np.ndarray, c: np.ndarray, w: np.ndarray) -> np.ndarray:
    """XᵀD(w)c; on hyperplanes the shortest element of Clarke's subdifferential, as the flow has it.

    The paper takes D(w)_n = 0 where w·x_n = 0. A neuron that slides along the hyperplane then has a
    gradient that is not its velocity.
    """
    return flow_gradients(X, c)(w)


def flow_gradients(X: np.ndarray, c: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """`flow_gradient` as a function of w, for many w: few of them differ in their signs."""

    @cache
    def at(signs: bytes) -> np.ndarray:
        sigma = np.frombuffer(signs)
        return _shortest(X, c, sigma > 0, sigma == 0)

    return lambda w: at(sign_vector(X, w).tobytes())


def _shortest(X: np.ndarray, c: np.ndarray, active: np.ndarray, on: np.ndarray) -> np.ndarray:
    """The shortest gradient over the masks of the points in `on`.

    Points on one line share their mask: h for those ahead, 1 − h for those behind.
    """
    g = (c * active) @ X
    rows = np.flatnonzero(on & (c != 0) & X.any(axis=1))
    if not len(rows):
        return g
    unit = X[rows] / np.abs(X[rows]).max(axis=1)[:, None]  # whose squares do not underflow
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    columns = []
    while len(rows):
        along = unit @ unit[0]
        # Parallel up to rounding: points on one line share one slope (lyu2021 (40)).
        same = np.abs(along) > 1 - 1e-12
        same[0] = True
        pulls = c[rows[same], None] * X[rows[same]]
        columns.append(np.sign(along[same]) @ pulls)
        g = g + (along[same] < 0) @ pulls
        rows, unit = rows[~same], unit[~same]
    A = np.array(columns).T
    return g + A @ boxed_least_squares(A, -g, 0, 1)


@lru_cache(maxsize=16)
def gradient_lengths(data: Dataset) -> tuple[np.ndarray, np.ndarray] | None:
    """Lengths > 0 of g(σ, y/2) over all sign vectors σ, as in (24), and of the shortest gradients.

    None when there are too many σ.
    """
    signs = all_sign_vectors(data.X)
    if signs is None:
        return None
    c = data.y / 2
    printed = np.linalg.norm(((signs > 0) * c) @ data.X, axis=1)
    shortest = [float(np.linalg.norm(_shortest(data.X, c, s > 0, s == 0))) for s in signs]
    zero = zero_length(data)
    return _distinct(printed, zero), _distinct(np.array(shortest), zero)


def zero_length(data: Dataset) -> float:
    """Gradients that are no longer than this are 0 but for rounding."""
    return CANCELLED * float(np.linalg.norm(data.X, axis=1).sum())


def _distinct(lengths: np.ndarray, rounding: float) -> np.ndarray:
    """The lengths > 0 in order; of those that differ by rounding, one."""
    lengths = np.sort(lengths[lengths > rounding])
    return lengths[np.diff(lengths, prepend=-1.0) > rounding]
