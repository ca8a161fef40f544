"""Data sets in files: `.csv`, `.npz` with arrays X and y, or the pair `X.npy,y.npy`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tacit.data._csv import read_csv
from tacit.files import read_npy, read_npz
from tacit.values import BadInput

ENDINGS = (".csv", ".npz", ".npy")


def read_file(text: str) -> tuple[np.ndarray, np.ndarray]:
    """X (n × d, float64, finite) and the raw labels (n numbers or texts) of a data file."""
    ending = Path(text).suffix.lower()
    if ending == ".csv":
        return read_csv(Path(text))
    if ending == ".npz":
        arrays = read_npz(text)
        if not {"X", "y"} <= set(arrays):
            found = ", ".join(map(repr, list(arrays)[:10])) or "none"
            raise BadInput(f"{text} must hold the arrays 'X' and 'y'; found: {found}")
        return _checked(text, arrays["X"], arrays["y"])
    if ending == ".npy":
        parts = [part.strip() for part in text.split(",")]
        if len(parts) != 2:
            raise BadInput(f"{text}: points and labels are needed, as the pair X.npy,y.npy")
        return _checked(text, read_npy(parts[0]), read_npy(parts[1]))
    if Path(text).is_dir():
        raise BadInput(f"{text} is a folder; a data file is needed")
    raise BadInput(
        f"{text}: files ending in {ending or 'nothing'!r} are not read; "
        "data is .csv, .npz with X and y, or the pair X.npy,y.npy"
    )


def stem(text: str) -> str:
    """The name of a data set in a file; of a pair, that of its first file."""
    first = text.split(",")[0].strip() if text.lower().endswith(".npy") else text
    return Path(first).stem


def _checked(text: str, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if X.ndim != 2 or y.ndim != 1 or len(X) != len(y):
        raise BadInput(
            f"{text}: X has shape {X.shape} and y has shape {y.shape}; they must be (n, d) and (n,)"
        )
    if 0 in X.shape:
        raise BadInput(f"{text}: X has shape {X.shape}; both n and d must be at least 1")
    if X.dtype.kind not in "biuf":
        raise BadInput(f"{text}: X holds {X.dtype}; real numbers are needed")
    if y.dtype.kind == "c":
        raise BadInput(f"{text}: y holds {y.dtype}; labels must be real numbers or words")
    with np.errstate(over="ignore"):  # what is too large for float64 becomes inf, and is refused
        X = X.astype(np.float64, order="C")
    if not np.isfinite(X).all():
        i, j = (int(k) for k in np.argwhere(~np.isfinite(X))[0])
        raise BadInput(
            f"{text}: X holds {X[i, j]} at row {i}, column {j} (counted from 0); "
            "every entry must be a finite number"
        )
    if y.dtype.kind == "b":
        y = y.astype(np.int64)
    if y.dtype.kind == "S":
        try:
            y = np.char.decode(y, "utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{text}: y holds bytes that are not UTF-8 text") from error
    return X, y
