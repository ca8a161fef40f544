"""The command line: its contract with scripts, and one line for every bad input."""

import importlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from rich.console import Console

import tacit as tacit_package
from helpers import refused
from tacit.certificates import optima
from tacit.cli import _app, main, terminal
from tacit.cli.lists import _items
from tacit.values import BadInput


@pytest.fixture
def tacit(capsys):
    """Run a command in this process: (exit code, standard output, standard error)."""

    def run(*tokens):
        code = main([str(token) for token in tokens])
        return code, *capsys.readouterr()

    return run


def as_json(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def csv(tmp_path):
    def write(text, name="points.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


# --- check ---------------------------------------------------------------------------------------


def test_check_has_the_keys_scripts_rely_on(tacit):
    code, out, err = tacit("check", "orthogonal:n=30,d=3", "--json")
    result = as_json(out)
    assert code == 0 and err == ""
    assert (result["n"], result["d"]) == (30, 3)
    assert result["linearly_separable"] is True and result["orthogonally_separable"] is True
    assert result["symmetric"] is False and result["spike_free"] is False
    w = np.array(result["max_margin_direction"])
    assert np.linalg.norm(w) == pytest.approx(1)
    assert result["max_margin"] <= result["max_margin_upper"]
    for entry in result["properties"].values():
        assert {"holds", "slack", "place"} <= set(entry)


def test_check_on_a_person_s_terminal(tacit):
    code, out, _ = tacit("check", "linear:n=12,d=2,margin=0.2")
    assert code == 0
    assert "12 points in 2 dimensions" in out and "linearly_separable" in out


def test_an_argument_too_many_is_named(tacit):
    code, out, err = tacit("certify", "xor", "weights.npz")
    assert (code, out) == (2, "")
    assert err == (
        "tacit: 'weights.npz' is too much; tacit certify takes one argument, WEIGHTS, and options; "
        "see tacit certify --help\n"
    )


@pytest.mark.parametrize("factor", [1e-8, 1.0, 1e8])
def test_scaled_files_have_the_same_direction(tacit, csv, factor):
    X = np.array([[1.0, 0.5], [2.0, -1.0], [-1.0, -2.0], [-0.3, -1.0]]) * factor
    rows = [[*x, y] for x, y in zip(X.tolist(), (1, 1, -1, -1), strict=True)]
    path = csv("a,b,y\n" + "\n".join(",".join(map(repr, row)) for row in rows))
    result = as_json(tacit("check", path, "--json")[1])
    plain = as_json(
        tacit("check", csv("a,b,y\n1,0.5,1\n2,-1,1\n-1,-2,-1\n-0.3,-1,-1"), "--json")[1]
    )
    assert result["max_margin_direction"] == pytest.approx(plain["max_margin_direction"], abs=1e-12)
    assert result["max_margin"] == pytest.approx(plain["max_margin"] * factor, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "fact", "value"),
    [
        ("1,2,1\n3,1,1\n", "one_class", True),
        ("0,0,1\n3,1,-1\n", "zero_rows", [0]),
        ("3,1,1\n3,1,-1\n2,2,1\n", "contradictions", [[0, 1]]),
    ],
)
def test_degenerate_data_is_valid(tacit, csv, text, fact, value):
    code, out, _ = tacit("check", csv(text), "--json")
    assert code == 0
    assert as_json(out)["facts"][fact] == value


def test_a_property_asked_for_by_name_decides_the_exit_code(tacit):
    assert tacit("check", "symmetric:n=8,d=2", "--property", "symmetric")[0] == 0
    assert tacit("check", "orthogonal:n=8,d=2", "--property", "symmetric", "--json")[0] == 1


def test_the_title_counts_the_classes_there_are(tacit, csv):
    assert "2 points in 2 dimensions, 1 class\n" in tacit("check", "wang2022_f2")[1]
    assert "2 points in 2 dimensions, 2 classes\n" in tacit("check", "wang2022_f1")[1]
    three = csv("1,0,a\n0,1,b\n-1,-1,c\n")
    assert "3 points in 2 dimensions, 3 classes\n" in tacit("check", three)[1]


def test_classes_bias_labels_and_test_set(tacit, csv):
    three = csv("1,0,a\n0,1,b\n-1,-1,c\n2,0,a\n")
    result = as_json(tacit("check", three, "--json")[1])
    assert result["classes"] == ["a", "b", "c"] and result["linearly_separable"] is True
    code, out, err = tacit("check", three, "--labels", "a,b", "--bias", "-0.5", "--json")
    result = as_json(out)
    assert code == 0 and result["n"] == 3 and result["d"] == 3
    assert "1 row with other labels left out" in err
    test = csv("5,1,a\n1,5,b\n", "test.csv")
    result = as_json(tacit("check", three, "--labels", "a,b", "--test", test, "--json")[1])
    assert result["n_test"] == 2 and result["max_margin_test_error"] == 0


def test_of_two_labels_the_last_is_plus_one_with_a_note(tacit, csv):
    code, out, err = tacit("check", csv("1,0,0\n0,1,1\n"), "--json")
    assert code == 0 and as_json(out)["parameters"]["labels"] == {"0": -1, "1": 1}
    assert err.count("\n") == 1 and "label 1 becomes +1" in err
    code, out, err = tacit("check", csv("1,0,dog\n0,1,cat\n"), "--labels", "cat,dog", "--json")
    assert as_json(out)["parameters"]["labels"] == {"cat": 1, "dog": -1} and err == ""


# --- train ---------------------------------------------------------------------------------------


def test_train_saves_a_run_that_can_be_continued(tacit, tmp_path):
    whole, part, more = tmp_path / "whole", tmp_path / "part", tmp_path / "more"
    words = ("train", "orthogonal:n=20,d=3", "--width", 6, "--rule", "sgd", "--batch", 7)
    code, out, _ = tacit(*words, "--epochs", 30, "--out", whole, "--json")
    assert code == 0
    assert {"loss", "train_error", "measures", "seconds"} <= set(as_json(out))
    assert tacit(*words, "--epochs", 12, "--out", part)[0] == 0
    assert tacit("train", "--resume", part, "--epochs", 30, "--out", more)[0] == 0
    with np.load(whole / "arrays.npz") as a, np.load(more / "arrays.npz") as b:
        assert (a["state.params.W"] == b["state.params.W"]).all()
    assert tacit("train", "--resume", part, "--epochs", 30)[0] == 0  # in place
    with np.load(whole / "arrays.npz") as a, np.load(part / "arrays.npz") as b:
        assert (a["state.params.W"] == b["state.params.W"]).all()


def test_train_draws_a_picture(tacit, tmp_path):
    path = tmp_path / "new" / "learned.png"
    words = ("train", "xor", "--width", 4, "--epochs", 4, "--picture", path)
    assert tacit(*words)[0] == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert tacit(*words)[0] == 2  # it exists
    assert tacit(*words, "--force")[0] == 0


def test_an_ensemble_gives_lists(tacit):
    words = ("train", "xor", "--train", "first", "--width", 8, "--loss", "hinge", "--lr", 0.01)
    result = as_json(tacit(*words, "--epochs", 50, "--runs", 3, "--seed", 5, "--json")[1])
    assert result["seeds"] == [5, 6, 7] and len(result["train_error"]) == 3
    assert np.shape(result["measures"]["margin"])[1] == 3


def test_a_diverging_step_saves_nothing(tacit, tmp_path):
    out = tmp_path / "run"
    words = ("train", "orthogonal:n=10,d=2", "--activation", "leaky:0.5", "--lr", 1e200)
    code, _, err = tacit(*words, "--out", out)
    assert code == 2 and "diverged at step" in err and not out.exists()


# --- bad input: one line, exit code 2 ------------------------------------------------------------


BAD = {
    "1,2,1\n3,nan,-1\n": "column",
    "1,2,1\n3,-1\n": "line 2",
    "1,2,0\n3,1,0\n": "found: 0",
    "1,2,0.5\n3,1,0.7\n1,1,0.9\n": "measurements",
    "": "empty",
    "x,y\n": "row",
    "1,2,1\n3,one,-1\n": "one",
}


@pytest.mark.parametrize(("text", "said"), BAD.items())
@pytest.mark.parametrize("command", ["check", "train"])
def test_bad_files(tacit, csv, command, text, said):
    code, out, err = tacit(command, csv(text))
    assert code == 2 and out == ""
    assert err.count("\n") == 1 and said in err and "points.csv" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "ortogonal"), "orthogonal"),
        (("check", "orthogonal:m=3"), "no parameter 'm'"),
        (("check", "orthogonal:n=0"), "at least 1"),
        (("check", "missing.csv"), "no such file"),
        (("check", "xor", "--property", "symetric"), "symmetric"),
        (("check", "xor", "--activation", "leaky:2"), "slope"),
        (("check",), "DATA"),
        (("chek", "xor"), "check"),
        (("train", "xor", "--rule", "sdg"), "sgd"),
        (("train", "xor", "--epochs", "many"), "--epochs"),
        (("train", "xor", "--epochs", "0"), "--epochs"),
        (("train", "xor", "--epochs", "1" + "0" * 30), "--epochs"),
        (("train", "xor", "--seed", "-1"), "--seed"),
        (("train", "xor", "--seed", "1" + "0" * 30), "--seed"),
        (("train", "xor", "--width", "0"), "--width"),
        (("train", "xor", "--width", "1000000000"), "--width"),
        (("train", "xor", "--width", "1" + "0" * 400), "--width must be at most 1e+18"),
        (("limit", "xor", "--width", "1" + "0" * 400), "--width must be at most 1e+18"),
        (("predict", "xor", "--width", "1" + "0" * 18), "choose it smaller"),
        (("train", "xor", "--lr", "-1"), "--lr"),
        (("train", "xor", "--lr", "nan"), "--lr"),
        (("train", "xor", "--batch", "9", "--rule", "sgd"), "--batch"),
        (("train", "xor", "--init", "balanced"), "balanced:NORM"),
        (("train", "xor", "--init", "gausian:1"), "gaussian"),
        (("train", "xor", "--stop", "los:1"), "loss"),
        (("train", "xor", "--loss", "logistik"), "logistic"),
        (("train", "digits:classes=3/5,n=9", "--model", "image_cnn:3:8"), "outputs"),
        (("train", "xor", "--model", "six_conv"), "coordinates"),
        (("train", "xor", "--picture", "a.gif"), ".png"),
        (("train", "xor", "--resume", "x"), "either"),
        (("train", "--resume", "x", "--runs", "2"), "--runs"),
        (("train", "xor", "--runs", "1" + "0" * 30), "--runs"),
        (("train", "xor", "--output-weight", "nan"), "--output-weight"),
        (("train", "xor", "--out", "a.png", "--picture", "a.png"), "different"),
        (("train", "xor", "--epochs", "1.5"), "--epochs"),
        (("train", "xor", "--width", "2.5"), "--width"),
        (("train", "--resume", "nowhere"), "not a run folder"),
        (("list", "dta"), "data"),
    ],
)
def test_bad_words(tacit, words, said):
    code, out, err = tacit(*words)
    assert code == 2 and out == ""
    assert err.count("\n") == 1 and said in err


