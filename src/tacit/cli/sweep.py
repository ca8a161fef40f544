"""`tacit sweep`."""

import shlex
from pathlib import Path
from typing import Any

from tacit.cli._app import command, print_json, warn
from tacit.values import BadInput

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
    from tacit.cli import printing as show
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
        with show.sweep_progress(hidden=json) as progress:

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
        show.swept(result)
    for reason in result.reasons[:REASONS]:
        warn(f"failed: {reason}")
    if result.failed:
        warn(f"{result.failed} of {result.runs} runs failed; --retry does them again")
    return int(result.failed > 0)
