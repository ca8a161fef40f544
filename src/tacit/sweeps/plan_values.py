"""Values in a plan: numbers and texts of the right kind, lists of them, and ranges."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.messages import near_miss
from tacit.values import BadInput

MOST_RUNS = 1_000_000
"""Each has a folder of its own."""
MOST_WHOLE = 2**63 - 1
"""What a column of whole numbers holds."""
DIGITS = 12
"""Significant digits of the inner points of a range; its ends are exact."""


@dataclass(frozen=True)
class Kind:
    """What a key may hold."""

    type: type
    """int, float, str, or tuple for a list of texts."""
    words: tuple[str, ...] = ()
    """Texts that may stand in place of a number."""
    text: bool = False
    """Whether any text may."""

    @property
    def said(self) -> str:
        name = {int: "a whole number", float: "a number", str: "a text", tuple: "a list of texts"}
        others = [f'"{word}"' for word in self.words] + ["a text"] * self.text
        return " or ".join([name[self.type], *others])

    def allows(self, text: str) -> bool:
        return self.type is str or self.text or text in self.words


def known(where: str, table: Mapping[str, Any], keys: Iterable[str]) -> None:
    """BadInput when the table has another key."""
    keys = tuple(keys)
    for key in table:
        if key not in keys:
            raise BadInput(f"{where}: there is no key '{key}'{near_miss(key, keys)}")


def table(where: str, given: Any) -> dict[str, Any]:
    """Refuse what is no table of TOML."""
    if not isinstance(given, dict):
        raise BadInput(f"{where}: {shown(given)} is not a table")
    return given


def shown(value: Any) -> str:
    """The value as the file has it, shortened."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def as_keys(error: BadInput) -> str:
    """What is wrong, with the parameters of the library as the keys of a plan."""
    return re.sub(r"`([a-z]\w*)=([^`]*)`", r"\1 = \2", str(error))


def one(where: str, value: Any, kind: Kind) -> Any:
    """Read a single value of a plan."""
    wrong = BadInput(f"{where} = {shown(value)} is not {kind.said}")
    if kind.type is tuple:
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise wrong
        return tuple(value)
    if isinstance(value, str) and kind.allows(value):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or kind.type is str:
        raise wrong
    if isinstance(value, float) and not math.isfinite(value):
        raise BadInput(f"{where} = {value} must be a finite number")
    if isinstance(value, int) and abs(value) > MOST_WHOLE:
        raise BadInput(f"{where} = {shown(value)} is too large")
    if kind.type is float:
        return float(value) + 0.0  # no -0.0
    if isinstance(value, float):
        raise wrong
    return value


def several(where: str, given: Any, kind: Kind) -> Sequence[Any]:
    """The values of a key: one, a list of different ones, or a range."""
    if isinstance(given, dict):
        return _range(where, given, kind)
    if kind.type is tuple:
        axis = isinstance(given, list) and any(isinstance(part, list) for part in given)
    else:
        axis = isinstance(given, list)
    if not axis:
        return [one(where, given, kind)]
    if not given:
        raise BadInput(f"{where} = [] is an empty list; give at least one value")
    return _different(where, [one(where, value, kind) for value in given])


def _different(where: str, values: list[Any]) -> list[Any]:
    seen = set()
    for value in values:
        if value in seen:
            raise BadInput(f"{where} has the value {shown(value)} twice; give it once")
        seen.add(value)
    return values


def _range(where: str, given: dict[str, Any], kind: Kind) -> Sequence[Any]:
    if kind.type not in (int, float):
        raise BadInput(f"{where}: a range is of numbers; this must be {kind.said}")
    known(where, given, ("from", "to", "log", "linear"))
    form = "{ from = A, to = B }, with log = K or linear = K for K points between them"
    if not {"from", "to"} <= set(given) or {"log", "linear"} <= set(given):
        raise BadInput(f"{where}: write a range as {form}")
    how = next((how for how in ("log", "linear") if how in given), None)
    if how is None:
        low, high = (one(f"{where}.{end}", given[end], Kind(int)) for end in ("from", "to"))
        count = high - low + 1
    else:
        low, high = (one(f"{where}.{end}", given[end], kind) for end in ("from", "to"))
        count = one(f"{where}.{how}", given[how], Kind(int))
        if isinstance(low, str) or isinstance(high, str):
            raise BadInput(f"{where}: the ends of a range are numbers")
        if count < 2:
            raise BadInput(f"{where}.{how} = {count}: a range has at least 2 points")
    if low > high or (how and low == high):
        raise BadInput(f"{where}: from = {low} must be below to = {high}")
    if how == "log" and low <= 0:
        raise BadInput(f"{where}: from = {low} must be positive where log is given")
    if count > MOST_RUNS:
        raise BadInput(f"{where}: {count:,} values are too many; at most {MOST_RUNS:,} runs")
    if how is None:
        return [kind.type(low + i) for i in range(count)]
    shares = (i / (count - 1) for i in range(1, count - 1))
    if how == "log":
        begin, end = math.log(low), math.log(high)
        inner = [math.exp((1 - t) * begin + t * end) for t in shares]
    else:
        inner = [(1 - t) * low + t * high for t in shares]
    rounded = [float(f"{value:.{DIGITS}g}") for value in inner]
    if kind.type is int:
        rounded = [round(value) for value in rounded]
    values = [low, *rounded, high]
    if any(not a < b for a, b in zip(values, values[1:], strict=False)):
        raise BadInput(f"{where}: {count} points do not fit between {low} and {high}; take fewer")
    return values
