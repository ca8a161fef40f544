"""Theorem 6.2: three hints, where they are and where they are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers import rest_long
from statement_checks import flow_of, hypothesis, judged, with_data
from tacit import load
from tacit.certificates import certify
from tacit.papers.lyu2021.networks import one_neuron
from tacit.papers.lyu2021.statements.cases import hinted_case
from tacit.papers.lyu2021.statements.hinted import enough_K, hints_of
from tacit.papers.lyu2021.statements.network_functions import margin
from tacit.theorems import theorem


@pytest.mark.parametrize(
    "alpha, call",
    rest_long([(0.3, "n=5,d=3,seed=4"), (0.7, "n=6,d=2,seed=9")], [(0.7, "n=6,d=2,seed=9")]),
)
def test_theorem_6_2_on_other_data(alpha: float, call: str) -> None:
    case = hinted_case(call, alpha, 10.0 ** (-8 if alpha < 0.5 else -12))
    run = flow_of(case)
    verdict = judged("lyu2021:thm6.2", case, run)
    assert verdict.status == "confirmed", verdict.words
    hints = hints_of(case.data)
    for mine, made in zip((hints.H, hints.K, hints.eps), "H K eps".split(), strict=True):
        assert mine == pytest.approx(case.data.parameters[made], rel=1e-9)
    assert margin(run.end, case) == pytest.approx(hints.eps / 2, rel=1e-8)
    assert verdict.prediction.values["widest"] > 1.01 * hints.eps / 2
    assert judged("lyu2021:thmA.7", case, run).status == "confirmed"


def test_without_a_positive_neuron_the_hints_do_not_work() -> None:
    case = hinted_case()
    one, start = theorem("lyu2021:thm6.2"), replace(case.start, a=-np.abs(case.start.a))
    case = replace(case, start=start)
    run = flow_of(case)
    assert judged("lyu2021:thm6.2", case, run).status == "not applicable"
    assert one.residual(one.predict(case), case, run) > 0.1


@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.8])
def test_the_margin_is_suboptimal_from_enough_K_on(alpha: float) -> None:
    eps = 0.05
    for factor, holds in ((0.999, False), (1.001, True)):
        K = factor * enough_K(eps, alpha)
        call = f"n=5,d=3,seed=2,alpha={alpha},eps={eps},K={K},margin=0.5"
        data = load(f"hinted:{call}")
        w = data.X[0] / np.linalg.norm(data.X[0])
        case = replace(hinted_case(), data=data, start=None, _properties={})
        case = replace(case, setting=replace(case.setting, activation=f"leaky:{alpha}"))
        assert hypothesis("lyu2021:thm6.2", case, "large_K").holds is holds
        net = one_neuron(w, case.alpha)
        found = certify(data, net, tolerance=1e-9)
        assert found.optimality == ("suboptimal" if holds else "certified")


def test_hints_are_found_only_where_they_are() -> None:
    case = hinted_case()
    X, y = case.data.X, case.data.y
    order = [3, 0, 1, 2, *range(4, len(y))]
    assert (
        hypothesis("lyu2021:thm6.2", with_data(case, X[order], y[order]), "hinted").holds is False
    )
    moved = X.copy()
    moved[1] *= 1.001
    check = hypothesis("lyu2021:thm6.2", with_data(case, moved, y), "hinted")
    assert check.holds is False and 1e-5 < -check.slack < 1e-2
    assert judged("lyu2021:thm6.2", with_data(case, X[:3], y[:3])).status == "not applicable"
