"""IDX files, MNIST and the small digits. What needs the true MNIST looks into TACIT_DATA."""

from __future__ import annotations

import gzip
import hashlib
import os
import socket
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets

from helpers import refused
from tacit.data import _openml, generate, images
from tacit.data._openml import idx_bytes
from tacit.data.idx import inside, read_idx

TRUE = os.environ.get("TACIT_DATA")
PARTS = ("train", "t10k")
DIGITS = np.array([3, 5, 3, 7, 5, 3, 8, 0], dtype=np.uint8)


def small_files() -> dict[str, bytes]:
    """Eight images a part: the k-th has the value 10 k everywhere; t10k is one brighter."""
    files = {}
    for part, more in (("train", 0), ("t10k", 1)):
        pictures = np.repeat(np.arange(8) * 10 + more, 784).reshape(8, 28, 28)
        files[f"{part}-images-idx3-ubyte"] = idx_bytes(pictures)
        files[f"{part}-labels-idx1-ubyte"] = idx_bytes(DIGITS)
    return files


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with small files in the place of MNIST, and their checksums in the table."""
    folder = tmp_path / "mnist"
    folder.mkdir()
    table = {}
    for name, raw in small_files().items():
        zipped = gzip.compress(raw, mtime=0)
        (folder / f"{name}.gz").write_bytes(zipped)
        table[name] = (hashlib.sha256(zipped).hexdigest(), hashlib.sha256(raw).hexdigest())
    monkeypatch.setattr(images, "CHECKSUMS", table)
    monkeypatch.setenv("TACIT_DATA", str(folder))
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user cache and no network."""
    monkeypatch.delenv("TACIT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def no_network(**_: object) -> None:
        assert socket.getdefaulttimeout() == _openml.WAIT_SECONDS
        raise URLError("Name or service not known")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", no_network)
    return tmp_path / "cache" / "tacit" / "mnist"


# --------------------------------------------------------------------------------------------- idx


@pytest.mark.parametrize("shape", [(5,), (2, 3), (4, 2, 3), (0,), (0, 28, 28)])
@pytest.mark.parametrize("zipped", [True, False])
def test_idx_round_trip(tmp_path: Path, shape: tuple[int, ...], zipped: bool) -> None:
    array = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    data = idx_bytes(array)
    data = gzip.compress(data, mtime=0) if zipped else data
    (tmp_path / "a").write_bytes(data)
    np.testing.assert_array_equal(read_idx(tmp_path / "a"), array)
    np.testing.assert_array_equal(read_idx(tmp_path / "a", hashlib.sha256(data).hexdigest()), array)


GOOD = idx_bytes(np.arange(12).reshape(3, 4))
ZIPPED = gzip.compress(GOOD, mtime=0)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", ["not an IDX file"]),
        (b"\0\0\x08", ["not an IDX file"]),
        (b"\0\0\x0d\x01" + bytes(8), ["not an IDX file", "0x00000d01"]),
        (b"\0\0\x08\x00" + bytes(8), ["not an IDX file"]),
        (b"\0\0\x08\xff" + bytes(8), ["not an IDX file"]),
        (b"<html>not found</html>", ["not an IDX file"]),
        (GOOD[:7], ["first 12 bytes"]),
        (GOOD[:-1], ["(3, 4)", "12 bytes", "11 follow"]),
        (GOOD + b"x", ["(3, 4)", "12 bytes", "13 follow"]),
        (b"\0\0\x08\x04" + b"\xff" * 16, ["(4294967295, ", "0 follow"]),
        (ZIPPED[:-9], ["unzipped"]),
        (ZIPPED[:15], ["unzipped"]),
        (ZIPPED + b"garbage", ["unzipped"]),
        (ZIPPED[:10] + b"\xff\xff\xff" + ZIPPED[13:], ["unzipped"]),
        (gzip.compress(bytes(2000), mtime=0), ["more than 1,000 bytes"]),
        (bytes(1001), ["1,001 bytes", "at most 1,000"]),
    ],
)
def test_idx_that_is_refused(tmp_path: Path, data: bytes, words: list[str]) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    refused(lambda: read_idx(path, most_bytes=1000), str(path), *words)
    refused(lambda: read_idx(path, "0" * 64, most_bytes=1000), str(path))


def test_paths_stay_in_their_folder(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(GOOD)
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "real").write_bytes(GOOD)
    (folder / "in").symlink_to("real")
    for name in ("../secret", "..", ".", "", "/etc/passwd", "a/b", "out", str(folder / "real")):
        refused(lambda name=name: inside(folder, name), "leads out of")
    assert inside(folder, "in").read_bytes() == GOOD
    (tmp_path / "link").symlink_to(folder)
    assert inside(tmp_path / "link", "real").exists()


# ------------------------------------------------------------------------------------------- mnist


