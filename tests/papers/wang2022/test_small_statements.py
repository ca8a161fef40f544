"""Lemma 7 and Remark 1."""

import numpy as np
import pytest

from tacit.data import load
from tacit.theorems import Case, judge, theorem
from tacit.values import Dataset, Setting

RELU = Setting(rule="flow", width=4)


def test_directions_of_near_vectors_by_trying_a_circle():
    """In the plane every b at the distance δ is tried."""
    said = theorem("wang2022:lemma7").predict(Case(load("wang2022_f1"), RELU)).values
    t = np.linspace(0, 2 * np.pi, 100_001)
    for share, largest in zip(said["shares"], said["largest"], strict=True):
        b = np.array([1.0, 0.0])[:, None] + share * np.array([np.cos(t), np.sin(t)])
        apart = np.linalg.norm(b / np.linalg.norm(b, axis=0) - [[1.0], [0.0]], axis=0).max()
        assert apart == pytest.approx(largest, rel=1e-6) and apart <= 2 * share


@pytest.mark.parametrize("seed", range(3))
def test_the_dual_constraint_of_orthogonal_rows(seed):
    """They are spike-free, whatever their lengths: the most is ‖(λ_i‖x_i‖)₊‖, either way."""
    rng = np.random.default_rng(seed)
    X = np.linalg.qr(rng.normal(size=(4, 4)))[0][:3] * rng.uniform(0.5, 2, (3, 1))
    case = Case(Dataset(X, np.array([1, -1, 1])), RELU)
    one = theorem("wang2022:rem1")
    assert judge(one, case).status == "confirmed"
    said = one.predict(case).values
    for lam, largest in zip(said["multipliers"], said["largest"], strict=True):
        scaled = lam * np.linalg.norm(X, axis=1)
        sides = (np.linalg.norm(np.maximum(s * scaled, 0)) for s in (1, -1))
        assert largest == pytest.approx(max(sides))


def test_with_spikes_the_two_forms_differ():
    one, case = theorem("wang2022:rem1"), Case(load("wang2022_f1"), RELU)
    assert one.residual(one.predict(case), case, None) > 0.01


def test_a_sum_along_one_of_the_random_vectors():
    """One of the vectors that are tried is nearly along it, and what is across it is rounding."""
    one, v = theorem("wang2022:lemma7"), np.random.default_rng(0).normal(size=(200, 2))[0]
    for aside in (1e-3, 1e-4, 1e-5):
        case = Case(Dataset([v + aside * v[::-1] * [1, -1]], [1]), RELU)
        assert one.residual(one.predict(case), case, None) <= 1e-14


@pytest.mark.parametrize("y", [[1, -1, 1], [-1, 1, -1]])
def test_points_on_one_ray_whose_pulls_cancel(y):
    """At λ = y both maxima are 0, and rounding is all that is left of them."""
    case = Case(Dataset(np.outer([1, 2, 1], [0.3, -0.7, 0.1]), y), RELU)
    assert judge(theorem("wang2022:rem1"), case).status == "confirmed"
