"""One text becomes one data set: files and generators, labels, bias and test sets."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.data import load, takes_data
from tacit.files import npz_bytes
from tacit.values import BadInput, Dataset, Network, Setting


def file_with(folder: Path, labels: list, name: str = "points.npz", d: int = 2) -> str:
    """A file whose k-th point is (k, …, k)."""
    X = np.repeat(np.arange(float(len(labels)))[:, None], d, axis=1)
    path = folder / name
    if path.suffix == ".csv":
        rows = [
            ",".join([*map(repr, row), f"{y}"]) for row, y in zip(X.tolist(), labels, strict=True)
        ]
        path.write_text("\n".join(rows))
    else:
        path.write_bytes(npz_bytes({"X": X, "y": np.array(labels)}))
    return str(path)


def refused(data: Any, *words: str, **options: Any) -> None:
    with pytest.raises(BadInput) as caught:
        load(data, **options)
    line = str(caught.value)
    assert "\n" not in line
    for word in words:
        assert word in line


# ------------------------------------------------------------------------------------------ labels


@pytest.mark.parametrize(
    "labels", [[1, -1, 1], [1.0, -1.0, 1.0], ["+1", "-1", "1"], ["1", "-1.0", "1"]]
)
@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_plus_and_minus_one_are_binary(tmp_path: Path, labels: list, ending: str) -> None:
    data = load(file_with(tmp_path, labels, f"points.{ending}"))
    assert data.binary and data.y.tolist() == [1, -1, 1]
    assert data.name == "points"
    assert data.parameters["file"].endswith(f"points.{ending}")
    assert "left_out" not in data.parameters


def test_one_class_is_valid(tmp_path: Path) -> None:
    assert load(file_with(tmp_path, [1, 1])).y.tolist() == [1, 1]
    assert load(file_with(tmp_path, [-1])).y.tolist() == [-1]
    seven = file_with(tmp_path, [7, 7])
    refused(seven, "found: 7", "`labels='7=+1'`")
    assert load(seven, labels="7=+1").y.tolist() == [1, 1]
    assert load(seven, labels="7=-1").y.tolist() == [-1, -1]


def test_equal_points_with_opposite_labels_and_zero_rows_are_valid(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2,1\n1,2,-1\n0,0,1\n")
    data = load(str(tmp_path / "a.csv"))
    assert data.X.tolist() == [[1, 2], [1, 2], [0, 0]] and data.y.tolist() == [1, -1, 1]


@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_three_or_more_labels_are_classes(tmp_path: Path, ending: str) -> None:
    data = load(file_with(tmp_path, [10, 9, 2, 10], f"a.{ending}"))
    assert data.classes == ("2", "9", "10")
    assert data.y.tolist() == [2, 1, 0, 2]
    data = load(file_with(tmp_path, ["dog", "cat", "eel"], f"a.{ending}"))
    assert data.classes == ("cat", "dog", "eel")
    data = load(file_with(tmp_path, [-1, 0, 1], f"a.{ending}"))
    assert data.classes == ("-1", "0", "1")
    data = load(file_with(tmp_path, ["1", "cat", "1.5"], f"a.{ending}"))
    assert data.classes == ("1", "1.5", "cat")


def test_labels_that_need_a_word_from_the_user(tmp_path: Path) -> None:
    refused(file_with(tmp_path, ["no", "no"]), "points.npz", "found: no", "`labels='no=+1'`")
    refused(file_with(tmp_path, [1, 2.5, 3]), "measurements", "1, 2.5, 3")
    refused(file_with(tmp_path, list(range(1001))), "1,001", "1,000", "0, 1, 2", "…")
    refused(file_with(tmp_path, [1, np.nan, -1]), "row 1", "counted from 0", "nan")
    refused(file_with(tmp_path, [1, np.inf, -1]), "row 1", "inf")
    refused(file_with(tmp_path, ["a", "b", ""]), "row 2", "no label")
    refused(file_with(tmp_path, ["a\nb"]), "a\\nb")


@pytest.mark.parametrize("ending", ["csv", "npz"])
@pytest.mark.parametrize(
    ("labels", "low", "high"),
    [([0, 1, 1], "0", "1"), (["no", "yes", "yes"], "no", "yes"), ([2.5, 10, 10.0], "2.5", "10")],
)
def test_of_any_two_labels_the_last_becomes_plus_one(
    tmp_path: Path, labels: list, low: str, high: str, ending: str
) -> None:
    data = load(file_with(tmp_path, labels, f"a.{ending}"))
    assert data.binary and data.y.tolist() == [-1, 1, 1]
    assert data.parameters["labels"] == {low: -1, high: 1} and "left_out" not in data.parameters
    assert data.names == {-1: low, 1: high}
    assert data.class_sizes == {low: 1, high: 2}
    assert f"{high} is +1" in repr(data) and len(repr(data).splitlines()) <= 5
    other = load(data, labels=f"{low},{high}")
    assert other.y.tolist() == [1, -1, -1] and other.names == {1: low, -1: high}


@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_labels_are_chosen(tmp_path: Path, ending: str) -> None:
    text = file_with(tmp_path, [3, 5, 8, 3], f"a.{ending}")
    for labels in ("3,5", "3.0,+5", " 3 , 5 ", "3=+1,5=-1", "3=1,5=-1", "5=-1,3=1"):
        data = load(text, labels=labels)
        assert data.binary and data.y.tolist() == [1, -1, 1]
        assert data.X[:, 0].tolist() == [0, 1, 3]
        assert data.parameters["left_out"] == 1
        assert data.parameters["labels"] == {"3": 1, "5": -1}
    assert load(text, labels="5,3").y.tolist() == [-1, 1, -1]
    refused(text, "'4'", "found: 3, 5, 8", labels="3,4")
    refused(text, "twice", labels="3,3.0")
    refused(text, "+1 and the other -1", labels="3=+1,5=+1")
    for labels in ("3", "3,5,8", "", ",", "3,", "3=2,5,8"):
        refused(text, f"`labels={labels!r}`:", "A,B", labels=labels)
    many = file_with(tmp_path, list(range(20)), f"a.{ending}")
    refused(many, "found: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …", labels="3,99")
    words = file_with(tmp_path, ["a=b", "c"], f"a.{ending}")
    assert load(words, labels="a=b,c").y.tolist() == [1, -1]


@settings(deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30))
def test_every_label_column_has_one_outcome(labels: list[int]) -> None:
    """Binary, K classes, or a refusal that lists what was found: nothing else."""
    kept = sorted(set(labels))
    with tempfile.TemporaryDirectory() as folder:
        results = []
        for ending in ("csv", "npz"):
            text = file_with(Path(folder), labels, f"a.{ending}")
            if len(kept) == 1 and kept[0] not in (-1, 1):
                refused(text, f"found: {kept[0]}")
            else:
                results.append(load(text))
        for data in results:
            names = {k: int(name.replace("−", "-")) for k, name in data.names.items()}
            assert [names[k] for k in data.y.tolist()] == labels
            assert set(kept) <= set(names.values())
            assert data.binary == (len(kept) <= 2)
            assert data.binary or list(names.values()) == kept


# ------------------------------------------------------------------------- generators and test sets


def test_a_generator_is_called() -> None:
    data = load("digits:classes=3/5,n=30,seed=1")
    assert data.n == 30 and data.binary and data.name == "digits"
    assert data.parameters["generator"] == "digits"
    assert load(" digits ").classes == tuple("0123456789")
    refused("digit:n=3", "neither", "did you mean 'digits'?")
    refused("mnst:classes=3/5,x=0.5", "did you mean 'mnist'?")
    refused("wxqzw", "neither", "there are:", "digits")
    refused("digits:m=3", "'m'")
    refused("digits:n=0", "n=0")
    refused("  ", "no data is named")


def test_a_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file_with(tmp_path, [1, -1])
    assert load("points.npz").n == 2
    file_with(tmp_path, [1, -1], "digits:n.npz")
    refused("digits:n.npz", "parameter=value")
    assert load("./digits:n.npz").n == 2
    refused("point.npz", "no such file", "did you mean 'points.npz'?")
    refused("points.txt", "'.txt'")
    refused("some/where", "not read")
    (tmp_path / "there").mkdir()
    refused("there", "is a folder")
    refused("a" * 5000, "neither")
    refused("a\0b", "neither")


def test_labels_choose_among_the_classes_of_a_generator() -> None:
    whole = load("digits:test=100")
    data = load("digits:test=100", labels="5,3")
    assert data.binary and data.test is not None and whole.test is not None
    keep = np.isin(whole.y, [3, 5])
    np.testing.assert_array_equal(data.X, whole.X[keep])
    np.testing.assert_array_equal(data.y, np.where(whole.y[keep] == 5, 1, -1))
    assert data.parameters["left_out"] == whole.n - data.n
    assert data.parameters["generator"] == "digits"
    assert data.test.n == np.isin(whole.test.y, [3, 5]).sum()
    assert data.test.parameters["left_out"] == 100 - data.test.n
    pair = load("digits:classes=5/3")
    np.testing.assert_array_equal(load("digits:classes=5/3", labels="-1,1").y, -pair.y)
    refused("digits:classes=5/3", "found: -1, 1", labels="5,3")


def test_a_test_set_is_mapped_like_the_training_set(tmp_path: Path) -> None:
    train = file_with(tmp_path, [4, 7, 9], "train.csv")
    other = file_with(tmp_path, [9, 4, 4, 8], "other.npz")
    data = load(train, labels="7,4", test=other)
    assert data.test is not None and data.test.y.tolist() == [-1, -1]
    assert data.test.name == "other" and data.test.parameters["left_out"] == 2
    refused(train, "other.npz", "row 3", "'8'", "4, 7, 9", test=other)
    data = load(train, test=file_with(tmp_path, [9, 9], "nine.csv"))
    assert data.test is not None and data.test.classes == data.classes
    assert data.test.y.tolist() == [2, 2]
    refused(train, "no row", "7, 4", labels="7,4", test=file_with(tmp_path, [1, 2], "none.csv"))
    wide = file_with(tmp_path, [4, 7, 9, 9], "wide.csv", d=3)
    refused(train, "wide.csv", "(4, 3)", "(3, 2)", "same number of columns", test=wide)
    refused(train, "neither", test="nothing")
    one = file_with(tmp_path, [1, 1], "one.csv")
    both = load(one, test=file_with(tmp_path, [1, -1], "both.csv"))
    assert both.test is not None and both.test.y.tolist() == [1, -1]


def test_a_test_set_may_be_generated_and_replaces_the_generator_s_own() -> None:
    data = load("digits:classes=3/5,n=50,test=20", test="digits:classes=3/5,n=7,seed=5")
    assert data.test is not None and data.test.n == 7
    refused("digits:classes=3/5", "'0'", "-1, 1", test="digits")


def test_bias(tmp_path: Path) -> None:
    text = file_with(tmp_path, [1, -1])
    data = load(text, bias=0.1, test=text)
    assert data.X.tolist() == [[0, 0, 0.1], [1, 1, 0.1]]
    assert data.test is not None and data.test.X.tolist() == data.X.tolist()
    assert data.parameters["bias"] == 0.1
    assert load(text, bias=0).X[:, 2].tolist() == [0, 0]
    for bad in (float("nan"), float("inf")):
        refused(text, "`bias=", "finite", bias=bad)


def test_a_data_set_cannot_be_altered(tmp_path: Path) -> None:
    data = load(file_with(tmp_path, [1, -1], "a.csv"))
    assert isinstance(data, Dataset)
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 5


# ---------------------------------------------------------------------------------- arrays, frames


class Frame:
    """What this package uses of a pandas frame."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self.table = {name: np.asarray(column) for name, column in columns.items()}

    @property
    def columns(self) -> list[str]:
        return list(self.table)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.table[name]

    def __len__(self) -> int:
        return len(next(iter(self.table.values())))


