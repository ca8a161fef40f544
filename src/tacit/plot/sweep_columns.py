"""Which columns of a table are drawn over which others."""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tacit.messages import near_miss, printable
from tacit.values import BadInput

Rows = Sequence[Mapping[str, Any]]

SEEDS = ("seed", "data.seed")
"""Columns that are pooled by default."""
FIRST_RESULT = "status"
"""The columns before it were set, it and those after it were found."""
MOST_VALUES = 6
"""Pictures that are drawn when nothing says which."""
WIDE = 20.0
"""Positive values that span more than this factor may be drawn logarithmically."""
UNEVEN = 0.15
"""Values of which two are nearer than this part of the mean distance are drawn in turn."""


@dataclass(frozen=True)
class Axis:
    """A column, its values in order, and how they are laid out."""

    name: str
    values: tuple[Any, ...]
    kind: Literal["log", "linear", "turn", "words"]
    """`turn`: one step each, since they lie too unevenly; `words`: they have no place of their
    own."""

    @property
    def labels(self) -> list[str]:
        return [said(value) for value in self.values]

    @property
    def at(self) -> np.ndarray:
        if self.kind in ("turn", "words"):
            return np.arange(len(self.values), dtype=float)
        return np.array(self.values, dtype=float)

    def edges(self) -> np.ndarray:
        """Cells end half-way between their values, as the axis shows them."""
        at = np.log10(self.at) if self.kind == "log" else self.at
        steps = np.diff(at) if len(at) > 1 else np.array([1.0])
        inner = (at[:-1] + at[1:]) / 2
        ends = np.concatenate([[at[0] - steps[0] / 2], inner, [at[-1] + steps[-1] / 2]])
        return 10**ends if self.kind == "log" else ends


@dataclass(frozen=True)
class Choice:
    """What is drawn over what."""

    x: Axis
    y: Axis | None
    values: tuple[str, ...]
    pooled: tuple[tuple[str, int], ...]
    """The other columns that vary, with the number of their values."""
    follow: tuple[tuple[str, str], ...]
    """Columns that vary only with x, with y or with both, and what they vary with."""


def choose(rows: Rows, axes: Sequence[str], options: Mapping[str, Any]) -> Choice:
    """What the options say, and where they say nothing the longest axes and what varies."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    first = columns.index(FIRST_RESULT) if FIRST_RESULT in columns else None
    set_ = columns[:first] if first is not None else [c for c in columns if c in (*axes, *SEEDS)]
    recorded = [name for name in columns if name not in set_]
    check(set_, recorded, options)
    told = {key: options[key] for key in ("x", "y") if key in options}
    free = [name for name in axes if name not in (*told.values(), *SEEDS) and name in set_]
    laid = {name: axis_of(rows, name) for name in (*told.values(), *free)}
    free.sort(key=lambda name: (laid[name].kind == "words", -len(laid[name].values)))
    x = told.get("x") or next(iter(free), None)
    alone = [name for name in free if name != x and not (x and _follows(rows, name, x))]
    y = told.get("y") or (next(iter(alone), None) if x else None)
    others = [name for name in set_ if name not in (x, y)]
    number = {name: len({key_of(row.get(name)) for row in rows}) for name in others}
    varying = {name: k for name, k in number.items() if k > 1}
    follow: dict[str, str] = {}
    for name in varying:
        drawn = [column for column in (x, y) if column]
        for lead in (drawn[:1], drawn[1:], drawn):
            if lead and name not in follow and _follows(rows, name, *lead):
                follow[name] = " and ".join(lead)
    return Choice(
        laid[x] if x else Axis("", ("all runs",), "words"),
        laid[y] if y else None,
        _values(rows, recorded, options.get("value")),
        tuple((name, k) for name, k in varying.items() if name not in follow),
        tuple(follow.items()),
    )


def check(set_: Sequence[str], recorded: Sequence[str], options: Mapping[str, Any]) -> None:
    """BadInput unless the options are the names of columns that were set and that were found."""
    for key, given in options.items():
        if key not in ("x", "y", "value"):
            raise BadInput(f"[plot]: unknown key '{key}'{near_miss(key, ('x', 'y', 'value'))}")
        several = key == "value" and isinstance(given, list | tuple) and len(given)
        for name in given if several else [given]:
            known, what = (recorded, "recorded") if key == "value" else (set_, "set")
            if not isinstance(name, str):
                right = "a column's name or a list of them" if key == "value" else "a column's name"
                raise BadInput(f"[plot] {key} = {given!r} must be {right}")
            if name not in known:
                hint = near_miss(name, known)
                raise BadInput(f"[plot] {key}: no column '{name}' is {what} by this sweep{hint}")
    if "x" in options and options["x"] == options.get("y"):
        raise BadInput(f"[plot]: x and y are both '{options['x']}'; they must be two columns")


def said(value: Any) -> str:
    """A value of a column as a person reads it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return re.sub(r"e\+?(-?)0*", r"e\1", f"{value:.4g}")
    if isinstance(value, list | tuple):
        return ", ".join(map(said, value)) or "none"
    return printable(str(value))


