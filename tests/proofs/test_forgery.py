"""Whatever is changed in a proof, it is rejected or still proves what is true of what it says."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proofs.proof_texts import changed, claimed, judge, one_point, rejected, solved
from tacit.proofs import verify, write_proof
from tacit.values import BadInput

ALPHA = 0.3


@pytest.fixture(scope="module")
def true_proof(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Seven points in the plane; the last, far out behind the first, is no support point."""
    X = np.random.default_rng(5).normal(size=(7, 2))
    X[6] = 10 * X[0]
    y = np.where(np.arange(7) % 2 == 0, 1, -1)
    return claimed(solved(X, y, ALPHA), tmp_path_factory.mktemp("true"))


def outside(entries: dict[str, Any]) -> int:
    """A row of X that is no support point."""
    return entries["problems"][0]["dual"].index(0.0)


def optimum(entries: dict[str, Any], folder: Path) -> float:
    """The optimum for the data that is in the file, solved afresh."""
    y = np.array(entries["problems"][0]["y"])
    verification = judge(solved(np.array(entries["X"]), y, entries["alpha"]), folder)
    lower, upper = verification.exact_bounds
    assert verification.verified and upper < lower * 1.001
    return float(upper)


def test_the_true_proof(true_proof: dict[str, Any], tmp_path: Path) -> None:
    assert judge(true_proof, tmp_path).verified
    given = true_proof["problems"][0]
    assert len(given["multipliers"]) > 5 and len(given["neurons"]) > 1
    assert outside(true_proof) >= 0


def test_one_changed_byte_is_seen(tmp_path: Path, rng: np.random.Generator) -> None:
    raw = write_proof(claimed(one_point(), tmp_path))
    for place in range(len(raw)):
        for byte in {raw[place] ^ 1, int(rng.integers(256))} - {raw[place]}:
            try:
                verification = verify(raw[:place] + bytes([byte]) + raw[place + 1 :])
            except BadInput as error:
                assert "not a tacit proof" in str(error) and place < 79
                continue
            assert not verification.verified and "digest" in verification.reason


def test_one_changed_digit_of_a_longer_file_is_seen(
    true_proof: dict[str, Any], rng: np.random.Generator
) -> None:
    raw = write_proof(true_proof)
    digits = [i for i, byte in enumerate(raw) if chr(byte).isdigit()]
    for place in rng.choice(digits, 200):
        digit = (raw[place] - 48 + int(rng.integers(1, 10))) % 10 + 48
        verification = verify(raw[:place] + bytes([digit]) + raw[place + 1 :])
        assert not verification.verified and "digest" in verification.reason
    for altered in (raw[:-1], raw + b"\n", raw[:200], raw.replace(b"\n", b"\r\n", 2)[1:]):
        try:
            assert "digest" in verify(altered).reason
        except BadInput as error:
            assert "not a tacit proof" in str(error)


def test_claims_beyond_what_is_proved(true_proof: dict[str, Any], tmp_path: Path) -> None:
    rejected({**true_proof, "lower": true_proof["lower"] * 1.001}, tmp_path, "lower", "claimed")
    rejected({**true_proof, "upper": true_proof["upper"] * 0.999}, tmp_path, "upper", "claimed")
    rejected({**true_proof, "lower": None}, tmp_path, "lower is null")


def test_multipliers_carry_the_proof(true_proof: dict[str, Any], tmp_path: Path) -> None:
    """Without one of them, or with a worse one, less is proved (they are there only if needed)."""
    given = true_proof["problems"][0]["multipliers"]
    for j, entry in enumerate(given):
        without = changed(true_proof, "problems.0.multipliers", given[:j] + given[j + 1 :])
        rejected(without, tmp_path, "lower is claimed")
        empty = changed(true_proof, f"problems.0.multipliers.{j}.z", [])
        rejected(empty, tmp_path, "lower is claimed")
        worse = [[i, 50 * z + 1] for i, z in entry["z"]]
        rejected(changed(true_proof, f"problems.0.multipliers.{j}.z", worse), tmp_path, "lower is")
        negative = [[i, -z] for i, z in entry["z"]]
        worse = changed(true_proof, f"problems.0.multipliers.{j}.z", negative)
        rejected(worse, tmp_path, f"multipliers[{j}].z[0][1]", "must not be negative")


def test_multipliers_in_the_wrong_place(true_proof: dict[str, Any], tmp_path: Path) -> None:
    given = true_proof["problems"][0]["multipliers"]
    at = "problems.0.multipliers"
    twice = changed(true_proof, at, [*given, given[0]])
    rejected(twice, tmp_path, f"problems[0].multipliers[{len(given)}]", "listed before")
    rejected(changed(true_proof, f"{at}.1.z", [[outside(true_proof), 0.5]]), tmp_path, "no support")
    repeated = [given[0]["z"][0]] * 2
    rejected(changed(true_proof, f"{at}.0.z", repeated), tmp_path, "multipliers[0].z[1]", "twice")
    for row in (7, -1, 1.0, True, "1", None):
        rejected(changed(true_proof, f"{at}.0.z", [[row, 0.5]]), tmp_path, "not a row of X")
    cell = given[0]["cell"]
    rejected(changed(true_proof, f"{at}.0.cell", cell + "+"), tmp_path, "support points")
    rejected(changed(true_proof, f"{at}.0.cell", "0" + cell[1:]), tmp_path, "no such cell")
    rejected(changed(true_proof, f"{at}.0.cell", "x" + cell[1:]), tmp_path, "+, - and 0")
    rejected(changed(true_proof, f"{at}.0.sign", 0), tmp_path, "multipliers[0].sign")
    rejected(changed(true_proof, f"{at}.0.sign", True), tmp_path, "multipliers[0].sign")
    missing = 0
    for k in range(2 ** len(cell)):
        signs = "".join("+-"[k >> j & 1] for j in range(len(cell)))
        altered = changed(true_proof, at, [{"sign": 1, "cell": signs, "z": []}])
        missing += "no such cell" in judge(altered, tmp_path).reason
    assert missing == 2 ** len(cell) - 2 * len(cell)  # lines in the plane: 2 cells for each


