"""The picture at the top of the README: three points, ten neurons, and the network they miss.

python docs/pictures/three_points.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import tacit

PLUS, MINUS = "#1f77b4", "#d62728"
ANGLES = np.deg2rad([180, 50, -50])
X, Y = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]), np.array([1, -1, -1])
SEED, WIDTH = 4, 10


def directions_over_time(ax: Axes, end: tacit.Limit) -> None:
    """The angle of every neuron, thick where it weighs much in the end."""
    moments = end.path.moments
    angles = np.array([np.arctan2(m.state.W[:, 1], m.state.W[:, 0]) for m in moments])
    angles = np.rad2deg(np.unwrap(angles, axis=0)) % 360
    last = moments[-1].state
    weight = np.abs(last.a) * np.linalg.norm(last.W, axis=1)
    time = np.arange(len(moments)) / (len(moments) - 1)
    for k, share in enumerate(weight / weight.max()):
        jumps = np.flatnonzero(np.abs(np.diff(angles[:, k])) > 180)
        line = np.insert(angles[:, k], jumps + 1, np.nan)
        colour = PLUS if last.a[k] > 0 else MINUS
        ax.plot(np.insert(time, jumps + 1, np.nan), line, c=colour, lw=0.8 + 2.5 * share)
    for angle, label in zip(np.rad2deg(ANGLES) % 360, Y, strict=True):
        ax.axhline(angle, c=PLUS if label > 0 else MINUS, lw=0.8, ls=":")
    ax.set(xlabel="progress of training", ylabel="direction of each neuron", ylim=(0, 360))
    ax.set(xticks=[0, 1], xticklabels=["start", "loss → 0"], yticks=range(0, 361, 90))
    ax.set_title("ten neurons turn …")


def learned(ax: Axes, network: tacit.Network, title: str) -> None:
    """The regions of both signs, the points, and the neurons by their weight."""
    grid = np.linspace(-1.7, 1.7, 401)
    u, v = np.meshgrid(grid, grid)
    f = network.outputs(np.column_stack([u.ravel(), v.ravel()])).reshape(u.shape)
    scale = np.abs(network.outputs(X)).min()
    shades = ["#f4b6b6", "#fbe3e3", "#e1ecf6", "#b3cfe8"]
    ax.contourf(u, v, f / scale, [-99, -1, 0, 1, 99], colors=shades)
    ax.contour(u, v, f / scale, [0], colors="k", linewidths=1)
    ax.scatter(*X.T, c=[PLUS if label > 0 else MINUS for label in Y], s=60, ec="k", zorder=3)
    groups = network.groups()
    for group in groups:
        tip = 1.4 * group.direction * group.weight / max(one.weight for one in groups)
        colour = PLUS if group.sign > 0 else MINUS
        ax.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2})
    ax.set(xticks=[], yticks=[], aspect="equal", xlim=(-1.7, 1.7), ylim=(-1.7, 1.7), title=title)


def main() -> None:
    data = tacit.load(X, Y)
    end = tacit.limit(data, tacit.Setting(width=WIDTH), seed=SEED)
    best = tacit.optimum(data)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
    directions_over_time(left, end)
    learned(middle, end.network, f"… to a KKT point, margin {end.margin:.4f}")
    learned(right, best.network, f"the best network, margin {best.margin:.4f}")
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
