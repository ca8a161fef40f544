"""Templates of HTML pages; every text that comes from outside is escaped."""

import math
from collections.abc import Callable
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from tacit.messages import printable

TINY = 1e-4
"""Numbers below this are shown by size only."""


def number(value: float | None, digits: int = 4) -> str:
    """A number for a person: few digits, a true minus sign, a dash for what is missing."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if 0 < abs(value) < TINY:
        digits = min(digits, 2)
    return f"{float(value):.{digits}g}".replace("-", "−")


def render(package: str, *filters: Callable[..., Any], **values: Any) -> str:
    """The template `page.html` of a package, filled with values; filters go by their names."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, ""), PackageLoader("tacit.pages", "")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {one.__name__: one for one in (number, printable, *filters)}
    return environment.get_template("page.html").render(**values)
