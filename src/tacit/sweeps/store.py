"""Where a sweep keeps its runs: one folder each, named after the run's key, written whole.

    DIR/sweep.json        marks the folder, and says what was asked for
    DIR/runs/KEY/         a run, see `tacit.sweeps.run_folder`
    DIR/runs/KEY-failed/  why it failed
    DIR/index.sqlite      a cache of the run folders; may be deleted at any time
    DIR/lock              held by a sweep that is at work
    DIR/table.csv         written when all runs are there

The run folders are the truth; nothing else is believed. A run folder appears whole, by one rename
to a name that is free, and from then on nobody moves, replaces or removes it: whoever finds one
that is damaged writes KEY-2 beside it, or KEY-3. So writers cannot harm each other, whatever they
see.
"""

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count as numbers
from pathlib import Path

import tacit
from tacit.files import check_writable, open_regular, write_file, write_folder
from tacit.messages import count
from tacit.sweeps.index import Index, IndexRow
from tacit.sweeps.planned_run import FORMAT, PlannedRun, RunResult
from tacit.sweeps.run_folder import MOST_BYTES, files, read
from tacit.values import BadInput

MARK, TABLE = "sweep.json", "table.csv"
OLD = 3600.0
"""Seconds after which the leftovers of a killed writer are removed."""
FLUSH = 1.0
"""Seconds between writes to the index."""
WRITERS = 4
"""Run folders that are written at a time."""
ADVICE = "choose another folder with `out=FOLDER`"
SAID = 3
"""Broken run folders that are named one by one."""


class Store:
    """The folder of a sweep. BadInput when there is something else, or nothing can be written."""

    def __init__(
        self, folder: Path, asked: str = "", warn: Callable[[str], None] = lambda words: None
    ) -> None:
        self.folder, self.runs, self._warn = folder, folder / "runs", warn
        try:
            _check(folder)
            _mark(folder / MARK, asked)  # first: another sweep may look at the folder just now
            self.runs.mkdir(exist_ok=True)
            _remove_old(folder)
            _remove_old(self.runs)
        except OSError as error:
            raise BadInput(f"{folder} cannot be used: {error.strerror}; {ADVICE}") from error
        self._index = Index(folder / "index.sqlite")
        self._rows: dict[str, IndexRow] = {}
        """Not yet in the index."""
        self._flushed = time.monotonic()
        self._broken: dict[str, str] = {}
        """Folders that do not count, and why."""
        self._told: set[str] = set()

    def find(self, keys: Collection[str]) -> dict[str, RunResult]:
        """What is known of these runs, without their arrays."""
        names = set(os.listdir(self.runs))
        self._index.keep_only(names)
        rows = self._index.read(names)
        results: dict[str, RunResult] = {}
        for key in keys:
            result = self._look(key, rows)
            if result is not None:
                results[key] = result
        self._tell_broken()
        self.flush()
        return results

    def look(self, key: str) -> RunResult | None:
        """What is there of one run now."""
        result = self._look(key, {})
        self._tell_broken()
        return result

    def keep(
        self,
        results: Iterable[tuple[PlannedRun, RunResult]],
        tell: Callable[[PlannedRun, RunResult], None] = lambda run, result: None,
    ) -> None:
        """Write them, and tell what is there then; another sweep may have been faster.

        Several at a time, since most of the time is waiting for the disk. Whatever interrupts it,
        at whatever moment, exactly the runs that are on the disk have been told.
        """
        written: dict[str, tuple[PlannedRun, RunResult, IndexRow]] = {}

        def write(run: PlannedRun, result: RunResult) -> None:
            written[run.key] = (run, *self._write(run, result))

        def note(key: str) -> None:
            run, kept, row = written[key]
            self._rows[kept.folder] = row
            tell(run, kept)
            del written[key]

        with ThreadPoolExecutor(WRITERS) as threads:
            try:
                tasks = {run.key: threads.submit(write, run, result) for run, result in results}
                for key, task in tasks.items():
                    task.result()
                    note(key)
            except BaseException:
                threads.shutdown(cancel_futures=True)
                for key in list(written):
                    note(key)
                raise
        if time.monotonic() > self._flushed + FLUSH:
            self.flush()

    def _write(self, run: PlannedRun, result: RunResult) -> tuple[RunResult, IndexRow]:
        """Publish the result under a free name, unless another writer was faster."""
        while True:
            there, free = self._judge(run.key, {}, {}, result.failed)
            if there and (not there[0].failed or there[0].reason == result.reason):
                return there
            try:
                write_folder(self.runs / free, files(run, result))
            except BadInput:
                if not os.path.lexists(self.runs / free):  # no other writer: the disk is full, say
                    raise
            else:
                return read(self.runs / free, run.key)

    def write(self, name: str, data: bytes) -> Path:
        """A table or a picture beside the runs, in the place of an older one."""
        path = self.folder / name
        if path.is_symlink():
            path.unlink()
        write_file(path, data, force=True)
        return path

    def flush(self) -> None:
        """Bring the index up to date."""
        if self._rows:
            self._index.write(self._rows)
            self._rows.clear()
        self._flushed = time.monotonic()

    @contextlib.contextmanager
    def working(self) -> Iterator[bool]:
        """Yields whether no other sweep is at work here; the index is up to date afterwards."""
        with contextlib.ExitStack() as stack:
            first = True
            with contextlib.suppress(ImportError, OSError):  # Windows; disks without locks
                import fcntl

                file = stack.enter_context(open(self.folder / "lock", "ab", opener=_no_link))
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    first = False
            stack.callback(self.flush)
            yield first

    def _look(self, key: str, rows: Mapping[str, IndexRow]) -> RunResult | None:
        broken: dict[str, str] = {}
        there, _ = self._judge(key, rows, broken)
        if there is None:
            self._broken.update(broken)
            return None
        result, row = there
        if row != rows.get(result.folder):
            self._rows[result.folder] = row
        return result

    def _judge(
        self, key: str, rows: Mapping[str, IndexRow], broken: dict[str, str], failed: bool = False
    ) -> tuple[tuple[RunResult, IndexRow] | None, str]:
        """The first good folder of a run, else the last whole one, and a name that is free."""
        there, free = None, ""
        for stem in (key, f"{key}-failed"):
            names = (stem if k == 1 else f"{stem}-{k}" for k in numbers(1))
            while os.path.lexists(self.runs / (name := next(names))):
                try:
                    one = read(self.runs / name, key, rows.get(name))
                except (BadInput, OSError) as error:
                    broken[name] = str(error)
                    continue
                if not one[0].failed:
                    return one, ""
                there = one
            if failed == (stem != key):
                free = name
        return there, free

    def _tell_broken(self) -> None:
        new = {name: why for name, why in self._broken.items() if name not in self._told}
        for name in list(new)[:SAID]:
            self._warn(f"{self.runs / name} does not count and is computed anew: {new[name]}")
        if len(new) > SAID:
            self._warn(f"and so {count(len(new) - SAID, 'more run folder')}")
        self._told.update(new)


