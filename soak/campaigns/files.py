"""Every reader of files on files that were damaged: one line that says why, or a true answer.

No traceback, no other error than the one for users, nothing written beside the working folder, and
the file that was read is as it was.
"""

from __future__ import annotations

import atexit
import io
import os
import re
import shutil
import struct
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from soak.case import Case, Failure

POINTS = "x1,x2,y\n1,0.5,1\n-0.5,2,1\n-1,-0.25,-1\n0.5,-2,-1\n"
PLAN = """
record = ["train_error", "limit"]
epochs = 3
seed = { from = 0, to = 3 }
[data]
name = "orthogonal"
n = [4, 6]
d = 2
[setting]
init = "gaussian"
scale = { from = 1e-3, to = 1, log = 2 }
width = 4
"""
TOKENS = [
    b"nan", b"inf", b"-inf", b"1e999", b"1e-400", b"-0", b"1_000", b"0x1p3", b"9" * 400, b"", b"\0",
    b"\xff\xfe", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"\x1b[31m", b'"', b"'", b",", b",,", b";",
    b"\n", b"\r", b"\n\n", b"[" * 99, b"{" * 99, b"null", b"true", b"{}", b"[]", b"../../outside",
    b"/etc/passwd", b"file:///etc/passwd", b"__class__", b"%s%n", b"{0}", b"-1", b"1e308", b"0",
]  # fmt: skip


