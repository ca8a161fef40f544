"""The pages that show Python run as they stand, one block after the other."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_examples_run(page, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.S)
    names: dict[str, object] = {}
    for code in blocks:
        exec(code, names)
    assert blocks and capsys.readouterr().out


def test_the_readme_is_short_and_shows_a_picture():
    text = (ROOT / "README.md").read_text("utf-8")
    (picture,) = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert len(text.splitlines()) <= 120 and (ROOT / picture).is_file()


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(p.name for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(page):
    path = ROOT / page if page == "README.md" else ROOT / "docs" / page
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
        assert (path.parent / target).exists(), f"{page} links to {target}"
