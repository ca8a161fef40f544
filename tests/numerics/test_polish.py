"""From nearly optimal to optimal, and from many neurons to few."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit.numerics.convex_program import bracket, convex_optimum
from tacit.numerics.neurons import Neurons, margins, size
from tacit.numerics.polish import fewer, newton, polish


@pytest.mark.parametrize("budget", ["sum", "pair"])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_an_optimum_that_was_shaken_is_found_again(
    alpha: float, budget: Any, rng: np.random.Generator
) -> None:
    X = rng.standard_normal((12, 3))
    y = np.sign(X[:, 0] * X[:, 1])
    best = convex_optimum(X, y, alpha, budget=budget)
    V = best.neurons.V
    shaken = Neurons(V * (1 + 1e-4 * rng.standard_normal(V.shape)), best.neurons.sign)
    lam = best.dual * (1 + 1e-5 * rng.standard_normal(len(X)))
    assert bracket(X, y, alpha, shaken, lam, budget=budget).gap > 1e-6
    values = [
        bracket(X, y, alpha, net, dual, budget=budget)
        for net, dual in polish(X, y, alpha, shaken, lam, budget)
    ]
    assert min(one.gap for one in values) < 1e-10
    for one in values:
        (lower, upper), (low, high) = one.objective_bounds, best.objective_bounds
        assert lower <= high * (1 + 1e-12) and upper >= low * (1 - 1e-12)


def test_nonsense_is_survived(rng: np.random.Generator) -> None:
    X = rng.standard_normal((12, 3))
    y = np.sign(X[:, 0])
    sign = np.repeat([1, -1], 10)
    for _ in range(10):
        net = Neurons(rng.standard_normal((20, 3)), sign)
        for one, dual in polish(X, y, 0.0, net, rng.random(12) ** 9, "sum"):
            assert np.isfinite(one.V).all()
            assert (dual >= 0).all() and dual.sum() == pytest.approx(1)


def test_points_that_ask_for_opposite_things_lead_nowhere() -> None:
    X, y = np.array([[-3.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), np.array([-1.0, 1.0, 1.0])
    net = Neurons(np.array([[-1.0, 0.0], [1.0, 1.0]]), np.array([-1, 1]))
    faces = [np.array([], dtype=int), np.array([2])]
    assert newton(X, y, 0.0, net, faces, np.array([0.1875, 0.5625, 0.25]), "sum") is None


def test_a_neuron_of_length_0_has_no_direction_to_be_corrected() -> None:
    """A warning of a division of 0 by 0 came to the terminal."""
    X, none = np.eye(2), np.zeros(0, dtype=int)
    net = Neurons(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([1, 1]))
    assert newton(X, np.ones(2), 0.0, net, [none, none], np.array([0.5, 0.5]), "sum") is None


@pytest.mark.parametrize("budget", ["sum", "pair"])
def test_fewer_neurons_do_the_same(budget: Any, rng: np.random.Generator) -> None:
    X = rng.standard_normal((6, 3)) * 10.0 ** rng.uniform(-3, 3, size=(6, 1))
    y = np.sign(rng.standard_normal(6))
    net = Neurons(rng.standard_normal((25, 3)), np.where(rng.random(25) < 0.5, 1, -1))
    smaller = fewer(X, y, 0.1, net, budget)
    assert len(smaller.sign) <= 6 + (budget == "pair")
    before, after = margins(X, y, 0.1, net)[0], margins(X, y, 0.1, smaller)[0]
    assert after == pytest.approx(before, rel=1e-8)
    assert size(smaller, budget) <= size(net, budget) * (1 + 1e-12)
    assert fewer(X, y, 0.1, smaller, budget) is smaller


@pytest.mark.parametrize("budget", ["sum", "pair"])
def test_many_neurons_take_few_decompositions(
    budget: Any, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of all neurons for each that goes took 3 s of 5, once a path had ended with 1,000."""
    X, y = rng.standard_normal((30, 5)), np.sign(rng.standard_normal(30))
    V = rng.standard_normal((1000, 5)) * 10.0 ** rng.uniform(-3, 3, size=(1000, 1))
    net = Neurons(V, np.where(rng.random(1000) < 0.5, 1, -1))
    made = []
    for name in ("qr", "svd"):
        real = getattr(np.linalg, name)
        monkeypatch.setattr(
            np.linalg, name, lambda *a, real=real, **b: made.append(1) or real(*a, **b)
        )
    smaller = fewer(X, y, 0.1, net, budget)
    assert len(made) <= 1000 // 30 and len(smaller.sign) <= 30 + (budget == "pair")
    before, after = margins(X, y, 0.1, net)[0], margins(X, y, 0.1, smaller)[0]
    assert after == pytest.approx(before, rel=1e-9)
    assert size(smaller, budget) <= size(net, budget) * (1 + 1e-12)
