"""Entries of a JSON file that must be of a certain kind, each refused with its place."""

import math
import re
from typing import Any

import numpy as np

from tacit.messages import printable

MOST_BITS = 100_000
"""The common denominator of the fractions in one list may be this long."""

MOST_BITS_IN_ALL = 1 << 29
"""So may all numerators over it together."""

_FRACTION = re.compile(r"(-?[0-9]{1,4000})(?:/([0-9]{1,4000}))?", re.ASCII)


class Rejected(Exception):
    """The file proves nothing; the message is one line that names the place."""


def fractions(values: list[Any], where: str) -> list[int]:
    """The fractions times their common denominator, whole numbers."""
    pairs = [_fraction(value, f"{where}[{i}]") for i, value in enumerate(values)]
    common = 1
    for _, q in pairs:
        if common % q:
            common = math.lcm(common, q)
            if common.bit_length() > MOST_BITS:
                raise Rejected(f"{where}: the common denominator has more than {MOST_BITS} bits")
    if len(pairs) * common.bit_length() > MOST_BITS_IN_ALL:
        raise Rejected(
            f"{where}: {len(pairs):,} fractions with a denominator this long are too many"
        )
    return [p * (common // q) for p, q in pairs]


def _fraction(value: Any, where: str) -> tuple[int, int]:
    match = _FRACTION.fullmatch(value) if isinstance(value, str) else None
    if match:
        p, q = int(match[1]), int(match[2] or "1")
    elif type(value) is int:
        p, q = value, 1
    else:
        raise Rejected(f"{where} is {short(value)}; it must be a whole number or a text 'p/q'")
    if q == 0 or p < 0:
        raise Rejected(f"{where} is {short(value)}; it must not be negative or divided by 0")
    return p, q


def object_of(value: Any, keys: tuple[str, ...], where: str) -> dict[str, Any]:
    """The value as an object that has these keys and no others."""
    if not isinstance(value, dict):
        raise Rejected(f"{where} is {short(value)}; it must be an object")
    for key in keys:
        if key not in value:
            raise Rejected(f"{where} has no key '{key}'")
    if unknown := [key for key in value if key not in keys]:
        raise Rejected(f"{where} has the unknown key {short(unknown[0])}")
    return value


def list_of(value: Any, where: str, length: int | None = None) -> list[Any]:
    """The value as a list, of this length where one is given."""
    if not isinstance(value, list):
        raise Rejected(f"{where} is {short(value)}; it must be a list")
    if length is not None and len(value) != length:
        raise Rejected(f"{where} has the length {len(value)}; it must have {length}")
    return value


def matrix(value: Any, where: str) -> np.ndarray:
    """The value as a matrix of finite doubles with at least one entry."""
    rows = list_of(value, where)
    if not rows or not list_of(rows[0], f"{where}[0]"):
        raise Rejected(f"{where} must have at least one row and one column")
    d = len(rows[0])
    return np.array([numbers(row, f"{where}[{i}]", d) for i, row in enumerate(rows)])


def numbers(value: Any, where: str, length: int) -> list[float]:
    """The value as a list of so many finite doubles."""
    values = list_of(value, where, length)
    if all(type(v) is float for v in values) and all(map(math.isfinite, values)):
        return values
    return [number(v, f"{where}[{j}]") for j, v in enumerate(values)]


def number(value: Any, where: str) -> float:
    """A finite double. An integer is taken if it is one; nothing is rounded in silence."""
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is int and value.bit_length() <= 1024:
        try:
            if float(value) == value:
                return float(value)
        except OverflowError:
            pass
    raise Rejected(f"{where} is {short(value)}; it must be a finite double")


def not_negative(value: Any, where: str) -> float:
    """The value as a finite double that is at least 0."""
    entry = number(value, where)
    if entry < 0:
        raise Rejected(f"{where} is {entry}; it must not be negative")
    return entry


def plus_or_minus_one(value: Any, where: str) -> int:
    """The value as a sign."""
    if type(value) not in (int, float) or value not in (-1, 1):
        raise Rejected(f"{where} is {short(value)}; it must be 1 or -1")
    return int(value)


def short(value: Any) -> str:
    """The value as a short text that is safe to print."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = printable(repr(value[:60] if isinstance(value, str) else value))
    return text if len(text) <= 60 else text[:57] + "…"
