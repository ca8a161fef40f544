"""Words and numbers for a person."""

import difflib
import math
from collections.abc import Collection
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal


def near_miss(word: str, known: Collection[str]) -> str:
    """`; did you mean 'x'?` when something is close, else the list of what there is."""
    close = difflib.get_close_matches(word, known, n=1)
    there = f"there are: {', '.join(known)}" if known else "there are none"
    return f"; did you mean '{close[0]}'?" if close else f"; {there}"


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


def outward(lower: float, upper: float) -> tuple[str, str]:
    """Two positive bounds in as many digits as tell them apart, rounded down and up.

    Examples
    --------
    >>> outward(0.0711919759012, 0.0711919759604)
    ('0.071191975901', '0.071191975961')
    """
    ends = Decimal(lower), Decimal(upper)
    if not (0 < lower <= upper < math.inf):
        return number_text(lower), number_text(upper)
    apart = max(ends[1] - ends[0], ends[1] * Decimal("1e-16"))
    unit = Decimal(1).scaleb(min(apart.adjusted() - 1, ends[1].adjusted() - 2))
    down = ends[0].quantize(unit, ROUND_FLOOR)
    up = ends[1].quantize(unit, ROUND_CEILING)
    return (f"{down:f}", f"{up:f}") if 1e-5 < upper < 1e10 else (f"{down:e}", f"{up:e}")


def percent_below(share: float) -> str:
    """A share between 0 and 1 as a percentage, rounded down; nearly 100 % keeps its nines.

    Examples
    --------
    >>> percent_below(0.99999847), percent_below(0.5)
    ('99.9998 %', '50 %')
    """
    rest = 1 - Decimal(share)
    places = max(-rest.adjusted() - 2, 0) if 0 < rest < Decimal("0.1") else 0
    floor = (100 * Decimal(share)).quantize(Decimal(1).scaleb(-places), ROUND_FLOOR)
    return f"{floor:f} %"
