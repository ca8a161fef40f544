"""App. I.1.1: a KKT direction that is not the best one."""

from __future__ import annotations

import numpy as np
import pytest

from statement_checks import flow_setting, hypothesis, judged
from tacit.data import load
from tacit.papers.lyu2021.statements.left_example import (
    printed_multipliers,
    printed_network,
    stationarity,
)
from tacit.theorems import Case, theorem
from tacit.values import Dataset


@pytest.mark.parametrize(("alpha", "own", "best"), [(0.0, 0.2071, 0.25), (0.5, 0.3561, 0.375)])
def test_the_margins_of_the_left_figure(alpha, own, best):
    case = Case(load(f"lyu2021_left:alpha={alpha}"), flow_setting(f"leaky:{alpha}", width=3))
    said = theorem("lyu2021:exI.1.1").predict(case)
    assert said.values["margin"] == pytest.approx(own, abs=5e-5)
    assert said.values["best"] == pytest.approx(best, abs=1e-12)
    assert judged("lyu2021:exI.1.1", case).status == "confirmed"


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.3, 0.7, 0.95])
def test_the_printed_multipliers_fit_with_the_lower_slope_at_the_kinks(alpha):
    assert printed_multipliers(alpha).min() >= 0
    assert stationarity(alpha, alpha) < 1e-12
    assert stationarity(alpha, 1.0) > 1e-3
    net = printed_network(alpha)
    data = load(f"lyu2021_left:alpha={alpha}")
    z = data.X @ net.W.T
    q = data.y * (np.maximum(z, alpha * z) @ net.a)
    assert q.min() == pytest.approx(1)
    assert q[printed_multipliers(alpha) > 0] == pytest.approx(1)


def test_it_knows_its_points_in_any_order_and_no_others(rng):
    data = load("lyu2021_left")
    order = rng.permutation(6)
    case = Case(Dataset(data.X[order], data.y[order]), flow_setting(width=3))
    assert hypothesis("lyu2021:exI.1.1", case, "six_points").holds
    moved = Case(Dataset(data.X + 1e-6, data.y), flow_setting(width=3))
    assert hypothesis("lyu2021:exI.1.1", moved, "six_points").holds is False
