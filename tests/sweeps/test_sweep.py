"""A sweep ends with the same table whatever happens to it on the way."""

from __future__ import annotations

import json
import os
import random
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from helpers import refused
from sweep_works import POISON, real_but_poison
from tacit.sweeps.computation import compute
from tacit.sweeps.local import Cores
from tacit.sweeps.loop import complete
from tacit.sweeps.plan import Plan, read
from tacit.sweeps.planned_run import Pack, RunResult, Sets
from tacit.sweeps.store import Store
from tacit.sweeps.table import as_csv, rows
from tacit.sweeps.workers import CRASHES, Crashed
from tacit.values import BadInput

TOML = """
record = ["limit"]
seed = { from = 0, to = 11 }
[data]
name = "orthogonal"
n = 4
d = 2
[setting]
width = 2
init = "balanced:1e-3"
"""
RUNS, LONGER = 12, 40


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plan") / "small.toml"
    path.write_text(TOML)
    return path


@pytest.fixture(scope="module")
def longer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """So long that it does not end before it is hurt."""
    path = tmp_path_factory.mktemp("plan") / "longer.toml"
    path.write_text(TOML.replace("to = 11", f"to = {LONGER - 1}"))
    return path


@pytest.fixture(scope="module")
def plan(file: Path) -> Plan:
    return read(file)


@pytest.fixture(scope="module")
def table(plan: Plan) -> bytes:
    """What every sweep has to end with: each run done alone, in this process."""
    results = {p.run.key: compute((p.run,), plan.sets)[0] for p in plan.points}
    return as_csv(plan, rows(plan, results))


# ---------------------------------------------------------------------------------------- the loop


class Here:
    """Workers that do everything at once, in this process."""

    pack, at_once, crashes = 4, 2, CRASHES

    def __init__(self, do: Callable[[Pack], Sequence[RunResult] | Crashed] | None = None) -> None:
        self.do = do or (lambda pack: [RunResult({"limit.margin": run.seed / 7}) for run in pack])
        self.given: list[Pack] = []
        self.started: list[list[int]] = []

    def start(self, pack: Pack, sets: Sets) -> None:
        self.given.append(pack)
        self.started.append([run.seed for run in pack])
        assert len(self.given) <= self.at_once

    def wait(self) -> tuple[Pack, Sequence[RunResult] | Crashed]:
        pack = self.given.pop()
        return pack, self.do(pack)

    def close(self) -> None:
        pass


class Nobody(Here):
    @property
    def pack(self) -> int:  # type: ignore[override]
        raise AssertionError("nothing was to be done")

    at_once = crashes = pack


def counts(completed) -> tuple[int, int, int, int]:
    assert completed.done + completed.failed + completed.cached == completed.runs
    return completed.runs, completed.done, completed.failed, completed.cached


