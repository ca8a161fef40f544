"""CUDA source to PTX, by the compiler library that comes with JAX's CUDA packages."""

import ctypes
import importlib.util
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path


def compile_cuda(source: str, options: Sequence[str]) -> str | None:
    """The PTX of a program; None where there is no compiler or it refuses."""
    library = _library()
    if library is None:
        return None
    program = ctypes.c_void_p()
    text = source.encode()
    if library.nvrtcCreateProgram(ctypes.byref(program), text, b"kernel.cu", 0, None, None):
        return None
    try:
        words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if library.nvrtcCompileProgram(program, len(options), words):
            return None
        size = ctypes.c_size_t()
        library.nvrtcGetPTXSize(program, ctypes.byref(size))
        ptx = ctypes.create_string_buffer(size.value)
        library.nvrtcGetPTX(program, ptx)
        return ptx.value.decode()
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


@cache
def _library() -> ctypes.CDLL | None:
    for path in _places():
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def _places() -> Iterator[str]:
    """First beside JAX's other libraries, then wherever the system looks."""
    packages = importlib.util.find_spec("nvidia")
    for folder in (packages.submodule_search_locations or ()) if packages else ():
        yield from map(str, sorted(Path(folder).glob("*/lib/libnvrtc.so.*"), reverse=True))
    yield from ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")