def test_two_digits_become_plus_and_minus_one(small: Path) -> None:
    data = generate("mnist:classes=3/5")
    assert data.binary and data.d == 784
    assert data.y.tolist() == [1, -1, 1, -1, 1]
    np.testing.assert_array_equal(data.X[:, 0], np.array([0, 10, 20, 40, 50]) / 255)
    assert data.parameters["n"] == 5 and data.parameters["classes"] == "3/5"
    assert generate("mnist:classes=7").y.tolist() == [1]


def test_more_digits_are_classes_in_the_order_given(small: Path) -> None:
    data = generate("mnist:classes=8/3/0")
    assert data.classes == ("8", "3", "0")
    assert data.y.tolist() == [1, 1, 1, 0, 2]
    assert generate("mnist").classes == tuple("0123456789")
    assert generate("mnist").y.tolist() == DIGITS.tolist()


def test_a_drawn_subset(small: Path) -> None:
    data = generate("mnist:n=6,seed=4,test=5")
    again = generate("mnist:n=6,seed=4,test=5")
    assert data.test is not None and again.test is not None
    np.testing.assert_array_equal(data.X, again.X)
    np.testing.assert_array_equal(data.test.X, again.test.X)
    values = np.round(data.X[:, 0] * 255).astype(int)
    assert len(set(values)) == 6 and (values % 10 == 0).all()
    assert data.y.tolist() == DIGITS[values // 10].tolist()
    values = np.round(data.test.X[:, 0] * 255).astype(int)
    assert len(set(values)) == 5 and (values % 10 == 1).all()
    assert data.test.y.tolist() == DIGITS[values // 10].tolist()
    assert generate(f"mnist:n=6,seed={10**40}").n == 6
    draws = [generate(f"mnist:n=6,seed={seed}").X[:, 0].tolist() for seed in range(5)]
    assert len({tuple(draw) for draw in draws}) > 1
    other = generate("mnist:split=test,test=8")
    assert other.test is not None
    assert other.X[0, 0] == 1 / 255 and (np.round(other.test.X * 255) % 10 == 0).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("mnist:classes=3/5,n=6", ["n=6", "5 points"]),
        ("mnist:classes=3/5,test=6", ["test=6", "5 points"]),
        ("mnist:classes=3/3", ["classes=3/3", "different digits"]),
        ("mnist:classes=a", ["classes=a"]),
        ("mnist:classes=3/", ["classes=3/"]),
        ("mnist:classes=12", ["classes=12"]),
        ("mnist:classes=٣", ["different digits"]),
        ("mnist:split=../etc", ["split=../etc", "train or test"]),
        ("mnist:n=0", ["n=0"]),
        ("mnist:test=-1", ["test=-1"]),
        ("digits:n=1797,test=1", ["1797"]),
        ("digits:test=1797", ["1797"]),
        ("digits:n=1798", ["n=1798", "1797"]),
    ],
)
def test_parameters_that_are_refused(small: Path, call: str, words: list[str]) -> None:
    refused(lambda: generate(call), *words)


def test_files_may_be_unzipped(small: Path) -> None:
    zipped = generate("mnist:test=8")
    for path in list(small.iterdir()):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    np.testing.assert_array_equal(generate("mnist:test=8").X, zipped.X)


def test_altered_files_are_refused(small: Path, tmp_path: Path) -> None:
    path = small / "train-images-idx3-ubyte.gz"
    good = path.read_bytes()
    path.write_bytes(good[:-5])
    refused(lambda: generate("mnist"), str(path), "SHA-256", "get it again")
    path.write_bytes(b"")
    refused(lambda: generate("mnist"), str(path), "SHA-256")
    path.unlink()
    (tmp_path / "elsewhere.gz").write_bytes(good)
    path.symlink_to(tmp_path / "elsewhere.gz")
    refused(lambda: generate("mnist"), "leads out of")
    path.unlink()
    path.mkdir()
    refused(lambda: generate("mnist"), "is a folder")


