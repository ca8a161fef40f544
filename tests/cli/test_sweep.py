"""`tacit sweep` from the command line: its contract with scripts, and one line for bad input."""

import csv
import io
import json
import os
import shutil
import signal
import sys
import time

import pytest

from tacit.cli import main
from tacit.sweeps.computation import compute
from tacit.sweeps.local import Cores
from tacit.sweeps.planned_run import RunResult
from tacit.sweeps.workers import CRASHES
from tacit.values import BadInput

TOML = """
record = ["train_error", "margin"]
epochs = 20
seed = { from = 0, to = 2 }
[data]
name = "gaussians"
n = 10
d = 2
[setting]
width = [2, 3]
lr = 0.5
"""
RUNS = 6


class Here:
    """The real work in this process; the processes have tests of their own."""

    pack, at_once, crashes = 64, 2, CRASHES
    broken = ()

    def __init__(self, workers=None):
        self.given, self.closed = [], False

    def start(self, pack, sets):
        self.given.append((pack, sets))

    def wait(self):
        pack, sets = self.given.pop()
        results = compute(pack, sets)
        return pack, [
            RunResult({}, reason=f"seed {run.seed} is unlucky")
            if run.seed in self.broken
            else result
            for run, result in zip(pack, results, strict=True)
        ]

    def close(self):
        pass


