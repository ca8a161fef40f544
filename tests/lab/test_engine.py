"""The answer on the page is the answer of the library."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tacit
from lab_cases import CASE, SETTING, message
from tacit.lab.again import command_line, data_name, python_lines
from tacit.lab.engine import answer, points_message
from tacit.lab.frames import fallen, fingerprint
from tacit.lab.hello import hello
from tacit.lab.requests import read_request
from tacit.values import BadInput


def answers(raw: str) -> list[dict]:
    said: list[dict] = []
    answer(read_request(raw), said.append)
    json.dumps(said, allow_nan=False)  # every number that a page gets is finite
    return said


@pytest.fixture(scope="module")
def told() -> list[dict]:
    return answers(message())


def test_frames_are_the_moments_of_the_limit(told):
    X, y = CASE["points"], CASE["labels"]
    setting = tacit.Setting(width=6, init="balanced:0.0001")
    limit = tacit.limit(X, y, setting, seed=3)
    frames = [frame for one in told if one["is"] == "frames" for frame in one["frames"]]
    assert len(frames) == len(limit.path.moments)
    for frame, moment in zip(frames, limit.path.moments, strict=True):
        assert frame["W"] == moment.state.W.tolist() and frame["a"] == moment.state.a.tolist()
    end = next(one for one in told if one["is"] == "limit")
    assert end["fingerprint"] == fingerprint(limit.path)
    assert end["margin"] == limit.margin and end["verdict"] == limit.certificate.verdict
    assert frames[-1]["margin"] == limit.measures.margin[-1]
    assert len(end["events"]) == len(limit.path.events)


def test_verdicts_are_those_of_explain(told):
    why = tacit.explain(CASE["points"], CASE["labels"], tacit.Setting(width=6), seed=3)
    expected = {
        one.theorem.id: str(one.status) for one in why.worst.verdicts if one.applies is not False
    }
    verdicts = next(one for one in told if one["is"] == "verdicts")["verdicts"]
    assert {one["id"]: one["verdict"] for one in verdicts} == expected


def test_lamps_are_the_hypotheses_of_predict():
    said = answers(message("check"))
    assert [one["is"] for one in said] == ["geometry", "lamps", "predictions"]
    setting = tacit.Setting(width=6, rule="flow")
    known = tacit.predict(CASE["points"], CASE["labels"], setting, seed=3).to_dict()["theorems"]
    for lamp, theorem in zip(said[1]["lamps"], known, strict=True):
        assert lamp["id"] == theorem["id"] and lamp["applies"] == theorem["applies"]
        assert lamp["hypotheses"] == theorem["hypotheses"]


def test_dragging_asks_for_no_predictions():
    assert [one["is"] for one in answers(message("check", dragging=True))] == ["geometry", "lamps"]


@pytest.mark.long
def test_descent_starts_where_the_flow_does(told):
    said = [one["frames"][0] for one in answers(message("descend"))]
    assert [one["epoch"] for one in said][0] == 0 and said[-1]["epoch"] == 50
    first = next(one for one in told if one["is"] == "frames")["frames"][0]
    assert said[0]["W"] == first["W"] and said[0]["a"] == first["a"]
    setting = tacit.Setting(width=6, rule="gd", lr=0.1, step="scaled", init="balanced:0.0001")
    run = tacit.train(CASE["points"], CASE["labels"], setting, epochs=50, seeds=(3,))
    np.testing.assert_array_equal(said[-1]["W"], np.asarray(run.state["params.W"])[0])


@pytest.fixture
def folder(tmp_path, monkeypatch) -> None:
    """A folder with the points as the page saves them."""
    rows = [
        ",".join(map(repr, x)) + f",{y}"
        for x, y in zip(CASE["points"], CASE["labels"], strict=True)
    ]
    (tmp_path / "points.csv").write_text("\n".join(["x1,x2,y", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)


def test_the_python_lines_give_the_same_run(folder, told):
    end = next(one for one in told if one["is"] == "limit")
    names: dict[str, Any] = {}
    exec(end["python"], names)
    assert fingerprint(names["limit"].path) == end["fingerprint"]
    assert names["limit"].margin == end["margin"]


@pytest.mark.long
def test_the_command_line_gives_the_same_answer(folder, told):
    end = next(one for one in told if one["is"] == "limit")
    words = shlex.split(end["command"])
    assert words[0] == "tacit"
    command = [sys.executable, "-m", "tacit", *words[1:], "--json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert answer["margin"] == end["margin"] and answer["outcome"] == end["outcome"]
    assert answer["groups"] == end["groups"]
    verdicts = next(one for one in told if one["is"] == "verdicts")["verdicts"]
    known = {one["id"]: one for one in answer["theorems"]}
    assert all(known[one["id"]]["verdict"] == one["verdict"] for one in verdicts)


def test_points_of_a_generator_are_called_by_it_until_they_are_moved():
    data = tacit.load("gaussians:n=6,d=2")
    case = {"points": data.X.tolist(), "labels": data.y.tolist(), "source": "gaussians:n=6,d=2"}
    assert data_name(read_request(message(**case))) == "gaussians:n=6,d=2"
    case["points"][0][0] += 1.0
    request = read_request(message(**case, bias=0.5))
    assert data_name(request) == "points.csv"
    assert "--bias 0.5" in command_line(request, "points.csv")
    assert "bias=0.5" in python_lines(request, "points.csv")


def test_a_dropped_file_is_read_as_the_command_line_reads_it():
    raw = {
        "id": 1,
        "do": "read",
        "name": "my.csv",
        "text": "a,b,y\n1,2,cat\n3,4,dog\n",
        "choose": "",
    }
    (said,) = answers(json.dumps(raw))
    assert said["points"] == [[1.0, 2.0], [3.0, 4.0]] and said["labels"] == [-1, 1]
    assert said["columns"] == ["a", "b"] and said["name"] == "my"
    with pytest.raises(BadInput, match="^my.csv, line 3, column 2"):
        answers(json.dumps({**raw, "text": "a,b,y\n1,2,cat\n3,x,dog\n"}))
    with pytest.raises(BadInput, match="3 classes"):
        answers(json.dumps({**raw, "text": "1,2,a\n3,4,b\n5,6,c\n"}))
    (said,) = answers(json.dumps({**raw, "text": "1,2,a\n3,4,b\n5,6,c\n", "choose": "a,c"}))
    assert said["labels"] == [1, -1]


def test_a_page_shows_no_more_than_it_can():
    with pytest.raises(BadInput, match="at most 1000"):
        points_message(tacit.load("gaussians:n=1001,d=2"), "")


def test_every_generator_of_the_menu_draws_points_for_a_page():
    request = read_request(message())
    menu = hello(points_message(tacit.load("xor"), "xor"), request)["generators"]
    assert len(menu) > 10
    for one in menu:
        call = f"{one['name']}:{one['with']}" if one["with"] else one["name"]
        (said,) = answers(json.dumps({"id": 1, "do": "load", "call": call}))
        assert len(said["points"]) <= 60 and set(said["labels"]) <= {-1, 1}, call


@pytest.mark.long
def test_a_worse_limit_comes_with_a_better_network():
    rng = np.random.default_rng(8)
    points, labels = np.round(rng.normal(size=(6, 2)), 1), np.where(rng.random(6) < 0.5, 1, -1)
    case = {"points": points.tolist(), "labels": labels.tolist(), "seed": 0}
    setting = {**SETTING, "activation": "leaky:0.3", "init": "balanced:0.01", "width": 8}
    said = answers(message(**case, setting=setting))
    end = next(one for one in said if one["is"] == "limit")
    best = next(one for one in said if one["is"] == "best")
    assert end["optimality"] == "suboptimal" and end["share"] < 0.9
    assert best["margin"] == pytest.approx(end["margin"] / end["share"], rel=1e-6)


@pytest.mark.parametrize("kind", ["logistic", "exponential"])
def test_how_far_the_loss_has_fallen_keeps_its_digits(kind):
    q = np.array([1e-20, 3e-20])
    assert fallen(q, kind) == pytest.approx(q.sum() * (0.5 if kind == "logistic" else 1.0))
    large = np.array([0.5, 2.0])
    loss = np.log1p(np.exp(-large)) if kind == "logistic" else np.exp(-large)
    zero = np.log(2) if kind == "logistic" else 1.0
    assert fallen(large, kind) == pytest.approx((zero - loss).sum())
