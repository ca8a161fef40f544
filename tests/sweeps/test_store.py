"""Run folders are the truth: whatever happens to the index or to a folder, nothing else counts."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers import refused, spoil
from tacit.files import read_npz, write_folder
from tacit.sweeps import index
from tacit.sweeps.planned_run import DataCall, PlannedRun, RunResult
from tacit.sweeps.store import OLD, Store
from tacit.values import Setting

RUNS = [
    PlannedRun(DataCall("gaussians:n=10"), Setting(), 100, seed, ("margin",), 60.0)
    for seed in range(5)
]
KEYS = [run.key for run in RUNS]
VALUES = {"outcome": "finished", "margin": 0.1 + 0.2, "none": None, "list": [1.5, 2, 1e-300]}


def keep(store: Store, run: PlannedRun, result: RunResult) -> RunResult:
    """Write one, and give back what is there then."""
    kept: list[RunResult] = []
    store.keep([(run, result)], lambda run, result: kept.append(result))
    return kept[0]


def result(k: int = 0, **more: object) -> RunResult:
    return RunResult({**VALUES, "epoch": k}, seconds=0.5, **more)  # type: ignore[arg-type]


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    store = Store(tmp_path / "s")
    for k, run in enumerate(RUNS):
        keep(store, run, result(k))
    store.flush()
    return tmp_path / "s"


def found(folder: Path) -> tuple[dict[str, RunResult], list[str]]:
    said: list[str] = []
    return Store(folder, warn=said.append).find(KEYS), said


def same(results: dict[str, RunResult]) -> bool:
    return [results[key].values for key in KEYS] == [{**VALUES, "epoch": k} for k in range(5)]


def test_results_come_back_as_they_were(tmp_path: Path) -> None:
    store = Store(tmp_path / "deep" / "s")
    assert store.find(KEYS) == {}
    odd = RunResult({"a": float("nan"), "b": np.float64(1 / 3), "c": np.arange(2), "ü": "ß\n"})
    kept = keep(store, RUNS[0], odd)
    assert kept.values == {"a": None, "b": 1 / 3, "c": [0, 1], "ü": "ß\n"}
    failed = keep(store, RUNS[1], RunResult({}, reason="no", device="gpu"))
    assert failed.failed and failed.device == "gpu"
    again, said = found(tmp_path / "deep" / "s")
    assert again[KEYS[0]].values == kept.values and again[KEYS[1]].reason == "no"
    assert len(again) == 2 and not said
    about = json.loads((store.runs / KEYS[0] / "run.json").read_bytes())
    assert about["run"]["seed"] == 0 and {"values", "seconds", "device", "versions"} <= set(about)


def test_weights_are_kept_beside_the_values(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    W = np.arange(6.0).reshape(2, 3)
    keep(store, RUNS[0], result(arrays={"W": W}))
    file = store.runs / KEYS[0] / "arrays.npz"
    np.testing.assert_equal(read_npz(file)["W"], W)
    assert KEYS[0] in found(tmp_path / "s")[0]
    file.write_bytes(file.read_bytes()[:-1])
    for _ in range(2):  # the row in the index does not help
        results, said = found(tmp_path / "s")
        assert not results and "arrays.npz" in said[0]


def test_the_index_is_used_where_it_is_right(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a run folder is read although its row is up to date")

    monkeypatch.setattr("tacit.sweeps.run_folder._checked", refuse)
    assert same(found(filled)[0])


@pytest.mark.parametrize(
    "harm",
    [
        lambda p: p.unlink(),
        lambda p: p.write_bytes(b""),
        lambda p: p.write_bytes(b"no database" * 1000),
        lambda p: p.write_bytes(p.read_bytes()[: len(p.read_bytes()) // 2]),
        lambda p: p.write_bytes(p.read_bytes()[:4096] + bytes(len(p.read_bytes()) - 4096)),
        lambda p: (p.unlink(), p.mkdir()),
        lambda p: (p.unlink(), p.symlink_to(p.parent / "sweep.json")),
        lambda p: p.with_name("index.sqlite-journal").write_bytes(b"garbage" * 500),
        *(lambda p, k=k: spoil(p, k, "flip") for k in range(20)),
        *(lambda p, k=k: spoil(p, k, "cut") for k in range(5)),
    ],
)
def test_whatever_happens_to_the_index(filled: Path, harm) -> None:
    before = (filled / "sweep.json").read_bytes()
    harm(filled / "index.sqlite")
    for _ in range(2):
        results, said = found(filled)
        assert same(results) and not said
    assert (filled / "sweep.json").read_bytes() == before


def statement(folder: Path, sql: str, *values: object) -> None:
    with contextlib.closing(sqlite3.connect(folder / "index.sqlite")) as base, base:
        base.execute(sql, values)


def rows(folder: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(folder / "index.sqlite")) as base:
        return [key for (key,) in base.execute("SELECT key FROM runs ORDER BY key")]


@pytest.mark.parametrize(
    "sql",
    [
        """UPDATE runs SET text = replace(text, '"epoch": 3', '"epoch": 7')""",
        "UPDATE runs SET text = x'ff'",
        "UPDATE runs SET text = NULL, time = 'x'",
        "UPDATE runs SET key = key || 'x'",
        "DROP TABLE runs",
        "CREATE TABLE other (a)",
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
        "DELETE FROM runs WHERE key < '8'",
    ],
)
def test_rows_that_nobody_wrote_do_not_count(filled: Path, sql: str) -> None:
    statement(filled, sql)
    assert same(found(filled)[0])
    assert same(found(filled)[0]) and rows(filled) == sorted(KEYS)


def test_rows_without_a_folder_go(filled: Path) -> None:
    shutil.rmtree(filled / "runs" / KEYS[2])
    results, said = found(filled)
    assert KEYS[2] not in results and len(results) == 4 and not said
    assert rows(filled) == sorted(set(KEYS) - {KEYS[2]})


def test_an_older_index_is_brought_up_to_date(filled: Path, tmp_path: Path) -> None:
    shutil.copy(filled / "index.sqlite", tmp_path / "old")
    keep(Store(filled), RUNS[1], result())  # there already: stays as it is
    shutil.rmtree(filled / "runs" / KEYS[1])
    store = Store(filled)
    keep(store, RUNS[1], RunResult({"margin": 2.0}))
    store.flush()
    shutil.copy(tmp_path / "old", filled / "index.sqlite")
    assert found(filled)[0][KEYS[1]].values == {"margin": 2.0}


def test_a_locked_index_is_done_without(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "WAIT", 0.05)
    shutil.rmtree(filled / "runs" / KEYS[4])
    with contextlib.closing(sqlite3.connect(filled / "index.sqlite")) as base:
        base.execute("BEGIN EXCLUSIVE")
        store = Store(filled)
        assert len(store.find(KEYS)) == 4
        keep(store, RUNS[4], result(4))
        store.flush()
        assert same(store.find(KEYS))
    assert same(found(filled)[0]) and rows(filled) == sorted(KEYS)


def change(folder: Path, **values: object) -> None:
    path = folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.mark.parametrize(
    "harm",
    [
        lambda p: (p / "run.json").unlink(),
        lambda p: (p / "run.json").write_bytes(b""),
        lambda p: (p / "run.json").write_bytes(b"\xff\xfe"),
        lambda p: (p / "run.json").write_bytes(b"[" * 10**5),
        lambda p: (p / "run.json").write_bytes(b"9" * 10**4),
        lambda p: (p / "run.json").write_bytes(b'{"run": [], "hash": ""}'),
        lambda p: os.truncate(p / "run.json", 1 << 30),
        lambda p: shutil.copy(p.parent / KEYS[1] / "run.json", p / "run.json"),
        lambda p: change(p, values={"margin": 9.0}),
        lambda p: change(p, values=[1], hash="x"),
        lambda p: change(p, reason="I say so"),
        lambda p: change(p, extra=1),
        lambda p: (p / "run.json").rename(p / "other.json"),
        lambda p: ((p / "run.json").rename(p / "o"), (p / "run.json").symlink_to("o")),
        lambda p: ((p / "run.json").unlink(), os.mkfifo(p / "run.json")),
        lambda p: (shutil.rmtree(p), p.write_bytes(b"a file")),
        lambda p: (p.rename(p.parents[2] / "out"), p.symlink_to(p.parents[2] / "out")),
        lambda p: ((p / "run.json").unlink(), (p / "photos").mkdir()),
        *(lambda p, k=k: spoil(p / "run.json", k, "cut") for k in range(3)),
    ],
)
def test_a_broken_run_folder_is_said_and_another_written_beside_it(filled: Path, harm) -> None:
    target = filled / "runs" / KEYS[0]
    harm(target)
    damaged = os.lstat(target)
    outside = filled.parent / "out"
    for _ in range(2):
        results, said = found(filled)
        assert len(results) == 4 and KEYS[0] not in results
        assert len(said) == 1 and KEYS[0] in said[0] and "\n" not in said[0]
    store = Store(filled)
    store.find(KEYS)
    assert keep(store, RUNS[0], result(0)).values == {**VALUES, "epoch": 0}
    results, said = found(filled)
    assert same(results) and not said
    assert os.lstat(target) == damaged  # whatever it is, it is not ours to move
    assert (
        results[KEYS[0]].folder == f"{KEYS[0]}-2"
        and not target.with_name(f"{KEYS[0]}-2").is_symlink()
    )
    assert not outside.exists() or os.listdir(outside) == ["run.json"]
    target.with_name(f"{KEYS[0]}-2").joinpath("run.json").unlink()
    assert keep(Store(filled), RUNS[0], result(0)).folder == f"{KEYS[0]}-3"


@pytest.mark.parametrize("how", ["flip", "insert", "remove"])
def test_no_altered_run_folder_is_believed(filled: Path, how: str) -> None:
    good = (filled / "runs" / KEYS[0] / "run.json").read_bytes()
    for k in range(60):
        (filled / "runs" / KEYS[0] / "run.json").write_bytes(good)
        spoil(filled / "runs" / KEYS[0] / "run.json", k, how)
        there = Store(filled).look(KEYS[0])
        # White space may change: the values may not.
        assert there is None or (there.values, there.reason) == ({**VALUES, "epoch": 0}, "")


def test_many_broken_folders_take_a_few_lines(filled: Path) -> None:
    for key in KEYS:
        (filled / "runs" / key / "run.json").write_bytes(b"")
    said = found(filled)[1]
    assert len(said) == 4 and said[-1] == "and so 2 more run folders"


def test_a_failed_run_gives_way_to_a_good_one_and_never_the_other_way(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    keep(store, RUNS[0], RunResult({}, reason="first"))
    assert keep(store, RUNS[0], RunResult({}, reason="second")).reason == "second"
    assert keep(store, RUNS[0], result()).values["epoch"] == 0
    assert not keep(store, RUNS[0], RunResult({}, reason="third")).failed
    assert not found(tmp_path / "s")[0][KEYS[0]].failed
    names = [KEYS[0], f"{KEYS[0]}-failed", f"{KEYS[0]}-failed-2"]
    assert sorted(os.listdir(store.runs)) == names
    assert found(tmp_path / "s")[0][KEYS[0]].folder == KEYS[0]


@pytest.mark.parametrize("other", [result(7), RunResult({}, reason="no")])
@pytest.mark.parametrize("moment", ["os.path.lexists", "tacit.sweeps.store.write_folder"])
def test_a_folder_that_another_writer_has_just_put_there_is_never_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, other: RunResult
) -> None:
    store, faster = Store(tmp_path / "s"), Store(tmp_path / "s")
    original = {"os.path.lexists": os.path.lexists}.get(moment, write_folder)
    inode = 0

    def late(path, *rest):
        nonlocal inode
        if not inode and Path(path).parent == store.runs:
            inode = -1
            inode = os.lstat(store.runs / keep(faster, RUNS[0], other).folder).st_ino
        return original(path, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(moment, late)
        kept = keep(store, RUNS[0], result(5))
    failed = [f"{KEYS[0]}-failed"] if other.failed else []
    assert sorted(os.listdir(store.runs)) == [KEYS[0], *failed]
    assert os.lstat(store.runs / [KEYS[0], *failed][-1]).st_ino == inode > 0
    results, said = found(store.folder)
    assert kept.values["epoch"] == (5 if other.failed else 7)
    assert not said and results[KEYS[0]].values == kept.values


def test_many_writers_of_one_key_leave_one_valid_result(tmp_path: Path) -> None:
    stores = [Store(tmp_path / "s") for _ in range(4)]
    for run in RUNS:
        with ThreadPoolExecutor(4) as threads:
            kept = list(threads.map(lambda store, run=run: keep(store, run, result(7)), stores))
        assert all(one.values["epoch"] == 7 for one in kept)
    results, said = found(tmp_path / "s")
    assert len(results) == 5 and not said and sorted(os.listdir(stores[0].runs)) == sorted(KEYS)


STORM = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from tacit.sweeps.planned_run import DataCall, RunResult, PlannedRun
from tacit.sweeps.store import Store
from tacit.values import Setting
rounds, me = int(sys.argv[2]), int(sys.argv[3])
together = Barrier(4)
def write(k):
    store, lost = Store(Path(sys.argv[1])), 0
    for seed in range(rounds):
        run = PlannedRun(DataCall("gaussians:n=10"), Setting(), 100, seed, ("margin",), 60.0)
        together.wait()
        kept = []
        store.keep([(run, RunResult({"epoch": 4 * me + k}))], lambda run, one: kept.append(one))
        there = store.look(run.key)
        lost += there is None or there.values != kept[0].values or there.folder != kept[0].folder
    return lost
with ThreadPoolExecutor(4) as threads:
    sys.exit(sum(threads.map(write, range(4))))
"""


