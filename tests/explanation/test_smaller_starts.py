"""Statements about "sufficiently small" weights are followed to smaller scales."""

import numpy as np
import pytest

from tacit import Dataset, Setting, explain, load
from tacit.explanation.other_runs import OtherRuns
from tacit.explanation.smaller_starts import at_smaller_scales
from tacit.theorems import Case, Observation, PathPoint, Prediction, Source, Theorem, judge, theorem
from tacit.theorems.hypotheses import by_slack, unquantified
from tacit.values import Network

SETTING = Setting(width=2, init="balanced:1e-4", rule="flow")
START = Network(1e-4 * np.array([[1.0, 0.0], [0.6, -0.8]]), 1e-4 * np.array([1.0, -1.0]))


class Small(Theorem):
    """Holds for sufficiently small weights: for those below a bound that it does not name."""

    id = "test:small"
    source = Source("test", "Theorem 0")
    summary = "Holds for small weights."
    tolerance = 0.0
    needs = "path"

    def __init__(self, bound):
        self.bound = bound

    def example(self):
        return Case(load("xor"), SETTING, START)

    def counterexample(self):
        return self.example(), "small"

    def hypotheses(self, case, run=None):
        return (unquantified(by_slack)("small", 1.0, "Theorem 0"),)

    def predict(self, case):
        return Prediction("It holds.")

    def residual(self, prediction, case, run):
        return float(np.abs(case.start.W).max() > self.bound)


class FakeRuns(OtherRuns):
    """No path is followed: the statement looks at the start alone."""

    def _follow(self, case, errors, early):
        return Observation((PathPoint(0.0, 0.0, case.start),))


def asked(bound):
    one = Small(bound)
    case = one.example()
    verdict = judge(one, case, Observation((PathPoint(0.0, 0.0, START),)))
    (after,) = at_smaller_scales([verdict], FakeRuns(case, -10.0, np.inf))
    return verdict, after


@pytest.mark.parametrize(
    "bound, scale", [(2e-6, "1e-6"), (2e-8, "1e-8"), (2e-12, "1e-12"), (2e-14, "1e-16")]
)
def test_it_is_said_from_which_scale_on_it_holds(bound, scale):
    before, after = asked(bound)
    assert before.status == "differs" and after.status == "agrees"
    assert after.words.startswith(f"It holds from {scale} on")


def test_a_failure_down_to_the_smallest_scale_refutes_nothing():
    _, after = asked(0.0)
    assert after.status == "differs" and after.words.startswith("It fails down to 1e-49")
    assert "does not say how small" in after.words


def test_what_holds_at_its_own_scale_is_confirmed():
    before, after = asked(1.0)
    assert before.status == "confirmed" and after is before


def test_lemma_1_of_phuong2021_holds_from_some_scale_on():
    """At 1e-4 a neuron is in none of the sectors when the outputs grow."""
    case = theorem("phuong2021:lemma1").example()
    setting = Setting(width=8, init="balanced:1e-4", rule="flow")
    (verdict,) = explain(case.data, setting, only="phuong2021:lemma1").worst.verdicts
    assert verdict.status == "agrees" and "It holds from 1e-" in verdict.words, verdict.words


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_a_random_set_in_the_plane_refutes_nothing(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 2)), rng.choice([-1, 1], 40)
    setting = Setting(width=20)  # not every point can be fitted, and the path may be long
    verdicts = explain(Dataset(X, y), setting, only="phuong2021", seconds=60).worst.verdicts
    assert "refuted" not in [one.status for one in verdicts]
