"""The table of a sweep in a place of the user's choice, as CSV or parquet."""

import csv
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from tacit.files import check_writable, open_regular, write_file
from tacit.sweeps.columns import STATE
from tacit.sweeps.plan import Plan
from tacit.sweeps.table import as_csv, as_parquet
from tacit.values import BadInput

ENDINGS = (".csv", ".parquet")
MOST_HEADER = 1 << 20
"""Bytes of a file that are looked at to see what it is."""


def check_table(path: Path) -> None:
    """Refuse, before any work, a table that could not be written there.

    The table of an earlier sweep is replaced, so that the same command can be given again; no other
    file is.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"`table={str(path)!r}`: its name must end in {' or '.join(ENDINGS)}")
    if ending == ".parquet" and find_spec("pyarrow") is None:
        raise BadInput("parquet needs pyarrow: pip install 'tacit[report]'")
    check_writable(path, force=True, folder=False)
    if path.exists():
        with open_regular(path) as file:
            known = _is_csv(file) if ending == ".csv" else _is_parquet(file)
        if not known:
            raise BadInput(f"{path} exists and is not the table of a sweep; choose another name")


def write_table(path: Path, plan: Plan, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows in the format that the ending says."""
    make = as_parquet if path.suffix.lower() == ".parquet" else as_csv
    write_file(path, make(plan, rows), force=True)


def _is_csv(file: IO[bytes]) -> bool:
    line = file.readline(MOST_HEADER).decode("utf-8", "replace")
    try:
        return set(STATE) <= set(next(csv.reader([line]), []))
    except csv.Error:
        return False


def _is_parquet(file: IO[bytes]) -> bool:
    """Whether it is a table of a sweep as Parquet, whose footer at the end has the names."""
    data = file.read(4)
    size = file.seek(0, 2)
    file.seek(max(0, size - MOST_HEADER))
    footer = file.read()
    names = all(name.encode() in footer for name in STATE)
    return data == footer[-4:] == b"PAR1" and names
