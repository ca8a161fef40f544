"""`tacit list`."""

from __future__ import annotations

from typing import Literal

from tacit.cli._app import Unused, command, print_json


@command("tacit list theorems", about_data=False, name="list")
def list_(
    what: Literal["data", "properties", "theorems", "figures", "measures", "initialisations"],
    /,
    *,
    seed: Unused = 0,
    json: bool = False,
) -> int:
    """What there is: generators of data, properties, theorems, figures, measures, initialisations.

    Parameters
    ----------
    what
        Which list.
    seed
        Accepted by every command; nothing here is random.
    json
        One JSON object on standard output.
    """
    from tacit.cli import printing as show

    items = show.items(what)
    if json:
        print_json({"items": items})
    else:
        show.table_of_items(items)
    return 0
