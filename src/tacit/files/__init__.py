"""Files: what is read is checked first, what is written is written whole or not at all."""

from tacit.files.names import path_of
from tacit.files.reading import MOST_BYTES, open_regular, read_npy, read_npz
from tacit.files.weights import ENDINGS, read_safetensors, read_torch, read_weights
from tacit.files.writing import check_writable, npz_bytes, write_file, write_folder, written

__all__ = [
    "ENDINGS",
    "MOST_BYTES",
    "check_writable",
    "npz_bytes",
    "open_regular",
    "path_of",
    "read_npy",
    "read_npz",
    "read_safetensors",
    "read_torch",
    "read_weights",
    "write_file",
    "write_folder",
    "written",
]
