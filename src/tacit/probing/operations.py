"""Which operation breaks homogeneity? Euler's identity of every value on the way to the output.

A value v(θ) has the degree d where its derivative along θ is d v. An operation whose inputs have
degrees and whose output has none breaks homogeneity; it then counts as of the nearest whole degree,
so that what breaks it further on is found too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

REFLECTED = {f"{side}{name}": name for side in "ri" for name in ("add", "sub", "mul", "truediv")}


def nearest_degree(value: np.ndarray, slope: np.ndarray) -> tuple[float, float]:
    """d with slope ≈ d·value, whole where it is near, and the error relative to d·value."""
    finite = np.isfinite(value) & np.isfinite(slope)  # masks are infinite on purpose
    v, t = value[finite], slope[finite]
    scale = float(np.abs(v).max(initial=0.0))
    if not scale > 0:
        return 0.0, float(np.abs(t).max(initial=0.0) > 0)
    v, t = v / scale, t / scale
    degree = float((v * t).sum() / (v * v).sum())
    if abs(degree - round(degree)) < 1e-3:
        degree = float(round(degree))
    return degree, float(np.abs(t - degree * v).max()) / max(abs(degree), 1.0)


def mended_degree(degree: float) -> float:
    """What a value of no degree counts as further on: like what ReLU would make of it."""
    return max(round(degree), 1.0)


def plain_name(operation: str) -> str:
    """`__radd__`, `add_` and `add` are one operation."""
    name = operation.strip("_")
    return REFLECTED.get(name, name)


def in_words(operation: str, place: str, degrees: Sequence[float]) -> str:
    """The operation, and what it mixes where that is why."""
    distinct = sorted({round(one, 2) for one in degrees})
    mixed = " and ".join(f"{one:g}" for one in distinct)
    why = f" (of values of degrees {mixed})" if len(distinct) > 1 else ""
    return f"the operation {plain_name(operation)}{place}{why}"
