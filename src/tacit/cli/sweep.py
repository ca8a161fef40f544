"""`tacit sweep`."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli._app import app, print_json, warn
from tacit.cli._signals import interruptible
from tacit.values import BadInput

if TYPE_CHECKING:
    from tacit.sweeps.plan import Plan
    from tacit.sweeps.workers import Workers

REASONS = 3
"""Reasons of failed runs that are shown."""
NEEDED = ("tacit._jax", "tacit.measures", "tacit.training.rules", "tacit.models.initialisations")
"""What reading a plan imports."""


@app.command
@interruptible()
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
        The folder that gets the runs and the table; `sweeps/` and the name of FILE unless told
        otherwise.
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
        Processes on this machine; one for each core unless told otherwise.
    seed
        Is added to every seed in FILE.
    json
        One JSON object on standard output.
    """
    if cluster is not None and workers is not None:
        raise BadInput("--workers is for this machine; with --cluster its own workers are used")
    if cluster is None and (tls_ca or tls_cert or tls_key):
        raise BadInput("--tls-ca, --tls-cert and --tls-key are for --cluster tls://HOST:PORT")
    if workers is not None and workers < 1:
        raise BadInput(f"--workers {workers} must be at least 1")
    from tacit.sweeps.local import held_back

    with held_back():  # an interrupt while JAX is imported is a segmentation fault
        for name in NEEDED:
            import_module(name)
        from tacit.cli import printing as show
        from tacit.sweeps.loop import sweep as run
        from tacit.sweeps.plan import read
        from tacit.sweeps.store import Store
        from tacit.sweeps.table import as_csv, rows
        from tacit.sweeps.table_file import check_table, write_table

    if table is not None:
        check_table(table)
    plan = read(file, seed)
    folder = Path("sweeps") / plan.name if out is None else out
    store = Store(folder, file.read_text("utf-8"), warn)
    more: dict[str, Any] = {
        "--out": out,
        "--cluster": cluster,
        "--tls-ca": tls_ca,
        "--tls-cert": tls_cert,
        "--tls-key": tls_key,
        "--table": table,
        "--workers": workers,
        "--seed": seed or None,
    }
    words = [str(word) for pair in more.items() if pair[1] is not None for word in pair]
    words += ["--plot"] * plot + ["--retry"] * retry + ["--json"] * json
    kept = ""

    def said() -> str:
        command = shlex.join(["tacit", "sweep", str(file), *words])
        return f"; {kept or 'finished runs are'} kept in {folder}, go on with: {command}"

    try:
        with show.sweep_progress(hidden=json) as progress:

            def tell(there: int, of: int, words: str) -> None:
                nonlocal kept
                kept = f"{there} of {of} runs are"
                progress(there, of, words)

            with _workers(plan, cluster, (tls_ca, tls_cert, tls_key), workers) as theirs:
                found = run(plan, store, theirs, tell, retry)
            lines = rows(plan, found.results)
            path = store.write("table.csv", as_csv(plan, lines))
            if table is not None:
                path = table
                write_table(path, plan, lines)
            pictures = []
            if plot:
                from tacit.plot.sweeps import draw

                for name, content in draw(lines, plan.axes, plan.plot).items():
                    pictures.append(store.write(name, content))
    except KeyboardInterrupt:
        warn(f"interrupted{said()}")
        return 130
    except BadInput as error:
        if not kept:
            raise
        raise BadInput(f"{error}{said()}") from None
    if json:
        print_json(
            {
                "runs": found.runs,
                "done": found.done,
                "failed": found.failed,
                "cached": found.cached,
                "table": str(path),
                "folder": str(folder),
                "pictures": [str(picture) for picture in pictures],
            }
        )
    else:
        show.swept(plan, found, lines, {"table": [path], "picture": pictures})
    for reason in found.reasons[:REASONS]:
        warn(f"failed: {reason}")
    if found.failed:
        warn(f"{found.failed} of {found.runs} runs failed; --retry does them again")
    return int(found.failed > 0)


@contextlib.contextmanager
def _workers(
    plan: Plan, cluster: str | None, tls: tuple[Path | None, ...], many: int | None
) -> Iterator[Workers]:
    """Whoever does the work; ended at once when it is over, however it ends."""
    workers: Any
    if cluster is None:
        from tacit.sweeps.local import Cores

        workers = Cores(many)
    else:
        from tacit.sweeps.cluster.dask_cluster import Tls, connect

        ca, cert, key = tls
        if ca and cert and key:
            files = Tls(ca, cert, key)
        elif ca or cert or key:
            raise BadInput("a tls:// cluster needs all of --tls-ca, --tls-cert and --tls-key")
        else:
            files = None
        workers = connect(cluster, files, plan.slurm, warn)
    try:
        yield workers
    finally:
        workers.close()
