"""Sweeps on real clusters on loopback, in which schedulers and workers are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from cluster_processes import POISON, Machines, certificates, machines, until
from helpers import refused, rest_long, with_packages
from tacit.sweeps.cluster import dask_cluster as module
from tacit.sweeps.cluster.address import Tls
from tacit.sweeps.cluster.dask_cluster import Cluster, Lost, connect
from tacit.sweeps.local import Cores
from tacit.sweeps.loop import Completed, complete
from tacit.sweeps.plan import Plan, read
from tacit.sweeps.store import Store
from tacit.sweeps.table import as_csv, rows

PLAN = """
record = ["train_error", "margin"]
epochs = 20
seed = [{seeds}]

[data]
name = "gaussians"
n = 12
d = 2
seed = "run"

[setting]
width = 4
init = "gaussian"
scale = [{scales}]
"""


WORKERS = 2


def planned(folder: Path, seeds: list[int], scales: str = "0.1, 1.0") -> Plan:
    path = folder / "plan.toml"
    path.write_text(PLAN.format(seeds=", ".join(map(str, seeds)), scales=scales))
    return read(path)


def table(plan: Plan, swept: Completed) -> bytes:
    return as_csv(plan, rows(plan, swept.results))


def folders(store: Store) -> list[str]:
    return sorted(path.name for path in (store.folder / "runs").iterdir())


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """A scheduler with workers."""
    with machines(tmp_path_factory.mktemp("machines")) as found:
        found.start_workers(WORKERS)
        yield found


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return planned(tmp_path_factory.mktemp("plan"), list(range(12)))


@pytest.fixture(scope="module")
def local(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table as this machine makes it alone."""
    with Cores(1) as workers:
        swept = complete(plan, Store(tmp_path_factory.mktemp("local")), workers)
    assert swept.done == 24
    return table(plan, swept)


def joined(there: Machines, said: list[str] | None = None, patience: float = 60.0) -> Cluster:
    """With all workers, and packs so small that each of them gets several."""
    cluster = connect(
        there.address, tell=(said if said is not None else []).append, patience=patience
    )
    until(lambda: cluster._look() or cluster.at_once == 2 * WORKERS + 2)
    cluster.pack = 2
    return cluster


def once(there: Machines, what: object, at: int) -> object:
    """A progress that does something when so many runs are there."""
    done: list[int] = []

    def progress(number: int, of: int, words: str) -> None:
        if number >= at and not done:
            done.append(number)
            what()  # type: ignore[operator]

    return progress


def test_nothing_listens_beyond_loopback(there: Machines) -> None:
    with joined(there):
        listening = there.listening()
        assert len(listening) >= 2 + 2 * WORKERS  # scheduler, nannies, workers, and their pages
        assert set(listening) == {"127.0.0.1"}
        ours = psutil.Process().net_connections()
        assert not [c.laddr for c in ours if c.status == "LISTEN"]


def test_tls_where_there_is_none(there: Machines, tmp_path: Path) -> None:
    certificates(tmp_path)
    files = Tls(*(tmp_path / f"{name}.pem" for name in ("ca", "cert", "key")))
    address = there.address.replace("tcp://", "tls://")
    refused(lambda: connect(address, files), address, "does not speak TLS")


def test_data_from_a_file_is_sent_once(there: Machines, tmp_path: Path) -> None:
    lines = [f"{i % 7 - 3.5},{i % 5},{1 if i % 7 > 3 else -1}" for i in range(20)]
    (tmp_path / "points.csv").write_text("a,b,y\n" + "\n".join(lines))
    path = tmp_path / "plan.toml"
    text = 'record = ["train_error"]\nepochs = 5\nseed = { from = 0, to = 9 }\n'
    path.write_text(
        text + '[data]\nfile = "points.csv"\n[setting]\nwidth = 3\ninit = "gaussian:0.1"\n'
    )
    plan = read(path)
    sent = []
    with joined(there) as cluster:
        submit = cluster._client.submit

        def counted(function: object, *given: object, **options: object) -> object:
            sent.append(function.__name__)  # type: ignore[attr-defined]
            return submit(function, *given, **options)

        cluster._client.submit = counted
        swept = complete(plan, Store(tmp_path / "out"), cluster)
    assert swept.done == 10
    assert sent.count("keep") == 1 and sent.count("task") == 5


