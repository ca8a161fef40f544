"""Whatever names or holds points becomes one data set, with labels, bias and test set."""

from __future__ import annotations

import functools
import inspect
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tacit.data.files import ENDINGS, read_file, stem
from tacit.data.generators import GENERATORS, generate
from tacit.data.labels import BINARY, Labelling, choose
from tacit.data.table import Table, checked_table, frame_table
from tacit.messages import near_miss
from tacit.values import BadInput, Dataset, Network, Setting
from tacit.values.arguments import check_kinds

T = TypeVar("T")
UNNAMED = "data"
"""The name of points that come as arrays."""
SETTING = {one.name for one in fields(Setting)}
"""What belongs into a `Setting`, and is no keyword of a verb that takes one."""


def load(
    data: Any,
    y: Any = None,
    *,
    labels: str | None = None,
    bias: float | None = None,
    test: Any = None,
) -> Dataset:
    """Make a data set of a file, a generator call, arrays or a data frame.

    Parameters
    ----------
    data : str, Path, array-like, DataFrame, tuple or Dataset
        A file or a generator call as text, such as `points.csv` or `orthogonal:n=500,d=20,seed=0`;
        points of shape (n, d); a data frame; or the pair (X, y).
    y : array-like or str, optional
        The labels of points that come as an array or a frame; of a frame also the name of their
        column, which is `y` by default. Of two labels other than −1 and +1, the last in sorted
        order becomes +1; `parameters["labels"]` says so. Three or more labels are classes.
    labels : str, optional
        `A,B` or `A=+1,B=-1`: these two labels become +1 and −1. Rows with others are left out, and
        `parameters["left_out"]` says how many.
    bias : float, optional
        A constant that is appended to every point, also of the test set.
    test : optional
        A test set, given like `data`; its labels are mapped like those of the training set.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load([[1.0, 0.0], [0.0, 1.0]], ["yes", "no"])
    data: 2 points in 2 dimensions
    classes: no: 1, yes: 1
    labels: no is −1, yes is +1
    >>> load("orthogonal:n=8,d=2", bias=1.0).d
    3
    """
    check_kinds(load, {"labels": labels, "bias": bias})
    if bias is not None and not math.isfinite(bias):
        raise BadInput(f"`bias={bias}` is not a finite number")
    if isinstance(data, Dataset) and y is None and labels is None and test is None:
        return data if bias is None else data.with_bias(bias)
    source = _source(data, y)
    labelling = source.labelling
    if labelling is None or labels is not None:
        labelling = choose(source.table.labels, labels, source.text)
    points = source.labelled(labelling)
    other = _source(test) if test is not None else source.test
    if other is not None:
        shape, other_shape = source.table.X.shape, other.table.X.shape
        if other_shape[1] != shape[1]:
            raise BadInput(
                f"the test set {other.text} has shape {other_shape} and the training set "
                f"{source.text} has shape {shape}; both need the same number of columns"
            )
        points = replace(points, test=other.labelled(labelling))
    return points if bias is None else points.with_bias(bias)


def takes_data(verb: Callable[..., T]) -> Callable[..., T]:
    """Let a function whose parameter `data` is a Dataset take all that `load` takes.

    The function is then called as `verb(data, …)` or, with arrays or a frame, as `verb(X, y, …)`.
    """
    parameters = list(inspect.signature(verb).parameters)
    place = parameters.index("data")
    has_setting = parameters[place + 1 : place + 2] == ["setting"]

    @functools.wraps(verb)
    def call(*args: Any, **keywords: Any) -> T:
        if len(args) <= place and "data" not in keywords:
            return verb(*args, **keywords)  # raises the usual TypeError
        before, here, after = args[:place], args[place : place + 1], args[place + 1 :]
        data = here[0] if here else keywords["data"]
        y = keywords.pop("y", None)
        labels_next = bool(after) and not isinstance(after[0], Setting | Network)
        if y is None and labels_next and _needs_labels(data):
            y, after = after[0], after[1:]
        setting = after[0] if after and has_setting else keywords.get("setting")
        if setting is not None and not isinstance(setting, Setting):
            raise BadInput(
                f"`setting` has the type {type(setting).__name__}; give a Setting, "
                "such as tacit.Setting(activation='leaky:0.3', width=50)"
            )
        for name in keywords.keys() & SETTING if has_setting else ():
            raise BadInput(
                f"`{name}` is a part of the setting: {verb.__name__}(data, tacit.Setting({name}=…))"
            )
        check_kinds(verb, keywords)
        if here:
            return verb(*before, load(data, y), *after, **keywords)
        return verb(*before, **{**keywords, "data": load(data, y)})

    return call


