"""`tacit reproduce`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli._app import command, print_json, warn
from tacit.values import BadInput

if TYPE_CHECKING:
    from tacit.reproduction.making import Made
    from tacit.reproduction.reproductions import Update


@command("tacit reproduce phuong2021:fig1 --quick", data=None, takes="[FIGURES...]")
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
    from tacit.plot import check_backend
    from tacit.reproduction import reproductions

    check_backend()
    changes: dict[str, Any] = {} if seed is None else {"seed": seed}
    for text in set:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"--set {text}: write NAME=VALUE")
        if name != "seed" and name in signature(reproductions.reproduce).parameters:
            raise BadInput(f"--set {text}: '{name}' is no setting of a figure")
        changes[name] = value
    try:
        with _progress(quiet=json) as progress:
            made = reproductions.reproduce(
                *figures,
                quick=quick,
                out=out,
                force=again,
                captions=captions,
                progress=progress,
                **changes,
            )
    except KeyboardInterrupt:
        if not out.exists():
            raise
        warn(f"interrupted; what was made is in {out}, and the same command goes on")
        return 130
    if json:
        print_json(made.to_dict())
    return 2 if made.left_out else int(not made.all_hold)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[Update], None]]:
    """Print every figure when it is finished; on a terminal, a bar shows what is being made.

    The bar is taken away before anything is printed: the text goes to standard output and the bar
    to standard error, and one would be written into the other. `quiet` leaves warnings only.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    from tacit.cli.terminal import progress_bar

    doing = TextColumn("{task.description}", markup=False)
    bar = progress_bar(BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), doing, hidden=quiet)
    task = bar.add_task("reading the papers' files", total=None)
    bar.start()  # what a paper imports takes seconds, too

    def progress(update: Update) -> None:
        words = f"{update.id}: {update.words}"
        bar.update(task, completed=update.done, total=update.total, description=words)
        if update.made is None and not update.left_out:
            return bar.start()
        bar.stop()
        if update.left_out:
            warn(f"{update.id} was left out: {update.left_out}")
        elif update.made is not None and not quiet:
            _print_figure(update.made)

    try:
        yield progress
    finally:
        bar.stop()


def _print_figure(made: Made) -> None:
    """One figure: its claims, the paper's numbers and ours, and what it departs from."""
    from rich.markup import escape

    from tacit.cli.terminal import console, print_hanging
    from tacit.reproduction.captions import compared

    screen, about = console(), made.about
    earlier = ", made earlier" if made.cached else ""
    place = f"[dim]{escape(about['place'])}[/]"
    print_hanging(screen, f"[bold]{escape(about['id'])}[/]  ", f"{escape(about['title'])}  {place}")
    width = max(len(verdict) for _, verdict in VERDICTS.values()) if not made.all_hold else 5
    for claim in made.claims:
        colour, verdict = VERDICTS[claim["holds"]]
        words = f"{escape(claim['text'])}: {escape(compared(claim))}"
        print_hanging(screen, f"  [{colour}]{verdict:<{width}}[/]  ", words)
        if not claim["holds"] and claim["finding"]:
            print_hanging(screen, "    why: ", escape(claim["finding"]))
    if about["departures"]:
        screen.print("  departures:")
        for departure in about["departures"]:
            print_hanging(screen, "    ", escape(departure), style="dim")
    screen.print(f"  {escape(str(made.folder))} ({about['seconds']:.1f} s{earlier})", style="dim")


VERDICTS = {True: ("green", "holds"), False: ("red", "does not hold")}
