"""What cannot be meant as it is printed around Theorem 1."""

import math

import numpy as np

from tacit.certificates import two_layer_kkt
from tacit.data import load
from tacit.numerics.class_margin import class_margin
from tacit.theorems import Erratum, Evidence
from tacit.values import Network


def _span() -> Evidence:
    """The data of Fig. 1: ranks of the support examples, and whether (w₊, w₋) is a KKT point."""
    ranks, off = [], 0.0
    for seed in range(2):
        data = load(f"orthogonal:n=500,d=20,seed={seed}")
        plus, minus = (class_margin(data.X, data.y, label) for label in (1, -1))
        assert plus.w is not None and minus.w is not None
        assert plus.rank is not None and minus.rank is not None
        ranks += [plus.rank, minus.rank]
        sizes = np.sqrt([np.linalg.norm(plus.w), np.linalg.norm(minus.w)])
        W = np.array([plus.w / sizes[0], minus.w / sizes[1]])
        kkt = two_layer_kkt(data, Network(W, sizes * [1, -1]))
        off = max(off, kkt.stationarity, kkt.complementarity, kkt.feasibility)
    needless = max(ranks) < 20 and off < 1e-6
    words = (
        f"On the data of Fig. 1 (two seeds) the support examples span {min(ranks)} to {max(ranks)} "
        f"of 20 dimensions, and w₊ and w₋ are a KKT point all the same (off by {off:.0e})."
    )
    return Evidence("corrected" if needless else "printed", words)


def pentagon() -> np.ndarray:
    """Five unit vectors around a cone, 45° from its axis: all angles are acute."""
    angles = 2 * np.pi * np.arange(5) / 5
    return np.column_stack([np.cos(angles), np.sin(angles), np.ones(5)]) / math.sqrt(2)


def horn() -> np.ndarray:
    """Horn's matrix H: zᵀHz ≥ 0 for all z ≥ 0, though H has a negative eigenvalue."""
    steps = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    return np.where(np.minimum(steps, 5 - steps) == 1, -1.0, 1.0)


def _orthants() -> Evidence:
    """Points of one orthant, in any coordinates, have ⟨H, XXᵀ⟩ = Σ_j x_jᵀHx_j ≥ 0 (x_j columns)."""
    gram = pentagon() @ pentagon().T
    acute, product = float(gram.min()), float((horn() * gram).sum())
    counterexample = acute > 0 and product < -1e-9
    words = (
        f"Five points of R³ have pairwise inner products ≥ {acute:.3f}, and with their negatives "
        f"are orthogonally separable; ⟨Horn's matrix, their Gram matrix⟩ = {product:.3f} < 0 shows "
        "that no rotation puts them into one orthant."
    )
    return Evidence("corrected" if counterexample else "printed", words)


def _loss() -> Evidence:
    """One neuron on three positive points, ℓ'(q) = −1/(1+|q|)², in loss-normalised time."""
    X = np.array([[1.0, 0.2], [0.9, -0.3], [1.5, 1.0]])
    wanted = class_margin(X, np.ones(3), 1).w
    assert wanted is not None
    w = np.array([1.0, 0.5])  # balanced: a = ‖w‖ throughout
    angles = []
    for _ in range(3):
        for _ in range(2000):
            p = (1 + np.linalg.norm(w) * (X @ w)) ** -2.0
            w = w + 0.005 * np.linalg.norm(w) * (p @ X) / p.sum()
        cosine = w @ wanted / np.linalg.norm(w) / np.linalg.norm(wanted)
        angles.append(math.acos(min(float(cosine), 1.0)))
    stays = angles[-1] > 0.01 and abs(angles[-1] - angles[-2]) < 1e-3 * angles[-1]
    words = (
        "With ℓ'(q) = −1/(1+|q|)², which is bounded, Lipschitz and of the right sign, one neuron "
        f"on three positive points comes to rest {angles[-1]:.4f} rad from w₊, not at it."
    )
    return Evidence("corrected" if stays else "printed", words)


SPAN = Erratum(
    "The support examples of each class span R^d (§2), a hypothesis of Theorem 1.",
    "The directions need no span: by lyu2021 Theorems 3.1 and H.2 they are w₊ and w₋ when neurons "
    "of both signs survive. The data of Fig. 1 does not meet the hypothesis.",
    _span,
)
ORTHANTS = Erratum(
    "Orthogonally separable means that the two classes lie in opposite orthants (§2).",
    "Opposite orthants are sufficient, and in two dimensions necessary; in three they are not.",
    _orthants,
)
LOSS = Erratum(
    "The results hold for any loss with bounded, Lipschitz ℓ' and −y ℓ' > 0 (§2).",
    "Theorem 1 needs a loss with an exponential tail; with ℓ' ~ 1/q² all points have a say in the "
    "direction, not the support examples only.",
    _loss,
)
