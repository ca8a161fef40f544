"""Theorem H.2 and Lemma H.3: orthogonally separable data."""

from __future__ import annotations

import math

import numpy as np
import pytest

from statement_checks import flow_of, flow_setting, hypothesis, judged
from tacit.certificates import optimum
from tacit.data import load
from tacit.numerics.class_margin import class_margin
from tacit.papers.lyu2021.statements.run_ends import ended
from tacit.theorems import Case, Network, judge, theorem
from tacit.values import Dataset


@pytest.mark.parametrize(
    ("spec", "width", "seed"),
    [("orthogonal:n=30,d=4,seed=5", 20, 3), ("orthogonal:n=50,d=2,seed=6", 10, 4)],
)
def test_the_flow_ends_at_the_two_max_margin_neurons(spec, width, seed):
    case = Case(load(spec), flow_setting("relu", width))
    run = flow_of(case, seed)
    for id in ("lyu2021:thmH.2", "lyu2021:lemmaH.3"):
        verdict = judge(theorem(id), case, run)
        assert verdict.status == "confirmed", verdict.words
    words = judged("lyu2021:thmH.2", case, run).words
    assert f"{width} neurons end within" in words and "rad of w⁺ or w⁻" in words


@pytest.mark.parametrize("spec", ["orthogonal:n=20,d=3,seed=9", "orthogonal:n=16,d=5,seed=2"])
def test_the_margin_it_names_is_that_of_the_convex_program(spec):
    data = load(spec)
    said = theorem("lyu2021:thmH.2").predict(Case(data, flow_setting("relu")))
    low, high = optimum(data).margin_bounds
    assert low - 1e-9 <= said.values["margin"] <= high + 1e-9
    assert high - low < 1e-5 * high


def test_dead_neurons_are_counted():
    case = theorem("lyu2021:thmH.2").example()
    said = theorem("lyu2021:thmH.2").predict(case)
    end = theorem("lyu2021:thmH.2").ideal(said, case).end
    W, a = end.W, end.a
    run = ended(Network(np.vstack([W, -1e-12 * W[:1]]), np.append(a, 1e-12), case.alpha))
    verdict = judged("lyu2021:thmH.2", case, run)
    assert verdict.status == "confirmed"
    assert verdict.words.startswith("12 of 13 neurons end within")


def test_a_neuron_that_is_turned_is_noticed_in_proportion():
    case = theorem("lyu2021:lemmaH.3").example()
    said = theorem("lyu2021:lemmaH.3").predict(case)
    end = theorem("lyu2021:lemmaH.3").ideal(said, case).end
    W, a = end.W, end.a
    across = np.linalg.svd(W[:1])[2][1]
    seen = []
    for angle in (1e-3, 1e-4):
        turned = W.copy()
        size = np.linalg.norm(W[0])
        turned[0] = math.cos(angle) * W[0] + math.sin(angle) * size * across
        run = ended(Network(turned, a, case.alpha))
        seen.append(
            [
                theorem(id).residual(said, case, run) / angle
                for id in ("lyu2021:thmH.2", "lyu2021:lemmaH.3")
            ]
        )
    assert np.all(np.array(seen) > 0.005)
    assert seen[0] == pytest.approx(seen[1], rel=0.05)


def test_one_class_is_orthogonally_separable_and_needs_one_vector():
    """Exactly at the edge of the definition: no point of the other class at all."""
    data = load("wang2022_f2")
    case = Case(data, flow_setting("relu", 3))
    verdict = judged("lyu2021:thmH.2", case, flow_of(case, 0))
    assert verdict.status == "confirmed"
    assert [sign for sign, _ in verdict.prediction.directions] == [1]


def test_orthogonal_classes_just_meet_the_definition_and_an_acute_angle_misses_it():
    for tilt, good in ((0.0, True), (1e-9, False)):
        X = np.array([[1.0, 0.0], [tilt, 1.0]])
        case = Case(Dataset(X, np.array([1, -1])), flow_setting("relu", 4))
        assert hypothesis("lyu2021:thmH.2", case, "orthogonally_separable").holds is good


def test_w_plus_is_that_of_phuong2021():
    case = theorem("lyu2021:thmH.2").example()
    said = theorem("lyu2021:thmH.2").predict(case)
    X, y = case.data.X, case.data.y
    for name, sign in (("w_plus", 1), ("w_minus", -1)):
        assert (X[y == sign] @ said.values[name]).min() == pytest.approx(1)
        assert said.values[name] == pytest.approx(class_margin(X, y, sign).w)
