"""Pictures of an explanation: one on given Axes, and all of them as SVG for the report."""

import io
from collections.abc import Callable, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.explanation import Explanation, Part
from tacit.plot import limits
from tacit.plot.axes import TITLE, WORST, draws
from tacit.plot.neuron_circle import Directions, neurons
from tacit.plot.neuron_paths import neuron_paths
from tacit.theorems import Verdict

WIDE, SQUARE = (5.0, 3.5), (4.6, 4.5)
"""Sizes in inches; small, so that letters are large enough on a phone."""
LETTERS = 9.5
"""The size of the letters in legends, for the same reason."""
MANY_LINES = 60
"""The number of lines, or dots, from which on they are drawn as one bitmap."""


@draws("explanation", "explanation : Explanation", f"What `tacit.explain` returned; {WORST}.")
def prediction_and_limit(explanation: Explanation, ax: Axes | None = None) -> Axes:
    """Draw the directions of neurons before training, in the limit, and as predicted."""
    part = explanation.worst
    return neurons(part.limit, ax, predicted(part.verdicts))


def pictures(part: Part) -> dict[str, bytes]:
    """Name → SVG of the pictures that show something, in the order of the report."""
    marks = predicted(part.verdicts)
    drawings: dict[str, tuple[tuple[float, float], Callable[[Axes], Axes]]] = {
        "boundary": (SQUARE, lambda ax: limits.outputs(part.limit, ax)),
        "neurons": (
            (SQUARE[0], SQUARE[1] + 0.35 * len(marks)),
            lambda ax: neurons(part.limit, ax, marks),
        ),
        "turning": (WIDE, lambda ax: neuron_paths(part.limit, ax)),
        "margins": (WIDE, lambda ax: limits.margins(part.limit, ax)),
        "loss": (WIDE, lambda ax: limits.loss(part.limit, ax)),
        "distance": (WIDE, lambda ax: limits.distance(part.limit, ax)),
    }
    drawn = {name: svg(size, draw) for name, (size, draw) in drawings.items()}
    return {name: picture for name, picture in drawn.items() if picture is not None}


def predicted(verdicts: Sequence[Verdict]) -> list[tuple[str, Directions]]:
    """The directions that theorems name, and which do; those that name the same share a line."""
    marks: list[tuple[list[str], Directions]] = []
    for verdict in verdicts:
        if verdict.applies is False or verdict.prediction is None:
            continue
        named = list(verdict.prediction.directions)
        if not named:
            continue
        same = next((ids for ids, other in marks if _same(named, other)), None)
        if same is None:
            marks.append(([verdict.theorem.id], named))
        else:
            same.append(verdict.theorem.id)
    return [(", ".join(ids), named) for ids, named in marks]


def _same(one: Directions, other: Directions) -> bool:
    def within(some: Directions, many: Directions) -> bool:
        return all(
            any(sign == s and np.abs(u - v).max() < 1e-6 for s, v in many) for sign, u in some
        )

    return within(one, other) and within(other, one)


def svg(size: tuple[float, float], draw: Callable[[Axes], Axes]) -> bytes | None:
    """A drawing on Axes of its own; None when there was nothing to draw.

    Letters are outlines, surfaces of colour and bundles of lines bitmaps: alike everywhere. The
    background is transparent, so that the page's own is seen.
    """
    figure = Figure(figsize=size, layout="constrained")
    ax = draw(figure.add_subplot())
    if not ax.has_data():
        return None
    ax.title.set_fontsize(TITLE)
    for legend in [ax.get_legend(), *figure.legends]:
        for text in legend.get_texts() if legend is not None else ():
            text.set_fontsize(LETTERS)
    for item in ax.collections:
        many = max(len(item.get_paths()), np.shape(item.get_offsets())[0]) > MANY_LINES
        if many or getattr(item, "filled", False):
            item.set_rasterized(True)
    if len(ax.lines) > MANY_LINES:
        for line in ax.lines:
            line.set_rasterized(True)
    whole = io.BytesIO()
    nameless = {"Date": None, "Creator": None, "Format": None, "Type": None}
    with matplotlib.rc_context({"svg.hashsalt": "tacit"}):
        figure.savefig(whole, format="svg", dpi=200, metadata=nameless, transparent=True)
    return whole.getvalue()
