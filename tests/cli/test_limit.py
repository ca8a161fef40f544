"""`tacit limit` from the command line: its contract, its answers re-checked, and bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tacit.explanation  # noqa: F401  (before a test changes `binary_limit`, which it takes over)
from helpers import rest_long
from tacit import load
from tacit.cli import main
from tacit.flow import Outcome, PathEnd, ending

KEYS = {
    "outcome", "reason", "log10_depth",
    "log10_loss", "margin", "groups", "kkt", "optimal_margin",
    "proved_margin", "proved_angle", "proved_share", "proved_log10_loss",
    "optimal_margin_upper", "optimality", "gap", "path_to_limit", "rate", "log10_time", "events",
    "early", "steps", "smoothed_margin_falls", "drift", "seed", "activation", "train", "width",
    "init", "output_weight",
    "loss", "name", "n", "d", "seconds",
}  # fmt: skip
ALL = ("--log10-loss", "-50", "--seconds", "60")
"""Enough for these small problems."""


@pytest.fixture
def tacit(capsys):
    def call(*tokens: object) -> tuple[int, str, str]:
        code = main([str(token) for token in tokens])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def as_json(text: str) -> dict:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def stuck(tmp_path: Path) -> Path:
    """No network fits these labels."""
    path = tmp_path / "stuck.csv"
    path.write_text("a,b,y\n1,0,1\n1,0,-1\n0,1,1\n")
    return path


# --- the contract --------------------------------------------------------------------------------

LIMITS = {
    "xor": ("xor", "--width", "20"),
    "two dimensions": ("orthogonal:n=12,d=2", "--width", "8"),
    "three dimensions": ("gaussians:n=12,d=3", "--width", "8"),
    "exponential": ("gaussians:n=12,d=2", "--width", "6", "--loss", "exponential:sum"),
    "first layer": (
        "gaussians:n=12,d=3", "--width", "6", "--train", "first", "--activation", "leaky:0.3",
        "--output-weight", "0.5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", rest_long(LIMITS, ["two dimensions", "xor", "first layer"]))
def test_the_limit_can_be_checked_from_its_groups_alone(kind: str, tacit) -> None:
    words = LIMITS[kind]
    code, out, err = tacit("limit", *words, *ALL, "--json")
    result = as_json(out)
    assert code == 0 and err == "" and set(result) == KEYS and result["outcome"] == "proved"
    data = load(words[0])
    alpha = 0.3 if "leaky:0.3" in words else 0.0
    sign, size, weight = (
        np.array([group[key] for group in result["groups"]]) for key in ("sign", "size", "weight")
    )
    U = np.array([group["direction"] for group in result["groups"]])
    np.testing.assert_allclose(np.linalg.norm(U, axis=1), 1, atol=1e-14)
    z = (weight[:, None] * U) @ data.X.T
    q = data.y * (sign @ np.maximum(z, alpha * z))
    assert q.min() == pytest.approx(1, abs=1e-9)
    if result["train"] == "both":
        margin = 1 / (2 * weight.sum())
    else:
        margin = (weight**2 / (0.5**2 * size)).sum() ** -0.5
    assert result["margin"] == pytest.approx(margin, rel=1e-9)
    for group, row in zip(result["groups"], z, strict=True):
        signs = np.array([{"+": 1, "-": -1, "0": 0}[c] for c in group["pattern"]])
        assert len(signs) == data.n and (signs * row >= 0).all()
        assert np.abs(row[signs == 0]).max(initial=0) < 1e-9
    assert 0 < size.sum() <= result["width"]
    assert result["margin"] <= result["optimal_margin"] * (1 + 1e-9)
    assert result["optimal_margin"] <= result["optimal_margin_upper"] * (1 + 1e-9)
    assert result["optimality"] in ("certified", "suboptimal", "bounded") and result["gap"] < 1
    assert max(result["kkt"].values()) < 1e-9 and set(result["kkt"]) == {
        "stationarity", "feasibility", "complementarity",
    }  # fmt: skip
    assert result["log10_loss"] <= -50 and result["log10_time"] > 40
    assert result["path_to_limit"][-1][0] == pytest.approx(result["log10_loss"])
    assert result["path_to_limit"][-1][1] < result["path_to_limit"][0][1]


@pytest.mark.long
def test_the_first_time_as_much_is_proved_as_later(tmp_path: Path) -> None:
    """What is compiled on the way took the time of the proof: `converged` was said, once."""
    words = [sys.executable, "-m", "tacit", "limit", *LIMITS["first layer"], *ALL, "--json"]
    cold = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(words, env=cold, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and as_json(done.stdout)["outcome"] == "proved"
    assert list(tmp_path.rglob("*.nbc"))


def test_the_optimum_is_that_of_tacit_optimum(tacit) -> None:
    best = as_json(tacit("optimum", "xor", "--json")[1])
    result = as_json(tacit("limit", "xor", "--width", 20, *ALL, "--json")[1])
    assert result["optimal_margin"] == pytest.approx(best["margin"])
    assert result["optimality"] == "certified" and result["gap"] < 1e-6


def test_a_seed_gives_the_same_limit_again(tacit) -> None:
    words = ("limit", "gaussians:n=12,d=2", "--width", 6, "--seed", 3, *ALL, "--json")
    one, other = (as_json(tacit(*words)[1]) for _ in range(2))
    assert one.pop("seconds") > 0 and other.pop("seconds") > 0 and one == other
    third = as_json(tacit(*words[:5], 4, *words[6:])[1])
    assert third["seed"] == 4 and third["path_to_limit"] != one["path_to_limit"]


def test_the_initialisation_taken_when_nothing_is_said(tacit) -> None:
    words = ("limit", "gaussians:n=12,d=2", "--width", 4, *ALL, "--json")
    assert as_json(tacit(*words)[1])["init"] == "balanced:1e-4"
    assert as_json(tacit(*words, "--train", "first")[1])["init"] == "gaussian:1e-4"


def test_what_is_not_converged_claims_nothing(stuck: Path, tacit) -> None:
    code, out, _ = tacit("limit", stuck, "--width", 6, *ALL, "--json")
    result = as_json(out)
    assert code == 0 and result["outcome"] not in ("proved", "converged") and set(result) == KEYS
    assert result["groups"] == [] and result["path_to_limit"] == []
    for key in ("margin", "kkt", "optimal_margin", "optimality", "gap", "rate"):
        assert result[key] is None


def test_a_dead_network_is_named(tacit, tmp_path: Path) -> None:
    np.savez(tmp_path / "w.npz", W=[[-1.0, -1.0]], a=[-1.0])
    (tmp_path / "one.csv").write_text("1,2,1\n2,1,1\n")
    words = (tmp_path / "one.csv", "--width", 1, "--init", f"file:{tmp_path / 'w.npz'}")
    assert as_json(tacit("limit", *words, "--json")[1])["outcome"] == "dead"
    code, out, _ = tacit("limit", *words)
    assert code == 0 and "dead" in out and "t = 0" in out and "inf" not in out


def test_a_test_set_is_tried_on_the_limit(tacit) -> None:
    words = ("limit", "gaussians:n=12,d=2,test=50", "--width", 6, *ALL, "--json")
    assert 0 <= as_json(tacit(*words)[1])["test_error"] < 0.2


# --- several classes -----------------------------------------------------------------------------

CLASSES = ("limit", "orthogonal_classes:n=9,d=3", "--width", "8", *ALL)


def test_every_class_has_its_network(tacit, tmp_path: Path) -> None:
    run = tmp_path / "run"
    code, out, _ = tacit(*CLASSES, "--json", "--out", run)
    result = as_json(out)
    assert code == 0 and result["classes"] == ["0", "1", "2"] and len(result["networks"]) == 3
    assert [one["class"] for one in result["networks"]] == result["classes"]
    outcomes = [one["outcome"] for one in result["networks"]]
    if set(outcomes) <= {"proved", "converged"}:
        assert result["gap"] == max(one["gap"] for one in result["networks"])
    else:
        assert result["outcome"] == next(
            one for one in outcomes if one not in ("proved", "converged")
        )
    assert result["name"] == "orthogonal_classes"
    code, out, _ = tacit("certify", run, "--json")
    names = [one["name"] for one in as_json(out)["networks"]]
    assert names[0].startswith("0 against the rest, seed 0, the l") and len(names) == 3
    assert tacit(*CLASSES)[1].count("against the rest") == 3


# --- run folders and pictures --------------------------------------------------------------------


def test_a_limit_is_certified_from_its_folder(tacit, tmp_path: Path) -> None:
    run, picture = tmp_path / "deep" / "run", tmp_path / "limit.png"
    words = ("limit", "gaussians:n=12,d=2", "--width", 6, *ALL, "--out", run, "--picture", picture)
    code, out, _ = tacit(*words)
    assert code == 0 and str(run) in out and str(picture) in out and "proved" in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    margin = json.loads((run / "limit.json").read_text())["summary"]["margin"]
    code, out, _ = tacit("certify", run, "--json")
    result = as_json(out)
    assert code == 0 and result["name"] == "seed 0, the limit"
    assert result["margin"] == pytest.approx(margin, rel=1e-12)
    assert tacit(*words)[0] == 2  # both exist
    assert tacit(*words, "--force")[0] == 0
    code, _, err = tacit("certify", run, "--data", "xor")
    assert code == 2 and "its own data" in err


def test_without_a_limit_the_last_moment_is_certified(stuck: Path, tacit, tmp_path: Path) -> None:
    run = tmp_path / "run"
    picture = tmp_path / "p.svg"
    words = ("limit", stuck, "--width", 6, *ALL, "--out", run, "--picture", picture)
    assert tacit(*words)[0] == 0 and picture.exists()
    code, out, _ = tacit("certify", run)
    assert code == 1 and "the last moment of the path" in out and "Not a KKT point" in out


def test_one_kind_of_run_replaces_the_other(tacit, tmp_path: Path) -> None:
    run = tmp_path / "run"
    common = ("gaussians:n=12,d=2", "--width", 4, "--out", run)
    assert tacit("limit", *common, *ALL)[0] == 0
    assert tacit("train", *common, "--epochs", 3, "--force")[0] == 0
    assert sorted(path.name for path in run.iterdir()) == ["arrays.npz", "run.json"]
    assert tacit("limit", *common, *ALL, "--force")[0] == 0
    assert sorted(path.name for path in run.iterdir()) == ["arrays.npz", "limit.json"]
    code, _, err = tacit("train", "--resume", run)
    assert code == 2 and "tacit limit" in err


def test_a_person_reads_it(tacit) -> None:
    code, out, err = tacit("limit", "gaussians:n=12,d=2", "--width", 6, *ALL)
    assert code == 0 and err == ""
    for word in ("proved", "crossing", "neurons", "margin q_min", "KKT point", "rad from"):
        assert word in out
    assert max(map(len, out.splitlines())) < 200


# --- bad input: one line, and nothing is left ----------------------------------------------------


@pytest.mark.parametrize(
    "tokens, words",
    [
        ((), ("DATA",)),
        (("nothing.csv",), ("nothing.csv", "no such file")),
        (("xor", "--activation", "leaky:2"), ("[0, 1)",)),
        (("xor", "--train", "last"), ("last",)),
        (("xor", "--width", "0"), ("--width 0",)),
        (("xor", "--width", "-3"), ("--width -3",)),
        (("xor", "--width", "2.5"), ("--width",)),
        (("xor", "--width", "1000000000"), ("--width", "smaller")),
        (("xor", "--train", "first", "--width", "7"), ("7", "even")),
        (("xor", "--train", "first", "--output-weight", "0"), ("--output-weight",)),
        (("xor", "--train", "first", "--output-weight", "nan"), ("--output-weight",)),
        (("xor", "--train", "first", "--output-weight", "1e308"), ("output weights", "1e+50")),
        (("xor", "--output-weight", "2"), ("--output-weight", "--train first")),
        (("xor", "--train", "first", "--init", "balanced:1"), ("balanced",)),
        (("xor", "--init", "gausian:1"), ("gaussian",)),
        (("xor", "--init", "file:nothing.npz"), ("nothing.npz",)),
        (("xor", "--loss", "hinge"), ("hinge", "logistic")),
        (("xor", "--loss", "logistik"), ("logistic",)),
        (("xor", "--log10-loss", "0"), ("--log10-loss", "negative")),
        (("xor", "--log10-loss", "5"), ("--log10-loss", "negative")),
        (("xor", "--log10-loss", "nan"), ("--log10-loss", "negative")),
        (("xor", "--log10-loss", "-inf"), ("--log10-loss", "negative")),
        (("xor", "--seconds", "0"), ("--seconds",)),
        (("xor", "--seed", "-1"), ("--seed",)),
        (("xor", "--seed", "1" + "0" * 30), ("--seed",)),
        (("xor", "--picture", "a.gif"), (".png",)),
        (("xor", "--out", "a.png", "--picture", "a.png"), ("different",)),
        (("xor", "--out", "a/../b.png", "--picture", "b.png"), ("different",)),
        (("xor", "--rule", "sgd"), ("--rule",)),
    ],
)
def test_bad_input_is_one_line(tokens, words, tacit, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = tacit("limit", *tokens)
    assert code == 2 and out == "" and err.count("\n") == 1
    for word in words:
        assert word in err
    assert list(tmp_path.iterdir()) == []


def test_a_link_that_leads_to_itself_is_one_line(tacit, tmp_path: Path) -> None:
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.symlink_to(other)
    other.symlink_to(one)
    proof = ("--proof", tmp_path / "proof")
    given = (("limit", one, *proof), ("optimum", one, *proof))
    written = [("limit", "xor", option, one) for option in ("--out", "--proof")]
    for words in (*given, *written):
        code, out, err = tacit(*words)
        assert (code, out, err.count("\n")) == (2, "", 1) and "one.csv" in err


def test_the_data_is_not_replaced(tacit, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data.png"
    for name in ("data.png", "X.npy", "y.npy"):
        (tmp_path / name).write_text("a,b,y\n1,2,1\n")
    code, _, err = tacit("limit", "data.png", "--picture", data, "--force")
    assert code == 2 and "the data itself" in err
    code, _, err = tacit("limit", "X.npy,y.npy", "--out", "y.npy", "--force")
    assert code == 2 and "the data itself" in err and data.read_text().startswith("a,b,y")


def test_what_cannot_be_written_is_said_before_any_work(tacit, tmp_path: Path, monkeypatch) -> None:
    def never(*_: object, **more: object) -> None:
        raise AssertionError("work has begun")

    monkeypatch.setattr(ending, "binary_limit", never)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes").write_text("mine")
    for option, name in (("--out", "file"), ("--out", "folder"), ("--out", "file/run")):
        code, _, err = tacit("limit", "xor", option, tmp_path / name, "--force")
        assert code == 2 and name in err and err.count("\n") == 1
    assert (tmp_path / "file").read_text() == (tmp_path / "folder" / "notes").read_text() == "mine"


def test_a_full_disk_leaves_nothing_behind_and_the_answer_is_shown(
    tacit, tmp_path: Path, monkeypatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    words = ("limit", "gaussians:n=12,d=2", "--width", 4, *ALL)
    for option, name in (("--out", "run"), ("--picture", "p.png")):
        code, said, err = tacit(*words, option, tmp_path / name)
        assert code == 2 and "No space left" in err and list(tmp_path.iterdir()) == []
        assert "gradient flow" in said and f"{name}\n" not in said


# --- interrupted ---------------------------------------------------------------------------------


def cut_short(*given: object, **more: object):
    """As `limit` answers when Ctrl-C ends its path."""
    whole = binary_limit(*given, **more)
    none = {"groups": (), "network": None, "kkt": None, "certificate": None, "fitted_rate": None}
    path = replace(whole.path, end=PathEnd.INTERRUPTED)
    approach, outcome = np.zeros((0, 2)), Outcome.UNDECIDED
    return replace(
        whole, outcome=outcome, reason="interrupted", approach=approach, path=path, **none
    )


binary_limit = ending.binary_limit


def test_an_interrupted_path_that_cannot_be_saved_says_why(tacit, tmp_path: Path, monkeypatch):
    """ "nothing was saved" was all that was said, of a full disk too."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    monkeypatch.setattr(ending, "binary_limit", cut_short)
    for words in (("limit",), ("explain", "--only", "lyu2021:thm3.1")):
        command, *more = words
        call = (command, "gaussians:n=12,d=2", "--width", 4, *more, "--out", tmp_path / "run")
        code, out, err = tacit(*call)
        assert code == 130 and "gaussians" in out and err.count("\n") == 1
        assert "nothing was saved: " in err and "No space left" in err


