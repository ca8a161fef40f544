"""`tacit check` in the terminal and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from tacit.cli.terminal import console, plain_table, title
from tacit.values.jsonable import plain
from tacit.values.text import printable

if TYPE_CHECKING:
    from tacit.geometry import Geometry

SIGNS = {True: "[green]yes[/]", False: "[red]no[/]", None: "[yellow]?[/]"}


def geometry(found: Geometry) -> None:
    """The table of `tacit check`."""
    out = console()
    out.print(title(found.data))
    sizes = ", ".join(f"{label}: {size}" for label, size in found.facts["class_sizes"].items())
    out.print(f"class sizes {escape(printable(sizes))}")
    for remark in found.remarks:
        out.print(f"[yellow]note[/] {escape(remark)}")
    table = plain_table()
    for heading in ("property", "holds", "slack", ""):
        table.add_column(heading, justify="right" if heading == "slack" else "left")
    for check in found.properties.values():
        slack = "" if check.slack is None else f"{check.slack:.4g}"
        table.add_row(escape(check.name), SIGNS[check.holds], slack, escape(check.note))
    out.print(table)
    out.print(
        "slack > 0: holds with that much room; < 0: fails by that much; 0: on the edge. "
        "Rows are counted from 0. --json has all digits and the error of every slack."
    )


def geometry_as_json(found: Geometry) -> dict[str, Any]:
    """The contract of `tacit check --json`."""

    def holds(name: str) -> bool | None:
        return found.properties[name].holds if name in found.properties else None

    data = found.data
    margin = found.max_margin
    direction = found.max_margin_direction
    result = {
        "name": data.name,
        "n": data.n,
        "d": data.d,
        "classes": list(data.classes) or None,
        "parameters": data.parameters,
        "linearly_separable": holds("linearly_separable"),
        "max_margin": margin[0] if margin else None,
        "max_margin_upper": margin[1] if margin else None,
        "max_margin_direction": None if direction is None else direction.tolist(),
        "orthogonally_separable": holds("orthogonally_separable"),
        "symmetric": holds("symmetric"),
        "spike_free": holds("spike_free"),
        "alpha": found.alpha,
        "facts": found.facts,
        "remarks": found.remarks,
        "properties": {
            name: {key: value for key, value in asdict(check).items() if key != "name"}
            for name, check in found.properties.items()
        },
    }
    if data.test is not None:
        result["n_test"] = data.test.n
        if direction is not None:
            wrong = (data.test.y * (data.test.X @ direction) <= 0).mean()
            result["max_margin_test_error"] = float(wrong)
    return plain(result)
