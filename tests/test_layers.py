"""The rules of the house: packages import downwards only, and every library has its own package."""

import ast
from fnmatch import fnmatch
from pathlib import Path

import pytest

import tacit

ROOT = Path(tacit.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# From the top down; parts on one line are siblings and do not import each other. The longest
# pattern that fits a file is its part.
LAYERS = [
    ("__main__",),
    ("cli",),
    ("papers/*/figures", "papers/*/drawing"),
    ("reproduction", "explanation/report"),
    ("sweeps",),
    ("plot",),
    ("explanation",),
    ("papers/*/statements",),
    ("flow",),
    ("theorems", "papers/*"),
    ("geometry", "training"),
    ("measures", "certificates"),
    ("data",),
    ("numerics", "proofs"),
    ("values",),
    ("models",),
    ("files",),
    ("_jax", "interrupts"),
    ("messages",),
]
HEIGHT = {pattern: -i for i, layer in enumerate(LAYERS) for pattern in layer}

LIBRARIES = {
    "jax": ("_jax",),
    "optax": ("training",),
    "matplotlib": ("plot", "papers/*/drawing"),
    "jinja2": ("explanation/report",),
    "rich": ("cli",),
    "cyclopts": ("cli",),
    "sklearn": ("data",),
    "scipy.optimize": ("numerics",),
    "clarabel": ("numerics",),
    "daqp": ("numerics",),
    "numba": ("numerics",),
    "dask": ("sweeps",),
    "distributed": ("sweeps",),
    "dask_jobqueue": ("sweeps",),
    "pyarrow": ("sweeps",),
}
BANNED = {"pickle", "yaml", "dill", "joblib", "torch"}


def part_of(path: str) -> str:
    """The pattern of LAYERS that a file, given relative to the package, belongs to."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    for pattern in sorted(HEIGHT, key=len, reverse=True):
        if fnmatch("/".join(parts[: pattern.count("/") + 1]), pattern):
            return pattern
    return ""


def as_path(name: str) -> str:
    """`tacit.plot.plane` as `plot/plane`."""
    return name.removeprefix("tacit").removeprefix(".").replace(".", "/")


def imports(path: Path) -> set[str]:
    """Every module that a file imports, also inside of functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            modules = {f"{node.module}.{alias.name}" for alias in node.names}
            there = {name for name in modules if _is_module(name) or name == "scipy.optimize"}
            names |= there
            if len(there) < len(modules):
                names.add(node.module or "")
    return names


def _is_module(name: str) -> bool:
    path = ROOT / as_path(name)
    return name.startswith("tacit.") and (path.is_dir() or path.with_suffix(".py").is_file())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path):
    part = part_of(path.relative_to(ROOT).as_posix())
    for name in imports(path):
        if not name.startswith("tacit") or name == "tacit" or path == ROOT / "__init__.py":
            continue
        other = part_of(as_path(name))
        same = other == part and "*" not in part
        folder = "/".join(as_path(name).split("/")[:2])
        own = other.startswith("papers/") and folder in path.relative_to(ROOT).as_posix()
        below = HEIGHT[other] < HEIGHT[part]
        assert same or below or (own and HEIGHT[other] <= HEIGHT[part]), f"{path} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_libraries_have_one_package_each(path):
    part = part_of(path.relative_to(ROOT).as_posix())
    for name in imports(path):
        assert name.partition(".")[0] not in BANNED, f"{path} imports {name}"
        for library, homes in LIBRARIES.items():
            if f"{name}.".startswith(f"{library}."):
                assert part in homes, f"{path} imports {name}; only {homes} may"


PREDICTING = [
    path
    for path in FILES
    if part_of(path.relative_to(ROOT).as_posix()) in ("theorems", "papers/*/statements", "papers/*")
]


@pytest.mark.parametrize("path", PREDICTING, ids=lambda path: str(path.relative_to(ROOT)))
def test_predictions_do_not_peek_at_training(path):
    for name in imports(path):
        assert not name.startswith(("tacit.training", "tacit.flow")), f"{path} imports {name}"


# What is ours compares papers; published ones stand alone.
PAPERS = sorted((ROOT / "papers").glob("*[0-9]/**/*.py"))


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_papers_do_not_import_papers(path):
    own = path.relative_to(ROOT / "papers").parts[0]
    for name in imports(path):
        key = (name.split(".") + ["", "", ""])[2]
        assert not name.startswith("tacit.papers.") or key == own, f"{path} imports {name}"


def test_every_file_has_a_place():
    for path in FILES:
        relative = path.relative_to(ROOT).as_posix()
        known = part_of(relative) or relative in ("__init__.py", "papers/__init__.py")
        assert known, f"{relative} is in no layer"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_private_modules_stay_in_their_package(path):
    for name in imports(path):
        *folders, last = name.split(".")
        home = ROOT.joinpath(*folders[1:])
        private = last.startswith("_") and name.startswith("tacit.") and last != "_jax"
        assert not private or home in path.parents, f"{path} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_evaluated_or_executed(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("eval", "exec", "compile", "__import__")
