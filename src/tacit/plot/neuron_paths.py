"""The directions of neurons over time."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes

from tacit.flow import Limit, Limits
from tacit.plot.axes import LIMIT, SMALL, draws, own_axes, say, widen
from tacit.plot.plane import MINUS, PLUS, plane

MOST_LINES = 300
"""Neurons drawn, those with the largest share at the end."""
THICK = 20.0
"""When more neurons than this have about the same share, their lines are thinner."""
CROWDED = 0.25
"""When half of the moments lie in a smaller part of the time than this, its axis is logarithmic."""
SHORTEST = 1e-4
"""Part of the time that such an axis still shows as more than a point."""
CUTS = (-180, -90, -135, -45, -155)
"""Where the circle of directions may be cut open, the first that no neuron ends near."""
NEAR = 15.0
"""Degrees from a cut within which a neuron counts as near."""

Height = Callable[[np.ndarray], np.ndarray]
"""Where the neurons of a moment are drawn."""


@draws("turning", *LIMIT)
def neuron_paths(limit: Limit | Limits, ax: Axes | None = None) -> Axes:
    """Draw the direction of every neuron over time: its angle in two dimensions, else a cosine."""
    limit, ax = limit.worst, own_axes(ax)
    if limit.data.d == 1:
        words = "in one dimension a direction is a sign,\nand no neuron changes it"
        return say(ax, "direction of every neuron over time", words)
    moments = limit.path.moments
    if len(moments) == 1:
        return say(ax, "direction of every neuron over time", "the path was not followed at all")
    a, last = moments[0].state.a, moments[-1].state
    share = np.abs(last.a) * np.linalg.norm(last.W, axis=1)
    share = share / max(float(share.max()), 1e-300)
    shown = np.argsort(share, kind="stable")[-MOST_LINES:]
    height = _cosines(ax, limit) if limit.groups and limit.data.d > 2 else _angles(ax, limit)
    s = np.array([moment.s for moment in moments])
    lines = np.array([height(moment.state.W)[shown] for moment in moments])
    if limit.data.d == 2 or not limit.groups:
        lines = _cut(lines)
    else:
        ax.set_ylim(max(-1.04, float(lines.min()) - 0.1), 1.04)
    thick = 1.6 * min(1.0, THICK / float(share.sum() + 1e-300))
    for k, line in zip(shown, lines.T, strict=True):
        part = float(share[k])
        colour = PLUS if a[k] > 0 else MINUS
        ax.plot(s, line, c=colour, lw=0.6 + thick * part, alpha=0.3 + 0.6 * part)
    _time(ax, s, limit.measures.separation)
    for colour, name in ((PLUS, "a > 0"), (MINUS, "a < 0")):
        ax.plot([], [], c=colour, label=name)
    # Below the panel: lines cross all of it, and none of its corners is free.
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=SMALL, ncols=2, frameon=False
    )
    if len(shown) < len(a):
        ax.set_title(f"{ax.get_title()} (the {len(shown)} largest of {len(a)})")
    return ax


def _time(ax: Axes, s: np.ndarray, separation: int | None) -> None:
    end = max(float(s[-1]), 1e-300)
    ax.set_xlim(0, end)
    if len(s) > 2 and np.median(s) < CROWDED * end:
        widen(ax.xaxis, max(float(s[1]), SHORTEST * end), s, room=0.0)
    ax.set_xlabel("loss-normalised time s = ∫ L dt")
    if separation is not None and s[separation] > 0:
        ax.axvline(s[separation], c="0.3", lw=0.9, ls=":", label="every point has its label")


def _angles(ax: Axes, limit: Limit) -> Height:
    """Angles in degrees, in the plane of the data or of the directions that neurons end in."""
    data, W = limit.data, limit.path.last.state.W
    basis = plane(replace(data, parameters={}), W).basis  # a bias is a coordinate like others here
    flat = data.d == 2
    where = "" if flat else "\nin the plane of their first two singular directions at the end"
    ax.set(title=f"direction of every neuron over time{where}", ylabel="angle (degrees)")

    def degrees(W: np.ndarray) -> np.ndarray:
        u, v = basis @ W.T
        return np.degrees(np.arctan2(v, u))

    cut = _cut_at(degrees(W[W.any(axis=1)]))
    ax.set(ylim=(cut, cut + 360), yticks=range(math.ceil(cut / 45) * 45, cut + 361, 45))

    def height(W: np.ndarray) -> np.ndarray:
        return cut + np.mod(degrees(W) - cut, 360.0)

    for group in limit.groups if flat else ():
        (angle,) = height(group.direction[None])
        ax.axhline(angle, c="black", lw=0.9, ls=(0, (5, 4)), zorder=3)
    if limit.groups and flat:
        ax.plot([], [], c="black", lw=0.9, ls=(0, (5, 4)), label="directions of the limit")
    return height


def _cut_at(ends: np.ndarray) -> int:
    """A lowest angle that the lines stay away from at the end; else the one with most room."""

    def room(cut: int) -> float:
        return float(np.abs(np.mod(ends - cut + 180.0, 360.0) - 180.0).min(initial=180.0))

    return next((cut for cut in CUTS if room(cut) > NEAR), max(CUTS, key=room))


def _cut(lines: np.ndarray) -> np.ndarray:
    """The lines without the strokes across the panel where a neuron passes its edge."""
    lines = lines.copy()
    jumps = np.abs(np.diff(lines, axis=0)) > 180.0
    lines[1:][jumps] = np.nan
    return lines


def _cosines(ax: Axes, limit: Limit) -> Height:
    """Cosines to the direction where a neuron ends; if it dies out, to the nearest of its sign."""
    U = np.array([group.direction for group in limit.groups])
    sign = np.array([group.sign for group in limit.groups])
    a = limit.path.moments[0].state.a
    allowed = np.sign(a)[:, None] == sign
    allowed |= ~allowed.any(axis=1, keepdims=True)
    for g, group in enumerate(limit.groups):
        allowed[group.members] = np.arange(len(sign)) == g
    ax.set(
        title="how near every neuron is to the direction it ends in", ylabel="cosine of the angle"
    )

    def height(W: np.ndarray) -> np.ndarray:
        length = np.maximum(np.linalg.norm(W, axis=1), 1e-300)[:, None]
        return np.where(allowed, (W / length) @ U.T, -np.inf).max(axis=1)

    return height
