"""The figures of lyu2021: what would make their claims false makes them false."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from helpers import rest_long
from tacit.certificates import optimum
from tacit.data import load
from tacit.flow import Outcome, initial_network, limit
from tacit.measures.boundary import bend
from tacit.numerics.max_margin import max_margin
from tacit.papers.lyu2021.figures import PAPER, flows
from tacit.papers.lyu2021.figures.appendix_j import AppendixJ
from tacit.papers.lyu2021.figures.example_sets import example_sets
from tacit.papers.lyu2021.figures.fig1 import left_margin
from tacit.papers.lyu2021.figures.fig2 import (
    Fig2,
    bends_in_the_end,
    bends_of_descent,
    bends_of_flow,
    claims_of_flows,
    outgrowing_neurons,
)
from tacit.papers.lyu2021.figures.fig3 import EDGES, edge_points
from tacit.papers.lyu2021.figures.flows import ends_at
from tacit.papers.lyu2021.figures.prob import Prob, probable_theorems
from tacit.papers.lyu2021.figures.table1 import TABLE, Table1, claims_of_table
from tacit.papers.lyu2021.networks import linear_network, one_neuron
from tacit.values import Network, Setting


@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.8])
def test_the_left_set_has_the_margins_of_the_paper_for_every_slope(alpha):
    left = example_sets(alpha)[0]
    exact = left_margin(alpha, left.data.parameters["beta"])
    assert left.kkt.margin(left.data.X, left.data.y) == pytest.approx(exact, rel=1e-9)
    assert left.best.margin == pytest.approx((1 + alpha) / 4, rel=1e-9)
    assert exact < (1 + alpha) / 4


def test_the_bend_is_the_angle_that_the_boundary_turns_by():
    """In the plane: against the two rays on which f = 0, found by bisection."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        W, a, alpha = rng.standard_normal((6, 2)), rng.standard_normal(6), 0.5
        W, a = np.vstack([W, [[30.0, 0]]]), np.append(a, 1.0)  # near to linear, so small bends
        f = Network(W, a, alpha).outputs
        angles = np.linspace(0, 2 * np.pi, 400_001)
        signs = f(np.column_stack([np.cos(angles), np.sin(angles)])) > 0
        (up, down) = angles[np.flatnonzero(np.diff(signs.astype(int)))]
        turn = np.degrees(abs(down - up - np.pi)) / 2
        assert bend(W, a, alpha) == pytest.approx(turn, rel=0.2, abs=1e-3)


def test_one_neuron_and_opposite_pairs_are_not_bent():
    w = np.random.default_rng(0).standard_normal(4)
    for straight in (one_neuron(w, 0.3), linear_network(w, 0.3)):
        assert bend(straight.W, straight.a, 0.3) < 1e-10
    assert bend(np.eye(4), np.ones(4), 0.3) > 10


def test_a_large_start_bends_the_boundary():
    s = Fig2(width=50, factor=10.0, loss=1e-2)
    middle = example_sets(s.alpha)[1]
    large = bends_of_descent(s, middle)[0][-1, 1]
    small = bends_of_descent(replace(s, factor=1e-3), middle)[0][-1, 1]
    assert small < s.straight < large


@pytest.mark.long
def test_the_flow_that_leaves_the_linear_classifier_says_so():
    """With 100 neurons, 0.001 × He is not small enough on the middle set."""
    s = Fig2(loss=0.1, depth=-200.0)
    middle = example_sets(s.alpha)[1]
    same, smaller = (bends_of_flow(s, middle, factor) for factor in (s.factor, s.smaller))
    faster = outgrowing_neurons(s, middle)
    assert same[-1, 1] > s.straight > smaller[-1, 1] and faster > 0
    assert bends_in_the_end(s, same) and not bends_in_the_end(s, smaller)
    bends = (True, float(smaller[-1, 1]))
    assert all(claim.holds for claim in claims_of_flows(s, [bends], [faster]))


def test_a_boundary_that_bends_slowly_bends_in_the_end():
    """With 20 neurons and seed 1 the right set has 0.002, 0.075 and 0.19 degrees on its way."""
    s, depths = Fig2(), -np.geomspace(1, 1e9, 40)
    for degrees, bent in (
        (3e-6 * np.sqrt(-depths) + 0.01 / np.sqrt(-depths), True),  # 0.095 in the end
        (0.1 / np.sqrt(-depths), False),
        (np.full(40, 0.3), False),
        (np.full(40, 9.0), True),
        (1e-8 * np.geomspace(1, 100, 40), False),  # rounding
    ):
        assert bends_in_the_end(s, np.column_stack([depths, degrees])) == bent


def test_a_bend_and_neurons_that_outgrow_go_together():
    s = Fig2()
    for bends, faster, wrong in (
        ((False, 0.0), 0, []),
        ((True, 0.0), 3, []),
        ((True, 0.0), 0, ["outgrown"]),
        ((False, 0.0), 3, ["outgrown"]),
        ((True, 9.0), 3, ["smaller"]),
    ):
        claims = claims_of_flows(s, [bends], [faster])
        assert [claim.id for claim in claims if not claim.holds] == wrong


