"""Drawing for lyu2021: classifiers in the plane, landscapes with trajectories, tables of errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.plane import MINUS, PLUS
from tacit.values import Dataset

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Window = tuple[float, float, float, float]
"""What is drawn of the plane: left, right, bottom, top."""
Outputs = Callable[[np.ndarray], np.ndarray]

LINEAR, BENT = "#e69f00", "black"
"""Figure 1 draws linear classifiers in orange and others in black."""
LANDSCAPE = {"projection": "3d", "computed_zorder": False}
"""Options of three-dimensional panels in which what is drawn later lies above."""


def draw_points(ax: Axes, data: Dataset, hints: int = 0) -> None:
    """Circles and squares for the classes; the first `hints` points are crosses."""
    rest = np.arange(data.n) >= hints
    for label, colour, marker in ((1, PLUS, "o"), (-1, MINUS, "s")):
        x, y = data.X[rest & (data.y == label), :2].T
        ax.plot(x, y, marker, c=colour, ms=5, mec="white", mew=0.5, label=f"y = {label:+d}")
    if hints:
        ax.plot(*data.X[:hints, :2].T, "x", c=PLUS, ms=8, mew=2, label="hints, y = +1")


def plane_grid(window: Window, data: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The coordinates of a grid in the window, and its points in the space of the data.

    The last coordinate of data in more than two dimensions stands for a bias and is kept.
    """
    U, V = np.meshgrid(np.linspace(*window[:2], 301), np.linspace(*window[2:], 301))
    X = np.zeros((U.size, data.d))
    X[:, 0], X[:, 1] = U.ravel(), V.ravel()
    if data.d > 2:
        X[:, -1] = data.X[0, -1]
    return U, V, X


def draw_zero_line(
    ax: Axes, window: Window, data: Dataset, outputs: Outputs, colour: str, label: str | None = None
) -> None:
    """The boundary of a classifier."""
    U, V, X = plane_grid(window, data)
    ax.contour(U, V, outputs(X).reshape(U.shape), [0], colors=colour)
    if label is not None:
        ax.plot([], [], c=colour, label=label)


def draw_outputs(ax: Axes, window: Window, data: Dataset, outputs: Outputs) -> None:
    """Outputs as colours, lighter ones for higher outputs, and the boundary in white."""
    U, V, X = plane_grid(window, data)
    ax.contourf(U, V, outputs(X).reshape(U.shape), levels=20, cmap="cividis")
    draw_zero_line(ax, window, data, outputs, "white")
    ax.plot([], [], c="0.75", label="network, boundary (white)")


def frame(ax: Axes, window: Window, title: str, far_hint: float | None = None) -> None:
    """Limits and labels, a legend below, and an arrow towards a hint far to the right."""
    left, right, bottom, top = window
    ax.set(xlim=(left, right), ylim=(bottom, top), xlabel="x₁", ylabel="x₂", title=title)
    if far_hint is not None:
        text, at = f"({far_hint:.3g}, 0)", (right, 0.0)
        ax.annotate(text, at, (-8, 6), "data", "offset points", ha="right", size=8, color=PLUS)
        arrow = {"arrowstyle": "->", "color": PLUS}
        ax.annotate("", at, (-45, 0), "data", "offset points", arrow)
    ax.legend(fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.13))


def legend_above(ax: Axes) -> None:
    """One legend above all panels, with the names of this one."""
    handles, names = ax.get_legend_handles_labels()
    ax.figure.legend(handles, names, loc="outside upper center", ncols=4, fontsize=9)


def draw_bends(
    ax: Axes,
    descent: np.ndarray,
    flows: Mapping[float, np.ndarray],
    straight: float,
    depth: float,
    title: str,
) -> None:
    """The bend of a boundary over log₁₀(1/loss), along descent and along flows by their factor.

    Curves are T × 2, log₁₀ of the loss and degrees; up to `straight` degrees a line looks straight.
    """
    for (factor, curve), style in zip(flows.items(), ("-", "--"), strict=True):
        ax.plot(-curve[:, 0], curve[:, 1], style, c=PLUS, label=f"flow from {factor:g} × He")
    ax.plot(-descent[:, 0], descent[:, 1], ".", c="black", label="descent, upper row")
    ax.axhline(straight, c="0.6", lw=0.8, ls=":", label=f"{straight:g}°")
    ax.set(xscale="log", yscale="log", xlabel="log₁₀(1/loss)", xlim=(0.2, depth))
    ax.set(ylabel="bend of the boundary, degrees", title=title)
    ax.legend(fontsize=8)


