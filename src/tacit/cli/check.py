"""`tacit check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.cli._app import DEFAULT, DataOptions, Unused, as_options, command, print_json
from tacit.messages import printable

if TYPE_CHECKING:
    from tacit.geometry import Geometry

SIGNS = {True: "[green]yes[/]", False: "[red]no[/]", None: "[yellow]?[/]"}
"""How an answer looks in a table."""


@command("tacit check points.csv --property linearly_separable")
def check(
    data: str,
    /,
    *,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    property: tuple[str, ...] = (),
    activation: str = DEFAULT["activation"],
    seed: Unused = 0,
    json: bool = False,
) -> int:
    """Geometry of the data: which assumptions of the theorems hold, and by how much.

    Parameters
    ----------
    data
        File or generator call.
    property
        Decide only this property, also where it takes long; may be repeated. Exit code 1 unless
        all of them hold.
    activation
        `relu` or `leaky:A`, for the assumptions that mention its slope.
    json
        One JSON object on standard output.
    """
    from tacit.cli.terminal import spinner
    from tacit.geometry import check as check_geometry

    points = options.load(data)
    with spinner("checking the geometry", hidden=json):
        geometry = check_geometry(points, properties=property, activation=activation)
    if json:
        print_json(geometry.to_dict())
    else:
        _print_geometry(geometry)
    return int(any(geometry.properties[name].holds is not True for name in property))


def _print_geometry(geometry: Geometry) -> None:
    from rich.markup import escape

    from tacit.cli.terminal import console, plain_table, title

    screen = console()
    screen.print(title(geometry.data))
    sizes = ", ".join(f"{name}: {size}" for name, size in geometry.data.class_sizes.items())
    screen.print(f"class sizes {escape(printable(sizes))}")
    for remark in geometry.remarks:
        screen.print(f"[yellow]note[/] {escape(remark)}")
    table = plain_table()
    for heading in ("property", "holds", "slack", ""):
        justify = "right" if heading == "slack" else "left"
        table.add_column(heading, justify=justify, no_wrap=bool(heading))  # type: ignore[arg-type]
    for one in geometry.properties.values():
        slack = "" if one.slack is None else f"{one.slack:.4g}"
        note = escape(as_options(printable(one.note)))
        table.add_row(escape(one.name), SIGNS[one.holds], slack, note)
    screen.print(table)
    screen.print(
        "slack > 0: holds with that much room; < 0: fails by that much; 0: on the edge. "
        "Rows are counted from 0. --json has all digits and the error of every slack."
    )
