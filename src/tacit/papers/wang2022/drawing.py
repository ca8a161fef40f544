"""Two points in the plane as wang2022 draws them: what neurons see of them, and the way there.

Neurons of length 1 lie on a circle; what they see of the points, (Xu)₊, is the boundary of the
rectified ellipsoid Q; the λ with |λ·z| ≤ 1 for all z in Q are its polar set.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from tacit.plot.plane import MINUS, PLUS

PURPLE, GREY = "#7a4fa3", "0.55"


def ellipsoid(ax: Axes, outline: np.ndarray) -> None:
    """{Xu : ‖u‖ ≤ 1}, its outline given in order."""
    ax.fill(*outline.T, fc="0.93", ec=GREY, lw=1.2, ls="--", label="ellipsoid {Xu}")
    _square(ax, "(Xu)₁", "(Xu)₂")


def rectified(ax: Axes, outline: np.ndarray, spikes: Sequence[np.ndarray]) -> None:
    """Q = {(Xu)₊ : ‖u‖ ≤ 1}; each spike is its two ends."""
    ax.fill(*outline.T, fc=PURPLE, ec="none", alpha=0.25, label="rectified ellipsoid Q")
    ax.plot(*outline.T, c=PURPLE, lw=1.6)
    for k, ends in enumerate(spikes):
        name = "spikes of Q" if k == 0 else None
        ax.plot(*ends.T, c=PURPLE, lw=5, alpha=0.6, solid_capstyle="round", label=name)
    _square(ax, "(Xu)₁", "(Xu)₂")


def polar(ax: Axes, outline: np.ndarray, corners: np.ndarray, unrectified: np.ndarray) -> None:
    """The polar set of Q, the set that its tips on the axes bound, and that of the ellipsoid."""
    ax.fill(*outline.T, fc=PURPLE, ec=PURPLE, alpha=0.25, label="polar set Q*")
    around = np.vstack([corners, corners[:1]])
    ax.plot(*around.T, c="black", lw=1.2, ls="--", label="|λ·z| ≤ 1 at the tips of Q")
    around = np.vstack([unrectified, unrectified[:1]])
    ax.plot(*around.T, c=GREY, lw=1.2, ls=":", label="polar set of the ellipsoid {Xu}")
    _square(ax, "λ₁", "λ₂")


def arrow(ax: Axes, direction: np.ndarray, length: float, colour: str, name: str) -> None:
    """A direction, drawn from 0 with that length."""
    end = length * direction / np.linalg.norm(direction)
    ax.annotate(
        "", tuple(end), (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.6}
    )
    ax.plot([], [], c=colour, marker=">", ms=5, label=name)
    ax.update_datalim([end])
    ax.autoscale_view()


def extremes(ax: Axes, points: np.ndarray, largest: np.ndarray) -> None:
    """Where λᵀz is largest (up) and smallest (down) on the part of Q that each cell gives."""
    for up, marker, name in ((True, "^", "largest"), (False, "v", "smallest")):
        chosen = points[largest == up]
        label = f"{name} λᵀ(Xu)₊ of a cell" if len(chosen) else None
        ax.plot(*chosen.T, marker, c="black", ms=7, mfc="white", zorder=7, label=label)


def stars(ax: Axes, points: np.ndarray, signs: np.ndarray) -> None:
    """The optimal neurons, in the colour of their output weight's sign."""
    for sign, colour, name in ((1, PLUS, "a > 0"), (-1, MINUS, "a < 0")):
        if (signs == sign).any():
            some = points[signs == sign]
            label = f"optimal neuron, {name}"
            ax.plot(*some.T, "*", c=colour, ms=17, mec="black", mew=0.7, zorder=6, label=label)


def circle(ax: Axes, hyperplanes: np.ndarray) -> None:
    """All directions, and the activation hyperplanes w·x = 0 (rows: unit vectors along them)."""
    angle = np.linspace(0, 2 * np.pi, 361)
    ax.plot(np.cos(angle), np.sin(angle), c="0.8", lw=0.8)
    for k, line in enumerate(hyperplanes):
        name = "cone boundary" if k == 0 else None
        ax.plot(*np.outer([-1.15, 1.15], line).T, c="0.35", lw=1, ls="--", label=name)
    _square(ax, "w₁ / ‖w‖", "w₂ / ‖w‖")


def trajectories(ax: Axes, ways: np.ndarray, signs: np.ndarray, marked: Sequence[int]) -> None:
    """Ways of neurons (moments × neurons × 2), with dots that grow from one marked moment to the
    next; open circles are the start."""
    for sign, colour, name in ((1, PLUS, "a > 0"), (-1, MINUS, "a < 0")):
        for j, k in enumerate(np.flatnonzero(signs == sign)):
            label = f"neurons, {name}" if j == 0 else None
            ax.plot(*ways[:, k].T, c=colour, lw=1.1, alpha=0.75, label=label)
            ax.plot(*ways[0, k], "o", c=colour, ms=7.5, mfc="none", mew=1.1)
            for size, moment in enumerate(marked):
                ax.plot(*ways[moment, k], "o", c=colour, ms=2.2 + 0.7 * size, alpha=0.85, mew=0)
    ax.plot([], [], "o", c="0.4", ms=7.5, mfc="none", label="start")
    ax.plot([], [], "o", c="0.4", ms=4.5, mew=0, label="iterations 1, 10, … (growing)")


def legend(ax: Axes) -> None:
    """Below the panel, where it covers nothing."""
    style = {"ncols": 2, "fontsize": 8, "frameon": False, "markerscale": 0.7}
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), **style)


def _square(ax: Axes, x: str, y: str) -> None:
    ax.axhline(0, c="0.85", lw=0.8, zorder=0)
    ax.axvline(0, c="0.85", lw=0.8, zorder=0)
    ax.set(xlabel=x, ylabel=y)
    ax.set_aspect("equal", adjustable="datalim")
