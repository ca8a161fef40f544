"""A refutation is shown only where other computations agree with it."""

import numpy as np
import pytest

from tacit import Dataset, Setting, explain, load
from tacit.explanation.other_runs import OtherRuns
from tacit.explanation.second_computation import confirmed_refutation
from tacit.flow.follow import Flow
from tacit.flow.tolerances import PATH
from tacit.theorems import Case, Observation, PathPoint, Prediction, Source, Theorem, judge
from tacit.theorems.hypotheses import by_slack
from tacit.values import Network

XOR = load("xor")
SETTING = Setting(width=3, init="balanced:1e-2", rule="flow")
START = Network(1e-2 * np.array([[1, 0.1], [0.2, -1], [-1, 0.3]]), 1e-2 * np.array([1.0, -1, 1]))


class Claim(Theorem):
    """A claim about data, or about a path, that is computed as a test says."""

    id = "test:claim"
    source = Source("test", "Theorem 0")
    summary = "A claim."
    tolerance = 1e-6
    needs = "data"

    def __init__(self, residual, needs="data", slack=1.0, exact=None):
        self.told, self.slack, self.exact = residual, slack, exact
        type(self).needs = needs

    def example(self):
        return Case(XOR, SETTING, START)

    def counterexample(self):
        return self.example(), "structure"

    def hypotheses(self, case, run=None):
        off = float(np.abs(case.data.X - XOR.X).max())
        return (by_slack("structure", self.slack - off, "everywhere"),)

    def predict(self, case):
        return Prediction("It holds.")

    def residual(self, prediction, case, run):
        return self.told(case, run)

    def exact_residual(self, case):
        return self.exact


class FakeRuns(OtherRuns):
    """No path is followed: with smaller steps it has more moments, and that is all."""

    def _follow(self, case, errors, early):
        moments = 10 if errors == PATH else 20
        return Observation((PathPoint(0.0, 0.0, case.start),) * moments)


def asked(theorem):
    case = theorem.example()
    others = FakeRuns(case, -10.0, np.inf)
    run = None if theorem.needs == "data" else others._run("first", case)[1]
    verdict = judge(theorem, case, run)
    assert verdict.status == "refuted"
    return confirmed_refutation(verdict, others)


def test_what_fails_everywhere_is_refuted():
    assert asked(Claim(lambda case, run: 1.0)).status == "refuted"
    assert asked(Claim(lambda case, run: 1.0, "path")).status == "refuted"


def test_what_fails_only_on_exceptional_data_is_not():
    """A tie: the residual jumps where the data is moved by a millionth."""
    verdict = asked(Claim(lambda case, run: float((case.data.X == XOR.X).all())))
    assert verdict.status == "open" and "on data that is moved by 1e-06" in verdict.words


def test_structure_that_moving_the_data_loses_is_left_alone():
    """The hypothesis holds exactly, with slack 0, as symmetry does."""
    assert asked(Claim(lambda case, run: 1.0, slack=0.0)).status == "refuted"
    verdict = asked(Claim(lambda case, run: 1.0, slack=1e-9))  # it holds by a hair
    assert verdict.status == "open" and "not applicable" in verdict.words


def test_an_error_that_smaller_steps_reduce_refutes_nothing():
    verdict = asked(Claim(lambda case, run: len(run.path) ** -4.0, "path"))
    assert verdict.status == "open" and "with smaller steps" in verdict.words


def test_exact_arithmetic_decides():
    assert asked(Claim(lambda case, run: 1e-3, exact=0.0)).status == "confirmed"
    verdict = asked(Claim(lambda case, run: 1e-3, exact=0.5))
    assert verdict.status == "refuted" and verdict.residual == 0.5


def test_without_time_for_a_second_computation_nothing_is_refuted():
    verdict = asked(Claim(lambda case, run: 1.0))
    assert verdict.status == "refuted"
    theorem = Claim(lambda case, run: 1.0, "path")
    case = theorem.example()
    run = FakeRuns(case, -10.0, np.inf)._run("first", case)[1]
    late = confirmed_refutation(judge(theorem, case, run), OtherRuns(case, -10.0, 0.0))
    assert late.status == "open" and "no time" in late.words


