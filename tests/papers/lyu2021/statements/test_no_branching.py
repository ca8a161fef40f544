"""App. I.2.1: the flow never has a choice on orthogonally separable data."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import rest_long
from statement_checks import flow_of, flow_setting, hypothesis, judged
from tacit.data import load
from tacit.explanation.observation import observe
from tacit.flow import limit
from tacit.papers.lyu2021.statements.no_branching import steps_back
from tacit.theorems import Case, Network


@pytest.mark.parametrize("seed", rest_long([31, 32, 33], [31]))
def test_the_flow_is_monotone_even_from_unbalanced_starts(seed):
    rng = np.random.default_rng(seed)
    data = load(f"orthogonal:n=10,d=3,seed={seed}")
    start = Network(rng.normal(size=(5, 3)), 0.1 * rng.normal(size=5), 0.5)
    case = Case(data, flow_setting(init=None, width=5), start)
    verdict = judged("lyu2021:lemmaI.2.1", case, flow_of(case))
    assert verdict.status == "confirmed", (verdict.residual, verdict.words)


def test_on_other_data_neurons_turn_back():
    data = load("linear:n=16,d=2,margin=0.05,seed=2")
    case = Case(data, flow_setting(width=6, init="balanced:1e-2"))
    assert hypothesis("lyu2021:lemmaI.2.1", case, "orthogonally_separable").holds is False
    run = observe(limit(case.data, case.setting, log10_loss=-2))
    assert steps_back(run, case)[1] > 1e-3
