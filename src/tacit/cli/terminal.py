"""What all tables share."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tacit.values.text import count, printable

if TYPE_CHECKING:
    from tacit.values import Dataset


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise  # the command line knows what to do


def console() -> Console:
    """As wide as the terminal; lines are not broken in files and pipes."""
    return _Console(highlight=False, width=None if sys.stdout.isatty() else 1000)


def plain_table() -> Table:
    """Without lines."""
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))


def title(data: Dataset) -> str:
    kind = count(len(data.classes) or len(np.unique(data.y)), "class", "classes")
    test = f", {count(data.test.n, 'test point')}" if data.test else ""
    size = f"{count(data.n, 'point')} in {count(data.d, 'dimension')}"
    return f"[bold]{escape(printable(data.name))}[/]: {size}, {kind}{test}"
