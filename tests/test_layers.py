"""The house rules: rooms import downwards only, and every library comes in by its own door."""

import ast
from pathlib import Path

import pytest

import tacit

ROOT = Path(tacit.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# From the top down; rooms on one line are siblings and do not import each other.
LAYERS = [
    ("__main__",),
    ("cli",),
    ("show",),
    ("papers",),
    ("report",),
    ("plots", "sweep"),
    ("explain",),
    ("theorems", "limit"),
    ("geometry", "train", "flow"),
    ("measures", "certificates"),
    ("data", "models", "losses"),
    ("solvers", "verify"),
    ("_io",),
    ("_reading", "_writing"),
    ("_types", "_words", "_jax", "_json", "_statistics"),
]
HEIGHT = {room: -i for i, layer in enumerate(LAYERS) for room in layer}

DOORS = {
    "jax": "_jax",
    "optax": "train",
    "matplotlib": "plots",
    "jinja2": "report",
    "rich": "show",
    "cyclopts": "cli",
    "sklearn": "data",
    "clarabel": "solvers",
    "daqp": "solvers",
    "dask": "sweep",
    "distributed": "sweep",
    "dask_jobqueue": "sweep",
    "pyarrow": "sweep",
}
BANNED = {"pickle", "yaml", "dill", "joblib", "torch"}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            if node.module == "tacit":
                names |= {f"tacit.{alias.name}" for alias in node.names}
            else:
                names.add(node.module or "")
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down_and_through_the_doors(path):
    room = room_of(path)
    for name in imports(path):
        top, *rest = name.split(".")
        assert top not in BANNED, f"{path} imports {name}"
        assert DOORS.get(top, room) == room, f"{path} imports {name}; its door is {DOORS.get(top)}"
        if top != "tacit" or not rest or rest[0] in (room, "__version__"):
            continue
        if room != "__init__":
            assert HEIGHT[rest[0]] < HEIGHT[room], f"{path} looks up or sideways to {name}"


@pytest.mark.parametrize("path", sorted((ROOT / "theorems").rglob("*.py")), ids=lambda p: p.stem)
def test_predictions_do_not_peek_at_training(path):
    for name in imports(path):
        for room in ("tacit.train", "tacit.flow.follow", "tacit.limit"):
            assert not name.startswith(room), f"{path} imports {name}"


@pytest.mark.parametrize("path", sorted((ROOT / "papers").glob("*2*.py")), ids=lambda p: p.stem)
def test_papers_do_not_import_papers(path):
    shared = {"tacit.papers.base", "tacit.papers.claims"}
    assert {name for name in imports(path) if name.startswith("tacit.papers")} <= shared


def test_every_room_has_a_place():
    assert {room_of(path) for path in FILES} - {"__init__"} == set(HEIGHT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_evaluated_or_executed(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("eval", "exec", "compile", "__import__")
