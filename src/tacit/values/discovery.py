"""Papers are folders: what they bring is found by listing `tacit/papers`, not by a list to edit.

Lower layers collect statements, properties of data and figures from there by name, so that none of
them imports a paper.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import tacit

FOLDER = Path(tacit.__file__).parent / "papers"


@cache
def paper_keys() -> tuple[str, ...]:
    """The folders in `tacit/papers`: published papers by name, then what is ours."""
    keys = [path.parent.name for path in FOLDER.glob("*/__init__.py")]
    return tuple(sorted(keys, key=lambda key: (not key[-4:].isdigit(), key)))


def paper_parts(part: str) -> dict[str, ModuleType]:
    """The module `tacit.papers.KEY.part` of every paper that has one, by its key."""
    names = {key: f"tacit.papers.{key}.{part}" for key in paper_keys()}
    return {key: import_module(name) for key, name in names.items() if find_spec(name)}
