"""How the figures of brutzkus2019 are drawn: filters in the plane, curves and histograms."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from tacit.plot.plane import MINUS, PLUS

W_COLOUR, U_COLOUR = MINUS, "#b3202c"
"""The paper draws w, of output weight +1, blue and u red: not the colours of signs elsewhere."""
CURVE_COLOURS = (PLUS, MINUS, "#3a7d44", "#7b4f9d", "#b58900", "#4a9c9c", "0.55", "#c2679a")

AS_IN_PAPER = (U_COLOUR, MINUS, "#3a7d44", "0.6")
"""Figure 4b has the small network red, the one from clusters blue and the large one green."""


def filters(ax: Axes, W: np.ndarray, a: np.ndarray, points: np.ndarray, title: str) -> None:
    """Draw filters as lines from 0, in one colour for each sign, and dotted rays to `points`."""
    reach = 1.2 * max(float(np.abs(W).max()), 1e-300)
    for x in points:
        ax.plot([0, reach * x[0]], [0, reach * x[1]], ":", c="0.6", lw=1, zorder=0)
    alpha = max(0.3, min(1.0, 10 / len(W)))
    for sign, colour, name in ((1, W_COLOUR, "w, output weight +1"), (-1, U_COLOUR, "u, −1")):
        chosen = W[a * sign > 0]
        rays = np.stack([np.zeros_like(chosen), chosen, np.full_like(chosen, np.nan)], axis=1)
        ax.plot(*rays.reshape(-1, 2).T, c=colour, lw=1.3, alpha=alpha)
        ax.plot(*chosen.T, "o", c=colour, ms=3.5, label=name)
    ax.set(title=title, xlabel="first coordinate", ylabel="second coordinate")
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
    ax.ticklabel_format(style="sci", scilimits=(-2, 3))
    ax.set_aspect("equal")
    ax.legend(loc="upper center", fontsize=7.5, ncols=2, framealpha=0.85)


def curves(
    ax: Axes,
    x: Sequence[float],
    rows: Mapping[str, np.ndarray],
    title: str,
    names: tuple[str, str],
    joined: bool = True,
    colours: Sequence[str] = CURVE_COLOURS,
) -> None:
    """Draw curves over evenly spaced places; each place has a value and an interval (NaN: none).

    Many curves that lie close are better not joined: their points stand side by side.
    """
    apart = 0.04 if joined else 0.8 / len(rows)
    for i, (name, row) in enumerate(rows.items()):
        middle, low, high = row.T
        shift = apart * (i - (len(rows) - 1) / 2)
        places, colour = np.arange(len(x)) + shift, colours[i % len(colours)]
        ax.plot(places, middle, "o-" if joined else "o", c=colour, ms=4.5, label=name)
        bars = np.clip([middle - low, high - middle], 0, None)
        ax.errorbar(places, middle, bars, fmt="none", c=colour, capsize=2.5)
    ax.set_xlim(-0.5, len(x) - 0.5)
    ax.set_xticks(np.arange(len(x)), [f"{value:g}" for value in x])
    ax.set(title=title, xlabel=names[0], ylabel=names[1], ylim=(-0.02 * ax.get_ylim()[1], None))
    ax.legend(fontsize=8)


def ranking(
    ax: Axes, names: Sequence[str], values: np.ndarray, least: float, title: str, label: str
) -> None:
    """Draw values from the largest down, by name, on a logarithmic axis, with a line at `least`."""
    order = np.argsort(values)
    shown = np.maximum(values[order], 1e-12)  # 0 has no place on a logarithmic axis
    colours = ["black" if i == order[-1] else CURVE_COLOURS[1] for i in order]
    ax.scatter(shown, np.arange(len(order)), c=colours, s=18)
    ax.axvline(least, c="0.5", ls=":", lw=1.2, label=f"{least:g}")
    ax.set_yticks(np.arange(len(order)), [names[i] for i in order], fontsize=7)
    ax.set(xscale="log", xlabel=label, title=title)
    ax.legend(fontsize=8, loc="lower right")


def histograms(
    ax: Axes,
    values: Mapping[str, np.ndarray],
    marks: Mapping[str, float],
    title: str,
    names: tuple[str, str],
    logarithmic: bool = False,
) -> None:
    """Draw how numbers are distributed, as shares, and lines at the numbers in `marks`."""
    everything = np.concatenate([*values.values(), list(marks.values())])
    low, high = (float(end) for end in (everything.min(), everything.max()))
    if logarithmic:
        edges = np.geomspace(max(low, 1e-12) / 1.2, high * 1.2, 41)
        ax.set_xscale("log")
    else:
        edges = np.linspace(0, high * 1.02, 41)
    for i, (name, numbers) in enumerate(values.items()):
        weights = np.full(len(numbers), 1 / len(numbers))
        colour = CURVE_COLOURS[i]
        ax.hist(numbers, edges.tolist(), weights=weights, color=colour, alpha=0.5, label=name)
    for (name, number), style in zip(marks.items(), (":", "--", "-."), strict=False):
        ax.axvline(number, c="black", ls=style, lw=1.2, label=f"{name}: {number:.4g}")
    ax.set(title=title, xlabel=names[0], ylabel=names[1])
    ax.legend(fontsize=8)
