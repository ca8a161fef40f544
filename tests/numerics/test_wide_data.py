"""A handful of points in very many dimensions: work and memory grow with the points."""

import tracemalloc

import numpy as np
import pytest

import tacit
from tacit.numerics.newton import logistic_fit, squared_hinge_fit

N, D = 6, 2000
SETTING = tacit.Setting(width=2)


def certify(data: tacit.Dataset) -> object:
    W = np.random.default_rng(1).standard_normal((2, D))
    return tacit.certify(data, tacit.Network(W, np.array([1.0, -1.0])), seconds=1)


VERBS = {
    "check": tacit.check,
    "optimum": lambda data: tacit.optimum(data, seconds=1),
    "first": lambda data: tacit.optimum(data, tacit.Setting(train="first", width=4), seconds=1),
    "certify": certify,
    "limit": lambda data: tacit.limit(data, SETTING),
    "thmE.4": lambda data: tacit.predict(data, SETTING, only="lyu2021:thmE.4"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_no_matrix_of_d_times_d(verb: str) -> None:
    data = tacit.load(f"orthogonal:n={N},d={D}")
    VERBS[verb](tacit.load("orthogonal:n=6,d=20")) if verb != "certify" else None  # imports
    tracemalloc.start()
    VERBS[verb](data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < D * D * 8 / 2


def test_newton_fits_are_the_same_in_the_span_of_the_points(rng: np.random.Generator) -> None:
    Z = rng.standard_normal((5, 9))
    extra = np.vstack([Z, np.zeros((4, 9))])  # rows without weight, so that it is not wide
    w, lam = logistic_fit(Z, 1e-3)
    other, _ = logistic_fit(extra, 1e-3)
    assert w.shape == (9,) and len(lam) == 5
    separating = np.linalg.lstsq(Z, np.ones(5), rcond=None)[0]
    for fit in (squared_hinge_fit(Z, separating), w, other):
        assert (Z @ fit).min() > 0
