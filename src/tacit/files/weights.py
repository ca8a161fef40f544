"""Reading the weights of a network from .npz, .safetensors and PyTorch files, without running code.

A PyTorch file is a pickle; PyTorch itself reads it with `weights_only`, which refuses everything
but tensors and plain values.
"""

import json
import math
import os
import warnings
import zipfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np

from tacit.files.names import path_of
from tacit.files.reading import MOST_BYTES, MOST_MEMBERS, mendable, open_regular, read_npz
from tacit.messages import BadInput, printable

ENDINGS = (".npz", ".safetensors", ".pt", ".pth")
MOST_HEADER = 1 << 24
"""Bytes of the header of a .safetensors file."""
DTYPES = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"},
    **{"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1", "U8": "<u1", "BOOL": "?"},
}
INSIDE = ("state_dict", "model_state_dict", "model")
"""Where checkpoints keep the weights beside other things."""


def read_weights(path: str | Path, *, most_bytes: int = MOST_BYTES) -> dict[str, np.ndarray]:
    """The arrays of a file of weights by name; the ending says which kind it is."""
    ending = path_of(path).suffix.lower()
    if ending == ".safetensors":
        return read_safetensors(path, most_bytes=most_bytes)
    if ending in (".pt", ".pth"):
        return read_torch(path, most_bytes=most_bytes)
    if ending != ".npz" and Path(path).is_file():
        raise BadInput(f"{path} is no file of weights; these end in {', '.join(ENDINGS)}")
    return read_npz(path, most_bytes=most_bytes)


def read_safetensors(path: str | Path, *, most_bytes: int = MOST_BYTES) -> dict[str, np.ndarray]:
    """The arrays of a .safetensors file: a header in JSON, then the numbers."""
    with open_regular(path, most_bytes + MOST_HEADER) as file, mendable(f"{path}"):
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(size - 8, MOST_HEADER):
            raise BadInput(
                f"{path} is no .safetensors file: it declares a header of {length:,} bytes"
            )
        header = json.loads(file.read(length), object_pairs_hook=_once)
        if not isinstance(header, dict):
            raise BadInput(f"{path} is no .safetensors file: its header names no arrays")
        header.pop("__metadata__", None)
        if len(header) > MOST_MEMBERS:
            raise BadInput(
                f"{path} holds {len(header):,} arrays; at most {MOST_MEMBERS:,} are read"
            )
        return {
            name: _tensor(file, 8 + length, size, f"{path}, array {name!r}", header[name])
            for name in header
        }


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("its header names something twice")
    return dict(pairs)


def _tensor(
    file: IO[bytes], start: int, size: int, where: str, about: dict[str, Any]
) -> np.ndarray:
    kind, shape, (begin, end) = about["dtype"], about["shape"], about["data_offsets"]
    if kind not in DTYPES:
        raise BadInput(f"{where} holds {printable(str(kind))}; numbers are needed")
    dtype = np.dtype(DTYPES[kind])
    whole = all(type(one) is int and one >= 0 for one in (*shape, begin, end))
    if not whole or math.prod(shape) * dtype.itemsize != end - begin or start + end > size:
        raise BadInput(f"{where} does not fit into the file; it is cut off or altered")
    file.seek(start + begin)
    array = np.frombuffer(file.read(end - begin), dtype).reshape(shape)
    if kind == "BF16":  # the upper half of a float32
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def read_torch(path: str | Path, *, most_bytes: int = MOST_BYTES) -> dict[str, np.ndarray]:
    """The tensors of what `torch.save(model.state_dict(), path)` wrote; needs PyTorch."""
    with open_regular(path, most_bytes) as file:
        try:
            torch = import_module("torch")
        except ImportError:
            raise BadInput(
                f"{path}: PyTorch's own files need torch; install it with: pip install torch, or "
                "save the weights as .safetensors or .npz"
            ) from None
        with mendable(f"{path}"):
            if zipfile.is_zipfile(file):
                total = sum(member.file_size for member in zipfile.ZipFile(file).infolist())
                if total > most_bytes:
                    raise BadInput(
                        f"{path} unpacks to {total:,} bytes; at most {most_bytes:,} are read"
                    )
            file.seek(0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    held = torch.load(file, map_location="cpu", weights_only=True)
                except Exception as error:  # torch's message is a page about trust
                    raise BadInput(
                        f"{path} holds more than tensors, or is broken; a file that may run code "
                        "is not read: save model.state_dict() alone"
                    ) from error
            return _arrays(held, most_bytes, torch, f"{path}")


def _arrays(held: Any, most_bytes: int, torch: Any, where: str) -> dict[str, np.ndarray]:
    for key in INSIDE:
        if isinstance(held, Mapping) and isinstance(held.get(key), Mapping):
            held = held[key]
    if not isinstance(held, Mapping):
        raise BadInput(f"{where} holds a {type(held).__name__}; save model.state_dict()")
    if len(held) > MOST_MEMBERS:
        raise BadInput(f"{where} holds {len(held):,} arrays; at most {MOST_MEMBERS:,} are read")
    arrays = {}
    for key, one in held.items():
        name = printable(str(key))
        if not isinstance(one, torch.Tensor):
            kind = type(one).__name__
            raise BadInput(f"{where}: {name!r} is a {kind}; save model.state_dict() alone")
        # A view may declare more entries than the file has bytes.
        if one.numel() * 8 > most_bytes or one.layout != torch.strided:
            raise BadInput(f"{where}: {name!r} is too large, or sparse; a plain array is needed")
        narrow = one.dtype in (torch.bfloat16, torch.float16)
        arrays[name] = (one.float() if narrow else one).detach().numpy()
    return arrays
