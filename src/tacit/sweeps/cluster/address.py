"""Where a cluster is, and the files that show who we are: checked before anything is started."""

import asyncio
import contextlib
import ssl
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from tacit.files import open_regular
from tacit.messages import printable
from tacit.values import BadInput

RIGHT = "tcp://HOST:PORT, tls://HOST:PORT or slurm"
MOST_BYTES = 1 << 20
"""The size of a certificate or key, at most."""


@dataclass(frozen=True)
class Tls:
    """PEM files: whom we trust, and what others trust us by."""

    ca: Path
    cert: Path
    key: Path


def tls_files(ca: Path | None, cert: Path | None, key: Path | None) -> Tls | None:
    """All three files, or none."""
    if ca and cert and key:
        return Tls(ca, cert, key)
    if ca or cert or key:
        raise BadInput(
            "a tls:// cluster needs all of `tls_ca=FILE`, `tls_cert=FILE` and `tls_key=FILE`"
        )
    return None


class Place(Protocol):
    """Where a scheduler is."""

    address: str
    patient: bool
    """Workers may come hours later."""
    expected: int
    """Workers that are on their way, as far as is known."""

    def client(self, seconds: float) -> Any:
        """A connected `distributed.Client`; OSError when there is none in that time."""

    def look(self) -> None:
        """Called now and then."""

    def advice(self) -> str:
        """What to do, or what is done, when there is no worker."""

    def close(self) -> None:
        """Give back what was taken."""


@dataclass
class Scheduler:
    """A scheduler that someone else started."""

    address: str
    security: Any = None
    patient = False
    expected = 0

    def client(self, seconds: float) -> Any:
        return client(self.address, self.security, seconds)

    def look(self) -> None:
        pass

    def advice(self) -> str:
        tls = " --tls-ca-file F --tls-cert F --tls-key F" if self.security else ""
        host = urlsplit(self.address).hostname or ""
        near = host in ("localhost", "::1") or host.startswith("127.")
        where = f"--host {host}" if near else "--interface NAME"  # else it listens on all of them
        return (
            f"start some, for example: dask worker {self.address}{tls} {where} "
            "--nthreads 1 --nworkers 4 --no-dashboard --dashboard-address 127.0.0.1:0"
        )

    def close(self) -> None:
        pass


def scheduler(address: str, tls: Tls | None) -> Scheduler:
    """What `--cluster` and the TLS files say, if it can be right."""
    shown = f"`cluster={printable(address)!r}`"
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise BadInput(f"{shown} has no valid host and port; it must be {RIGHT}") from None
    if parts.scheme not in ("tcp", "tls"):
        raise BadInput(f"{shown} is no address of a cluster; it must be {RIGHT}")
    if not parts.hostname or not port or address != f"{parts.scheme}://{parts.netloc}":
        raise BadInput(f"{shown} must be a host and a port, as in {parts.scheme}://HOST:8786")
    if parts.scheme == "tls" and tls is None:
        raise BadInput(f"{shown} needs `tls_ca=FILE`, `tls_cert=FILE` and `tls_key=FILE`")
    if parts.scheme == "tcp" and tls is not None:
        raise BadInput(f"{shown} is not encrypted; with `tls_ca=FILE` it must be tls://HOST:PORT")
    return Scheduler(address, _security(tls) if tls else None)


def _security(tls: Tls) -> Any:
    """The files as dask wants them; read here first, so that a bad one is named."""
    from distributed import Security

    for path in (tls.ca, tls.cert, tls.key):
        with open_regular(path, MOST_BYTES) as file:
            if b"-----BEGIN " not in file.read():
                raise BadInput(f"{path} is no PEM file: it has no line '-----BEGIN …'")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(tls.ca)
    except ssl.SSLError:
        raise BadInput(f"`tls_ca={str(tls.ca)!r}` holds no certificate") from None
    try:
        context.load_cert_chain(tls.cert, tls.key, password=lambda: b"")
    except ssl.SSLError:
        raise BadInput(
            f"`tls_cert={str(tls.cert)!r}` and `tls_key={str(tls.key)!r}` must be a certificate "
            "and the key that belongs to it, without a password"
        ) from None
    return Security(
        tls_ca_file=str(tls.ca),
        tls_client_cert=str(tls.cert),
        tls_client_key=str(tls.key),
        require_encryption=True,
    )


def client(address: str, security: Any, seconds: float) -> Any:
    """A connected `distributed.Client`, which listens nowhere; OSError says why there is none."""
    from distributed import Client
    from distributed.versions import VersionMismatchWarning

    with ThreadPoolExecutor(1) as thread:  # a loop of its own, whoever calls us
        thread.submit(asyncio.run, _knock(address, security, seconds)).result()
    with warnings.catch_warnings():  # we compare versions ourselves, and refuse
        warnings.simplefilter("ignore", VersionMismatchWarning)
        return Client(
            address,
            security=security,
            timeout=seconds,
            set_as_default=False,
            direct_to_workers=False,
        )


async def _knock(address: str, security: Any, seconds: float) -> None:
    """See who answers: a Client would wait for an unresponsive peer without end."""
    from distributed.comm import connect

    how = security.get_connection_args("client") if security else {}
    try:
        comm = await asyncio.wait_for(connect(address, timeout=seconds, **how), seconds + 1)
    except TimeoutError:
        raise OSError("what listens there does not answer as a dask scheduler") from None
    except OSError as error:
        raise OSError(_reason(await _refusal(address) or error)) from None
    except Exception:  # it spoke first, or of other things
        what = "it does not speak TLS" if security else "what listens there is no dask scheduler"
        raise OSError(what) from None
    with contextlib.suppress(OSError):
        await comm.close()


async def _refusal(address: str) -> ConnectionRefusedError | None:
    """Asked once more, plainly: dask's last try may have run out of time whatever was the cause."""
    from distributed.comm import get_address_host, parse_host_port

    try:
        _, port = parse_host_port(address.partition("://")[2])
        _, stream = await asyncio.open_connection(get_address_host(address), port)
    except ConnectionRefusedError as refused:
        return refused
    except OSError:
        return None
    stream.close()
    return None


def _reason(error: BaseException) -> str:
    """The innermost cause, in words."""
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, asyncio.CancelledError | TimeoutError):
        return "there was no answer in time"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not signed by `tls_ca=FILE`: {error.verify_message}"
    if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        return "it does not speak TLS"
    if isinstance(error, ssl.SSLError):
        why = (error.reason or "unknown").lower().replace("_", " ")
        return f"TLS was refused: {why}; is `tls_cert=FILE` signed by the authority that it trusts?"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused, nothing listens there; docs/cluster.md says how to start one"
    if isinstance(error, ConnectionResetError) or "Stream is closed" in str(error):
        return "it hangs up (a scheduler with TLS has an address tls://…, one without tcp://…)"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return printable(str(error)) or type(error).__name__
