"""`tacit optimum`, `certify` and `verify` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tacit import load, optimum
from tacit.cli import main
from tacit.numerics import tree_proof
from tacit.numerics.tolerances import TreeProofLimits


@pytest.fixture
def tacit(capsys):
    def call(*tokens: str) -> tuple[int, str, str]:
        code = main(list(tokens))
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_optimum_keeps_its_contract(tacit) -> None:
    code, out, err = tacit("optimum", "wang2022_f1", "--json")
    result = json.loads(out)
    assert code == 0 and err == "" and result["status"] == "certified"
    assert result["objective"] == pytest.approx(1.2824322, abs=1e-7)
    assert result["lower"] <= result["objective"] == result["upper"]
    assert result["margin"] == pytest.approx(1 / (2 * result["objective"]))
    assert len(result["dual"]) == 2 and result["patterns"] == 4 and result["seconds"] >= 0
    for neuron in result["neurons"]:
        assert abs(neuron["a"]) == pytest.approx(np.linalg.norm(neuron["w"]))
    assert "certified" in tacit("optimum", "wang2022_f1")[1]


def test_scaled_data_has_the_same_directions(tacit, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(8, 2)), np.where(np.arange(8) % 3 == 0, 1, -1)
    seen = {}
    for factor in (1.0, 1e-8, 1e8):
        np.savez(tmp_path / "data.npz", X=X * factor, y=y)
        seen[factor] = json.loads(tacit("optimum", str(tmp_path / "data.npz"), "--json")[1])
        assert seen[factor]["status"] == "certified"
        assert seen[factor]["objective"] * factor == pytest.approx(seen[1.0]["objective"])


@pytest.mark.parametrize("rows", ["1,0,1\n1,0,-1\n", "0,0,1\n1,1,-1\n", "1,2,1\n3,6,-1\n-1,1,1\n"])
def test_what_no_network_fits(rows: str, tacit, tmp_path: Path) -> None:
    """A contradiction, a zero row, two points on one ray: exit code 1, with a proof."""
    (tmp_path / "data.csv").write_text("a,b,y\n" + rows)
    proof = tmp_path / "proof"
    data = str(tmp_path / "data.csv")
    code, out, _ = tacit("optimum", data, "--json", "--proof", str(proof))
    result = json.loads(out)
    assert code == 1 and result["status"] == "infeasible"
    assert result["objective"] is None and result["margin"] is None
    code, out, _ = tacit("verify", str(proof), "--data", data, "--json")
    assert code == 0 and json.loads(out)["infeasible"] is True
    assert "no network" in tacit("verify", str(proof))[1]
    code, out, _ = tacit("optimum", data)
    assert code == 1 and "infeasible" in out


def test_a_proof_is_written_checked_and_guarded(tacit, tmp_path: Path) -> None:
    proof = str(tmp_path / "proof")
    assert tacit("optimum", "xor", "--proof", proof)[0] == 0
    code, out, _ = tacit("verify", proof, "--data", "xor", "--json")
    result = json.loads(out)
    assert code == 0 and result["verified"] is True
    assert result["lower"] <= 2 * np.sqrt(2) <= result["upper"]
    assert result["upper"] - result["lower"] < 1e-12
    assert "verified in exact arithmetic" in tacit("verify", proof)[1]
    code, out, _ = tacit("verify", proof, "--data", "wang2022_f1", "--json")
    assert code == 1 and "other points" in json.loads(out)["reason"]
    code, _, err = tacit("optimum", "xor", "--proof", proof)
    assert code == 2 and "already exists" in err
    raw = bytearray(Path(proof).read_bytes())
    place = raw.rindex(b"1")
    raw[place : place + 1] = b"2"
    Path(proof).write_bytes(raw)
    code, out, _ = tacit("verify", proof)
    assert code == 1 and "rejected" in out and "altered" in out


@pytest.mark.parametrize(
    "tokens, words",
    [
        (("optimum",), ("DATA",)),
        (("optimum", "xor", "--activation", "leaky:2"), ("[0, 1)",)),
        (("optimum", "xor", "--train", "first", "--width", "7"), ("--width 7", "even")),
        (("optimum", "xor", "--signs", "positive", "--proof", "p"), ("--signs",)),
        (("optimum", "nothing.csv"), ("nothing.csv",)),
        (("verify", "nothing.proof"), ("nothing.proof", "no such file")),
        (("verify", "."), ("folder",)),
        (("certify", "nothing.npz", "--data", "xor"), ("nothing.npz",)),
        (("certify", "nothing.npz"), ("no such",)),
        (("certify", "."), ("not a run folder", "tacit train")),
        (("verify", "nothing.proof", "--bias", "1"), ("--data",)),
        (("optimum", "xor", "--width", "7"), ("--width", "--train first")),
        (("optimum", "xor", "--output-weight", "2"), ("--output-weight", "--train first")),
    ],
)
def test_bad_input_is_one_line(tokens, words, tacit, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = tacit(*tokens)
    assert code == 2 and out == "" and err.count("\n") == 1
    for word in words:
        assert word in err
    assert list(tmp_path.iterdir()) == []


def test_certify_weights_made_elsewhere(tacit, tmp_path: Path) -> None:
    weights = tmp_path / "weights.npz"
    np.savez(weights, W=np.array([[3.0, 0.0], [-3.0, 0.0]]), a=np.array([3.0, -3.0]))
    code, out, _ = tacit("certify", str(weights), "--data", "lyu2021_left", "--json")
    result = json.loads(out)
    assert code == 0 and result["optimality"] == "certified"
    assert result["margin"] == pytest.approx(0.25) and result["gap"] < 1e-9
    assert set(result["kkt"]) >= {"stationarity", "feasibility", "complementarity"}
    assert result["lower"] <= result["upper"]
    np.savez(weights, W=np.array([[3.0, 1.0], [-3.0, 0.0]]), a=np.array([3.0, -3.0]))
    code, out, _ = tacit("certify", str(weights), "--data", "lyu2021_left")
    assert code == 1 and "Not a KKT point" in out


def test_biases_are_weights_of_the_constant_coordinate(tacit, tmp_path: Path) -> None:
    weights = tmp_path / "weights.npz"
    best = optimum(load("xor", bias=2.0)).network
    layers = {"fc1.weight": best.W[:, :-1], "fc2.weight": best.a[None]}
    np.savez(weights, **layers, **{"fc1.bias": 2.0 * best.W[:, -1]})
    words = "certify", str(weights), "--data", "xor"
    code, _, err = tacit(*words)
    assert code == 2 and err.count("\n") == 1 and "--bias 1" in err
    code, out, _ = tacit(*words, "--bias", "2", "--json")
    assert code == 0 and json.loads(out)["optimality"] == "certified"


@pytest.mark.parametrize(
    "arrays, words",
    [
        ({"W": np.ones((2, 2))}, ("'a'", "W (m × d)")),
        ({"W": np.ones((2, 3)), "a": np.ones(2)}, ("(2, 3)", "(m, 2)")),
        ({"W": np.ones((2, 2)), "a": np.ones(3)}, ("(3,)",)),
        ({"W": np.full((2, 2), np.nan), "a": np.ones(2)}, ("nan",)),
        ({"W": np.array([["x", "y"]]), "a": np.ones(1)}, ("real numbers",)),
        ({"W": np.zeros((2, 2)), "a": np.zeros(2)}, ("zero",)),
    ],
)
def test_weights_that_do_not_fit(arrays, words, tacit, tmp_path: Path) -> None:
    weights = tmp_path / "weights.npz"
    np.savez(weights, **arrays)
    code, out, err = tacit("certify", str(weights), "--data", "xor")
    assert code == 2 and out == "" and err.count("\n") == 1
    for word in words:
        assert word in err


def test_weights_rounded_to_float32_are_the_same_point(tacit, tmp_path: Path) -> None:
    """Points that lie on a neuron's boundary are then beside it, by rounding."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12, 2))
    np.savez(tmp_path / "data.npz", X=X, y=np.where(np.arange(12) % 3 == 0, 1, -1))
    data = str(tmp_path / "data.npz")
    result = json.loads(tacit("optimum", data, "--json")[1])
    W = np.array([neuron["w"] for neuron in result["neurons"]], dtype=np.float32)
    a = np.array([neuron["a"] for neuron in result["neurons"]], dtype=np.float32)
    np.savez(tmp_path / "weights.npz", W=W, a=a)
    words = ("certify", str(tmp_path / "weights.npz"), "--data", data, "--json")
    code, out, _ = tacit(*words, "--tolerance", "1e-5")
    assert code == 0 and json.loads(out)["optimality"] == "certified"
    assert json.loads(out)["kkt"]["boundary"] > 0


