"""Proofs that no network fits: each is checked with fractions, at many rational points."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.numerics.convex_program import convex_optimum
from tacit.numerics.infeasible import Proof, no_network_fits


def holds(
    X: np.ndarray, y: np.ndarray, alpha: float, proof: Proof, one_sign: int | None = None
) -> bool:
    """λ > 0 and Σ λ_i y_i φ(u·x_i) = 0 at many u (with one sign s: s times it is not positive)."""
    rng = np.random.default_rng(0)
    slope = Fraction(alpha)
    if not proof or min(proof.values()) <= 0:
        return False
    for u in rng.integers(-9, 10, size=(60, X.shape[1])).tolist():
        total = Fraction(0)
        for i, weight in proof.items():
            t = sum((Fraction(a) * b for a, b in zip(X[i].tolist(), u, strict=True)), Fraction(0))
            total += weight * int(y[i]) * (t if t > 0 else slope * t)
        if total != 0 and (one_sign is None or one_sign * total > 0):
            return False
    return True


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_the_three_causes(alpha: float, rng: np.random.Generator) -> None:
    X = rng.standard_normal((8, 3))
    y = np.array([1.0, 1, 1, 1, -1, -1, -1, -1])
    assert no_network_fits(X, y, alpha) is None
    ray = np.vstack([X, 4 * X[2]])
    zero = np.vstack([X, np.zeros(3)])
    a, b = X[0], X[1]
    pairs = np.array([a, -a, b, -b, -(a + b), a + b])
    exact = np.round(pairs * 1024) / 1024
    exact[4:] = [-(exact[0] + exact[2]), exact[0] + exact[2]]
    for points, labels, rows in (
        (ray, np.append(y, -1.0), {2, 8}),
        (zero, np.append(y, 1.0), {8}),
        (exact, np.array([1.0, -1, 1, -1, 1, -1]), set(range(6))),
    ):
        proof = no_network_fits(points, labels, alpha)
        assert proof is not None and set(proof) == rows
        assert holds(points, labels, alpha, proof)


def test_opposite_pairs_that_a_linear_function_tells_apart(rng: np.random.Generator) -> None:
    X = rng.standard_normal((3, 3))
    points, labels = np.vstack([X, -2 * X]), np.array([1.0, 1, 1, -1, -1, -1])
    assert no_network_fits(points, labels, 0.0) is None
    assert convex_optimum(points, labels).status == "certified"


def test_nearly_parallel_is_not_parallel() -> None:
    x = np.array([[0.1, 0.2, 0.3]])
    X = np.vstack([x, 3 * x])  # 3·0.1 is rounded: another ray
    assert no_network_fits(X, np.array([1.0, -1]), 0.0) is None
    X[1, 0] = np.nextafter(4 * X[0, 0], 1)
    X[1, 1:] = 4 * X[0, 1:]
    assert no_network_fits(X, np.array([1.0, -1]), 0.0) is None
    X[1, 0] = 4 * X[0, 0]
    assert no_network_fits(X, np.array([1.0, -1]), 0.0) == {0: Fraction(4 * 0.1), 1: Fraction(0.1)}


def test_any_unit(rng: np.random.Generator) -> None:
    X = np.vstack([rng.standard_normal((4, 2)), np.zeros((1, 2))])
    X[4] = -8 * X[1]
    X = np.vstack([X, 2 * X[4]])
    y = np.array([1.0, 1, 1, 1, 1, -1])
    for scale in (2.0**-900, 1.0, 2.0**900):
        proof = no_network_fits(X * scale, y, 0.0)
        assert proof is not None and set(proof) == {4, 5}
        assert holds(X * scale, y, 0.0, proof)


@pytest.mark.parametrize("sign", [1, -1])
def test_one_sign(sign: int, rng: np.random.Generator) -> None:
    X, y = rng.standard_normal((5, 2)), np.full(5, sign)
    assert no_network_fits(X, y, 0.0, (sign,)) is None
    y[3] = -sign
    proof = no_network_fits(X, y, 0.0, (sign,))
    assert proof == {3: 1}
    assert holds(X, y, 0.0, proof, one_sign=sign)
    assert no_network_fits(X, y, 0.5, (sign,)) is None


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_one_sign_of_many_points_is_decided_for_leaky(
    sign: int, scale: float, rng: np.random.Generator
) -> None:
    """Points that surround 0, and a point in the cone of others, in a space of ten dimensions."""
    X = scale * rng.standard_normal((60, 10))
    y = rng.choice([-1.0, 1.0], 60)
    proof = no_network_fits(X, y, 0.1, (sign,))
    assert proof is not None and holds(X, y, 0.1, proof, sign)
    X, y = np.abs(X), np.full(60, -sign)
    assert no_network_fits(X, y, 0.1, (sign,)) is None
    y[0], X[0] = sign, scale
    proof = no_network_fits(X, y, 0.1, (sign,))
    assert proof is not None and 0 in proof and holds(X, y, 0.1, proof, sign)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.sampled_from([-1.0, 1.0])),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([0.0, 0.5]),
)
def test_integers_in_the_plane(rows: list[tuple[int, int, float]], alpha: float) -> None:
    """Either a proof that holds, or a network that is found: nothing in between."""
    X = np.array([row[:2] for row in rows], dtype=float)
    y = np.array([row[2] for row in rows])
    proof = no_network_fits(X, y, alpha)
    if proof is None:
        assert convex_optimum(X, y, alpha).status == "certified"
    else:
        assert holds(X, y, alpha, proof)


def test_one_sign_of_output_weights_is_decided(rng: np.random.Generator) -> None:
    """Either there is a network, or λ that makes every neuron useless."""
    outcomes = set()
    for _ in range(24):
        n, d = (int(rng.integers(3, 9)), int(rng.integers(1, 4)))
        X, y = rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n)
        if rng.random() < 0.3:
            X = np.round(X) + 0.0
            X = X[X.any(axis=1)]
            y = y[: len(X)]
        if len(X) == 0:
            continue
        alpha, sign = float(rng.choice([0.01, 0.3, 0.9])), int(rng.choice([1, -1]))
        best = convex_optimum(X, y, alpha, signs=(sign,))
        outcomes.add(str(best.status))
        if best.status == "infeasible":
            assert best.proof is not None and holds(X, y, alpha, best.proof, sign)
        else:
            assert best.status == "certified" and (best.neurons.sign == sign).all()
    assert outcomes == {"certified", "infeasible"}


def test_what_fits_is_not_proved_impossible_for_one_sign() -> None:
    """f(x) = φ(x₁) and f(x) = φ(−x₁) fit; nothing is negative on both sides."""
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    assert no_network_fits(X, y, 0.5, (1,)) is None
    assert no_network_fits(X, -y, 0.5, (1,)) is None
    y = np.array([-1.0, -1.0])
    assert no_network_fits(X, y, 0.5, (1,)) is not None
    assert no_network_fits(X, y, 0.5, (-1,)) is None
