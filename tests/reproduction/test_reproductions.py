"""`tacit.reproduce` from Python: what it returns, and that a person can read it."""

import json
import sys
from types import SimpleNamespace

import pytest

from tacit.reproduction import reproduce
from tacit.values import BadInput


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    updates = []
    out = tmp_path_factory.mktemp("figures")
    result = reproduce("wang2022:fig2", "wang2022:fig8", out=out, seed=3, progress=updates.append)
    return result, out, updates


def test_a_person_can_read_it(made):
    result, _, _ = made
    first, *rest = repr(result).splitlines()
    assert first == f"Reproduction: 2 figures, {len(result.claims)} claims, of which 7 hold"
    assert len(rest) == 1 and "✗ wang2022:fig8 The data is not spike-free" in rest[0]
    assert result._repr_html_().count("<tr>") == 1 + len(result.claims)
    assert not result.all_hold


def test_it_is_the_json_of_the_command_line(made, capsys):
    from tacit.cli import main

    result, out, _ = made
    told = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    code = main(
        ["reproduce", "wang2022:fig2", "wang2022:fig8", "--seed", "3", "--json", "--out", str(out)]
    )
    assert code == 1
    assert json.loads(capsys.readouterr().out) == told
    assert {entry["name"]: entry["value"] for entry in told["figures"][0]["settings"]}["seed"] == 3


def test_progress_says_what_is_computed_and_what_is_finished(made):
    result, _, updates = made
    assert [one.made for one in updates if one.made] == list(result.figures)
    assert {one.total for one in updates} == {2}
    assert any(one.words == "the ellipsoid" for one in updates)


def test_the_claims_are_a_table_for_pandas(made, monkeypatch):
    result, _, _ = made
    monkeypatch.setitem(
        sys.modules, "pandas", SimpleNamespace(DataFrame=lambda *given, **columns: (given, columns))
    )
    (rows,), named = result.to_frame()
    assert len(rows) == len(result.claims) and {len(row) for row in rows} == {10}
    first = dict(zip(named["columns"], rows[0], strict=True))
    assert first.items() <= result.claims[0].items() and {"figure", "paper", "ours"} <= set(first)


def test_without_pandas_it_is_one_line(made, monkeypatch):
    result, _, _ = made
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(BadInput, match="to_frame needs pandas"):
        result.to_frame()


def test_settings_may_be_values_or_texts(tmp_path):
    from tacit.reproduction import artefacts

    artefact = artefacts()["wang2022:fig4"]
    for moments in ((1, 10), [1, 10], "1,10"):
        assert artefact.choose(False, iterations=moments).iterations == (1, 10)
    assert artefact.choose(False, lr=1).lr == 1.0
    for wrong in ({"width": 2.5}, {"width": "2.5"}, {"lr": "fast"}, {"data": 3}, {"width": True}):
        with pytest.raises(BadInput, match="write a value of that kind"):
            artefact.choose(False, **wrong)


def test_names_are_needed_and_must_be_known():
    with pytest.raises(BadInput, match="name a figure"):
        reproduce()
    with pytest.raises(BadInput, match="did you mean 'wang2022:fig1"):
        reproduce("wang2022:fig11")
