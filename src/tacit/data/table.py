"""Points and labels as a file or the caller gave them, checked before anything else sees them."""

from typing import Any, NamedTuple

import numpy as np

from tacit.values import BadInput
from tacit.values.arguments import is_real
from tacit.values.dataset import checked_points


class Table(NamedTuple):
    """Points with their raw labels."""

    X: np.ndarray
    """n × d, float64, every entry finite."""
    labels: np.ndarray
    """n numbers or texts."""
    columns: tuple[str, ...] = ()
    """The names of the coordinates, where they have any."""


def checked_table(where: str, X: Any, y: Any, columns: tuple[str, ...] = ()) -> Table:
    """The table of two arrays, or one line, beginning with `where`, on what is wrong with them."""
    X, y = checked_points(where, X, y, columns)
    return Table(X, _plain_labels(where, y), columns)


def frame_table(where: str, frame: Any, y: Any = None) -> Table:
    """The table of a data frame: anything with `columns` that can be looked up by their names.

    `y` has the labels or the name of their column; without it they are in the column `y`.
    """
    names = list(frame.columns)
    if y is None:
        if "y" not in names:
            raise BadInput(
                f"{where}: `y` is missing: the frame has no column 'y'; give the labels, or the "
                f"name of their column, as the second argument ({_few(names)})"
            )
        y = "y"
    if isinstance(y, str):
        if y not in names:
            raise BadInput(f"{where}: the frame has no column {y!r}; it has {_few(names)}")
        names, y = [name for name in names if name != y], frame[y]
    columns = [np.asarray(frame[name]) for name in names]
    for name, column in zip(names, columns, strict=True):
        if column.dtype.kind not in "biuf":
            raise BadInput(
                f"{where}: column {str(name)!r} holds {column.dtype}; real numbers are needed"
            )
    X = np.column_stack(columns) if columns else np.empty((len(frame), 0))
    return checked_table(where, X, y, tuple(map(str, names)))


def _few(names: list[Any]) -> str:
    return ", ".join(map(str, names[:10])) + (", …" if len(names) > 10 else "")


def _plain_labels(where: str, y: np.ndarray) -> np.ndarray:
    """Labels as numbers or texts: booleans become 0 and 1, bytes are decoded."""
    if y.dtype.kind == "b":
        return y.astype(np.int64)
    if y.dtype.kind == "S":
        try:
            return np.char.decode(y, "utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{where}: y holds bytes that are not UTF-8 text") from error
    if y.dtype.kind in "iufU":
        return y
    if y.dtype.kind != "O":
        raise BadInput(f"{where}: y holds {y.dtype}; labels must be real numbers or words")
    for i, label in enumerate(y.tolist()):
        if not (isinstance(label, str | bool) or is_real(label)) or label != label:
            raise BadInput(
                f"{where}: row {i} (counted from 0) has the label {label}; "
                "labels must be finite numbers or words"
            )
    words = any(isinstance(label, str) for label in y)
    return y.astype(str) if words else y.astype(np.float64)
