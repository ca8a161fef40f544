"""docs/theorems.md lists all theorems and all errata, and its examples work as they stand.

`python tests/docs/test_theorems.py` writes both lists anew.
"""

import re
import tomllib
from pathlib import Path

import pytest

from tacit.theorems import VerdictStatus, theorems
from tacit.values.discovery import paper_keys

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "theorems.md"
EXAMPLE = ROOT / "examples" / "own_theorem"


def known():
    """Those of the papers; installed packages may bring more."""
    return {id: one for id, one in theorems().items() if one.source.key in paper_keys()}


def as_table():
    rows = ["| theorem | place | what it says | needs |", "|---|---|---|---|"]
    for id, one in known().items():
        rows.append(_row(f"`{id}`", one.source.place, one.summary, one.needs))
    return "\n".join(rows)


def as_errata(evidence=lambda erratum: erratum.check().words):
    rows = ["| theorem | printed | corrected | what the computation says |", "|---|---|---|---|"]
    for id, one in known().items():
        for erratum in one.errata:
            cells = erratum.printed, erratum.corrected, evidence(erratum)
            rows.append(_row(f"`{id}`", *cells))
    return "\n".join(rows)


def _row(*cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def section(name, text):
    """What stands between the two comments of that name."""
    match = re.search(rf"<!-- {name} -->\n(.*?)<!-- end of {name} -->", text, re.S)
    assert match, f"{PAGE.name} has no section '{name}'"
    return match


def test_the_table_lists_every_theorem():
    table = section("table", PAGE.read_text("utf-8")).group(1)
    assert re.findall(r"^\| `(\S+)` \|", table, re.M) == list(known())
    assert table.strip() == as_table(), f"run: python tests/docs/{Path(__file__).name}"


def test_the_errata_are_those_of_the_code():
    """But for the words of the evidence, whose last digits machines may differ in."""
    table = section("errata", PAGE.read_text("utf-8")).group(1)
    rows = [row.rpartition(" | ")[0] for row in table.strip().splitlines()[2:]]
    expected = as_errata(lambda erratum: "").splitlines()[2:]
    assert rows == [row.rpartition(" | ")[0] for row in expected]


def test_every_verdict_is_explained():
    text = PAGE.read_text("utf-8")
    for status in VerdictStatus:
        assert f"| `{status}` |" in text


def test_the_python_example_runs(capsys):
    code = re.findall(r"```python\n(from .*?)```", PAGE.read_text("utf-8"), re.S)
    assert len(code) == 1
    exec(code[0], {})
    before, after = capsys.readouterr().out.strip().splitlines()
    assert before.startswith("open It applies") and after.startswith("confirmed")


@pytest.mark.parametrize("language", ["python", "toml"])
def test_what_is_shown_of_the_example_is_in_it(language):
    """But for comments and indentation."""
    file = EXAMPLE / ("own_theorem.py" if language == "python" else "pyproject.toml")
    lines = {line.strip() for line in file.read_text("utf-8").splitlines()}
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    shown = [block for block in blocks if not block.startswith("from ")]
    assert shown
    for line in "".join(shown).splitlines():
        assert line.partition("  #")[0].strip() in lines, line


def test_the_entry_point_of_the_example():
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"] == {"tacit.theorems": {"own_theorem": "own_theorem:ObtusePair"}}


def test_the_helpers_it_names_exist():
    from tacit.theorems import hypotheses

    table = re.search(r"\| call \| holds \|\n(.*?)\n\n", PAGE.read_text("utf-8"), re.S).group(1)
    first = " ".join(row.split("|")[1] for row in table.splitlines()[1:])
    names = re.findall(r"`([\w.]+)", first)
    assert len(names) >= 15
    for name in names:
        assert name == "case.data_check" or callable(getattr(hypotheses, name)), name


def _write():
    text = PAGE.read_text("utf-8")
    for name, content in (("table", as_table()), ("errata", as_errata())):
        part = section(name, text)
        text = text[: part.start(1)] + content + "\n" + text[part.end(1) :]
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    _write()
