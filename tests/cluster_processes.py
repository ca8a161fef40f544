"""A dask cluster of real processes on loopback, which tests may kill."""

from __future__ import annotations

import contextlib
import datetime
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DASK = [sys.executable, "-m", "dask"]
LOOPBACK = ["--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
POISON = 666
"""A run with this seed ends its worker."""

WRAPPED = """
import os, time
import tacit.sweeps.computation as module

real = getattr(module.compute, "real", module.compute)  # a preload may be loaded twice

def compute(pack, sets, threads=1):
    with open({log!r}, "a") as file:
        file.write("".join(run.key + "\\n" for run in pack))
    if any(run.seed == {poison} for run in pack):
        os._exit(1)
    time.sleep({pause} * len(pack))
    return real(pack, sets, threads=threads)

compute.real = real
module.compute = compute
"""


def until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for something that must come to be."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


class Machines:
    """One scheduler, and workers that are started again whenever they end."""

    def __init__(self, folder: Path, tls: list[str] | None, env: dict[str, str] | None) -> None:
        self.folder, self.tls, self.env = folder, tls or [], env
        self.scheme = "tls" if tls else "tcp"
        self.log, self.preload = folder / "executed", folder / "wrapped.py"
        wrapped = WRAPPED.format(log=str(self.log), poison=POISON, pause=0.03)
        self.preload.write_text(wrapped)
        self.port = 0
        self.groups: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start_scheduler()

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        """At the same port as before."""
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        command = [*DASK, "scheduler", *LOOPBACK, "--port", str(self.port), *self.tls]
        command += ["--protocol", self.scheme, "--scheduler-file", str(file)]
        self.scheduler = self.run(command, "scheduler", self.env)
        until(lambda: file.exists() and f'"{self.scheme}://' in file.read_text())
        self.port = int(file.read_text().split(f"{self.scheme}://127.0.0.1:")[1].split('"')[0])
        return self.scheduler

    def start_workers(
        self, number: int, preload: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """As the documentation says: in a loop, for they end with their scheduler."""
        worker = [*DASK, "worker", self.address, *LOOPBACK, "--nthreads", "1"]
        worker += ["--nworkers", str(number), "--preload", str(preload or self.preload)]
        worker += ["--local-directory", str(self.folder), *self.tls]
        loop = ["bash", "-c", 'while true; do "$@"; sleep 0.2; done', "workers", *worker]
        return self.run(loop, f"workers{len(self.groups)}", env)

    def run(
        self, command: list[str], name: str, env: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        variables = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **(env or {})}
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, env=variables, start_new_session=True
            )
        self.groups.append(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """It and all that it has started."""
        tree = [psutil.Process(process.pid)]
        tree += tree[0].children(recursive=True)
        for part in tree:
            with contextlib.suppress(psutil.NoSuchProcess):
                part.send_signal(signal.SIGKILL)
        process.wait()
        self.groups.remove(process)

    def executed(self) -> list[str]:
        """The keys of all runs that any worker has begun, and forget them."""
        keys = self.log.read_text().split() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return keys

    def listening(self) -> list[str]:
        """The addresses on which any of these processes listens."""
        seen = []
        for process in self.groups:
            tree = psutil.Process(process.pid)
            for part in [tree, *tree.children(recursive=True)]:
                seen += [c.laddr.ip for c in part.net_connections() if c.status == "LISTEN"]
        return seen


@contextlib.contextmanager
def machines(
    folder: Path, tls: list[str] | None = None, env: dict[str, str] | None = None
) -> Iterator[Machines]:
    """Gone at the end, whatever happens; `env` is the scheduler's."""
    folder.mkdir(parents=True, exist_ok=True)
    there = Machines(folder, tls, env)
    try:
        yield there
    finally:
        for process in list(there.groups):
            there.kill(process)


def certificates(folder: Path) -> list[str]:
    """A fresh authority and what it has signed: `ca.pem`, `cert.pem`, `key.pem`; dask's options."""
    folder.mkdir(parents=True, exist_ok=True)
    now = datetime.datetime.now(datetime.UTC)
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("authority", "node")
    ]
    for i, name in enumerate(("ca", "cert")):
        builder = x509.CertificateBuilder(names[0], names[i], keys[i].public_key())
        builder = builder.serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(now - datetime.timedelta(days=1))
        builder = builder.not_valid_after(now + datetime.timedelta(days=1))
        constraints = x509.BasicConstraints(ca=i == 0, path_length=None)
        signed = builder.add_extension(constraints, critical=True).sign(keys[0], hashes.SHA256())
        pem = signed.public_bytes(serialization.Encoding.PEM)
        (folder / f"{name}.pem").write_bytes(pem)
    how = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(keys[1].private_bytes(serialization.Encoding.PEM, *how))
    files = [str(folder / f"{name}.pem") for name in ("ca", "cert", "key")]
    return ["--tls-ca-file", files[0], "--tls-cert", files[1], "--tls-key", files[2]]
