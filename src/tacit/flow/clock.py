"""The time t of gradient flow along a path whose own time is s: dt = ds/L."""

from __future__ import annotations

import numpy as np

from tacit.flow.tolerances import PATH
from tacit.numerics.compiled import compiled

# On a piece where log L changes by about 1, eight nodes integrate 1/L to rounding error.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


MOST_PIECES = PATH.most_pieces


def log_time(
    h: float, ends: tuple[float, float], slopes: tuple[float, float], middle: float | None = None
) -> float:
    """log ∫ ds/L over a step, from log L and its slopes at the two ends and its value half way.

    log L is taken to be the polynomial that has these values, of degree 4, or 3 without the value
    half way. It falls, and where it falls far nearly all of the time is spent at the end of the
    step, so the pieces on which it is integrated halve towards there.
    """
    bulge = 0.0
    if middle is not None:
        bulge = middle - (ends[0] + ends[1]) / 2 - h * (slopes[0] - slopes[1]) / 8
    return _log_integral(h, *ends, *slopes, bulge)


@compiled
def _log_integral(
    h: float, first: float, last: float, slope: float, end_slope: float, bulge: float
) -> float:
    """The same, with how far log L half way is above the cubic polynomial."""
    steep = max(first - last, abs(h * end_slope), 1.0)
    pieces = int(min(np.ceil(np.log2(steep)) + 1, MOST_PIECES))
    logs, rest, at = np.empty(pieces * len(NODES)), 1.0, 0
    for piece in range(pieces):  # `rest` is 1 − x at its beginning
        width = rest / 2 if piece < pieces - 1 else rest
        for node in range(len(NODES)):
            u = rest - width * (NODES[node] + 1) / 2
            x = 1 - u
            value = u * u * (first * (1 + 2 * x) + h * slope * x)
            value += x * x * (last * (1 + 2 * u) - h * end_slope * u)
            value += bulge * 16 * (u * x) ** 2
            logs[at] = np.log(width * WEIGHTS[node] / 2) - value
            at += 1
        rest -= width
    # In logarithms, since 1/L itself overflows from a loss of 1e-308 on.
    top = logs.max()
    return top + np.log(np.sum(np.exp(logs - top))) + np.log(h)
