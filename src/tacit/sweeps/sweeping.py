"""The verb `tacit.sweep`."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from tacit.files import path_of
from tacit.interrupts import held_back
from tacit.sweeps.loop import Progress, complete
from tacit.sweeps.plan import Plan, read
from tacit.sweeps.store import Store
from tacit.sweeps.sweep_result import Sweep
from tacit.sweeps.table import Rows, as_csv, rows
from tacit.sweeps.table_file import check_table, write_table
from tacit.sweeps.workers import Workers
from tacit.values import BadInput
from tacit.values.arguments import check_kinds


def sweep(
    plan: str | Path,
    out: str | Path | None = None,
    *,
    workers: int | None = None,
    cluster: str | None = None,
    tls_ca: str | Path | None = None,
    tls_cert: str | Path | None = None,
    tls_key: str | Path | None = None,
    plot: bool = False,
    table: str | Path | None = None,
    retry: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> Sweep:
    """Do all runs of a file: on all cores, a GPU or a cluster.

    Every run has a folder of its own and is done once: what is in `out` already is read. Whatever
    interrupts a sweep, the runs that were finished are kept, and the same call goes on.

    Parameters
    ----------
    plan : str or Path
        A TOML file with data, settings, seeds and what to record; see docs/sweep.md.
    out : str or Path, optional
        The folder that gets the runs and the table; by default `sweeps/` and the name of the plan.
    workers : int, optional
        Processes on this machine; by default one for each core.
    cluster : str, optional
        A dask scheduler, tcp://HOST:PORT or tls://HOST:PORT, or `slurm`; see docs/cluster.md.
    tls_ca, tls_cert, tls_key : str or Path, optional
        For a tls:// cluster: the certificate of those who are trusted, ours, and our key.
    plot : bool, default False
        Draw phase diagrams into the folder.
    table : str or Path, optional
        Write the table there too (.csv or .parquet).
    retry : bool, default False
        Do runs again that failed earlier.
    seed : int, default 0
        Is added to every seed in the file.
    progress : callable, optional
        Called with the number of runs that are there, of how many, and a few words.
    tell : callable, optional
        Called with a line when something else happens; by default that is a warning.

    Returns
    -------
    Sweep

    Examples
    --------
    >>> import tempfile
    >>> text = '''
    ... record = ["margin"]
    ... epochs = 10
    ... [data]
    ... name = "xor"
    ... [setting]
    ... width = [2, 4]
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "small.toml")
    ...     _ = path.write_text(text)
    ...     result = sweep(path, out=Path(folder, "runs"), workers=1)
    >>> [row["width"] for row in result.rows]
    [2, 4]
    """
    if cluster is not None and workers is not None:
        raise BadInput("`workers=N` is for this machine; a cluster has workers of its own")
    if cluster is None and (tls_ca or tls_cert or tls_key):
        raise BadInput("`tls_ca=FILE` and the others are for `cluster='tls://HOST:PORT'`")
    check_kinds(sweep, {"workers": workers, "seed": seed})
    if workers is not None and workers < 1:
        raise BadInput(f"`workers={workers}` must be at least 1")
    copy = None if table is None else Path(table)
    if copy is not None:
        check_table(copy)
    with held_back():  # an interrupt while JAX is imported is a segmentation fault
        import tacit.training  # noqa: F401
    planned = read(path_of(plan), seed)
    folder = Path("sweeps") / planned.name if out is None else path_of(out)
    tell = tell or _warn
    store = Store(folder, planned.text, tell)
    tls = tuple(None if path is None else Path(path) for path in (tls_ca, tls_cert, tls_key))
    with _workers(planned, workers, cluster, tls, tell) as theirs:
        completed = complete(planned, store, theirs, progress or (lambda *_: None), retry)
    lines = rows(planned, completed.results)
    path = store.write("table.csv", as_csv(planned, lines))
    if copy is not None:
        path = copy
        write_table(path, planned, lines)
    return Sweep(
        plan=planned,
        rows=lines,
        done=completed.done,
        failed=completed.failed,
        cached=completed.cached,
        reasons=tuple(completed.reasons),
        folder=folder,
        table=path,
        pictures=tuple(_pictures(planned, lines, store)) if plot else (),
    )


def _warn(line: str) -> None:
    warnings.warn(line, stacklevel=3)


def _pictures(plan: Plan, lines: Rows, store: Store) -> Iterator[Path]:
    from tacit.plot.sweeps import phase_pictures

    for name, content in phase_pictures(lines, plan.axes, plan.plot).items():
        yield store.write(name, content)


@contextlib.contextmanager
def _workers(
    plan: Plan,
    number: int | None,
    cluster: str | None,
    tls: tuple[Path | None, ...],
    tell: Callable[[str], None],
) -> Iterator[Workers]:
    """Whoever does the work; ended at once when it is over, however it ends."""
    workers: Workers
    if cluster is None:
        from tacit.sweeps.local import Cores

        workers = Cores(number)
    else:
        from tacit.sweeps.cluster import connect, tls_files

        workers = connect(cluster, tls_files(*tls), plan.slurm, tell)
    with contextlib.closing(workers):
        yield workers
