"""`tacit reproduce`."""

from __future__ import annotations

from pathlib import Path

from tacit.cli._app import app, print_json, warn
from tacit.values import BadInput


@app.command
def reproduce(
    *figures: str,
    quick: bool = False,
    set: tuple[str, ...] = (),
    seed: int | None = None,
    out: Path = Path("figures"),
    again: bool = False,
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
        The folder that gets a folder for each figure (PNG, SVG, data, claims), a page for each
        paper and a gallery.
    again
        Make it again even if it is there.
    json
        One JSON object on standard output.
    """
    if not figures:
        raise BadInput(
            "name a figure such as phuong2021:fig1, a paper, or all; see `tacit list figures`"
        )
    from tacit.cli import printing as show
    from tacit.reproduction import choose
    from tacit.reproduction.making import reproduce as make
    from tacit.reproduction.making import values_of
    from tacit.reproduction.pages import write_pages

    chosen = choose(figures)
    given = [*set, *([] if seed is None else [f"seed={seed}"])]
    settings = [one.choose(quick, **values_of(one, given)) for one in chosen]
    found, missing = [], {}
    try:
        with show.reproduction_progress(len(chosen), hidden=json) as progress:
            for done, (one, values) in enumerate(zip(chosen, settings, strict=True)):

                def tell(words: str, done: int = done, id: str = one.id) -> None:
                    progress(done, f"{id}: {words}")

                tell("")
                try:
                    found.append(make(one, values, out, tell, again))
                except BadInput as error:  # a data set that is not here, say
                    if len(chosen) == 1:
                        raise
                    missing[one.id] = str(error)
                    warn(f"{one.id} was left out: {error}")
                    continue
                if not json:
                    show.reproduced(found[-1])
    finally:
        if found:
            write_pages(out)
    if json:
        print_json(
            {
                "claims": [claim for one in found for claim in one.claims],
                "figures": [{**one.about, "folder": str(one.folder)} for one in found],
                "left_out": missing,
            }
        )
    return 2 if missing else int(not all(one.all_hold for one in found))
