"""docs/explain.md: its Python runs, its options and keys are those of the commands."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tacit.cli import main

TEXT = (Path(__file__).parents[2] / "docs" / "explain.md").read_text("utf-8")


def test_the_python_example_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    exec(code, {})
    *before, after = capsys.readouterr().out.strip().splitlines()
    assert all(line.startswith("phuong2021:") for line in before) and len(before) > 5
    assert after == "proved confirmed"


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    "line", [line for line in re.findall(r"^tacit .*", TEXT, re.M)], ids=lambda line: line[:40]
)
def test_the_commands_are_understood(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("points.csv").write_text("x1,x2,y\n1,2,1\n2,1,1\n-1,-2,-1\n")
    Path("iris.csv").write_text("5.1,3.5,setosa\n7.0,3.2,versicolor\n6.3,3.3,virginica\n")
    words = shlex.split(line.partition("#")[0])[1:]
    few = ["--only", "lyu2021:thmH.2", "--width", "10"]
    assert main([*words, *few]) == 0, capsys.readouterr().err


def test_the_options_are_those_of_the_commands(capsys):
    shown = {}
    for command in ("predict", "explain"):
        main([command, "--help"])
        shown[command] = set(re.findall(r"--[a-z][a-z0-9-]+", capsys.readouterr().out))
    first, second = TEXT.split("## `tacit explain`")
    for name in re.findall(r"^\| `(--[a-z0-9-]+)", first, re.M):
        assert name in shown["predict"]
        assert (name in shown["explain"]) == (name not in ("--model", "--rule", "--lr"))
    for name in re.findall(r"^\| `(--[a-z0-9-]+)", second, re.M):
        assert name in shown["explain"]


def test_the_keys_are_those_of_the_commands(capsys):
    table = re.findall(r"^\| (`[^|]*`) \|", TEXT.split("## For scripts")[1], re.M)
    named = {key for cell in table for key in re.findall(r"`(\w+)`", cell)}
    only = ["--only", "lyu2021:thmH.2", "--json"]
    assert main(["predict", "orthogonal:n=10,d=2", *only]) == 0
    (result,) = json.loads(capsys.readouterr().out)["theorems"]
    assert set(result) == named - {"verdict", "residual", "tolerance"}
    shown = re.search(r"\[\{(`name`.*?)\}\]", TEXT).group(1)
    assert set(result["hypotheses"][0]) == set(re.findall(r"`(\w+)`", shown))


@pytest.mark.usefixtures("undrawn")
def test_the_keys_of_explain(tmp_path, capsys):
    call = ["explain", "orthogonal:n=10,d=2", "--width", "10", "--only", "lyu2021:thmH.2"]
    assert main([*call, "--out", str(tmp_path / "out"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads((tmp_path / "out" / "result.json").read_text("utf-8"))
    assert {"verdict", "residual", "tolerance", "words"} <= set(result["theorems"][0])
    assert {"linearly_separable", "outcome", "margin", "setting", "seconds"} <= set(result)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "arrays.npz",
        "explanation.json",
        "limit.json",
        "report.html",
        "result.json",
    ]
