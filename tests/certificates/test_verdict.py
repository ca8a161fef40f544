"""Global verdicts: the known KKT points that are not the best, and networks that are."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.certificates import certify, optimum
from tacit.data import load


def bent(alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The KKT point of lyu2021 I.1.1 with a bent boundary, and its data."""
    data = load(f"lyu2021_left:alpha={alpha}")
    beta = np.arctan(1 / np.abs(data.X[:, 1]).max())
    a = (2 * (1 + alpha) * np.cos(beta)) ** -0.5
    third = (1 + alpha) ** -0.5
    W = np.array(
        [
            [a * np.cos(beta), a * np.sin(beta)],
            [a * np.cos(beta), -a * np.sin(beta)],
            [-third, 0.0],
        ]
    )
    return W, np.array([a, a, -third]), data.X, data.y


@pytest.mark.parametrize(
    "alpha, own, best", [(0.0, 0.2071068, 0.25), (0.5, 0.3561, 0.375), (0.2, None, 0.3)]
)
def test_a_kkt_point_that_is_not_the_best(alpha: float, own: float | None, best: float) -> None:
    found = certify(*bent(alpha), alpha)
    assert max(found.kkt.stationarity, found.kkt.complementarity) <= 1e-12
    assert found.is_kkt and found.optimality == "suboptimal"
    if own is not None:
        assert found.margin == pytest.approx(own, abs=5e-5)
    assert found.lower <= best * (1 + 1e-12) and found.upper >= best * (1 - 1e-12)
    assert found.upper - found.lower <= 1e-8 and found.gap > 0.01
    assert "not the global optimum" in found.verdict


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_the_linear_solution_is_the_best_on_symmetric_data(alpha: float) -> None:
    """lyu2021 Thm. 4.2."""
    data = load(f"lyu2021_left:alpha={alpha}")
    W, a = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    found = certify(W, a, data.X, data.y, alpha)
    assert found.is_kkt and found.optimality == "certified" and found.gap < 1e-9
    assert "global optimum" in found.verdict


def test_what_the_solver_finds_is_certified_by_its_own_kkt_multipliers(
    rng: np.random.Generator,
) -> None:
    """wang2022 Thm. 3: the optimum's λ is dual feasible, so no second search is needed."""
    X = rng.normal(size=(12, 3))
    y = np.sign(X[:, 0] * X[:, 1]).astype(int)
    for alpha in (0.0, 0.4):
        best = optimum(load_arrays(X, y), alpha).problems[0]
        found = certify(best.W, best.a, X, y, alpha)
        assert found.is_kkt and found.optimality == "certified"
        assert found.margin == pytest.approx(1 / (2 * best.upper), rel=1e-9)


def load_arrays(X: np.ndarray, y: np.ndarray):
    from tacit import Dataset

    return Dataset(X, y)


def test_scale_and_splitting_change_nothing(rng: np.random.Generator) -> None:
    W, a, X, y = bent(0.0)
    reference = certify(W, a, X, y)
    other = certify(np.vstack([W, W[:1]]) * 1e4, np.append(a, a[0]) * 1e4, X * 1e-8, y)
    assert other.optimality == reference.optimality
    split = certify(
        np.vstack([W[0] * 0.6, W[0] * 0.8, W[1:]]) * 3,
        np.concatenate([[0.6 * a[0], 0.8 * a[0]], a[1:]]) * 3,
        X * 1e8,
        y,
    )
    assert split.is_kkt and split.gap == pytest.approx(reference.gap, rel=1e-6)


def test_networks_that_are_nothing(rng: np.random.Generator) -> None:
    W, a, X, y = bent(0.0)
    wrong = certify(W, -a, X, y)
    assert not wrong.is_kkt and wrong.margin < 0 and "label" in wrong.verdict
    other = certify(W + 0.1 * rng.normal(size=W.shape), a, X, y)
    assert not other.is_kkt and other.optimality == "suboptimal"
    assert 0 < other.margin < other.lower


def test_no_network_fits() -> None:
    X, y = np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([1, -1])
    found = certify(np.array([[1.0, 0.0]]), np.array([1.0]), X, y)
    assert not found.is_kkt and found.upper == 0.0


def test_first_layer_only() -> None:
    """One neuron of each sign: PAR (sarussi2021 (7)), certified by the relaxed program."""
    data = load("gaussians:n=40,d=3")
    best = optimum(data, 0.3, "first", width=4, output_weight=0.5)
    assert best.status == "certified"
    problem = best.problems[0]
    found = certify(problem.W, problem.a, data.X, data.y, 0.3, "first")
    assert found.is_kkt and found.optimality == "certified"
    moved = certify(problem.W * [[1], [1], [2], [2]], problem.a, data.X, data.y, 0.3, "first")
    assert not moved.is_kkt and moved.optimality == "suboptimal"
