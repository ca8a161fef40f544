"""`tacit limit` in the terminal and as JSON."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from tacit.cli.terminal import console, plain_table, title
from tacit.values.text import count, printable

if TYPE_CHECKING:
    from tacit.flow import Group, Limit
    from tacit.values import Dataset

MOST_GROUPS = 12
"""Groups shown, the largest first, and coordinates of each."""
MOST_COORDINATES = 6
EVENTS = {"cross": "crossing", "die": "death"}
"""Words for kinds of events, where the kind itself is no noun."""


@contextmanager
def limit_progress(hidden: bool) -> Iterator[Callable[[float, float], None] | None]:
    """A bar on a terminal; nothing where standard error is a file or a pipe."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("following the flow"),
        BarColumn(),
        TextColumn("log₁₀ loss {task.fields[at]} of {task.fields[goal]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=1.0, at="?", goal="?")

        def update(now: float, goal: float) -> None:
            bar.update(task, completed=share(now, goal), at=f"{now:.4g}", goal=f"{goal:.4g}")

        yield update


def share(now: float, goal: float) -> float:
    """How far the loss is, from 0 to 1; log(1/L) grows exponentially, so its log is what counts."""
    return min(max(math.log1p(max(-now, 0.0)) / math.log1p(-goal), 0.0), 1.0)


def limit(found: Sequence[Limit], data: Dataset, out: Path | None, picture: Path | None) -> None:
    """The summary of `tacit limit`."""
    screen = console()
    screen.print(title(data))
    s = found[0].setting
    layers = "both layers" if s.train != "first" else f"first layer, output ±{s.output_weight:g}"
    screen.print(
        f"gradient flow of {s.activation}, width {s.width}, {layers}, init "
        f"{escape(printable(str(s.initialisation)))}, {s.loss} loss, seed {found[0].seed}"
    )
    for k, one in enumerate(found):
        if not data.binary:
            screen.print(f"\n[bold]{escape(printable(data.classes[k]))} against the rest[/]")
        _one(screen, one)
    screen.print(f"{sum(one.seconds for one in found):.2f} s")
    for what, where in (("run", out), ("picture", picture)):
        if where is not None:
            screen.print(f"{what}: {escape(str(where))}")


def _one(screen: Console, found: Limit) -> None:
    colour = "green" if found.outcome == "converged" else "yellow"
    reason = f": {escape(printable(found.reason))}" if found.reason else ""
    screen.print(f"[bold {colour}]{found.outcome}[/]{reason}")
    _path(screen, found)
    if found.kkt is None or found.certificate is None:
        return
    _groups(screen, found.groups, found.data.n)
    kkt, best = found.kkt, found.certificate
    power = "‖θ‖²" if found.setting.train != "first" else "‖W‖"
    screen.print(
        f"margin q_min/{power} {kkt.margin:.10g}, "
        f"the widest of all networks is in [{best.lower:.10g}, {best.upper:.10g}]"
    )
    screen.print(best.verdict)
    screen.print(
        f"KKT residuals: stationarity {kkt.stationarity:.2g}, complementarity "
        f"{kkt.complementarity:.2g}, feasibility {kkt.feasibility:.2g}"
    )
    if found.data.test is not None:
        from tacit.flow.summary import test_error

        screen.print(f"error of the limit on the test set: {test_error(found):.4g}")


def _path(screen: Console, found: Limit) -> None:
    from tacit.flow.summary import early_numbers, events

    path = found.path
    kinds = ", ".join(count(n, EVENTS.get(what, what)) for what, n in events(found).items())
    balance = f"; ‖w‖² − a² kept to {path.drift:.1g}" if path.last.state.both else ""
    log_t = path.last.log_t / math.log(10)
    when = f"log₁₀ t = {log_t:.6g}" if math.isfinite(log_t) else "t = 0"
    screen.print(
        f"followed to log₁₀ loss {found.log10_loss:.6g} (sum over the points) at {when}, "
        f"{count(path.steps, 'step')}; {kinds or 'no events'}{balance}"
    )
    phase = early_numbers(found)
    if phase is not None and phase["s"] > 0 and phase["median_cosine"] is not None:
        screen.print(
            f"early phase until log₁₀ t = {phase['log10_time']:.3g}, then the median cosine of a "
            f"neuron to its gradient at f = 0 is {phase['median_cosine']:.4f}; "
            f"{phase['dead_at_end']} of {count(found.setting.width, 'neuron')} dead at the end"
        )


def _groups(screen: Console, groups: Sequence[Group], n: int) -> None:
    from tacit.flow.summary import ROUNDING

    table = plain_table()
    for heading in ("sign", "neurons", "weight", "active on", "at the wall of", "direction"):
        table.add_column(heading, justify="left" if heading == "direction" else "right")
    order = sorted(groups, key=lambda group: -group.weight)
    for group in order[:MOST_GROUPS]:
        few = np.where(np.abs(group.direction) < ROUNDING, 0.0, group.direction)[:MOST_COORDINATES]
        shown = ", ".join(f"{value:.5g}" for value in few)
        more = ", …" if len(group.direction) > MOST_COORDINATES else ""
        table.add_row(
            "+" if group.sign > 0 else "−",
            str(group.size),
            f"{group.weight:.6g}",
            f"{int((group.pattern > 0).sum())} of {n}",
            str(int((group.pattern == 0).sum())),
            f"({shown}{more})",
        )
    screen.print(table)
    if len(order) > MOST_GROUPS:
        screen.print(f"and {len(order) - MOST_GROUPS} more groups; --json has all of them")


def limit_as_json(found: Sequence[Limit], data: Dataset) -> dict[str, Any]:
    """The contract of `tacit limit --json`."""
    from tacit.flow.summary import summary

    return summary(found, data)
