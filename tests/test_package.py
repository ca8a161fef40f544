"""What the package says of itself in several places is the same everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import tacit

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = ("cluster", "frames", "lab", "report", "torch")


def test_the_citation_has_the_version() -> None:
    assert f"\nversion: {tacit.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_oldest_packages_that_are_tested_are_the_oldest_that_are_allowed() -> None:
    """Of the core and of the extras that people install; tools of ours may be new."""
    lines = (ROOT / "constraints-oldest.txt").read_text().splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    extras = PROJECT["optional-dependencies"]
    needed = PROJECT["dependencies"] + sum((extras[one] for one in EXTRAS), [])
    for requirement in needed:
        name, oldest = requirement.split(">=")
        padded = re.sub(r"^(\d+)$", r"\1.0", oldest)
        assert tested[name] in (padded, f"{padded}.0"), requirement
