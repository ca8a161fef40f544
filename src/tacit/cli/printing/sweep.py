"""`tacit sweep` in the terminal: its progress and its summary."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from tacit.cli.terminal import console, plain_table
from tacit.messages import printable

if TYPE_CHECKING:
    from tacit.sweeps.sweep_result import Sweep


@contextmanager
def sweep_progress(hidden: bool) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on a terminal; nothing where standard error is a file or a pipe."""
    if hidden or not sys.stderr.isatty():
        yield lambda there, of, words: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("runs"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=None)
        yield lambda there, of, words: bar.update(
            task, completed=there, total=of, description=words
        )


def swept(result: Sweep) -> None:
    """Show how many runs there are, the range of what was recorded, and where everything is."""
    screen = console()
    failed = f", [red]{result.failed:,} failed[/]" if result.failed else ""
    screen.print(
        f"[bold]{escape(printable(result.plan.name))}[/]: {result.runs:,} runs, "
        f"{result.done:,} done now, {result.cached:,} there already{failed}"
    )
    table = plain_table()
    for column in ("recorded", "smallest", "median", "largest"):
        table.add_column(column, justify="left" if column == "recorded" else "right", no_wrap=True)
    for name, numbers in result.ranges.items():
        table.add_row(name, *(f"{number:.5g}" for number in numbers))
    if table.row_count:
        screen.print(table)
    screen.print(f"table: {escape(printable(str(result.table)))}")
    for picture in result.pictures:
        screen.print(f"picture: {escape(printable(str(picture)))}")