@cache
def _templates() -> Path:
    """Good files of every kind, made once in each process."""
    folder = Path(tempfile.mkdtemp(prefix="soak-files-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "points.csv").write_text(POINTS)
    (folder / "plan.toml").write_text(PLAN)
    X, y = np.array([[1, 0.5], [-0.5, 2], [-1, -0.25], [0.5, -2]]), np.array([1, 1, -1, -1])
    np.savez(folder / "points.npz", X=X, y=y)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    rng = np.random.default_rng(0)
    np.savez(folder / "weights.npz", W=rng.normal(size=(4, 2)), a=np.array([1.0, -1, 1, -1]))
    pixels = rng.integers(0, 256, 3 * 2 * 2, dtype=np.uint8)
    (folder / "images.idx").write_bytes(
        b"\0\0\x08\x03" + struct.pack(">3I", 3, 2, 2) + bytes(pixels)
    )
    case, before = Case("files", 0, folder), Path.cwd()
    os.chdir(folder)
    try:
        case.tacit("optimum", "points.csv", "--proof", "proof.json")
        case.tacit("train", "points.csv", "--width", 4, "--epochs", 5, "--out", "run")
        case.tacit("limit", "points.csv", "--width", 4, "--out", "limit")
    finally:
        os.chdir(before)
    return folder


def attack(case: Case) -> None:
    inside = case.folder / "inside"
    shutil.copytree(_templates(), inside)
    os.chdir(inside)
    victim = str(case.pick(*READERS))
    path = Path(victim)
    content = path.read_bytes()
    if path.suffix in (".npz", ".npy") and case.rng.random() < 0.5:
        content = _strange_arrays(case, path, content)
    else:
        for _ in range(int(case.rng.integers(1, 4))):
            content = _damaged(case.rng, content)
    path.write_bytes(content)
    case.commands.append(f"# {victim}: {content[:300]!r}")
    for words in READERS[victim]:
        if callable(words):
            with case.watched():
                words(path)
        else:
            case.tacit(*words, codes=(0, 1, 2))
    case.need(path.read_bytes() == content, f"{victim} was changed by reading it")
    os.chdir(case.folder)
    case.need(os.listdir(case.folder) == ["inside"], "something was written outside")


def _read_plan(path: Path) -> None:
    from tacit.sweeps.plan import read

    _only_bad_input(lambda: read(path))


def _read_idx(path: Path) -> None:
    from tacit.data.idx import read_idx

    _only_bad_input(lambda: read_idx(path))


def _only_bad_input(read: object) -> None:
    from tacit import BadInput

    try:
        read()  # type: ignore[operator]
    except BadInput as error:
        if "\n" in str(error):
            raise Failure(f"several lines: {error}") from None


RESUME = ("train", "--resume", "run", "--epochs", 7, "--out", "longer", "--force")
CERTIFY = ("--data", "points.csv", "--seconds", 1)
READERS: dict[str, list] = {
    "points.csv": [("check", "points.csv"), ("check", "points.csv", "--labels", "1,-1", "--json")],
    "points.npz": [("check", "points.npz"), ("optimum", "points.npz", "--seconds", 1)],
    "X.npy": [("check", "X.npy,y.npy")],
    "y.npy": [("check", "X.npy,y.npy", "--json")],
    "weights.npz": [
        ("certify", "weights.npz", *CERTIFY),
        ("train", "points.csv", "--init", "file:weights.npz", "--epochs", 2, "--json"),
        ("predict", "points.csv", "--init", "file:weights.npz", "--only", "lyu2021"),
    ],
    "images.idx": [_read_idx],
    "plan.toml": [_read_plan],
    "proof.json": [("verify", "proof.json"), ("verify", "proof.json", "--json")],
    "run/run.json": [("certify", "run", "--seconds", 1), RESUME],
    "run/arrays.npz": [("certify", "run", "--seconds", 1), RESUME],
    "limit/limit.json": [("certify", "limit", "--seconds", 1, "--json")],
    "limit/arrays.npz": [("certify", "limit", "--seconds", 1, "--json")],
}  # fmt: skip


def _damaged(rng: np.random.Generator, content: bytes) -> bytes:
    """Flip, cut, insert, remove, repeat, or put a hostile word in place of a number."""
    at, length = int(rng.integers(len(content) + 1)), int(rng.integers(1, 30))
    token = TOKENS[int(rng.integers(len(TOKENS)))]
    kind = rng.integers(8)
    if kind == 0 and at < len(content):
        return content[:at] + bytes([int(rng.integers(256))]) + content[at + 1 :]
    if kind == 1 and rng.random() < 0.3:
        return content[:at]
    if kind == 2:
        return content[:at] + token + content[at:]
    if kind == 3:
        return content[:at] + content[at + length :]
    if kind == 4:
        return content[: at + length] + content[at:]
    words = list(re.finditer(rb"[-+.\w]+", content))
    if not words:
        return token
    word = words[int(rng.integers(len(words)))]
    return content[: word.start()] + token + content[word.end() :]


def _strange_arrays(case: Case, path: Path, content: bytes) -> bytes:
    """A whole file with arrays of other names, kinds, shapes or values."""
    loaded = np.load(io.BytesIO(content))
    single = path.suffix == ".npy"
    arrays = {"array": loaded} if single else {name: loaded[name] for name in loaded.files}
    name = str(case.pick(*arrays))
    old = arrays[name]
    flat = old.astype(float).ravel() if old.dtype.kind in "iuf" else np.zeros(1)
    spoiled = flat.copy()
    if spoiled.size:
        spoiled[int(case.rng.integers(spoiled.size))] = case.pick(
            np.nan, np.inf, 1e308, 5e-324, -0.5
        )
    arrays[name] = case.pick(
        spoiled.reshape(old.shape) if spoiled.size == old.size else spoiled,
        old[..., None],
        old[:0],
        old.astype("U5"),
        flat.astype(complex),
        flat.astype(np.float16),
        flat > 0,
        np.array(0.0),
        np.zeros((0, 0)),
        flat.astype(object),
        flat.astype("M8[s]") if np.isfinite(flat).all() else flat,
        np.zeros(3, dtype=[("a", "f8"), ("b", "i4")]),
        np.zeros((1, 1, 1, 1)),
        np.repeat(old, 2, axis=0) if old.ndim else old,
    )
    target = io.BytesIO()
    if single:
        np.save(target, arrays["array"])
        return target.getvalue()
    if case.rng.random() < 0.3:
        arrays[str(case.pick("../outside", "b", "/etc/x", "", "W.npy", "ÿ"))] = arrays.pop(name)
    np.savez(target, **arrays)
    return target.getvalue()