def test_the_linear_classifiers_win_no_more_when_hints_are_near():
    """Below K = ε√((3+α)/(1−α)) one neuron has the widest margin: the right panel would be void."""
    far, near = (load(f"lyu2021_right:eps=0.25,K={K}") for K in (1.32, 0.5))
    shares = [0.125 / optimum(data, Setting(activation="leaky:0.5")).margin for data in (far, near)]
    assert shares[0] < 0.7 and shares[1] == pytest.approx(1, abs=1e-6)


def test_networks_slide_on_data_that_is_not_orthogonally_separable():
    """So the count of figure 3 can be other than 0."""
    setting = Setting(activation="leaky:0.5", width=20, init="balanced_gaussian:1e-3", rule="flow")
    end = limit(load("linear:n=20,d=5,seed=1"), setting, seed=1, log10_loss=-3)
    assert any(event.what == "slide" for event in end.path.events)


def test_only_the_refraction_edge_is_orthogonally_separable():
    for edge in EDGES:
        points = edge_points(edge)
        Z = points.y[:, None] * points.X
        products = Z @ Z.T
        assert (products.min() >= 0) == (edge == "refraction")


def test_both_columns_are_high_when_the_points_are_not_moved_away():
    """Without the margin ten points say little, and the SVM's error is that of its angle."""
    s = AppendixJ(margin=0.0)
    (data,) = s.sets(100, test=20_000)
    w = max_margin(data.y[:, None] * data.X).direction
    error = np.mean(data.test.y * (data.test.X @ w) <= 0)
    angle = np.arccos(w[0] / np.linalg.norm(w[:-1])) / np.pi  # of Gaussian points; bias is small
    assert error == pytest.approx(angle, abs=0.015)
    assert error > 0.06  # with the margin it is 0.03


def test_sets_of_different_sizes_and_seeds_share_no_points():
    sets = [s.sets(n, 2) for s in (AppendixJ(), AppendixJ(seed=1)) for n in (10, 20)]
    firsts = [one.X[0, 0] for pair in sets for one in pair]
    assert len(set(firsts)) == len(firsts)


def test_the_proof_asks_for_as_many_starts_as_the_theorem_says():
    """Exactly, by the signs: 2 of 2^m choices are all alike, and 1 of 2^m has no positive one."""
    both, positive = probable_theorems(Prob())
    for m in (2, 3, 5):
        a = np.array(list(product([-1.0, 1.0], repeat=m)))
        W = np.zeros((len(a), m, 2))
        assert both.asked(W, a).mean() == both.bound(m)
        assert positive.asked(W, a).mean() == positive.bound(m)


@pytest.mark.parametrize("sigma", rest_long([10.0, 1e-9], [1e-9]))
def test_theorem_4_3_needs_a_small_start(sigma):
    theorem, _ = probable_theorems(Prob(sigma=sigma))
    setting = Setting(activation="leaky:0.5", width=5, init=theorem.init, rule="flow")
    start = initial_network(theorem.data, setting, 0)
    assert theorem.asked(start.W, start.a)
    end = limit(theorem.data, setting, log10_loss=-30)
    assert end.outcome.settled
    assert ends_at(end, theorem.end) == (sigma < 1)


@pytest.mark.parametrize("name", rest_long(["fig1", "fig4", "prob"], ["fig1", "prob"]))
def test_flows_without_an_end_are_not_counted_and_said(name, monkeypatch):
    """A machine that is too slow makes no claim false."""
    nothing = SimpleNamespace(outcome=Outcome.UNDECIDED, network=None, margin=None)
    monkeypatch.setattr(flows, "binary_limit", lambda *given, **options: nothing)
    artefact = PAPER.artefacts[name]
    few = {"runs": 1} if name != "fig4" else {"sizes": (10,), "flow_sets": 1}
    made = artefact.make(artefact.choose(True, **few), lambda words: None)
    assert all(claim.holds for claim in made.claims)
    assert any("not counted" in words for words in made.departures)


def test_a_table_of_other_numbers_is_told_apart():
    """Columns that are 4 points too high, or that part by 3 points, are not those of Table 1."""
    s = Table1(runs=30)
    said = np.array([TABLE[n] for n in s.sizes])
    noise = np.random.default_rng(0).normal(0, 2, (len(s.sizes), 1, s.runs))
    apart = np.random.default_rng(1).normal(0, 0.3, (len(s.sizes), 2, s.runs))
    for shift, wrong in (
        ((0, 0), []),
        ((4, 4), ["SVM_all", "network_all"]),
        ((0, -3), ["agree", "differences", "difference"]),
        ((0, -2), ["differences", "difference"]),  # less than the columns scatter
    ):
        claims = claims_of_table(
            s, said[:, :, None] + np.array(shift)[:, None] + noise + apart, said
        )
        failing = [claim.id for claim in claims if not claim.holds]
        assert set(wrong) <= set(failing) and bool(failing) == bool(wrong)