def test_a_proof_does_not_replace_the_data(tacit, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a,b,y\n1,2,1\n-1,2,-1\n")
    code, _, err = tacit("optimum", str(data), "--proof", str(data), "--force")
    assert code == 2 and "the data itself" in err and data.read_text().startswith("a,b,y")


def test_a_tolerance_has_limits(tacit, tmp_path: Path) -> None:
    weights = tmp_path / "weights.npz"
    np.savez(weights, W=np.eye(2), a=np.ones(2))
    for tolerance in ("0", "1e-15", "1"):
        code, _, err = tacit("certify", str(weights), "--data", "xor", "--tolerance", tolerance)
        assert code == 2 and "tolerance" in err


def test_the_allowed_signs_are_said(tacit) -> None:
    code, out, _ = tacit("optimum", "xor", "--signs", "positive", "--json")
    assert code == 1 and json.loads(out)["signs"] == [1]
    assert "positive output weights only" in tacit("optimum", "xor", "--signs", "positive")[1]


def test_certify_a_run(tacit, tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    common = ("--width", "10", "--epochs", "200", "--runs", "2", "--out", run)
    assert tacit("train", "lyu2021_left", *common)[0] == 0
    code, out, _ = tacit("certify", run, "--json")
    result = json.loads(out)
    assert code == 1 and len(result["networks"]) == 2  # 200 steps are far from any limit
    worst = max(one["kkt"]["stationarity"] for one in result["networks"])
    assert result["kkt"]["stationarity"] == worst and result["optimality"] == "suboptimal"
    assert "seed 1" in tacit("certify", run)[1]
    code, _, err = tacit("certify", run, "--data", "xor")
    assert code == 2 and "its own data" in err


def test_where_no_proof_can_be_verified_there_is_no_file(tacit, tmp_path, monkeypatch) -> None:
    """That is no bad input: it was said with exit code 2."""
    monkeypatch.setattr("tacit.certificates.proof_file.MOST_BYTES", 10)
    code, out, err = tacit("optimum", "xor", "--proof", str(tmp_path / "proof"))
    assert code == 1 and "certified" in out and not (tmp_path / "proof").exists()
    assert "at most 10 can be verified" in err and err.count("\n") == 1


def test_a_proof_that_proves_less_says_so(tacit, tmp_path: Path, monkeypatch) -> None:
    """Where trees would be too large, the file knows one bound only."""
    monkeypatch.setattr(tree_proof, "TREE_PROOF", TreeProofLimits(most_numbers=0))
    rng = np.random.default_rng(0)
    data, proof = str(tmp_path / "data.npz"), str(tmp_path / "proof")
    np.savez(data, X=rng.normal(size=(30, 25)), y=rng.choice([-1, 1], 30))
    words = ("optimum", data, "--activation", "leaky:0.5", "--proof", proof, "--force")
    result = json.loads(tacit(*words, "--json")[1])
    assert result["patterns"] is None
    assert result["proof"]["verified"] and result["status"] == "bounded"
    assert (result["proof"]["lower"], result["proof"]["upper"]) == (
        result["lower"],
        result["upper"],
    )
    searched = json.loads(tacit(*words[:4], "--json")[1])
    assert searched["status"] == "certified" and result["lower"] < 0.99 * searched["lower"]
    assert json.loads(tacit("verify", proof, "--json")[1])["lower"] == result["proof"]["lower"]
    assert "the file proves less" in tacit(*words)[1]
