"""Files that mean harm are refused in one line; what is written is whole or absent."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from helpers import refused
from tacit.files import (
    check_writable,
    npz_bytes,
    open_regular,
    read_npy,
    read_npz,
    write_file,
    write_folder,
)
from tacit.files import reading as _reading
from tacit.files import writing as _writing
from tacit.values import BadInput

OLD = {"run.json": b"{}", "weights.npz": b"old"}
NEW = {"run.json": b'{"n": 2}', "weights.npz": b"new", "log.txt": b"x" * 1000}


def npy(array: np.ndarray, **options: bool) -> bytes:
    whole = io.BytesIO()
    np.save(whole, array, **options)
    return whole.getvalue()


def header(shape: str, descr: str = "'<f8'", version: int = 1) -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(text)) + text


def archive(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(f"{name}.npy", data)
    return path


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ------------------------------------------------------------------------------------------ arrays

PLAIN = st.sampled_from(["<f8", ">f4", "<i8", "|u1", "|b1", "<c16", "<U5", "|S3", "<f2"])


@settings(deadline=None)
@given(hnp.arrays(PLAIN, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0)), st.booleans())
def test_plain_arrays_come_back_as_they_were(array: np.ndarray, fortran: bool) -> None:
    array = np.asarray(array, order="F" if fortran else "C")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.npy")
        path.write_bytes(npy(array))
        alone = read_npy(path)
        path = Path(folder, "a.npz")
        path.write_bytes(npz_bytes({"a": array, "b": array[..., None]}))
        both = read_npz(path)
        np.testing.assert_equal(np.load(path)["a"], array)
    assert list(both) == ["a", "b"]
    for back in (alone, both["a"]):
        assert back.dtype == array.dtype and back.shape == array.shape
        assert back.flags.writeable
        np.testing.assert_equal(back, array)


def test_the_same_arrays_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = {"X": np.arange(6.0).reshape(2, 3), "y": np.array([1, -1])}
    first = npz_bytes(arrays)
    monkeypatch.setattr(time, "time", lambda: 2e9)
    assert npz_bytes(arrays) == first
    assert len(npz_bytes({"a": np.zeros(10**5)})) < 10**4
    with pytest.raises(ValueError, match="Object arrays"):
        npz_bytes({"a": np.array([{}])})


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (npy(np.array([{"a": 1}], dtype=object), allow_pickle=True), ["Python objects", "pickle"]),
        (npy(np.zeros(2, dtype=[("a", "f8"), ("b", "i4")])), ["plain array"]),
        (npy(np.zeros(2, dtype="M8[s]")), ["datetime64"]),
        (header("(3,)", "[('a', '|O')]") + bytes(24), ["Python objects"]),
        (header("(1000000, 1000000)"), ["8,000,000,000,000 bytes", "at most"]),
        (header("(0, 1000000000000000)"), ["at most"]),
        (header("(1000000000000,)", "'<U0'"), ["plain array"]),
        (header("(-1,)"), ["negative"]),
        (header("(3,)"), ["(3,)", "24 bytes", "0 follow"]),
        (header("(3,)") + bytes(23), ["24 bytes", "23 follow"]),
        (header("(3,)") + bytes(25), ["24 bytes", "25 follow"]),
        (header("(3,)", version=9) + bytes(24), ["version"]),
        (header("'three'") + bytes(24), ["header"]),
        (header("(3,)", "'<nonsense'") + bytes(24), ["header"]),
        (header("(3,)", "-" * 9000 + "1"), ["header"]),
        (header("(" * 9000), ["header"]),
        (header("(" + "1, " * 100 + ")"), ["follow"]),
        (b"\x93NUMPY\x02\x00" + struct.pack("<I", 10**8) + b" " * 100, ["header of 100,000,000"]),
        (b"\x93NUMPY\x01\x00", ["header"]),
        (b"\x93NUM", ["not a .npy"]),
        (b"", ["not a .npy"]),
        (b"PK\x03\x04 not an array at all", ["not a .npy"]),
    ],
)
def test_arrays_that_are_refused(tmp_path: Path, data: bytes, words: list[str]) -> None:
    path = tmp_path / "bad.npy"
    path.write_bytes(data)
    refused(lambda: read_npy(path), str(path), *words)
    path = archive(tmp_path / "bad.npz", good=npy(np.zeros(3)), bad=data)
    refused(lambda: read_npz(path), str(path), "'bad'", *words)


def test_a_shape_of_many_ones_is_an_error_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(header("(" + "1, " * 100 + ")") + bytes(8))
    refused(lambda: read_npy(path), str(path), "broken")


def test_sizes_are_refused_before_memory_is_taken(tmp_path: Path) -> None:
    path = archive(tmp_path / "bomb.npz", X=npy(np.zeros(5_000_000)))
    assert path.stat().st_size < 50_000
    refused(lambda: read_npz(path, most_bytes=10**7), "unpacks to", "at most 10,000,000")
    assert read_npz(path)["X"].shape == (5_000_000,)
    for declared, words in ((3 << 30, "more than 100 times"), ((4 << 30) - 2, "unpacks to")):
        bomb = bytearray(path.read_bytes())
        at = bomb.index(b"PK\x01\x02") + 24
        bomb[at : at + 4] = struct.pack("<I", declared)
        (tmp_path / "lie.npz").write_bytes(bomb)
        refused(lambda: read_npz(tmp_path / "lie.npz"), words, f"{declared:,}")
    path = archive(tmp_path / "two.npz", a=npy(np.zeros(800)), b=npy(np.zeros(800)))
    refused(lambda: read_npz(path, most_bytes=10_000), "unpacks to", "at most 10,000")
    path = tmp_path / "large.npy"
    path.write_bytes(npy(np.zeros(800)))
    refused(lambda: read_npy(path, most_bytes=6399), "at most 6,399")
    assert read_npy(path, most_bytes=6400).shape == (800,)
    with open(tmp_path / "hole.npy", "wb") as hole:
        hole.truncate(1 << 40)
    refused(lambda: read_npy(tmp_path / "hole.npy"), "1,099,511,627,776 bytes")


def test_memory_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(npy(np.zeros(3)))

    def none_left(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(_reading.np, "empty", none_left)
    refused(lambda: read_npy(path), str(path), "MemoryError")


def test_archives_that_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(b"this is no archive")
    refused(lambda: read_npz(path), str(path), "not a zip file")
    good = npz_bytes({"X": np.random.default_rng(0).normal(size=(50, 2))})
    path.write_bytes(good[: len(good) // 2])
    refused(lambda: read_npz(path), str(path))
    for name in ("../X.npy", "/etc/X.npy", "a\\..\\X.npy", "folder/", "pickle.pkl", "X.txt"):
        with zipfile.ZipFile(path, "w") as file:
            file.writestr(name, npy(np.zeros(3)))
        refused(lambda: read_npz(path), str(path), "plain names")
    with pytest.warns(UserWarning), zipfile.ZipFile(path, "w") as file:
        file.writestr("X.npy", npy(np.zeros(3)))
        file.writestr("X.npy", npy(np.ones(3)))
    refused(lambda: read_npz(path), "'X.npy' twice")
    with zipfile.ZipFile(path, "w") as file:
        for k in range(1001):
            file.writestr(f"{k}.npy", b"")
    refused(lambda: read_npz(path), "1,001 arrays")
    encrypted = bytearray(good)
    encrypted[good.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(encrypted)
    refused(lambda: read_npz(path), "encrypted")
    path.write_bytes(npz_bytes({}))
    assert read_npz(path) == {}


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 255), st.integers(0, 10**6))
def test_altered_archives_are_read_or_refused(at: int, byte: int, cut: int) -> None:
    good = npz_bytes({"X": np.arange(40.0).reshape(8, 5), "y": np.array(["a", "b"])})
    bad = bytearray(good)
    bad[at % len(bad)] = byte
    if cut % 3 == 0:
        bad = bad[: cut % len(bad)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.npz")
        path.write_bytes(bad)
        try:
            read_npz(path)
        except BadInput as error:
            assert "\n" not in str(error)


def test_what_is_not_a_plain_file(tmp_path: Path) -> None:
    refused(lambda: read_npz(tmp_path), str(tmp_path), "folder")
    refused(lambda: open_regular("/dev/null"), "device or pipe")
    os.mkfifo(tmp_path / "pipe.npz")
    refused(lambda: read_npz(tmp_path / "pipe.npz"), "device or pipe")
    (tmp_path / "points.npz").write_bytes(b"")
    refused(lambda: read_npz(tmp_path / "point.npz"), "no such file", "did you mean", "points.npz")
    (tmp_path / "link.npz").symlink_to("nowhere.npz")
    refused(lambda: read_npz(tmp_path / "link.npz"), "links to, 'nowhere.npz'")
    refused(lambda: read_npz(tmp_path / "no" / "zzz.npz"), "no such file")
    refused(lambda: read_npz(tmp_path / "points.npz" / "a.npz"), "cannot be read")
    refused(lambda: read_npz("a\0b.npz"), "name of a file")
    refused(lambda: read_npz("a" * 5000), "cannot be the name of a file: it is too long")
    (tmp_path / "round").symlink_to(tmp_path / "round")
    refused(lambda: read_npz(tmp_path / "round"), "cannot be read")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(npz_bytes({"X": np.zeros(1)}))

    def denied(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("builtins.open", denied)
    refused(lambda: read_npz(path), str(path), "Permission denied")


# ----------------------------------------------------------------------------------------- writing


def test_a_folder_is_written_whole(tmp_path: Path) -> None:
    target = tmp_path / "new" / "parent" / "run"
    check_writable(target)
    assert not target.parent.exists()
    write_folder(target, NEW)
    assert content(target) == NEW
    assert os.listdir(target.parent) == ["run"]
    (tmp_path / "plain").mkdir()
    assert target.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    target = tmp_path / "run"
    write_folder(target, OLD)
    for call in (check_writable, lambda path: write_folder(path, NEW)):
        refused(lambda call=call: call(target), str(target), "already exists", "force=True")
    assert content(target) == OLD
    write_folder(target, NEW, force=True)
    assert content(target) == NEW
    assert os.listdir(tmp_path) == ["run"]


def test_only_our_own_folders_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    write_folder(home, NEW, force=True)  # it was empty
    (home / "run.json").unlink()
    refused(lambda: write_folder(home, NEW, force=True), "no run.json", "not replaced")
    (home / "run.json").write_bytes(b"")
    (home / "photos").mkdir()
    refused(lambda: write_folder(home, NEW, force=True), "holds folders", "not replaced")
    (home / "photos").rmdir()
    monkeypatch.setenv("HOME", str(home))
    refused(lambda: write_folder(home, NEW, force=True), "home folder")
    monkeypatch.setenv("HOME", "/")
    monkeypatch.chdir(home)
    refused(lambda: write_folder(".", NEW, force=True), "working folder")
    refused(lambda: check_writable("/", force=True), "not replaced")
    assert content(home) == NEW | {"run.json": b""}


def test_places_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"mine")
    for force in (False, True):
        refused(lambda force=force: check_writable(file, force), str(file), "is a file")
        refused(lambda force=force: write_folder(file, NEW, force), str(file), "is a file")
        refused(lambda force=force: check_writable(file / "a" / "b", force), "is a file")
        refused(lambda force=force: check_writable(tmp_path, force, folder=False), "plain file")
    refused(lambda: check_writable("/dev/null", True, folder=False), "not a plain file")
    refused(lambda: write_file("/dev/null", b"", force=True), "not a plain file")
    refused(lambda: check_writable("/proc/tacit/run"), "cannot be written")
    refused(lambda: check_writable("  "), "name")
    refused(lambda: check_writable("a\0b"), "name")
    refused(lambda: check_writable(tmp_path / ("a" * 300)), "name of a file: it is too long")
    assert file.read_bytes() == b"mine"

    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", read_only)
    refused(lambda: check_writable(tmp_path / "run"), str(tmp_path / "run"), "Read-only")


def test_names_in_a_folder_are_plain(tmp_path: Path) -> None:
    for name in ("../a", "a/b", "/a", "", ".", ".."):
        with pytest.raises(ValueError, match="plain"):
            write_folder(tmp_path / "run", {"run.json": b"", name: b""})
    assert not os.listdir(tmp_path)


def test_a_link_stays_and_its_folder_is_replaced(tmp_path: Path) -> None:
    write_folder(tmp_path / "real", OLD)
    (tmp_path / "link").symlink_to("real")
    write_folder(tmp_path / "link", NEW, force=True)
    assert (tmp_path / "link").is_symlink()
    assert content(tmp_path / "real") == NEW


@pytest.mark.parametrize("one_step", [True, False])
@pytest.mark.parametrize("force", [True, False])
@pytest.mark.parametrize(
    "step", ["os.fsync", "os.rename", "os.open", "Path.mkdir", "builtins.open"]
)
@pytest.mark.parametrize(
    "fault", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]
)
def test_a_fault_at_any_step_leaves_the_old_state(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: BaseException,
    step: str,
    force: bool,
    one_step: bool,
) -> None:
    """The k-th call of a step fails, for every k until the writing succeeds."""
    place, name = step.split(".")
    owner = {"os": os, "Path": Path, "builtins": __import__("builtins")}[place]
    true = getattr(owner, name)
    if not one_step:
        monkeypatch.setattr(_writing, "_exchange", lambda new, old: False)
    for k in range(20):
        top = tmp_path / f"{k}"
        top.mkdir()
        target = top / "run" if force else top / "deep" / "run"
        if force:
            write_folder(target, OLD)
        calls = []

        def failing(*args: object, k: int = k, calls: list = calls, **options: object) -> object:
            calls.append(args)
            if len(calls) == k + 1:
                raise fault
            return true(*args, **options)

        with monkeypatch.context() as patch:
            patch.setattr(owner, name, failing)
            try:
                write_folder(target, NEW, force)
            except (BadInput, KeyboardInterrupt) as error:
                assert isinstance(error, KeyboardInterrupt) or "No space left" in str(error)
            else:
                assert content(target) == NEW
                if len(calls) <= k:
                    return
                continue
        if force:
            assert content(target) in (OLD, NEW)
            assert os.listdir(top) == ["run"]
        elif target.exists():  # the last step, once all is in place
            assert content(target) == NEW
        else:
            assert not os.listdir(top)
    raise AssertionError("the writing never succeeded")


WRITER = """
import sys
from tacit.files import write_folder
target = sys.argv[1]
print("ready", flush=True)
for k in range(10**6):
    write_folder(target, {"run.json": b"%d" % k, "same.txt": (b"%d," % k) * 1000}, force=True)
