"""What the data is like before any theorem is asked: sizes, zero rows, repeats, contradictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit._types import Dataset

MOST_LISTED = 20


def facts(data: Dataset) -> dict[str, Any]:
    """Plain facts; lists of rows (counted from 0) are cut after MOST_LISTED, counts are not."""
    norms = np.linalg.norm(data.X, axis=1)
    zero = np.flatnonzero(norms == 0)
    groups: dict[bytes, list[int]] = {}
    for i, row in enumerate(data.X + 0.0):  # −0 becomes 0
        groups.setdefault(row.tobytes(), []).append(i)
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
        "contradictions": contradictory[:MOST_LISTED],
        "n_contradictions": len(contradictory),
        "smallest_norm": float(norms.min()),
        "largest_norm": float(norms.max()),
    }


def remarks(found: dict[str, Any]) -> list[str]:
    """The facts a person should know, as sentences."""
    said = []
    if found["one_class"]:
        said.append("There is one class only.")
    if found["n_zero_rows"]:
        rows = ", ".join(map(str, found["zero_rows"]))
        said.append(f"Zero rows: {rows}. No network without a bias can give them a label.")
    if found["n_contradictions"]:
        rows = "; ".join(", ".join(map(str, group)) for group in found["contradictions"])
        said.append(f"The same point with different labels, in rows {rows}: no function fits both.")
    if found["n_repeated"]:
        said.append(f"{found['n_repeated']} points repeat others.")
    return said
