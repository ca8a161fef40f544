"""Lemmas B.9 and F.3: what KKT points are like."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import rest_long
from statement_checks import flow_of, flow_setting, hypothesis, judged
from tacit.certificates import optimum, two_layer_kkt
from tacit.data import load
from tacit.papers.lyu2021.statements.kkt_points import three_directions
from tacit.papers.lyu2021.statements.run_ends import ended
from tacit.theorems import Case, Network, theorem


def test_optimal_networks_are_balanced_and_others_no_kkt_points():
    """The convex program knows nothing of balance; its networks get it from min Σ|a|‖w‖."""
    data = load("linear:n=12,d=3,margin=0.2,seed=5")
    best = optimum(data, flow_setting("leaky:0.3")).network
    case = Case(data, flow_setting("leaky:0.3"))
    kkt = two_layer_kkt(data, best, boundary=1e-6)
    assert kkt.holds(1e-5)
    assert kkt.balance < 1e-5
    skewed = two_layer_kkt(data, Network(2 * best.W, best.a / 2, 0.3), boundary=1e-6)
    assert not skewed.holds(1e-2)
    lemma, run = theorem("lyu2021:lemmaB.9"), ended(Network(2 * best.W, best.a / 2, case.alpha))
    assert lemma.residual(lemma.predict(case), case, run) > 0.5


def test_a_network_that_is_no_kkt_point_is_not_spoken_of():
    case = theorem("lyu2021:lemmaB.9").example()
    run = ended(Network(np.eye(2), np.array([1.0, -1.0]), case.alpha))
    assert hypothesis("lyu2021:lemmaB.9", case, "kkt_direction", run).holds is False


def test_masks_that_would_take_long_are_not_looked_for(monkeypatch):
    """Wide networks that have not come far kept `explain` busy for minutes after its time."""
    monkeypatch.setattr("tacit.certificates.margin_gradients.SPEED", 1.0)
    case = theorem("lyu2021:lemmaB.9").example()
    x = case.data.X[0]
    run = ended(Network(np.array([[x[1], -x[0]]]), np.ones(1), case.alpha))
    check = hypothesis("lyu2021:lemmaB.9", case, "kkt_direction", run)
    assert check.holds is None and "1 neuron on 8 points" in check.note


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_the_three_directions_are_kkt_points_with_the_margins_it_names(alpha):
    data = load("symmetric:n=10,d=3,margin=0.2,seed=8")
    case = Case(data, flow_setting(f"leaky:{alpha}", width=2))
    said = theorem("lyu2021:lemmaF.3").predict(case)
    for net, wanted in zip(
        three_directions(said.values["w"], alpha), said.values["margins"], strict=True
    ):
        kkt = two_layer_kkt(data, net)
        assert kkt.holds(1e-8)
        assert kkt.margin == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("seed", rest_long(range(4), [0, 1]))
def test_two_neurons_end_in_one_of_three_ways(seed):
    """Large starts, not balanced; |a_k| ≥ ‖w_k‖ keeps the signs."""
    rng = np.random.default_rng(seed)
    data = load(f"symmetric:n=8,d=2,margin=0.2,seed={seed}")
    W = rng.normal(size=(2, 2))
    start = Network(W, np.array([1.1, -1.5]) * np.linalg.norm(W, axis=1), 0.5)
    case = Case(data, flow_setting(width=2, init=None), start)
    verdict = judged("lyu2021:lemmaF.3", case, flow_of(case))
    assert verdict.status == "confirmed", verdict.words
