"""Processes die, and it is known who held what."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from pathlib import Path

import numpy as np
import pytest

from helpers import refused, rest_long, with_packages
from sweep_works import POISON, clumsy, echo, endless, poison
from tacit.sweeps.local import CPU_PACK, GPU_PACK, Cores, cores
from tacit.sweeps.planned_run import DataCall, Pack, PlannedRun
from tacit.sweeps.workers import CRASHES, Crashed
from tacit.values import Dataset, Setting

TESTS = Path(__file__).parents[1]


def pack(*seeds: int, data: str = "gaussians") -> Pack:
    return tuple(
        PlannedRun(DataCall(data), Setting(), 10, seed, ("margin",), 60.0) for seed in seeds
    )


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for it, and fail when it does not come."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether it runs; one that has ended and waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@contextlib.contextmanager
def started(workers: int, work: object) -> Iterator[Cores]:
    with Cores(workers, work) as these:  # type: ignore[arg-type]
        yield these


def test_nothing_starts_before_there_is_work() -> None:
    with started(2, echo) as these:
        assert not these._workers and these.crashes == CRASHES
    refused(lambda: Cores(0), "`workers=0`", "at least 1")
    assert cores() >= 1


def test_packs_come_back_with_their_results(capfd: pytest.CaptureFixture[str]) -> None:
    before = dict(os.environ)
    data = Dataset(np.eye(2), np.array([1, -1]))
    file, other = DataCall("file.csv"), DataCall("other.csv")
    with started(2, echo) as these:
        assert (these.pack, these.at_once) == (CPU_PACK, 4)
        given = [pack(0, 1, 2), pack(3), pack(4, 5, data="file.csv"), pack(6), pack(7, 8)]
        for one in given:
            these.start(one, {file: data, other: data})
        back = dict(these.wait() for _ in given)
        assert dict(os.environ) == before
        assert len(these._workers) == 2
        for one in given:
            answer = back[one]
            assert not isinstance(answer, Crashed)
            assert [result.values["seed"] for result in answer] == [run.seed for run in one]
            assert answer[0].values["variables"] == ["1", "1"] and answer[0].values["threads"] == 1
            assert other.text not in answer[0].values["sets"]
        for _ in range(4):  # data that a process has is not sent again, and is still there
            these.start(pack(1, data="file.csv"), {file: data})
            _, (only,) = these.wait()
            assert only.values["sets"] == ["file.csv"]
        with pytest.raises(RuntimeError, match="no pack"):
            Cores(1, echo).wait()
        processes = [worker.process.pid for worker in these._workers]
    assert not any(alive(pid) for pid in processes if pid)
    assert capfd.readouterr().out == ""


def test_a_killed_worker_is_known_by_its_pack_and_replaced(tmp_path: Path) -> None:
    with started(2, endless) as these:
        these.start(pack(0, 1, data=str(tmp_path)), {})
        these.start(pack(2, data=str(tmp_path)), {})
        these._listen()  # the second is ready
        these._give()
        until(lambda: len(os.listdir(tmp_path)) == 2)
        first, second = these._workers
        assert second.process.pid and first.pack and second.pack
        held = second.pack
        os.kill(second.process.pid, signal.SIGKILL)
        ended, crash = these.wait()
        assert ended == held and isinstance(crash, Crashed)
        assert "SIGKILL" in str(crash) and "memory" in str(crash)
        these.start(ended, {})
        these._listen()
        these._give()
        until(lambda: len(os.listdir(tmp_path)) == 3)
        assert first in these._workers and first.process.is_alive()
        pids = [worker.process.pid for worker in these._workers]
    assert len(pids) == 2 and not any(alive(pid) for pid in pids)  # busy for ever as they are


def test_python_s_own_process_may_be_killed_too() -> None:
    """The tracker of resources, which it started again with a warning on the terminal."""
    resource_tracker.ensure_running()
    tracker = resource_tracker._resource_tracker._pid  # type: ignore[attr-defined]
    os.kill(tracker, signal.SIGKILL)
    until(lambda: not alive(tracker))
    with started(1, echo) as these:
        these.start(pack(1), {})
        assert not isinstance(these.wait()[1], Crashed)


def test_poison_and_mistakes_come_back_as_crashes() -> None:
    with started(1, poison) as these:
        for one in (pack(1), pack(2, POISON), pack(4)):
            these.start(one, {})
        back = dict(these.wait() for _ in range(3))
        assert str(back[pack(2, POISON)]) == "its worker ended with exit code 7"
        assert not isinstance(back[pack(1)], Crashed) and not isinstance(back[pack(4)], Crashed)
    with started(1, clumsy) as these:
        these.start(pack(POISON), {})
        assert str(these.wait()[1]).startswith("its worker met ZeroDivisionError")
        these.start(pack(1), {})
        assert not isinstance(these.wait()[1], Crashed)


def test_a_gpu_is_for_one_process() -> None:
    with started(8, echo) as these:
        these.__dict__["gpu"] = True
        assert (these.pack, these.at_once) == (GPU_PACK, 2)
        for one in (pack(0), pack(1), pack(2)):
            these.start(one, {})
        answers = [these.wait()[1] for _ in range(3)]
        assert len(these._workers) == 1
        assert {one[0].values["threads"] for one in answers} == {cores()}  # type: ignore[index]


PARENT = """
import sys
from tacit.sweeps.local import Cores
from tacit.sweeps.planned_run import DataCall, PlannedRun
from tacit.values import Setting
from sweep_works import endless
workers = Cores(2, endless)
for seed in range(2):
    workers.start((PlannedRun(DataCall(sys.argv[1]), Setting(), 10, seed, ("margin",), 60.0),), {})
workers.wait()
"""


@pytest.mark.parametrize("how", rest_long(["-c", "file", "stdin"], ["file"]))
def test_workers_end_when_whoever_started_them_is_killed(tmp_path: Path, how: str) -> None:
    """However it was started: they do not import it. Ctrl-C is not for them."""
    (tmp_path / "script.py").write_text(PARENT)
    there = tmp_path / "pids"
    there.mkdir()
    call = {"-c": ["-c", PARENT], "file": [str(tmp_path / "script.py")], "stdin": ["-"]}[how]
    parent = subprocess.Popen(
        [sys.executable, *call, str(there)],
        env=with_packages(TESTS),
        stdin=subprocess.PIPE,
    )
    try:
        assert parent.stdin is not None
        with parent.stdin as pipe:
            pipe.write(PARENT.encode() if how == "stdin" else b"")
        until(lambda: len(os.listdir(there)) == 2)
        pids = [int(name) for name in os.listdir(there)]
        for pid in pids:
            os.kill(pid, signal.SIGINT)
        assert all(alive(pid) for pid in pids)
    finally:
        parent.kill()
        parent.wait()
    until(lambda: not any(alive(pid) for pid in pids))


def test_processes_that_never_start_are_an_error_in_one_line(monkeypatch) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "no_such_platform")
    with started(1, echo) as these:
        refused(lambda: these.pack, "no process", "exit code 1")
