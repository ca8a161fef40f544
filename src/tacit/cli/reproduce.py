"""`tacit reproduce`."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

from tacit.cli._app import app, print_json
from tacit.values import BadInput


@app.command
def reproduce(
    *figures: str,
    quick: bool = False,
    set: tuple[str, ...] = (),
    seed: int | None = None,
    out: Path = Path("figures"),
    again: bool = False,
    captions: bool = False,
    json: bool = False,
) -> int:
    """Figures and tables of the papers: each with its claims, the paper's numbers and ours.

    What was made earlier with the same settings is not made again, so an interrupted run goes on
    where it was. Exit code 1 when a claim does not hold, 2 when a figure could not be made.

    Parameters
    ----------
    figures
        Ids such as `phuong2021:fig1`, a whole paper such as `phuong2021`, or `all`; see
        `tacit list figures`. MNIST is read from the folder in TACIT_DATA.
    quick
        Smaller sizes, seconds instead of minutes; what was shrunk is said.
    set
        NAME=VALUE: another value for a setting; may be repeated.
    seed
        Another seed than the one of the figure.
    out
        The folder that gets a folder for each figure (PNG, SVG, caption, data, claims), a page for
        each paper and a gallery.
    again
        Make it again even if it is there.
    captions
        Write the claims under the panels of the pictures, too.
    json
        One JSON object on standard output.
    """
    from tacit.cli import printing as show
    from tacit.reproduction import reproductions

    changes: dict[str, Any] = {} if seed is None else {"seed": seed}
    for text in set:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"--set {text}: write NAME=VALUE")
        if name != "seed" and name in signature(reproductions.reproduce).parameters:
            raise BadInput(f"--set {text}: '{name}' is no setting of a figure")
        changes[name] = value
    with show.reproduction_progress(quiet=json) as progress:
        made = reproductions.reproduce(
            *figures,
            quick=quick,
            out=out,
            force=again,
            captions=captions,
            progress=progress,
            **changes,
        )
    if json:
        print_json(made.to_dict())
    return 2 if made.left_out else int(not made.all_hold)
