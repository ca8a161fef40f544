"""Check, predict, limit and certify together: sentences, several classes, theorems that fail."""

from __future__ import annotations

import math
from dataclasses import replace
from time import perf_counter

import numpy as np
import pytest

from helpers import rest_long
from statement_checks import up_to
from tacit import Dataset, Setting, load
from tacit.explanation import Explanation, explain, predict
from tacit.explanation.observation import observe
from tacit.explanation.predictions import NOT_ASKED, initial_neurons, judge_each
from tacit.explanation.sentences import counts, just_fail, of_the_data, sentences, telling
from tacit.flow import limit
from tacit.geometry import check
from tacit.theorems import Case, Prediction, Source, Theorem, asking, theorem
from tacit.theorems.hypotheses import yes_or_no
from tacit.values import Check

RELU = Setting(width=30, train="both", init="balanced:1e-4", rule="flow")


def test_the_default_data_in_words() -> None:
    """What the README quotes."""
    explanation = explain(load("orthogonal:n=40,d=2,seed=3"), replace(RELU, width=100))
    data, run, best, numbers = sentences(explanation)
    assert "orthogonally separable: yes, closest pair 0.027 away from failing" in data
    assert "end in 2 directions" in run and best.startswith("A KKT point and the global optimum")
    assert "confirmed" in numbers and "refuted" not in numbers
    told = {verdict.theorem.id: verdict for verdict in telling(explanation.worst.verdicts, 7)}
    assert told["lyu2021:thmH.2"].status == "confirmed"
    near = [verdict.theorem.id for verdict in just_fail(explanation.worst.verdicts)]
    assert "phuong2021:thm1" in near
    assert sum(counts(explanation.worst.verdicts).values()) == len(explanation.worst.verdicts)


@pytest.mark.parametrize(
    ("points", "labels", "said"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], [1, 1], "no, points of one class are orthogonal"),
        ([[1.0, 0.0], [0.0, 1.0]], [1, -1], "yes, closest pair 0 away from failing"),
        ([[1.0, 0.0], [-1.0, 0.0]], [1, 1], "no, the worst pair fails by 1"),
    ],
)
def test_a_right_angle_is_said_to_be_one(points, labels, said) -> None:
    """ "the worst pair fails by -0" was said of two points of one class."""
    geometry = check(Dataset(np.array(points), np.array(labels)))
    assert f"orthogonally separable: {said}" in of_the_data(geometry)


def test_an_undecided_angle_is_not_said_to_fail() -> None:
    geometry = check(Dataset(np.eye(2), np.array([1, -1])))
    pairs = Check("orthogonally_separable", None, -1e-17, "§2.1", "too many pairs", 1e-16)
    undecided = replace(geometry, properties={**geometry.properties, pairs.name: pairs})
    assert "orthogonally separable: not decided (too many pairs)" in of_the_data(undecided)


def test_a_run_without_a_limit_says_so() -> None:
    data = Dataset(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1, -1]))
    explanation = explain(data, RELU)
    said = sentences(explanation)
    assert any(line.startswith("Training is stuck") for line in said)
    about_the_limit = [v for v in explanation.worst.verdicts if v.theorem.needs == "limit"]
    assert {v.status for v in about_the_limit} <= {"open", "not applicable"}


@pytest.fixture(scope="module")
def three_classes() -> Explanation:
    return explain("orthogonal_classes:n=9,d=3,seed=0", replace(RELU, width=12))


def test_every_class_has_a_network_of_its_own(three_classes: Explanation) -> None:
    data = three_classes.data
    assert [part.name for part in three_classes.parts] == list(data.classes)
    assert three_classes.worst.name in data.classes
    before = predict(data, replace(RELU, width=12), only=["wang2022"])
    assert [name for name, _ in before.classes] == list(data.classes)


def test_the_order_of_theorems_and_papers_can_be_chosen() -> None:
    asked = predict(load("xor"), RELU, only=["lyu2021:thm3.1", "phuong2021"])
    ids = [verdict.theorem.id for verdict in asked.verdicts]
    assert ids[0] == "lyu2021:thm3.1" and set(id.partition(":")[0] for id in ids[1:]) == {
        "phuong2021"
    }


