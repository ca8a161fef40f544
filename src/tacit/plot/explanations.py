"""Pictures of an explanation, each on its own, as SVG."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.explanation import Part
from tacit.flow.exponential_tail import tail_of
from tacit.flow.path_measures import along
from tacit.plot import limits as panels
from tacit.plot.directions import directions
from tacit.plot.neurons import neurons
from tacit.theorems import Verdict

WIDE, SQUARE = (6.4, 4.2), (5.6, 5.2)
"""Sizes in inches."""
MANY_LINES = 60
"""From so many on they are drawn as one bitmap."""


def pictures(part: Part) -> dict[str, bytes]:
    """Name → SVG: boundary, neurons, turning, margins, loss and distance, in that order."""
    found = part.limit
    measures = along(found.path, tail_of(found.setting.loss))
    tall = SQUARE[1] + 0.2 * len(predicted(part.verdicts))
    draw: dict[str, tuple[tuple[float, float], Callable[[Axes], None]]] = {
        "boundary": (SQUARE, lambda ax: panels.outputs(ax, found)),
        "neurons": ((SQUARE[0], tall), lambda ax: neurons(ax, found, predicted(part.verdicts))),
        "turning": (WIDE, lambda ax: directions(ax, found, measures.separation)),
        "margins": (WIDE, lambda ax: panels.margins(ax, found, measures)),
        "loss": (WIDE, lambda ax: panels.loss(ax, measures)),
        "distance": (WIDE, lambda ax: panels.distance(ax, found)),
    }
    return {name: _svg(size, fill) for name, (size, fill) in draw.items()}


def predicted(verdicts: Sequence[Verdict]) -> list[tuple[str, list[tuple[int, np.ndarray]]]]:
    """The directions that theorems name, and which do; those that name the same share a line."""
    found: list[tuple[list[str], list[tuple[int, np.ndarray]]]] = []
    for verdict in verdicts:
        if verdict.applies is False or verdict.prediction is None:
            continue
        named = list(verdict.prediction.directions)
        if not named:
            continue
        same = next((ids for ids, other in found if _same(named, other)), None)
        if same is None:
            found.append(([verdict.theorem.id], named))
        else:
            same.append(verdict.theorem.id)
    return [(", ".join(ids), named) for ids, named in found]


def _same(one: list[tuple[int, np.ndarray]], other: list[tuple[int, np.ndarray]]) -> bool:
    def within(some: list[tuple[int, np.ndarray]], many: list[tuple[int, np.ndarray]]) -> bool:
        return all(
            any(sign == s and np.abs(u - v).max() < 1e-6 for s, v in many) for sign, u in some
        )

    return within(one, other) and within(other, one)


def _svg(size: tuple[float, float], fill: Callable[[Axes], None]) -> bytes:
    """Letters are outlines, surfaces of colour and bundles of lines bitmaps: alike everywhere."""
    figure = Figure(figsize=size, layout="constrained")
    ax = figure.add_subplot()
    fill(ax)
    ax.title.set_fontsize(panels.TITLE)
    for item in ax.collections:
        if getattr(item, "filled", False):
            item.set_rasterized(True)
    if len(ax.lines) > MANY_LINES:
        for line in ax.lines:
            line.set_rasterized(True)
    whole = io.BytesIO()
    nameless = {"Date": None, "Creator": None, "Format": None, "Type": None}
    with matplotlib.rc_context({"svg.hashsalt": "tacit"}):
        figure.savefig(whole, format="svg", dpi=200, metadata=nameless)
    return whole.getvalue()
