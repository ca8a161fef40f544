"""The rectified ellipsoid of two points: closed forms against brute force and small programs."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tacit import Dataset
from tacit.geometry import check
from tacit.papers.wang2022 import rectified_ellipsoid as r

CASES = [np.random.default_rng(seed).standard_normal((2, 2)) for seed in range(8)]


@pytest.mark.parametrize("X", CASES)
def test_support_against_many_directions(X):
    L = r.on_circle(np.linspace(-np.pi, np.pi, 50))
    force = r.largest_by_force(X, L, 20_001)
    assert np.maximum(r.support(X, L), r.support(X, -L)) == pytest.approx(force, rel=1e-7)
    assert 1 / r.polar_radius(X, L) == pytest.approx(force, rel=1e-7)


@pytest.mark.parametrize("X", CASES)
def test_gauge_is_the_length_of_the_shortest_neuron(X):
    rng = np.random.default_rng(1)
    for z in (rng.random(2), np.array([0.7, 0.0]), np.array([0.0, 0.4])):
        rules = [
            {"type": "eq", "fun": lambda u, i=i, z=z: X[i] @ u - z[i]}
            if z[i] > 0
            else {"type": "ineq", "fun": lambda u, i=i: -X[i] @ u}
            for i in range(2)
        ]
        solved = minimize(lambda u: u @ u, np.linalg.solve(X, z), constraints=rules, tol=1e-12)
        assert r.gauge(X, z[None])[0] == pytest.approx(np.sqrt(solved.fun), rel=1e-5)


@pytest.mark.parametrize("X", CASES)
def test_spikes_are_where_the_data_is_not_spike_free(X):
    data = Dataset(X, np.array([1, -1]))
    free = check(data, properties="spike_free").properties["spike_free"].holds
    assert bool(r.spikes(X)) == (free is False)


@pytest.mark.parametrize("X", CASES)
def test_cell_extremes_against_many_directions(X):
    lam = np.array([0.6, -1.3])
    U = r.on_circle(np.linspace(-np.pi, np.pi, 40_001))
    sides, values = X @ U.T > 0, r.rectified_image(X, U) @ lam
    extremes = iter(r.cell_extremes(X, lam))
    for cell in ([True, True], [True, False], [False, True]):
        mine = values[(sides.T == cell).all(axis=1)]
        top, bottom = next(extremes), next(extremes)
        assert top.largest and not bottom.largest
        assert top.value == pytest.approx(max(mine.max(), 0), abs=1e-3)
        assert bottom.value == pytest.approx(min(mine.min(), 0), abs=1e-3)
        assert top.value == pytest.approx(
            float(r.rectified_image(X, top.u[None])[0] @ lam), abs=1e-9
        )