def _needs_labels(data: Any) -> bool:
    """Whether data holds points alone, so that labels are another argument."""
    return not isinstance(data, str | os.PathLike | Dataset | tuple)


@dataclass(frozen=True, eq=False)
class _Source:
    """Points and labels as they came, before a labelling is applied."""

    text: str
    """What messages call it."""
    table: Table
    name: str
    parameters: dict[str, Any]
    labelling: Labelling | None = None
    """What a generator itself says; a file leaves it to the rules."""
    names: dict[int, str] = field(default_factory=dict)
    test: _Source | None = field(default=None)

    def labelled(self, labelling: Labelling) -> Dataset:
        X, raw, columns = self.table
        keep, y = labelling.apply(raw, self.text)
        said = dict(self.parameters)
        names = self.names if labelling is self.labelling else {}
        if labelling is not BINARY and not labelling.classes:
            said["labels"] = dict(labelling.numbers)
        if labelling.chosen:
            said["left_out"] = int(len(keep) - keep.sum())
        X = X if keep.all() else X[keep]
        return Dataset(X, y, self.name, labelling.classes, said, columns=columns, names=names)


def _source(data: Any, y: Any = None) -> _Source:
    if isinstance(data, Network | Setting):
        raise BadInput(f"data comes first, then the {type(data).__name__.lower()}")
    if isinstance(data, tuple) and len(data) == 2 and y is None:
        data, y = data
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        return _Source(UNNAMED, frame_table(UNNAMED, data, y), UNNAMED, {})
    if _needs_labels(data) or isinstance(data, tuple):
        if y is None:
            raise BadInput(
                f"`y` is missing: data is {_kind(data)} of points, which need labels, as in "
                "load(X, y) with shapes (n, d) and (n,)"
            )
        return _Source(UNNAMED, checked_table(UNNAMED, data, y), UNNAMED, {})
    if y is not None:
        raise BadInput("`y` goes with an array of points; this data has labels of its own")
    if isinstance(data, Dataset):
        return _of_dataset(data.name, data)
    return _named(os.fspath(data))


def _kind(data: Any) -> str:
    shape = getattr(data, "shape", None)
    return f"an array of shape {shape}" if shape is not None else f"a {type(data).__name__}"


def _named(text: str) -> _Source:
    if not text.strip():
        raise BadInput("no data is named; give a file or a generator such as digits:classes=3/5")
    head = text.partition(":")[0].strip()
    if head in GENERATORS:
        return _of_dataset(text.strip(), generate(text.strip()))
    if text.lower().endswith(ENDINGS) or any(mark in head for mark in "./\\") or _exists(text):
        return _Source(text, read_file(text), stem(text), {"file": text})
    raise BadInput(
        f"'{text}' is neither a data file ({', '.join(ENDINGS)}) nor a generator"
        f"{near_miss(head, GENERATORS)}"
    )


def _exists(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long, or a null character
        return False


def _of_dataset(text: str, data: Dataset) -> _Source:
    labelling, raw = BINARY, data.y
    if data.classes or "labels" in data.parameters:
        numbers = {name: number for number, name in data.names.items()}
        labelling = Labelling(numbers, data.classes)
        raw = np.array([data.names[label] for label in data.y.tolist()])
    test = _of_dataset(f"{text} (test)", data.test) if data.test else None
    table = Table(data.X, raw, data.columns)
    return _Source(text, table, data.name, data.parameters, labelling, data.names, test)
