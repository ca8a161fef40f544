"""lyu2021 A.5 and A.9 against a linear program over a fine grid of neurons."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from helpers import rest_long
from tacit.data import load
from tacit.geometry import check
from tacit.models import Leaky
from tacit.values import Check, Dataset

NAMES = {1: "lyu2021:assumptionA.5", -1: "lyu2021:assumptionA.9"}


def decided(data: Dataset, alpha: float, sign: int) -> Check:
    return check(data, properties=NAMES[sign], activation=Leaky(alpha)).properties[NAMES[sign]]


def by_grid(data: Dataset, alpha: float, sign: int) -> float | None:
    """γ − the best margin of nets of the other sign, on the points nearest to the separator."""
    x = np.where((data.y == sign)[:, None], data.X, alpha * data.X)
    angles = np.linspace(0, 2 * np.pi, 20001)
    u = np.column_stack([np.cos(angles), np.sin(angles)])
    margins = (data.y[:, None] * (x @ u.T)).min(axis=0)
    gamma = margins.max()
    if gamma <= 0:
        return None
    values = data.y * (x @ u[margins.argmax()])
    rows = values < gamma + 2e-3 * np.abs(data.X).max()
    t = data.X[rows] @ u.T
    H = -sign * data.y[rows][:, None] * np.maximum(t, alpha * t)
    n, m = H.shape
    best = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.column_stack([-H, np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=[np.append(np.ones(m), 0.0)],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
    )
    return float(gamma - best.x[-1]) / float(np.linalg.norm(data.X, axis=1).max())


@pytest.mark.parametrize(
    "alpha, sign", rest_long([(0.2, 1), (0.7, 1), (0.2, -1), (0.7, -1)], [(0.7, -1)])
)
def test_against_a_grid(alpha: float, sign: int, rng: np.random.Generator) -> None:
    seen = set()
    for _ in range(12):
        y = np.where(np.arange(6) < 3, 1, -1)
        X = y[:, None] * ([1.0, 0.0] + rng.normal(size=(6, 2)) * [0.5, 1.0])
        data = Dataset(X, y)
        expected, one = by_grid(data, alpha, sign), decided(data, alpha, sign)
        if expected is None:
            assert one.holds is None and "no neuron of that sign" in one.note
            continue
        assert one.slack - 2e-3 <= expected <= one.slack + one.error + 2e-3
        if abs(expected) > 5e-3:
            assert one.holds is (expected > 0)
            seen.add(one.holds)
    assert seen


@pytest.mark.parametrize("call", ["hinted", "hinted:seed=3", "lyu2021_right"])
@pytest.mark.parametrize("alpha", [0.5, 0.8])
def test_hints_make_it_hold(call: str, alpha: float) -> None:
    """App. A.2: on the two hints negative neurons reach αε, one positive neuron reaches ε."""
    data = load(call)
    one = decided(data, alpha, 1)
    assert one.holds is True and one.slack > 0
    flipped = decided(Dataset(data.X, -data.y), alpha, -1)
    assert flipped.holds is True


def test_the_data_may_have_any_scale() -> None:
    data = load("lyu2021_right")
    slack = decided(data, 0.5, 1).slack
    for factor in (1e-8, 1e8, 1e150):
        assert decided(Dataset(data.X * factor, data.y), 0.5, 1).slack == pytest.approx(slack)


def test_relu_is_not_spoken_of() -> None:
    one = decided(load("lyu2021_right"), 0.0, 1)
    assert one.holds is None and one.slack is None
