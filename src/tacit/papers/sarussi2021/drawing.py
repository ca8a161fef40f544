"""How the figures of sarussi2021 are drawn: regions of the plane, neurons, curves."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.contour import ContourSet

from tacit.plot.plane import MINUS, PLUS

CELLS = 302, 305
"""Cells of a grid without points on the axes and the diagonals, where an output may be 0."""
W_COLOUR, U_COLOUR = "0.25", "#d9a400"
"""The paper draws w neurons black or grey and u neurons yellow (Fig. 4, 9)."""
BAND = 0.18
"""Opacity of the bands around curves."""


def regions(
    ax: Axes, outputs: Callable[[np.ndarray], np.ndarray], reach: float, zero: bool = False
) -> None:
    """Fill positive outputs with orange and negative ones with blue; with `zero`, 0 with grey."""
    U, V = np.meshgrid(*(np.linspace(-reach, reach, cells) for cells in CELLS))
    f = outputs(np.column_stack([U.ravel(), V.ravel()])).reshape(U.shape)
    f = f / max(float(np.abs(f).max()), 1e-300)
    ax.contourf(U, V, f, levels=[-2, 0, 2], colors=[MINUS, PLUS], alpha=0.35)
    if zero:
        ax.contourf(U, V, f == 0, levels=[0.5, 1.5], colors=["0.85"])
    shown = ((PLUS, "output > 0"), (MINUS, "output < 0"), ("0.85", "output 0"))
    for colour, name in shown if zero else shown[:2]:
        ax.plot([], [], "s", c=colour, alpha=0.9 if colour == "0.85" else 0.4, ms=8, label=name)
    ax.set(xlabel="x₁", ylabel="x₂", xlim=(-reach, reach), ylim=(-reach, reach))
    ax.set_aspect("equal")


def levels(ax: Axes, outputs: Callable[[np.ndarray], np.ndarray], reach: float) -> ContourSet:
    """Draw the output itself, with level lines; the thick one is 0."""
    U, V = np.meshgrid(*[np.linspace(-reach, reach, 61)] * 2)
    f = outputs(np.column_stack([U.ravel(), V.ravel()])).reshape(U.shape)
    heights = np.linspace(-1, 1, 25) * max(float(np.abs(f).max()), 1e-300)
    shown = ax.contourf(U, V, f, levels=heights, cmap="RdBu_r")
    ax.contour(U, V, f, levels=heights[::2], colors="0.3", linewidths=0.5)
    ax.contour(U, V, f, levels=[0.0], colors="black", linewidths=1.8)
    ax.set(xlabel="x₁", ylabel="x₂", aspect="equal")
    return shown


def points(ax: Axes, X: np.ndarray, y: np.ndarray) -> None:
    """Draw the points of the two classes."""
    for label, colour, marker in ((1, PLUS, "o"), (-1, MINUS, "s")):
        rows = X[y == label]
        name = f"y = {label:+d}"
        ax.plot(rows[:, 0], rows[:, 1], marker, c=colour, ms=4, mec="white", mew=0.4, label=name)


def rays(ax: Axes, W: np.ndarray, a: np.ndarray) -> None:
    """Draw neurons as unit vectors."""
    unit = W / np.maximum(np.linalg.norm(W, axis=1, keepdims=True), 1e-300)
    for sign, colour, name in ((1, W_COLOUR, "w neurons"), (-1, U_COLOUR, "u neurons")):
        chosen = unit[a * sign > 0]
        for j, (x, z) in enumerate(chosen):
            ax.plot([0, x], [0, z], c=colour, lw=1, alpha=0.5, label=name if j == 0 else None)
        ax.plot(chosen[:, 0], chosen[:, 1], "o", c=colour, ms=3.5, alpha=0.8)
    ax.set(xlabel="w₁/‖w‖", ylabel="w₂/‖w‖", xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))
    ax.set_aspect("equal")


def arrow(ax: Axes, tip: np.ndarray, colour: str, name: str) -> None:
    """Draw an arrow from 0 to `tip` and name it in the legend."""
    style = {"arrowstyle": "-|>", "color": colour, "lw": 2.2, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=(float(tip[0]), float(tip[1])), xytext=(0, 0), arrowprops=style, zorder=6)
    ax.plot([], [], c=colour, lw=2.2, label=name)


def curves(
    ax: Axes,
    updates: np.ndarray | Mapping[str, np.ndarray],
    lines: Mapping[str, np.ndarray],
    colours: Sequence[str] = (),
) -> None:
    """Draw the mean of runs × moments by name, and a band from the smallest to the largest run.

    The updates are on a logarithmic axis, where the start is drawn at ½.
    """
    for j, (name, values) in enumerate(lines.items()):
        x = np.maximum(updates if isinstance(updates, np.ndarray) else updates[name], 0.5)
        colour = colours[j] if colours else f"C{j}"
        thick = 1.5 + 4 * (1 - (j + 1) / len(lines))  # what lies under another line is seen
        ax.plot(x, values.mean(axis=0), c=colour, lw=thick, label=name)
        if len(values) > 1:
            low, high = values.min(axis=0), values.max(axis=0)
            ax.fill_between(x, low, high, color=colour, alpha=BAND, lw=0)
    ax.set_xscale("log")
    ax.set_xlabel("updates of SGD (the start is drawn at ½)")
    ax.legend(fontsize=8)


def over(ax: Axes, x: Sequence[float], lines: Mapping[str, np.ndarray], label: str) -> None:
    """Draw places × runs over a logarithmic axis: the mean as a line, the runs as dots."""
    for j, (name, values) in enumerate(lines.items()):
        ax.plot(x, values.mean(axis=1), "-", c=f"C{j}", label=name)
        ax.plot(x, values, "o", c=f"C{j}", ms=3.5)
    ax.set(xscale="log", xlabel=label)
    ax.legend(fontsize=8)


def mark_first_epoch(ax: Axes, n: int) -> None:
    """A dotted line where every one of n points has been seen once."""
    ax.axvline(n, c="0.6", ls=":", lw=1)
    at = (n, 1.0)
    ax.annotate("1 epoch", at, (3, -10), ("data", "axes fraction"), "offset points", size=7)


def shares_down_to_zero(ax: Axes, title: str) -> None:
    """Make the axis of shares logarithmic above 1% and linear below."""
    ax.set_yscale("symlog", linthresh=0.01)
    ax.set(ylim=(-0.001, 1.6), ylabel="share of points outside the linear region", title=title)
