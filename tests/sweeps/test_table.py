"""Tables: every digit, in the order of the plan, the same bytes whenever they are written."""

import csv
import io
import json
import sys
from dataclasses import replace

import pyarrow
import pyarrow.parquet as parquet
import pytest

from tacit.sweeps.columns import CERTIFICATE, LIMIT, LISTS, TEXTS, WHOLE, result_columns
from tacit.sweeps.computation import compute
from tacit.sweeps.plan import Plan, Point
from tacit.sweeps.planned_run import DataCall, PlannedRun, RunResult
from tacit.sweeps.table import as_csv, as_parquet, columns, rows
from tacit.values import BadInput, Setting

RECORD = ("margin", "singular_values", "certificate")


def plan_of(*values: dict) -> Plan:
    run = PlannedRun(DataCall("xor"), Setting(), 10, 0, RECORD, 60.0)
    points = tuple(Point(one, replace(run, seed=i)) for i, one in enumerate(values))
    return Plan("plan", points, (), {}, {}, RECORD)


THIRD = 1 / 3
PLAN = plan_of(
    {"data.file": "=1+1.csv", "lr": THIRD, "stop": ["zero_error", "a,b"], "seed": 0},
    {"data.file": "größe\n.csv", "lr": 5e-324, "stop": [], "seed": 1},
    {"data.file": "-a", "lr": -1e22, "stop": [], "seed": 2},
)
RESULTS = {
    PLAN.points[2].run.key: RunResult({}, reason="=cmd()"),
    PLAN.points[0].run.key: RunResult(
        {
            "margin": 0.1 + 0.2,
            "outcome": "ran all epochs",
            "epoch": 10,
            "singular_values": [1.0, THIRD],
        }
    ),
    PLAN.points[1].run.key: RunResult({"margin": None, "epoch": 2**60, "singular_values": None}),
}


def read(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))


def test_rows_are_in_the_order_of_the_plan():
    lines = rows(PLAN, RESULTS)
    assert [row["seed"] for row in lines] == [0, 1, 2]
    assert [row["status"] for row in lines] == ["done", "done", "failed"]
    assert [row["reason"] for row in lines] == [None, None, "=cmd()"]
    for row in lines:
        assert tuple(row) == columns(PLAN)
    assert columns(PLAN) == (
        *("data.file", "lr", "stop", "seed", "status", "reason", "outcome", "epoch"),
        *("margin", "singular_values"),
        *CERTIFICATE,
        "run",
    )
    assert [row["run"] for row in lines] == [point.run.key for point in PLAN.points]
    assert [row["seed"] for row in rows(PLAN, dict(list(RESULTS.items())[:1]))] == [2]


def test_csv_has_every_digit():
    one, other, third = read(as_csv(PLAN, rows(PLAN, RESULTS)))
    assert float(one["lr"]) == THIRD and float(one["margin"]) == 0.1 + 0.2
    assert float(other["lr"]) == 5e-324 and other["epoch"] == str(2**60)
    assert other["margin"] == other["singular_values"] == other["certificate.gap"] == ""
    assert json.loads(one["singular_values"]) == [1.0, THIRD]
    assert json.loads(one["stop"]) == ["zero_error", "a,b"] and other["stop"] == "[]"
    assert other["data.file"] == "größe\n.csv"
    assert float(third["lr"]) == -1e22


def test_no_text_is_a_formula():
    one, _, third = read(as_csv(PLAN, rows(PLAN, RESULTS)))
    assert one["data.file"] == "'=1+1.csv"
    assert third["data.file"] == "'-a" and third["reason"] == "'=cmd()"
    names = plan_of(*({"data.file": f"{mark}a"} for mark in "=+-@\t\r"))
    results = {point.run.key: RunResult({}) for point in names.points}
    for row in read(as_csv(names, rows(names, results))):
        assert row["data.file"].startswith("'")


def test_parquet_has_the_same_and_types_that_do_not_depend_on_values():
    lines = rows(PLAN, RESULTS)
    table = parquet.read_table(io.BytesIO(as_parquet(PLAN, lines)))
    kinds = {field.name: field.type for field in table.schema}
    assert tuple(kinds) == columns(PLAN)
    assert kinds["lr"] == kinds["certificate.gap"] == kinds["margin"] == pyarrow.float64()
    assert kinds["seed"] == kinds["epoch"] == pyarrow.int64()
    assert kinds["reason"] == kinds["certificate.optimality"] == kinds["stop"] == pyarrow.string()
    assert kinds["singular_values"] == pyarrow.list_(pyarrow.float64())
    for row, again in zip(lines, table.to_pylist(), strict=True):
        again["stop"] = json.loads(again["stop"])
        assert again == row
    nothing = {key: RunResult({}) for key in RESULTS}
    empty = parquet.read_table(io.BytesIO(as_parquet(PLAN, rows(PLAN, nothing))))
    assert empty.schema == table.schema
    assert parquet.read_table(io.BytesIO(as_parquet(PLAN, []))).schema == table.schema


def test_mixed_columns_are_text_in_parquet():
    plan = plan_of({"data.height": "none", "lr": 1}, {"data.height": 0.1, "lr": 0.5})
    results = {point.run.key: RunResult({}) for point in plan.points}
    table = parquet.read_table(io.BytesIO(as_parquet(plan, rows(plan, results))))
    assert table["data.height"].to_pylist() == ["none", "0.1"]
    assert table["lr"].to_pylist() == [1.0, 0.5]


def test_the_same_table_is_the_same_bytes():
    shuffled = dict(reversed(RESULTS.items()))
    later = {key: replace(result, seconds=9.0, device="x") for key, result in shuffled.items()}
    for write in (as_csv, as_parquet):
        assert write(PLAN, rows(PLAN, RESULTS)) == write(PLAN, rows(PLAN, later))


def test_without_pyarrow_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadInput, match=r"pip install 'tacit\[report\]'"):
        as_parquet(PLAN, [])


def test_columns_of_results_have_the_types_of_their_values():
    """Of a run that records everything."""
    from tacit.measures import MEASURES

    record = (*MEASURES, "limit", "certificate")
    setting = Setting(width=4, init="balanced:0.1", lr=0.5)
    (result,) = compute((PlannedRun(DataCall("lyu2021_left"), setting, 50, 0, record, 60.0),), {})
    for name in result_columns(record)[2:]:
        kind = str if name in TEXTS else int if name in WHOLE else list if name in LISTS else float
        value = result.values[name]
        assert value is None or type(value) is kind, name
    known = {*LIMIT, *CERTIFICATE, *MEASURES, "outcome", "epoch", "status", "reason", "run"}
    assert known >= TEXTS | WHOLE | LISTS
