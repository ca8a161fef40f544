"""How training checks stop rules: after every epoch, for `gd` after every step."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tacit.values.stop_rules import StopRule

RUNNING, REACHED_LOSS, ZERO_ERROR, NO_IMPROVEMENT, AGREEMENT, DIRECTION, DIVERGED = range(7)
"""How a network stands, as compiled code holds it."""


class TrainingOutcome(StrEnum):
    """How the training of a network ended; in the order of the numbers above."""

    RAN_ALL = "ran all epochs"
    REACHED_LOSS = "reached the loss asked for"
    ZERO_ERROR = "classifies every training point correctly"
    NO_IMPROVEMENT = "the loss stopped improving"
    AGREEMENT = "neurons of one sign agree on every point"
    DIRECTION = "the weights turned by no more than that angle while the epochs doubled"
    DIVERGED = "diverged"
    INTERRUPTED = "interrupted"


OUTCOMES = dict(enumerate(list(TrainingOutcome)[: DIVERGED + 1]))


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


def stop_of(rules: Sequence[StopRule]) -> Stop:
    """The rules of a setting as training checks them."""
    number = {rule.name: rule.number for rule in rules}
    log_loss = None
    if (loss := number.get("loss")) is not None:
        log_loss = math.log(loss)
    elif (log10_loss := number.get("log10_loss")) is not None:
        log_loss = log10_loss * math.log(10)
    patience = number.get("no_improvement")
    return Stop(
        log_loss,
        zero_error="zero_error" in number,
        patience=None if patience is None else int(patience),
        agreement="agreement" in number,
        angle=number.get("direction"),
    )