def test_output_that_cannot_be_written_is_said_before_any_work(tacit, tmp_path):
    (tmp_path / "file").write_text("mine")
    code, _, err = tacit("train", "xor", "--epochs", 10**9, "--out", tmp_path / "file")
    assert code == 2 and "file" in err and (tmp_path / "file").read_text() == "mine"


# --- as a process --------------------------------------------------------------------------------


def process(*words, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "tacit", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


COMMANDS = "certify check explain limit list optimum predict reproduce sweep train verify".split()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_no_default_that_says_nothing(tacit, command):
    code, out, err = tacit(command, "--help")
    assert code == 0 and err == ""
    assert f"Example: tacit {command} " in out
    for nothing in ("None", "False", "()", '""'):
        assert f"default: {nothing}" not in " ".join(out.replace("│", " ").split())
    assert "Accepted by every command" not in out
    usage, said = out.split("\n", 1)
    assert "[ARGS" not in usage
    assert ("DATA is a file" in said) == ("DATA" in usage)
    assert ("--data takes a file" in said) == ("--data " in said)
    assert ("hinge" in said) == (command in ("predict", "train"))


def test_help_and_list_do_not_wait_for_heavy_libraries():
    code = (
        "import sys; from tacit.cli import main; main(['--help']); main(['list', 'data']); "
        "sys.exit(bool({'jax', 'scipy', 'sklearn', 'matplotlib', 'numba'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_limits_do_not_wait_for_jax():
    code = (
        "import sys; from tacit.cli import main; main(['limit', 'xor', '--width', '2']); "
        "import tacit.explanation.report, tacit.explanation.explanation_folder; "
        "sys.exit(', '.join({'jax', 'optax'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_list(tacit):
    for what in ("data", "properties", "measures", "initialisations"):
        items = as_json(tacit("list", what, "--json")[1])["items"]
        assert all(item["name"] and item["summary"] for item in items)
        assert tacit("list", what)[1]


@pytest.mark.parametrize("what", ["data", "theorems", "figures"])
def test_lists_keep_their_indent_at_80_columns(what, capsys, monkeypatch):
    narrow = Console(width=80, highlight=False)
    monkeypatch.setattr("tacit.cli.terminal.console", lambda: narrow)
    assert main(["list", what]) == 0
    out = capsys.readouterr().out
    names = {item["name"] for item in _items(what)}
    for line in out.splitlines():
        assert len(line) <= 80 and (line.startswith("    ") or line.split()[0] in names), line


@pytest.mark.parametrize("runs", [1, 3])
def test_a_narrow_terminal_shows_every_measure_with_its_numbers(tacit, monkeypatch, runs):
    monkeypatch.setattr(terminal, "console", lambda: Console(highlight=False, width=80))
    _, out, _ = tacit("train", "xor", "--width", 4, "--epochs", 3, "--runs", runs)
    rows = {line.split()[0]: line.split()[1 : 1 + runs] for line in out.splitlines() if line}
    for name in ("log_loss", "cluster_radius_relative", "balance"):
        assert len([float(number) for number in rows[name]]) == runs
    table = [line for line in out.splitlines() if line.startswith(("measure", "log_loss", "par"))]
    assert table and all(len(line) <= 80 for line in table)


SAYS_WHEN_IT_RUNS = """
import contextlib, importlib, sys
from tacit import cli

@contextlib.contextmanager
def progress(epochs, hidden):
    yield lambda epoch, log_loss: print("epoch", epoch, flush=True)

importlib.import_module("tacit.cli.train")._progress = progress
sys.exit(cli.main(sys.argv[1:]))
"""


def test_an_interrupted_run_is_saved_and_goes_on(tacit, tmp_path):
    out = tmp_path / "run"
    words = ("train", "xor", "--width", "4", "--lr", "0.01", "--out", str(out))
    words += ("--picture", str(tmp_path / "learned.png"))
    running = subprocess.Popen(
        [sys.executable, "-c", SAYS_WHEN_IT_RUNS, *words, "--epochs", "1000000000"],  # hours
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(20):
        assert running.stdout.readline().startswith("epoch")
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130
    assert stderr.count("\n") == 1 and "interrupted at epoch" in stderr and str(out) in stderr
    assert "learned.png was not made" in stderr and not (tmp_path / "learned.png").exists()
    with np.load(out / "arrays.npz") as arrays:
        epoch = int(arrays["epochs"][-1])
    more = tacit("train", "--resume", out, "--epochs", epoch + 5, "--json")[1]
    assert as_json(more)["epochs"] == epoch + 5


@pytest.mark.parametrize("tokens", [("list", "data"), ("--help",), ("train", "--help")])
def test_a_closed_pipe_is_no_error(tokens):
    with process(*tokens) as running:
        running.stdout.close()
        assert running.stderr.read() == "" and running.wait(timeout=60) == 0


def test_progress_and_colours_stay_out_of_pipes():
    done = process("train", "xor", "--epochs", "5", "--json", env={**os.environ, "TERM": "xterm"})
    stdout, stderr = done.communicate(timeout=120)
    assert json.loads(stdout)["epochs"] == 5 and stderr == ""


@pytest.mark.parametrize(
    ("redirect", "code"),
    [("> /dev/full", 2), (">&-", 2), ("| true", 0)],
    ids=["full", "shut", "gone"],
)
def test_output_that_cannot_be_written(redirect, code):
    command = f"set -o pipefail; {sys.executable} -m tacit check xor --json {redirect}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.returncode == code and done.stderr.count("\n") == (code == 2)


def test_a_terminal_without_our_letters():
    done = process("check", "xor", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    stdout, stderr = done.communicate(timeout=60)
    assert done.returncode == 0 and stderr == "" and "linearly_separable" in stdout


def test_names_cannot_steer_the_terminal(tacit, csv):
    path = csv("1,2,1\n3,1,-1\n", "red\x1b[31m<script>.csv")
    code, out, err = tacit("check", path)
    assert code == 0 and "\x1b" not in out and "<script>" in out
    assert "\x1b" not in tacit("check", path.with_name("no\x1bsuch.csv"))[2]


def test_resuming_keeps_what_somebody_put_into_the_folder(tacit, tmp_path):
    out = tmp_path / "run"
    assert tacit("train", "xor", "--epochs", 2, "--width", 4, "--out", out)[0] == 0
    (out / "notes.txt").write_text("mine")
    assert tacit("train", "--resume", out, "--epochs", 4)[0] == 0
    assert (out / "notes.txt").read_text() == "mine"


def test_a_dead_network_is_named_and_a_leaky_one_is_not_called_dead(tacit, tmp_path):
    np.savez(tmp_path / "w.npz", W=[[-1.0, -1.0]], a=[-1.0])
    (tmp_path / "one.csv").write_text("1,2,1\n2,1,1\n")
    words = ("train", tmp_path / "one.csv", "--width", 1, "--init", f"file:{tmp_path / 'w.npz'}")
    dead = as_json(tacit(*words, "--epochs", 3, "--json")[1])
    assert "from the start" in dead["remarks"][0] and dead["train_error"] == 1
    leaky = as_json(tacit(*words, "--activation", "leaky:0.5", "--epochs", 3, "--json")[1])
    assert leaky["remarks"] == [] and leaky["train_error"] == 0


def test_ties_of_three_classes_are_errors(tacit, csv, tmp_path):
    np.savez(tmp_path / "zero.npz", W=np.zeros((2, 2)), a=np.zeros(2))
    words = ("train", csv("1,0,a\n0,1,b\n-1,-1,c\n"), "--width", 2, "--epochs", 1, "--json")
    result = as_json(tacit(*words, "--init", f"file:{tmp_path / 'zero.npz'}")[1])
    assert result["train_error"] == 1


def test_names_with_dollars_can_be_drawn(tacit, csv, tmp_path):
    data = csv("1,2,1\n3,1,-1\n2,2,1\n1,0,-1\n", "a$\\frac$.csv")
    picture = tmp_path / "p.svg"
    assert tacit("train", data, "--epochs", 2, "--width", 4, "--picture", picture)[0] == 0


def test_measures_that_are_not_defined_are_dashes(tacit, tmp_path):
    np.savez(tmp_path / "w.npz", W=np.eye(2), a=[1.0, 1.0])  # no neuron of the other sign
    words = ("train", "xor", "--width", 2, "--runs", 5, "--epochs", 1)
    code, out, err = tacit(*words, "--init", f"file:{tmp_path / 'w.npz'}")
    assert code == 0 and err == "" and "–" in out and "nan" not in out


@pytest.mark.parametrize(
    "variable, words",
    [
        ("MPLBACKEND", ["train", "xor", "--epochs", "1", "--width", "2", "--picture", "p.png"]),
        pytest.param(
            *("MPLBACKEND", ["explain", "xor", "--width", "2", "--out", "why"]),
            marks=pytest.mark.long,
        ),
        ("MPLBACKEND", ["reproduce", "lyu2021:fig1", "--quick"]),
        ("JAX_PLATFORMS", ["train", "xor", "--epochs", "1", "--width", "2"]),
        ("NUMBA_NUM_THREADS", ["limit", "xor", "--width", "2"]),
    ],
)
def test_libraries_that_the_environment_breaks_are_named(tmp_path, variable, words):
    """In a process of its own: here they have been imported long ago."""
    ended = subprocess.run(
        [sys.executable, "-m", "tacit", *words],
        env={**os.environ, variable: "nonsense"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 2 and ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert variable in ended.stderr and "nonsense" in ended.stderr
    assert not list(tmp_path.iterdir())


STEERING = "\x1b[31m", "\x9b31m", "\u202e"


def test_labels_cannot_steer_the_terminal(tacit, csv, tmp_path):
    path = csv("".join(f"{k % 2},{k % 3},{label}b\n" for k, label in enumerate(STEERING)))
    for words in (
        ("check", path),
        ("check", path, "--json"),
        ("optimum", path, "--seconds", 1),
        ("predict", path, "--only", "wang2022:prop1"),
        ("train", path, "--epochs", 2, "--out", tmp_path / "run"),
        ("certify", tmp_path / "run"),
    ):
        _, out, err = tacit(*words)
        assert out and not any(mark in out + err for mark in STEERING)


def test_seconds_count_from_the_start_of_the_process(monkeypatch):
    monkeypatch.setattr(_app, "process_start", [1000.0, 5.0])
    monkeypatch.setattr(_app, "perf_counter", lambda: 1060.0)
    monkeypatch.setattr(_app, "process_time", lambda: 65.0)
    assert _app.time_left(100.0) == 40 and _app.time_left(100.0, 10.0) == 30
    monkeypatch.setattr(_app, "process_time", lambda: 35.0)  # it had half of the processor
    assert _app.time_left(100.0, 10.0) == 20 and _app.time_left(90.0, 20.0) == 0.9
    assert _app.time_left(50.0) == 0.5  # a little, so that there is an answer
    refused(lambda: _app.time_left(float("nan")), "--seconds nan must be positive")


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("optimum xor", "tacit.certificates.optimum"),
        ("limit xor", "tacit.flow.limit"),
        ("explain xor --out why", "tacit.explanation.explain"),
        ("certify {run}", "tacit.certificates.certify"),
    ],
)
def test_commands_give_the_search_what_is_left(words, where, monkeypatch, tmp_path):
    given = []

    def search(*_, seconds, **__):
        given.append(seconds)
        raise BadInput("enough")

    run = tmp_path / "run"
    if "{run}" in words:
        assert main(["train", "xor", "--epochs", "1", "--runs", "2", "--out", str(run)]) == 0
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(where, search)
    tokens = [*words.format(run=run).split(), "--seconds", "100"]
    assert main(tokens, time.perf_counter() - 60) == 2
    assert 0 < given[0] <= (20 if "{run}" in words else 40)  # two networks share it


@pytest.mark.parametrize(
    ("command", "where"),
    [("optimum", "tacit.certificates.proof_of"), ("limit", "tacit.flow.limits.Limit.proof")],
)
def test_a_proof_has_a_third_of_the_time_and_what_is_left(command, where, monkeypatch, tmp_path):
    searches = {"optimum": "tacit.certificates.optimum", "limit": "tacit.flow.limit"}
    search, given = getattr(tacit_package, command), []

    def slow_search(*args, seconds, **more):
        given.append(seconds)
        _app.process_start[0] -= seconds  # as if it had taken all of it
        return search(*args, seconds=60, **more)

    def proof(_, seconds):
        given.append(seconds)
        raise BadInput("enough")

    monkeypatch.setattr(searches[command], slow_search)
    monkeypatch.setattr(where, proof)
    tokens = [command, "wang2022_f1", "--proof", str(tmp_path / "proof"), "--seconds", "9000"]
    assert main(tokens) == 1
    assert given == pytest.approx([6000, 3000], abs=300)  # the search itself takes some


def test_classes_share_the_seconds(monkeypatch):
    given = []
    original = optima.convex_optimum

    def search(*data, seconds, **options):
        given.append(seconds)
        return original(*data, seconds=seconds, **options)

    monkeypatch.setattr(optima, "convex_optimum", search)
    optima.optimum("orthogonal_classes:n=6,d=3", seconds=90.0)
    assert len(given) == 3 and 29 < given[0] <= 30 and given[1] > 35 and given[2] > 70


def test_very_many_units_are_refused_before_any_work(tacit):
    code, out, err = tacit("optimum", "xor", "--train", "first", "--width", 10**9)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert "--width 1000000000" in err and "14.9 GiB" in err
    code, out, err = tacit("optimum", "xor", "--train", "first", "--width", 200_000)
    assert code == 0 and "certified" in out and "50000" in out


def test_an_interrupted_search_says_what_it_knows(tacit, monkeypatch):
    def search(*_, progress, **__):
        progress(1.5, 2.5)
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.certificates.optimum", search)
    code, out, err = tacit("optimum", "xor")
    assert (code, out) == (130, "") and err.count("\n") == 1
    assert "interrupted; the objective is in [1.5, 2.5]; nothing was saved" in err


def test_what_was_saved_before_an_interrupt_is_named(tacit, monkeypatch, tmp_path):
    def printing(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib.import_module("tacit.cli.train"), "_print_run", printing)
    code, _, err = tacit("train", "xor", "--epochs", 1, "--out", tmp_path / "run")
    assert code == 130 and err == f"tacit: interrupted; saved: {tmp_path / 'run'}\n"


def test_what_was_trained_is_shown_although_the_disk_is_full(tacit, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    for option, name in (("--out", "run"), ("--picture", "p.png")):
        code, out, err = tacit("train", "xor", "--epochs", 1, option, tmp_path / name)
        assert code == 2 and "No space left" in err and err.count("\n") == 1
        assert "train_error" in out and name not in out and not list(tmp_path.iterdir())


def test_a_terminal_is_told_what_takes_long():
    import pty

    leader, follower = pty.openpty()
    words = [sys.executable, "-m", "tacit", "check", "xor"]
    assert subprocess.run(words, stdout=subprocess.DEVNULL, stderr=follower).returncode == 0
    os.close(follower)
    assert b"checking the geometry" in os.read(leader, 1 << 16)
    os.close(leader)