def test_what_is_there_is_not_done_again(plan: Plan, tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    first = complete(plan, Store(tmp_path / "s"), Here(), lambda *now: told.append(now))
    assert counts(first) == (RUNS, RUNS, 0, 0)
    assert told[0] == (0, RUNS, "") and told[-1] == (RUNS, RUNS, "")
    again = complete(plan, Store(tmp_path / "s"), Nobody())
    assert counts(again) == (RUNS, 0, 0, RUNS)
    assert rows(plan, again.results) == rows(plan, first.results)
    more = read_more(plan)
    workers = Here()
    assert counts(complete(more, Store(tmp_path / "s"), workers)) == (RUNS + 2, 2, 0, RUNS)
    assert sorted(sum(workers.started, [])) == [100, 101]


def read_more(plan: Plan) -> Plan:
    extra = [replace(p, run=replace(p.run, seed=100 + k)) for k, p in enumerate(plan.points[:2])]
    return replace(plan, points=(*plan.points, *extra))


def test_runs_that_occur_twice_are_done_once(plan: Plan, tmp_path: Path) -> None:
    workers = Here()
    twice = replace(plan, points=plan.points * 2)
    assert counts(complete(twice, Store(tmp_path / "s"), workers)) == (2 * RUNS, 2 * RUNS, 0, 0)
    assert sorted(sum(workers.started, [])) == list(range(RUNS))
    assert len(os.listdir(tmp_path / "s" / "runs")) == RUNS


def test_failed_runs_are_kept_and_done_again_only_when_asked(plan: Plan, tmp_path: Path) -> None:
    def fails(pack: Pack) -> list[RunResult]:
        return [RunResult({}, reason=f"no {run.seed % 2}" * (run.seed < 4)) for run in pack]

    first = complete(plan, Store(tmp_path / "s"), Here(fails))
    assert counts(first) == (RUNS, RUNS - 4, 4, 0) and sorted(first.reasons) == ["no 0", "no 1"]
    assert counts(complete(plan, Store(tmp_path / "s"), Nobody())) == (RUNS, 0, 4, RUNS - 4)
    workers = Here(fails)
    again = complete(plan, Store(tmp_path / "s"), workers, retry=True)
    assert counts(again) == (RUNS, 0, 4, RUNS - 4)
    assert sorted(sum(workers.started, [])) == [0, 1, 2, 3]
    last = complete(plan, Store(tmp_path / "s"), Here(), retry=True)
    assert counts(last) == (RUNS, 4, 0, RUNS - 4)
    assert counts(complete(plan, Store(tmp_path / "s"), Nobody(), retry=True))[3] == RUNS


def test_a_run_that_crashes_its_workers_has_failed_and_the_rest_is_done(
    plan: Plan, tmp_path: Path
) -> None:
    def crash(pack: Pack) -> Sequence[RunResult] | Crashed:
        if any(run.seed == POISON for run in pack):
            return Crashed("its worker died")
        return [RunResult({}) for _ in pack]

    workers = Here(crash)
    completed = complete(plan, Store(tmp_path / "s"), workers)
    assert counts(completed) == (RUNS, RUNS - 1, 1, 0)
    assert completed.reasons == [f"its worker died, {CRASHES} times"]
    alone = [seeds for seeds in workers.started if len(seeds) == 1]
    assert alone.count([POISON]) == CRASHES
    done = [s for seeds in workers.started if POISON not in seeds for s in seeds]
    assert sorted(done) == [seed for seed in range(RUNS) if seed != POISON]


def test_what_others_do_meanwhile_is_not_done_twice(plan: Plan, tmp_path: Path) -> None:
    workers = Here()
    runs = [point.run for point in plan.points]

    def do(pack: Pack) -> list[RunResult]:
        # Another sweep, faster than this one.
        Store(tmp_path / "s").keep((run, RunResult({"limit.margin": 5.0})) for run in runs[::2])
        return [RunResult({"limit.margin": 5.0}) for _ in pack]

    workers.do = do
    completed = complete(plan, Store(tmp_path / "s"), workers)
    assert sum(map(len, workers.started)) < RUNS
    assert completed.cached == RUNS - sum(map(len, workers.started)) and completed.failed == 0
    assert len(rows(plan, completed.results)) == RUNS


def test_the_second_sweep_begins_at_the_other_end(plan: Plan, tmp_path: Path) -> None:
    first, second = Here(), Here()
    complete(plan, Store(tmp_path / "a"), first)
    told: list[str] = []
    with Store(tmp_path / "b").working():
        complete(plan, Store(tmp_path / "b"), second, lambda there, of, words: told.append(words))
    assert told[-1] == "another sweep is at work here too"
    assert first.started == second.started[::-1] and len(first.started) > 1


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), BadInput("the cluster is gone")])
def test_a_sweep_that_ends_early_keeps_what_it_has(
    plan: Plan, tmp_path: Path, fault: BaseException
) -> None:
    def once(pack: Pack) -> list[RunResult]:
        if Store(tmp_path / "s").find([point.run.key for point in plan.points]):
            raise fault
        return [RunResult({}) for _ in pack]

    with pytest.raises(type(fault)):
        complete(plan, Store(tmp_path / "s"), Here(once))
    kept = len(os.listdir(tmp_path / "s" / "runs"))
    assert 0 < kept < RUNS
    assert counts(complete(plan, Store(tmp_path / "s"), Here())) == (RUNS, RUNS - kept, 0, kept)


