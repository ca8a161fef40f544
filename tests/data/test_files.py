"""Data files: what is read, and the one line that refuses the rest."""

from __future__ import annotations

import pickle
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tacit.data.files import read_file, stem
from tacit.files import npz_bytes
from tacit.values import BadInput

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TABLES = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=FINITE)
WORDS = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=20)


def csv_file(folder: Path, text: str | bytes, name: str = "a.csv") -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def refused(text: str, *words: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_file(text)
    line = str(caught.value)
    assert "\n" not in line
    for word in words:
        assert word in line


# --------------------------------------------------------------------------------------------- csv


@settings(deadline=None)
@given(
    TABLES,
    st.data(),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.booleans(),
)
def test_csv_round_trip(
    X: np.ndarray, data: st.DataObject, mark: str, end: str, header: bool, bom: bool
) -> None:
    d = X.shape[1]
    labels = data.draw(st.lists(st.integers(-9, 9), min_size=len(X), max_size=len(X)))
    at = data.draw(st.integers(0, d)) if header else d
    rows = [[f"x{j}" for j in range(d)]] if header else []
    rows += [[repr(value) for value in row] for row in X.tolist()]
    for row, label in zip(rows, ["y", *labels] if header else labels, strict=True):
        row.insert(at, f"{label}")
    text = end.join(mark.join(row) for row in rows) + end * data.draw(st.integers(0, 3))
    with tempfile.TemporaryDirectory() as folder:
        path = csv_file(Path(folder), text.encode("utf-8-sig" if bom else "utf-8"))
        back, raw, _ = read_file(path)
    np.testing.assert_array_equal(back, X)
    assert raw.tolist() == [f"{label}" for label in labels]


@settings(deadline=None)
@given(st.lists(WORDS, min_size=2, max_size=6))
@example(["a b", "ä", "x_1", 'say "no"', "1,2;3", "y"])
@example(["a", "-Inf"])
def test_csv_labels_may_be_any_words(words: list[str]) -> None:
    quoted = ['"' + word.replace('"', '""') + '"' for word in words]
    text = "height,y\n" + "".join(f"{k}.5,{word}\n" for k, word in enumerate(quoted))
    with tempfile.TemporaryDirectory() as folder:
        path = csv_file(Path(folder), text)
        try:
            _, raw, _ = read_file(path)
        except BadInput as error:
            assert "is not a label" in str(error)
            assert any(word.strip("+-").lower() in ("nan", "inf", "infinity") for word in words)
        else:
            assert raw.tolist() == words


@pytest.mark.parametrize(
    ("text", "X", "labels"),
    [
        ("1,2,1\n3,4,-1\n", [[1, 2], [3, 4]], ["1", "-1"]),
        ("a,b,c\n1,2,1\n", [[1, 2]], ["1"]),
        ("y,b,c\n1,2,3\n", [[2, 3]], ["1"]),
        ("# a,b,y\n1,2,cat\n", [[1, 2]], ["cat"]),
        ("0,1,y\n5,6,1\n7,8,-1\n", [[5, 6], [7, 8]], ["1", "-1"]),
        ("0,y,1\n5,6,1\n7,8,-1\n", [[5, 1], [7, -1]], ["6", "8"]),
        ("0,1,label\n5,6,1\n7,8,-1\n", [[5, 6], [7, 8]], ["1", "-1"]),
        ("0,1,y\n5,6,n\n7,8,y\n", [[0, 1], [5, 6], [7, 8]], ["y", "n", "y"]),
        ("0,1,cat\n5,6,dog\n", [[0, 1], [5, 6]], ["cat", "dog"]),
        ("0,1,cat\n", [[0, 1]], ["cat"]),
        ("\n\n  \n1, 2 , 1\n\n3,4,-1", [[1, 2], [3, 4]], ["1", "-1"]),
        ('"x";"y"\n"1.5";"a,b"\n', [[1.5]], ["a,b"]),
        ("1e3\t+2\t1\n", [[1000, 2]], ["1"]),
    ],
)
def test_csv_header_and_columns(
    tmp_path: Path, text: str, X: list[list[float]], labels: list[str]
) -> None:
    back, raw, _ = read_file(csv_file(tmp_path, text))
    assert back.tolist() == X and back.dtype == np.float64
    assert raw.tolist() == labels


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty", "(0, 0)"]),
        ("\n \n\n", ["empty"]),
        ("a,b,y\n", ["no rows", "(0, 2)"]),
        ("1\n2\n", ["1 column", "(n, 0)", "(n,)"]),
        ("1 2 3\n", ["1 column", "commas"]),
        ("1,2,1\n3,4,5,1\n", ["line 2", "4 columns", "line 1", "3"]),
        ("a,b,y\n\n1,2\n", ["line 3", "2 columns", "line 1 has 3"]),
        ("a,b,y\n1,two,1\n", ["line 2", "column 2 ('b')", "'two'", "not a number"]),
        ("1,2,1\n1,x,1\n", ["line 2", "column 2", "'x'"]),
        ("y,b,c\n1,2,z\n", ["line 2", "column 3 ('c')", "'z'"]),
        ("1,oops,2,1\n1,2,2,1\n", ["line 1", "column 2", "'oops'"]),
        ("1_000,2,1\n", ["line 1", "column 1", "'1_000'"]),
        ("1,2,1\n1,,1\n", ["line 2", "column 2", "is empty"]),
        ("1,2,1\n1,nan,1\n", ["line 2", "column 2", "nan", "finite"]),
        ("a,y,b\n\n1,1,2\n1,1,-inf\n", ["line 4", "column 3 ('b')", "-inf", "finite"]),
        ("1,1e999,1\n", ["line 1", "column 2", "inf"]),
        ("1,2,\n", ["line 1", "column 3", "label is missing"]),
        ("a,y\n1,NaN\n", ["line 2", "column 2 ('y')", "'NaN'"]),
        ("1," + "a" * 300, ["line 1", "not a label"]),
        (",a,y\n0,1,1\n", ["line 1", "column 1", "no name", "index=False"]),
        ("y,a,y\n0,1,1\n", ["2 columns 'y'"]),
        ("1,5;2,5;1\n", ["commas and semicolons"]),
        ('1,"2,1\n3,4,1\n', ["line", "no line of a table"]),
        ("1," + "9" * 200_000 + ",1\n", ["line 1", "no line of a table"]),
        (b"1,2,\xff\xfe\n", ["UTF-8"]),
        ("1,2,1\n".encode("utf-16"), ["UTF-8"]),
        ("x,y\n" + "z" * 100 + ",1\n", ["line 2", "zzz…'"]),
        ("1,\x002,1\n", ["line 1", "column 2", "'\\x002'"]),
    ],
)
def test_csv_that_is_refused(tmp_path: Path, text: str | bytes, words: list[str]) -> None:
    path = csv_file(tmp_path, text)
    refused(path, path, *words)


