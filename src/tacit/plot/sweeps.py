"""Phase diagrams of a sweep: a map over two columns, and curves with 99% bands."""

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from tacit.plot import new_figure, picture, under
from tacit.plot.axes import say
from tacit.plot.sweep_cells import Kind, Pooled, caption, pool
from tacit.plot.sweep_columns import Axis, Choice, Rows, choose
from tacit.plot.sweep_labels import as_title, in_words
from tacit.values import BadInput

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#777777")
"""Okabe and Ito's, which colour-blind people can tell apart."""
MARKERS = "osD^vPX"
MOST_CURVES, FEW_CURVES = 7, 5
"""Curves in one panel; fewer where the bands are wide."""
MANY_CELLS = 2000
"""The number of cells from which on a map is drawn as a bitmap."""
SHOWN: dict[Kind, str] = {
    "mean": "mean over runs",
    "geometric": "geometric mean over runs",
    "share": "share of runs",
    "word": "share of runs",
}
"""What is shown of the runs in a cell."""
HATCH: dict[str, Any] = {"hatch": "////", "edgecolor": "0.6", "facecolor": "white", "lw": 0}


def phase_pictures(rows: Rows, axes: Sequence[str], options: Mapping[str, Any]) -> dict[str, bytes]:
    """File name → picture: one for each value, as PNG and as SVG."""
    if not rows:
        return {}
    chosen = choose(rows, axes, options)
    pictures = {}
    for value in chosen.values:
        figure = phase_figure(pool(rows, chosen, value), chosen)
        name = re.sub(r"[^\w.-]", "_", value)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")  # shown as a box
            for ending in ("png", "svg"):
                pictures[f"phase-{name}.{ending}"] = picture(figure, ending)
    return pictures


def phase_diagram(
    rows: Rows, axes: Sequence[str], options: Mapping[str, Any], ax: Axes | None = None
) -> Axes:
    """Draw the first value that is chosen: a map over two columns, or curves over one.

    `axes` are the columns that vary, `options` what to draw: `x`, `y`, `value`, as in [plot].
    """
    if not rows:
        raise BadInput("there is nothing to draw: the table has no rows")
    if ax is None:
        ax = new_figure(size=(7.2, 4.4))[1][0, 0]
    chosen = choose(rows, axes, options)
    pooled = pool(rows, chosen, chosen.values[0])
    if not pooled.cells or pooled.y is None:
        return draw_over_x(ax, pooled)
    return draw_word_map(ax, pooled) if pooled.kind == "word" else draw_map(ax, pooled)


def phase_figure(pooled: Pooled, chosen: Choice) -> Figure:
    """One value: its map where there are two axes, its curves, and what was pooled."""
    if not pooled.cells or pooled.y is None:
        figure, panels = new_figure(size=(7.2, 4.4))
        draw_over_x(panels[0, 0], pooled)
    elif pooled.kind == "word":
        figure = _words_figure(pooled)
    else:
        figure, panels = new_figure(1, 2, size=(12.5, 4.6))
        draw_map(panels[0, 0], pooled)
        draw_curves(panels[0, 1], pooled)
    under(figure, caption(pooled, chosen))
    return figure


def _words_figure(pooled: Pooled) -> Figure:
    """A map of the most frequent word, and a panel with the share of each."""
    number = len(pooled.words) + 1
    columns = {2: 2, 4: 2, 7: 4}.get(number, 3)
    lines = math.ceil(number / columns)
    figure, panels = new_figure(lines, columns, size=(4.6 * columns + 1.6, 4.2 * lines))
    panels = panels.ravel()
    draw_word_map(panels[0], pooled)
    for k, (word, ax) in enumerate(zip(pooled.words, panels[1:], strict=False), start=1):
        draw_curves(ax, pooled, word, legend=k == columns - 1)
    for ax in panels[number:]:
        ax.set_axis_off()
    return figure


