"""Examples and their labels: batches of bounded size, and the margins q that labels make of f."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.messages import count
from tacit.values import BadInput

BATCH_ENTRIES = 2**21
"""Entries of the inputs that are looked at in one batch."""
MOST_BATCH = 512


@dataclass(frozen=True, eq=False)
class Examples:
    """What the network is asked about; arrays of NumPy, PyTorch or JAX, as they were given."""

    X: Any
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    @property
    def _size(self) -> int:
        entries = max(int(np.prod(tuple(self.X.shape)[1:])), 1)
        return max(1, min(MOST_BATCH, BATCH_ENTRIES // entries))

    def batches(self) -> Iterator[Any]:
        """All examples, in their order."""
        for start in range(0, len(self), self._size):
            yield self.X[start : start + self._size]

    def mapped(self, compute: Callable[[Any], np.ndarray]) -> np.ndarray:
        """The rows that `compute` makes of every batch."""
        return np.concatenate([compute(X) for X in self.batches()])

    def sample(self, most: int) -> Any:
        """At most so many examples, spread evenly."""
        return self.X[:: -(-len(self) // most)]


@dataclass(frozen=True, eq=False)
class Margins:
    """q = y f for one output; for K outputs q_ik = f_(y_i) − f_k for every other class k."""

    outputs: np.ndarray
    labels: np.ndarray
    """±1, or the number of the class."""

    @property
    def classes(self) -> int:
        return max(self.outputs.shape[1], 2)

    @property
    def q(self) -> np.ndarray:
        """n × 1 or n × K; infinite for the class itself."""
        f, y = self.outputs, self.labels
        if f.shape[1] == 1:
            return y[:, None] * f
        q = f[np.arange(len(f)), y][:, None] - f
        q[np.arange(len(f)), y] = np.inf
        return q

    @property
    def soft(self) -> np.ndarray:
        """−log Σ_k e^(−q_ik): cross-entropy is the logistic loss of it."""
        q = self.q
        smallest = q.min(axis=1)
        return smallest - np.log(np.exp(smallest[:, None] - q).sum(axis=1))

    def weights(self, points: np.ndarray, rivals: np.ndarray) -> np.ndarray:
        """c with q = c·f, one row for each pair of an example and a class."""
        C = np.zeros((len(points), self.outputs.shape[1]))
        rows = np.arange(len(points))
        if C.shape[1] == 1:
            C[:, 0] = self.labels[points]
        else:
            C[rows, self.labels[points]] = 1.0
            C[rows, rivals] = -1.0
        return C


def examples_of(X: Any, y: Any) -> Examples:
    """Examples with as many labels; BadInput for others."""
    if not hasattr(X, "shape") or type(X).__module__.startswith("pandas"):
        try:
            X = np.asarray(X)
        except (ValueError, TypeError):  # pairs of an image and its label, rows of several lengths
            X = np.array(None)
    if type(X).__module__.startswith("scipy.sparse"):
        raise BadInput("`X` is a sparse matrix; give X.toarray()")
    shape = tuple(X.shape)
    if not shape:
        raise BadInput("`X` must be an array or a tensor with all examples, of shape (n, …)")
    if hasattr(X, "is_sparse") and (X.is_sparse or "sparse" in str(X.layout)):
        raise BadInput("`X` is a sparse tensor; give X.to_dense()")
    if hasattr(y, "cpu"):
        y = y.detach().cpu()
    try:
        labels = np.asarray(y)
    except ValueError:
        raise BadInput(
            "the entries of `y` differ in length; give one label for each example"
        ) from None
    if labels.dtype.kind == "O":  # texts of a data frame
        labels = np.asarray(labels.tolist())
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != shape[:1] or 0 in shape:
        raise BadInput(
            f"X has shape {shape} and y has shape {labels.shape}; they must be (n, …) and (n,), "
            "with n at least 1"
        )
    if labels.dtype.kind not in "biufUS" or (labels.dtype.kind == "f" and np.isnan(labels).any()):
        what = "NaN" if labels.dtype.kind == "f" else str(labels.dtype)
        raise BadInput(f"`y` holds {what}; labels must be numbers or texts")
    examples = Examples(X, labels)
    at = 0
    for batch in examples.batches():
        good = _finite(batch)
        if not good.all():
            raise BadInput(
                f"example {at + int(np.argmin(good))} of X (counted from 0) holds NaN or infinite "
                "entries; every entry must be a finite number"
            )
        at += len(batch)
    return examples


def as_array(batch: Any) -> np.ndarray:
    """Inputs of any library in NumPy, which has no bfloat16."""
    if hasattr(batch, "detach"):
        batch = batch.detach().cpu()
        batch = batch.float() if str(batch.dtype) == "torch.bfloat16" else batch
    array = np.asarray(batch)
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _finite(batch: Any) -> np.ndarray:
    array = as_array(batch)
    if array.dtype.kind not in "biuf":
        raise BadInput(f"X holds {array.dtype}; real numbers are needed")
    return np.isfinite(array.reshape(len(array), -1)).all(axis=1)


def margins_of(outputs: np.ndarray, y: np.ndarray) -> Margins:
    """The labels as the number of outputs needs them; BadInput where they do not fit."""
    bad = ~np.isfinite(outputs).all(axis=1)
    if bad.any():
        raise BadInput(
            f"the model's output for example {int(np.argmax(bad))} (counted from 0) is not finite"
        )
    K, kinds = outputs.shape[1], np.unique(y)
    shown = ", ".join(str(one) for one in kinds[:6].tolist()) + (", …" if len(kinds) > 6 else "")
    if K == 1:
        known = (set(kinds.tolist()) <= {-1, 1}) or (set(kinds.tolist()) <= {0, 1})
        if len(kinds) != 2 and not known:
            raise BadInput(
                "the model has one output, for two classes, and y holds "
                f"{count(len(kinds), 'label')} ({shown}); give two, the larger one is +1"
            )
        positive = max(kinds[-1], 1) if known else kinds[-1]
        return Margins(outputs, np.where(y == positive, 1, -1))
    whole = y.dtype.kind in "biu" or (y.dtype.kind == "f" and bool((y == np.round(y)).all()))
    if not whole or kinds[0] < 0 or kinds[-1] >= K:
        texts = "the texts " if y.dtype.kind in "US" else ""
        raise BadInput(
            f"the model has {K} outputs, so labels are whole numbers from 0 to {K - 1}; "
            f"y holds {texts}{shown}"
        )
    return Margins(outputs, y.astype(np.int64))
