"""Clusters of neurons, and how far a network is from the linear classifier of their means."""

from typing import NamedTuple

import numpy as np

from tacit.values import Network

MOST_PLANES = 200
MOST_ENTRIES = 4e7
"""Planes beyond so many, and beyond so many outputs of neurons at candidates, are left out."""


class Clusters(NamedTuple):
    """The means of the neurons of each sign, and how far the neurons are from them."""

    w: np.ndarray
    """w̄, the mean of the neurons w."""
    u: np.ndarray
    """ū, the mean of the neurons u."""
    radius: float
    """r, the largest distance of a neuron from its own mean."""

    @property
    def normal(self) -> np.ndarray:
        """The normal w̄ − ū of the linear boundary."""
        return self.w - self.u

    @property
    def relative(self) -> float:
        """r/‖w̄ − ū‖; NaN when both are 0."""
        distance = float(np.linalg.norm(self.normal))
        return self.radius / distance if distance > 0 else (np.inf if self.radius > 0 else np.nan)


def clusters(network: Network) -> Clusters:
    """w̄, ū and r of §5; a sign without neurons counts as one zero neuron."""
    groups = [network.W[network.a * sign > 0] for sign in (1, -1)]
    means = [g.mean(axis=0) if len(g) else np.zeros(network.W.shape[1]) for g in groups]
    far = [np.linalg.norm(g - mean, axis=1) for g, mean in zip(groups, means, strict=True)]
    return Clusters(means[0], means[1], float(max(d.max(initial=0.0) for d in far)))


def wrong_side(network: Network, X: np.ndarray, cosine: float) -> float:
    """How far N_W is on the wrong side of the linear classifier w̄ − ū, relative to Σ|a_k|‖w_k‖.

    Only directions count whose cosine with ±(w̄ − ū) is at least `cosine`, on the planes through
    w̄ − ū and a row of X. On such a plane nothing is missed: N_W is a sinusoid between the
    directions where a neuron is 0, and these arcs are shorter than π, so the sign of N_W is wrong
    somewhere iff it is wrong at one of these directions or at an end of the region. An output of
    0 is wrong except on the boundary; with `cosine` 0 it must be 0 there.
    """
    normal = clusters(network).normal
    lengths = np.linalg.norm(network.W, axis=1)
    size, length = float(np.abs(network.a) @ lengths), float(np.linalg.norm(normal))
    # What rounding leaves of means that are equal is no classifier.
    if size == 0 or length <= 1e-12 * lengths.max():
        return 0.0
    along = normal / length
    p = network.W @ along
    worst = 0.0
    edges = np.array([0.0, np.pi])
    if cosine <= 1:
        edge = np.arccos(cosine)
        edges = np.array([0.0, np.pi, edge, -edge, np.pi - edge, np.pi + edge])
    for across in _across(X, along, len(p)):
        q = network.W @ across
        turns = np.arctan2(-p, q)  # p cos θ + q sin θ = 0
        angles = np.concatenate([turns, turns + np.pi, edges])
        # The edges themselves belong to the region, though rounding may put them just outside.
        inside = np.abs(np.cos(angles)) >= cosine - 1e-12
        c, s = np.cos(angles[inside]), np.sin(angles[inside])
        Z = np.outer(c, p) + np.outer(s, q)
        phi = np.maximum(Z, network.alpha * Z)
        N = phi @ network.a
        on_the_line = np.abs(c) <= 1e-12
        wrong = np.where(on_the_line, np.abs(N), -np.sign(c) * N) / size
        # An output that is 0 up to rounding has no sign: then the cosine itself is what is wrong.
        silent = ~on_the_line & (np.abs(N) <= 1e-14 * np.abs(phi) @ np.abs(network.a))
        worst = max(worst, float(np.where(silent, np.abs(c), wrong).max(initial=0.0)))
    return worst


def _across(X: np.ndarray, along: np.ndarray, neurons: int) -> np.ndarray:
    """Unit vectors perpendicular to `along`, one for each row; one zero vector if there is none."""
    most = max(1, min(MOST_PLANES, int(MOST_ENTRIES / (2 * neurons**2))))
    X = X[np.linspace(0, len(X) - 1, min(len(X), most)).astype(int)]
    across = X - np.outer(X @ along, along)
    across -= np.outer(across @ along, along)
    sizes = np.linalg.norm(across, axis=1)
    # Points along the line leave nothing but rounding across it.
    chosen = sizes > 1e-9 * np.linalg.norm(X, axis=1)
    if not chosen.any():
        return np.zeros((1, X.shape[1]))
    return across[chosen] / sizes[chosen, None]
