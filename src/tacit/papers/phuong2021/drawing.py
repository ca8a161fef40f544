"""The weights of a layer: singular values, rows in their main plane, correlations, likeness."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from tacit.plot.plane import MINUS, PLUS

GREEN = "#3a7d44"


def singular_values(ax: Axes, values: np.ndarray, start: float, title: str) -> None:
    """A dot each; the dashed line is the largest one that the layer had at the start."""
    ax.plot(np.arange(1, len(values) + 1), values, "o", c=PLUS, label="after training")
    ax.axhline(start, ls="--", c="0.5", lw=1, label="the largest at the start")
    ax.set(title=title, xlabel="number", ylabel="singular value", ylim=(0, 1.08 * values.max()))
    ax.set_xticks(np.arange(1, len(values) + 1))
    ax.legend(fontsize=8)


def in_main_plane(
    ax: Axes,
    rows: np.ndarray,
    sign: np.ndarray,
    name: str,
    title: str,
    expected: Mapping[str, np.ndarray] | None = None,
) -> None:
    """Rows projected on two directions, coloured by a sign; `expected` are rays from 0."""
    reach = 1.1 * max(float(np.abs(rows).max()), 1e-300)
    for (label, ray), style in zip((expected or {}).items(), ("--", ":"), strict=False):
        end = 2 * reach * ray / max(float(np.linalg.norm(ray)), 1e-300)
        ax.plot([0, end[0]], [0, end[1]], style, c="0.45", lw=1, label=label, zorder=1)
    for side, colour, marker, said in ((1, PLUS, "o", ">"), (-1, MINUS, "s", "<")):
        chosen = rows[sign * side > 0]
        label = f"{name} {said} 0"
        ax.plot(*chosen.T, marker, c=colour, ms=4, mec="white", mew=0.3, label=label)
    ax.plot(0, 0, "+", c="black", ms=9, zorder=1)
    low, high = rows[:, 1].min(), rows[:, 1].max()
    room = 0.12 * max(float(high - low), 1e-300)
    ax.set(xlim=(-reach, reach), ylim=(min(low, 0) - room, max(high, 0) + 2.3 * room), title=title)
    ax.set(xlabel="first singular direction", ylabel="second singular direction")
    ax.legend(fontsize=8, ncols=2, loc="upper center")


def correlations(ax: Axes, values: np.ndarray, least: float, title: str, xlabel: str) -> None:
    """How many neurons have which correlation; the dashed line is at `least`."""
    ax.hist(values, bins=np.linspace(-1, 1, 41).tolist(), color=MINUS, ec="white", lw=0.3)
    above = f"{least:g}: {int((values > least).sum())} of {len(values)} are above"
    ax.axvline(least, ls="--", c="0.4", lw=1, label=above)
    ax.set(title=title, xlabel=xlabel, ylabel="neurons", xlim=(-1, 1.02))
    ax.legend(fontsize=8, loc="upper left")


def shares(
    ax: Axes, at: np.ndarray, shares: np.ndarray, ends: np.ndarray, colour: str, label: str
) -> None:
    """Shares with their intervals; `ends` has a row for each."""
    bars = np.abs(ends.T - shares)
    ax.errorbar(at, shares, bars, fmt="o", ms=4, c=colour, capsize=3, label=label)


def survival_axes(left: Axes, right: Axes, widths: Sequence[int]) -> None:
    """Axes, ticks and legends of the two panels about survival."""
    left.set_yscale("log")
    lowest = 2.0 ** -max(widths) / 10
    powers = 10.0 ** np.arange(np.ceil(np.log10(lowest)), 1)
    left.set(title="networks whose neurons all die", ylim=(lowest, 10), yticks=powers)
    right.set(title="networks with living neurons of both signs", ylim=(-0.05, 1.4))
    right.set_yticks(np.linspace(0, 1, 6))
    for ax in (left, right):
        ax.set_xscale("log", base=2)
        ax.set_xticks(widths, [str(width) for width in widths])
        ax.set(xlabel="width p", ylabel="share of networks")
    left.legend(fontsize=8, loc="upper right")
    right.legend(fontsize=8, loc="upper left")


def likeness(ax: Axes, different: np.ndarray, both: Mapping[str, np.ndarray], title: str) -> None:
    """Three distributions of inner products: of different classes, and within each of two."""
    values = {"different classes": different, **both}
    low, high = np.quantile(np.concatenate(list(values.values())), [0.001, 0.999]).tolist()
    bins = np.linspace(low, max(high, low + 1e-300), 61).tolist()
    for (name, products), colour in zip(values.items(), (MINUS, PLUS, GREEN), strict=True):
        inside = np.clip(products, low, high)
        ax.hist(inside, bins, density=True, histtype="stepfilled", alpha=0.25, color=colour)
        ax.hist(inside, bins, density=True, histtype="step", color=colour, label=name)
    ax.axvline(0, c="0.4", lw=0.8)
    ax.set(title=title, xlabel="inner product", yticks=[])
    ax.locator_params(axis="x", nbins=5)
    ax.ticklabel_format(axis="x", scilimits=(-2, 4), useMathText=True)
