"""The verb `sweep` and what it returns; the runs themselves are tested elsewhere."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tacit.sweeps
from helpers import refused
from tacit.cli import main
from tacit.plot.sweep_labels import in_words
from tacit.sweeps.sweep_result import Sweep
from tacit.sweeps.sweeping import sweep

PLAN = """
record = ["train_error", "margin", "singular_values"]
epochs = 3
seed = [0, 1]
[data]
name = "xor"
[setting]
width = [2, 4]
init = "gaussian"
scale = [0.1, 1.0]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sweep, Path]:
    """A sweep with pictures, and the folder in which it was made."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "plan.toml").write_text(PLAN)
    progress: list[tuple[int, int, str]] = []
    result = sweep(
        folder / "plan.toml",
        out=folder / "out",
        workers=1,
        plot=True,
        progress=lambda *now: progress.append(now),
    )
    assert progress[0] == (0, 8, "") and progress[-1] == (8, 8, "")
    return result, folder


def test_what_is_returned_is_what_the_command_prints(made, capsys) -> None:
    result, folder = made
    said = result.to_dict()
    assert (said["runs"], said["done"], said["failed"], said["cached"]) == (8, 8, 0, 0)
    assert all(Path(name).is_file() for name in (said["table"], *said["pictures"]))
    command = ["sweep", folder / "plan.toml", "--out", folder / "out", "--plot", "--json"]
    assert main([*map(str, command)]) == 0
    assert json.loads(capsys.readouterr().out) == {**said, "done": 0, "cached": 8}


def test_a_person_reads_a_few_lines(made) -> None:
    result, _ = made
    lines = repr(result).splitlines()
    assert len(lines) <= 5 and lines[0] == "Sweep plan: 8 runs, 8 done now, 0 there already"
    assert "width (2 values)" in lines[1] and "margin" in lines[2]
    html = result._repr_html_()
    assert "<b>Sweep plan: 8 runs" in html and html.count("<tr>") == len(result.ranges) + 1


def test_failed_runs_are_in_the_lines(made) -> None:
    result, _ = made
    fields = {**result.__dict__, "done": 7, "failed": 1, "reasons": ("<no\x1b>", "yes")}
    broken = Sweep(**fields)
    assert "1 failed" in repr(broken) and "and 1 other" in repr(broken)
    assert len(repr(broken).splitlines()) <= 5 and "\x1b" not in repr(broken)
    assert "<no" not in broken._repr_html_()


def test_the_table_is_a_frame(made, monkeypatch) -> None:
    result, _ = made
    monkeypatch.setitem(sys.modules, "pandas", None)
    refused(result.to_frame, "to_frame", "pandas")
    pandas = ModuleType("pandas")
    pandas.DataFrame = lambda rows, columns: (rows, columns)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    rows, columns = result.to_frame()
    assert len(rows) == 8 and columns[0] == "data.name" and columns[-1] == "run"
    assert all(list(row) == columns for row in rows)


def test_it_draws_itself(made) -> None:
    result, _ = made
    ax = result.plot()
    assert result.plot(ax) is ax
    assert ax.get_xlabel() in map(in_words, result.plan.axes)
    assert result.plot(value="margin").get_title() == "Normalised margin"
    refused(lambda: result.plot(value="marginn"), "did you mean 'margin'")


def test_what_cannot_be_is_said_with_parameters(made, tmp_path) -> None:
    _, folder = made
    plan = folder / "plan.toml"
    address = "tcp://127.0.0.1:1"
    refused(lambda: sweep(plan, workers=0), "`workers=0`", "at least 1")
    refused(lambda: sweep(plan, workers=1, cluster=address), "`workers=N`")
    refused(lambda: sweep(plan, tls_key="k.pem"), "`tls_ca=FILE`")
    refused(lambda: sweep(plan, tmp_path / "o", cluster=address, tls_key="k"), "all of `tls_ca=")
    refused(lambda: sweep(plan, table=tmp_path / "t.txt"), "`table=", ".csv or .parquet")
    (tmp_path / "mine.txt").write_text("mine")
    refused(lambda: sweep(plan, tmp_path), "something else", "`out=FOLDER`")


def test_something_worth_knowing_is_a_warning(made) -> None:
    result, folder = made
    (result.folder / "runs" / result.rows[0]["run"] / "run.json").write_text("{")
    with pytest.warns(UserWarning, match="computed anew"):
        again = sweep(folder / "plan.toml", result.folder, workers=1)
    beside = {**result.rows[0], "run": f"{result.rows[0]['run']}-2"}
    assert (again.done, again.cached) == (1, 7) and again.rows == [beside, *result.rows[1:]]


ROOT = Path(tacit.sweeps.__file__).parent


@pytest.mark.parametrize("path", sorted(ROOT.glob("*.py")), ids=lambda path: path.stem)
def test_the_cluster_is_seen_through_one_door(path: Path) -> None:
    """`connect` gives `Workers`; nothing else of the cluster is known outside of its folder."""
    names = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(CLUSTER)
        for alias in node.names
    }
    allowed = {f"{CLUSTER}.connect", f"{CLUSTER}.tls_files"}
    assert names == (allowed if path.stem == "sweeping" else set())


CLUSTER = "tacit.sweeps.cluster"
