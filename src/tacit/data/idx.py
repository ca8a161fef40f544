"""The IDX format of the MNIST files: a mark, the lengths, then one byte per entry."""

import gzip
import hashlib
import io
import math
import zlib
from os.path import dirname, realpath
from pathlib import Path

import numpy as np

from tacit.files import open_regular
from tacit.values import BadInput

MOST_BYTES = 256 << 20
"""Size of the file and of what it unpacks to; the largest MNIST file unpacks to 47 million."""


def inside(folder: Path, name: str) -> Path:
    """The path of `name` in `folder`; BadInput when it leads out of it."""
    path = folder / name
    if Path(name).name != name or dirname(realpath(path)) != realpath(folder):
        raise BadInput(f"{path} leads out of {folder}; the file itself must lie there")
    return path


def read_idx(path: Path, sha256: str | None = None, most_bytes: int = MOST_BYTES) -> np.ndarray:
    """The bytes of an IDX file, gzipped or not; `sha256` is what the file must hash to."""
    with open_regular(path, most_bytes) as file:
        data = file.read()
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise BadInput(
            f"{path} has SHA-256 {hashlib.sha256(data).hexdigest()}, not {sha256}; "
            "it is cut off or altered: get it again"
        )
    if data[:2] == b"\x1f\x8b":
        data = _unzipped(data, path, most_bytes)
    if len(data) < 4 or data[:3] != b"\0\0\x08" or not 1 <= data[3] <= 4:
        raise BadInput(f"{path} is not an IDX file of bytes: it begins with 0x{data[:4].hex()}")
    start = 4 + 4 * data[3]
    if len(data) < start:
        raise BadInput(f"{path} ends within its first {start} bytes; get it again")
    shape = tuple(np.frombuffer(data[4:start], ">u4").tolist())
    if len(data) != start + math.prod(shape):
        raise BadInput(
            f"{path} declares the shape {shape}, which is {math.prod(shape):,} bytes, but "
            f"{len(data) - start:,} follow; it is cut off or altered: get it again"
        )
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def _unzipped(data: bytes, path: Path, most_bytes: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            unpacked = stream.read(most_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{path} cannot be unzipped: {error}; get it again") from error
    if len(unpacked) > most_bytes:
        raise BadInput(f"{path} unpacks to more than {most_bytes:,} bytes; it is not read")
    return unpacked
