"""The pages that show Python run as they stand, one block after the other."""

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import tacit
from helpers import rest_long

ROOT = Path(__file__).parents[2]


PAGES = ["README.md", "docs/python.md", "docs/probe.md"]


@pytest.mark.parametrize("page", rest_long(PAGES, PAGES[:2]))
def test_the_examples_run(page, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.S)
    names: dict[str, object] = {}
    for code in blocks:
        exec(code, names)
    assert blocks and capsys.readouterr().out


@pytest.mark.long
def test_the_examples_in_pytorch_and_lightning_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/probe.md").read_text("utf-8")
    names: dict[str, Any] = {"tacit": tacit}
    for kind in ("torch", "lightning"):
        (code,) = re.findall(rf"```python {kind}\n(.*?)```", text, re.S)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Lightning has many, about its own insides
            exec(code, names)
    said = capsys.readouterr().out
    assert "not homogeneous: bias in layer 2" in said and "Probe of 200 examples: " in said
    assert list(tmp_path.glob("runs/events*"))


def test_what_the_readme_computes_is_certified_and_agrees(capsys):
    code = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)[0]
    names: dict[str, Any] = {}
    exec(code, names)
    end, best = names["end"], names["best"]
    assert end.outcome == "proved" and best.status == "certified"
    assert end.margin == pytest.approx(best.margin, rel=1e-9)  # it ends in the best there is
    assert "global optimum" in capsys.readouterr().out


def test_the_story_of_the_readme():
    """Three points, eight starts: ten neurons miss the best network in most, a hundred never."""
    data = tacit.load(ROOT / "examples" / "three.csv")
    best = tacit.optimum(data)
    assert best.status == "certified" and best.margin == pytest.approx(0.1956, abs=5e-5)
    few = [tacit.limit(data, tacit.Setting(width=10), seed=seed) for seed in range(8)]
    margins = sorted(round(end.margin, 4) for end in few if end.outcome.settled)
    assert margins == [0.1667] * 4 + [0.1956] * 3
    (left,) = [end for end in few if not end.outcome.settled]
    assert left.outcome == "undecided" and "shrink to 0" in left.reason


@pytest.mark.parametrize("seed", rest_long(range(8), [0]))
def test_a_hundred_neurons_never_miss_it(seed):
    data = tacit.load(ROOT / "examples" / "three.csv")
    end = tacit.limit(data, tacit.Setting(width=100), seed=seed)
    assert end.margin == pytest.approx(tacit.optimum(data).margin, rel=1e-9)


def test_the_readme_is_short_and_shows_two_pictures():
    text = (ROOT / "README.md").read_text("utf-8")
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert len(text.splitlines()) <= 120 and len(pictures) == 2
    assert all((ROOT / picture).is_file() for picture in pictures)


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(p.name for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(page):
    path = ROOT / page if page == "README.md" else ROOT / "docs" / page
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
        assert (path.parent / target).exists(), f"{page} links to {target}"
