"""Theorems 3.1 and 5.6: the direction converges, near a good one to as good a one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from helpers import rest_long
from statement_checks import flow_of, hypothesis, judged
from tacit import Dataset, Setting
from tacit.explanation.observation import observe
from tacit.flow import limit
from tacit.papers.lyu2021.networks import linear_network
from tacit.papers.lyu2021.statements.cases import symmetric_case
from tacit.papers.lyu2021.statements.embedding import (
    spread,
)
from tacit.papers.lyu2021.statements.symmetric import separator
from tacit.theorems import Case, Network, Observation, PathPoint, theorem


@pytest.mark.parametrize(
    "train, activation",
    rest_long([("both", "relu"), ("first", "leaky:0.3")], [("first", "leaky:0.3")]),
)
def test_theorem_3_1_on_data_that_is_not_separable_by_a_line(train, activation) -> None:
    X = np.array([[1.0, 0.2], [-1.0, -0.1], [0.1, -1.0], [-0.2, 1.0]])
    init = "balanced:0.1" if train == "both" else "gaussian:0.1"
    setting = Setting(activation=activation, train=train, width=12, init=init, rule="flow")
    case = Case(Dataset(X, np.array([1, 1, -1, -1])), setting)
    assert hypothesis("lyu2021:thm3.1", case, "small_loss").holds is None
    run = observe(limit(case.data, setting, seed=1))
    verdict = judged("lyu2021:thm3.1", case, run)
    assert verdict.status == "confirmed" and verdict.residual < 1e-8


def test_theorem_3_1_at_the_edge_of_its_loss() -> None:
    case = symmetric_case()
    best = spread(case, linear_network(separator(case), case.alpha))
    X, y = case.data.X, case.data.y
    q = y * (np.maximum(X @ best.W.T, 0.5 * X @ best.W.T) @ best.a)
    edge = minimize(
        lambda s: (np.logaddexp(0, -(s[0] ** 2) * q).sum() - math.log(2)) ** 2, [5.0], tol=1e-14
    ).x[0]
    for factor, holds in ((1.01, True), (0.99, None)):
        start = Network(factor * edge * best.W, factor * edge * best.a, case.alpha)
        assert hypothesis("lyu2021:thm3.1", replace(case, start=start), "small_loss").holds is holds
    stuck = Observation((PathPoint(0.0, 0.0, best), PathPoint(1.0, -0.1, best)))
    assert hypothesis("lyu2021:thm3.1", case, "small_loss", stuck).holds is False


def test_theorem_5_6_near_and_not_near() -> None:
    one = theorem("lyu2021:thm5.6")
    case = one.example()
    best = spread(case, linear_network(separator(case), case.alpha))
    rng = np.random.default_rng(3)
    noise = Network(rng.normal(size=best.W.shape), rng.normal(size=best.a.shape))
    for share, holds in ((0.09, True), (0.2, False)):
        step = share / noise.norm
        start = replace(best, W=20 * (best.W + step * noise.W), a=20 * (best.a + step * noise.a))
        near = replace(case, start=start)
        assert hypothesis("lyu2021:thm5.6", near, "near_the_best").holds is holds
        if holds:
            verdict = judged("lyu2021:thm5.6", near, flow_of(near))
            assert verdict.status == "confirmed" and verdict.residual < 1e-8
