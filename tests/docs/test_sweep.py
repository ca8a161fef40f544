"""docs/sweep.md and examples/sweeps: their files can be read, one is run, keys are those said."""

import csv
import json
import re
import tomllib
from pathlib import Path

import pytest

from tacit.cli import main
from tacit.plot.sweep_columns import choose
from tacit.sweeps.plan import read
from tacit.sweeps.plan_values import Kind, several
from tacit.sweeps.settings import kinds
from tacit.sweeps.table import columns

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "sweep.md").read_text("utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", TEXT, re.S)
EXAMPLES = sorted((ROOT / "examples" / "sweeps").glob("*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_plans(path):
    text = path.read_text("utf-8")
    said = re.match(
        r"# .*?\?.*?(\d+)\s+(?:# )?runs, about [\w\s#]+ on two\s+(?:# )?cores\.\n\n", text, re.S
    )
    assert said, "begins with a question, the number of runs and how long they take"
    plan = read(path)
    assert len(plan.points) == int(said[1])
    rows = [{**dict.fromkeys(columns(plan)), **point.values} for point in plan.points]
    chosen = choose(rows, plan.axes, plan.plot)
    assert chosen.values == tuple([plan.plot["value"]] if isinstance(plan.plot["value"], str)
                                  else plan.plot["value"])  # fmt: skip


def test_there_are_examples():
    assert len(EXAMPLES) >= 4 and len(BLOCKS) == 2


def test_the_files_of_the_text_have_as_many_runs_as_it_says(tmp_path):
    (tmp_path / "grid.toml").write_text(BLOCKS[0], "utf-8")
    (tmp_path / "list.toml").write_text(BLOCKS[1], "utf-8")
    grid, entries = read(tmp_path / "grid.toml"), read(tmp_path / "list.toml")
    assert len(grid.points) == 240 and "3 × 4 × 2 × 10 = 240 runs" in TEXT
    assert grid.points[0].run.data.text == "gaussians:n=50,d=2,seed=0"
    assert len(entries.points) == 6 and "2 × 3 runs" in TEXT
    pairs = {(p.values["width"], p.values["lr"], p.values["data.margin"]) for p in entries.points}
    assert pairs == {(10, 0.1, 0.1), (100, 0.01, 0.2)}


def test_ranges_are_what_the_text_says():
    forms = re.findall(r"^\| `(\{ from.*?\})` \|", TEXT, re.M)
    expected = [[*range(10)], [0, 0.25, 0.5, 0.75, 1], [10 ** (-3 + i / 2) for i in range(9)]]
    for form, values in zip(forms, expected, strict=True):
        given = tomllib.loads(f"x = {form}")["x"]
        kind = Kind(int if len(values) == 10 else float)
        assert list(several("x", given, kind)) == pytest.approx(values)


def test_every_key_is_named():
    table = TEXT.split("| key | what it is | may be an axis |")[1].split("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", table))
    assert set(kinds()) <= named and {"record", "epochs", "seed", "seconds", "labels"} <= named


def test_every_column_is_named(tmp_path):
    text = BLOCKS[0].replace("record = [", 'record = ["limit", "certificate", ')
    path = tmp_path / "all.toml"
    path.write_text(text, "utf-8")
    table = TEXT.split("## The table")[1].split("Where `record`")[0]
    for column in columns(read(path)):
        group, _, name = column.rpartition(".")
        if group in ("limit", "certificate"):
            assert f"`{column}`" in table or f"`.{name}`" in table.split(f"`{group}.")[1]


def test_a_small_one_from_file_to_pictures(tmp_path, monkeypatch, capsys):
    """The first file of the text, smaller, and the Python examples on what it leaves."""
    monkeypatch.chdir(tmp_path)
    text = BLOCKS[0].replace("d = [2, 5, 10]", "d = [2, 3]").replace("to = 9", "to = 1")
    text = text.replace("log = 4", "log = 2").replace("width = [10, 100]", "width = 4")
    text = text.replace("epochs = 200", "epochs = 5").replace('"margin"]', '"margin", "weights"]')
    Path("first.toml").write_text(text, "utf-8")
    runs = 2 * 2 * 2
    call = ["sweep", "first.toml", "--plot", "--workers", "1", "--json"]
    assert main(call) == 0, capsys.readouterr().err
    said = json.loads(capsys.readouterr().out)
    keys = re.findall(r"^\| `(\w+)` \|", TEXT.split("## For scripts")[1], re.M)
    assert set(said) == set(keys)
    assert said["runs"] == said["done"] == runs and said["folder"] == "sweeps/first"
    assert said["pictures"] and all(Path(path).is_file() for path in said["pictures"])
    before = Path(said["table"]).read_bytes()
    one, two, three = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    exec(one, {})
    exec(two, {})
    exec(three, {})  # all is there: it writes the table again
    assert Path(said["table"]).read_bytes() == before
    lines = capsys.readouterr().out.strip().splitlines()
    assert all(line.endswith("(4, 2) (4,)") for line in lines[1:4])
    assert lines[4] == "Sweep first: 8 runs, 0 done now, 8 there already" and len(lines) <= 4 + 5
    rows = list(csv.DictReader(before.decode().splitlines()))
    assert len(rows) == runs and max(float(row["margin"]) for row in rows) == float(
        lines[0].split()[2]
    )
    Path("sweeps/first/index.sqlite").unlink()
    assert main(call) == 0
    assert json.loads(capsys.readouterr().out)["cached"] == runs
    assert Path(said["table"]).read_bytes() == before


def test_the_options_are_those_of_the_command(capsys):
    main(["sweep", "--help"])
    shown = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out))
    here = set(re.findall(r"`(--[a-z]+)", TEXT)) - {"--epochs", "--data"}
    assert here <= shown and {"--retry", "--table", "--plot", "--out", "--cluster"} <= here