@pytest.mark.long
def test_a_storm_of_processes_and_threads_leaves_every_whole_folder_where_it_is(
    tmp_path: Path,
) -> None:
    """8 processes of 4 threads write the same 1,000 keys; every third folder is damaged before."""
    rounds, folder = 1000, tmp_path / "s"
    store = Store(folder)
    keys = [replace(RUNS[0], seed=seed).key for seed in range(rounds)]
    for key in keys[::3]:
        (store.runs / key).mkdir()
        (store.runs / key / "run.json").write_bytes(b"{")
    command = [sys.executable, "-c", STORM, str(folder), str(rounds)]
    storm = [
        subprocess.Popen([*command, str(k)], stderr=subprocess.PIPE, text=True) for k in range(8)
    ]
    ends = [(process.communicate()[1], process.returncode) for process in storm]
    assert ends == [("", 0)] * 8
    names = {key if i % 3 else f"{key}-2" for i, key in enumerate(keys)} | set(keys)
    assert set(os.listdir(store.runs)) == names
    assert all((store.runs / key / "run.json").read_bytes() == b"{" for key in keys[::3])
    assert len(Store(folder).find(keys)) == rounds


@pytest.mark.parametrize("moment", range(6))
def test_interrupted_at_any_moment_what_is_on_the_disk_was_told(
    tmp_path: Path, moment: int
) -> None:
    """While runs are handed to the writers, or between two that are told."""
    store, told = Store(tmp_path / "s"), set()

    def handed():
        for k, run in enumerate(RUNS):
            if k == moment - 1:
                while len(os.listdir(store.runs)) < k:
                    time.sleep(0.001)
                raise KeyboardInterrupt
            yield run, result(k)

    def tell(run: PlannedRun, kept: RunResult) -> None:
        if moment == 0 and len(told) == 2 and run.key not in told:
            told.add(run.key)
            raise KeyboardInterrupt
        told.add(run.key)

    with pytest.raises(KeyboardInterrupt):
        store.keep(handed(), tell)
    assert told == set(os.listdir(store.runs)) == set(found(store.folder)[0])


