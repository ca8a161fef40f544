"""The runs of a sweep pooled into cells: means and shares with 99% intervals."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tacit.messages import count
from tacit.numerics.confidence import mean_interval, share_interval
from tacit.plot.sweep_columns import Axis, Choice, Rows, key_of, said

Kind = Literal["mean", "geometric", "share", "word"]
"""A geometric mean is that of positive numbers of very different size."""

MOST_WORDS = 6
"""Colours that are told apart; rarer words share the last one."""
HUGE = 1e250
"""Numbers beyond are drawn here."""
DECADES = 1000.0
"""Positive means that span more than this factor are taken as geometric."""


@dataclass(frozen=True, eq=False)
class Pooled:
    """The values of one column in each cell."""

    value: str
    kind: Kind
    x: Axis
    y: Axis | None
    cells: Mapping[tuple[int, int], list[Any]]
    """(place on y, place on x) → values of the runs there."""
    words: tuple[str, ...]
    """The most frequent first."""
    runs: int
    failed: int
    """Runs left out because they failed."""
    missing: int
    """Runs left out because they have no value."""

    @property
    def shape(self) -> tuple[int, int]:
        return (1 if self.y is None else len(self.y.values)), len(self.x.values)

    def middle(self, i: int, j: int, word: str | None = None) -> float:
        """The mean, or the share of a word; NaN where there is none."""
        cell = self.cells.get((i, j), [])
        if not cell:
            return np.nan
        if word is not None:
            return cell.count(word) / len(cell)
        if self.kind == "geometric":
            return float(np.exp(np.mean(np.log(cell))))
        return float(np.mean(cell))

    def interval(self, i: int, j: int, word: str | None = None) -> tuple[float, float]:
        """The confidence interval of `middle`; NaN for fewer than two runs."""
        cell = self.cells.get((i, j), [])
        if len(cell) < 2:
            return np.nan, np.nan
        if self.kind in ("share", "word"):
            return share_interval(cell.count(1.0 if word is None else word), len(cell))
        with np.errstate(over="ignore", invalid="ignore"):
            if self.kind == "geometric":
                low, high = np.exp(mean_interval(np.log(cell)))
            else:
                low, high = mean_interval(np.array(cell))
        return (float(low), float(high)) if np.isfinite([low, high]).all() else (np.nan, np.nan)


def pool(rows: Rows, chosen: Choice, value: str) -> Pooled:
    """Every run that has a value, in its cell."""
    kind = _kind(rows, value)
    x, y = chosen.x, chosen.y
    across, up = ({key_of(v): i for i, v in enumerate(a.values)} if a else {} for a in (x, y))
    cells: dict[tuple[int, int], list[Any]] = {}
    failed = missing = 0
    for row in rows:
        one = row.get(value)
        if one is None:
            broken = row.get("status") == "failed"
            failed, missing = failed + broken, missing + (not broken)
            continue
        i = up[key_of(row.get(y.name))] if y else 0
        j = across[key_of(row.get(x.name))] if x.name else 0
        one = said(one) if kind == "word" else min(max(float(one), -HUGE), HUGE)
        cells.setdefault((i, j), []).append(one)
    pooled = Pooled(value, kind, x, y, cells, (), len(rows), failed, missing)
    return _with_words(pooled) if kind == "word" else _with_decades(pooled)


def _kind(rows: Rows, value: str) -> Kind:
    values = [row[value] for row in rows if row.get(value) is not None]
    if any(isinstance(one, str) for one in values):
        return "word"
    truth = all(isinstance(one, bool) for one in values)
    return "share" if values and (truth or {float(v) for v in values} == {0.0, 1.0}) else "mean"


def _with_words(pooled: Pooled) -> Pooled:
    """The words by frequency; where there are many the last ones become one."""
    often = Counter(word for cell in pooled.cells.values() for word in cell)
    words = sorted(often, key=lambda word: (-often[word], word))
    if len(words) <= MOST_WORDS:
        return replace(pooled, words=tuple(words))
    kept = words[: MOST_WORDS - 1]
    rest = "the rest"
    cells = {
        place: [word if word in kept else rest for word in cell]
        for place, cell in pooled.cells.items()
    }
    return replace(pooled, words=(*kept, rest), cells=cells)


def _with_decades(pooled: Pooled) -> Pooled:
    if pooled.kind != "mean" or any(min(cell) <= 0 for cell in pooled.cells.values()):
        return pooled
    means = np.array([pooled.middle(i, j) for i, j in pooled.cells])
    wide = len(means) > 1 and means.max() > DECADES * means.min()
    return replace(pooled, kind="geometric") if wide else pooled


def caption(pooled: Pooled, chosen: Choice) -> str:
    """What was pooled, how many runs that is, what was left out, and what the bands are."""
    counts = [len(cell) for cell in pooled.cells.values()]
    told = [f"Column {pooled.value} of {count(pooled.runs, 'run')}."]
    if counts:
        fewest, most = min(counts), max(counts)
        each = count(most, "run") if fewest == most else f"{fewest} to {most} runs"
        told.append(f"{each} at each point.")
    what = ", ".join(f"{name} ({count(k, 'value')})" for name, k in chosen.pooled)
    told.append(f"Pooled: {what}." if what else "Nothing is pooled.")
    told += [f"{name} goes with {lead}." for name, lead in chosen.follow]
    if pooled.failed or pooled.missing:
        left = [f"{pooled.failed} failed"] * bool(pooled.failed)
        left += [f"{pooled.missing} without a value"] * bool(pooled.missing)
        told.append(f"Left out: {', '.join(left)}.")
    if pooled.y is not None and 0 < len(counts) < np.prod(pooled.shape):
        told.append("Hatched: no run with a value.")
    turn = [axis.name for axis in (pooled.x, pooled.y) if axis and axis.kind == "turn"]
    if turn:
        told.append(f"Values of {' and '.join(turn)} in turn, not to scale.")
    if pooled.kind == "word" and pooled.y is not None and _mixed(pooled):
        told.append("The map is paler where its word is less frequent.")
    return " ".join([*told, _bands(pooled, counts)] if counts else told)


def _mixed(pooled: Pooled) -> bool:
    """Whether some cell has more than one word."""
    return any(len(set(cell)) > 1 for cell in pooled.cells.values())


def _bands(pooled: Pooled, counts: list[int]) -> str:
    if max(counts) < 2:
        return "No bands: they need at least two runs."
    whose = {
        "mean": "Student's interval of the mean",
        "geometric": "Student's interval of the mean of the logarithms",
        "share": "Clopper and Pearson's exact interval of the probability",
        "word": "Clopper and Pearson's exact interval of the probability",
    }[pooled.kind]
    some = "" if min(counts) > 1 else "; none where there is one run only"
    return f"Bands: 99%, {whose}, for each point on its own{some}."