def test_the_dual_vector(true_proof: dict[str, Any], tmp_path: Path) -> None:
    dual = true_proof["problems"][0]["dual"]
    at = "problems.0.dual"
    larger = changed(true_proof, at, [2 * value for value in dual])
    rejected(larger, tmp_path, "lower is claimed")  # the multipliers no longer match
    rejected(changed(true_proof, at, [-value for value in dual]), tmp_path, "must not be negative")
    rejected(changed(true_proof, at, [0.0] * 7), tmp_path, "zero in every entry")
    rejected(changed(true_proof, at, dual[:-1]), tmp_path, "length 6; it must have 7")
    alone = [max(dual) if value == max(dual) else 0.0 for value in dual]
    rejected(changed(true_proof, at, alone), tmp_path)


def test_the_network(true_proof: dict[str, Any], tmp_path: Path) -> None:
    at = "problems.0.neurons"
    given = true_proof["problems"][0]["neurons"]
    rejected(changed(true_proof, at, []), tmp_path, "neurons is empty")
    flipped = [{**neuron, "a": -neuron["a"]} for neuron in given]
    rejected(changed(true_proof, at, flipped), tmp_path, "margin of row", "not positive")
    rejected(changed(true_proof, f"{at}.0.w", [1.0]), tmp_path, "neurons[0].w has the length 1")
    rejected(changed(true_proof, f"{at}.0.w", [1.0, None]), tmp_path, "neurons[0].w[1] is null")
    rejected(changed(true_proof, f"{at}.1.a", "1"), tmp_path, "neurons[1].a")
    rejected(changed(true_proof, f"{at}.0", {"w": [1.0, 0.0]}), tmp_path, "no key 'a'")
    useless = [*given, {"w": [1e-3, 0.0], "a": 0.1}]
    rejected(changed(true_proof, at, useless), tmp_path, "upper is claimed")
    rescaled = [{"w": neuron["w"], "a": 2 * neuron["a"]} for neuron in given]
    assert judge(
        changed(true_proof, at, rescaled), tmp_path
    ).verified  # the margins are divided out


def test_a_clever_forger(
    true_proof: dict[str, Any], tmp_path: Path, rng: np.random.Generator
) -> None:
    """Random changes, digests made anew and modest claims: what is then proved is true."""
    modest = {**true_proof, "lower": 0.0, "upper": 1e9}
    given = modest["problems"][0]
    truth = optimum(modest, tmp_path)
    verified = {True: 0, False: 0}
    for _ in range(150):
        altered = copy.deepcopy(modest)
        mine = altered["problems"][0]
        kind = rng.integers(4)
        factor = float(np.exp(rng.normal()))
        if kind == 0:
            mine["dual"][rng.integers(7)] *= factor
        elif kind == 1:
            pairs = mine["multipliers"][rng.integers(len(given["multipliers"]))]["z"]
            pairs[rng.integers(len(pairs))][1] *= factor
        elif kind == 2:
            mine["neurons"][rng.integers(len(given["neurons"]))]["w"][rng.integers(2)] *= factor
        else:
            del mine["multipliers"][rng.integers(len(given["multipliers"]))]
        verification = judge(altered, tmp_path)
        verified[verification.verified] += 1
        assert verification.verified or "not positive" in verification.reason
        if verification.verified:
            lower, upper = verification.exact_bounds
            assert lower <= truth * (1 + 1e-12) and truth <= upper * (1 + 1e-4)
    assert min(verified.values()) >= 3


def test_moved_data(true_proof: dict[str, Any], tmp_path: Path, rng: np.random.Generator) -> None:
    """The bracket is then that of the moved data, or there is none."""
    modest = {**true_proof, "lower": 0.0, "upper": 1e9}
    verified = 0
    for _ in range(30):
        altered = copy.deepcopy(modest)
        if rng.random() < 0.2:
            altered["alpha"] = float(rng.random() * 0.9)
        else:
            altered["X"][rng.integers(7)][rng.integers(2)] += float(rng.normal() * 0.2)
        verification = judge(altered, tmp_path)
        if verification.verified:
            verified += 1
            truth = optimum(altered, tmp_path)
            lower, upper = verification.exact_bounds
            assert lower <= truth * (1 + 1e-12) and truth <= upper * (1 + 1e-4)
        else:
            assert "not positive" in verification.reason or "no such cell" in verification.reason
    assert verified >= 3
    flipped = changed(modest, "problems.0.y.3", -modest["problems"][0]["y"][3])
    rejected(flipped, tmp_path, "not positive")