def test_sweeps_that_begin_at_the_same_moment_share_a_new_folder(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        for k in range(20):
            stores = [threads.submit(Store, tmp_path / f"{k}") for _ in range(8)]
            assert all(store.result().runs.is_dir() for store in stores)


def test_leftovers_of_the_killed_go_and_those_of_the_living_stay(filled: Path) -> None:
    for place in (filled, filled / "runs"):
        for name in ("old", "new"):
            (place / f".tacit-{name}").mkdir()
            (place / f".tacit-{name}" / "run.json").write_bytes(b"half")
        (place / ".tacit-file").write_bytes(b"half")
        (place / ".tacit-link").symlink_to(filled / "sweep.json")
        long_ago = time.time() - OLD - 10
        for name in ("old", "file", "link"):
            os.utime(place / f".tacit-{name}", (long_ago, long_ago), follow_symlinks=False)
    assert same(found(filled)[0])
    for place in (filled, filled / "runs"):
        assert [name for name in os.listdir(place) if name[0] == "."] == [".tacit-new"]
    assert (filled / "sweep.json").exists()


def test_folders_that_are_not_of_a_sweep_are_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("mine")
    refused(lambda: Store(theirs), str(theirs), "something else", "`out=FOLDER`")
    assert os.listdir(theirs) == ["thesis.txt"]
    refused(lambda: Store(theirs / "new" / ".."), "something else")
    assert os.listdir(theirs) == ["thesis.txt"]
    refused(lambda: Store(theirs / "thesis.txt"), "is a file")
    refused(lambda: Store(theirs / "thesis.txt" / "s"), "is a file")
    refused(lambda: Store(Path("/proc/tacit/s")), "cannot be written")
    refused(lambda: Store(Path("a\0b")), "name")
    for said in (b"", b"[]", b"{}", b"[" * 10**5, b'"format"'):
        (theirs / "sweep.json").write_bytes(said)
        refused(lambda: Store(theirs), "sweep.json", "not written by a sweep")
    (theirs / "sweep.json").write_bytes(b'{"format": 99}')
    refused(lambda: Store(theirs), "another version")
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / ".tacit-123").write_bytes(b"of one that was killed at once")
    Store(tmp_path / "s")
    (tmp_path / "s" / "runs").rmdir()
    (tmp_path / "s" / "runs").symlink_to(theirs)
    refused(lambda: Store(tmp_path / "s"), "runs is a link")


