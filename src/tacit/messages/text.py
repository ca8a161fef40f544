"""Words for a person who mistyped a name."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection


def near_miss(word: str, known: Collection[str]) -> str:
    """`; did you mean 'x'?` when something is close, else the list of what there is."""
    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean '{close[0]}'?" if close else f"; there are: {', '.join(known)}"


def count(n: int, thing: str, things: str = "") -> str:
    """`1 point`, `2 points`."""
    return f"{n} {thing if n == 1 else things or thing + 's'}"


def printable(text: str) -> str:
    """The text on one line, without anything that could steer a terminal."""
    return harmless(" ".join(text.split()))


def harmless(text: str) -> str:
    """The text with everything but line ends escaped that could steer a terminal.

    Examples
    --------
    >>> print(harmless("red \\x1b[31m, backwards \\u202e"))
    red \\x1b[31m, backwards \\x202e
    """
    return "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)


def number_text(value: float) -> str:
    """The shortest text that gives the number back: `0.3`, `1e-4`, `100`.

    Examples
    --------
    >>> number_text(0.0001), number_text(0.3), number_text(100.0)
    ('1e-4', '0.3', '100')
    """
    plain = repr(float(value)).removesuffix(".0")
    if not math.isfinite(value):
        return plain
    digits = power = ""
    for places in range(18):
        digits, _, power = f"{value:.{places}e}".partition("e")
        if float(f"{digits}e{power}") == value:
            break
    scientific = f"{digits}e{int(power)}"
    return scientific if len(scientific) < len(plain) and not 1e-2 <= abs(value) < 1e5 else plain
