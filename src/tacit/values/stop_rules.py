"""Stop rules: what ends a training run before its last epoch.

loss:X             the loss is at most X           log10_loss:X   its log₁₀ is (X may be −1000)
zero_error         every training point is right
no_improvement:K   the loss did not reach a new minimum in K epochs (brutzkus2019 App. A: 20)
agreement          neurons of one sign agree on every point (NAR, sarussi2021 Def. 6.2)
direction:ANGLE    all points are right and the weights turned by at most ANGLE (radians) while
                   the number of epochs doubled
"""

import math
from dataclasses import dataclass

from tacit.messages import BadInput, near_miss, number_text

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
class StopRule:
    """One stop rule: its name and, where it has one, its number.

    Examples
    --------
    >>> parse_stop_rule("loss:1e-6")
    StopRule(name='loss', number=1e-06)
    >>> str(parse_stop_rule("loss:1e-6"))
    'loss:1e-6'
    """

    name: str
    number: float | None = None

    def __post_init__(self) -> None:
        if self.name not in FORMS:
            raise BadInput(f"unknown stop rule '{self.name}'{near_miss(self.name, FORMS)}")
        if (self.number is not None) != (":" in FORMS[self.name]):
            raise BadInput(f"stop rule '{self}': write {FORMS[self.name]}")
        if self.number is None:
            return
        if self.name == "log10_loss":
            if not math.isfinite(self.number):
                raise BadInput(f"stop rule '{self}': the number must be finite")
        elif not 0 < self.number < math.inf:
            raise BadInput(f"stop rule '{self}': the number must be positive and finite")
        if self.name == "no_improvement":
            if self.number != int(self.number) or self.number > MOST_EPOCHS:
                raise BadInput(f"stop rule '{self}': write a whole number of epochs")

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.name}:{number_text(self.number)}"


def parse_stop_rule(text: str) -> StopRule:
    """The rule of a text such as `loss:1e-6` or `zero_error`."""
    name, colon, rest = text.partition(":")
    if not colon:
        return StopRule(name)
    if name not in FORMS:
        raise BadInput(f"unknown stop rule '{name}'{near_miss(name, FORMS)}")
    if ":" not in FORMS[name]:
        raise BadInput(f"stop rule '{text}': write {FORMS[name]}")
    try:
        return StopRule(name, float(rest))
    except BadInput:
        raise
    except ValueError:
        raise BadInput(f"stop rule '{text}': write {FORMS[name]} with a number") from None
