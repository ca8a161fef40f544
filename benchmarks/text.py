"""Tables that read well in a terminal and in Markdown, and what machine they were made on."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import tacit

PACKAGES = (
    "numpy scipy jax jaxlib clarabel daqp scikit-learn torch cvxpy pyscipopt pyscnn matplotlib"
).split()


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The first column is text, the others are numbers."""
    sizes = [max(len(row[c]) for row in (head, *rows)) for c in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(size) if c else cell.ljust(size)
            for c, (cell, size) in enumerate(zip(cells, sizes, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    rule = [("-" * (size - 1) + ":") if c else "-" * size for c, size in enumerate(sizes)]
    return "\n".join([line(head), line(rule), *map(line, rows)])


def seconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f} s" if value >= 1 else f"{1e3 * value:.3g} ms"


def times(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}×" if value < 10 else f"{value:,.0f}×"


def machine() -> str:
    """Processor, cores, systems and versions, as a list."""
    versions = [f"tacit {tacit.__version__}"]
    for name in PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} not installed")
    return "\n".join(
        [
            f"- {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            f"- {processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
            f"- Python {platform.python_version()}; {', '.join(versions)}",
        ]
    )


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or "unknown processor"
