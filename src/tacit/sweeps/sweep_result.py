"""What a sweep returns: its table, how many runs were done, and where everything is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from tacit.messages import printable
from tacit.sweeps.plan import Plan
from tacit.sweeps.table import Rows, columns
from tacit.values import Result
from tacit.values.optional import optional_import
from tacit.values.result import lines_as_html

SHOWN = 8
"""Columns whose range is shown in a notebook."""


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Result):
    """All runs of a plan; `done` + `failed` + `cached` are as many as the plan has.

    Attributes
    ----------
    plan : Plan
        What was asked for.
    rows : list of dict
        The table: the values of every run by column.
    done, failed, cached : int
        Runs that were done now, that failed (now or earlier), and that were there already.
    reasons : tuple of str
        Why runs failed, each reason once.
    folder : Path
        The folder with a folder for each run.
    table : Path
        The file with the table.
    pictures : tuple of Path
        The phase diagrams, where they were asked for.

    Examples
    --------
    >>> import tacit, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan = Path(folder, "two.toml")
    ...     _ = plan.write_text('record = ["margin"]\\nepochs = 5\\n[data]\\nname = "xor"\\n')
    ...     tacit.sweep(plan, workers=1, out=Path(folder, "runs")).done
    1
    """

    plan: Plan
    rows: Rows
    done: int
    failed: int
    cached: int
    reasons: tuple[str, ...]
    folder: Path
    table: Path
    pictures: tuple[Path, ...] = ()

    @property
    def runs(self) -> int:
        """The number of runs in the plan."""
        return len(self.plan.points)

    @property
    def ranges(self) -> dict[str, tuple[float, float, float]]:
        """Smallest value, median and largest value of every column of numbers that was recorded."""
        ranges = {}
        for name in columns(self.plan):
            numbers = [row[name] for row in self.rows if isinstance(row[name], int | float)]
            if numbers and name not in self.plan.points[0].values:
                low, median, high = np.quantile(numbers, [0, 0.5, 1])
                ranges[name] = float(low), float(median), float(high)
        return ranges

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `tacit sweep --json`."""
        return {
            "runs": self.runs,
            "done": self.done,
            "failed": self.failed,
            "cached": self.cached,
            "table": str(self.table),
            "folder": str(self.folder),
            "pictures": [str(picture) for picture in self.pictures],
        }

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame, a row for every run in the order of the plan."""
        pandas = optional_import("pandas", "to_frame()")
        return pandas.DataFrame(self.rows, columns=list(columns(self.plan)))

    def _to_save(self) -> Sweep:
        """The plan and the table; data read from files stays in these."""
        return replace(self, plan=replace(self.plan, sets={}))

    def plot(self, ax: Any = None, value: str | None = None) -> Any:
        """Draw one recorded column over the axes of the plan.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure when there is none.
        value : str, optional
            The column; by default the first that [plot] names, or that varies.

        Returns
        -------
        matplotlib Axes
        """
        from tacit.plot.sweeps import phase_diagram

        options = dict(self.plan.plot) | ({} if value is None else {"value": value})
        return phase_diagram(self.rows, self.plan.axes, options, ax)

    def _lines(self) -> list[str]:
        lines = [self._counts(), *self._axes(), *self._reasons()]
        ranges = self.ranges
        shown = [f"{name} {low:.4g} to {high:.4g}" for name, (low, _, high) in ranges.items()]
        if shown:
            more = f", and {len(shown) - 3} more" if len(shown) > 3 else ""
            lines.append(f"  recorded: {', '.join(shown[:3])}{more}")
        return [*lines, f"  table: {printable(str(self.table))}"]

    def _counts(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        counts = f"{self.runs:,} runs, {self.done:,} done now, {self.cached:,} there already"
        return f"Sweep {printable(self.plan.name)}: {counts}{failed}"

    def _axes(self) -> list[str]:
        values = {
            name: len({repr(point.values[name]) for point in self.plan.points})
            for name in self.plan.axes
        }
        axes = ", ".join(f"{name} ({number} values)" for name, number in values.items())
        return [f"  over {axes}"] if axes else []

    def _reasons(self) -> list[str]:
        more = f" (and {len(self.reasons) - 1} other reasons)" if len(self.reasons) > 1 else ""
        return [f"  failed: {printable(reason)}{more}" for reason in self.reasons[:1]]

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("recorded", "smallest", "median", "largest"))
        rows = [
            [escape(name), *(f"{number:.5g}" for number in numbers)]
            for name, numbers in list(self.ranges.items())[:SHOWN]
        ]
        body = "".join(f"<tr><td>{'</td><td>'.join(cells)}</td></tr>" for cells in rows)
        table = f"<table><tr>{head}</tr>{body}</table>" if body else ""
        return lines_as_html([self._counts(), *self._axes(), *self._reasons()]) + table
