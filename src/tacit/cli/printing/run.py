"""`tacit train` in the terminal: its progress and its summary."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.markup import escape

from tacit.cli.printing._console import console, plain_table, title
from tacit.values.text import printable

if TYPE_CHECKING:
    from tacit.training import Run

MOST_COLUMNS = 3
"""Networks that get a column each; of more, the range is shown."""


@contextmanager
def progress(epochs: int, hidden: bool) -> Iterator[Callable[[int, float], None] | None]:
    """A bar on a terminal; nothing where standard error is a file or a pipe."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("training"),
        BarColumn(),
        TextColumn(
            "epoch {task.completed:,.0f} of {task.total:,.0f}, log₁₀ loss {task.fields[at]}"
        ),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=epochs, at="?")
        yield lambda epoch, log_loss: bar.update(
            task, completed=epoch, at=f"{log_loss / math.log(10):.2f}"
        )


def run(found: Run, out: Path | None, picture: Path | None) -> None:
    """The summary of `tacit train`."""
    from tacit.training.runs import remarks

    screen = console()
    screen.print(title(found.data))
    s = found.setting
    screen.print(
        f"{s.model}, {s.activation}, width {s.width}, init {s.init}, {s.loss} loss, {s.rule} with "
        f"lr {s.lr:g}{' / loss' if s.step == 'scaled' else ''}: "
        f"{found.epoch:,} epochs in {found.seconds:.2f} s"
    )
    table = plain_table()
    table.add_column("measure at the end", no_wrap=True)
    few = len(found.members) <= MOST_COLUMNS
    columns = ["smallest", "median", "largest"]
    if few:
        columns = [
            f"seed {seed}" if k is None else f"{found.data.classes[k]} (seed {seed})"
            for seed, k in found.members
        ]
    for column in columns:
        table.add_column(escape(printable(column)), justify="right")
    for name, values in found.measures.items():
        if values.ndim == 2:
            last = values[-1]
            if not few and not np.isnan(last).all():
                last = np.nanquantile(last, [0, 0.5, 1])
            cells = ["–" if np.isnan(value) else f"{value:.5g}" for value in last]
            table.add_row(name, *cells[: len(columns)])
    screen.print(table)
    if not few:
        screen.print(f"over {len(found.members)} networks; --json or --out has each of them")
    for outcome in dict.fromkeys(found.outcomes):
        screen.print(
            f"outcome: {outcome} ({found.outcomes.count(outcome)} of {len(found.outcomes)})"
        )
    for remark in remarks(found):
        screen.print(f"[yellow]note[/] {remark}")
    if not found.data.binary:
        screen.print(f"error by the largest output, training set: {found.train_error}")
    for what, where in (("run", out), ("picture", picture)):
        if where is not None:
            screen.print(f"{what}: {escape(str(where))}")
