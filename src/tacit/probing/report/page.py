"""A probed network as one HTML page that needs nothing but itself."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

import tacit
from tacit.messages import printable
from tacit.plot import draw, new_figure, picture
from tacit.probing import Probed
from tacit.probing.probed import SHOWN


def page(probed: Probed) -> str:
    """Render the whole report; every text that came from outside is escaped."""
    figure, panels = new_figure(size=(9.0, 4.2))
    draw(probed, panels[0, 0])
    support = [] if probed.support is None else probed.to_dict()["kkt"]["largest"]
    return (
        _environment()
        .get_template("page.html")
        .render(
            probed=probed,
            sentences=[printable(line) for line in probed.sentences],
            picture=b64encode(picture(figure, "svg")).decode(),
            support=support,
            most=SHOWN,
            version=tacit.__version__,
            style=files("tacit.explanation.report").joinpath("page.css").read_text("utf-8"),
        )
    )


def number(value: float | None, digits: int = 4) -> str:
    """A number for a table; a dash where there is none."""
    return "–" if value is None or value != value else f"{value:.{digits}g}".replace("-", "−")


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("tacit.probing.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["number"] = number
    made.filters["printable"] = printable
    return made
