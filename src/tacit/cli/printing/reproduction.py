"""`tacit reproduce` in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from tacit.cli._app import warn
from tacit.cli.terminal import console

if TYPE_CHECKING:
    from tacit.reproduction.making import Made
    from tacit.reproduction.reproductions import Update


@contextmanager
def reproduction_progress(quiet: bool) -> Iterator[Callable[[Update], None]]:
    """Print every figure when it is finished; on a terminal, a bar shows what is being made.

    The bar is taken away before anything is printed: the text goes to standard output and the bar
    to standard error, and one would be written into the other. `quiet` leaves warnings only.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        transient=True,
        disable=quiet or not sys.stderr.isatty(),
    )
    task = bar.add_task("")

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
    from tacit.reproduction.captions import compared

    screen, about = console(), made.about
    earlier = ", made earlier" if made.cached else ""
    place = f"[dim]{escape(about['place'])}[/]"
    screen.print(f"[bold]{escape(about['id'])}[/]  {escape(about['title'])}  {place}")
    for claim in made.claims:
        verdict = "[green]holds[/]" if claim["holds"] else "[red]does not hold[/]"
        screen.print(f"  {verdict}  {escape(claim['text'])}: {escape(compared(claim))}")
        if not claim["holds"] and claim["finding"]:
            screen.print(f"    why: {escape(claim['finding'])}")
    if about["departures"]:
        screen.print("  departures:")
        for departure in about["departures"]:
            screen.print(f"    {escape(departure)}", style="dim")
    screen.print(f"  {escape(str(made.folder))} ({about['seconds']:.1f} s{earlier})", style="dim")
