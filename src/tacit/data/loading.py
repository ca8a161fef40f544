"""One text becomes one data set: a generator call or a file, with labels, bias and test set."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.data.files import ENDINGS, read_file, stem
from tacit.data.generators import GENERATORS, generate
from tacit.data.labels import BINARY, Labelling, choose
from tacit.values import BadInput, Dataset
from tacit.values.text import near_miss


def load(
    text: str, *, labels: str | None = None, bias: float | None = None, test: str | None = None
) -> Dataset:
    """The data set that `text` names, such as `points.csv` or `orthogonal:n=500,d=20,seed=0`.

    `labels` (`A,B` or `A=+1,B=-1`) picks two labels and makes them +1 and −1; rows with others are
    left out, and `parameters["left_out"]` says how many. `test` names a test set in the same way as
    `text`; its labels are mapped as those of the training set. `bias` appends that constant to
    every point of both.
    """
    if bias is not None and not math.isfinite(bias):
        raise BadInput(f"--bias {bias} is not a finite number")
    source = _source(text)
    labelling = source.labelling
    if labelling is None or labels is not None:
        labelling = choose(source.raw, labels, text)
    data = source.labelled(labelling)
    other = _source(test) if test is not None else source.test
    if other is not None:
        if other.X.shape[1] != source.X.shape[1]:
            raise BadInput(
                f"the test set {other.text} has shape {other.X.shape} and the training set {text} "
                f"has shape {source.X.shape}; both need the same number of columns"
            )
        data = replace(data, test=other.labelled(labelling))
    return data if bias is None else data.with_bias(bias)


@dataclass(frozen=True, eq=False)
class _Source:
    """Points and labels as they came, before a labelling is applied."""

    text: str
    X: np.ndarray
    raw: np.ndarray
    name: str
    parameters: dict[str, Any]
    labelling: Labelling | None = None
    """What a generator itself says; a file leaves it to the rules."""
    test: _Source | None = field(default=None)

    def labelled(self, labelling: Labelling) -> Dataset:
        keep, y = labelling.apply(self.raw, self.text)
        said = dict(self.parameters)
        if labelling.chosen:
            said |= {"labels": dict(labelling.numbers), "left_out": int(len(keep) - keep.sum())}
        X = self.X if keep.all() else self.X[keep]
        return Dataset(X, y, self.name, labelling.classes, said)


def _source(text: str) -> _Source:
    if not text.strip():
        raise BadInput("no data is named; give a file or a generator such as digits:classes=3/5")
    head = text.partition(":")[0].strip()
    if head in GENERATORS:
        return _of_dataset(text.strip(), generate(text.strip()))
    if text.lower().endswith(ENDINGS) or any(mark in head for mark in "./\\") or _exists(text):
        X, raw = read_file(text)
        return _Source(text, X, raw, stem(text), {"file": text})
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
    if data.classes:
        labelling = Labelling({name: k for k, name in enumerate(data.classes)}, data.classes)
        raw = np.array(data.classes)[data.y]
    test = _of_dataset(f"{text} (test)", data.test) if data.test else None
    return _Source(text, data.X, raw, data.name, data.parameters, labelling, test)
