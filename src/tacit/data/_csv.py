"""Tables of numbers with a label column, as text.

Lines and columns are counted from 1 in messages, as editors and spreadsheets do.
"""

from __future__ import annotations

import csv
import io
import math
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from tacit.data.table import Table
from tacit.files import open_regular
from tacit.values import BadInput

MOST_BYTES = 1 << 30
"""Bytes of a file that are read; text of 1 GiB is about 0.4 GiB of floats."""
LABEL_NAMES = ("y", "label", "labels", "target", "class")
"""Headers of what is most likely the label, in any case."""
MOST_LABEL = 200
"""Characters of one label."""


def number(text: str) -> float | None:
    """The number that a text is, if it is one; Python's `1_000` is not."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def read_csv(path: Path) -> Table:
    """Points, labels as text, and the names of the columns when there is a header.

    The label is in the column that the header calls `y`, else in the last one. The first line is a
    header when none of its cells but the last is a number, or when one of them is `y`. Numbers
    followed by a word can be a header too (pandas numbers its columns): see `_numbered_header`.
    """
    with open_regular(path, MOST_BYTES) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig")
        try:
            return _table(text, path)
        except UnicodeDecodeError as error:
            raise BadInput(f"{path} is not UTF-8 text; save it as UTF-8") from error
        except MemoryError as error:
            raise BadInput(f"{path} does not fit into memory; use fewer rows or columns") from error


def _table(text: IO[str], path: Path) -> Table:
    rows = _rows(text, _separator(text, path), path)
    line, first = next(rows)
    width = len(first)
    if width < 2:
        raise BadInput(
            f"{path} has 1 column, so X would have shape (n, 0) beside y of shape (n,); "
            "at least one column of numbers and one of labels are needed, separated by commas"
        )
    names = _header(first, f"{path}, line {line}")
    label_at = names.index("y") if "y" in names else width - 1
    values, lines, labels = array("d"), array("q"), []
    if not names:
        labels.append(_take(first, label_at, line, names, values, path))
        lines.append(line)
    for line, row in rows:
        labels.append(_take(row, label_at, line, names, values, path))
        lines.append(line)
    columns = tuple(name for j, name in enumerate(names) if j != label_at)
    if not names and _numbered_header(labels):
        names, values, lines, labels = first, values[width - 1 :], lines[1:], labels[1:]
    if not labels:
        raise BadInput(f"{path} has no rows below its header: X has shape (0, {width - 1})")
    X = np.frombuffer(values).reshape(-1, width - 1)
    if not np.isfinite(X).all():
        i, j = (int(k) for k in np.argwhere(~np.isfinite(X))[0])
        where = _place(path, lines[i], j + (j >= label_at), names)
        raise BadInput(f"{where} is {X[i, j]}; every entry must be a finite number")
    return Table(X, np.array(labels), columns)


def _separator(text: IO[str], path: Path) -> str:
    """The one of comma, semicolon and tab that the first line uses; the text is rewound."""
    line = next((line for line in text if line.strip()), None)
    if line is None:
        raise BadInput(
            f"{path} is empty: X has shape (0, 0); rows of numbers and a label are needed"
        )
    text.seek(0)
    bare = re.sub(r'"[^"]*"', "", line)
    marks = [mark for mark in ",;\t" if mark in bare]
    if len(marks) > 1:
        names = {",": "commas", ";": "semicolons", "\t": "tabs"}
        both = " and ".join(names[mark] for mark in marks)
        raise BadInput(f"{path}: its first line holds {both}; separate the columns by commas only")
    return marks[0] if marks else ","


def _rows(text: IO[str], separator: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every line that is not blank; all have the same length."""
    reader = csv.reader(text, delimiter=separator, skipinitialspace=True, strict=True)
    width, top = 0, 0
    try:
        for row in reader:
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            if not width:
                width, top = len(row), reader.line_num
            if len(row) != width:
                raise BadInput(
                    f"{path}, line {reader.line_num} has {len(row)} columns, but line {top} has "
                    f"{width}; all lines need the same number"
                )
            yield reader.line_num, row
    except csv.Error as error:
        raise BadInput(f"{path}, line {reader.line_num} is no line of a table: {error}") from error


def _header(first: list[str], where: str) -> list[str]:
    """The column names, or nothing when the first line is data."""
    cells = [cell.strip() for cell in first]
    numbers = [number(cell) is not None for cell in cells[:-1]]
    if all(numbers) or (any(numbers) and "y" not in cells):
        return []
    if "" in cells:
        raise BadInput(
            f"{where}: column {cells.index('') + 1} has no name in the header; "
            "name it or leave it out (pandas: index=False)"
        )
    if cells.count("y") > 1:
        raise BadInput(f"{where}: the header has {cells.count('y')} columns 'y'; one is needed")
    looks_right = [cell for cell in cells if cell.lower() in LABEL_NAMES]
    if "y" not in cells and looks_right and cells[-1] not in looks_right:
        raise BadInput(
            f"{where}: {_short(looks_right[0])} looks like the label, but without a column 'y' the "
            f"last one, {_short(cells[-1])}, would be taken; call the label's column y"
        )
    return cells


def _numbered_header(labels: list[str]) -> bool:
    """Whether the first label is the name of a column, as in the header `0,1,y`.

    It is when no other row has it and it is `y`, or a word above nothing but numbers.
    """
    others = set(labels[1:])
    if labels[0] in others or number(labels[0]) is not None:
        return False
    return labels[0] == "y" or (bool(others) and all(number(label) is not None for label in others))


def _take(
    row: list[str], label_at: int, line: int, names: list[str], values: array[float], path: Path
) -> str:
    """Add the numbers of a row to `values` and return its label."""
    label = row.pop(label_at).strip()
    try:
        if "_" in "".join(row):
            raise ValueError
        values.extend(map(float, row))
    except ValueError:
        j = next(j for j, cell in enumerate(row) if number(cell) is None)
        where = _place(path, line, j + (j >= label_at), names)
        what = f"{_short(row[j])} is not a number" if row[j].strip() else "is empty"
        raise BadInput(f"{where}: {what}; every entry must be a finite number") from None
    if not label or len(label) > MOST_LABEL or not math.isfinite(number(label) or 0.0):
        what = f"{_short(label)} is not a label" if label else "the label is missing"
        where = _place(path, line, label_at, names)
        raise BadInput(f"{where}: {what}; a number or a word is needed")
    return label


def _place(path: Path, line: int, column: int, names: list[str]) -> str:
    name = f" ({_short(names[column])})" if names else ""
    return f"{path}, line {line}, column {column + 1}{name}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
