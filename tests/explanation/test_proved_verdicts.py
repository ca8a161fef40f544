"""Theorems about the limit carry the mark of a proof exactly where one proves what they promise."""

from dataclasses import replace

import numpy as np
import pytest

from tacit import Explanation, Setting, explain
from tacit.explanation.observation import observe
from tacit.theorems import Case, judge, theorem
from tacit.values import Interval

ORTHOGONAL = "lyu2021:thmH.2"


@pytest.fixture(scope="module")
def why() -> Explanation:
    return explain("orthogonal:n=12,d=2", Setting(width=12), only=(ORTHOGONAL, "lyu2021:thm3.1"))


def test_the_mark_is_in_words_json_report_and_folder(why, tmp_path, undrawn) -> None:
    marks = {one.theorem.id: one.proved for one in why.worst.verdicts}
    assert marks == {ORTHOGONAL: True, "lyu2021:thm3.1": False}  # a KKT point is no margin
    (told,) = [one for one in why.worst.verdicts if one.proved]
    assert told.status == "confirmed"
    assert "Proved: the margin can only end there" in told.words and "99.99" in told.words
    assert {one["id"]: one["proved"] for one in why.to_dict()["theorems"]} == marks
    assert "(1 with a proof of what the limit is)" in repr(why)
    assert why.html.count('<span class="badge proved">proved</span>') >= 1
    why.save(tmp_path / "why")
    again = Explanation.load(tmp_path / "why")
    assert [one.proved for one in again.worst.verdicts] == list(marks.values())
    assert again.limit.proved.margin_bounds == why.limit.proved.margin_bounds


def test_a_promise_of_more_than_margin_and_directions_is_not_proved_by_these(why) -> None:
    """Lemma H.3 speaks of every neuron, however light."""
    verdict = judge(theorem("lyu2021:lemmaH.3"), Case(why.data, why.setting), observe(why.limit))
    assert verdict.status == "confirmed" and "Proved: the margin" in verdict.words
    assert not verdict.proved and not theorem("lyu2021:thm5.6").proof_covers_it


def test_a_proof_of_something_else_is_no_proof(why) -> None:
    case, run = Case(why.data, why.setting), observe(why.limit)
    assert judge(theorem(ORTHOGONAL), case, run).proved
    lower, upper = run.proved.margin_bounds
    others = (
        None,
        replace(run.proved, margin_bounds=Interval(0.9 * lower, upper)),
        replace(run.proved, margin_bounds=Interval(1.1 * lower, 1.1 * upper)),
    )
    for other in others:
        verdict = judge(theorem(ORTHOGONAL), case, replace(run, proved=other))
        assert verdict.status == "confirmed" and not verdict.proved
    directions = run.proved.directions
    turned = tuple((s, np.array([-u[1], u[0]])) for s, u in directions)
    for other in (
        replace(run.proved, directions=turned),
        replace(run.proved, directions=directions[:1]),
        replace(run.proved, share=None, angle=None),
        replace(run.proved, share=0.5),
    ):
        verdict = judge(theorem(ORTHOGONAL), case, replace(run, proved=other))
        assert "the margin can only end there" in verdict.words and "weight" not in verdict.words
        assert verdict.status == "confirmed" and not verdict.proved
