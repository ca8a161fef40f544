"""What the run folders of a sweep said when they were last read, in one file that is quick to read.

It is only a cache. It may be missing, broken, locked or old at any time: a row counts if it was
made of the very file that is there now, and whatever goes wrong here, the folders are read instead.
"""

import contextlib
import hashlib
import sqlite3
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")

WAIT = 3.0
"""Seconds to wait for another process that writes; after that this one goes on without."""
SCHEMA = (
    "CREATE TABLE runs (key TEXT PRIMARY KEY, time INTEGER, size INTEGER, text TEXT, "
    "hash TEXT) WITHOUT ROWID"
)
INSERT = "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?)"
BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class IndexRow(NamedTuple):
    """One run folder: its run.json by time of change and size, and what is needed of it."""

    time: int
    """Nanoseconds."""
    size: int
    text: str


class Index:
    """The file with a row for every run folder; whatever fails here is done without."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.usable = True
        """False once it could not be opened or written; nothing more is tried then."""

    def read(self, keys: Collection[str]) -> dict[str, IndexRow]:
        """The rows with these keys, as far as they are whole."""

        def rows(base: sqlite3.Connection) -> dict[str, IndexRow]:
            whole = {}
            for key, *rest, mark in base.execute("SELECT * FROM runs"):
                row = IndexRow(*rest)
                if key in keys and mark == _hash(key, row):
                    whole[key] = row
            return whole

        return self._do(rows) or {}

    def write(self, rows: Mapping[str, IndexRow]) -> None:
        full = [(key, *row, _hash(key, row)) for key, row in rows.items()]
        self._do(lambda base: base.executemany(INSERT, full))

    def keep_only(self, keys: Collection[str]) -> None:
        """Rows of folders that have gone go too."""

        def remove(base: sqlite3.Connection) -> None:
            gone = [row for row in base.execute("SELECT key FROM runs") if row[0] not in keys]
            base.executemany("DELETE FROM runs WHERE key = ?", gone)

        self._do(remove)

    def _do(self, act: Callable[[sqlite3.Connection], T]) -> T | None:
        """What `act` does with the file, made anew if it is broken; None if it cannot be used."""
        for _ in range(2):
            if not self.usable:
                break
            try:
                if self.path.is_symlink():
                    self._remove()
                with contextlib.closing(_connect(self.path)) as base:
                    answer = act(base)
                    base.commit()
                    return answer
            except (sqlite3.Error, OSError) as error:
                if _broken(error):
                    self._remove()
                else:
                    self.usable = False
        return None

    def _remove(self) -> None:
        for path in (self.path, self.path.with_name(f"{self.path.name}-journal")):
            with contextlib.suppress(OSError):
                path.unlink()


def _connect(path: Path) -> sqlite3.Connection:
    base = sqlite3.connect(path, timeout=WAIT)
    try:
        base.execute("PRAGMA trusted_schema = OFF")
        base.execute("PRAGMA synchronous = OFF")  # what a power cut loses is read anew
        said = "SELECT sql FROM sqlite_master"
        if not base.execute(said).fetchall():
            base.execute("BEGIN IMMEDIATE")
            if not base.execute(said).fetchall():  # nobody was faster
                base.execute(SCHEMA)
            base.commit()
        if base.execute(said).fetchall() != [(SCHEMA,)]:
            raise sqlite3.DatabaseError("made by somebody else")
        return base
    except BaseException:
        base.close()
        raise


def _broken(error: Exception) -> bool:
    """Whether the file is to blame, rather than the disk or another process."""
    return isinstance(error, sqlite3.Error) and (
        getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF in BROKEN
    )


def _hash(key: object, row: IndexRow) -> str:
    return hashlib.sha256(repr((key, *row)).encode()).hexdigest()[:16]
