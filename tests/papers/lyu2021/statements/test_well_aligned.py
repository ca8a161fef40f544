"""Theorem E.4: well-aligned neurons grow like e^(λt)."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from statement_checks import flow_of, flow_setting, judged
from tacit.data import load
from tacit.papers.lyu2021.statements.well_aligned import largest_G
from tacit.theorems import Case, Network, theorem
from tacit.values import Dataset


def test_the_largest_pull_is_found(rng):
    data = load("linear:n=9,d=3,margin=0.1,seed=7")
    case = Case(data, flow_setting("leaky:0.2"))
    U = rng.normal(size=(100_000, 3))
    z = U / np.linalg.norm(U, axis=1, keepdims=True) @ data.X.T
    sampled = np.abs(np.maximum(z, 0.2 * z) @ data.y).max() / (2 * data.n)
    assert sampled <= largest_G(case) <= 1.001 * sampled


def test_on_symmetric_data_the_pull_is_that_of_lemma_5_2():
    data = load("symmetric:n=14,d=3,seed=4")
    mu = data.y @ data.X / data.n
    assert largest_G(Case(data, flow_setting("leaky:0.5"))) == pytest.approx(
        1.5 / 4 * np.linalg.norm(mu), rel=1e-9
    )


def test_the_distance_from_pure_growth_has_slope_three():
    """Twice as large weights are eight times as far from pure growth, whatever the start's size."""
    one, points = theorem("lyu2021:thmE.4"), []
    case = one.example()
    for factor in (1.0, 0.5, 0.2):
        start = Network(factor * case.start.W, factor * case.start.a, case.alpha)
        case_here = dataclasses.replace(case, start=start)
        said = one.predict(case_here).values
        for moment in flow_of(case_here).path:
            if not -math.inf < moment.time <= math.log(said["until"] / case.data.n):
                continue
            growth = math.exp(said["rate"] * case.data.n * math.exp(moment.time))
            far = np.abs(moment.network.W - growth * start.W).max()
            if growth > 5:
                points.append((math.log(growth * factor), math.log(far)))
    assert len(points) >= 4
    assert np.polyfit(*np.array(points).T, 1)[0] == pytest.approx(3, abs=0.1)


def test_well_aligned_neurons_on_data_that_is_not_symmetric():
    data = load("lyu2021_right")
    data = Dataset(data.X / np.linalg.norm(data.X, axis=1).max(), data.y)
    mu = np.where(data.y == 1, 1.0, 0.5) * data.y @ data.X  # ∇G in the interior of C
    w = 1e-4 * mu / np.linalg.norm(mu)
    case = Case(data, flow_setting(width=1, init=None), Network(w[None], np.array([1e-4]), 0.5))
    verdict = judged("lyu2021:thmE.4", case, flow_of(case))
    assert verdict.status == "confirmed", verdict.words
