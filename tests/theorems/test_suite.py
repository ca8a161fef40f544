"""The suite that runs on every theorem."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from statement_checks import up_to
from tacit.explanation.observation import observe
from tacit.flow import limit
from tacit.theorems import Case, Observation, PathPoint, applies, judge, theorem, theorems
from tacit.theorems.hypotheses import NEEDS_A_RUN
from tacit.values import Dataset
from tacit.values.jsonable import plain

ALL = sorted(theorems())
ZERO = 1e-9
"""Residual of a conclusion that holds exactly, in floating point."""
UNQUANTIFIED = {
    "lyu2021:thm4.3": {"start_fades"},
    "lyu2021:cor4.4": {"small_initialisation"},
    "lyu2021:lemma5.2": {"room_for_r"},
    "lyu2021:lemma5.4": {"start_has_faded"},
    "lyu2021:thm5.6": {"large_start", "near_the_best"},
    "lyu2021:thm6.2": {"negative_stay_small"},
    "lyu2021:thmA.7": {"negative_stay_small"},
    "lyu2021:thmA.10": {"positive_stay_small"},
    "lyu2021:thmE.4": {"small_enough"},
    "lyu2021:lemmaG.4": {"small_start"},
    "lyu2021:lemmaG.5": {"small_start"},
    "lyu2021:lemmaG.8": {"negative_stay_small"},
    "phuong2021:thm1": {"small_start"},
    "phuong2021:prob": {"small_start"},
    "phuong2021:cor1": {"small_start"},
    "phuong2021:lemma1": {"small_start", "turned_in_time"},
    "wang2022:thm1": {"lasts_until_aligned"},
    "wang2022:thm2": {"small_start"},
    "wang2022:thm4": {"small_start"},
    "wang2022:lemma2": {"lasts_at_first"},
    "wang2022:cor1": {"lasts_until_turned"},
}
"""Statements that do not say how small (or near, or large) is enough, by their own words."""
SILENT = {"sarussi2021:thm4.1", "phuong2021:lemmaA.3"}
"""They look at what lies between two moments, so random networks tell them nothing; the tests of
their papers show that they can fail."""


def those(*needs):
    return [id for id in ALL if theorem(id).needs in needs]


@cache
def example(id):
    return theorem(id).example()


FLOWS = {}


def flow_of_example(id):
    """Theorems that have the same example share its flow."""
    case = example(id)
    start = case.start and (case.start.W.tobytes(), case.start.a.tobytes())
    same = (case.data.X.tobytes(), case.data.y.tobytes(), case.setting, start)
    if same not in FLOWS:
        FLOWS[same] = observe(limit(case.data, case.setting, start=case.start))
    return FLOWS[same]


def needs_a_run(check):
    return check.holds is None and check.note.startswith(NEEDS_A_RUN)


@pytest.mark.parametrize("id", ALL)
def test_it_says_what_it_is(id):
    one = theorem(id)
    key, _, number = id.partition(":")
    assert one.id == id and one.source.key == key and number
    assert one.summary.endswith(".") and "\n" not in one.summary
    assert type(one).__doc__, "the docstring states the theorem"
    assert one.tolerance >= 0
    assert one.invariances <= {"order", "scale", "rotation"}


@pytest.mark.parametrize("id", ALL)
def test_its_example_meets_every_hypothesis(id):
    checks = theorem(id).hypotheses(example(id))
    assert [c.name for c in checks if c.holds is not True and not needs_a_run(c)] == []
    assert len({c.name for c in checks}) == len(checks)
    assert all(c.place for c in checks)


@pytest.mark.parametrize(
    "id", [id for id in ALL if type(theorem(id)).__module__.startswith("tacit.papers.")]
)
def test_what_is_not_quantified_is_marked(id):
    for case in (example(id), replace(example(id), start=None)):
        checks = theorem(id).hypotheses(case)
        vague = {check.name for check in checks if not check.quantified}
        wanted = UNQUANTIFIED.get(id, set())
        assert len(vague) == len(wanted)
        assert vague == wanted or case.start is None  # one is called otherwise without a start


@pytest.mark.parametrize("id", ALL)
def test_its_counterexample_fails_exactly_its_own(id):
    case, name = theorem(id).counterexample()
    checks = theorem(id).hypotheses(case)
    assert [c.name for c in checks if c.holds is not True and not needs_a_run(c)] == [name]
    failed = next(c for c in checks if c.name == name)
    assert failed.holds is False and failed.slack is not None and failed.slack <= 0
    assert judge(theorem(id), case).status == "not applicable"


@pytest.mark.parametrize("id", ALL)
def test_its_prediction_is_plain_numbers_and_a_sentence(id):
    said = theorem(id).predict(example(id))
    assert said.words.endswith(".") and "\n" not in said.words
    plain(said.values)
    for sign, direction in said.directions:
        assert sign in (-1, 1) and np.linalg.norm(direction) == pytest.approx(1)


@pytest.mark.parametrize("id", those("data"))
def test_what_the_data_alone_decides_holds(id):
    verdict = judge(theorem(id), example(id))
    assert verdict.status == "confirmed", verdict.words


@pytest.mark.parametrize("id", those("limit", "path", "descent", "ensemble"))
def test_a_run_made_by_hand_has_no_residual(id):
    one, case = theorem(id), example(id)
    said = one.predict(case)
    ideal = one.ideal(said, case)
    assert ideal is not None
    assert one.residual(said, case, ideal) <= ZERO


@pytest.mark.parametrize("id", those("limit", "path", "descent"))
def test_another_run_has_one(id, rng):
    one, case = theorem(id), example(id)
    said = one.predict(case)
    spoilt = changed(one.ideal(said, case), lambda network: _disturbed(network, rng))
    residual = one.residual(said, case, spoilt)
    if id in SILENT:
        assert residual is None
    else:
        assert residual is not None and residual > one.tolerance


@pytest.mark.parametrize(
    ("id", "invariance"),
    [
        (id, invariance)
        for id in those("limit", "path", "descent")
        for invariance in sorted(theorem(id).invariances)
    ],
)
def test_residuals_keep_the_invariances_it_declares(id, invariance, rng):
    one, case = theorem(id), example(id)
    said = one.predict(case)
    run = changed(one.ideal(said, case), lambda network: _nudged(network, rng))
    before = one.residual(said, case, run)
    if invariance == "order":
        order = rng.permutation(len(run.start.a))
        other = changed(run, lambda net: replace(net, W=net.W[order], a=net.a[order]))
        case = replace(case, start=_reordered(case.start, order), _properties={})
    elif invariance == "scale":
        other = changed(run, lambda net: _tripled(net, case.both))
    else:
        Q = np.linalg.qr(rng.normal(size=(case.data.d, case.data.d)))[0]
        other = changed(run, lambda net: replace(net, W=net.W @ Q))
        data = Dataset(case.data.X @ Q, case.data.y, case.data.name, case.data.classes)
        start = None if case.start is None else replace(case.start, W=case.start.W @ Q)
        case = Case(data, case.setting, start)
        said = one.predict(case)
    assert one.residual(said, case, other) == pytest.approx(before, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(
    "id", [id for id in those("data") if "rotation" in theorem(id).invariances]
)
def test_what_the_data_decides_holds_in_other_coordinates_too(id, rng):
    case = example(id)
    Q = np.linalg.qr(rng.normal(size=(case.data.d, case.data.d)))[0]
    data = Dataset(case.data.X @ Q, case.data.y, case.data.name, case.data.classes)
    verdict = judge(theorem(id), Case(data, case.setting))
    assert verdict.status == "confirmed", (verdict.residual, verdict.words)


@pytest.mark.parametrize("id", those("limit", "path"))
def test_its_example_meets_the_hypotheses_about_the_path_too(id):
    checks = theorem(id).hypotheses(example(id), flow_of_example(id))
    assert applies(checks), [(c.name, c.slack, c.note) for c in checks if not c.holds]


@pytest.mark.parametrize("id", those("limit", "path"))
def test_the_flow_confirms_it(id):
    verdict = judge(theorem(id), example(id), flow_of_example(id))
    assert verdict.status == "confirmed", (verdict.residual, verdict.words)


@pytest.mark.parametrize("id", those("limit"))
def test_the_flow_approaches_the_prediction(id):
    one, case, run = theorem(id), example(id), flow_of_example(id)
    said = one.predict(case)
    last = run.path[-1].log_loss / np.log(10)
    seen = [one.residual(said, case, up_to(run, depth)) for depth in (-1, -30, last)]
    # What is 0 up to rounding need not fall any more.
    assert all(late < early or late <= ZERO for early, late in pairwise(seen)), seen


@pytest.mark.parametrize("id", [id for id in ALL if theorem(id).errata])
def test_its_errata_are_shown_by_a_computation(id):
    for erratum in theorem(id).errata:
        evidence = erratum.check()
        assert evidence.supports == "corrected", evidence.words
        assert evidence.words.endswith(".")


def changed(run, change):
    """The run with every network changed."""
    moments = tuple(PathPoint(m.time, m.log_loss, change(m.network)) for m in run.path)
    limit = None if run.limit is None else change(run.limit)
    return Observation(moments, limit, run.outcome, run.members, run.events)


def _reordered(start, order):
    return None if start is None else replace(start, W=start.W[order], a=start.a[order])


def _tripled(network, both):
    return replace(network, W=3 * network.W, a=3 * network.a if both else network.a)


def _disturbed(network, rng):
    """Every neuron turned by an angle of its own, of the order of one."""
    sizes = np.linalg.norm(network.W, axis=1, keepdims=True)
    noise = rng.normal(size=network.W.shape)
    return replace(network, W=network.W + sizes * noise)


def _nudged(network, rng):
    """The same, by a little."""
    sizes = np.linalg.norm(network.W, axis=1, keepdims=True)
    return replace(network, W=network.W + 0.01 * sizes * rng.normal(size=network.W.shape))
