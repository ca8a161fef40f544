"""Points, labels and where they came from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from tacit.files import npz_bytes, path_of, write_file
from tacit.messages import BadInput, count, printable
from tacit.values.jsonable import plain
from tacit.values.result import Result

MOST_LETTERS = 80
"""Letters of a list of classes or columns that a person sees."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Result):
    """Points, labels and where they came from.

    Binary data has `y` in {−1, +1} and no `classes`; data of K ≥ 3 classes has `y` in {0, …, K−1}
    and `classes` holds the K names. One class only is valid binary data. `tacit.load` makes a data
    set of a file, a generator call, or points with any labels.

    Parameters
    ----------
    X : array of shape (n, d)
        The points, one in each row; every entry is finite.
    y : array of shape (n,)
        The labels, whole numbers.
    name : str
        What the data is called.
    classes : tuple of str
        The names of the K classes, in the order of their numbers; empty for binary data.
    parameters : dict
        What the data was made from: generator and its parameters, or the file and label mapping.
    test : Dataset, optional
        Points for testing only.
    columns : tuple of str
        The names of the coordinates, where they have any.
    names : dict of int to str
        The name of every label; `−1` and `+1` where binary labels have no other.

    Examples
    --------
    >>> Dataset([[1.0, 0.0], [0.0, 1.0]], [1, -1], name="pair")
    pair: 2 points in 2 dimensions
    classes: −1: 1, +1: 1
    """

    X: np.ndarray
    y: np.ndarray
    name: str = "data"
    classes: tuple[str, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    test: Dataset | None = None
    columns: tuple[str, ...] = ()
    names: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        X, y = checked_points(self.name, self.X, self.y, copy=False)
        if self.columns and len(self.columns) != X.shape[1]:
            raise BadInput(
                f"{self.name}: there are {len(self.columns)} names for {X.shape[1]} columns"
            )
        allowed = range(len(self.classes)) if self.classes else (-1, 1)
        if y.dtype.kind in "cV" or not np.isin(y, list(allowed)).all():
            labels = sorted({str(label) for label in y.tolist()})[:10]
            raise BadInput(f"{self.name}: labels must be −1 or +1; found {', '.join(labels)}")
        X = X.view()  # the caller's own array stays as it is
        X.flags.writeable = False
        y = y.astype(np.int64)
        y.flags.writeable = False
        names = dict(enumerate(self.classes)) or {
            **{-1: "−1", 1: "+1"},
            **{number: name for name, number in self.parameters.get("labels", {}).items()},
            **self.names,
        }
        for key, value in (("X", X), ("y", y), ("names", names)):
            object.__setattr__(self, key, value)

    @property
    def n(self) -> int:
        """The number of points."""
        return self.X.shape[0]

    @property
    def d(self) -> int:
        """The number of dimensions."""
        return self.X.shape[1]

    @property
    def binary(self) -> bool:
        """Whether labels are −1 and +1."""
        return not self.classes

    @property
    def class_sizes(self) -> dict[str, int]:
        """The number of points of every class that has any, by its name."""
        labels, sizes = np.unique(self.y, return_counts=True)
        pairs = zip(labels.tolist(), sizes.tolist(), strict=True)
        return {self.names[label]: size for label, size in pairs}

    def one_vs_rest(self, k: int) -> Dataset:
        """Class k against all others, as binary data."""
        test = self.test.one_vs_rest(k) if self.test else None
        return Dataset(
            self.X,
            np.where(self.y == k, 1, -1),
            name=f"{self.name} ({self.classes[k]} against the rest)",
            parameters=self.parameters,
            test=test,
            columns=self.columns,
            names={-1: "the rest", 1: self.classes[k]},
        )

    def with_bias(self, constant: float) -> Dataset:
        """The points with a last coordinate that is `constant` everywhere."""
        return replace(
            self,
            X=np.column_stack([self.X, np.full(self.n, float(constant))]),
            parameters={**self.parameters, "bias": float(constant)},
            test=self.test.with_bias(constant) if self.test else None,
            columns=(*self.columns, "bias") if self.columns else (),
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain lists, texts and numbers."""
        return plain(
            {
                "name": self.name,
                "n": self.n,
                "d": self.d,
                "classes": list(self.classes) or None,
                "names": self.names,
                "columns": self.columns,
                "parameters": self.parameters,
                "X": self.X,
                "y": self.y,
                "test": self.test.to_dict() if self.test else None,
            }
        )

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write the data to a file.

        Parameters
        ----------
        path : str or Path
            With the ending .npz, the file has X and y, with the labels as they were given, for
            `tacit.load` and other programs. With any other, it is JSON with everything, test set
            and names included, for `Dataset.load`.
        force : bool, default False
            Replace a file that is there.
        """
        if path_of(path).suffix != ".npz":
            return super().save(path, force)
        named = self.classes or "labels" in self.parameters
        y = np.array([self.names[label] for label in self.y.tolist()]) if named else self.y
        write_file(Path(path), npz_bytes({"X": self.X, "y": y}), force)

    def _lines(self) -> list[str]:
        test = f", {count(self.test.n, 'test point')}" if self.test else ""
        sizes = [f"{name}: {size}" for name, size in self.class_sizes.items()]
        lines = [
            f"{self.name}: {count(self.n, 'point')} in {count(self.d, 'dimension')}{test}",
            f"classes: {shorten(', '.join(sizes), MOST_LETTERS, placeholder=' …')}",
        ]
        if self.binary and "labels" in self.parameters:
            lines.append(f"labels: {self.names[-1]} is −1, {self.names[1]} is +1")
        if self.columns:
            columns = shorten(", ".join(self.columns), MOST_LETTERS, placeholder=" …")
            lines.append(f"columns: {columns}")
        return [printable(line) for line in lines]


def checked_points(
    where: str, X: Any, y: Any, columns: tuple[str, ...] = (), copy: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Points as float64 and their labels, or one line that says what is wrong with them."""
    X, y = _array(where, "X", X), _array(where, "y", y)
    if X.ndim != 2 or y.ndim != 1 or len(X) != len(y):
        raise BadInput(
            f"{where}: X has shape {X.shape} and y has shape {y.shape}; "
            "they must be (n, d) and (n,)"
        )
    if 0 in X.shape:
        raise BadInput(f"{where}: X has shape {X.shape}; both n and d must be at least 1")
    if X.dtype.kind not in "biuf":
        raise BadInput(f"{where}: X holds {X.dtype}; real numbers are needed")
    with np.errstate(over="ignore"):  # what is too large for float64 becomes inf, and is refused
        X = X.astype(np.float64, order="C", copy=copy)
    if not np.isfinite(X).all():
        i, j = (int(k) for k in np.argwhere(~np.isfinite(X))[0])
        place = f"row {i}, column {columns[j]!r}" if columns else f"row {i}, column {j}"
        raise BadInput(
            f"{where}: X holds {X[i, j]} at {place} (counted from 0); "
            "every entry must be a finite number"
        )
    return X, y


def _array(where: str, name: str, values: Any) -> np.ndarray:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise BadInput(
            f"{where}: the rows of {name} differ in length; all need the same number of entries"
        ) from error