class Points:
    """Something with `__array__`, as tensors of other libraries are."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(X, dtype=dtype)


X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
IRIS = Frame({"petal": [1, 2, 3], "sepal": [4.0, 5.0, 6.0], "kind": np.array(["b", "a", "b"], "O")})


@pytest.mark.parametrize(
    ("data", "y"),
    [
        (X, [1, -1, 1]),
        (np.array(X, dtype=np.float32), np.array([1.0, -1.0, 1.0])),
        (Points(), [1, -1, 1]),
        ((np.array(X), [1, -1, 1]), None),
        (Dataset(np.array(X), np.array([1, -1, 1])), None),
        (Frame({"u": [1, 3, 5], "y": [1, -1, 1], "v": [2, 4, 6]}), None),
    ],
)
def test_points_in_memory(data: Any, y: Any) -> None:
    points = load(data, y)
    assert points.X.tolist() == X and points.y.tolist() == [1, -1, 1]
    assert points.name == "data" and points.binary and "labels" not in points.parameters


def test_columns_and_class_names_survive(tmp_path: Path) -> None:
    data = load(IRIS, "kind")
    assert data.columns == ("petal", "sepal") and data.names == {-1: "a", 1: "b"}
    assert load(IRIS, "kind", bias=1.0).columns == ("petal", "sepal", "bias")
    assert "columns: petal, sepal" in repr(data)
    assert data.to_dict()["columns"] == ["petal", "sepal"]
    (tmp_path / "a.csv").write_text("length,y, width\n1,u,2\n3,v,4\n")
    data = load(tmp_path / "a.csv")
    assert data.columns == ("length", "width") and data.X.tolist() == [[1, 2], [3, 4]]
    (tmp_path / "b.csv").write_text("1,u,2\n3,v,4\n".replace("u", "5").replace("v", "6"))
    assert load(tmp_path / "b.csv").columns == ()
    part = load(file_with(tmp_path, ["a", "b", "c"])).one_vs_rest(1)
    assert part.names == {-1: "the rest", 1: "b"}
    assert load("digits:classes=3/5,n=9").names == {1: "3", -1: "5"}


@pytest.mark.parametrize("labels", [[1, -1, 1], [0, 1, 1], ["u", "v", "u"], [3, 4, 5]])
def test_a_data_set_is_saved_and_read_again(tmp_path: Path, labels: list) -> None:
    data = load(X, labels)
    data.save(tmp_path / "a.npz")
    back = load(tmp_path / "a.npz")
    assert back.y.tolist() == data.y.tolist() and back.names == data.names
    assert back.X.tolist() == X and back.classes == data.classes


def test_a_test_set_in_memory() -> None:
    data = load(X, ["u", "v", "u"], test=(X, ["v", "v", "v"]))
    assert data.test is not None and data.test.y.tolist() == [1, 1, 1]
    data = load(X, [0, 1, 1], test=load(X, [1, 1, 0]))
    assert data.test is not None and data.test.y.tolist() == [1, 1, -1]


def test_what_is_wrong_with_arrays_is_one_line() -> None:
    refused(X, "`y` is missing", "labels")
    refused(np.array(X), "(3, 2)", "`y` is missing")
    refused(([1.0, 2.0], [1, -1]), "X has shape (2,)", "(n, d)")
    refused((X, [1, -1]), "X has shape (3, 2)", "y has shape (2,)")
    refused(([[1.0], [2.0, 3.0]], [1, -1]), "differ in length")
    refused(([[1.0], [np.nan]], [1, -1]), "nan", "row 1, column 0")
    refused(([["u"], ["v"]], [1, -1]), "real numbers")
    refused((X, np.array([1, None, -1], dtype=object)), "row 1", "None")
    refused(IRIS, "no column 'y'", "petal, sepal, kind")
    refused((IRIS, "species"), "'species'", "petal, sepal, kind")
    refused((IRIS, [1, -1, 1]), "'kind'", "real numbers")
    refused((Frame({"u": [1.0, np.inf]}), [1, -1]), "inf", "'u'")
    with pytest.raises(BadInput, match="labels of its own"):
        load("orthogonal:n=4,d=2", [1, -1])


def test_verbs_take_whatever_load_takes() -> None:
    @takes_data
    def verb(data: Dataset, setting: Setting | None = None, *, seed: int = 0) -> Any:
        return data.n, setting, seed

    @takes_data
    def of_network(network: Network, data: Dataset) -> Any:
        return network.width, data.n

    setting = Setting(width=3)
    assert verb("orthogonal:n=6,d=2") == (6, None, 0)
    assert verb("orthogonal:n=6,d=2", setting, seed=1) == (6, setting, 1)
    for arguments in ((X, [0, 1, 1]), ((X, [0, 1, 1]),), (load(X, [0, 1, 1]),)):
        assert verb(*arguments, setting, seed=2) == (3, setting, 2)
    assert verb(X, y=[0, 1, 1], setting=setting) == (3, setting, 0)
    assert verb(data=X, y=[0, 1, 1]) == (3, None, 0)
    assert of_network(Network([[1.0, 0.0]], [1.0]), X, [0, 1, 1]) == (1, 3)
    with pytest.raises(BadInput, match="`y` is missing"):
        verb(X, setting)
    with pytest.raises(TypeError):
        verb()