"""


def test_kill_while_writing_leaves_a_readable_folder(tmp_path: Path) -> None:
    target = tmp_path / "run"
    write_folder(target, {"run.json": b"0", "same.txt": b"0," * 1000})
    for k in range(4):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None and writer.stdout.readline()
        time.sleep(0.05 + 0.013 * k)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        kept = target if target.exists() else next(tmp_path.glob(".tacit-*-old"))
        number = json.loads((kept / "run.json").read_bytes())
        assert (kept / "same.txt").read_bytes() == b"%d," % number * 1000


@pytest.mark.parametrize("force", [True, False])
def test_many_writers_leave_one_valid_folder(tmp_path: Path, force: bool) -> None:
    target = tmp_path / "run"
    versions = [{"run.json": b"%d" % k, "b": b"%d" % k * 100} for k in range(8)]
    done: list[int] = []

    def write(k: int) -> None:
        try:
            write_folder(target, versions[k], force)
            done.append(k)
        except BadInput:
            pass

    threads = [threading.Thread(target=write, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert content(target) in [versions[k] for k in done]
    assert force or len(done) == 1
    assert os.listdir(tmp_path) == ["run"]


def test_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "deep" / "proof.json"
    write_file(path, b"old")
    refused(lambda: write_file(path, b"new"), "already exists", "force=True")
    assert path.read_bytes() == b"old"
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:

            def full(*_: object) -> None:
                raise OSError(errno.ENOSPC, "No space left on device")

            patch.setattr(os, name, full)
            refused(lambda: write_file(path, b"new", force=True), str(path), "No space left")
            refused(lambda: write_file(tmp_path / "a" / "b", b"new"), "No space left")
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["deep"] and os.listdir(path.parent) == ["proof.json"]
    write_file(path, b"new", force=True)
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == ["proof.json"]


def test_files_that_somebody_put_into_the_folder_are_kept(tmp_path: Path) -> None:
    target = tmp_path / "run"
    write_folder(target, OLD)
    (target / "notes.txt").write_bytes(b"mine")
    write_folder(target, NEW, force=True)
    assert content(target) == NEW | {"notes.txt": b"mine"}