def test_a_link_beside_the_runs_is_replaced_and_not_followed(filled: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (filled / "table.csv").symlink_to(tmp_path / "mine")
    assert Store(filled).write("table.csv", b"1").read_bytes() == b"1"
    assert (tmp_path / "mine").read_text() == "mine"
    (filled / "lock").symlink_to(tmp_path / "mine")
    with Store(filled).working():
        assert (tmp_path / "mine").read_text() == "mine"


def test_no_table_can_be_written_is_said_before_any_work(filled: Path) -> None:
    (filled / "table.csv").mkdir()
    refused(lambda: Store(filled), "table.csv is not a plain file")


def test_whatever_is_in_the_place_of_the_lock(filled: Path, tmp_path: Path) -> None:
    os.mkfifo(filled / "lock")
    with Store(filled).working() as first:  # nobody reads the pipe, and nobody waits
        assert first is True
    (filled / "lock").unlink()
    (tmp_path / "mine").write_text("mine")
    os.link(tmp_path / "mine", filled / "lock")
    with Store(filled).working():
        assert (tmp_path / "mine").read_text() == "mine"


def test_only_one_is_the_first_at_work(filled: Path) -> None:
    with Store(filled).working() as one, Store(filled).working() as two:
        assert (one, two) == (True, False)
    with Store(filled).working() as one:
        assert one is True


FULL = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from tacit.sweeps.planned_run import DataCall, RunResult, PlannedRun
from tacit.sweeps.store import Store
from tacit.values import BadInput, Setting
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store(Path(sys.argv[1]))
for seed in range(5):
    run = PlannedRun(DataCall("gaussians:n=10"), Setting(), 100, seed, ("margin",), 60.0)
    if seed == 3:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    try:
        store.keep([(run, RunResult({"margin": 1.0}))])
    except BadInput as error:
        store.flush()  # nor can the index grow
        print(error)
        sys.exit(2)
"""


def test_no_room_is_one_line_and_everything_before_is_readable(tmp_path: Path) -> None:
    """The system itself refuses to make files larger than 100 bytes, as a full disk would."""
    assert resource.RLIMIT_FSIZE is not None and signal.SIGXFSZ
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "s")], capture_output=True, text=True
    )
    assert done.returncode == 2 and done.stderr == ""
    assert done.stdout.count("\n") == 1 and "cannot be written" in done.stdout
    results, said = found(tmp_path / "s")
    assert sorted(results) == sorted(KEYS[:3]) and not said
    assert not [name for name in os.listdir(tmp_path / "s" / "runs") if name[0] == "."]
    store = Store(tmp_path / "s")
    for run in RUNS:
        keep(store, run, result())
    assert len(found(tmp_path / "s")[0]) == 5


def test_other_runs_in_the_folder_do_not_matter(filled: Path) -> None:
    other = replace(RUNS[0], epochs=7)
    keep(Store(filled), other, result(7))
    assert same(found(filled)[0])
    assert Store(filled).find([other.key])[other.key].values["epoch"] == 7
