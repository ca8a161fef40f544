"""The rules of the house: packages import downwards only, and every library has its own package."""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import tacit

ROOT = Path(tacit.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# From the top down; parts on one line are siblings and do not import each other. The longest
# pattern that fits a file is its part.
LAYERS = [
    ("__main__",),
    ("cli",),
    ("lab",),
    ("papers/*/figures", "papers/*/drawing"),
    ("reproduction", "explanation/report", "probing/report"),
    ("sweeps",),
    ("plot",),
    ("probing",),
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
    ("files", "pages"),
    ("_jax", "interrupts"),
    ("messages",),
]
HEIGHT = {pattern: -i for i, layer in enumerate(LAYERS) for pattern in layer}

LIBRARIES = {
    "jax": ("_jax",),
    "optax": ("training",),
    "matplotlib": ("plot", "papers/*/drawing"),
    "jinja2": ("pages",),
    "torch": ("probing", "files"),
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
    "starlette": ("lab",),
    "uvicorn": ("lab",),
    "websockets": ("lab",),
}
NUMBERED = re.compile(r"(Fig|Thm|Theorem|Lemma|Proposition|Corollary|Prob)[A-Z]?\d*$")
BANNED = {"pickle", "yaml", "dill", "joblib"}


@cache
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


@cache
def said(path: Path) -> tuple[set[str], set[str]]:
    """Every module that a file imports, also inside of functions, and every name that it calls."""
    names: set[str] = set()
    calls: set[str] = set()
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
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            calls.add(node.func.id)
    return names, calls


def _is_module(name: str) -> bool:
    path = ROOT / as_path(name)
    return name.startswith("tacit.") and (path.is_dir() or path.with_suffix(".py").is_file())


def every_import() -> Iterator[tuple[str, str, str]]:
    """Each file, relative to the package, its part of the house and a module that it imports."""
    for path in FILES:
        file = path.relative_to(ROOT).as_posix()
        for name in sorted(said(path)[0]):
            yield file, part_of(file), name


def test_imports_go_down():
    wrong = []
    for file, part, name in every_import():
        if not name.startswith("tacit") or name == "tacit" or file == "__init__.py":
            continue
        other = part_of(as_path(name))
        same = other == part and "*" not in part
        folder = "/".join(as_path(name).split("/")[:2])
        own = other.startswith("papers/") and folder in file
        below = HEIGHT[other] < HEIGHT[part]
        if not (same or below or (own and HEIGHT[other] <= HEIGHT[part])):
            wrong.append(f"{file} imports {name}")
    assert not wrong


def test_libraries_have_one_package_each():
    wrong = []
    for file, part, name in every_import():
        if name.partition(".")[0] in BANNED:
            wrong.append(f"{file} imports {name}")
        for library, homes in LIBRARIES.items():
            if f"{name}.".startswith(f"{library}.") and part not in homes:
                wrong.append(f"{file} imports {name}; only {homes} may")
    assert not wrong


def test_predictions_do_not_peek_at_training():
    predicting = ("theorems", "papers/*/statements", "papers/*")
    wrong = [
        f"{file} imports {name}"
        for file, part, name in every_import()
        if part in predicting and name.startswith(("tacit.training", "tacit.flow"))
    ]
    assert not wrong


def test_papers_do_not_import_papers():
    wrong = []
    for file, _, name in every_import():
        if fnmatch(file, "papers/*[0-9]/*"):  # what is ours compares papers; these stand alone
            own, key = file.split("/")[1], (name.split(".") + ["", "", ""])[2]
            if name.startswith("tacit.papers.") and key != own:
                wrong.append(f"{file} imports {name}")
    assert not wrong


def test_every_file_has_a_place():
    for path in FILES:
        relative = path.relative_to(ROOT).as_posix()
        known = part_of(relative) or relative in ("__init__.py", "papers/__init__.py")
        assert known, f"{relative} is in no layer"


def test_private_modules_stay_in_their_package():
    wrong = []
    for file, _, name in every_import():
        *folders, last = name.split(".")
        home = ROOT.joinpath(*folders[1:])
        private = last.startswith("_") and name.startswith("tacit.") and last != "_jax"
        if private and home not in (ROOT / file).parents:
            wrong.append(f"{file} imports {name}")
    assert not wrong


def test_nothing_is_evaluated_or_executed():
    for path in FILES:
        _, calls = said(path)
        assert not calls & {"eval", "exec", "compile", "__import__"}, f"{path} calls {calls}"


def test_a_class_has_a_name_of_its_own():
    """But statements and settings of figures are called as their papers number them."""
    homes: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.parse(path.read_text("utf-8")).body:
            numbered = path.is_relative_to(ROOT / "papers") and NUMBERED.match(
                getattr(node, "name", "")
            )
            if isinstance(node, ast.ClassDef) and not numbered:
                homes.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    assert not {name: places for name, places in homes.items() if len(places) > 1}
