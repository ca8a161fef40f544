"""What all tables share."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tacit.messages import count, harmless, printable

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

    from tacit.values import Dataset


class _Console(Console):
    def render_str(self, text: str, **options: Any) -> Text:
        """Render as rich does, but nothing that comes from data can steer the terminal."""
        return super().render_str(harmless(text), **options)

    def on_broken_pipe(self) -> None:
        raise  # the command line knows what to do


def console() -> Console:
    """A console as wide as the terminal; lines are not broken in files and pipes."""
    return _Console(highlight=False, width=None if sys.stdout.isatty() else 1000)


def progress_bar(*columns: str | ProgressColumn, hidden: bool) -> Progress:
    """A bar on standard error that goes away in the end; silent in files and pipes."""
    from rich.progress import Progress

    silent = hidden or not sys.stderr.isatty()
    return Progress(*columns, console=Console(stderr=True), transient=True, disable=silent)


def spinner(words: str, hidden: bool) -> AbstractContextManager[object]:
    """These words while something is done of which no share is known; they go away in the end."""
    silent = hidden or not sys.stderr.isatty()
    return nullcontext() if silent else Console(stderr=True).status(words)


def plain_table() -> Table:
    """A table without ruled lines."""
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))


def title(data: Dataset) -> str:
    """The line that every summary begins with: name, size, classes and test points."""
    kind = count(len(data.classes) or len(np.unique(data.y)), "class", "classes")
    if data.binary and "labels" in data.parameters:
        kind += f" ({escape(printable(f'{data.names[1]} is +1, {data.names[-1]} is −1'))})"
    test = f", {count(data.test.n, 'test point')}" if data.test else ""
    size = f"{count(data.n, 'point')} in {count(data.d, 'dimension')}"
    return f"[bold]{escape(printable(data.name))}[/]: {size}, {kind}{test}"


def print_hanging(screen: Console, head: str, text: str, style: str = "") -> None:
    """Print a head and a text beside it, both in markup; later lines begin where the text does."""
    first = screen.render_str(head)
    lines = screen.render_str(text).wrap(screen, max(screen.width - first.cell_len, 20))
    for k, line in enumerate(lines):
        screen.print(Text.assemble(first if k == 0 else " " * first.cell_len, line), style=style)
