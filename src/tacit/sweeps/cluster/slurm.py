"""Workers from a SLURM queue, by dask-jobqueue; the scheduler is in our process, behind TLS."""

import asyncio
import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tacit.messages import count, near_miss, printable
from tacit.sweeps.cluster.address import client
from tacit.values import BadInput

GRACE = 30.0
"""Seconds after which jobs without workers are taken to have ended."""


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable()


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


TEXT, NUMBER, TEXTS = "a text", "a whole number of at least 1", "a list of texts"
RIGHT: dict[str, Callable[[Any], bool]] = {TEXT: _text, NUMBER: _number, TEXTS: _texts}
KEYS = {
    "interface": TEXT,
    "cores": NUMBER,
    "memory": TEXT,
    "jobs": NUMBER,
    "walltime": TEXT,
    "queue": TEXT,
    "account": TEXT,
    "scheduler_interface": TEXT,
    "shared_folder": TEXT,
    "logs": TEXT,
    "python": TEXT,
    "extra": TEXTS,
    "prologue": TEXTS,
}


class Jobs:
    """Jobs of a SLURM queue, each with one worker per core; they end when we do."""

    patient = True

    def __init__(self, table: Mapping[str, Any]) -> None:
        options = checked(table)
        self._jobs, self._cores = options["jobs"], options["cores"]
        self.expected = self._jobs * self._cores
        self._secrets = tempfile.TemporaryDirectory(prefix=".tacit-", dir=options["shared_folder"])
        try:
            self._cluster = _cluster(options, _security(Path(self._secrets.name)))
        except BaseException:
            self._secrets.cleanup()
            raise
        self.address: str = self._cluster.scheduler_address
        self._seen: set[str] = set()
        self._gone: float | None = None
        try:
            self._ask()
        except BaseException:
            self.close()
            raise

    def client(self, seconds: float) -> Any:
        return client(self.address, self._cluster.security, seconds)

    def advice(self) -> str:
        return (
            f"waiting for {count(self._jobs, 'SLURM job')} of {count(self._cores, 'core')}, "
            "however long it takes (squeue --me shows the queue, Ctrl-C takes the jobs back)"
        )

    def look(self) -> None:
        """Ask for jobs anew when all have come and gone, as at the end of their time."""
        workers = self._cluster.scheduler_info["workers"].values()
        self._seen |= {str(worker["name"]) for worker in workers}
        if workers or len(self._seen) < self.expected:
            self._gone = None
        elif self._gone is None:
            self._gone = time.monotonic()
        elif time.monotonic() > self._gone + GRACE:
            self._seen.clear()
            self._cluster.scale(jobs=0)
            self._settle()
            self._ask()

    def job_script(self) -> str:
        """What is given to sbatch."""
        return str(self._cluster.job_script())

    def close(self) -> None:
        with self._secrets, contextlib.suppress(AssertionError, OSError):
            self._cluster.close(timeout=30)  # it asserts that even jobs ended that never began

    def _ask(self) -> None:
        """Submit the jobs; BadInput with what sbatch says when it refuses."""
        with tempfile.NamedTemporaryFile("w", suffix=".sh") as script:
            script.write(self.job_script())
            script.flush()
            command = ["sbatch", "--test-only", script.name]
            test = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if test.returncode:
            raise BadInput(f"[slurm]: {printable(test.stderr or 'sbatch refuses the job')}")
        self._cluster.scale(jobs=self._jobs)
        for answer in self._settle():
            if isinstance(answer, Exception):
                words = str(answer).partition("stderr:")[2] or str(answer)
                raise BadInput(f"[slurm]: {printable(words)}")

    def _settle(self) -> list[Any]:
        """Wait until every job is submitted or taken back; what became of each."""
        cluster = self._cluster

        async def settle() -> list[Any]:
            await asyncio.gather(cluster, return_exceptions=True)
            return await asyncio.gather(*cluster.workers.values(), return_exceptions=True)

        return list(cluster.sync(settle))


