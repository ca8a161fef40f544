"""Reading arrays so that no file, however it was made, can do harm.

Nothing is ever unpickled, and what a file declares is held against a cap, and against what the
file really contains, before memory is taken.
"""

import contextlib
import difflib
import io
import math
import os
import stat
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from tacit.files.names import path_of
from tacit.messages import BadInput

MOST_BYTES = 4 << 30
"""Arrays read from one file may take this much memory in all."""
MOST_MEMBERS = 1000
"""Arrays in one file; a directory of millions would take long to read."""
MOST_HEADER = 10_000
"""Bytes of a .npy header; an ordinary one has 118."""
BOMB_BYTES, BOMB_RATIO = 1 << 30, 100
"""An archive that unpacks to more than both, in bytes and times its own size, is refused."""

_CHUNK = 1 << 24
"""Bytes that are unpacked at a time, so that a file that lies about its size is found out."""
_OVERHEAD = 1 << 20
"""What headers may add to the size of a file."""


def open_regular(path: str | Path, most_bytes: int = MOST_BYTES) -> IO[bytes]:
    """Open a plain file of at most `most_bytes` bytes for reading; anything else is BadInput."""
    path = path_of(path)
    with _opening(path):
        mode = os.stat(path).st_mode  # before opening: opening a named pipe would wait for ever
    if stat.S_ISDIR(mode):
        raise BadInput(f"{path} is a folder; a file is needed")
    if not stat.S_ISREG(mode):
        raise BadInput(f"{path} is a device or pipe; a plain file is needed")
    with _opening(path):
        file = open(path, "rb")
    size = os.fstat(file.fileno()).st_size
    if size > most_bytes:
        file.close()
        raise BadInput(f"{path} has {size:,} bytes; at most {most_bytes:,} are read")
    return file


@contextlib.contextmanager
def _opening(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file{_neighbour(path)}") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # a name with a null character
        raise BadInput(f"{str(path)!r} cannot be the name of a file: {error}") from error


def _neighbour(path: Path) -> str:
    """`; did you mean …?` when the same folder holds a file of nearly that name."""
    if path.is_symlink():
        return f" as the one it links to, '{os.readlink(path)}'"
    with contextlib.suppress(OSError):
        close = difflib.get_close_matches(path.name, os.listdir(path.parent), n=1)
        if close:
            return f"; did you mean '{path.with_name(close[0])}'?"
    return ""


def read_npy(path: str | Path, *, most_bytes: int = MOST_BYTES) -> np.ndarray:
    """The array of a .npy file; see `read_npz`."""
    with open_regular(path, most_bytes + _OVERHEAD) as file, mendable(f"{path}"):
        return _array(file, os.fstat(file.fileno()).st_size, most_bytes, f"{path}")


def read_npz(path: str | Path, *, most_bytes: int = MOST_BYTES) -> dict[str, np.ndarray]:
    """The arrays of a .npz archive by name.

    Numbers, truth values and text are read; Python objects (pickles), structured arrays, dates and
    archives that would take more than `most_bytes` of memory are refused.
    """
    with open_regular(path, most_bytes + _OVERHEAD) as file, mendable(f"{path}"):
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            _check_members(members, most_bytes, os.fstat(file.fileno()).st_size, f"{path}")
            arrays = {}
            for member in members:
                name = member.filename.removesuffix(".npy")
                with archive.open(member) as stream:
                    where = f"{path}, array {name!r}"
                    arrays[name] = _array(stream, member.file_size, most_bytes, where)
            return arrays


@contextlib.contextmanager
def mendable(where: str) -> Iterator[None]:
    """Whatever a broken file makes the readers raise becomes one line."""
    try:
        yield
    except BadInput:
        raise
    except Exception as error:  # zipfile, zlib and numpy raise a dozen kinds on a broken file
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(f"{where} is broken or not what its ending says: {reason}") from error


def _check_members(
    members: list[zipfile.ZipInfo], most_bytes: int, packed: int, where: str
) -> None:
    if len(members) > MOST_MEMBERS:
        raise BadInput(f"{where} holds {len(members):,} arrays; at most {MOST_MEMBERS:,} are read")
    names = [member.filename for member in members]
    for member in members:
        name = member.filename
        if not name.endswith(".npy") or "/" in name or "\\" in name:
            raise BadInput(f"{where} holds {name!r}; only arrays with plain names are allowed")
        if names.count(name) > 1:
            raise BadInput(f"{where} holds {name!r} twice; each array must occur once")
        if member.flag_bits & 1:
            raise BadInput(f"{where}: {name!r} is encrypted; store it without a password")
    total = sum(member.file_size for member in members)
    if total > most_bytes:
        raise BadInput(f"{where} unpacks to {total:,} bytes; at most {most_bytes:,} are read")
    if total > BOMB_BYTES and total > BOMB_RATIO * packed:
        raise BadInput(
            f"{where} has {packed:,} bytes and unpacks to {total:,}, more than {BOMB_RATIO} times "
            "as many; if that is meant, store it uncompressed"
        )


def _array(stream: IO[bytes], size: int, most_bytes: int, where: str) -> np.ndarray:
    """One .npy array out of a stream that holds `size` bytes."""
    shape, fortran, dtype, header = _header(stream, where)
    if dtype.hasobject:
        raise BadInput(f"{where} holds Python objects; only numbers and text are read (no pickle)")
    if dtype.kind not in "biufcSU" or dtype.itemsize == 0:
        raise BadInput(f"{where} holds {dtype}; a plain array of numbers or text is needed")
    if any(length < 0 for length in shape):
        raise BadInput(f"{where} declares the shape {shape}; no length may be negative")
    # Lengths of 0 count as 1: numpy refuses shapes such as (0, 10**18) too.
    room = math.prod(max(length, 1) for length in shape) * dtype.itemsize
    if room > most_bytes:
        raise BadInput(f"{where} declares {room:,} bytes; at most {most_bytes:,} are read")
    needed = math.prod(shape) * dtype.itemsize
    if needed != size - header:
        raise BadInput(
            f"{where} declares the shape {shape} of {dtype}, which is {needed:,} bytes, "
            f"but {size - header:,} follow; the file is cut off or altered"
        )
    array = np.empty(shape, dtype, order="F" if fortran else "C")
    into = array.reshape(-1, order="A").view(np.uint8).data
    at = 0
    while at < needed:
        piece = stream.read(min(_CHUNK, needed - at))
        if not piece:
            raise BadInput(f"{where} ends after {at:,} of {needed:,} bytes; the file is cut off")
        into[at : at + len(piece)] = piece
        at += len(piece)
    return array


def _header(stream: IO[bytes], where: str) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Shape, Fortran order, dtype and the number of bytes before the data."""
    start = stream.read(8)
    if start[:6] != b"\x93NUMPY":
        raise BadInput(f"{where} is not a .npy array: it does not begin with the mark of one")
    if start[6:] not in (b"\x01\x00", b"\x02\x00"):
        raise BadInput(f"{where} is of another .npy version than 1.0 or 2.0; save it again")
    first = start[6] == 1
    start += stream.read(2 if first else 4)
    length = int.from_bytes(start[8:], "little")
    if length > MOST_HEADER:
        raise BadInput(
            f"{where} has a header of {length:,} bytes; at most {MOST_HEADER:,} are read"
        )
    header = io.BytesIO(start[8:] + stream.read(length))
    read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
    with mendable(f"{where}: its header"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns of headers written by Python 2
        shape, fortran, dtype = read(header)
    return shape, fortran, dtype, len(start) + length
