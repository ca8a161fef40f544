"""`tacit predict` and `tacit explain` from the command line."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tacit import Setting, load
from tacit.cli import main
from tacit.theorems import Case, Prediction, Source, Theorem, theorems
from tacit.theorems.hypotheses import yes_or_no


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, undrawn):
    """The pictures are those of tests/explanation/report, and of the commands of the docs."""
    monkeypatch.chdir(tmp_path)


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys, *words):
    code, out, err = run(capsys, *words, "--json")
    assert code == 0, err
    return json.loads(out)


def test_predict_asks_every_theorem_and_does_not_train(capsys, monkeypatch):
    monkeypatch.setattr("tacit.flow.follow.Flow.run", None)
    result = as_json(capsys, "predict", "orthogonal:n=12,d=3,seed=1", "--width", 8)
    assert [one["id"] for one in result["theorems"]] == list(theorems())
    for one in result["theorems"]:
        assert one["applies"] in (True, False, None)
        assert one["hypotheses"] and all(check["place"] for check in one["hypotheses"])
        assert (one["prediction"] is None) == (one["applies"] is False)
        failing = [check for check in one["hypotheses"] if check["holds"] is False]
        assert bool(failing) == (one["applies"] is False)


def test_predict_names_what_applies_to_orthogonally_separable_data(capsys):
    code, out, _ = run(capsys, "predict", "orthogonal:n=12,d=3,seed=1", "--only", "phuong2021")
    assert code == 0
    assert "phuong2021:lemma2" in out and "lyu2021" not in out


def test_another_network_other_theorems(capsys):
    call = ["predict", "symmetric:n=10,d=2,seed=0", "--only", "lyu2021:thm4.3"]
    (relu,) = as_json(capsys, *call)["theorems"]
    (leaky,) = as_json(capsys, *call, "--activation", "leaky:0.5")["theorems"]
    assert relu["applies"] is False and leaky["applies"] is not False


def test_a_convolutional_net_on_xord(capsys):
    words = "predict xord_decoy --model conv_max_pool --loss hinge:8 --rule gd --lr 1e-5"
    words += " --width 240 --init gaussian:1e-9 --only brutzkus2019:thm6.3"
    (result,) = as_json(capsys, *words.split())["theorems"]
    assert result["applies"] is True and result["prediction"]["words"]


def test_of_three_classes_each_is_asked_against_the_rest(capsys):
    Path("three.csv").write_text("1,0,a\n0.9,0.1,a\n-1,1,b\n-1,1.2,b\n-1,-1,c\n-1,-1.1,c\n")
    result = as_json(capsys, "predict", "three.csv", "--width", 6)
    assert [part["class"] for part in result["networks"]] == ["a", "b", "c"]
    assert all(len(part["theorems"]) == len(theorems()) for part in result["networks"])
    few = ("--width", 12, "--only", "lyu2021:thm3.1")
    explained = as_json(capsys, "explain", "three.csv", *few)
    assert [part["class"] for part in explained["networks"]] == ["a", "b", "c"]


def test_explain_is_the_union_of_the_others(capsys):
    result = as_json(capsys, "explain", "orthogonal:n=12,d=2,seed=1", "--width", 20, "--out", "it")
    for key in ("linearly_separable", "max_margin", "properties", "outcome", "groups", "kkt"):
        assert key in result
    assert result["outcome"] == "proved" and result["optimality"] == "certified"
    verdicts = {one["id"]: one["verdict"] for one in result["theorems"]}
    assert verdicts["lyu2021:thmH.2"] == "confirmed"
    assert verdicts["brutzkus2019:thm3.3"] == "not applicable"
    assert "refuted" not in verdicts.values()
    assert json.loads(Path("it/result.json").read_text("utf-8")) == result
    assert "<html" in Path("it/report.html").read_text("utf-8")


def test_without_out_a_new_folder_is_made_each_time(capsys):
    for _ in range(2):
        code, out, _ = run(capsys, "explain", "xor", "--width", 8, "--only", "lyu2021:thm3.1")
        assert code == 0
    assert "explain-xor-2/report.html" in out
    assert sorted(path.name for path in Path().iterdir()) == ["explain-xor", "explain-xor-2"]


def test_an_explanation_is_shown_although_the_disk_is_full(capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    call = ["explain", "xor", "--width", 8, "--only", "lyu2021:thm3.1", "--out", "there"]
    code, out, err = run(capsys, *call)
    assert code == 2 and "separable" in out and "report" not in out and not Path("there").exists()
    assert "No space left" in err and err.count("\n") == 1


def test_a_name_that_another_takes_meanwhile_is_left_to_it(capsys, monkeypatch):
    from tacit.explanation import Explanation

    saved = Explanation.save

    def late(self, path, force=False):
        Path("explain-xor").mkdir(exist_ok=True)
        saved(self, path, force)

    monkeypatch.setattr(Explanation, "save", late)
    code, out, _ = run(capsys, "explain", "xor", "--width", 8, "--only", "lyu2021:thm3.1")
    assert code == 0 and "explain-xor-2/report.html" in out
    assert not list(Path("explain-xor").iterdir())


def test_an_older_folder_is_kept_unless_forced(capsys):
    call = ["explain", "xor", "--width", 8, "--only", "lyu2021:thm3.1", "--out", "it"]
    assert run(capsys, *call)[0] == 0
    code, _, err = run(capsys, *call)
    assert code == 2 and "--force" in err
    assert run(capsys, *call, "--force")[0] == 0


def test_a_name_that_is_a_script_is_text(capsys):
    name = "<script>alert(1)<"
    Path(name).mkdir()
    np.savez(f"{name}/script>.npz", X=np.array([[1.0, 2.0], [-1.0, 0.5]]), y=np.array([1, -1]))
    few = ("--width", 8, "--only", "lyu2021:thm3.1")
    code, _, err = run(capsys, "explain", f"{name}/script>.npz", *few, "--out", "it")
    assert code == 0, err
    assert Path("it/report.html").read_text("utf-8").count("<script") == 1  # its own


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["explain", "nothing.csv"], "nothing.csv"),
        (["explain", "xor", "--only", "lyu2021:thm99"], "lyu2021:thm99"),
        (["predict", "xor", "--only", "lyu2022"], "lyu2022"),
        (["explain", "xor", "--seconds", "0"], "--seconds"),
        (["explain", "xor", "--loss", "hinge"], "hinge"),
        (["explain", "xor", "--output-weight", "2"], "--train first"),
        (["predict", "xor", "--rule", "newton"], "newton"),
        (["predict", "xor", "--width", "0"], "--width"),
        (["predict", "xor", "--model", "nonsense"], "nonsense"),
        (["predict", "xor", "--loss", "square"], "square"),
        (["predict", "xor", "--lr", "0"], "--lr"),
    ],
)
def test_bad_input_is_one_line(words, message, capsys):
    code, out, err = run(capsys, *words)
    assert code == 2 and out == ""
    assert message in err and err.count("\n") == 1
    assert list(Path().iterdir()) == []


class Wrong(Theorem):
    """Every network ends with one neuron."""

    id = "test:wrong"
    source = Source("test", "Theorem 0")
    summary = "Every network ends with one neuron."
    needs = "limit"
    tolerance = 1e-6

    def example(self) -> Case:
        return Case(load("xor"), Setting(rule="flow"))

    def counterexample(self) -> tuple[Case, str]:
        return self.example(), "anything"

    def hypotheses(self, case, run=None):
        return (yes_or_no("anything", True, "everywhere"),)

    def predict(self, case):
        return Prediction("One neuron survives.")

    def residual(self, prediction, case, run):
        return float(len(run.end.a) - 1)


def test_what_is_refuted_is_loud_and_can_be_run_again(capsys, monkeypatch):
    module = sys.modules["tacit.explanation.predictions"]
    monkeypatch.setattr(module, "theorems", lambda: {Wrong.id: Wrong()})
    code, out, _ = run(capsys, "explain", "xor", "--width", 8, "--seed", 3, "--out", "it")
    assert code == 1
    assert "refuted" in out and "test:wrong" in out
    page = Path("it/report.html").read_text("utf-8")
    assert "tacit explain xor" in page and "--seed 3" in page


@pytest.mark.parametrize(
    "rows",
    [
        "1e-170,0,1\n0,-1e-170,-1\n",
        "1e160,0,1\n0,-1e160,-1\n",
        "1e-310,0,1\n0,-1,-1\n",
        "1e-170,3,1\n0,-1e160,-1\n",
    ],
)
@pytest.mark.parametrize("command", ["predict", "explain"])
def test_data_beyond_the_arithmetic_is_refused_in_one_line(rows, command, capsys):
    Path("far.csv").write_text(rows)
    code, out, err = run(capsys, command, "far.csv")
    assert code == 2 and out == "" and err.count("\n") == 1
    assert "row 0" in err or "row 1" in err
