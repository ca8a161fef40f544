"""MNIST from the network, through scikit-learn's OpenML loader.

OpenML keeps MNIST as one table of 70,000 rows: the 60,000 of the training files, then the 10,000 of
the test files. From it the four original files are put together again, byte for byte, and they are
kept only when their SHA-256 is that of the originals.
"""

import hashlib
import socket
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tacit.data.idx import inside
from tacit.files import write_file

DATA_ID = 554  # mnist_784, version 1
SPLITS = {"train": slice(0, 60_000), "t10k": slice(60_000, 70_000)}
WAIT_SECONDS = 10.0
"""Silence of the server after which the download is given up."""


def fetch_mnist(folder: Path, checksums: Mapping[str, str]) -> None:
    """Put the four files, not gzipped, into `folder`; raises whatever goes wrong."""
    from sklearn.datasets import fetch_openml

    print("tacit: fetching MNIST from openml.org (once) …", file=sys.stderr)
    folder.mkdir(parents=True, exist_ok=True)
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(WAIT_SECONDS)  # scikit-learn sets no limit of its own
    try:
        with tempfile.TemporaryDirectory(dir=folder) as home, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = fetch_openml(
                data_id=DATA_ID,
                as_frame=False,
                parser="liac-arff",
                data_home=home,
                n_retries=1,
                delay=0.1,
            )
    finally:
        socket.setdefaulttimeout(before)
    pixels = np.asarray(table.data).astype(np.uint8)
    digits = np.asarray(table.target).astype(np.uint8)
    files = {}
    for split, rows in SPLITS.items():
        files[f"{split}-images-idx3-ubyte"] = idx_bytes(pixels[rows].reshape(-1, 28, 28))
        files[f"{split}-labels-idx1-ubyte"] = idx_bytes(digits[rows])
    for name, data in files.items():
        if hashlib.sha256(data).hexdigest() != checksums[name]:
            raise ValueError(f"what openml.org sent is not the original {name}")
    for name, data in files.items():
        write_file(inside(folder, name), data, force=True)


def idx_bytes(array: np.ndarray) -> bytes:
    """An array of bytes in the IDX format."""
    mark = bytes([0, 0, 8, array.ndim])
    return mark + np.array(array.shape, ">u4").tobytes() + array.astype(np.uint8).tobytes()