def _check(folder: Path) -> None:
    """Refuse, before any work, what is no folder of a sweep and cannot become one."""
    if "\0" not in str(folder):
        folder = Path(os.path.realpath(folder))  # new/.. is there as soon as new is
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is a file; {ADVICE}")
    names = os.listdir(folder) if folder.exists() else []
    if MARK in names:
        try:
            with open_regular(folder / MARK, MOST_BYTES) as file:
                kind = json.loads(file.read())["format"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise BadInput(f"{folder / MARK} was not written by a sweep; {ADVICE}") from None
        if kind != FORMAT:
            raise BadInput(f"{folder} was written by another version of tacit; {ADVICE}")
    elif any(not name.startswith(".tacit-") for name in names):
        raise BadInput(f"{folder} holds something else than a sweep; {ADVICE}")
    runs = folder / "runs"
    if runs.is_symlink() or (runs.exists() and not runs.is_dir()):
        raise BadInput(f"{runs} is a link or a file; {ADVICE}")
    for path in (folder / MARK, runs / MARK, folder / TABLE):
        if path.name != TABLE or not path.is_symlink():  # a link is replaced by the table
            check_writable(path, force=True, folder=False)


def _mark(path: Path, asked: str) -> None:
    about = {"format": FORMAT, "tacit": tacit.__version__, "asked": asked}
    data = json.dumps(about, indent=1, ensure_ascii=False).encode()
    if not path.is_file() or path.read_bytes() != data:
        write_file(path, data, force=True)


def _remove_old(folder: Path) -> None:
    """What killed writers left long ago; what is younger may be of a sweep that lives."""
    for entry in os.scandir(folder):
        if entry.name.startswith(".tacit-"):
            with contextlib.suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime < OLD:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)


def _no_link(path: str, flags: int) -> int:
    """Nor does it wait where somebody put a pipe."""
    more = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.open(path, flags | more, 0o666)
