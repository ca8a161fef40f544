"""Which figures and tables there are, read from the papers' sources without running them.

To import every paper takes seconds (JAX, SciPy, matplotlib), and one that cannot be imported would
hide all others. So a list is read from the decorators `@PAPER.artefact("fig1", "Figure 1, §2")` and
the docstrings below them, and a paper is imported when one of its figures is made.
"""

import ast
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from tacit.messages import near_miss, printable
from tacit.reproduction.artefact import Artefact, Identity
from tacit.values import BadInput, discovery


@dataclass(frozen=True)
class Listed(Identity):
    """A figure or table, as its source describes it."""

    title: str
    text: str
    """What the picture shows."""


class Catalogue(NamedTuple):
    """The figures and tables of all papers."""

    items: dict[str, Listed]
    """The figures by id, in the order of the papers."""
    unreadable: dict[str, str]
    """Papers whose figures cannot be read, and why, on one line."""


@cache
def catalogue() -> Catalogue:
    """Every figure and table of every paper."""
    items: dict[str, Listed] = {}
    unreadable: dict[str, str] = {}
    for key in discovery.paper_keys():
        try:
            items |= {one.id: one for one in _figures_of(key)}
        except BadInput as error:
            unreadable[key] = str(error)
    return Catalogue(items, unreadable)


def artefacts() -> dict[str, Artefact]:
    """Every figure and table by its id, in the order of the papers; imports all papers."""
    return {id: load(one) for id, one in catalogue().items.items()}


def load(listed: Listed) -> Artefact:
    """Import the file that makes a figure."""
    try:
        return import_module(f"tacit.papers.{listed.key}.figures").PAPER[listed.name]
    except Exception as error:  # whatever the file of a paper may raise
        said = printable(f"{type(error).__name__}: {error}")
        raise BadInput(f"{listed.id} cannot be imported ({said})") from error


def choose(names: tuple[str, ...]) -> tuple[list[Artefact], dict[str, str]]:
    """The artefacts of names such as `phuong2021:fig1`, `phuong2021` (all of it) and `all`.

    Those that train networks on images come last: they take hours. Beside the artefacts stands why
    others that were asked for cannot be made, by id or paper.
    """
    known = catalogue()
    chosen: dict[str, Listed] = {}
    left_out: dict[str, str] = {}
    for name in names:
        fitting = [one for one in known.items.values() if name in ("all", one.key, one.id)]
        broken = [k for k in known.unreadable if name in ("all", k) or name.startswith(f"{k}:")]
        if not fitting and not broken:
            every = [*known.items, *discovery.paper_keys(), "all"]
            raise BadInput(f"unknown figure '{name}'{near_miss(name, every)}")
        chosen |= {one.id: one for one in fitting}
        left_out |= {key: known.unreadable[key] for key in broken}
    loaded = []
    for one in chosen.values():
        try:
            loaded.append(load(one))
        except BadInput as error:
            left_out[one.id] = str(error)
    return sorted(loaded, key=lambda one: one.images), left_out


def _figures_of(key: str) -> list[Listed]:
    """The artefacts of one paper, in the order of its contents."""
    folder = discovery.FOLDER / key
    files = sorted(folder.glob("figures/*.py")) or sorted(folder.glob("figures.py"))
    trees = {file: _parsed(file) for file in files}
    contents = [name for tree in trees.values() for name in _contents(tree)]
    listed = {one.name: one for tree in trees.values() for one in _registered(key, tree)}
    if contents and set(contents) != set(listed):
        names = ", ".join(sorted(set(contents) ^ set(listed)))
        raise BadInput(
            f"papers/{key}/figures: {names} must be both in Paper(…) and in an @PAPER.artefact"
        )
    return [listed[name] for name in contents or listed]


def _parsed(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_text("utf-8"))
    except (SyntaxError, ValueError, OSError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        place = file.relative_to(discovery.FOLDER.parent).as_posix()
        raise BadInput(printable(f"{place}{line}: {said}")) from error


def _contents(tree: ast.Module) -> list[str]:
    """The names in `PAPER = Paper("key", fig1="file", …)`; `**{"global": "file"}` gives one too."""
    calls = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    return [
        name
        for call in calls
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Paper"
        for keyword in call.keywords
        for name in ([keyword.arg] if keyword.arg else _keys(keyword.value))
    ]


def _keys(node: ast.expr) -> list[str]:
    """The keys of a dictionary that is written out."""
    keys = node.keys if isinstance(node, ast.Dict) else []
    return [str(key.value) for key in keys if isinstance(key, ast.Constant)]


def _registered(key: str, tree: ast.Module) -> list[Listed]:
    """The functions with the decorator `@PAPER.artefact("name", "place", …)`."""
    listed = []
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for call in node.decorator_list:
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "artefact":
                given = [getattr(argument, "value", None) for argument in call.args]
                name, place = (*given, None, None)[:2]
                if not (isinstance(name, str) and isinstance(place, str)):
                    raise BadInput(
                        f"papers/{key}/figures: @PAPER.artefact of {node.name} must begin with its "
                        "name and place, written out"
                    )
                title, _, text = (ast.get_docstring(node) or "").partition("\n")
                listed.append(Listed(key, name, place, title.rstrip("."), text.strip()))
    return listed
