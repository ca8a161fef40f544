"""The application, and what its commands share."""

from __future__ import annotations

import json as json_module
import re
import sys
from dataclasses import dataclass
from typing import Any, Literal, get_args

from cyclopts import App, Parameter, convert

from tacit import __version__
from tacit._types import BadInput, Dataset, Setting
from tacit._words import count, printable


def whole_numbers(kind: Any, tokens: Any) -> Any:
    """As cyclopts converts, but 1.5 is not a whole number."""
    if int in (get_args(kind) or (kind,)):
        for token in tokens:
            if not re.fullmatch(r"[+-]?[0-9]+", token.value):
                raise ValueError(f"{token.value} is not a whole number")
    return convert(kind, tokens)


app = App(
    name="tacit",
    help="Which of all the solutions does gradient descent pick, why, and is it the best one?",
    version=f"tacit {__version__}",
    default_parameter=Parameter(negative=(), converter=whole_numbers),
    help_epilogue="DATA is a file (.csv, .npz with X and y, or X.npy,y.npy) or a generator call "
    "such as orthogonal:n=500,d=20,seed=0; `tacit list data` shows the generators.",
    suppress_keyboard_interrupt=False,
)


@Parameter(name="*")
@dataclass(frozen=True)
class DataOptions:
    """How DATA is read."""

    labels: str | None = None
    """A,B: the raw label A becomes +1 and B becomes −1; other rows are left out."""
    bias: float | None = None
    """Append this constant to every point as a last coordinate."""
    test: str | None = None
    """A test set, named like DATA."""

    def load(self, text: str) -> Dataset:
        from tacit.data import load

        data = load(text, labels=self.labels, bias=self.bias, test=self.test)
        if left_out := data.parameters.get("left_out"):
            warn(f"{count(left_out, 'row')} with other labels left out")
        return data


def print_json(value: Any) -> None:
    print(json_module.dumps(value, ensure_ascii=False, allow_nan=False))


def warn(message: str) -> None:
    print(f"tacit: {printable(message)}", file=sys.stderr)


INITS: dict[str, str] = {"both": "balanced:1e-4", "first": "gaussian:1e-4"}
"""Initial weights where nothing is said."""


def network_setting(
    activation: str,
    train: Literal["both", "first"] | None,
    width: int,
    init: str | None,
    output_weight: float | None,
    loss: str,
    rule: str = "flow",
) -> Setting:
    """The network of the options."""
    if train == "both" and output_weight is not None:
        raise BadInput(
            "--output-weight plays no part when both layers are trained; it needs --train first"
        )
    return Setting(
        activation=activation,
        train=train,
        width=width,
        init=INITS[train or "first"] if init is None else init,
        output_weight=1.0 if output_weight is None else output_weight,
        loss=loss,
        rule=rule,
    )


def need_seconds(seconds: float) -> None:
    if not seconds > 0:
        raise BadInput(f"--seconds {seconds:g} must be positive")