def test_csv_has_a_size_cap(tmp_path: Path) -> None:
    with open(tmp_path / "hole.csv", "wb") as hole:
        hole.truncate(1 << 40)
    refused(str(tmp_path / "hole.csv"), "1,099,511,627,776 bytes", "at most")


def test_csv_is_read_by_rows_not_by_cells(tmp_path: Path) -> None:
    """A call of Python's for every cell would make large tables slow: few are made for a row."""
    line = ",".join(repr(value) for value in np.random.default_rng(0).normal(size=50).tolist())
    path = csv_file(tmp_path, f"{line},1\n" * 1000)
    calls = Counter[str]()
    sys.setprofile(lambda frame, event, argument: calls.update([event]))
    try:
        X, *_ = read_file(path)
    finally:
        sys.setprofile(None)
    assert X.shape == (1000, 50)
    assert calls["call"] + calls["c_call"] < 20 * len(X)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_csv_of_any_bytes_is_read_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            X, raw, _ = read_file(csv_file(Path(folder), data))
        except BadInput as error:
            assert "\n" not in str(error)
        else:
            assert X.ndim == 2 and X.size and np.isfinite(X).all() and len(raw) == len(X)


# ------------------------------------------------------------------------------------------ arrays


@settings(deadline=None)
@given(
    hnp.arrays(
        st.sampled_from(["<f8", ">f4", "<i4", "|u1", "|b1", "<f2"]),
        hnp.array_shapes(min_dims=2, max_dims=2),
        elements={"allow_nan": False, "allow_infinity": False},
    ),
    st.sampled_from(["<i8", "<f8", "<U4", "|S4"]),
    st.booleans(),
)
def test_array_round_trip(X: np.ndarray, kind: str, fortran: bool) -> None:
    X = np.asarray(X, order="F" if fortran else "C")
    y = np.arange(len(X)).astype(kind)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.npz").write_bytes(npz_bytes({"X": X, "y": y, "more": y}))
        np.save(f"{folder}/X.npy", X)
        np.save(f"{folder}/y.npy", y)
        for text in (f"{folder}/a.npz", f"{folder}/X.npy,{folder}/y.npy"):
            back, raw, _ = read_file(text)
            assert back.dtype == np.float64 and back.flags.c_contiguous
            np.testing.assert_array_equal(back, X.astype(np.float64))
            assert raw.astype(float).tolist() == list(range(len(X)))
            assert raw.dtype.kind != "S"