def draw_landscape(
    ax: Any, G: Outputs, paths: Sequence[np.ndarray], back: float, title: str
) -> None:
    """The surface −G(w) in the plane up to w₂ = `back`, its edge, and trajectories (T × 2) on it.

    `ax` has three dimensions (`LANDSCAPE`).
    """
    front = min(0.0, *(float(path[:, 1].min()) for path in paths))
    wide = max(1.0, *(float(np.abs(path[:, 0]).max()) for path in paths))
    U, V = np.meshgrid(np.linspace(-wide, wide, 41), np.linspace(front, back, 21))
    surface = -G(np.column_stack([U.ravel(), V.ravel()])).reshape(U.shape)
    ax.plot_surface(U, V, surface, cmap="cividis", alpha=0.8, lw=0)
    edge = np.column_stack([np.zeros(21), V[:, 0]])
    ax.plot(*edge.T, -G(edge), c="0.2", lw=1.2, ls="--", label="edge w₁ = 0")
    for i, path in enumerate(paths):
        name = "trajectories" if i == 0 else None
        ax.plot(*path.T, -G(path), c="red", lw=1.8, label=name)
    starts = np.array([path[0] for path in paths])
    ax.plot(*starts.T, -G(starts), "o", c="red", ms=4, label="starts")
    ax.set(xlabel="w₁", ylabel="w₂", zlabel="−G(w)", xticks=[-1, 0, 1], yticks=[0, 0.5, 1])
    ax.set_title(title, y=0.98)
    ax.set_zticks([])
    ax.zaxis.labelpad = -14
    ax.view_init(elev=32, azim=-72)
    ax.legend(fontsize=8, loc="upper left")


def draw_error_table(
    ax: Axes, sizes: Sequence[int], means: np.ndarray, off: np.ndarray, printed: np.ndarray
) -> None:
    """Mean errors ± `off` of the SVM and of the network for every size, and the paper's."""
    names = ["dataset size", "SVM", "2-layer net", "SVM, paper", "net, paper"]
    rows = [
        [
            str(n),
            *(f"{x:.1f} ± {e:.1f}%" for x, e in zip(means[i], off[i], strict=True)),
            *(f"{x}%" for x in printed[i]),
        ]
        for i, n in enumerate(sizes)
    ]
    table = ax.table(cellText=rows, colLabels=names, loc="center", cellLoc="center")
    table.auto_set_font_size(False)
    table.set_fontsize(9)
    table.scale(1, 1.35)
    ax.set_axis_off()


def draw_error_curves(
    ax: Axes,
    sizes: Sequence[int],
    means: np.ndarray,
    off: np.ndarray,
    scatter: np.ndarray,
    printed: np.ndarray,
) -> None:
    """The columns of the table as curves, with a band in which single data sets lie."""
    style: dict[str, Any] = {"capsize": 3, "marker": "o", "ms": 3}
    for i, (name, colour) in enumerate((("SVM", MINUS), ("2-layer net", PLUS))):
        ax.errorbar(sizes, means[:, i], off[:, i], c=colour, label=f"{name}, ours", **style)
        ax.plot(sizes, printed[:, i], "x", c=colour, label=f"{name}, paper (one set)")
        low, high = means[:, i] - scatter[:, i], means[:, i] + scatter[:, i]
        ax.fill_between(sizes, low, high, color=colour, alpha=0.1, lw=0, label="99% of sets")
    ax.set(xlabel="dataset size n", ylabel="test error, percent", ylim=(0, None))
    ax.set_title("the same as curves")
    ax.legend()


def draw_shares(
    ax: Axes,
    widths: Sequence[int],
    reached: np.ndarray,
    ends: np.ndarray,
    label: str,
    bounds: np.ndarray,
    asked: np.ndarray,
) -> None:
    """Shares of flows for every width with the ends of their intervals, and the theorem's bound."""
    ax.plot(widths, bounds, "-", c="0.5", label="the theorem's bound")
    away = np.abs(ends.T - reached)
    ax.errorbar(widths, reached, away, fmt="o", c=PLUS, capsize=4, label=label)
    ax.plot(widths, asked, "x", c=MINUS, ms=8, label="starts that the proof asks for")
    ax.set(xlabel="width m", ylabel="share of random starts", ylim=(0, 1.05), xticks=widths)
    ax.legend(loc="lower right", fontsize=8)
