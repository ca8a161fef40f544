"""Names of files and folders, as they are given."""

from pathlib import Path
from typing import Any

from tacit.messages import BadInput

LONGEST = 255
"""Bytes of one part of a name, on all usual systems."""


def path_of(name: Any) -> Path:
    """The path of this name; BadInput where it cannot be one."""
    try:
        path = Path(name)
    except TypeError:
        raise BadInput(f"a {type(name).__name__} is no name of a file") from None
    if any(len(part.encode(errors="replace")) > LONGEST for part in path.parts):
        raise BadInput(f"{str(name)[:40]}… cannot be the name of a file: it is too long")
    return path
