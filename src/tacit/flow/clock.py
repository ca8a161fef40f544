"""The time t of gradient flow along a path whose own time is s: dt = ds/L."""

from __future__ import annotations

import math

import numpy as np

from tacit.flow.tolerances import PATH

# On a piece where log L changes by about 1, eight nodes integrate 1/L to rounding error.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


def log_time(
    h: float, ends: tuple[float, float], slopes: tuple[float, float], middle: float | None = None
) -> float:
    """log ∫ ds/L over a step, from log L and its slopes at the two ends and its value half way.

    log L is taken to be the polynomial that has these values, of degree 4, or 3 without the value
    half way. It falls, and where it falls far nearly all of the time is spent at the end of the
    step, so the pieces on which it is integrated halve towards there.
    """
    steep = max(ends[0] - ends[1], abs(h * slopes[1]), 1.0)
    pieces = min(math.ceil(math.log2(steep)) + 1, PATH.most_pieces)
    rest = 0.5 ** np.arange(pieces)  # 1 − x at the beginning of each piece
    width = np.append(rest[:-1] / 2, rest[-1])
    u = rest[:, None] - width[:, None] * (NODES + 1) / 2
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        values = _between(u, h, ends, slopes, middle)
    # In logarithms, since 1/L itself overflows from a loss of 1e-308 on.
    return float(
        np.logaddexp.reduce((np.log(width[:, None] * WEIGHTS / 2) + math.log(h) - values).ravel())
    )


def _between(
    u: np.ndarray | float,
    h: float,
    ends: tuple[float, float],
    slopes: tuple[float, float],
    middle: float | None,
) -> np.ndarray:
    """The polynomial at the share 1 − u of the step."""
    x = 1 - np.asarray(u)
    cubic = u**2 * (ends[0] * (1 + 2 * x) + h * slopes[0] * x)
    cubic = cubic + x**2 * (ends[1] * (1 + 2 * u) - h * slopes[1] * u)
    if middle is None:
        return cubic
    centre = (ends[0] + ends[1]) / 2 + h * (slopes[0] - slopes[1]) / 8
    return cubic + (middle - centre) * 16 * (u * x) ** 2