def test_an_interrupted_path_is_shown_and_saved(tacit, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(ending, "binary_limit", cut_short)
    run, picture = tmp_path / "run", tmp_path / "p.png"
    words = ("limit", "gaussians:n=12,d=2", "--width", 4, *ALL, "--picture", picture)
    code, out, err = tacit(*words, "--out", run, "--json")
    assert code == 130 and as_json(out)["outcome"] == "undecided"
    assert err.count("\n") == 1 and "interrupted at log₁₀ loss" in err and str(run) in err
    assert (run / "limit.json").exists() and not picture.exists()
    assert f"; {picture} was not made; saved in" in err  # it was passed over in silence
    proof = tmp_path / "proof"
    code, out, err = tacit(*words, "--proof", proof)
    assert code == 130 and "undecided" in out and "nothing was saved" in err
    assert f"; {picture} was not made; {proof} was not made; nothing" in err and not proof.exists()


def test_of_several_classes_those_that_were_done_are_kept(tacit, tmp_path, monkeypatch) -> None:
    done = []

    def stops(*given: object, **more: object):
        if done:
            raise KeyboardInterrupt
        done.append(binary_limit(*given, **more))
        return done[0]

    monkeypatch.setattr(ending, "binary_limit", stops)
    code, out, err = tacit(*CLASSES, "--out", tmp_path / "run", "--json")
    assert code == 130 and len(as_json(out)["networks"]) == 1 and "interrupted" in err
    monkeypatch.undo()
    assert tacit("certify", tmp_path / "run")[1].count("against the rest, seed") == 1


def test_an_interrupt_before_anything_is_known(tacit, tmp_path, monkeypatch) -> None:
    def stops(*_: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ending, "binary_limit", stops)
    code, out, err = tacit("limit", "xor", "--out", tmp_path / "run")
    assert code == 130 and out == "" and "nothing was saved" in err
    assert list(tmp_path.iterdir()) == []


def test_progress_stays_out_of_pipes() -> None:
    words = ("limit", "gaussians:n=12,d=2", "--width", "4", "--log10-loss", "-20", "--json")
    done = subprocess.run(
        [sys.executable, "-m", "tacit", *words], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and done.stderr == "" and as_json(done.stdout)["n"] == 12


def test_progress_goes_from_0_to_1() -> None:
    from tacit.flow.ending import share_done

    goal = -1000.0
    shares = [share_done(now, goal) for now in (2.0, 0.0, -1.0, -30.0, -999.0, -1000.0, -1700.0)]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == 1


# --- going on ------------------------------------------------------------------------------------


def test_a_limit_that_took_too_long_is_resumed_in_its_folder(tacit, tmp_path):
    run = tmp_path / "run"
    code, out, err = tacit("limit", "xor", "--seconds", "0.001", "--out", run, "--json")
    assert (code, err) == (0, "") and as_json(out)["outcome"] == "undecided"
    code, out, err = tacit("limit", "--resume", run, "--seconds", "60", "--json")
    assert (code, err) == (0, "")
    after = as_json(out)
    assert after["outcome"] in ("converged", "proved") and after["width"] == 100
    code, out, err = tacit("limit", "--resume", run)
    assert (code, out) == (2, "")
    assert err == f"tacit: there is nothing to resume: the outcome is {after['outcome']}\n"


def test_limits_of_several_classes_are_resumed_in_their_folder(tacit, tmp_path):
    """They have no setting of their own; it ended with exit code 70."""
    run = tmp_path / "run"
    assert tacit(*CLASSES[:4], "--seconds", "0.001", "--out", run)[0] == 0
    code, out, err = tacit("limit", "--resume", run, "--seconds", "60", "--json")
    assert (code, err) == (0, "") and len(as_json(out)["networks"]) == 3
    assert "undecided" not in {one["outcome"] for one in as_json(out)["networks"]}


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ((), "give either DATA to follow the flow on or --resume FOLDER, not both"),
        (("xor", "--resume", "there"), "give either DATA to follow the flow on or --resume"),
        (("--resume", "there", "--seed", "3"), "--resume keeps the setting, the data and the seed"),
        (("--resume", "there", "--width", "3"), "--resume keeps the setting, the data and"),
        (("--resume", "nowhere"), "is not a run folder"),
    ],
)
def test_what_resume_does_not_take(tacit, tmp_path, monkeypatch, tokens, said):
    monkeypatch.chdir(tmp_path)
    tacit("limit", "xor", "--width", "4", "--seconds", "0.001", "--out", "there")
    code, out, err = tacit("limit", *tokens)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