def checked(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table [slurm] with defaults, if jobs can be made of it."""
    from dask.utils import parse_bytes

    if not table:
        raise BadInput(
            "`cluster='slurm'` needs a table [slurm] in the file, with at least interface, cores "
            "and memory; see docs/cluster.md"
        )
    for key, value in table.items():
        if key not in KEYS:
            raise BadInput(f"[slurm]: unknown key {printable(str(key))!r}{near_miss(key, KEYS)}")
        if not RIGHT[KEYS[key]](value):
            raise BadInput(f"[slurm]: {key} = {printable(repr(value))} must be {KEYS[key]}")
    for key, example in (("cores", "8"), ("memory", '"16GB"')):
        if key not in table:
            raise BadInput(f"[slurm]: {key} is missing, what one job gets, as in {key} = {example}")
    interfaces = [name for _, name in socket.if_nameindex()]
    if "interface" not in table:
        raise BadInput(
            "[slurm]: interface is missing: the scheduler in this process listens on one network "
            f"interface, which the nodes must reach; here there are {', '.join(interfaces)}"
        )
    ours = str(table.get("scheduler_interface", table["interface"]))
    if ours not in interfaces:
        key = "scheduler_interface" if "scheduler_interface" in table else "interface"
        raise BadInput(
            f"[slurm]: {key} = {ours!r} is not of this machine{near_miss(ours, interfaces)}"
        )
    try:
        parse_bytes(table["memory"])
    except ValueError:
        raise BadInput(f'[slurm]: memory = {table["memory"]!r} must be as "16GB"') from None
    folder = Path(os.path.expandvars(table.get("shared_folder", "."))).expanduser().absolute()
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise BadInput(f"[slurm]: shared_folder {folder} must be a folder that can be written")
    if len(str(folder).split()) > 1:
        raise BadInput(f"[slurm]: shared_folder {str(folder)!r} must have no spaces in its name")
    if shutil.which("sbatch") is None:
        raise BadInput(
            "`cluster='slurm'`: there is no sbatch here; run it where jobs are submitted"
        )
    return {"jobs": 1, "python": sys.executable, **table, "shared_folder": str(folder)}


def _security(folder: Path) -> Any:
    """Certificates for this sweep only, in files that only we and our jobs can read."""
    from distributed import Security

    made = Security.temporary().get_tls_config_for_role("worker")
    files = {name: folder / f"{name}.pem" for name in ("ca_file", "cert", "key")}
    for name, path in files.items():
        path.touch(mode=0o600)
        path.write_text(made[name])
    pair = {"cert": str(files["cert"]), "key": str(files["key"])}
    roles = ("client", "scheduler", "worker")
    named = {f"tls_{role}_{name}": path for role in roles for name, path in pair.items()}
    return Security(require_encryption=True, tls_ca_file=str(files["ca_file"]), **named)


def _cluster(options: Mapping[str, Any], security: Any) -> Any:
    """The scheduler, bound to one interface."""
    from dask_jobqueue import SLURMCluster

    loopback = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    ours = options.get("scheduler_interface", options["interface"])
    try:
        return SLURMCluster(
            queue=options.get("queue"),
            account=options.get("account"),
            walltime=options.get("walltime"),
            cores=options["cores"],
            processes=options["cores"],
            memory=options["memory"],
            python=shlex.quote(options["python"]),
            job_name="tacit",
            job_extra_directives=options.get("extra", []),
            job_script_prologue=options.get("prologue", []),
            log_directory=options.get("logs"),
            worker_extra_args=["--no-dashboard", "--dashboard-address", "127.0.0.1:0"],
            interface=options["interface"],
            scheduler_options={"interface": ours, **loopback},
            protocol="tls://",
            security=security,
            silence_logs="critical",
        )
    except (ValueError, RuntimeError, OSError) as error:
        raise BadInput(f"[slurm]: {printable(str(error))}") from None
