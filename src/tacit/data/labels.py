"""Raw labels become numbers: ±1 for binary data, 0 … K−1 for three or more classes."""

from dataclasses import dataclass

import numpy as np

from tacit.data._csv import number
from tacit.values import BadInput

MOST_CLASSES = 1000
"""With more, the labels are most likely numbers to be predicted."""


@dataclass(frozen=True)
class Labelling:
    """Which label becomes which number."""

    numbers: dict[str, int]
    classes: tuple[str, ...] = ()
    """Names of the K classes; empty for binary data."""
    chosen: bool = False
    """Given by the user: rows with other labels are left out. Otherwise they are an error."""

    def apply(self, raw: np.ndarray, where: str) -> tuple[np.ndarray, np.ndarray]:
        """Which rows stay, and the numbers of those that do."""
        names, index = distinct(raw, where)
        known = np.array([name in self.numbers for name in names])
        if not self.chosen and not known.all():
            at = int(np.argmin(known))
            raise BadInput(
                f"{where}: row {np.argmax(index == at)} (counted from 0) has the label "
                f"{names[at]!r}; the labels of the training set are: {shown(self.numbers)}"
            )
        if not known.any():
            raise BadInput(f"{where}: no row has one of the labels {shown(self.numbers)}")
        keep = known[index]
        return keep, np.array([self.numbers.get(name, 0) for name in names])[index][keep]


BINARY = Labelling({"-1": -1, "1": 1})


def distinct(raw: np.ndarray, where: str) -> tuple[list[str], np.ndarray]:
    """The labels that occur, sorted, as text, and for each row which one it has.

    Labels that are all numbers are compared as numbers: `3`, `3.0` and `+3` are one label.
    """
    values, index = np.unique(raw, return_inverse=True)
    if values.dtype.kind in "US":
        if "" in values:
            row = np.argmax(index == list(values).index(""))
            raise BadInput(f"{where}: row {row} (counted from 0) has no label")
        numbers = [number(str(value)) for value in values]
        if None in numbers:
            return [str(value) for value in values], index
        values, again = np.unique(np.array(numbers, dtype=np.float64), return_inverse=True)
        index = again[index]
    finite = np.isfinite(values)
    if not finite.all():
        at = int(np.argmin(finite))
        raise BadInput(
            f"{where}: row {np.argmax(index == at)} (counted from 0) has the label {values[at]}; "
            "labels must be finite numbers or words"
        )
    return [_text(value) for value in values.tolist()], index


def choose(raw: np.ndarray, request: str | None, where: str) -> Labelling:
    """The labelling for these labels: as requested (`A,B` or `A=+1,B=-1`), else by their kind.

    Of two labels the last in sorted order becomes +1; three or more are classes.
    """
    names, _ = distinct(raw, where)
    if request is not None:
        return _requested(names, request, where)
    if set(names) <= set(BINARY.numbers):
        return BINARY
    if len(names) == 1:
        raise BadInput(
            f"{where}: labels must be -1 and +1; found: {shown(names)}; "
            f"say what it becomes, for example by `labels='{_plain(names[0])}=+1'`"
        )
    if len(names) == 2:
        return Labelling({names[0]: -1, names[1]: 1})
    values = [number(name) for name in names]
    if any(value is not None and value != round(value) for value in values) and None not in values:
        raise BadInput(
            f"{where}: the labels look like measurements, not classes; found: {shown(names)}; "
            "labels must be -1 and +1, whole numbers or words"
        )
    if len(names) > MOST_CLASSES:
        raise BadInput(
            f"{where}: {len(names):,} different labels; at most {MOST_CLASSES:,} classes are "
            f"handled; found: {shown(names)}"
        )
    return Labelling({name: k for k, name in enumerate(names)}, classes=tuple(names))


def shown(names: list[str] | dict[str, int]) -> str:
    """The labels, at most ten of them, on one line."""
    return ", ".join(map(_plain, list(names)[:10])) + (", …" if len(names) > 10 else "")


def _plain(name: str) -> str:
    short = name if len(name) <= 40 else f"{name[:40]}…"
    return short if short.isprintable() else repr(short)


def _requested(names: list[str], request: str, where: str) -> Labelling:
    parts = [part.strip() for part in request.split(",")]
    pieces = [part.rpartition("=") for part in parts]
    signs = {"+1": 1, "1": 1, "-1": -1, "−1": -1}
    if all(label and sign.strip() in signs for label, _, sign in pieces) and len(parts) <= 2:
        wanted = [(label.strip(), signs[sign.strip()]) for label, _, sign in pieces]
    elif len(parts) == 2 and all(parts):
        wanted = [(parts[0], 1), (parts[1], -1)]
    else:
        raise BadInput(f"`labels={request!r}`: two labels are needed, as A,B or A=+1,B=-1")
    numbers: dict[str, int] = {}
    for label, sign in wanted:
        value = number(label)
        name = label if label in names or value is None else _text(value)
        if name not in names:
            raise BadInput(
                f"`labels={request!r}`: {where} has no label '{label}'; found: {shown(names)}"
            )
        if name in numbers:
            raise BadInput(f"`labels={request!r}`: '{label}' is given twice; two labels are needed")
        if sign in numbers.values():
            raise BadInput(f"`labels={request!r}`: one label must become +1 and the other -1")
        numbers[name] = sign
    return Labelling(numbers, chosen=True)


def _text(value: float) -> str:
    """A number as a label: 3.0 is `3`."""
    # From 1e15 on a float no longer has all the digits that were written.
    whole = isinstance(value, int) or (abs(value) < 1e15 and value == int(value))
    return str(int(value)) if whole else repr(value)
