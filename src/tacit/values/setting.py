"""Network, initialisation, loss and training rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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
