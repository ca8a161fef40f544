"""What a person sees in the terminal, and the same as JSON."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tacit._json import plain
from tacit._words import count, printable

if TYPE_CHECKING:
    from tacit._types import Dataset
    from tacit.geometry import Geometry
    from tacit.train import Run

MOST_COLUMNS = 3
"""Networks that get a column each; of more, the range is shown."""
SIGNS = {True: "[green]yes[/]", False: "[red]no[/]", None: "[yellow]?[/]"}


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise  # the command line knows what to do


def _console() -> Console:
    return _Console(highlight=False)


def _title(data: Dataset) -> str:
    kind = count(len(data.classes) or len(np.unique(data.y)), "class", "classes")
    test = f", {count(data.test.n, 'test point')}" if data.test else ""
    size = f"{count(data.n, 'point')} in {count(data.d, 'dimension')}"
    return f"[bold]{escape(printable(data.name))}[/]: {size}, {kind}{test}"


def geometry(found: Geometry) -> None:
    """The table of `tacit check`."""
    console = _console()
    console.print(_title(found.data))
    sizes = ", ".join(f"{label}: {size}" for label, size in found.facts["class_sizes"].items())
    console.print(f"class sizes {escape(printable(sizes))}")
    for remark in found.remarks:
        console.print(f"[yellow]note[/] {escape(remark)}")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("property", "holds", "slack", ""):
        table.add_column(heading, justify="right" if heading == "slack" else "left")
    for check in found.properties.values():
        slack = "" if check.slack is None else f"{check.slack:.4g}"
        table.add_row(escape(check.name), SIGNS[check.holds], slack, escape(check.note))
    console.print(table)
    console.print(
        "slack > 0: holds with that much room; < 0: fails by that much; 0: on the edge. "
        "Rows are counted from 0. --json has all digits and the error of every slack."
    )


def geometry_as_json(found: Geometry) -> dict[str, Any]:
    """The contract of `tacit check --json`."""

    def holds(name: str) -> bool | None:
        return found.properties[name].holds if name in found.properties else None

    data = found.data
    margin = found.max_margin
    direction = found.max_margin_direction
    result = {
        "name": data.name,
        "n": data.n,
        "d": data.d,
        "classes": list(data.classes) or None,
        "parameters": data.parameters,
        "linearly_separable": holds("linearly_separable"),
        "max_margin": margin[0] if margin else None,
        "max_margin_upper": margin[1] if margin else None,
        "max_margin_direction": None if direction is None else direction.tolist(),
        "orthogonally_separable": holds("orthogonally_separable"),
        "symmetric": holds("symmetric"),
        "spike_free": holds("spike_free"),
        "alpha": found.alpha,
        "facts": found.facts,
        "remarks": found.remarks,
        "properties": {
            name: {key: value for key, value in asdict(check).items() if key != "name"}
            for name, check in found.properties.items()
        },
    }
    if data.test is not None:
        result["n_test"] = data.test.n
        if direction is not None:
            wrong = (data.test.y * (data.test.X @ direction) <= 0).mean()
            result["max_margin_test_error"] = float(wrong)
    return plain(result)


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
    from tacit.train.run import remarks

    console = _console()
    console.print(_title(found.data))
    s = found.setting
    console.print(
        f"{s.model}, {s.activation}, width {s.width}, init {s.init}, {s.loss} loss, {s.rule} with "
        f"lr {s.lr:g}{' / loss' if s.step == 'scaled' else ''}: "
        f"{found.epoch:,} epochs in {found.seconds:.2f} s"
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
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
    console.print(table)
    if not few:
        console.print(f"over {len(found.members)} networks; --json or --out has each of them")
    for outcome in dict.fromkeys(found.outcomes):
        console.print(
            f"outcome: {outcome} ({found.outcomes.count(outcome)} of {len(found.outcomes)})"
        )
    for remark in remarks(found):
        console.print(f"[yellow]note[/] {remark}")
    if not found.data.binary:
        console.print(f"error by the largest output, training set: {found.train_error}")
    for what, where in (("run", out), ("picture", picture)):
        if where is not None:
            console.print(f"{what}: {escape(str(where))}")


def items(what: str) -> list[dict[str, Any]]:
    """The entries of `tacit list`."""
    if what == "data":
        from tacit.data import GENERATORS

        return [
            {"name": g.name, "parameters": g.parameters, "place": g.place, "summary": g.summary}
            for g in GENERATORS.values()
        ]
    if what == "properties":
        from tacit.geometry import PREDICATES

        return [
            {"name": p.name, "place": p.place, "summary": p.summary} for p in PREDICATES.values()
        ]
    if what == "measures":
        from tacit.measures import MEASURES

        return [
            {"name": name, "summary": (compute.__doc__ or "").partition("\n")[0]}
            for name, compute in MEASURES.items()
        ]
    from tacit.train.initial import descriptions

    return [{"name": form, "summary": text} for form, text in descriptions().items()]


def table_of_items(entries: list[dict[str, Any]]) -> None:
    console = _console()
    for entry in entries:
        place = f"  [dim]{escape(entry['place'])}[/]" if "place" in entry else ""
        console.print(f"[bold]{escape(entry['name'])}[/]{place}")
        console.print(f"    {escape(entry['summary'])}")
        if entry.get("parameters"):
            given = ", ".join(f"{k}={v}" for k, v in entry["parameters"].items())
            console.print(f"    [dim]{escape(given)}[/]")
