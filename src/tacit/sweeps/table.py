"""The table of a sweep: a row for every run, in the order of the plan, as CSV or parquet."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.sweeps.columns import LISTS, TEXTS, WHOLE, result_columns
from tacit.sweeps.plan import Plan
from tacit.sweeps.planned_run import RunResult
from tacit.values import BadInput

Rows = list[dict[str, Any]]
"""The values of every run by column."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet may run a text that begins with one of these; an apostrophe in front says that it
is text. Names of files can begin so."""


def columns(plan: Plan) -> tuple[str, ...]:
    """The values of the plan, then what is recorded, then the name of the run's folder."""
    return (*plan.points[0].values, *result_columns(plan.record), "run")


def rows(plan: Plan, results: Mapping[str, RunResult]) -> Rows:
    """A row for every run that has a result, by column; `results` are by the keys of the runs."""
    names = columns(plan)
    table = []
    for point in plan.points:
        result = results.get(point.run.key)
        if result is not None:
            folder = result.folder or point.run.key
            state = {"status": "failed" if result.failed else "done", "run": folder}
            said = {**result.values, **state, "reason": result.reason or None, **point.values}
            table.append({name: said.get(name) for name in names})
    return table


def as_csv(plan: Plan, rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Floats with all their digits, lists as JSON, nothing where there is nothing."""
    names = columns(plan)
    lines = [names, *([_cell(one[name]) for name in names] for one in rows)]
    text = "".join(f"{','.join(map(_quoted, line))}\n" for line in lines)
    return text.encode("utf-8", "backslashreplace")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    return repr(value)


def _quoted(cell: str) -> str:
    if any(mark in cell for mark in '",\r\n'):
        cell = cell.replace('"', '""')
        return f'"{cell}"'
    return cell


def as_parquet(plan: Plan, rows: Sequence[Mapping[str, Any]]) -> bytes:
    """The table in columns, each of one type whatever is in it."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise BadInput("parquet needs pyarrow: pip install 'tacit[report]'") from None

    types = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    types[list] = arrow.list_(arrow.float64())
    arrays = {}
    for name in columns(plan):
        values = [one[name] for one in rows]
        kind = _kind(plan, name)
        if kind is str:
            values = [value if isinstance(value, str | None) else _cell(value) for value in values]
        arrays[name] = arrow.array(values, types[kind])
    sink = io.BytesIO()
    parquet.write_table(arrow.table(arrays), sink, compression="zstd")
    return sink.getvalue()


def _kind(plan: Plan, column: str) -> type:
    """The type of a column: of the plan's, that of its values; text where they are mixed."""
    if column in plan.points[0].values:
        kinds = {type(point.values[column]) for point in plan.points}
        if kinds == {int, float}:
            return float
        return kinds.pop() if len(kinds) == 1 and kinds <= {int, float} else str
    if column in TEXTS:
        return str
    return int if column in WHOLE else list if column in LISTS else float