class Broken(Theorem):
    """Raises."""

    id = "test:broken"
    source = Source("test", "Theorem 0")
    summary = "Raises."
    needs = "data"
    tolerance = 0.0

    def example(self) -> Case:
        return Case(load("xor"), RELU)

    def counterexample(self) -> tuple[Case, str]:
        return self.example(), "anything"

    def hypotheses(self, case, run=None):
        return (yes_or_no("anything", True, "everywhere"),)

    def predict(self, case):
        return Prediction(str(1 / 0))

    def residual(self, prediction, case, run):
        return 0.0


def test_a_theorem_that_raises_does_not_stop_the_others() -> None:
    case = Case(load("xor"), RELU)
    first, second = judge_each([Broken(), theorem("lyu2021:thm3.1")], case)
    assert first.status == "open" and "ZeroDivisionError" in first.words
    assert second.hypotheses


def test_a_theorem_is_not_asked_beyond_the_deadline(monkeypatch) -> None:
    """Two of them thought for four seconds of `--seconds 7`."""
    end = limit("gaussians:n=12,d=2", Setting(rule="flow", width=8))
    case = Case(end.data, end.setting, initial_neurons(end.data, end.setting, 0))
    asked = [theorem("phuong2021:lemmaA.3"), theorem("wang2022:thm3")]
    assert all(one.residual is not None for one in judge_each(asked, case, observe(end)))
    monkeypatch.setattr(asking, "perf_counter", lambda: math.inf)  # it comes while they think
    for one in judge_each(asked, case, observe(end), perf_counter() + 60):
        assert one.status == "open" and one.words == NOT_ASKED


@pytest.mark.parametrize(
    "X",
    [
        pytest.param([[1e9, 2.0], [-1.0, 1.0], [3.0, 0.01]], marks=pytest.mark.long),
        pytest.param([[1e6, 2.0], [-1e6, 2.5], [1e6, 0.01]], marks=pytest.mark.long),
        [[1e16, 2.0], [-1.0, 1.0], [3.0, 0.01]],
        pytest.param([[1e30, 2.0], [-1.0, 1.0], [3.0, 0.01]], marks=pytest.mark.long),
    ],
)
def test_what_may_be_rounding_refutes_nothing(X) -> None:
    explanation = explain(
        Dataset(np.array(X), np.array([1, -1, 1])), replace(RELU, width=20), seconds=8
    )
    assert "refuted" not in counts(explanation.worst.verdicts)


def test_filters_are_no_neurons() -> None:
    """Theorems about two-layer nets are asked about a convolutional one without its weights."""
    setting = replace(RELU, model="conv_max_pool", train="first", init="gaussian:1e-3", rule="gd")
    asked = predict(load("gaussians:n=8,d=4"), setting)
    assert not [v.theorem.id for v in asked.verdicts if "cannot be evaluated" in v.words]


def test_only_theorems_about_several_classes_are_asked_of_them_together(
    three_classes: Explanation,
) -> None:
    together = three_classes.verdicts
    assert all(verdict.theorem.several_classes for verdict in together)
    every = [verdict for part in three_classes.parts for verdict in part.verdicts]
    assert not [v.theorem.id for v in [*every, *together] if "evaluated here" in v.words]


def test_a_run_is_the_path_and_its_limit() -> None:
    end = limit(load("orthogonal:n=8,d=2"), RELU)
    run = observe(end)
    assert len(run.path) == len(end.path.moments) and run.settled
    np.testing.assert_array_equal(run.end.W, end.network.W)
    times = [moment.time for moment in run.path]
    assert times == sorted(times) and len(run.events) == len(end.path.events)
    early = up_to(run, -10.0)
    assert early.limit is None
    assert early.path[-1].log_loss >= -10 * math.log(10) > run.path[-1].log_loss


@pytest.mark.parametrize("seed", rest_long(range(3), [0]))
def test_what_is_explained_depends_on_the_seed_alone(seed: int) -> None:
    data = load("orthogonal:n=10,d=3,seed=2")
    one, other = (explain(data, replace(RELU, width=10), seed=seed) for _ in range(2))
    for a, b in zip(one.worst.verdicts, other.worst.verdicts, strict=True):
        assert (a.status, a.residual) == (b.status, b.residual), a.theorem.id
