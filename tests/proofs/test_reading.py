"""Files of all kinds: what is no proof, and what is a broken or hostile one."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import refused
from proofs.proof_texts import (
    changed,
    claimed,
    content,
    infeasible,
    one_point,
    problem,
    rejected,
    text,
)
from tacit.proofs import Verification, exact, verify, write_proof


def signed(body: str | bytes) -> Verification:
    """The verification on this text with a digest that is right."""
    rest = body if isinstance(body, bytes) else body.encode()
    digest = hashlib.sha256(rest).hexdigest()
    return verify(b'{"sha256": "%s",\n' % digest.encode() + rest)


def spoiled(body: str | bytes, *words: str) -> None:
    verification = signed(body)
    assert not verification.verified and verification.exact_bounds is None
    assert "\n" not in verification.reason and len(verification.reason) < 400
    assert verification.reason.isprintable()
    for word in words:
        assert word in verification.reason, verification.reason


@pytest.fixture
def entries(tmp_path: Path) -> dict[str, Any]:
    return claimed(one_point(), tmp_path)


def test_no_such_file_a_folder_a_pipe_and_too_large(
    entries: dict[str, Any], tmp_path: Path
) -> None:
    refused(lambda: verify(tmp_path / "none.json"), "no such file")
    refused(lambda: verify(tmp_path), "folder")
    os.mkfifo(tmp_path / "pipe")
    refused(lambda: verify(tmp_path / "pipe"), "pipe")
    raw = write_proof(entries)
    path = tmp_path / "exact.json"
    path.write_bytes(raw)
    assert verify(path, most_bytes=len(raw)).verified
    refused(lambda: verify(path, most_bytes=len(raw) - 1), "bytes")
    assert verify(raw).verified and verify(raw.decode()).verified  # the proof itself, no file
    refused(lambda: verify("{}"), "not a tacit proof")


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"\n",
        b"x,y\n1,2\n",
        b'{"sha256": "00",\n',
        b'{"sha256": "%s"\n' % (b"0" * 64),
        b'{"sha256": "%s",' % (b"0" * 64),
        b'{"sha256": "%s",\r\n' % (b"0" * 64),
        b'{"sha256": "%s",\n' % (b"A" * 64),
        b'\xef\xbb\xbf{"sha256": "%s",\n' % (b"0" * 64),
        b'{"sha256": "%s", "alpha": 0,\n' % (b"0" * 64),
    ],
)
def test_what_does_not_begin_as_a_proof(start: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(start)
    refused(lambda: verify(path), "not a tacit proof", "first line")


def test_the_text_is_json(entries: dict[str, Any], tmp_path: Path) -> None:
    good = text(entries)
    assert signed(good).verified
    assert signed(json.dumps({"format": "tacit proof 1", **entries})[1:]).verified
    spoiled("", "JSON")
    spoiled(good.rstrip()[:-1], "JSON")
    spoiled(good + "}", "Extra data")
    spoiled(good.encode().replace(b"both", b"\xff\xfe"), "utf-8")
    spoiled(good.encode("utf-16"), "JSON")
    spoiled(good.replace("0.25", "NaN"), "NaN")
    spoiled(good.replace("0.25", "-Infinity"), "-Infinity")
    spoiled(good.replace("0.25", "1e999"), "alpha is inf")
    spoiled(good.replace("0.25", "1" * 5000), "digits")
    spoiled(good.replace("0.25", "1" * 4000), "alpha is 111")
    spoiled(good.replace("0.25", "[" * 200_000), "nested")
    spoiled(good.replace("0.25", '{"a":' * 200_000), "nested")
    spoiled(good.replace("0.25", "[" * 900 + "]" * 900))
    spoiled(good.replace('"alpha"', '"alpha": 0.5, "alpha"'), "twice")
    spoiled(good.replace('"y"', '"y": [1], "y"'), "twice")
    spoiled(good.replace('"alpha"', '"sha256": "", "alpha"'), "twice")
    spoiled(good.replace('"alpha"', '"\\u001b[2J": 1, "alpha"'), "unknown key")
    spoiled(good.replace('"both"', '"\\ud800\\u0007"'), "train")


def test_keys(entries: dict[str, Any], tmp_path: Path) -> None:
    whole = {"format": "tacit proof 1", **entries}
    for key in whole:
        rest = {k: v for k, v in whole.items() if k != key}
        spoiled(json.dumps(rest)[1:], f"no key '{key}'")
    spoiled(json.dumps({**whole, "extra": 1})[1:], "unknown key 'extra'")
    for key in entries["problems"][0]:
        rest = changed(entries, "problems.0", {**entries["problems"][0]})
        del rest["problems"][0][key]
        rejected(rest, tmp_path, "problems[0]", key)
    rejected(changed(entries, "problems.0.more", 1), tmp_path, "problems[0]", "'more'")
    rejected(changed(entries, "problems.0.multipliers.0.more", 1), tmp_path, "unknown key 'more'")
    rejected(changed(entries, "problems.0.neurons.0.b", 1), tmp_path, "unknown key 'b'")
    hopeless = {"status": "infeasible", "lower": None, "upper": None}
    rejected(
        changed(entries, "problems.0", entries["problems"][0] | {"status": "infeasible"})
        | {key: hopeless[key] for key in ("lower", "upper")},
        tmp_path,
        "unknown key",
    )


BAD: list[tuple[str, Any, str]] = [
    ("format", "tacit proof 2", "tacit proof 1"),
    ("alpha", 1.0, "less than 1"),
    ("alpha", -1e-9, "at least 0"),
    ("alpha", True, "alpha is true"),
    ("alpha", "0", "alpha"),
    ("train", "last", "'both' or 'first'"),
    ("train", None, "null"),
    ("train", ["both"], "a list"),
    ("train", "first", "output_weight"),
    ("output_weight", 1.0, "must be null"),
    ("units", 1, "must be null"),
    ("X", [], "at least one row"),
    ("X", [[]], "at least one row"),
    ("X", [[3.0, 4.0], [1.0]], "X[1] has the length 1"),
    ("X", [[3.0, 4.0], [1.0, 2.0]], "length 1; it must have 2"),
    ("X", [3.0, 4.0], "X[0]"),
    ("X", {"0": [1]}, "a list"),
    ("X.0.1", True, "X[0][1] is true"),
    ("X.0.1", 2**53 + 1, "X[0][1]"),
    ("X.0.1", 10**400, "X[0][1]"),
    ("X.0.1", -(10**308) * 18, "X[0][1]"),
    ("X.0", [3.0, 4.0, 5.0], "neurons[0].w has the length 2; it must have 3"),
    ("classes", ["one"], "at least two"),
    ("classes", "ab", "a list"),
    ("classes", [1, 2], "names"),
    ("classes", ["a", "a"], "twice"),
    ("classes", ["a", "b"], "length 1; it must have 2"),
    ("problems", [], "length 0"),
    ("problems", {}, "a list"),
    ("problems.0", [], "problems[0]"),
    ("problems.0.y", [0], "y[0] is 0"),
    ("problems.0.y", [True], "y[0] is true"),
    ("problems.0.y", [1, 1], "length 2"),
    ("problems.0.y", 1, "a list"),
    ("problems.0.status", "unknown", "status"),
    ("problems.0.status", {}, "status"),
    ("problems.0.method", "trust me", "method"),
    ("problems.0.method", "subsets", "must be empty"),
    ("problems.0.dual.0", None, "dual[0] is null"),
    ("problems.0.dual.0", -5e-324, "dual[0]"),
    ("problems.0.multipliers", None, "multipliers"),
    ("problems.0.multipliers.0", "z", "multipliers[0]"),
    ("problems.0.multipliers.0.z", [[0]], "z[0] has the length 1"),
    ("problems.0.multipliers.0.cell", 1, "cell"),
    ("problems.0.multipliers.0.cell", "", "0 signs"),
    ("problems.0.neurons", {}, "neurons"),
    ("problems.0.neurons.0", 5, "neurons[0]"),
    ("lower", "0", "lower"),
    ("upper", None, "upper is null"),
    ("upper", False, "upper is false"),
]


@pytest.mark.parametrize("path, value, word", BAD)
def test_entries(path: str, value: Any, word: str, entries: dict[str, Any], tmp_path: Path) -> None:
    rejected(changed(entries, path, value), tmp_path, word)


@pytest.mark.parametrize(
    "changes, word",
    [
        ({"output_weight": 0.0, "units": 1}, "positive"),
        ({"output_weight": -1.0, "units": 1}, "positive"),
        ({"output_weight": None, "units": 1}, "output_weight is null"),
        ({"output_weight": 1.0, "units": 0}, "whole number from 1"),
        ({"output_weight": 1.0, "units": None}, "units is null"),
        ({"output_weight": 1.0, "units": 1.0}, "units is 1.0"),
        ({"output_weight": 1.0, "units": True}, "units is true"),
    ],
)
def test_fixed_output(
    changes: dict[str, Any], word: str, entries: dict[str, Any], tmp_path: Path
) -> None:
    rejected({**entries, "train": "first", **changes}, tmp_path, word)


def test_whole_numbers_are_doubles_too(entries: dict[str, Any], tmp_path: Path) -> None:
    assert signed(text(entries).replace("[3.0, 4.0]", "[3, 4]")).verified


def test_too_much_work_is_refused(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = rng.random((30, 12))
    given = problem([1] * 30, [([1] * 12, 1)], [1] * 30)
    path = tmp_path / "proof.json"
    path.write_bytes(write_proof(content(X, [given])))
    refused(lambda: verify(path), "problems[0]", "30 lines", "at most")
    path.write_bytes(write_proof(content(X, [given | {"method": "subsets"}])))
    assert verify(path).verified
    for most, what in ((1000, "coordinates"), (11_000, "margins"), (20_000, "angles")):
        monkeypatch.setattr(
            "tacit.proofs.verification.Budget", lambda most=most, **_: exact.Budget(most)
        )
        refused(lambda: verify(path), "problems[0]", what, "at most")


JUNK: list[Any] = [None, True, 0, -1, 2, 0.5, -0.5, 1e308, 5e-324, 10**400, "", "+", "1/3", [], {}]
JUNK += [[[]], [0, 1], [[0.5, 1]], {"w": [1.0], "a": 1.0}, "infeasible", "subsets", "first", "\0"]


def places(value: Any, way: tuple = ()) -> list[tuple]:
    """The ways to all entries of nested objects and lists."""
    inner: Any = ()
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
    return [way] * bool(way) + [w for key, v in inner for w in places(v, (*way, key))]


def test_junk_in_every_place(entries: dict[str, Any], tmp_path: Path) -> None:
    """No entry, whatever stands in its place, leads to anything but a verification."""
    push = {"sign": -1, "cell": "++", "z": [[0, 1.0], [1, 2.0]]}
    mine = problem([1, 1], [([3, 4], 1), ([-4, 3], -0.5)], [1, 0.5], [push])
    two = content([[3, 4], [4, 3]], [mine], 0.25)
    hopeless = content([[1, 2], [1, 2]], [infeasible([1, -1], ["1/2", "1/2"])])
    for whole in (entries, two, hopeless):
        for way in places(whole):
            for junk in JUNK:
                altered = changed(whole, ".".join(map(str, way)), junk)
                verification = signed(text(altered))
                assert (
                    verification.reason == ""
                    if verification.verified
                    else verification.reason.isprintable()
                )
                bounds = verification.exact_bounds
                assert bounds is None or 0 < bounds[0] <= bounds[1]
