"""Addresses and certificates: what cannot be right is refused, and TLS really guards."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from cluster_processes import certificates, machines
from helpers import refused
from tacit.sweeps.cluster import dask_cluster as module
from tacit.sweeps.cluster.address import Tls
from tacit.sweeps.cluster.dask_cluster import connect
from tacit.sweeps.planned_run import DataCall, PlannedRun
from tacit.values import Setting


def tls(folder: Path) -> Tls:
    return Tls(folder / "ca.pem", folder / "cert.pem", folder / "key.pem")


@pytest.mark.parametrize(
    "address, word",
    [
        ("", "no address"),
        ("localhost:8786", "no address"),
        ("http://localhost:8786", "no address"),
        ("Slurm", "no address"),
        ("tcp://localhost", "HOST:8786"),
        ("tcp://:8786", "HOST:8786"),
        ("tcp://localhost:8786/status", "HOST:8786"),
        ("tcp://localhost:88888", "port"),
        ("tcp://localhost:x", "port"),
        ("tcp://[::1", "port"),
        ("tls://localhost:8786", "`tls_key="),
        ("tcp://host\n:1", "port"),
    ],
)
def test_addresses_that_cannot_be(address: str, word: str) -> None:
    refused(lambda: connect(address), "`cluster=", word)


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECT", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        for seconds in (1e-3, 0.5):  # also when dask had no time to find out
            monkeypatch.setattr(module, "CONNECT", seconds)
            refused(lambda: connect(address), address, "refused")
        silent.listen()
        refused(lambda: connect(address), address, "does not answer")
    refused(lambda: connect("tcp://nowhere.invalid:8786"), "nowhere.invalid")


def test_files_that_cannot_be(tmp_path: Path) -> None:
    certificates(tmp_path / "a")
    certificates(tmp_path / "b")
    a, b = tls(tmp_path / "a"), tls(tmp_path / "b")
    gone, junk, binary = (tmp_path / name for name in ("gone.pem", "junk.pem", "binary.pem"))
    junk.write_text("-----BEGIN CERTIFICATE-----\nhello\n-----END CERTIFICATE-----\n")
    binary.write_bytes(b"\xff\x00" * 50)
    for files, words in (
        (Tls(gone, a.cert, a.key), ("gone.pem", "no such file")),
        (Tls(a.ca, tmp_path, a.key), (str(tmp_path), "folder")),
        (Tls(a.ca, a.cert, binary), ("binary.pem", "PEM")),
        (Tls(junk, a.cert, a.key), ("`tls_ca=", "junk.pem")),
        (Tls(a.key, a.cert, a.key), ("`tls_ca=", "no certificate")),
        (Tls(a.ca, a.cert, b.key), ("`tls_key=", "belongs")),
    ):
        refused(lambda files=files: connect("tls://127.0.0.1:9", files), *words)
    refused(lambda: connect("tcp://127.0.0.1:9", a), "not encrypted")
    refused(lambda: connect("slurm", a, {}), "certificates of its own")


@pytest.mark.long
def test_tls_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificates(tmp_path / "other")
    options = certificates(tmp_path / "ours")
    ours, other = tls(tmp_path / "ours"), tls(tmp_path / "other")
    run = PlannedRun(DataCall("gaussians:n=8,d=2"), Setting(width=2), 2, 0, ("train_error",), 1.0)
    with machines(tmp_path / "machines", options) as there:
        there.start_workers(1)
        with connect(there.address, ours) as cluster:
            cluster.start((run,), {})
            pack, results = cluster.wait()
            assert pack == (run,) and len(results) == 1 and not results[0].failed
            assert all(worker.startswith("tls://") for worker in cluster._client.nthreads())
        assert set(there.listening()) == {"127.0.0.1"}
        monkeypatch.setattr(module, "CONNECT", 2.0)
        wrong = Tls(other.ca, ours.cert, ours.key)
        refused(lambda: connect(there.address, wrong), there.address, "not signed by `tls_ca=FILE`")
        wrong = Tls(ours.ca, other.cert, other.key)
        refused(lambda: connect(there.address, wrong), there.address, "TLS was refused")
        plain = there.address.replace("tls://", "tcp://")
        refused(lambda: connect(plain), plain, "tls://")