def test_an_interrupt_of_a_second_computation_is_not_lost(monkeypatch):
    theorem = Claim(lambda case, run: 1.0, "path")
    others = OtherRuns(theorem.example(), -10.0, np.inf)
    run = FakeRuns(others.case, -10.0, np.inf)._run("first", others.case)[1]

    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Flow, "_explicit_step", interrupt)
    verdict = confirmed_refutation(judge(theorem, others.case, run), others)
    assert verdict.status == "open" and others.interrupted


NEAR = 1e-9 * np.array([[0.4, -0.2], [-0.9, 1.3], [0.2, -0.8], [-0.4, 1.1], [1.8, 0.5]])
FALSE_ALARMS = {
    "a neuron that dies": (
        "phuong2021:lemmaA.4",
        ([[0.0], [0.0], [-1.0], [0.0]], [-1, 1, -1, -1]),
        Setting(activation="leaky:0.3", width=2),
        383,
    ),
    "pulls that cancel": (
        "wang2022:thm1",
        ([[-2.0, 0.0], [-2.0, 2.0], [0.0, 2.0]], [-1, 1, -1]),
        Setting(width=20),
        0,
    ),
    "a lattice moved by 1e-9": (
        "phuong2021:lemmaA.2",
        (np.array([[2.0, -1], [-1, 1], [1, 1], [-1, -2], [0, -1]]) + NEAR, [1, -1, 1, -1, 1]),
        Setting(width=4),
        0,
    ),
    "extremal directions 1e-13 from a hyperplane": (
        "phuong2021:lemmaA.1",
        (
            [
                [2.0000000000000466, -1.0898797857123523e-13, 1.2799295347351023e-14],
                [1.0000000000001219, -1.000000000000113, -5.5913987818466584e-14],
                [1.9999999999999232, -1.0000000000001497, 1.0000000000000961],
                [-1.999999999999869, 2.0000000000000799, 2.0000000000000244],
                [-5.2031384314457492e-15, 1.000000000000024, -7.3155591709107894e-14],
            ],
            [-1, 1, -1, -1, -1],
        ),
        Setting(width=5, loss="exponential", init="balanced:1e-2"),
        591,
    ),
    "a path beyond floating point": (
        "lyu2021:lemmaB.20",
        ([[20.0, -10.0], [-1.0, 2.0]], [1, 1]),
        Setting(activation="leaky:0.9", width=12, init="balanced:1e-2"),
        54,
    ),
    "an extremal direction on a hyperplane": (
        "phuong2021:lemma1",
        ([[-1.0, -1.0, -1.0], [0.0, -1.0, -1.0], [0.0, -1.0, 0.0]], [1, -1, 1]),
        Setting(width=20),
        20,
    ),
    "the time of a step": (
        "phuong2021:lemmaA.3",
        ([[2.0], [2.0]], [1, 1]),
        Setting(loss="exponential", width=20),
        0,
    ),
    "a separator with margin 1e-9": (
        "lyu2021:thmB.19",
        (
            [
                [1.9999999996084667, -1.999999996248365],
                [1.9999999999639593, 0.99999999960111152],
                [-0.99999999943216, 2.0000000007271925],
                [-1.9999999994843858, 1.9999999993203235],
            ],
            [1, 1, -1, -1],
        ),
        Setting(activation="leaky:0.3", width=6, init="balanced:1e-2"),
        4,
    ),
    "an optimum that is only bounded": (
        "wang2022:prop2",
        (
            [
                [1.9999999997815929, -0.99999999987984378],
                [-0.99999999865033173, 1.0000000011900607],
                [1.0000000001657481, 0.99999999923660843],
                [-1.0000000004158971, -1.9999999989122983],
                [1.7864493491968703e-09, -0.99999999945621132],
                [-6.4484451791283916e-10, -0.99999999897062786],
                [-1.0000000003752401, -1.0000000004078493],
            ],
            [1, -1, 1, -1, -1, 1, -1],
        ),
        Setting(width=4),
        0,
    ),
}


@pytest.mark.parametrize("name", FALSE_ALARMS)
def test_true_statements_are_not_refuted(name):
    id, (X, y), setting, seed = FALSE_ALARMS[name]
    data = Dataset(np.array(X), np.array(y))
    (verdict,) = explain(data, setting, seed=seed, only=id).worst.verdicts
    assert verdict.status != "refuted", verdict.words
