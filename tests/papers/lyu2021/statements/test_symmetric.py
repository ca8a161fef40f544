"""Theorems 4.2 and 4.3 and Corollary 4.4: unseen data, edges of the hypotheses, second routes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from helpers import rest_long
from statement_checks import flow_of, hypothesis, judged, with_data
from tacit import load
from tacit.certificates import certify
from tacit.flow import initial_network
from tacit.papers.lyu2021.networks import linear_network, one_neuron
from tacit.papers.lyu2021.statements.cases import symmetric_case
from tacit.papers.lyu2021.statements.embedding import (
    embedding_of,
)
from tacit.papers.lyu2021.statements.network_functions import difference, margin
from tacit.papers.lyu2021.statements.symmetric import separator
from tacit.theorems import Case, Network, Observation, theorem


@pytest.mark.parametrize("alpha, call", [(0.1, "n=6,d=2,seed=7"), (0.7, "n=16,d=5,seed=8")])
def test_theorem_4_2_on_other_data(alpha: float, call: str) -> None:
    case = replace(symmetric_case(call, alpha), start=None)
    verdict = judged("lyu2021:thm4.2", case)
    assert verdict.status == "confirmed" and verdict.residual < 1e-7
    best = linear_network(separator(case), case.alpha)
    assert margin(best, case) == pytest.approx(verdict.prediction.values["margin"], rel=1e-12)
    assert certify(case.data, best).optimality == "certified"


def test_theorem_4_2_is_false_without_symmetry() -> None:
    data = load("hinted:n=4,d=2")
    case = replace(symmetric_case(), data=data, start=None, _properties={})
    one = theorem("lyu2021:thm4.2")
    assert judged("lyu2021:thm4.2", case).status == "not applicable"
    assert one.residual(one.predict(case), case, None) > 0.1


@pytest.mark.parametrize(
    "alpha, call, width, seed",
    rest_long(
        [(0.2, "n=10,d=3,seed=4", 5, 0), (0.8, "n=6,d=4,seed=5", 2, 4)],
        [(0.8, "n=6,d=4,seed=5", 2, 4)],
    ),
)
def test_theorem_4_3_on_other_data(alpha: float, call: str, width: int, seed: int) -> None:
    case = symmetric_case(call, alpha, width, 1e-5, seed)
    run = flow_of(case)
    verdict = judged("lyu2021:thm4.3", case, run)
    assert hypothesis("lyu2021:thm4.3", case, "good_embedding").holds
    assert verdict.status == "confirmed" and verdict.residual < 1e-8
    # the start may also come with the run
    assert judged("lyu2021:thm4.3", replace(case, start=None), run).status == "confirmed"


def test_theorem_4_3_says_nothing_where_all_neurons_pull_to_one_side() -> None:
    """Then the limit is that of Lemma A.4, and it is another one."""
    one = theorem("lyu2021:thm4.3")
    case, name = one.counterexample()
    assert hypothesis("lyu2021:thm4.3", case, name).slack < 0
    run = flow_of(case)
    assert judged("lyu2021:thm4.3", case, run).status == "not applicable"
    assert one.residual(one.predict(case), case, run) > 0.1
    w = theorem("lyu2021:lemmaA.4").predict(case).values["w"]
    assert difference(run.end, one_neuron(w, case.alpha), case) < 1e-8


def test_one_small_entry_of_the_other_sign_makes_a_good_embedding() -> None:
    case, name = theorem("lyu2021:thm4.3").counterexample()
    for entry, holds in ((1e-9, True), (0.0, False), (-1e-9, False)):
        W, a = case.start.W.copy(), case.start.a.copy()
        W[0], a[0] = -entry * W[1], -entry * a[1]
        check = hypothesis("lyu2021:thm4.3", replace(case, start=Network(W, a, case.alpha)), name)
        assert check.holds is holds
        assert np.sign(check.slack) == np.sign(entry)


@pytest.mark.parametrize("weak, status", [(1e-2, "confirmed"), (1e-8, "not applicable")])
def test_how_small_the_start_must_be_depends_on_the_weaker_sign(weak: float, status: str) -> None:
    """A neuron that is nearly off the line loses its way, and the limit is another."""
    case = symmetric_case("n=8,d=2,seed=2", width=3)
    mu = case.data.y @ case.data.X
    mu = mu / np.linalg.norm(mu)
    across = np.array([-mu[1], mu[0]])
    W = 1e-6 * np.array([mu, mu + across, across - weak / 2 * mu])
    case = replace(case, start=Network(W, 1e-6 * np.array([1, 1, -weak / 2]), case.alpha))
    run, one = flow_of(case), theorem("lyu2021:thm4.3")
    assert hypothesis("lyu2021:thm4.3", case, "good_embedding").holds
    assert judged("lyu2021:thm4.3", case, run).status == status
    assert (one.residual(one.predict(case), case, run) < 1e-8) is (status == "confirmed")


def test_assumption_4_5_just_missed() -> None:
    """A point across µ."""
    case = symmetric_case()
    X = np.array([[1.0, 0.5], [1.0, -0.5], [0.0, 1.0], [2.0, -1.0]])
    y = np.repeat([1, -1], 4)
    for shift, holds in ((0.0, False), (1e-9, True)):
        near = X + np.array([[0, 0], [0, 0], [shift, 0], [0, 0]])
        moved = with_data(case, np.vstack([near, -near]), y)
        assert hypothesis("lyu2021:thm4.3", moved, "lyu2021:assumption4.5").holds is holds


@cache
def ensemble() -> tuple[Case, Observation]:
    case = replace(symmetric_case("n=4,d=2,seed=3", width=2), start=None)
    runs = []
    for seed in range(8):
        start = initial_network(case.data, case.setting, seed)
        runs.append(flow_of(replace(case, start=start)))
    return case, Observation((), members=tuple(runs))


def test_corollary_4_4_over_random_starts() -> None:
    """As many runs attain the widest margin as have a good embedding."""
    case, run = ensemble()
    verdict = judged("lyu2021:cor4.4", case, run)
    assert verdict.status == "confirmed" and verdict.residual == 0
    widest = verdict.prediction.values["margin"]
    assert verdict.prediction.values["probability"] == 0.5
    hits = [margin(one.end, case) > (1 - 1e-6) * widest for one in run.members]
    good = [embedding_of(case, one.start).good for one in run.members]
    assert hits == good and 0 < sum(hits) < len(hits)


def test_runs_can_break_the_promise_of_corollary_4_4() -> None:
    """How small a start is "sufficiently small" is not said, so that nothing is refuted."""
    case, run = ensemble()
    bad = [one for one in run.members if not embedding_of(case, one.start).good]
    verdict = judged("lyu2021:cor4.4", case, Observation((), members=tuple(bad * 10)))
    assert verdict.status == "differs" and verdict.residual > 0.3
    assert "does not say how small" in verdict.words
    assert judged("lyu2021:cor4.4", case, Observation((), members=())).status == "open"
