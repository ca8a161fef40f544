"""Agreement of neurons: loops over neurons and points, and the definitions of NAR and PAR."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.measures import Snapshot
from tacit.measures.agreement import (
    dead_neurons,
    disagreements,
    nar,
    par,
    par_ratio_negative,
    par_ratio_positive,
)
from tacit.models import TwoLayer
from tacit.models.losses import Logistic
from tacit.values import Dataset


def cosines(w: np.ndarray, X: np.ndarray) -> np.ndarray:
    """ŵ·x_i: only the neuron is normalised (sarussi2021 Def. 6.2)."""
    return np.array([np.dot(w, x) / np.linalg.norm(w) for x in X])


def network(seed: int, m: int, n: int, d: int, spread: float) -> Snapshot:
    rng = np.random.default_rng(seed)
    a = rng.choice([-1.0, 1.0], size=m) * rng.uniform(0.5, 2, size=m)
    centre = rng.normal(size=d)
    W = a[:, None] * centre + spread * rng.normal(size=(m, d))
    X = rng.normal(size=(n, d))
    y = np.where(X @ centre > 0, 1, -1)
    return Snapshot(TwoLayer(), Logistic(), {"W": W, "a": a}, Dataset(X, y))


cases = given(
    st.integers(0, 2**32),
    st.integers(1, 6),
    st.integers(1, 6),
    st.integers(1, 3),
    st.sampled_from([0.02, 0.3, 3.0]),
)


@settings(deadline=None, max_examples=100)
@cases
def test_nar_and_par_by_their_definitions(seed, m, n, d, spread) -> None:
    s = network(seed, m, n, d, spread)
    (W, a), (X, y) = (s.params["W"], s.params["a"]), (s.data.X, s.data.y)
    groups = [[cosines(w, X) for w in W[a * sign > 0]] for sign in (1, -1)]

    def best(c_w, c_u) -> float:
        """The largest β for which the weights are in the NAR (β, c_w, c_u)."""
        return min(min(c * z) for c, g in zip((c_w, c_u), groups, strict=True) for z in g)

    assert par(s) == pytest.approx(best(y, -y), rel=1e-12, abs=1e-14)
    signs = [np.array(c) for c in itertools.product([-1, 1], repeat=n)]
    over_all = min(max(min(min(c * z) for z in g) for c in signs) for g in groups if g)
    if over_all > 1e-12:
        assert nar(s) == pytest.approx(over_all, rel=1e-12)
    else:
        assert nar(s) <= 1e-12
    assert nar(s) >= par(s) - 1e-14 or par(s) <= 0


@settings(deadline=None, max_examples=100)
@cases
def test_counts_by_loops(seed, m, n, d, spread) -> None:
    s = network(seed, m, n, d, spread)
    (W, a), (X, y) = (s.params["W"], s.params["a"]), (s.data.X, s.data.y)
    most, right = 0, {1: [], -1: []}
    for sign in (1, -1):
        group = [w for w, a_k in zip(W, a, strict=True) if a_k * sign > 0]
        for w, v in itertools.product(group, group):
            most = max(most, sum((np.dot(w, x) > 0) != (np.dot(v, x) > 0) for x in X))
        for w in group:
            right[sign].append(all(sign * t * np.dot(w, x) > 0 for t, x in zip(y, X, strict=True)))
    assert disagreements(s) == most
    for ratio, sign in ((par_ratio_positive, 1), (par_ratio_negative, -1)):
        share = np.mean(right[sign]) if right[sign] else math.nan
        assert ratio(s) == pytest.approx(share, nan_ok=True)
    assert dead_neurons(s) == sum(all(np.dot(w, x) <= 0 for x in X) for w in W)


@settings(deadline=None, max_examples=50)
@cases
def test_agreement_means_no_disagreement_and_perfect_means_all(seed, m, n, d, spread) -> None:
    s = network(seed, m, n, d, spread)
    if nar(s) > 0:
        assert disagreements(s) == 0
    ratios = [r for r in (par_ratio_positive(s), par_ratio_negative(s)) if not math.isnan(r)]
    assert (par(s) > 0) == all(ratio == 1 for ratio in ratios)


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1e200])
def test_agreement_does_not_depend_on_the_norms_of_neurons(look, rng, scale) -> None:
    W, a, X, y = rng.normal(size=(4, 3)), [1, 2, -1, -3], rng.normal(size=(5, 3)), [1, -1, 1, 1, -1]
    plain, scaled = look(W, a, X, y), look(scale * W, a, X, y)
    assert nar(scaled) == pytest.approx(nar(plain), rel=1e-12)
    assert par(scaled) == pytest.approx(par(plain), rel=1e-12)
    assert par(look(W, a, 3 * X, y)) == pytest.approx(3 * par(plain), rel=1e-12)


def test_a_point_on_the_boundary_is_not_active(look) -> None:
    X = [[1.0, 0.0]]
    assert disagreements(look([[0.0, 1.0], [-1.0, 0.0]], [1, 1], X)) == 0
    assert disagreements(look([[0.0, 1.0], [1.0, 0.0]], [1, 1], X)) == 1
    assert dead_neurons(look([[0.0, 1.0], [1.0, 0.0]], [1, 1], X)) == 1


def test_a_neuron_that_is_zero_is_on_no_side(look) -> None:
    s = look([[0.0, 0.0], [1.0, 0.0]], [1, 1], [[1.0, 0.0]])
    assert nar(s) == par(s) == 0 and par_ratio_positive(s) == 0.5 and dead_neurons(s) == 1
    silent = look(np.zeros((2, 2)), np.zeros(2))
    assert nar(silent) == par(silent) == disagreements(silent) == 0 and dead_neurons(silent) == 2
    assert math.isnan(par_ratio_positive(silent)) and math.isnan(par_ratio_negative(silent))
