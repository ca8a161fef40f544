"""Points, labels and where they came from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tacit.values.errors import BadInput


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points, labels and where they came from.

    Binary data has `y` in {−1, +1} and no `classes`; data of K ≥ 3 classes has `y` in {0, …, K−1}
    and `classes` holds the K names. One class only is valid binary data.
    """

    X: np.ndarray
    """n × d, float64, every entry finite; rows are points."""
    y: np.ndarray
    """n integers."""
    name: str = "data"
    classes: tuple[str, ...] = ()
    """Names of the K classes, in the order of their numbers; empty for binary data."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """What the data was made from: generator and its parameters, or the file and label mapping."""
    test: Dataset | None = None

    def __post_init__(self) -> None:
        X = np.ascontiguousarray(self.X, dtype=np.float64)
        y = np.asarray(self.y)
        if X.ndim != 2 or y.ndim != 1 or len(X) != len(y):
            raise BadInput(
                f"{self.name}: X has shape {X.shape} and y has shape {y.shape}; "
                "they must be (n, d) and (n,)"
            )
        if X.shape[0] == 0 or X.shape[1] == 0:
            raise BadInput(f"{self.name}: X has shape {X.shape}; both n and d must be at least 1")
        if not np.isfinite(X).all():
            row, column = (int(i) for i in np.argwhere(~np.isfinite(X))[0])
            raise BadInput(
                f"{self.name}: X holds {X[row, column]} at row {row}, column {column} "
                "(counted from 0); every entry must be a finite number"
            )
        allowed = range(len(self.classes)) if self.classes else (-1, 1)
        if not np.isin(y, list(allowed)).all():
            found = sorted({str(label) for label in y.tolist()})[:10]
            raise BadInput(f"{self.name}: labels must be −1 or +1; found {', '.join(found)}")
        X = X.view()  # the caller's own array stays as it is
        X.flags.writeable = False
        y = y.astype(np.int64)
        y.flags.writeable = False
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)

    @property
    def n(self) -> int:
        return self.X.shape[0]

    @property
    def d(self) -> int:
        return self.X.shape[1]

    @property
    def binary(self) -> bool:
        return not self.classes

    def one_vs_rest(self, k: int) -> Dataset:
        """Class k against all others, as binary data."""
        test = self.test.one_vs_rest(k) if self.test else None
        return Dataset(
            self.X,
            np.where(self.y == k, 1, -1),
            name=f"{self.name} ({self.classes[k]} against the rest)",
            parameters=self.parameters,
            test=test,
        )

    def with_bias(self, constant: float) -> Dataset:
        """The same points with a last coordinate that is `constant` everywhere."""
        return replace(
            self,
            X=np.column_stack([self.X, np.full(self.n, float(constant))]),
            parameters={**self.parameters, "bias": float(constant)},
            test=self.test.with_bias(constant) if self.test else None,
        )
