"""`tacit sweep` in the terminal: its progress and its summary."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from tacit.cli.terminal import console, plain_table
from tacit.values.text import printable

if TYPE_CHECKING:
    from tacit.sweeps.loop import Swept
    from tacit.sweeps.plan import Plan


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


def swept(
    plan: Plan, found: Swept, rows: Sequence[Mapping[str, Any]], files: Mapping[str, Sequence[Path]]
) -> None:
    """How many runs, the range of what was recorded, and where everything is."""
    screen = console()
    failed = f", [red]{found.failed:,} failed[/]" if found.failed else ""
    screen.print(
        f"[bold]{escape(printable(plan.name))}[/]: {found.runs:,} runs, {found.done:,} done now, "
        f"{found.cached:,} there already{failed}"
    )
    table = plain_table()
    for column in ("recorded", "smallest", "median", "largest"):
        table.add_column(column, justify="left" if column == "recorded" else "right", no_wrap=True)
    for name in list(rows[0]) if rows else ():
        numbers = [row[name] for row in rows if isinstance(row[name], int | float)]
        if numbers and name not in plan.points[0].values:
            table.add_row(name, *(f"{q:.5g}" for q in np.quantile(numbers, [0, 0.5, 1])))
    if table.row_count:
        screen.print(table)
    for what, paths in files.items():
        for path in paths:
            screen.print(f"{what}: {escape(printable(str(path)))}")
