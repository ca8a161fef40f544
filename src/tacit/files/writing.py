"""Writing files and folders so that none is ever left half-written.

Everything goes into a temporary neighbour first and is moved into place when it is complete and on
the disk, so whoever looks sees the old state or the new one.
"""

import contextlib
import io
import os
import secrets
import shutil
import tempfile
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

import numpy as np

from tacit.files.names import path_of
from tacit.messages import BadInput

written: deque[Path] = deque(maxlen=100)
"""What was written last, the newest at the end."""
MARKS = ("run.json", "limit.json", "result.json", "claims.json")
"""A folder of ours holds one of these, which says what kind it is."""


def npz_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """A compressed .npz archive; the same arrays always give the same bytes."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, array in arrays.items():
            part = io.BytesIO()
            np.lib.format.write_array(part, np.asarray(array), allow_pickle=False)
            # The earliest date that an archive can hold: that of writing would change the bytes.
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            content = part.getbuffer()
            # The digits of random numbers take seconds to compress, by a few percent.
            sample = content[: 1 << 16]
            if len(zlib.compress(sample, 1)) < 0.8 * len(sample):
                entry.compress_type = zipfile.ZIP_DEFLATED
            # Higher levels take three times as long for a few percent.
            archive.writestr(entry, content, compresslevel=1)
    return whole.getvalue()


def check_writable(path: str | Path, force: bool = False, *, folder: bool = True) -> None:
    """BadInput when `write_folder` (or `write_file`) could not write there; to be called first."""
    target = _target(path)
    with _writing(path, "choose another place"):
        if target.exists():
            if folder and not target.is_dir():
                raise BadInput(f"{path} is a file; choose another name for the folder to write")
            if not folder and not target.is_file():
                raise BadInput(f"{path} is not a plain file; choose another name to write to")
            if not force:
                raise BadInput(f"{path} already exists; choose another name or give `force=True`")
            if folder:
                _check_ours(target)
        above = next(parent for parent in [*target.parents, target] if parent.exists())
        if not above.is_dir():
            raise BadInput(f"{path} cannot be written: {above} is a file; choose another place")
        # Asks the system itself, whoever we are; under a name that others know as ours.
        with tempfile.TemporaryFile(dir=above, prefix=".tacit-"):
            pass


def write_folder(path: str | Path, files: Mapping[str, bytes], force: bool = False) -> None:
    """Write a whole folder or nothing; with `force` it replaces an older one written by us.

    Other files in the old folder, which somebody may have put there, are kept.

    On Linux the old and the new folder change places in one step. Elsewhere a crash between two
    renames may leave `path` absent, with the old folder complete beside it as `.tacit-…-old`.
    A process killed while it writes leaves at most a hidden folder `.tacit-…` beside `path`.
    """
    if any(name in ("", ".", "..") or os.path.basename(name) != name for name in files):
        raise ValueError(f"file names must be plain, not {list(files)}")
    with _temporary(path, force, folder=True) as (temporary, target):
        temporary.mkdir()
        for name, data in files.items():
            _write_new(temporary / name, data)
        check_writable(path, force)
        replaces = force and target.exists()
        if replaces:
            _carry_over(target, temporary, files)
        _sync_folder(temporary)
        # A rename is refused by the system if another writer was faster.
        _publish(_swap if replaces else os.rename, temporary, target, path)


def write_file(path: str | Path, data: bytes, force: bool = False) -> None:
    """Write a whole file or nothing; with `force` it replaces an older one."""
    with _temporary(path, force, folder=False) as (temporary, target):
        _write_new(temporary, data)
        check_writable(path, force, folder=False)
        _publish(os.replace, temporary, target, path)


def _publish(
    rename: Callable[[Path, Path], None], temporary: Path, target: Path, path: str | Path
) -> None:
    """Give it its name and note that: no interrupt comes between the two (`tacit.interrupts`)."""
    rename(temporary, target)
    written.append(Path(path))


@contextlib.contextmanager
def _temporary(path: str | Path, force: bool, folder: bool) -> Iterator[tuple[Path, Path]]:
    """A name beside the target, and the target. Whatever has that name afterwards is removed."""
    check_writable(path, force, folder=folder)
    target = _target(path)
    temporary = target.with_name(f".tacit-{secrets.token_hex(6)}")
    missing = [parent for parent in target.parents if not parent.exists()]
    with _writing(path, "nothing was left half-written; make room or choose another place"):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            yield temporary, target
            _sync_folder(target.parent)
            _clean(temporary, target)
        except BaseException:
            _clean(temporary, target)
            for parent in missing:
                with contextlib.suppress(OSError):  # not empty: somebody else uses it
                    parent.rmdir()
            raise


@contextlib.contextmanager
def _writing(path: str | Path, advice: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadInput(f"{path} cannot be written: {reason}; {advice}") from error


def _target(path: str | Path) -> Path:
    if not str(path).strip() or "\0" in str(path):
        raise BadInput(f"{str(path)!r} cannot be the name of a file or folder; give another name")
    # A symbolic link stays, what it leads to is replaced.
    target = Path(os.path.realpath(path_of(path)))
    if os.path.islink(target):
        raise BadInput(f"{path} is a link that leads back to itself; choose another name")
    return target


def _check_ours(target: Path) -> None:
    """A folder may be replaced when it is empty or clearly one of our own."""
    home = Path(os.path.expanduser("~"))
    if any(kept.is_relative_to(target) for kept in (Path.cwd(), home)):
        raise BadInput(f"{target} holds the working folder or the home folder; it is not replaced")
    inside = list(os.scandir(target))
    if any(entry.is_dir(follow_symlinks=False) for entry in inside):
        raise BadInput(
            f"{target} holds folders, so it was not written by tacit; it is not replaced"
        )
    if inside and not set(MARKS) & {entry.name for entry in inside}:
        raise BadInput(
            f"{target} holds no {' or '.join(MARKS)}, so it was not written by tacit; "
            "it is not replaced"
        )


def _carry_over(old: Path, new: Path, written: Collection[str]) -> None:
    for entry in os.scandir(old):
        if entry.name not in (*written, *MARKS):
            shutil.copy2(entry.path, new / entry.name, follow_symlinks=False)


def _write_new(path: Path, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    if os.name == "nt":  # Windows cannot open a folder
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _clean(temporary: Path, target: Path) -> None:
    _remove(temporary)
    if target.exists():  # otherwise what was set aside is all there is
        _remove(_aside(temporary))


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _aside(temporary: Path) -> Path:
    return temporary.with_name(f"{temporary.name}-old")


def _swap(new: Path, old: Path) -> None:
    """Put the new folder in the place of the old one, in one step where the system can."""
    if _exchange(new, old):
        return
    aside = _aside(new)
    try:
        os.rename(old, aside)
        os.rename(new, old)
    except BaseException:
        if not old.exists():
            os.rename(aside, old)
        raise


def _exchange(new: Path, old: Path) -> bool:
    """Let two folders change places in one step; False where the system does not know how."""
    import ctypes

    try:
        renameat2 = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE of <linux/fcntl.h>, <linux/fs.h>
    return renameat2(here, os.fsencode(new), here, os.fsencode(old), exchange) == 0
