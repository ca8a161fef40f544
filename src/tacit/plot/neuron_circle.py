"""Where neurons pointed before, where they point in the limit, and where theorems say they do."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from tacit.flow import Limit, Limits
from tacit.plot.axes import LIMIT, SMALL, draws, own_axes
from tacit.plot.plane import MINUS, PLUS, coordinate_names
from tacit.values import Dataset

MOST_DOTS = 400
"""The number of initial directions drawn."""
MARKS = ("o", "D", "s", "^", "v", "h")
"""Shapes of predictions, in turn; hollow, so that a limit that keeps one is seen inside."""
FLAT = 1e-3
"""Directions nearer to each other than this (rad) span no plane."""
MOST_IDS = 3
"""Theorems that an entry of the legend names."""
LINE = 46
"""Letters of its lines."""

Directions = Sequence[tuple[int, np.ndarray]]
"""Signs of a, and unit vectors."""


@draws(
    "neurons",
    *LIMIT,
    "predicted : sequence of (str, sequence of (int, array))",
    "    Names of theorems, with the signs and directions that they predict.",
)
def neurons(
    limit: Limit | Limits, ax: Axes | None = None, predicted: Sequence[tuple[str, Directions]] = ()
) -> Axes:
    """Draw the directions of neurons before training and in the limit.

    They are on the unit circle in two dimensions, else projected onto the plane of the heaviest
    two.
    """
    limit, ax = limit.worst, own_axes(ax)
    after, share, whose = _after(limit)
    order = np.argsort(share, kind="stable")
    basis, names = _plane([after[k][1] for k in order[::-1]], limit.data)
    _before(ax, limit, basis)
    # One collection each: hundreds of lines that are known singly took a second to draw.
    ends = np.array([basis @ after[k][1] for k in order]).reshape(-1, 2)
    colours = [PLUS if after[k][0] > 0 else MINUS for k in order]
    rays = list(np.stack([0 * ends, ends], axis=1))
    widths = 0.8 + 2.2 * share[order]
    ax.add_collection(LineCollection(rays, colors=colours, lw=widths, alpha=0.85, zorder=3))
    sizes = (4 + 4 * share[order]) ** 2
    ax.scatter(ends[:, 0], ends[:, 1], s=sizes, c=colours, ec="white", lw=0.6, zorder=5)
    for j, (_, named) in enumerate(predicted):
        for sign, u in named:
            x, z = basis @ u
            ax.plot([x], [z], **_mark(j, PLUS if sign > 0 else MINUS))
    ax.add_patch(Circle((0, 0), 1.0, fill=False, ec="0.75", lw=0.8, zorder=1))
    flat = limit.data.d <= 2
    ax.set(
        title=f"directions of neurons: before, {whose}{', predicted' if predicted else ''}"
        + ("" if flat else "\nunit vectors, projected onto a plane through 0"),
        xlabel=names[0],
        ylabel=names[1],
        xlim=(-1.35, 1.35),
        ylim=(-1.35, 1.35),
        xticks=(-1, 0, 1),
        yticks=(-1, 0, 1),
    )
    ax.set_aspect("equal")
    _legend(ax, whose, predicted)
    return ax


def _after(limit: Limit) -> tuple[list[tuple[int, np.ndarray]], np.ndarray, str]:
    """Directions at the end, their shares in the function, and what end that is."""
    if limit.groups:
        named = [(group.sign, group.direction) for group in limit.groups]
        weight = np.array([group.weight for group in limit.groups])
        return named, weight / max(float(weight.max()), 1e-300), "in the limit"
    network = limit.last_network
    weight = network.weights
    shown = np.argsort(weight)[-MOST_DOTS:]
    shown = shown[weight[shown] > 0]
    unit = network.W[shown] / np.linalg.norm(network.W[shown], axis=1, keepdims=True)
    named = [(1 if network.a[k] > 0 else -1, u) for k, u in zip(shown, unit, strict=True)]
    return named, weight[shown] / max(float(weight.max(initial=0.0)), 1e-300), "at the end"


def _plane(heaviest: list[np.ndarray], data: Dataset) -> tuple[np.ndarray, tuple[str, str]]:
    """Two orthonormal directions and their names; the data helps out where neurons span less."""
    d = data.d
    if d <= 2:
        return np.eye(2)[:, :d], coordinate_names(data, d)
    others = [*np.linalg.svd(data.X, full_matrices=False)[2][:2], *np.eye(min(d, 3), d)]
    candidates = [(u, "direction of the heaviest neurons") for u in heaviest]
    candidates += [(u, "direction of the data") for u in others]
    rows: list[np.ndarray] = []
    names: list[str] = []
    for u, name in candidates:
        rest = u - sum((row @ u) * row for row in rows)
        length = float(np.linalg.norm(rest))
        if length > FLAT and len(rows) < 2:
            rows.append(rest / length)
            names.append(name)
    second = names[1].replace("the heaviest", "the next heaviest")
    return np.array(rows), (names[0], f"{second},\northogonal part")


def _before(ax: Axes, limit: Limit, basis: np.ndarray) -> None:
    """Draw the unit vectors of the start."""
    state = limit.path.moments[0].state
    size = np.linalg.norm(state.W, axis=1)
    living = np.flatnonzero(size > 0)
    shown = living[:: max(len(living) // MOST_DOTS, 1)]
    flat = (state.W[shown] / size[shown][:, None]) @ basis.T
    for sign, colour in ((1, PLUS), (-1, MINUS)):
        rows = flat[np.sign(state.a[shown]) == sign]
        ax.scatter(rows[:, 0], rows[:, 1], s=13, c=colour, alpha=0.4, lw=0, zorder=2)


def _mark(j: int, colour: str) -> dict[str, Any]:
    """The j-th prediction: larger and of another shape than those before."""
    return {
        "marker": MARKS[j % len(MARKS)],
        "ms": 13 + 3.0 * (j % len(MARKS)),
        "mfc": "none",
        "mec": colour,
        "mew": 1.4,
        "ls": "",
        "zorder": 6,
    }


def _legend(ax: Axes, whose: str, predicted: Sequence[tuple[str, Directions]]) -> None:
    for colour, name in ((PLUS, "a > 0"), (MINUS, "a < 0")):
        ax.plot([], [], "s", c=colour, ms=6, label=name)
    ax.legend(loc="upper right", fontsize=SMALL)
    lines = [
        Line2D([], [], marker="o", ls="", c="0.45", ms=4, alpha=0.6, label="before training"),
        Line2D([], [], marker="o", c="0.25", lw=2, ms=6, mec="white", label=whose),
    ]
    for j, (ids, _) in enumerate(predicted):
        few = ids.split(", ")
        more = f" and {len(few) - MOST_IDS} more" if len(few) > MOST_IDS else ""
        style = {**_mark(j, "0.2"), "ms": 9}
        label = "\n".join(wrap("predicted by " + ", ".join(few[:MOST_IDS]) + more, LINE))
        lines.append(Line2D([], [], label=label, **style))
    shown = ax.figure.legend(
        handles=lines, loc="outside lower center", fontsize=SMALL, frameon=False
    )
    for text in shown.get_texts():
        text.set_parse_math(False)
