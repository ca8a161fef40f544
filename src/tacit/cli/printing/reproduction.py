"""`tacit reproduce` in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from tacit.cli.printing._console import console

if TYPE_CHECKING:
    from tacit.reproduction.making import Reproduction


@contextmanager
def reproduction_progress(many: int, hidden: bool) -> Iterator[Callable[[int, str], None]]:
    """A bar on a terminal; nothing where standard error is a file or a pipe."""
    if hidden or not sys.stderr.isatty():
        yield lambda done, words: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=many)
        yield lambda done, words: bar.update(task, completed=done, description=words)


def reproduced(found: Reproduction) -> None:
    """One artefact: its claims, the paper's numbers and ours, and what it departs from."""
    from tacit.reproduction.making import words

    screen, about = console(), found.about
    earlier = ", made earlier" if found.cached else ""
    place = f"[dim]{escape(about['place'])}[/]"
    screen.print(f"[bold]{escape(about['id'])}[/]  {escape(about['title'])}  {place}")
    for claim in found.claims:
        verdict = "[green]holds[/]" if claim["holds"] else "[red]does not hold[/]"
        screen.print(f"  {verdict}  {escape(claim['text'])}: {escape(words(claim))}")
        if not claim["holds"] and claim["finding"]:
            screen.print(f"    why: {escape(claim['finding'])}")
    if about["departures"]:
        screen.print("  departures:")
        for departure in about["departures"]:
            screen.print(f"    {escape(departure)}", style="dim")
    screen.print(f"  {escape(str(found.folder))} ({about['seconds']:.1f} s{earlier})", style="dim")