def draw_over_x(ax: Axes, pooled: Pooled) -> Axes:
    """Draw the value over the only axis, or the share of each word."""
    if not pooled.cells:
        say(ax, _title(pooled), "no run has a value")
        return ax
    _lay_out(ax, pooled.x, _title(pooled))
    if pooled.kind != "word":
        _curve(ax, pooled, 0, None, COLOURS[0], "o")
    for k, word in enumerate(pooled.words):
        _curve(ax, pooled, 0, word, COLOURS[k], MARKERS[k], word, (k + 0.5) / len(pooled.words))
    _finish(ax, pooled, "" if pooled.kind == "word" else None)
    return ax


def draw_map(ax: Axes, pooled: Pooled) -> Axes:
    """Draw the mean of every cell; hatched where no run has a value."""
    lines, columns = map(range, pooled.shape)
    Z = np.array([[pooled.middle(i, j) for j in columns] for i in lines])
    shades = _mesh(ax, pooled, np.ma.masked_invalid(Z), _norm(Z[np.isfinite(Z)], pooled.kind))
    _lay_out(ax, pooled.x, _title(pooled), pooled.y)
    ax.figure.colorbar(shades, ax=ax, label=SHOWN[pooled.kind])
    return ax


def draw_word_map(ax: Axes, pooled: Pooled) -> Axes:
    """Draw the most frequent word of every cell, paler where it is less frequent."""
    shades = np.zeros((*pooled.shape, 4))
    for i, j in pooled.cells:
        shares = [pooled.middle(i, j, word) for word in pooled.words]
        k = int(np.argmax(shares))
        weight = 0.15 + 0.85 * shares[k]
        shades[i, j] = (*(1 - weight * (1 - np.array(to_rgb(COLOURS[k])))), 1)
    _mesh(ax, pooled, shades)
    _lay_out(ax, pooled.x, f"{_title(pooled)}: most frequent", pooled.y)
    both = zip(COLOURS, pooled.words, strict=False)
    handles = [Patch(color=colour, label=_short(word)) for colour, word in both]
    ax.legend(handles=handles, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def draw_curves(ax: Axes, pooled: Pooled, word: str | None = None, legend: bool = True) -> Axes:
    """Draw the value, or the share of a word, over x: a curve for every value of y, or for some."""
    assert pooled.y is not None
    _lay_out(ax, pooled.x, _title(pooled) if word is None else f"Share of “{_short(word)}”")
    rows = _some(pooled)
    shades = matplotlib.colormaps["viridis"](np.linspace(0.02, 0.9, len(rows)))
    for k, i in enumerate(rows):
        colour = COLOURS[k] if pooled.y.kind == "words" else shades[k]
        beside = (k + 0.5) / len(rows)
        _curve(ax, pooled, i, word, colour, MARKERS[k], pooled.y.labels[i], beside)
    some = f"\n({len(rows)} of {pooled.shape[0]} values)" * (len(rows) < pooled.shape[0])
    _finish(ax, pooled, _short(in_words(pooled.y.name)) + some if legend else None)
    return ax


def _mesh(ax: Axes, pooled: Pooled, Z: np.ndarray, norm: Normalize | None = None) -> Any:
    assert pooled.y is not None
    ax.add_patch(Rectangle((0, 0), 1, 1, transform=ax.transAxes, zorder=0, **HATCH))
    many = math.prod(pooled.shape) > MANY_CELLS
    x, y = pooled.x.edges(), pooled.y.edges()
    return ax.pcolormesh(x, y, Z, norm=norm, cmap="viridis", rasterized=many)


def _curve(
    ax: Axes,
    pooled: Pooled,
    i: int,
    word: str | None,
    colour: Any,
    marker: str,
    label: str = "",
    beside: float = 0.5,
) -> None:
    """Means or shares with their intervals: a band, or bars where there is no line."""
    x = pooled.x.at
    y = np.array([pooled.middle(i, j, word) for j in range(len(x))])
    ends = np.array([pooled.interval(i, j, word) for j in range(len(x))])
    there, band = np.isfinite(y), np.isfinite(ends).all(axis=1)
    if not there.any():
        return
    line = pooled.x.kind != "words" and len(x) > 1
    if pooled.x.kind == "words":
        x = x + 0.5 * (beside - 0.5)
    thick = 1.35 - 0.6 * beside  # curves that coincide show at the edges
    ax.plot(
        x[there],
        y[there],
        c=colour,
        marker=marker,
        ms=4 * thick,
        lw=1.5 * thick,
        ls="-" if line else "none",
        label=_short(label),
    )
    low, high = ends.T
    if line:
        ax.fill_between(x, low, high, where=band.tolist(), color=colour, alpha=0.14, lw=0)
        for end in (low, high):
            ax.plot(x, end, c=colour, lw=0.6, alpha=0.5)
        band = band & ~(np.append(band[1:], False) | np.append(False, band[:-1]))
    ax.vlines(x[band], low[band], high[band], colors=[colour], lw=1.4)


def _finish(ax: Axes, pooled: Pooled, legend: str | None) -> None:
    """Limits, and a legend beside the panel."""
    if pooled.kind in ("share", "word"):
        ax.set_ylim(-0.04, 1.04)
    if pooled.kind == "geometric":
        ax.set_yscale("log")
    edges = pooled.x.edges()
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylabel(SHOWN[pooled.kind])
    ax.grid(alpha=0.25)
    if legend is not None:
        title = {"title": legend, "title_fontsize": 8} if legend else {}
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), **title)


