"""SLURM through dask-jobqueue, with an sbatch that runs its jobs on this machine."""

from __future__ import annotations

import os
import stat
import sys
import tomllib
from pathlib import Path

import psutil
import pytest

from cluster_processes import until
from helpers import refused
from tacit.sweeps.cluster import slurm as module
from tacit.sweeps.cluster.dask_cluster import Cluster, connect
from tacit.sweeps.cluster.slurm import Jobs, checked
from tacit.sweeps.planned_run import DataCall, PlannedRun
from tacit.values import Setting

TABLE = {"interface": "lo", "cores": 2, "memory": "2GB"}

SBATCH = """#!/bin/bash
if [ "$1" = --test-only ]; then
  grep -q "SBATCH -p closed" "$2" || exit 0
  echo "sbatch: error: invalid partition specified: closed" >&2
  exit 1
fi
(echo 'until [ -e "{folder}/free" ]; do sleep 0.1; done'; cat "$1") > "{folder}/job.$$.sh"
setsid bash "{folder}/job.$$.sh" > "{folder}/job.$$.log" 2>&1 &
echo $! > "{folder}/job.$$.pid"
echo "Submitted batch job $$"
"""
SCANCEL = """#!/bin/bash
echo "$1" >> "{folder}/cancelled"
kill -9 -- "-$(cat "{folder}/job.$1.pid")"
"""


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which jobs appear, and start once there is a file `free`; sbatch and scancel."""
    folder, programs = tmp_path / "queue", tmp_path / "bin"
    folder.mkdir()
    (folder / "free").touch()
    programs.mkdir()
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (programs / name).write_text(text.format(folder=folder))
        (programs / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)
    return folder


def runs(number: int) -> list[PlannedRun]:
    data = DataCall("gaussians:n=8,d=2")
    return [PlannedRun(data, Setting(width=2), 2, i, ("train_error",), 1.0) for i in range(number)]


def done(cluster: Cluster, number: int) -> bool:
    for run in runs(number):
        cluster.start((run,), {})
    results = dict(cluster.wait() for _ in range(number))
    return all(not results[(run,)][0].failed for run in runs(number))


def pids(queue: Path) -> list[int]:
    return [int(path.read_text()) for path in queue.glob("*.pid")]


@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_through_the_queue(queue: Path, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", 1.0)
    said: list[str] = []
    (queue / "free").unlink()  # nothing starts before it has been said what is waited for

    def tell(text: str) -> None:
        said.append(text)
        (queue / "free").touch()

    with connect("slurm", None, {**TABLE, "cores": 1}, tell) as cluster:
        assert "squeue" in said[0]
        assert done(cluster, 2)
        workers = cluster._client.nthreads()
        assert list(workers.values()) == [1] and all(w.startswith("tls://127.") for w in workers)
        ours = [c.laddr.ip for c in psutil.Process().net_connections() if c.status == "LISTEN"]
        theirs = [
            c.laddr.ip
            for part in psutil.Process(pids(queue)[0]).children(recursive=True)
            for c in part.net_connections()
            if c.status == "LISTEN"
        ]
        assert set(ours) == set(theirs) == {"127.0.0.1"}
        if jobs == 2:  # the time of the first is over: another is asked for
            (pid,) = pids(queue)
            os.killpg(pid, 9)
            assert done(cluster, 2)
        assert len(pids(queue)) == jobs
        (secrets,) = queue.parent.glob(".tacit-*")
        assert all(path.stat().st_mode & 0o77 == 0 for path in [secrets, *secrets.iterdir()])
    assert not secrets.exists()
    until(lambda: not any(map(psutil.pid_exists, pids(queue))))
    assert len((queue / "cancelled").read_text().split()) == jobs


def test_the_job_script_holds_what_was_asked(queue: Path, tmp_path: Path) -> None:
    table = {
        **TABLE,
        "queue": "short",
        "account": "maths",
        "walltime": "01:30:00",
        "jobs": 1,
        "extra": ["--gres=gpu:1"],
        "prologue": ["module load python"],
        "python": "/opt/my python/bin/python",
        "logs": str(tmp_path / "logs"),
        "shared_folder": str(queue),
    }
    jobs = Jobs(table)
    try:
        script = jobs.job_script()
        assert jobs.address.startswith("tls://127.0.0.1:")
    finally:
        jobs.close()
    for line in (
        "#SBATCH -p short",
        "#SBATCH -A maths",
        "#SBATCH -t 01:30:00",
        "#SBATCH --cpus-per-task=2",
        "#SBATCH --mem=2G",
        "#SBATCH --gres=gpu:1",
        "module load python",
    ):
        assert f"\n{line}\n" in script
    command = script.strip().splitlines()[-1]
    assert command.startswith(
        f"'/opt/my python/bin/python' -m distributed.cli.dask_worker {jobs.address}"
    )
    for option in (
        "--nthreads 1",
        "--nworkers 2",
        "--interface lo",
        "--protocol tls://",
        "--dashboard-address 127.0.0.1:0",
        f"--tls-key {queue}/.tacit-",
        f"--tls-ca-file {queue}/.tacit-",
    ):
        assert option in command


@pytest.mark.parametrize(
    "change, words",
    [
        ({"interface": None}, ("interface is missing", "lo")),
        ({"interface": "lo0"}, ("interface", "'lo0'", "did you mean 'lo'")),
        ({"cores": None}, ("cores is missing",)),
        ({"memory": None}, ("memory is missing",)),
        ({"cores": 0}, ("cores", "at least 1")),
        ({"jobs": True}, ("jobs", "whole number")),
        ({"extra": "--gres"}, ("extra", "list of texts")),
        ({"walltime": "1:00\nrm -rf"}, ("walltime", "a text")),
        ({"core": 2}, ("'core'", "did you mean 'cores'")),
        ({"shared_folder": "/nowhere"}, ("shared_folder", "/nowhere")),
        ({"memory": "much"}, ("memory", "much")),
        ({"queue": "closed"}, ("invalid partition specified: closed",)),
    ],
)
def test_tables_that_cannot_be(queue: Path, change: dict[str, object], words: list[str]) -> None:
    table = {key: value for key, value in {**TABLE, **change}.items() if value is not None}
    refused(lambda: connect("slurm", None, table), "[slurm]", *words)
    assert not pids(queue)


def test_there_is_no_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable))
    refused(lambda: checked(TABLE), "there is no sbatch here")
    refused(lambda: checked({}), "needs a table [slurm]", "interface, cores and memory")


def test_the_documentation_knows_every_key() -> None:
    text = (Path(__file__).parents[3] / "docs" / "cluster.md").read_text("utf-8")
    example = tomllib.loads(text.split("```toml\n")[1].split("```")[0])["slurm"]
    assert all(module.RIGHT[module.KEYS[key]](value) for key, value in example.items())
    named = {key for line in text.splitlines() if line.startswith("| `") for key in line.split("`")}
    assert named >= set(module.KEYS)
