"""The few things every room speaks of: a data set, a check, and an error meant for a person."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np


class BadInput(ValueError):
    """Input a person can mend. The message is one line: what is wrong, where, what is right."""


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


@dataclass(frozen=True)
class Check:
    """One property of a data set or setting: does it hold, and by how much.

    `slack` is positive when the property holds with room to spare and negative when it fails; its
    unit is stated in `note`. `error` bounds the rounding error of `slack`. `holds` is None when
    nothing was decided, and `note` then says why.
    """

    name: str
    holds: bool | None
    slack: float | None
    place: str
    note: str = ""
    error: float = 0.0


@dataclass(frozen=True)
class Setting:
    """Network, initialisation, loss and training rule, as texts and numbers that JSON can hold.

    The texts are those of the command line; the room that owns a thing parses its text.
    """

    model: str = "two_layer"
    """`two_layer`, `conv_max_pool[:PATCH]`, `residual[:DEPTH]` or `six_conv[:SIDE]`."""
    activation: str = "relu"
    """`relu`, or `leaky:A` for φ(z) = max(z, Az)."""
    train: Literal["both", "first"] | None = None
    """The layers of a two-layer net that are trained; both unless told otherwise."""
    width: int = 100
    """m, the number of neurons (of channels in a convolutional net)."""
    init: str | None = None
    """Initial weights, see `tacit list initialisations`; unless told otherwise `balanced:1e-3`,
    with a fixed output layer `gaussian:1e-3`, for deeper nets `he:1`."""
    output_weight: float = 1.0
    """v of an output layer that is fixed at ±v."""
    loss: str = "logistic"
    """`logistic` or `exponential` (the mean; with `:sum` the sum), `hinge` (the sum), or `hinge:G`
    (brutzkus2019 (4): confidence G for y = +1 and 1 for y = −1, the mean of each class). Networks
    with an output for each class have `softmax`."""
    rule: str = "gd"
    """`gd`, `sgd` or `adam`; `flow` is gradient flow, which `tacit limit` follows."""
    lr: float = 0.1
    """Step size."""
    step: str = "constant"
    """`constant`, or `scaled`: step size lr / loss, right also where the loss underflows."""
    batch: int | None = None
    """Examples in a batch; unless told otherwise 1 for `sgd` and all for `adam`."""
    stop: tuple[str, ...] = ()
    """End a run when one of these holds (may be repeated): `loss:X`, `log10_loss:X`, `zero_error`,
    `no_improvement:K`, `agreement`, `direction:ANGLE`."""
