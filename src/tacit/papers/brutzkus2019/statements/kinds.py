"""Networks as they see XOR and XORD points.

A network sees of a point only which of the four patterns it contains (App. C.1). So a kind of point
is a row of four booleans: XOR has the four kinds of one pattern each, a diverse positive point has
all four patterns and a diverse negative one has p₂ and p₄. All 15 kinds are in
`tacit.data.xord_kinds`.
"""

import numpy as np

from tacit.data.xor import PATTERNS
from tacit.values import Network

XOR_KINDS, XOR_LABELS = np.eye(4, dtype=bool), np.array([1, -1, 1, -1])
"""The points p₁, p₂, p₃, p₄ (the paper's x₁, x₄, x₃, x₂) and their labels."""
DIVERSE, DIVERSE_LABELS = np.array([[True] * 4, [False, True, False, True]]), np.array([1, -1])
"""x⁺ and x⁻ of §6."""


def outputs_by_kind(network: Network, kinds: np.ndarray) -> np.ndarray:
    """N_W of each kind of point (1), (2)."""
    z = np.maximum(network.W @ PATTERNS.T, 0)
    return np.where(kinds[:, None, :], z, 0).max(axis=2) @ network.a


def misclassified(network: Network, kinds: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Whether the output of each kind lacks the sign of its label."""
    return labels * outputs_by_kind(network, kinds) <= 0


def nearest_patterns(W: np.ndarray) -> np.ndarray:
    """arg max_l w·p_l of each neuron, counted from 0 (§6)."""
    return (W @ PATTERNS.T).argmax(axis=1)


def own_patterns(start: Network) -> np.ndarray:
    """XOR: i with j ∈ W_0⁺(i), i ∈ {1, 3}, or j ∈ U_0⁺(i), i ∈ {2, 4}; counted from 0."""
    first = np.where(start.a > 0, 0, 1)
    along = (start.W * PATTERNS[first]).sum(axis=1)
    return np.where(along > 0, first, first + 2)


def in_one(start: Network) -> np.ndarray:
    """XOR: which neurons are in one of these sets; one with w_0·x_i = 0 is in none."""
    first = np.where(start.a > 0, 0, 1)
    return np.asarray((start.W * PATTERNS[first]).sum(axis=1) != 0)


def one_is_nearest(W: np.ndarray, eta: float) -> np.ndarray:
    """Which neurons have their largest w·p_l at one l only, by more than steps of η round off."""
    z = np.sort(W @ PATTERNS.T, axis=1)
    return np.asarray(z[:, -1] - z[:, -2] > 1e-9 * eta)


def angles(W: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """The angles in radians between vectors of the plane; a zero vector is at π/2."""
    cross = W[..., 0] * towards[..., 1] - W[..., 1] * towards[..., 0]
    zero = ~W.any(axis=-1)
    return np.where(zero, np.pi / 2, np.arctan2(np.abs(cross), (W * towards).sum(axis=-1)))
