"""Networks of which it is known whether they are KKT points."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from tacit.data.figure_sets import lyu2021_left


class Case(NamedTuple):
    """A network, its data and the layers that are trained: the arguments of `helpers.kkt_of`."""

    W: np.ndarray
    a: np.ndarray
    X: np.ndarray
    y: np.ndarray
    alpha: float
    train: str = "both"


@pytest.fixture(scope="session")
def bent() -> Callable[[float], Case]:
    """The KKT point of lyu2021 I.1.1 whose decision boundary is not a line, with a dead neuron."""

    def case(alpha: float) -> Case:
        data = lyu2021_left(alpha)
        cot = data.parameters["cot_beta"]
        sin, cos = 1 / np.hypot(1, cot), cot / np.hypot(1, cot)
        a_1, a_3 = (2 * (1 + alpha) * cos) ** -0.5, -((1 + alpha) ** -0.5)
        W = [[a_1 * cos, a_1 * sin], [a_1 * cos, -a_1 * sin], [a_3, 0], [0, 0]]
        return Case(np.array(W), np.array([a_1, a_1, a_3, 0]), data.X, data.y, alpha)

    return case


@pytest.fixture(scope="session")
def straight() -> Callable[[float], Case]:
    """The linear KKT point of the same data, which has the largest margin (1 + α)/4."""

    def case(alpha: float) -> Case:
        data = lyu2021_left(alpha)
        return Case(np.array([[1.0, 0], [-1, 0]]), np.array([1.0, -1]), data.X, data.y, alpha)

    return case


@pytest.fixture(scope="session")
def random_case() -> Callable[..., Case]:
    """Small whole numbers: many boundary pairs, dead neurons, zero rows, either labels."""

    def case(rng: np.random.Generator, labels: str = "fitted") -> Case:
        n, d, m = rng.integers(3, 10), rng.integers(2, 6), rng.integers(2, 8)
        W, X = rng.integers(-1, 2, (m, d)), rng.integers(-2, 3, (n, d))
        W[0, 0] = 1
        a, alpha = rng.standard_normal(m), float(rng.choice([0, 0.2, 0.6]))
        train = str(rng.choice(["both", "first"]))
        f = np.maximum(X @ W.T, alpha * (X @ W.T)) @ a
        y = np.where(f > 0, 1, -1) if labels == "fitted" else rng.choice([-1, 1], n)
        return Case(W.astype(float), a, X.astype(float), y, alpha, train)

    return case
