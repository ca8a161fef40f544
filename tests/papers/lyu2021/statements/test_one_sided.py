"""Theorems G.9 and G.11: one neuron alone, and when wider networks stay there."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers import rest_long
from statement_checks import flow_of, flow_setting, judged
from tacit.certificates import certify
from tacit.data import load
from tacit.papers.lyu2021.scaled_margin import scaled_margin
from tacit.papers.lyu2021.statements.multipliers import weaker_at_multipliers
from tacit.papers.lyu2021.statements.network_functions import margin
from tacit.papers.lyu2021.statements.one_sided import best_step, three_points
from tacit.theorems import Case, Network
from tacit.values import Dataset


@pytest.mark.parametrize(
    ("seed", "alpha"), rest_long([(21, 0.2), (22, 0.5), (23, 0.8)], [(22, 0.5)])
)
def test_one_neuron_ends_along_w_plus(seed, alpha):
    rng = np.random.default_rng(seed)
    data = load(f"linear:n=10,d=3,margin=0.2,seed={seed}")
    case = Case(data, flow_setting(f"leaky:{alpha}", width=1, init=None))
    w = rng.normal(size=3)
    w *= np.sign(w @ case.view.separator.direction)
    case = dataclasses.replace(
        case, start=Network(w[None], np.array([np.linalg.norm(w)]), case.alpha)
    )
    verdict = judged("lyu2021:thmG.9", case, flow_of(case))
    assert verdict.status == "confirmed", verdict.words
    assert margin(flow_of(case).end, case) == pytest.approx(
        scaled_margin(data.X, data.y, alpha).margin_bounds.lower / 2, rel=1e-6
    )


def test_one_neuron_is_locally_best_where_the_theorem_says_so():
    for spec in ("lyu2021_right", "hinted:n=6,d=3,seed=2", "lyu2021_middle"):
        verdict = judged("lyu2021:thmG.11", Case(load(spec), flow_setting()))
        assert verdict.status == "confirmed", (spec, verdict.words)


def test_the_condition_at_the_multipliers_implies_a_5(rng):
    strong = weak = 0
    for k in range(40):
        y = rng.permutation(np.repeat([1, -1], 3))
        X = np.column_stack([y * rng.uniform(0.2, 1, 6), rng.normal(size=6)])
        X[y == -1] *= 1 + k % 4
        case = Case(Dataset(X, y), flow_setting())
        condition = weaker_at_multipliers(case, 1, "here")
        a_5 = case.data_check("lyu2021:assumptionA.5", "A.5")
        if condition.holds:
            strong += 1
            assert a_5.holds
            residual = judged("lyu2021:thmG.11", case).residual
            assert residual < 1e-7
        elif condition.holds is False:
            weak += bool(a_5.holds)
            assert best_step(case, scaled_margin(X, y, 0.5))[0] > 1e-6
    assert strong > 0 and weak > 0  # A.5 holds in both


def test_on_three_points_a_5_holds_and_the_flow_leaves_the_single_neuron():
    """A.2, A.3, A.5 and (orthogonally separable) A.6 hold, so Theorem A.7 promises one neuron."""
    case = three_points()
    for name in ("A.2", "A.3", "A.5"):
        assert case.data_check(f"lyu2021:assumption{name}", name).holds
    assert case.data_check("orthogonally_separable", "H.1").holds
    one_neuron = scaled_margin(case.data.X, case.data.y, 0.5).margin_bounds.lower / 2
    for size in ("1e-3", "1e-6"):
        run = flow_of(
            dataclasses.replace(case, setting=flow_setting(init=f"balanced:{size}")), seed=1
        )
        assert (run.start.a > 0).any() and (run.start.a < 0).any()
        assert run.settled
        assert margin(run.end, case) > 1.05 * one_neuron
        assert certify(case.data, run.end).is_kkt


@pytest.mark.parametrize(
    ("s", "a_5", "condition"), [(0.24, 1, 1), (0.26, 1, 0), (0.99, 1, 0), (1.01, 0, 0)]
)
def test_both_conditions_on_two_orthogonal_points(s, a_5, condition):
    """(s, 0) positive and (0, 1) negative: by hand, A.5 means s < 1, the other s < α²."""
    case = Case(Dataset(np.array([[s, 0.0], [0.0, 1.0]]), np.array([1, -1])), flow_setting())
    assert case.data_check("lyu2021:assumptionA.5", "A.5").holds is bool(a_5)
    assert weaker_at_multipliers(case, 1, "here").holds is bool(condition)


def test_flipped_labels_flip_the_condition():
    case = three_points()
    flipped = dataclasses.replace(case, data=Dataset(case.data.X, -case.data.y), _properties={})
    one, other = weaker_at_multipliers(case, 1, "x"), weaker_at_multipliers(flipped, -1, "x")
    assert one.holds is other.holds is False
    assert one.slack == pytest.approx(other.slack)
