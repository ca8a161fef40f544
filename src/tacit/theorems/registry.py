"""All theorems by id: those of the papers, and those of installed packages.

A package adds its own through the entry-point group `tacit.theorems`: each entry point names a
class derived from `Theorem`, or an iterable of such classes. What is wrong with an entry point is
said in one line that names it.
"""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import get_args

from tacit.messages import near_miss, printable
from tacit.theorems.statement import Needs, Source, Theorem
from tacit.values import BadInput
from tacit.values.discovery import paper_parts

GROUP = "tacit.theorems"
ATTRIBUTES = ("id", "source", "summary", "needs", "tolerance")
"""What every theorem must say of itself."""


@cache
def theorems() -> dict[str, Theorem]:
    """All theorems by id."""
    known: dict[str, Theorem] = {}
    for module in paper_parts("statements").values():
        for one in module.THEOREMS:
            _add(known, one, module.__name__)
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        origin = _called(entry)
        for one in _classes(entry, origin):
            _add(known, one, origin)
    return known


def theorem(id: str) -> Theorem:
    """The theorem of that id."""
    known = theorems()
    if id not in known:
        raise BadInput(f"unknown theorem '{id}'{near_miss(id, known)}")
    return known[id]


def _called(entry: EntryPoint) -> str:
    package = f" of package '{entry.dist.name}'" if entry.dist is not None else ""
    return f"entry point '{entry.name} = {entry.value}'{package}"


def _classes(entry: EntryPoint, origin: str) -> list[type[Theorem]]:
    try:
        loaded = entry.load()
        single = isinstance(loaded, str | type) or not isinstance(loaded, Iterable)
        many = [loaded] if single else list(loaded)
    except Exception as reason:  # whatever somebody else's code may raise
        said = f"{type(reason).__name__}: {reason}"
        raise BadInput(
            printable(f"{origin} cannot be loaded ({said}); mend or uninstall it")
        ) from reason
    for one in many:
        if not (isinstance(one, type) and issubclass(one, Theorem)):
            raise BadInput(
                printable(
                    f"{origin} gives {repr(one):.80}; "
                    "it must give a class derived from tacit.theorems.Theorem, or several"
                )
            )
    return many


def _add(known: dict[str, Theorem], one: type[Theorem], origin: str) -> None:
    called = f"{origin}: {one.__name__}"
    open_ = sorted(getattr(one, "__abstractmethods__", ()))
    missing = [name for name in ATTRIBUTES if not hasattr(one, name)] + open_
    if missing:
        raise BadInput(f"{called} lacks {', '.join(missing)}")
    key, _, number = str(one.id).partition(":")
    if not (isinstance(one.source, Source) and one.source.key == key and key and number):
        raise BadInput(f"{called} has the id '{one.id}'; it must be KEY:NAME, KEY as in `source`")
    if one.needs not in get_args(Needs):
        allowed = ", ".join(get_args(Needs))
        raise BadInput(f"{called} needs '{one.needs}'; it must be one of {allowed}")
    if one.id in known:
        raise BadInput(f"{called} has the id '{one.id}', which there is already")
    try:
        known[one.id] = one()
    except Exception as reason:
        said = f"{type(reason).__name__}: {reason}"
        raise BadInput(printable(f"{called} cannot be made ({said})")) from reason