@pytest.mark.parametrize("other", rest_long(["tacit", "numpy", "none"], ["tacit", "none"]))
def test_other_versions_are_refused(
    there: Machines, plan: Plan, tmp_path: Path, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that is there already, and one that comes in the middle."""
    shadow = tmp_path / "shadow"
    preload, env = there.preload, with_packages(shadow)
    if other == "tacit":
        preload, env = tmp_path / "older.py", {}
        preload.write_text("import tacit\ntacit.__version__ = '0.0.9'\n")
        words = [f"tacit 0.0.9 where we have {module.remote.versions()['tacit']}"]
    elif other == "numpy":
        (shadow / "numpy-1.0.dist-info").mkdir(parents=True)
        (shadow / "numpy-1.0.dist-info" / "METADATA").write_text("Name: numpy\nVersion: 1.0\n")
        words = [f"numpy 1.0 where we have {module.remote.versions()['numpy']}"]
    else:
        preload = tmp_path / "empty.py"
        preload.write_text("")
        shadow.mkdir()
        (shadow / "tacit.py").write_text("raise ModuleNotFoundError('there is no tacit here')\n")
        words = ["no tacit of our version", "there is no tacit here"]
    with joined(there) as cluster:
        before = set(cluster._client.nthreads())
        process = there.start_workers(1, preload, env)
        try:
            until(lambda: len(cluster._client.nthreads()) == WORKERS + 1)
            (worker,) = set(cluster._client.nthreads()) - before
            words += [there.address, f"the worker {worker} has", "install the same versions"]
            cluster._looked = 0.0  # workers are looked at now, not in a second
            refused(lambda: complete(plan, Store(tmp_path / "out"), cluster), *words)
            if other != "none":  # this one has not looked at its workers for a while
                monkeypatch.setattr(cluster, "_look", lambda: None)
                cluster._client.cancel([*cluster._futures.values()])
                refused(lambda: complete(plan, Store(tmp_path / "again"), cluster), *words)
            refused(lambda: connect(there.address), *words)
        finally:
            there.kill(process)
        until(lambda: len(cluster._client.nthreads()) == WORKERS)


def test_a_scheduler_without_tacit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tacit.py").write_text("raise ModuleNotFoundError('there is no tacit here')\n")
    with machines(tmp_path / "machines", env=with_packages(tmp_path)) as there:
        there.start_workers(1)
        refused(lambda: connect(there.address), there.address, "the scheduler has no tacit")


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_is_one_line(there: Machines, tmp_path: Path, how: signal.Signals) -> None:
    planned(tmp_path, list(range(200)))
    command = [sys.executable, "-m", "tacit", "sweep", "plan.toml", "--out", "s", "--cluster"]
    process = subprocess.Popen(
        [*command, there.address],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    runs = tmp_path / "s" / "runs"
    until(lambda: process.poll() is not None or (runs.is_dir() and any(runs.iterdir())))
    os.killpg(process.pid, how)
    said, line = process.communicate()
    assert process.returncode == 130 and said == ""
    assert line.count("\n") == 1 and " of 400 runs are kept in s" in line
    assert line.endswith(f"go on with: tacit sweep plan.toml --out s --cluster {there.address}\n")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "slurm"])
def test_ctrl_c_stays_ours(address: str) -> None:
    """Importing dask_jobqueue takes it: a sweep would end without a word, with exit code 0."""
    program = (
        "import signal\n"
        "from tacit.values import BadInput\n"
        "from tacit.sweeps.cluster import dask_cluster\n"
        "dask_cluster.CONNECT = 0.5\n"
        "try:\n"
        f"    dask_cluster.connect({address!r})\n"
        "except BadInput:\n"
        "    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
        "    print('refused')\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.stdout == "refused\n", ended.stderr


def test_a_worker_is_killed(there: Machines, plan: Plan, local: bytes, tmp_path: Path) -> None:
    with joined(there) as cluster:
        victim = cluster._client.run(os.getpid)
        in_hand: list[object] = []

        def kill() -> None:
            busy = cluster._client.processing()
            worker = next(worker for worker in busy if busy[worker])
            in_hand.extend(busy[worker])
            os.kill(victim[worker], signal.SIGKILL)

        store = Store(tmp_path / "out")
        there.executed()
        swept = complete(plan, store, cluster, once(there, kill, 4))
    keys = [point.run.key for point in plan.points]
    assert (swept.done, swept.failed, swept.cached) == (24, 0, 0)
    assert folders(store) == sorted(keys)
    # What the dead worker had in hand was done, by it or by another: it may not have begun with it.
    assert in_hand and set(there.executed()) == set(keys)
    assert table(plan, swept) == local


@pytest.mark.long
def test_a_run_that_ends_its_worker_each_time(there: Machines, tmp_path: Path) -> None:
    plan = planned(tmp_path, [1, 2, POISON, 3, 4], "0.1")
    with joined(there) as cluster:
        swept = complete(plan, Store(tmp_path / "out"), cluster)
    assert (swept.done, swept.failed) == (4, 1)
    for point in plan.points:
        assert swept.results[point.run.key].failed == (point.run.seed == POISON)
    assert swept.reasons == ["4 workers of the cluster ended while working on it"]


@pytest.mark.long
def test_a_lost_connection_is_made_again(
    there: Machines, plan: Plan, local: bytes, tmp_path: Path
) -> None:
    """The scheduler lives, but has forgotten us: everything that is missing is told anew."""
    said: list[str] = []
    with joined(there, said) as cluster:
        lost = once(there, lambda: cluster._client.close(), 4)
        swept = complete(plan, Store(tmp_path / "out"), cluster, lost)
    assert (swept.done, swept.failed, swept.cached) == (24, 0, 0)
    assert table(plan, swept) == local
    assert [line.partition(" at ")[0] for line in said] == ["lost the scheduler", "the scheduler"]


@pytest.mark.long
def test_the_scheduler_is_killed_and_comes_back(
    there: Machines, plan: Plan, local: bytes, tmp_path: Path
) -> None:
    said: list[str] = []

    def restart() -> None:
        there.kill(there.scheduler)
        there.start_scheduler()

    with joined(there, said) as cluster:
        store = Store(tmp_path / "out")
        swept = complete(plan, store, cluster, once(there, restart, 4))
    assert (swept.done, swept.failed, swept.cached) == (24, 0, 0)
    assert len(folders(store)) == 24
    assert table(plan, swept) == local
    assert any("lost the scheduler" in line for line in said)


def test_a_scheduler_that_stays_away_ends_the_sweep_and_the_next_goes_on(
    there: Machines, plan: Plan, local: bytes, tmp_path: Path
) -> None:
    def lose() -> None:
        cluster._place.address = "tcp://127.0.0.1:9"  # where nobody listens
        cluster._client.close()

    store = Store(tmp_path / "out")
    with joined(there, patience=0.5) as cluster, pytest.raises(Lost) as caught:
        complete(plan, store, cluster, once(there, lose, 6))
    assert "the same command goes on" in str(caught.value) and "\n" not in str(caught.value)
    kept = len(folders(store))
    assert 6 <= kept < 24
    with joined(there) as cluster:
        swept = complete(plan, Store(tmp_path / "out"), cluster)
    assert (swept.done, swept.cached) == (24 - kept, kept) and table(plan, swept) == local


@pytest.mark.long
def test_the_scheduler_is_killed_and_we_are_started_again(
    there: Machines, plan: Plan, local: bytes, tmp_path: Path
) -> None:
    store = Store(tmp_path / "out")
    with joined(there, patience=1) as cluster, pytest.raises(Lost) as caught:
        complete(plan, store, cluster, once(there, lambda: there.kill(there.scheduler), 6))
    assert "the same command goes on" in str(caught.value) and "\n" not in str(caught.value)
    kept = folders(store)
    assert 6 <= len(kept) < 24
    there.start_scheduler()
    there.executed()
    with joined(there) as cluster:
        swept = complete(plan, Store(tmp_path / "out"), cluster)
    assert (swept.done, swept.cached) == (24 - len(kept), len(kept))
    missing = {point.run.key for point in plan.points} - set(kept)
    assert sorted(there.executed()) == sorted(missing)
    assert table(plan, swept) == local


def test_there_are_no_workers(tmp_path: Path) -> None:
    said: list[str] = []
    with machines(tmp_path / "machines") as there:
        line = refused(lambda: connect(there.address, tell=said.append, patience=1), "no workers")
        assert f"dask worker {there.address} --host 127.0.0.1 " in line  # not on all interfaces
        assert len(said) == 1 and "waiting up to 1 s" in said[0]


@pytest.mark.long
def test_all_workers_vanish(tmp_path: Path, plan: Plan) -> None:
    with machines(tmp_path / "machines") as there:
        workers = there.start_workers(1)
        with connect(there.address, patience=60) as cluster, pytest.raises(Lost):
            cluster.pack, cluster._patience = 2, 1
            complete(
                plan, Store(tmp_path / "out"), cluster, once(there, lambda: there.kill(workers), 2)
            )


def test_a_worker_that_did_not_answer_is_asked_again() -> None:
    ours, known = module.remote.versions(), {"a"}
    answers: dict[str, object] = {"b": OSError("not yet"), "c": ours}

    class Client:
        def run(self, function: object, workers: list[str], **more: object) -> dict[str, object]:
            return {worker: answers[worker] for worker in workers}

    assert module.remote.compare(Client(), ours, {"a", "b", "c"}, known) == ""
    assert known == {"a", "c"}
    answers["b"] = {**ours, "numpy": "1.0"}
    assert "worker b has numpy 1.0" in module.remote.compare(Client(), ours, {"a", "b"}, known)