def _lay_out(ax: Axes, x: Axis, title: str, y: Axis | None = None) -> None:
    """Title, names, scales and ticks."""
    ax.set_title(title, fontsize=11)
    ax.set_xlabel(_short(in_words(x.name), 44))
    if x.kind == "log":
        ax.set_xscale("log")
    _ticks(ax.xaxis, x, 9)
    if y is not None:
        ax.set_ylabel(_short(in_words(y.name), 34))
        if y.kind == "log":
            ax.set_yscale("log")
        _ticks(ax.yaxis, y, 16)


def _ticks(shown: Any, axis: Axis, most: int) -> None:
    """Put ticks at the values where these are few and short, else as the scale has them."""
    at = np.log10(axis.at) if axis.kind == "log" else axis.at
    labels = [_short(label) for label in axis.labels]
    room = np.diff(at).min() / np.ptp(at) if len(at) > 1 else 1.0
    fits = len(at) <= most and room > 0.6 / most and max(map(len, labels)) <= 5
    if axis.kind in ("log", "linear") and not fits:
        return
    every = math.ceil(len(at) / most)
    long = shown.axis_name == "x" and sum(map(len, labels[::every])) > 40
    turned = {"rotation": 25, "ha": "right", "rotation_mode": "anchor"} if long else {}
    shown.set_ticks(axis.at[::every], labels[::every], fontsize=8 if long else 9, **turned)
    shown.set_ticks([], minor=True)


def _title(pooled: Pooled) -> str:
    return _short(as_title(pooled.value), 44)


def _norm(Z: np.ndarray, kind: str) -> Normalize:
    low, high = float(Z.min()), float(Z.max())
    if kind == "share":
        return Normalize(0, 1)
    if kind == "geometric":
        return LogNorm(low, high)
    # Values that agree up to rounding get one colour, not a scale of their noise.
    still = high - low <= 1e-12 * max(abs(low), abs(high))
    room = (abs(high) / 2 or 0.5) if still else 0.0
    return Normalize(low - room, high + room)


def _some(pooled: Pooled) -> list[int]:
    """Rows to draw as curves, evenly chosen, the first and the last among them."""
    number = pooled.shape[0]
    few = min(number, FEW_CURVES if pooled.kind in ("share", "word") else MOST_CURVES)
    return [round(k * (number - 1) / max(few - 1, 1)) for k in range(few)]


def _short(text: str, most: int = 28) -> str:
    """Shorten a text for a label, in which a dollar is a dollar."""
    short = text if len(text) <= most else f"{text[: most // 2]}…{text[-(most // 2 - 1) :]}"
    return short.replace("$", r"\$")