@pytest.fixture
def tacit(capsys, monkeypatch, tmp_path):
    """Run a command in a folder with plan.toml: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tacit.sweeps.local.Cores", Here)
    monkeypatch.setattr(Here, "broken", ())
    (tmp_path / "plan.toml").write_text(TOML)

    def run(*tokens):
        code = main(["sweep", *map(str, tokens)])
        return code, *capsys.readouterr()

    return run


def rows(path):
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))


def test_scripts_get_one_json_object(tacit, tmp_path):
    code, out, err = tacit("plan.toml", "--json")
    assert code == 0 and err == "" and out.count("\n") == 1
    assert json.loads(out) == {
        "runs": RUNS,
        "done": RUNS,
        "failed": 0,
        "cached": 0,
        "table": os.path.join("sweeps", "plan", "table.csv"),
        "folder": os.path.join("sweeps", "plan"),
        "pictures": [],
    }
    table = tmp_path / "sweeps" / "plan" / "table.csv"
    lines = rows(table)
    assert [(row["width"], row["seed"]) for row in lines] == [
        (width, seed) for width in "23" for seed in "012"
    ]
    assert all(row["status"] == "done" and float(row["margin"]) < 1 for row in lines)
    before = table.read_bytes()
    code, out, _ = tacit("plan.toml", "--json")
    assert code == 0 and json.loads(out)["cached"] == RUNS and json.loads(out)["done"] == 0
    assert table.read_bytes() == before


def test_nobody_starts_when_everything_is_there(tacit, monkeypatch):
    tacit("plan.toml")

    def start(*_):
        raise AssertionError("a process was started")

    monkeypatch.setattr(Cores, "_spawn", start)
    monkeypatch.setattr("tacit.sweeps.local.Cores", Cores)
    assert tacit("plan.toml")[0] == 0
    assert tacit("plan.toml", "--seed", 1)[0] == 70  # for these somebody would have to


def test_what_a_person_sees(tacit):
    code, out, err = tacit("plan.toml")
    assert code == 0 and err == ""
    assert "plan: 6 runs, 6 done now, 0 there already" in out
    assert "margin" in out and "largest" in out and "table: sweeps/plan/table.csv" in out
    assert "6 there already" in tacit("plan.toml")[1]


def test_seeds_can_be_moved(tacit, tmp_path):
    tacit("plan.toml", "--out", "a")
    code, out, _ = tacit("plan.toml", "--out", "a", "--seed", 2, "--json")
    assert code == 0 and json.loads(out)["cached"] == 2  # seed 2 is in both
    assert {row["seed"] for row in rows(tmp_path / "a" / "table.csv")} == set("234")


def test_failed_runs_are_told_and_tried_again_only_when_asked(tacit, monkeypatch, tmp_path):
    monkeypatch.setattr(Here, "broken", (0, 2))
    code, out, err = tacit("plan.toml", "--json")
    result = json.loads(out)
    assert code == 1 and (result["done"], result["failed"], result["cached"]) == (2, 4, 0)
    assert err.count("\n") == 3 and "seed 0 is unlucky" in err and "--retry" in err
    table = rows(tmp_path / "sweeps" / "plan" / "table.csv")
    assert [row["status"] for row in table] == ["failed", "done", "failed"] * 2
    assert table[0]["reason"] == "seed 0 is unlucky" and table[0]["margin"] == ""
    monkeypatch.setattr(Here, "broken", ())
    code, out, err = tacit("plan.toml", "--json")
    assert code == 1 and json.loads(out)["cached"] == 2
    code, out, err = tacit("plan.toml", "--json", "--retry")
    result = json.loads(out)
    assert code == 0 and err == "" and (result["done"], result["cached"]) == (4, 2)


def test_a_broken_run_folder_is_said_and_done_again(tacit, tmp_path):
    tacit("plan.toml")
    folder = tmp_path / "sweeps" / "plan"
    before = (folder / "table.csv").read_bytes()
    victim = folder / "runs" / sorted(os.listdir(folder / "runs"))[0]
    (victim / "run.json").write_text("{")
    (folder / "index.sqlite").write_bytes(b"\0" * 100)
    (folder / "table.csv").unlink()
    code, out, err = tacit("plan.toml", "--json")
    assert code == 0 and json.loads(out)["done"] == 1
    assert err.count("\n") == 1 and victim.name in err
    there = f"{victim.name}-2".encode()  # beside it
    assert (folder / "table.csv").read_bytes() == before.replace(victim.name.encode(), there)
    shutil.rmtree(victim)
    assert json.loads(tacit("plan.toml", "--json")[1])["done"] == 1


@pytest.mark.parametrize("name", ["my table.csv", "deep/table.parquet"])
def test_the_table_can_go_elsewhere(tacit, tmp_path, name):
    for _ in range(2):  # its own table is replaced
        code, out, err = tacit("plan.toml", "--table", name, "--json")
        assert (code, err) == (0, "") and json.loads(out)["table"] == name
    ours = tmp_path / "sweeps" / "plan" / "table.csv"
    if name.endswith(".csv"):
        assert (tmp_path / name).read_bytes() == ours.read_bytes()
    else:
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(tmp_path / name).to_pylist()
        assert [row["margin"] for row in table] == [float(row["margin"]) for row in rows(ours)]


@pytest.mark.parametrize("name", ["theirs.csv", "theirs.parquet"])
@pytest.mark.parametrize("content", [b"", b"name,reason\n1,2\n", b"PAR1 status PAR1", b"\xff" * 99])
def test_a_file_of_somebody_else_is_not_replaced(tacit, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    code, out, err = tacit("plan.toml", "--table", name)
    assert code == 2 and out == "" and "not the table of a sweep" in err and err.count("\n") == 1
    assert (tmp_path / name).read_bytes() == content and not (tmp_path / "sweeps").exists()


def test_pictures_go_into_the_folder(tacit, tmp_path):
    code, out, err = tacit("plan.toml", "--plot", "--json")
    pictures = json.loads(out)["pictures"]
    assert code == 0 and err == "" and pictures
    for name in pictures:
        assert (tmp_path / name).parent == tmp_path / "sweeps" / "plan"
        assert (tmp_path / name).stat().st_size > 1000
    before = {name: (tmp_path / name).read_bytes() for name in pictures}
    assert tacit("plan.toml", "--plot")[0] == 0
    assert before == {name: (tmp_path / name).read_bytes() for name in pictures}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.toml"], "no such file"),
        (["bad.toml"], "TOML"),
        (["near.toml"], "did you mean"),
        (["plan.toml", "--workers", "0"], "at least 1"),
        (["plan.toml", "--workers", "1.5"], "whole number"),
        (["plan.toml", "--workers", "2", "--cluster", "tcp://127.0.0.1:1"], "--workers"),
        (["plan.toml", "--tls-ca", "ca.pem"], "--cluster"),
        (["plan.toml", "--table", "table.txt"], ".csv or .parquet"),
        (["plan.toml", "--table", "folder.csv"], "not a plain file"),
        (["plan.toml", "--table", "plan.toml/t.csv"], "is a file"),
        (["plan.toml", "--out", "plan.toml"], "is a file"),
        (["plan.toml", "--out", "theirs"], "something else"),
        (["plan.toml", "--out", "/proc/tacit/s"], "cannot be written"),
        (["plan.toml", "--out", ""], "something else"),
        (["plan.toml", "--seed", "-1"], "seed"),
        ([], "FILE"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_done(tacit, tmp_path, words, said):
    (tmp_path / "bad.toml").write_text("record = [")
    (tmp_path / "near.toml").write_text(TOML.replace("width", "widht"))
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "thesis.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    code, out, err = tacit(*words)
    assert code == 2 and out == "" and err.count("\n") == 1 and said in err
    assert sorted(tmp_path.rglob("*")) == before


def test_an_interrupt_before_anything_is_done(tacit, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Here, "wait", interrupt)
    code, out, err = tacit("plan.toml", "--plot", "--retry", "--seed", 1, "--table", "a b.csv")
    assert code == 130 and out == "" and err.count("\n") == 1
    assert "interrupted; 0 of 6 runs are kept in sweeps/plan" in err
    assert err.endswith("tacit sweep plan.toml --table 'a b.csv' --seed 1 --plot --retry\n")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_the_file_is_read(tacit, monkeypatch, how):
    def read(*_):
        os.kill(os.getpid(), how)
        time.sleep(30)

    monkeypatch.setattr("tacit.sweeps.sweeping.read", read)
    code, out, err = tacit("plan.toml")
    assert (code, out) == (130, "") and err == "tacit: interrupted; nothing was saved\n"


def test_an_interrupt_is_not_lost_where_nothing_can_be_raised(tacit, monkeypatch):
    class Callback:
        def __del__(self):
            raise KeyboardInterrupt

    def wait(*_):
        Callback()  # Python tells it to the hook, and goes on
        time.sleep(30)

    monkeypatch.setattr(Here, "wait", wait)
    before = sys.unraisablehook
    code, out, err = tacit("plan.toml")
    assert (code, out) == (130, "") and err.count("\n") == 1 and "interrupted; 0 of 6" in err
    assert sys.unraisablehook is before


def test_no_room_says_what_is_kept(tacit, monkeypatch):
    def full(*_):
        raise BadInput("there is no room")

    monkeypatch.setattr(Here, "wait", full)
    code, out, err = tacit("plan.toml")
    assert (code, out) == (2, "") and "there is no room; 0 of 6 runs are kept in" in err
