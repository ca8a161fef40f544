"""Stop rules: what ends a run before its last epoch. Checked after every epoch, for gd every step.

loss:X             the loss is at most X           log10_loss:X   its log₁₀ is (X may be −1000)
zero_error         every training point is right
no_improvement:K   the loss did not reach a new minimum in K epochs (brutzkus2019 App. A: 20)
agreement          neurons of one sign agree on every point (NAR, sarussi2021 Def. 6.2)
direction:ANGLE    all points are right and the weights turned by at most ANGLE (radians) while
                   the number of epochs doubled
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tacit.values import BadInput
from tacit.values.text import near_miss

RUNNING, REACHED_LOSS, ZERO_ERROR, NO_IMPROVEMENT, AGREEMENT, DIRECTION, DIVERGED = range(7)

OUTCOMES = {
    RUNNING: "ran all epochs",
    REACHED_LOSS: "reached the loss asked for",
    ZERO_ERROR: "classifies every training point correctly",
    NO_IMPROVEMENT: "the loss stopped improving",
    AGREEMENT: "neurons of one sign agree on every point",
    DIRECTION: "the weights turned by no more than that angle while the epochs doubled",
    DIVERGED: "diverged",
}

FORMS = {
    "loss": "loss:X",
    "log10_loss": "log10_loss:X",
    "zero_error": "zero_error",
    "no_improvement": "no_improvement:K",
    "agreement": "agreement",
    "direction": "direction:ANGLE",
}

MOST_EPOCHS = 10**15
"""More than anyone can wait for, and exact as a float."""


@dataclass(frozen=True)
class Stop:
    """Parsed stop rules; None and False are rules that were not asked for."""

    log_loss: float | None = None
    zero_error: bool = False
    patience: int | None = None
    agreement: bool = False
    angle: float | None = None

    @property
    def any(self) -> bool:
        return self != Stop()


def parse_stop(texts: Sequence[str]) -> Stop:
    """The rules of texts such as `loss:1e-6` and `zero_error`."""
    rules: dict[str, float | int | bool] = {}
    for text in texts:
        key, value = _parse(text)
        if key in rules:
            raise BadInput(f"stop rule '{text}': there is one like it already; give it once")
        rules[key] = value
    return Stop(**rules)  # type: ignore[arg-type]


def _parse(text: str) -> tuple[str, float | int | bool]:
    """Name and value of the field of `Stop` that a text sets."""
    name, colon, rest = text.partition(":")
    if name not in FORMS:
        raise BadInput(f"unknown stop rule '{name}'{near_miss(name, FORMS)}")
    if bool(colon) != (":" in FORMS[name]):
        raise BadInput(f"stop rule '{text}': write {FORMS[name]}")
    if not colon:
        return name, True
    try:
        value = float(rest)
    except ValueError:
        raise BadInput(f"stop rule '{text}': write {FORMS[name]} with a number") from None
    if name == "log10_loss":
        if not math.isfinite(value):
            raise BadInput(f"stop rule '{text}': the number must be finite")
        return "log_loss", value * math.log(10)
    if not 0 < value < math.inf:
        raise BadInput(f"stop rule '{text}': the number must be positive and finite")
    if name == "loss":
        return "log_loss", math.log(value)
    if name == "direction":
        return "angle", value
    if value != int(value) or value > MOST_EPOCHS:
        raise BadInput(f"stop rule '{text}': write a whole number of epochs")
    return "patience", int(value)
