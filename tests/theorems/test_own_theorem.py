"""The package in `examples/own_theorem`, installed; and packages that are not as they should be."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import with_packages
from tacit.theorems.registry import theorems
from tacit.values import BadInput

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "examples" / "own_theorem"
ID = "mine2026:thm1"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the package in it, as pip leaves it; nothing is downloaded."""
    folder = tmp_path_factory.mktemp("site")
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--no-cache-dir", "--quiet"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder)]
    done = _run([*command, str(PACKAGE)])
    assert done.returncode == 0, done.stderr
    return folder


def _run(command, *sites):
    environment = with_packages(*sites)
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, cwd=ROOT)


def _python(code, site):
    done = _run([sys.executable, "-W", "error", "-c", code], site)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_is_short():
    """Docstrings and blank lines left out."""
    text = re.sub(r'""".*?"""', "", (PACKAGE / "own_theorem.py").read_text("utf-8"), flags=re.S)
    assert len([line for line in text.splitlines() if line.strip()]) <= 55


def test_without_it_there_is_no_such_theorem():
    assert ID not in theorems()


def test_installed_it_is_listed_predicted_and_confirmed(installed):
    code = f"""
import json
from tacit.explanation.observation import observe
from tacit.flow import limit
from tacit.theorems import judge, theorem, theorems

one = theorem({ID!r})
case = one.example()
before = judge(one, case)
after = judge(one, case, observe(limit(case.data, case.setting)))
print(json.dumps([list(theorems())[-1], before.status, before.prediction.words, after.status]))
"""
    last, before, words, after = _python(code, installed)
    assert last == ID and before == "open" and after == "confirmed"
    margin = 1 / (2 / 1.25**0.5 + 2 / 5**0.5)
    assert f"{margin:.4g}" in words


def test_the_command_line_knows_it(installed, tmp_path):
    (tmp_path / "pair.csv").write_text("1,0.5,1\n-2,1,-1\n")
    command = [sys.executable, "-m", "tacit", "predict", str(tmp_path / "pair.csv"), "--json"]
    done = _run([*command, "--only", "mine2026"], installed)
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["theorems"]
    assert result["id"] == ID and result["applies"] is None  # `converges` needs a run
    assert abs(result["prediction"]["margin"] - 0.3727) < 1e-4


@pytest.mark.long  # in a process of its own, which imports every theorem
def test_it_passes_the_suite_of_all_theorems(installed):
    suite = str(ROOT / "tests" / "theorems" / "test_suite.py")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", suite, "-k", "mine2026"]
    done = _run(command, installed)
    assert done.returncode == 0, done.stdout
    assert re.search(r"\b12 passed", done.stdout), done.stdout


OTHER = """
from tacit.theorems import Source, Theorem
from tacit.papers.sarussi2021.statements import THEOREMS

def thing_with(**changes):
    return type("Thing", (THEOREMS[0],), changes)
"""
MINE = "id='mine:a', source=Source('mine', 'A')"
BROKEN = {
    "a number": ("thing = 3", "gives 3; it must give a class derived from"),
    "another class": ("class thing: pass", "it must give a class derived from"),
    "a text": ("thing = 'ObtusePair'", "gives 'ObtusePair'; it must give a class"),
    "a list": ("thing = [int]", "gives <class 'int'>; it must give a class"),
    "no module": ("import no_such_module", "cannot be loaded (ModuleNotFoundError: No module"),
    "no Python": ("def", "cannot be loaded (SyntaxError: "),
    "an error": (
        r"raise OSError('first\n\x1b[2J')",
        r"(OSError: first \x1b[2J); mend or uninstall",
    ),
    "no such name": ("", "cannot be loaded (AttributeError: "),
    "a loop": ("def a(): yield 1/0\nthing = a()", "cannot be loaded (ZeroDivisionError: "),
    "nothing in it": ("class thing(Theorem): pass", "thing lacks id, source, summary, needs, tol"),
    "a twin": ("thing = THEOREMS[0]", "has the id 'sarussi2021:thm4.1', which there is already"),
    "no key": ("thing = thing_with(id='mine')", "the id 'mine'; it must be KEY:NAME"),
    "other key": ("thing = thing_with(id='mine:a')", "the id 'mine:a'; it must be KEY:NAME"),
    "no need": (f"thing = thing_with({MINE}, needs='luck')", "needs 'luck'; it must be one of"),
    "no making": (f"thing = thing_with({MINE}, __init__=None)", "Thing cannot be made (TypeError"),
}


def _broken(folder, name, code):
    """A package of one module, as pip would leave it."""
    (folder / f"{name}.py").write_text(OTHER + code, "utf-8")
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[tacit.theorems]\nmine = {name}:thing\n")


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_is_said_in_one_line(case, tmp_path, monkeypatch):
    code, expected = BROKEN[case]
    name = f"broken_{case.replace(' ', '_')}"
    _broken(tmp_path, name, code)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BadInput) as caught:
        theorems.__wrapped__()  # past the cache
    said = str(caught.value)
    assert said.startswith(f"entry point 'mine = {name}:thing' of package '{name}'")
    assert expected in said
    assert said.isprintable() and len(said) < 400


def test_several_theorems_in_one_entry_point(tmp_path, monkeypatch):
    again = "id='mine:b', source=Source('mine', 'B')"
    _broken(tmp_path, "fine", f"thing = (thing_with({MINE}), thing_with({again}))")
    monkeypatch.syspath_prepend(str(tmp_path))
    known = theorems.__wrapped__()
    assert list(known)[-2:] == ["mine:a", "mine:b"] and len(known) == len(theorems()) + 2


def test_the_command_line_shows_that_line_and_no_traceback(tmp_path):
    _broken(tmp_path, "broken", "import no_such_module")
    done = _run([sys.executable, "-m", "tacit", "predict", "xor"], tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "entry point 'mine = broken:thing' of package 'broken' cannot be loaded" in done.stderr
