"""The fixed sets of the papers have the properties the papers claim."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.data import GENERATORS, generate
from tacit.numerics.max_margin import max_margin
from tacit.values import Dataset


def output(X: np.ndarray, W: np.ndarray, a: np.ndarray, alpha: float) -> np.ndarray:
    """f(x) of a two-layer network."""
    Z = X @ W.T
    return np.maximum(Z, alpha * Z) @ a


def normalised_margin(data: Dataset, W: np.ndarray, a: np.ndarray, alpha: float) -> float:
    """q_min/‖θ‖²."""
    q = data.y * output(data.X, W, a, alpha)
    return float(q.min() / (np.sum(W**2) + np.sum(a**2)))


def kkt_network(beta: float, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """The three neurons of lyu2021 App. I.1.1."""
    cos, sin = np.cos(beta), np.sin(beta)
    a_1, a_3 = (2 * (1 + alpha) * cos) ** -0.5, -((1 + alpha) ** -0.5)
    W = np.array([[a_1 * cos, a_1 * sin], [a_1 * cos, -a_1 * sin], [a_3, 0]])
    return W, np.array([a_1, a_1, a_3])


def test_left_for_relu() -> None:
    data = generate("lyu2021_left:alpha=0")
    positive = np.array([[1, 1], [1, 0], [1, -1]])
    assert np.array_equal(data.X, np.vstack([positive, -positive]))
    assert np.array_equal(data.y, [1, 1, 1, -1, -1, -1])
    assert data.parameters["cot_beta"] == 1


@pytest.mark.parametrize("alpha", [0, 1e-9, 0.01, 0.1, 0.3, 0.5, 0.8, 0.99, 0.999999])
def test_left_is_a_kkt_point(alpha: float) -> None:
    data = GENERATORS["lyu2021_left"](alpha=alpha)
    beta, cot = data.parameters["beta"], data.parameters["cot_beta"]
    cos, sin = np.cos(beta), np.sin(beta)
    assert cot == pytest.approx(1 / np.tan(beta), rel=1e-12)
    equation = (2 * sin**2 + cos) * alpha**2 - (1 + cos) * alpha + np.cos(2 * beta)
    assert abs(equation) < 1e-14
    assert np.array_equal(data.X[:3], -data.X[3:])

    W, a = kkt_network(beta, alpha)
    q = data.y * output(data.X, W, a, alpha)
    assert q == pytest.approx(np.full(6, q[0]), rel=1e-9)  # all six share one output margin

    lambda_1 = sin**2 / (cos * (1 - alpha))
    multipliers = np.array([lambda_1, 0, lambda_1, 0, 1 - 2 * alpha * lambda_1, 0])
    assert multipliers.min() >= 0
    Z = data.X @ W.T
    masks = np.where(Z > 1e-9 * np.abs(Z).max(), 1, alpha)  # α on the boundary, too
    stationary = np.einsum("i,ik,k,id->kd", multipliers * data.y, masks, a, data.X)
    assert stationary == pytest.approx(W, abs=1e-9)


@pytest.mark.parametrize(("alpha", "kkt", "best"), [(0, 0.2071, 0.25), (0.5, 0.3561, 0.375)])
def test_left_is_suboptimal(alpha: float, kkt: float, best: float) -> None:
    data = GENERATORS["lyu2021_left"](alpha=alpha)
    W, a = kkt_network(data.parameters["beta"], alpha)
    assert normalised_margin(data, W, a, alpha) == pytest.approx(kkt, abs=5e-5)
    w_star = np.array([1.0, 0.0])  # Theorem 4.2: ½(w*, −w*, 1, −1)
    linear = normalised_margin(data, np.array([w_star, -w_star]), np.array([1.0, -1.0]), alpha)
    assert linear == pytest.approx(best)


def test_left_close_to_linear_activation() -> None:
    data = generate(f"lyu2021_left:alpha={np.nextafter(1, 0)}")
    assert 1e7 < data.parameters["cot_beta"] < 1e9


def test_middle_meets_its_assumptions() -> None:
    alpha = 0.5
    data = generate("lyu2021_middle")
    eps, c = data.parameters["eps"], data.parameters["c"]
    assert data.X.shape == (25, 3) and (data.X[:, 2] == c).all()
    positive = data.X[data.y > 0]
    assert set(positive[:, 1]) == {1, -1} and positive[:, 0].min() == eps
    negative = data.X[data.y < 0]
    assert set(negative[:, 1]) == {0} and negative[:, 0].max() == -data.parameters["eps_minus"]
    # A.2
    Z = data.y[:, None] * data.X
    gram = Z @ Z.T
    right = (1 - alpha) / alpha * np.maximum(-gram, 0).mean(axis=1)
    assert (gram.mean(axis=1) > right).all()
    # A.3
    plus, minus = np.where(data.y > 0, 1, alpha), np.where(data.y > 0, alpha, 1)
    assert np.linalg.norm(plus @ Z) > np.linalg.norm(minus @ Z)
    # A.5: the support of w⁺ is (ε, ±1, c), all positive.
    answer = max_margin(plus[:, None] * Z)
    assert answer.direction == pytest.approx(np.array([eps, 0, c]) / np.hypot(eps, c), abs=1e-6)
    reached = plus * (Z @ answer.direction)
    assert sorted(np.flatnonzero(reached < answer.margin_bounds.upper * 1.01)) == [0, 10]
    # Two neurons do better than one.
    one = normalised_margin(data, answer.direction[None], np.ones(1), alpha)
    v = np.array([[0.4, 0.9165, 0], [0.4, -0.9165, 0]])
    assert normalised_margin(data, v, np.linalg.norm(v, axis=1), alpha) > 1.5 * one


def test_right_is_hinted_and_suboptimal() -> None:
    alpha = 0.5
    data = generate("lyu2021_right")
    H, K, eps = (data.parameters[key] for key in ("H", "K", "eps"))
    assert np.array_equal(data.X[:3], [[H, 0], [eps, K], [eps, -K]])
    base = max_margin((data.y[:, None] * data.X)[3:])
    assert base.direction == pytest.approx([1, 0], abs=1e-9)
    one = normalised_margin(data, np.array([[1.0, 0.0]]), np.ones(1), alpha)
    assert one == pytest.approx(eps / 2)
    angles = np.linspace(0, np.pi / 2, 181)
    tilted = [np.array([[np.cos(t), np.sin(t)], [np.cos(t), -np.sin(t)]]) for t in angles]
    assert max(normalised_margin(data, W, np.ones(2), alpha) for W in tilted) > 1.02 * one


def test_wang_sets() -> None:
    f1, f2 = generate("wang2022_f1"), generate("wang2022_f2")
    assert np.array_equal(f1.X, [[1.65, -0.47], [-0.47, 1.35]]) and list(f1.y) == [1, -1]
    assert np.array_equal(f2.X, [[1.65, 0.47], [0.47, 1.35]]) and list(f2.y) == [1, 1]
    gram = f1.X @ f1.X.T
    assert gram[0, 1] < 0 < min(gram[0, 0], gram[1, 1])  # orthogonally separable
    # The neurons of (128), (130): each class alone, w = x/‖x‖²; both points at once.
    assert f1.X[0] / gram[0, 0] == pytest.approx([0.5606, -0.1597], abs=5e-5)
    assert f1.X[1] / gram[1, 1] == pytest.approx([-0.2300, 0.6607], abs=5e-5)
    assert np.linalg.solve(f2.X, [1, 1]) == pytest.approx([0.4386, 0.5881], abs=5e-5)