def test_a_full_disk_stops_the_sweep(plan: Plan, tmp_path: Path, monkeypatch) -> None:
    store = Store(tmp_path / "s")
    write = store._write

    def full(run, result):
        if run.seed == 5:
            raise BadInput("no space left")
        return write(run, result)

    monkeypatch.setattr(store, "_write", full)
    refused(lambda: complete(plan, store, Here()), "no space left")
    completed = complete(plan, Store(tmp_path / "s"), Here())
    assert completed.cached > 0 and completed.done > 0 and completed.failed == 0


# ------------------------------------------------------------------------------- for real, and hurt


def command(file: Path, out: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "tacit", "sweep", str(file), "--out", str(out), *more]


def begin(file: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(file, out, *more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def there(out: Path) -> int:
    runs = out / "runs"
    return sum(name[0] != "." for name in os.listdir(runs)) if runs.is_dir() else 0


def until(process: subprocess.Popen[str], condition: Callable[[], object]) -> None:
    while process.poll() is None and not condition():
        time.sleep(0.005)


def children(pid: int) -> list[int]:
    """The processes that it started for the work."""
    seen = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parent = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1]
                words = Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue
            if parent == str(pid) and b"spawn_main" in words:
                seen.append(int(name))
    return seen


@pytest.mark.long
def test_killed_once_it_ends_with_the_same_table(file: Path, table: bytes, tmp_path: Path) -> None:
    """The whole tree by kill -9, when two runs are there."""
    out = tmp_path / "s"
    process = begin(file, out, "--json", "--workers", "1")
    until(process, lambda: there(out) >= 2)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.communicate() == ("", "") and process.returncode == -signal.SIGKILL
    kept = there(out)
    said, wrong = begin(file, out, "--json", "--workers", "1").communicate()
    assert wrong == "" and json.loads(said)["cached"] == kept >= 2
    assert (out / "table.csv").read_bytes() == table
    assert there(out) == RUNS


@pytest.mark.long
def test_killed_again_and_again_it_ends_with_the_same_table(
    longer: Path, table: bytes, tmp_path: Path
) -> None:
    """The whole tree by kill -9: now while it starts, now after some more runs."""
    out, dice, kills = tmp_path / "s", random.Random(7), 0
    for more in (0, 2, 3, 0, 3, 2):
        before = there(out)
        process = begin(longer, out, "--json")
        if more:
            until(process, lambda n=before + more: there(out) >= n)
        else:
            time.sleep(dice.random())
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            kills += 1
        said, wrong = process.communicate()
        # It may be done all the same, and be killed before it could leave.
        assert wrong == "" and (said or process.returncode == -signal.SIGKILL)
    assert kills >= 3
    said, wrong = begin(longer, out, "--json").communicate()
    assert wrong == "" and json.loads(said)["runs"] == LONGER
    lines = (out / "table.csv").read_bytes().splitlines()
    assert lines[: RUNS + 1] == table.splitlines() and len(lines) == LONGER + 1
    assert there(out) == LONGER


def test_an_interrupt_while_a_dead_process_is_buried_leaves_none(monkeypatch) -> None:
    """A terminal interrupts the processes too: one ends before the command hears of it."""
    with pytest.raises(KeyboardInterrupt), Cores(1) as cores:
        assert not cores.gpu  # starts one, and waits until it is ready
        process = cores._workers[0].process
        join = process.join

        def interrupted(seconds: float | None = None) -> None:
            if seconds is not None:
                raise KeyboardInterrupt
            join()

        monkeypatch.setattr(process, "join", interrupted)
        os.kill(process.pid, signal.SIGKILL)
        cores._listen()
    assert not Path(f"/proc/{process.pid}").exists()


@pytest.mark.long
def test_one_killed_worker_costs_nothing(longer: Path, table: bytes, tmp_path: Path) -> None:
    process = begin(longer, tmp_path / "s", "--workers", "2")
    until(process, lambda: there(tmp_path / "s"))
    os.kill(children(process.pid)[0], signal.SIGKILL)
    said, wrong = process.communicate()
    assert process.returncode == 0 and wrong == "" and f"{LONGER} done" in said
    lines = (tmp_path / "s" / "table.csv").read_bytes().splitlines()
    assert lines[: RUNS + 1] == table.splitlines() and len(lines) == LONGER + 1
    assert there(tmp_path / "s") == LONGER


@pytest.mark.long
def test_two_sweeps_in_one_folder(file: Path, table: bytes, tmp_path: Path) -> None:
    both = [begin(file, tmp_path / "s", "--workers", "1") for _ in range(2)]
    for process in both:
        said, wrong = process.communicate()
        assert (process.returncode, wrong) == (0, ""), said
        assert (tmp_path / "s" / "table.csv").read_bytes() == table
    assert there(tmp_path / "s") == RUNS


@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_ctrl_c_is_one_line_that_says_how_to_go_on(
    longer: Path, tmp_path: Path, how: signal.Signals
) -> None:
    out = tmp_path / "s p"
    process = begin(longer, out, "--workers", "1")
    until(process, lambda: there(out))
    workers = children(process.pid)
    os.killpg(process.pid, how)  # as a terminal sends it: to all
    said, line = process.communicate()
    assert process.returncode == 130 and said == ""
    assert line.count("\n") == 1 and f" of {LONGER} runs are kept" in line
    counted = int(line.split(" of ")[0].split()[-1])
    assert counted == there(out)
    assert workers and not any(Path(f"/proc/{pid}").exists() for pid in workers)
    words = shlex.split(line.partition("go on with: ")[2])
    assert words == ["tacit", "sweep", str(longer), "--out", str(out), "--workers", "1"]
    check_what_is_kept(longer, out)


def check_what_is_kept(file: Path, out: Path) -> None:
    """Every folder is a whole run, and the next sweep does the others."""
    kept, plan, said = there(out), read(file), []
    assert 0 < kept < LONGER
    completed = complete(plan, Store(out, warn=said.append), Here())
    assert counts(completed) == (LONGER, LONGER - kept, 0, kept) and not said
    assert not [name for name in os.listdir(out / "runs") if name[0] == "."]


@pytest.mark.long
def test_no_room_on_the_disk(longer: Path, tmp_path: Path) -> None:
    """From some moment on the system refuses to write more than 100 bytes into any file."""
    process = begin(longer, tmp_path / "s", "--workers", "1")
    until(process, lambda: there(tmp_path / "s"))
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (100, 100))
    said, line = process.communicate()
    assert process.returncode == 2 and said == "" and line.count("\n") == 1
    assert "cannot be written" in line and "runs are kept" in line
    check_what_is_kept(longer, tmp_path / "s")


@pytest.mark.long
def test_a_run_that_ends_its_process_each_time(plan: Plan, table: bytes, tmp_path: Path) -> None:
    with Cores(2, real_but_poison) as workers:
        completed = complete(plan, Store(tmp_path / "s"), workers)
    assert counts(completed) == (RUNS, RUNS - 1, 1, 0)
    assert completed.reasons == [f"its worker ended with exit code 7, {CRASHES} times"]
    ours, right = as_csv(plan, rows(plan, completed.results)).splitlines(), table.splitlines()
    assert [k for k in range(RUNS + 1) if ours[k] != right[k]] == [1 + POISON]
