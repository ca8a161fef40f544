"""`tacit sweep`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli._app import command, print_json, warn
from tacit.messages import printable
from tacit.values import BadInput

if TYPE_CHECKING:
    from tacit.sweeps.sweep_result import Sweep

REASONS = 3
"""Reasons of failed runs that are shown."""


@command("tacit sweep grid.toml --plot", data=None)
def sweep(
    file: Path,
    /,
    *,
    out: Path | None = None,
    cluster: str | None = None,
    tls_ca: Path | None = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    plot: bool = False,
    table: Path | None = None,
    retry: bool = False,
    workers: int | None = None,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Many runs from one file: on all cores, a GPU or a cluster; started again, it goes on.

    Every run has a folder of its own and is done once. Exit code 1 when runs failed.

    Parameters
    ----------
    file
        A TOML file with data, settings, seeds and what to record; see docs/sweep.md.
    out
        The folder that gets the runs and the table; by default `sweeps/` and the name of FILE.
    cluster
        A dask scheduler, tcp://HOST:PORT or tls://HOST:PORT, or `slurm`; see docs/cluster.md.
    tls_ca
        The certificate of those who are trusted, for a tls:// cluster.
    tls_cert
        Our certificate.
    tls_key
        Our key.
    plot
        Draw phase diagrams into the folder.
    table
        Write the table there too (.csv or .parquet).
    retry
        Do runs again that failed earlier.
    workers
        Processes on this machine; by default one for each core.
    seed
        Is added to every seed in FILE.
    json
        One JSON object on standard output.
    """
    from tacit.sweeps.sweeping import sweep

    if plot:
        from tacit.plot import check_backend

        check_backend()
    options: dict[str, Any] = {
        "out": out,
        "cluster": cluster,
        "tls_ca": tls_ca,
        "tls_cert": tls_cert,
        "tls_key": tls_key,
        "table": table,
        "workers": workers,
        "seed": seed,
    }
    given = {name: value for name, value in options.items() if value is not None and value != 0}
    words = [w for name in given for w in (f"--{name.replace('_', '-')}", str(given[name]))]
    words += ["--plot"] * plot + ["--retry"] * retry + ["--json"] * json
    folder = Path("sweeps") / file.stem if out is None else out
    kept = ""

    def said() -> str:
        command = shlex.join(["tacit", "sweep", str(file), *words])
        return f"; {kept or 'finished runs are'} kept in {folder}, go on with: {command}"

    try:
        with _progress(hidden=json) as progress:

            def tell(there: int, of: int, words: str) -> None:
                nonlocal kept
                kept = f"{there} of {of} runs are"
                progress(there, of, words)

            result = sweep(file, progress=tell, tell=warn, plot=plot, retry=retry, **options)
    except KeyboardInterrupt:
        if not folder.exists():  # nothing has begun
            raise
        warn(f"interrupted{said()}")
        return 130
    except BadInput as error:
        raise BadInput(f"{error}{said() if kept else ''}") from None
    if json:
        print_json(result.to_dict())
    else:
        _print_sweep(result)
    for reason in result.reasons[:REASONS]:
        warn(f"failed: {reason}")
    if result.failed:
        warn(f"{result.failed} of {result.runs} runs failed; --retry does them again")
    return int(result.failed > 0)


@contextmanager
def _progress(hidden: bool) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on a terminal, with a few words on what is being done."""
    from rich import progress as rich

    from tacit.cli.terminal import progress_bar

    times = rich.TimeElapsedColumn(), "left", rich.TimeRemainingColumn()
    doing = rich.TextColumn("{task.description}", markup=False)
    columns = "runs", rich.BarColumn(), rich.MofNCompleteColumn(), *times, doing
    with progress_bar(*columns, hidden=hidden) as bar:
        task = bar.add_task("", total=None)
        yield lambda there, of, words: bar.update(
            task, completed=there, total=of, description=words
        )


def _print_sweep(result: Sweep) -> None:
    """Show how many runs there are, the range of what was recorded, and where everything is."""
    from rich.markup import escape

    from tacit.cli.terminal import console, plain_table

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
