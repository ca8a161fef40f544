"""Classifiers and labelled points on the plane of the first two coordinates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from tacit.plot.plane import MINUS, PLUS
from tacit.values import Dataset

Window = tuple[float, float, float, float]
"""What is drawn of the plane: left, right, bottom, top."""
Outputs = Callable[[np.ndarray], np.ndarray]


def points(ax: Axes, data: Dataset, hints: int = 0) -> None:
    """Circles and squares for the classes; the first `hints` points are crosses."""
    rest = np.arange(data.n) >= hints
    for label, colour, marker in ((1, PLUS, "o"), (-1, MINUS, "s")):
        x, y = data.X[rest & (data.y == label), :2].T
        ax.plot(x, y, marker, c=colour, ms=5, mec="white", mew=0.5, label=f"y = {label:+d}")
    if hints:
        ax.plot(*data.X[:hints, :2].T, "x", c=PLUS, ms=8, mew=2, label="hints, y = +1")


def grid(window: Window, data: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Its two coordinates, and its points; the last coordinate of data in more than two is kept."""
    U, V = np.meshgrid(np.linspace(*window[:2], 301), np.linspace(*window[2:], 301))
    X = np.zeros((U.size, data.d))
    X[:, 0], X[:, 1] = U.ravel(), V.ravel()
    if data.d > 2:  # it stands for a bias
        X[:, -1] = data.X[0, -1]
    return U, V, X


def zero_line(ax: Axes, window: Window, data: Dataset, outputs: Outputs, colour: str) -> None:
    """Where a classifier changes its mind."""
    U, V, X = grid(window, data)
    ax.contour(U, V, outputs(X).reshape(U.shape), [0], colors=colour)


def output_colours(ax: Axes, window: Window, data: Dataset, outputs: Outputs) -> None:
    """Outputs as colours, lighter ones for higher outputs, and the boundary in white."""
    U, V, X = grid(window, data)
    ax.contourf(U, V, outputs(X).reshape(U.shape), levels=20, cmap="cividis")
    zero_line(ax, window, data, outputs, "white")
    ax.plot([], [], c="0.75", label="network, boundary (white)")


def legend_below(ax: Axes) -> None:
    """Where it hides no point."""
    ax.legend(fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.13))
