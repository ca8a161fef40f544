"""What `limit` returns: for a person, for scripts, and for what is asked wrongly."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import tacit
from helpers import refused
from tacit import Limit, Limits, Network, Setting, load
from tacit.certificates.margin_gradients import TooLong
from tacit.flow import Outcome, PathEnd, ending, initial_network, limit
from tacit.flow.follow import Flow

SMALL = Setting(width=8)


@pytest.fixture(scope="module")
def end() -> Limit:
    ended = limit("gaussians:n=8,d=2,test=3", SMALL, log10_loss=-40.0)
    assert isinstance(ended, Limit) and ended.outcome is Outcome.PROVED
    return ended


@pytest.fixture(scope="module")
def several() -> Limits:
    ended = limit(load("orthogonal_classes:n=6,d=3"), SMALL, log10_loss=-20.0)
    assert isinstance(ended, Limits)
    return ended


def test_the_network_is_the_limit(end: Limit) -> None:
    assert end.network is not None and end.network.alpha == 0
    X, y = end.data.X, end.data.y
    assert end.network.margins(X, y).min() == pytest.approx(1)
    assert end.network.margin(X, y) == pytest.approx(end.margin)
    assert sum(group.weight for group in end.groups) == pytest.approx(end.network.weights.sum())
    assert end.test_error == end.network.error(end.data.test.X, end.data.test.y)


def test_a_person_reads_a_few_lines(end: Limit, several: Limits) -> None:
    for one in (end, several):
        lines = repr(one).splitlines()
        assert 2 <= len(lines) <= 5 and max(map(len, lines)) < 200
        assert one._repr_html_().startswith("<div>")
    assert "proved" in repr(end) and "KKT point" in repr(end)
    assert "3 classes" in repr(several)


def test_scripts_read_json(end: Limit, several: Limits) -> None:
    for each in (end, several):
        assert json.loads(json.dumps(each.to_dict(), allow_nan=False)) == each.to_dict()
    whole = several.to_dict()
    assert [one["class"] for one in whole["networks"]] == list(several.data.classes)
    assert whole["outcome"] == several.worst.outcome
    assert whole["seconds"] == sum(one.seconds for one in several.each)


def test_the_limits_of_classes_are_in_their_order(several: Limits) -> None:
    assert len(several) == 3 == len(list(several)) and several[1] is several.each[1]
    assert all(one.setting == SMALL for one in several)
    assert several.worst in several.each and not several.interrupted


def test_the_way_to_the_limit_is_a_table(end: Limit, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    refused(end.to_frame, "to_frame needs pandas")
    fake = SimpleNamespace(DataFrame=lambda rows, columns: (rows, columns))
    monkeypatch.setitem(sys.modules, "pandas", fake)
    rows, columns = end.to_frame()
    assert columns == ["log10_loss", "angle"] and rows.shape[1] == 2
    assert rows[-1, 0] == pytest.approx(end.log10_loss)


def test_every_outcome_and_every_end_has_its_sentence() -> None:
    for status in (*Outcome, *PathEnd):
        assert status.sentence.endswith(".") and status == status.value
    assert Outcome("dead").sentence.startswith("All neurons are inactive on every sample")


def test_data_comes_in_any_form_and_the_start_can_be_given(end: Limit) -> None:
    data = end.data
    first = tacit.limit(data.X, data.y, SMALL, log10_loss=-40.0)
    start = initial_network(data, SMALL, 0)
    for other in (first, limit(data, SMALL, log10_loss=-40.0, start=start)):
        np.testing.assert_array_equal(other.network.W, end.network.W)


@pytest.mark.parametrize(
    "setting, options, word",
    [
        (Setting(width=10**8), {}, "`width=100000000`"),
        (SMALL, {"seed": -1}, "`seed=-1`"),
        (SMALL, {"log10_loss": 3.0}, "`log10_loss=3`"),
        (SMALL, {"log10_loss": -1e300}, "`log10_loss=-1e+300`"),
        (SMALL, {"seconds": 0.0}, "`seconds=0`"),
        (Setting(model="residual"), {}, "two_layer"),
        (Setting(loss="hinge"), {}, "no exponential tail"),
        (SMALL, {"start": Network([[1.0, 0.0]], [1.0], 0.3)}, "slope α = 0.3 and the setting"),
        (Setting(activation="leaky:0.3"), {"start": Network([[1.0, 0.0]], [1.0])}, "α = 0 and"),
        (SMALL, {"start": Network([[1.0]], [1.0])}, "`start`: W has shape (1, 1)"),
        ("relu", {}, "`setting` has the type str; give a Setting"),
        ({"width": 3}, {}, "`setting` has the type dict"),
    ],
)
def test_what_is_asked_wrongly_is_named(setting, options, word) -> None:
    refused(lambda: limit("xor", setting, **options), word)


def test_a_start_brings_its_width_and_without_a_setting_its_slope() -> None:
    start = Network([[1.0, 0.1], [-1.0, 0.2], [0.3, 0.1]], [1.0, -1.0, 0.5], 0.3)
    for setting in (None, Setting(activation="leaky:0.3")):
        end = limit([[1.0, 0.0], [-1.0, 0.5]], [1, -1], setting, start=start, log10_loss=-20.0)
        assert (end.setting.width, end.setting.alpha) == (3, 0.3)
        assert end.path.moments[0].state.W.shape == (3, 2)


def test_undecided_speaks_of_the_end_of_the_path(monkeypatch) -> None:
    """Also where it was followed further than asked for, and in vain."""
    monkeypatch.setattr(ending, "judge", lambda path, data, train, deadline: "Not shown.")
    monkeypatch.setattr(ending, "CLASSIFIED_FROM", -20.0)
    monkeypatch.setattr(ending, "MORE_TRIES", 20)
    end = limit("xor", Setting(width=20), log10_loss=-20.0)
    assert end.outcome == "undecided" and end.log10_loss < -21
    assert f"log₁₀ L = {end.log10_loss:.4g}. Not shown." in end.reason
    assert "A smaller `log10_loss`" in end.reason


def test_an_interrupted_path_gets_no_advice(monkeypatch) -> None:
    """It was not at its end, so nothing says that another start would help."""
    run = Flow.run

    def interrupted(flow, goal, *args, **options):
        return replace(run(flow, -1.0), end=PathEnd.INTERRUPTED, reason="interrupted")

    monkeypatch.setattr(Flow, "run", interrupted)
    end = limit("xor", SMALL)
    assert isinstance(end, Limit) and end.interrupted and end.outcome is Outcome.UNDECIDED
    assert end.reason.startswith("Interrupted; ") and "may decide" not in end.reason


def test_an_interrupt_during_the_proof_keeps_the_limit(monkeypatch) -> None:
    def interrupted(flow, goal, seconds=1.0, progress=None, **options):
        return replace(run(flow, -1.0, seconds), end=PathEnd.INTERRUPTED)

    run = Flow.run
    monkeypatch.setattr("tacit.flow.proof.DEPTHS", (-1e9,))
    end = limit("gaussians:n=8,d=2", SMALL, log10_loss=-40.0)
    assert end.outcome is Outcome.PROVED and not end.interrupted
    judged = ending._end

    def then_interrupted(*args, **options):
        monkeypatch.setattr(Flow, "run", interrupted)
        return judged(*args, **options)

    monkeypatch.setattr(ending, "_end", then_interrupted)
    end = limit("gaussians:n=8,d=2", SMALL, log10_loss=-40.0)
    assert end.outcome is Outcome.CONVERGED and end.interrupted and end.certificate is not None


def test_a_limit_that_the_proof_excludes_is_not_claimed(monkeypatch) -> None:
    """No later margin is below that of a moment of the path, whatever the evidence says."""
    wrong = limit("gaussians:n=8,d=2", SMALL, log10_loss=-40.0)
    off = replace(wrong.certificate, kkt=replace(wrong.kkt, margin=0.99 * wrong.margin))
    monkeypatch.setattr(ending, "compared", lambda *args, **options: off)
    end = limit("gaussians:n=8,d=2", SMALL, log10_loss=-40.0)
    assert end.outcome is Outcome.UNDECIDED and end.network is None and end.proved is None
    assert "the margin can only end between" in end.reason


def test_the_kkt_conditions_have_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """They had no deadline; where they would miss it, the limit is not known."""
    allowed = []

    def too_long(*_: object, seconds: float, **__: object) -> None:
        allowed.append(seconds)
        raise TooLong("it takes longer")

    monkeypatch.setattr("tacit.flow.evidence.two_layer_kkt", too_long)
    ended = limit("gaussians:n=8,d=2", SMALL, seconds=100.0)
    assert ended.outcome == "undecided" and "there was no time to find" in ended.reason
    assert allowed and all(0 < seconds < 100 for seconds in allowed)