def test_absent_files_are_explained_and_nothing_is_fetched_into_a_named_folder(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACIT_DATA", str(tmp_path / "nowhere"))
    refused(
        lambda: generate("mnist"),
        str(tmp_path / "nowhere" / "train-images-idx3-ubyte.gz"),
        "nothing is fetched",
        "TACIT_DATA",
        "digits",
    )
    assert not (tmp_path / "nowhere").exists() and not cache.exists()


# ---------------------------------------------------------------------------------------- fetching


def test_without_a_network_the_message_is_plain(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = socket.getdefaulttimeout()
    refused(
        lambda: generate("mnist:classes=3/5"),
        str(cache / "train-images-idx3-ubyte.gz"),
        "Name or service not known",
        "TACIT_DATA",
        "digits",
    )
    assert socket.getdefaulttimeout() == before
    assert os.listdir(cache) == []
    said = capsys.readouterr()
    assert said.out == "" and "openml.org" in said.err


def answer_with(monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes], kind: str) -> list[str]:
    """Let OpenML answer with the table that these files make; returns where it may keep files."""
    pixels, digits = (
        np.concatenate([np.frombuffer(files[f"{part}-{what}"], np.uint8)[skip:] for part in PARTS])
        for what, skip in (("images-idx3-ubyte", 16), ("labels-idx1-ubyte", 8))
    )
    homes: list[str] = []

    def answer(*, data_home: str, **_: object) -> SimpleNamespace:
        homes.append(data_home)
        Path(data_home, "download").write_bytes(b"x")
        return SimpleNamespace(
            data=pixels.reshape(-1, 784).astype(kind), target=digits.astype(str).astype(object)
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", answer)
    return homes


def test_what_is_fetched_is_checked_and_kept(
    small: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = small_files()
    homes = answer_with(monkeypatch, files, "f8")
    monkeypatch.setattr(_openml, "SPLITS", {"train": slice(0, 8), "t10k": slice(8, 16)})
    monkeypatch.delenv("TACIT_DATA", raising=False)
    data = generate("mnist:classes=3/5,test=5")
    assert data.n == 5
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == files
    assert len(homes) == 1 and Path(homes[0]).parent == cache
    generate("mnist")
    assert len(homes) == 1


def test_what_is_fetched_but_altered_is_thrown_away(
    small: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = small_files()
    name = "t10k-labels-idx1-ubyte"
    files[name] = files[name][:-1] + b"\x09"
    answer_with(monkeypatch, files, "f8")
    monkeypatch.setattr(_openml, "SPLITS", {"train": slice(0, 8), "t10k": slice(8, 16)})
    monkeypatch.delenv("TACIT_DATA", raising=False)
    refused(lambda: generate("mnist"), "is not the original t10k-labels", "TACIT_DATA")
    assert os.listdir(cache) == []


def test_nothing_is_written_through_a_link(
    small: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_with(monkeypatch, small_files(), "f8")
    monkeypatch.setattr(_openml, "SPLITS", {"train": slice(0, 8), "t10k": slice(8, 16)})
    monkeypatch.delenv("TACIT_DATA", raising=False)
    cache.mkdir(parents=True)
    (cache / "t10k-labels-idx1-ubyte").symlink_to(tmp_path / "outside")
    generate("mnist:classes=3/5")
    refused(lambda: generate("mnist:classes=3/5,test=2"), "leads out of")
    assert not (tmp_path / "outside").exists()


# --------------------------------------------------------------------------- true MNIST and digits


def test_true_mnist(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the true files the counts are known; without them the message says how to get them."""
    if not TRUE:
        refused(lambda: generate("mnist:classes=3/5"), "MNIST is not here", "TACIT_DATA")
        return
    monkeypatch.setenv("TACIT_DATA", TRUE)
    data = generate("mnist:classes=3/5,test=1000")
    assert (data.y == 1).sum() == 6131 and (data.y == -1).sum() == 5421
    assert data.X.min() == 0 and data.X.max() == 1
    assert data.test is not None and data.test.n == 1000
    whole = generate("mnist:split=test")
    assert np.bincount(whole.y).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert whole.y[:5].tolist() == [7, 2, 1, 0, 4]


def test_the_true_files_are_put_together_again_from_openml_s_table(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of 70,000 rows in the original order gives the four original files."""
    if not TRUE:
        refused(lambda: generate("mnist"), "MNIST is not here", str(cache))
        return
    zipped = {name: Path(TRUE, f"{name}.gz").read_bytes() for name in images.CHECKSUMS}
    files = {name: gzip.decompress(data) for name, data in zipped.items()}
    for name, (first, second) in images.CHECKSUMS.items():
        assert hashlib.sha256(zipped[name]).hexdigest() == first
        assert hashlib.sha256(files[name]).hexdigest() == second
    answer_with(monkeypatch, files, "u1")
    assert generate("mnist:classes=0/1,n=10").n == 10
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == files


def test_digits() -> None:
    data = generate("digits")
    assert (data.n, data.d) == (1797, 64) and data.classes == tuple("0123456789")
    assert data.X.min() == 0 and data.X.max() == 1
    points, labels = sklearn.datasets.load_digits(return_X_y=True)
    np.testing.assert_array_equal(data.X * 16, points)
    np.testing.assert_array_equal(data.y, labels)


def test_digits_for_testing_are_not_for_training() -> None:
    data = generate("digits:classes=3/5,n=100,test=200,seed=2")
    assert data.test is not None
    assert (data.n, data.test.n) == (100, 200)
    rows = {row.tobytes() for row in data.X} & {row.tobytes() for row in data.test.X}
    assert not rows
    np.testing.assert_array_equal(data.X, generate("digits:classes=3/5,n=100,seed=2").X)
    rest = generate("digits:classes=3/5,test=65")
    assert rest.n == 300 and rest.parameters["n"] == 300
    assert rest.test is not None and rest.test.n == 65
