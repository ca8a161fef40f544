"""Clusters of neurons: brute force over pairs, tiny angles, and Theorem 5.1 itself."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.measures import Snapshot, farthest
from tacit.measures.agreement import disagreements
from tacit.measures.clustering import (
    cluster_angle,
    cluster_radius,
    cluster_radius_relative,
    nonlinear_share,
)
from tacit.models import TwoLayer, output_signs
from tacit.models.losses import Logistic
from tacit.values import Dataset

V = 0.7


def fixed(W: np.ndarray, X: np.ndarray, alpha: float = 0.3) -> Snapshot:
    """The network of sarussi2021: half of the output weights are +v, half are −v."""
    a = V * np.asarray(output_signs(len(W)))
    data = Dataset(X, np.ones(len(X), dtype=int))
    return Snapshot(TwoLayer(alpha, "first"), Logistic(), {"W": W, "a": a}, data)


def clustered(rng: np.random.Generator, k: int, d: int, spread: float) -> np.ndarray:
    centres = rng.normal(size=(2, 1, d))
    return np.vstack([c + spread * rng.normal(size=(k, d)) for c in centres])


def test_radius_angle_and_share_by_loops(rng) -> None:
    W, X = clustered(rng, 4, 3, 0.2), rng.normal(size=(50, 3))
    s = fixed(W, X)
    w, u = W[:4].mean(axis=0), W[4:].mean(axis=0)
    r = max(math.dist(row, mean) for g, mean in ((W[:4], w), (W[4:], u)) for row in g)
    angle = max(
        math.acos(np.dot(p, q) / np.linalg.norm(p) / np.linalg.norm(q))
        for g in (W[:4], W[4:])
        for p, q in itertools.combinations(g, 2)
    )
    outside = [abs(np.dot(w - u, x)) < 2 * r * np.linalg.norm(x) for x in X]
    assert 0 < sum(outside) < 50
    assert cluster_radius(s) == pytest.approx(r, rel=1e-13)
    assert cluster_angle(s) == pytest.approx(angle, rel=1e-12)
    assert cluster_radius_relative(s) == pytest.approx(r / math.dist(w, u), rel=1e-12)
    assert nonlinear_share(s) == pytest.approx(sum(outside) / 50, abs=1e-15)


def test_test_points_count_in_the_share(rng) -> None:
    W, X, more = clustered(rng, 3, 2, 0.3), rng.normal(size=(20, 2)), rng.normal(size=(30, 2))
    s = fixed(W, X)
    data = Dataset(X, s.data.y, test=Dataset(more, np.ones(30, dtype=int)))
    with_test = Snapshot(s.model, s.loss, s.params, data)
    both = fixed(W, np.vstack([X, more]))
    assert nonlinear_share(with_test) == pytest.approx(nonlinear_share(both), abs=1e-15)


@settings(deadline=None, max_examples=150)
@given(
    st.integers(0, 2**32),
    st.integers(1, 5),
    st.integers(1, 4),
    st.sampled_from([1e-3, 0.1, 0.5, 2.0]),
    st.sampled_from([0.05, 0.5, 0.9]),
    st.booleans(),
)
def test_theorem_5_1(seed, k, d, spread, alpha, any_output) -> None:
    """Where |(w̄−ū)·x| ≥ 2r‖x‖, sign N(x) is the sign of the linear classifier (Leaky ReLU).

    Also when the output weights are not ±v, and when all of them have one sign.
    """
    rng = np.random.default_rng(seed)
    W = clustered(rng, k, d, spread)
    a = rng.normal(size=2 * k) if any_output else V * np.asarray(output_signs(2 * k))
    model = TwoLayer(alpha, "both" if any_output else "first")
    plus, minus = np.maximum(a, 0), np.maximum(-a, 0)
    normal = plus @ W - minus @ W
    for x in rng.normal(size=(20, d)):
        s = Snapshot(model, Logistic(), {"W": W, "a": a}, Dataset(x[None], [1]))
        z = W @ x
        f = np.where(z > 0, z, alpha * z) @ a
        if nonlinear_share(s) == 0 and abs(normal @ x) > 1e-12 * np.abs(W).sum():
            assert np.sign(f) == np.sign(normal @ x)


def test_trained_output_weights_count_with_their_size(look) -> None:
    """Three neurons of sizes 1, 3 and 2: A = 4, and the weighted mean is 4 · (1·w₁ + 3·w₂)/4."""
    s = look([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 3.0, -2.0], [[5.0, 1.0], [1.0, 3.0]])
    mean, other = np.array([1.0, 3.0]), np.array([2.0, 2.0])
    r = max(math.dist([4, 0], mean), math.dist([0, 4], mean))  # the one neuron u is its own mean
    assert cluster_radius_relative(s) == pytest.approx(r / math.dist(mean, other), rel=1e-14)
    assert cluster_radius(s) == pytest.approx(math.sqrt(0.5), rel=1e-14)


def test_theorem_5_1_fails_for_relu() -> None:
    """Inside the linear region a ReLU network can still be silent."""
    s = fixed(np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([[-1.0, 0.0]]), alpha=0.0)
    assert nonlinear_share(s) == 0 and s.outputs(s.data.X)[0] == 0


def test_a_perfectly_clustered_network_is_linear_everywhere(rng) -> None:
    s = fixed(np.repeat(rng.normal(size=(2, 3)), 5, axis=0), rng.normal(size=(40, 3)))
    assert cluster_radius(s) < 1e-15 and cluster_angle(s) < 1e-15 and nonlinear_share(s) == 0


@pytest.mark.parametrize("angle", [1e-12, 3e-9, 1e-4, 1.0, math.pi - 1e-9, math.pi])
def test_angles_are_accurate_at_both_ends(angle) -> None:
    """Cosines of tiny angles are all 1: the farthest pair must not be looked for among them."""
    turns = [0.0, angle / 3, angle, angle / 2]
    group = [[math.cos(t), math.sin(t)] for t in turns]
    lengths = np.array([1.0, 3.0, 0.5, 7.0])[:, None]
    W = np.vstack([lengths * group, np.tile([0.0, 1.0], (4, 1))])
    assert cluster_angle(fixed(W, np.eye(2))) == pytest.approx(angle, abs=3e-16, rel=1e-4)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e200])
def test_scales_of_weights_and_points(rng, scale) -> None:
    W, X = clustered(rng, 4, 3, 0.3), rng.normal(size=(30, 3))
    plain, scaled = fixed(W, X), fixed(scale * W, X / scale)
    assert cluster_radius(scaled) == pytest.approx(scale * cluster_radius(plain), rel=1e-12)
    for measure in (cluster_angle, cluster_radius_relative, nonlinear_share):
        assert measure(scaled) == pytest.approx(measure(plain), rel=1e-12)


def test_zero_neurons_and_missing_signs(look) -> None:
    assert cluster_angle(look([[0, 0], [1, 0], [0, 1]], [1, 1, 1])) == pytest.approx(math.pi / 2)
    assert cluster_angle(look([[0, 0], [1, 0]], [1, 1])) == 0
    one_sign = look([[2.0, 0.0]], [3.0], [[1.0, 1.0], [0.0, 1.0]])
    assert cluster_radius(one_sign) == cluster_radius_relative(one_sign) == 0
    assert nonlinear_share(one_sign) == 0
    zero = look(np.zeros((2, 2)), [1.0, -1.0])
    assert cluster_radius(zero) == 0 and math.isnan(cluster_radius_relative(zero))


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("spread", [1.0, 1e-7])
def test_the_farthest_pair_is_that_of_all_pairs(rng, monkeypatch, d, spread):
    monkeypatch.setattr(farthest, "MOST_AT_ONCE", 300)  # several blocks
    for _ in range(20):
        points = 1 + spread * rng.standard_normal((60, d)) * rng.exponential(size=(60, 1))
        apart = np.linalg.norm(points[:, None] - points, axis=2)
        i, j = farthest.farthest_pair(points)
        assert apart[i, j] == pytest.approx(apart.max(), rel=1e-9)


def test_many_neurons_take_no_matrix_of_all_pairs(rng):
    """100,000 neurons: a number of the same kind needs 80 GB, one that is missing needs nothing."""
    net = fixed(rng.standard_normal((100_000, 2)), np.eye(2))
    assert np.isnan(cluster_angle(net)) and disagreements(net) == 2
