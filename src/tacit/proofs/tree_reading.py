"""Trees of half-spaces in a proof file: nodes, and the multipliers that bound them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.proofs.entries import (
    Rejected,
    list_of,
    not_negative,
    numbers,
    object_of,
    plus_or_minus_one,
    short,
)

MOST_MULTIPLIER = 1e100
"""Larger ones have no use in a bound, and make exact sums long."""

Values = dict[int, float]
"""Multipliers by rows of X."""


class QuadraticRound(NamedTuple):
    """Multipliers of a quadratic function, as `tacit.proofs.quadratics` takes them."""

    mu: float
    values: np.ndarray
    """One for each support point."""
    bends: np.ndarray
    """One for each support point with the other label."""


class TreeNode(NamedTuple):
    """A part of the ball: how ranges shrink, multipliers of rounds, the row that splits it."""

    split: int | None
    ranges: tuple[tuple[int, int, Values], ...]
    """A row, the end 1 or −1 of its range, and multipliers of sides."""
    rounds: tuple[Values | QuadraticRound, ...]


@dataclass(frozen=True)
class TreeProof:
    """A node followed by the trees of its positive and its negative half, unless it is closed."""

    sign: int
    peak: float
    """The claim: M_s is at most this."""
    nodes: tuple[TreeNode, ...]


def read_tree(value: Any, n: int, where: str) -> TreeProof:
    """A tree over n rows."""
    entries = object_of(value, ("sign", "peak", "nodes"), where)
    peak = not_negative(entries["peak"], f"{where}.peak")
    nodes = [
        _tree_node(node, n, f"{where}.nodes[{j}]")
        for j, node in enumerate(list_of(entries["nodes"], f"{where}.nodes"))
    ]
    return TreeProof(plus_or_minus_one(entries["sign"], f"{where}.sign"), peak, tuple(nodes))


def _tree_node(value: Any, n: int, where: str) -> TreeNode:
    """[split, ranges, rounds]: a row or null; [row, end, rows and values …] each; rounds alike."""
    split, ranges, rounds = list_of(value, where, 3)
    read = []
    for j, entry in enumerate(list_of(ranges, f"{where}[1]")):
        place = f"{where}[1][{j}]"
        row, end, *values = [*list_of(entry, place), None, None][: max(len(entry), 2)]
        end = plus_or_minus_one(end, f"{place}[1]")
        read.append((_row(row, n, place), end, _values(values, n, place)))
    return TreeNode(
        None if split is None else _row(split, n, f"{where}[0]"),
        tuple(read),
        tuple(
            _round(entry, n, f"{where}[2][{j}]")
            for j, entry in enumerate(list_of(rounds, f"{where}[2]"))
        ),
    )


def _round(value: Any, n: int, where: str) -> Values | QuadraticRound:
    """A list is one with chords, an object one with a quadratic function."""
    if not isinstance(value, dict):
        return _values(list_of(value, where), n, where)
    entries = object_of(value, ("mu", "values", "bends"), where)
    read = []
    for key in ("values", "bends"):
        given = list_of(entries[key], f"{where}.{key}")
        if len(given) > n:
            raise Rejected(f"{where}.{key} has the length {len(given)}; there are {n} rows of X")
        array = np.array(numbers(given, f"{where}.{key}", len(given)))
        if len(given) and array.min() < 0:
            raise Rejected(f"{where}.{key} must not be negative")
        read.append(array)
    return QuadraticRound(not_negative(entries["mu"], f"{where}.mu"), *read)


def _values(entries: list[Any], n: int, where: str) -> Values:
    """Rows and multipliers in turns."""
    if len(entries) % 2:
        raise Rejected(f"{where}: a row has no value")
    values: Values = {}
    for row, value in zip(entries[::2], entries[1::2], strict=True):
        if _row(row, n, where) in values:
            raise Rejected(f"{where} names row {row} of X twice")
        values[row] = not_negative(value, where)
        if values[row] > MOST_MULTIPLIER:
            raise Rejected(f"{where}: {value} is too large for a multiplier")
    return values


def _row(value: Any, n: int, where: str) -> int:
    if type(value) is not int or not 0 <= value < n:
        raise Rejected(f"{where}: {short(value)} is not a row of X")
    return value
