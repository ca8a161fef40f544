"""When a broken promise refutes a theorem, and when nothing follows from it."""

import math

import pytest

from tacit import Setting, load
from tacit.theorems import Case, Estimate, Prediction, Source, Theorem, judge
from tacit.theorems.hypotheses import by_slack, unquantified, yes_or_no


class Broken(Theorem):
    """Whatever happens, its residual is what it was made with."""

    id = "test:broken"
    source = Source("test", "Theorem 0")
    summary = "Fails."
    needs = "data"
    tolerance = 1e-6

    def __init__(self, residual, *checks):
        self.checks = checks or (yes_or_no("anything", True, "everywhere"),)
        self.told = residual

    def example(self):
        return Case(load("xor"), Setting())

    def counterexample(self):
        return self.example(), "anything"

    def hypotheses(self, case, run=None):
        return self.checks

    def predict(self, case):
        return Prediction("It holds.")

    def residual(self, prediction, case, run):
        return self.told


def judged(residual, *checks):
    theorem = Broken(residual, *checks)
    return judge(theorem, theorem.example())


@unquantified
def small(slack):
    """Small, whatever that means."""
    return by_slack("small", slack, "Theorem 0")


def test_a_broken_promise_refutes():
    assert judged(1e-3).status == "refuted"
    assert judged(1e-7).status == "confirmed"


def test_what_is_not_quantified_never_refutes():
    assert small(0.5).quantified is False and by_slack("small", 0.5, "").quantified
    verdict = judged(1e-3, small(0.5))
    assert verdict.status == "differs" and "(small), so nothing is refuted" in verdict.words
    assert judged(1e-7, small(0.5)).status == "confirmed"
    assert judged(1e-3, small(-0.5)).status == "not applicable"


@pytest.mark.parametrize("error, status", [(0.0, "refuted"), (0.9e-3, "refuted"), (1e-3, "open")])
def test_only_what_is_beyond_the_error_of_a_residual_refutes(error, status):
    verdict = judged(Estimate(1e-3, error, "digits were lost"))
    assert verdict.status == status and verdict.residual == 1e-3
    assert ("digits were lost" in verdict.words) == (status == "open")


def test_an_error_without_bound_or_a_residual_that_is_no_number_decides_nothing():
    assert judged(Estimate(1e-3, math.inf, "nothing is known")).status == "open"
    assert judged(Estimate(1e-3, math.nan, "nothing is known")).status == "open"
    assert judged(Estimate(math.nan, 0.0, "")).status == "open"
    assert judged(Estimate(1e-7, 1.0, "digits were lost")).status == "confirmed"
