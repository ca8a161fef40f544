"""The documentation as a site: every page, link and notebook, without a warning."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tacit

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_the_site_is_built_without_a_warning_and_its_notebooks_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", tmp_path / "trees"]
    built = subprocess.run(
        [*map(str, command), "docs", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr[-4000:]
    api = (tmp_path / "site" / "api.html").read_text()
    for name in tacit.__all__:
        assert f'id="tacit.{name}"' in api or name in ("__version__", "plot"), name
    for notebook in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        page = (tmp_path / "site" / "notebooks" / f"{notebook.stem}.html").read_text()
        assert 'class="cell_output' in page, notebook
