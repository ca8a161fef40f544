"""What the data is like before any theorem is asked: sizes, zero rows, repeats, contradictions."""

from hashlib import blake2b
from typing import Any

import numpy as np

from tacit.geometry.predicate import row_norms
from tacit.values import Dataset

MOST_LISTED = 20
"""Rows that a list names."""


def facts(data: Dataset) -> dict[str, Any]:
    """Plain facts; lists of rows (counted from 0) are cut after MOST_LISTED, counts are not."""
    norms = row_norms(data.X)
    zero = np.flatnonzero(~data.X.any(axis=1))
    groups: dict[bytes, list[int]] = {}
    for i, row in enumerate(data.X):
        # A digest of each row, since the rows themselves as keys would hold a copy of the data.
        key = blake2b((row + 0.0).tobytes(), digest_size=16).digest()  # −0 becomes 0
        groups.setdefault(key, []).append(i)
    repeated = [rows for rows in groups.values() if len(rows) > 1]
    contradictory = [rows for rows in repeated if len(set(data.y[rows].tolist())) > 1]
    names = data.classes or None
    labels, counts = np.unique(data.y, return_counts=True)
    return {
        "class_sizes": {
            names[label] if names else f"{label:+d}": int(count)
            for label, count in zip(labels.tolist(), counts, strict=True)
        },
        "one_class": len(labels) == 1,
        "zero_rows": zero[:MOST_LISTED].tolist(),
        "n_zero_rows": len(zero),
        "n_repeated": sum(len(rows) - 1 for rows in repeated),
        "contradictions": [_shown(rows, data.y) for rows in contradictory[:MOST_LISTED]],
        "n_contradictions": len(contradictory),
        "smallest_norm": float(norms.min()),
        "largest_norm": float(norms.max()),
    }


def _shown(rows: list[int], y: np.ndarray) -> list[int]:
    """The rows that are listed, at most MOST_LISTED; the first of every label is among them."""
    first = [rows[i] for i in np.unique(y[rows], return_index=True)[1]]
    others = [row for row in rows if row not in first]
    return sorted((first + others)[:MOST_LISTED])


def remarks(facts: dict[str, Any]) -> list[str]:
    """The facts a person should know, as sentences."""
    said = []
    if facts["one_class"]:
        said.append("There is one class only.")
    if facts["n_zero_rows"]:
        rows = ", ".join(map(str, facts["zero_rows"]))
        more = facts["n_zero_rows"] - len(facts["zero_rows"])
        rows += f" and {more} more" if more else ""
        said.append(f"Zero rows: {rows}. No network without a bias can give them a label.")
    if facts["n_contradictions"]:
        rows = "; ".join(", ".join(map(str, group)) for group in facts["contradictions"])
        more = facts["n_contradictions"] - len(facts["contradictions"])
        rows += f" and {more} more points" if more else ""
        said.append(f"The same point with different labels, in rows {rows}: no function fits both.")
    if facts["n_repeated"]:
        repeats = "point repeats" if facts["n_repeated"] == 1 else "points repeat"
        said.append(f"{facts['n_repeated']} {repeats} others.")
    return said