def key_of(value: Any) -> Hashable:
    """Equal for equal values; true is not 1."""
    if isinstance(value, list | tuple):
        return tuple(map(key_of, value))
    return (value,) if isinstance(value, bool) else value


def axis_of(rows: Rows, name: str) -> Axis:
    """Numbers are sorted, words stay in the order of the plan."""
    values: list[Any] = list({key_of(row.get(name)): row.get(name) for row in rows}.values())
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return Axis(name, tuple(values), "words")
    values.sort()
    steps = np.diff(np.array(values, dtype=float))
    log = False
    if values[0] > 0 and values[-1] > WIDE * values[0]:
        ratios = np.diff(np.log(values))
        log = len(steps) == 1 or bool(_evenness(ratios) > _evenness(steps))
        steps = ratios if log else steps
    if len(steps) and _evenness(steps) < UNEVEN:
        return Axis(name, tuple(values), "turn")
    return Axis(name, tuple(values), "log" if log else "linear")


def _evenness(steps: np.ndarray) -> float:
    return float(steps.min() / steps.mean())


def _follows(rows: Rows, name: str, *lead: str) -> bool:
    """Whether the values of the leading columns say that of the other."""
    seen: dict[Hashable, Hashable] = {}
    pairs = ((key_of([row.get(one) for one in lead]), key_of(row.get(name))) for row in rows)
    return all(seen.setdefault(one, two) == two for one, two in pairs)


def _values(rows: Rows, recorded: Sequence[str], told: Any) -> tuple[str, ...]:
    """The columns to draw: those asked for, else the most telling of those that vary."""
    lists = {name for name in recorded if any(isinstance(row.get(name), list) for row in rows)}
    if told is not None:
        names = [told] if isinstance(told, str) else told
        for name in names:
            if name in lists:
                raise BadInput(f"[plot] value: '{name}' is a list; only one number can be drawn")
        return tuple(dict.fromkeys(names))
    number = {}
    for name in recorded:
        seen = {key_of(row[name]) for row in rows if row.get(name) is not None}
        if seen and name not in lists and name not in ("reason", "run"):
            number[name] = len(seen)
    varies = [name for name, k in number.items() if k > 1]
    still = [name for name in number if _rank(name) < 2]
    chosen = sorted(varies or still or number, key=_rank)
    return tuple(sorted(chosen[:MOST_VALUES], key=list(recorded).index))


def _rank(name: str) -> int:
    """Measures first, then what limit and certificate are known by, then the rest."""
    if name in ("status", "outcome", "epoch"):
        return 2
    if "." not in name:
        return 0
    return 1 if name.rpartition(".")[2] in ("outcome", "optimality", "margin") else 3
