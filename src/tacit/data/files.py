"""Data sets in files: `.csv`, `.npz` with arrays X and y, or the pair `X.npy,y.npy`."""

from pathlib import Path

from tacit.data._csv import read_csv
from tacit.data.table import Table, checked_table
from tacit.files import read_npy, read_npz
from tacit.values import BadInput

ENDINGS = (".csv", ".npz", ".npy")


def read_file(text: str) -> Table:
    """Points, raw labels and column names of a data file."""
    ending = Path(text).suffix.lower()
    if ending == ".csv":
        return read_csv(Path(text))
    if ending == ".npz":
        arrays = read_npz(text)
        if not {"X", "y"} <= set(arrays):
            there = ", ".join(map(repr, list(arrays)[:10])) or "none"
            raise BadInput(f"{text} must hold the arrays 'X' and 'y'; found: {there}")
        return checked_table(text, arrays["X"], arrays["y"])
    if ending == ".npy":
        parts = [part.strip() for part in text.split(",")]
        if len(parts) != 2:
            raise BadInput(f"{text}: points and labels are needed, as the pair X.npy,y.npy")
        return checked_table(text, read_npy(parts[0]), read_npy(parts[1]))
    if Path(text).is_dir():
        raise BadInput(f"{text} is a folder; a data file is needed")
    which = f"ending in '{ending}'" if ending else "without an ending"
    raise BadInput(
        f"{text}: files {which} are not read; "
        "data is .csv, .npz with X and y, or the pair X.npy,y.npy"
    )


def stem(text: str) -> str:
    """The name of a data set in a file; of a pair, that of its first file."""
    first = text.split(",")[0].strip() if text.lower().endswith(".npy") else text
    return Path(first).stem