ONE, PAIR = np.ones((2, 3)), np.array([1, -1])


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (ONE, np.ones(3), ["(2, 3)", "(3,)", "(n, d)"]),
        (ONE, np.ones((2, 1)), ["(2, 3)", "(2, 1)"]),
        (PAIR, ONE, ["(2,)", "(2, 3)"]),
        (np.array(5.0), PAIR, ["()", "(2,)"]),
        (np.ones((0, 3)), np.ones(0), ["(0, 3)", "at least 1"]),
        (np.ones((2, 0)), PAIR, ["(2, 0)", "at least 1"]),
        (ONE * 1j, PAIR, ["complex128", "real"]),
        (ONE.astype(str), PAIR, ["<U", "real numbers"]),
        (ONE, PAIR * 1j, ["y holds complex128"]),
        (np.array([[1, 2], [3, np.nan]]), PAIR, ["nan", "row 1, column 1", "counted from 0"]),
        (np.array([[1, -np.inf], [3, 4]]), PAIR, ["-inf", "row 0, column 1"]),
        (np.full((2, 1), np.longdouble("1e400")), PAIR, ["inf", "row 0, column 0"]),
        (ONE, np.array([b"\xff", b"a"]), ["UTF-8"]),
    ],
)
def test_arrays_that_are_refused(
    tmp_path: Path, X: np.ndarray, y: np.ndarray, words: list[str]
) -> None:
    (tmp_path / "a.npz").write_bytes(npz_bytes({"X": X, "y": y}))
    refused(str(tmp_path / "a.npz"), str(tmp_path / "a.npz"), *words)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    refused(f"{tmp_path}/X.npy,{tmp_path}/y.npy", *words)


def test_truth_values_as_labels(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(npz_bytes({"X": ONE, "y": np.array([True, False])}))
    assert read_file(str(tmp_path / "a.npz"))[1].tolist() == [1, 0]


def test_names_that_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(npz_bytes({"x": ONE, "labels": PAIR}))
    refused(str(tmp_path / "a.npz"), "'X' and 'y'", "'x', 'labels'")
    (tmp_path / "none.npz").write_bytes(npz_bytes({}))
    refused(str(tmp_path / "none.npz"), "found: none")
    np.save(tmp_path / "X.npy", ONE)
    refused(f"{tmp_path}/X.npy", "X.npy,y.npy")
    refused(f"{tmp_path}/X.npy,{tmp_path}/y.npy", "y.npy: there is no such file")
    refused(f"{tmp_path}/X.npy,{tmp_path}/y.npy,{tmp_path}/z.npy", "pair")
    refused(f"{tmp_path}/points.txt", "'.txt'", ".csv")
    refused(f"{tmp_path}/b.npz", "no such file", "did you mean", "a.npz")
    refused(str(tmp_path), "folder")
    (tmp_path / "folder.csv").mkdir()
    refused(f"{tmp_path}/folder.csv", "folder")


def test_pickles_are_never_opened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (Path(tmp_path, "sprung"),)  # type: ignore[return-value]

    np.save(tmp_path / "X.npy", np.array([[Trap()]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "a.npz", X=np.array([[Trap()]], dtype=object), y=np.ones(1))
    (tmp_path / "b.npz").write_bytes(pickle.dumps(Trap()))
    np.save(tmp_path / "y.npy", np.ones(1))
    refused(f"{tmp_path}/X.npy,{tmp_path}/y.npy", "Python objects")
    refused(f"{tmp_path}/a.npz", "Python objects")
    refused(f"{tmp_path}/b.npz", "not a zip file")
    assert not (tmp_path / "sprung").exists()


def test_stem() -> None:
    assert stem("some/points.csv") == "points"
    assert stem("a/X.npy,b/y.npy") == "X"
    assert stem("a,b.npz") == "a,b"


@pytest.mark.parametrize("name", ["label", "Y", "Target", "class"])
def test_a_label_that_is_not_where_it_is_read_is_refused(tmp_path: Path, name: str) -> None:
    path = csv_file(tmp_path, f"{name},x1,x2\n1,2,1\n-1,-4,-1\n")
    with pytest.raises(BadInput, match="looks like the label.*'x2'.*call the label's column y"):
        read_file(path)
    assert read_file(csv_file(tmp_path, f"x1,x2,{name}\n2,1,1\n-4,-1,-1\n"))[1].tolist() == [
        "1",
        "-1",
    ]
    assert read_file(csv_file(tmp_path, f"{name},y,x\n2,1,3\n-4,-1,5\n"))[1].tolist() == ["1", "-1"]
