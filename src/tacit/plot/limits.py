"""The limit of gradient flow and the way there: outputs, neurons, margins, loss, distance."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.flow import Limit, Limits, Outcome
from tacit.flow.exponential_tail import tail_of
from tacit.flow.limits import ROUNDING, index_of_worst, layers_text
from tacit.flow.path_measures import Measures, along
from tacit.plot.axes import logarithmic, say, widen
from tacit.plot.directions import directions
from tacit.plot.plane import MINUS, PLUS, boundary, plane
from tacit.values.text import printable

FEW_NEURONS = 200
"""Outputs of wider networks are computed on a coarser grid."""
SMALL, TITLE = 8, 11
"""Sizes of the letters in legends and above panels."""


def fill(figure: Figure, result: Limit | Limits) -> None:
    """Draw five panels of the network that the summary speaks of."""
    data, k = result.data, index_of_worst(result.each)
    one, networks = result.each[k], len(result.each)
    kind = "" if data.binary else f", class {data.classes[k]} against the rest"
    several = f" (one of {networks} networks)" if networks > 1 else ""
    s = one.setting
    figure.suptitle(
        f"{printable(data.name + kind)}: gradient flow of {s.activation}, width {s.width}, "
        f"{layers_text(s)}, seed {one.seed}{several}: {one.outcome}",
        parse_math=False,
    )
    grid = figure.add_gridspec(2, 3, height_ratios=(1.15, 1))
    outputs(figure.add_subplot(grid[0, 0]), one)
    measures = along(one.path, tail_of(s.loss))
    directions(figure.add_subplot(grid[0, 1:]), one, measures.separation)
    margins(figure.add_subplot(grid[1, 0]), one, measures)
    loss(figure.add_subplot(grid[1, 1]), measures)
    distance(figure.add_subplot(grid[1, 2]), one)
    for ax in figure.axes:
        ax.title.set_fontsize(TITLE)


def outputs(ax: Axes, limit: Limit, cells: int = 400) -> None:
    """Draw the outputs of the limit, or of the path's last network where there is none."""
    data, network = limit.data, limit.network or limit.last_network
    seen = plane(data.X, data.parameters, {"W": network.W})
    cells = cells if network.width <= FEW_NEURONS else cells // 2
    boundary(ax, data.X, data.y, network.outputs, *seen, cells=cells)
    whose = "limit" if limit.network is not None else "last moment"
    ax.set_title(f"{whose}: {ax.get_title()}")


def margins(ax: Axes, limit: Limit, measures: Measures) -> None:
    """Draw the margins over log(1/L) from separation on, where they end, and the widest of all."""
    title = "margin, normalised by the weights' norm"
    first = measures.separation
    depth = -measures.log10_loss
    late = np.arange(len(depth)) >= (len(depth) if first is None else first)
    late &= depth > 0
    if late.sum() < 2:
        say(ax, title, "the path never gives\nevery point its label")
        return
    ax.plot(depth[late], measures.margin[late], c="black", lw=1.6, label="margin")
    ax.plot(depth[late], measures.smoothed_margin[late], "--", c="0.45", label="smoothed margin")
    if limit.margin is not None:
        ax.axhline(limit.margin, c=PLUS, lw=1, label=f"the limit's: {limit.margin:.5g}")
    best = limit.certificate
    if best is not None:
        lower, upper = best.margin_bounds
        same = math.isclose(lower, limit.margin or 0.0, rel_tol=1e-6)
        known = upper - lower <= best.tolerance * upper
        what = "widest of all networks" if known else "widest known to be reached"
        ax.axhline(
            lower,
            c=MINUS,
            lw=1.6 if same else 1,
            ls=(0, (2, 4)) if same else "-",
            label=f"{what}: {lower:.5g}",
        )
        if not known:
            ax.plot([], [], " ", label=f"no network has more than {upper:.5g}")
    logarithmic(ax.xaxis, depth[late])
    ax.set(title=title, xlabel="log₁₀(1/L)", ylabel="margin")
    ax.legend(loc="best", fontsize=SMALL)


def loss(ax: Axes, measures: Measures) -> None:
    """Draw the loss over time; an axis that reaches beyond ±20 is logarithmic beyond ±1.

    So start and end are both seen, and the label of such an axis says how it is scaled.
    """
    title = "loss over the time of gradient flow"
    there = np.isfinite(measures.log10_time)
    if there.sum() < 2:
        say(ax, title, "the flow does not move")
        return
    log_t, log_L = measures.log10_time[there], measures.log10_loss[there]
    ax.plot(log_t, log_L, c="black", lw=1.6)
    ax.set(title=title, xlabel="log₁₀ t", ylabel="log₁₀ L (sum over the points)")
    for axis, values in ((ax.xaxis, log_t), (ax.yaxis, log_L)):
        if np.abs(values).max() > 20:
            widen(axis, 1.0, values)
            axis.set_label_text(f"{axis.get_label_text()}\n(logarithmic beyond ±1)")


def distance(ax: Axes, limit: Limit) -> None:
    """Draw the angle between the path and its limit, and the fitted power of log(1/L)."""
    title = "distance of the path from the limit"
    if limit.outcome != Outcome.CONVERGED:
        say(ax, title, f"no limit is claimed:\nthe path is {limit.outcome}")
        return
    depth, angle = -limit.approach[:, 0], limit.approach[:, 1]
    there = (depth > 0) & (angle > 0)
    if there.sum() < 2:
        say(ax, title, "the path is at its limit")
        return
    ax.plot(depth[there], angle[there], c="black", lw=1.6, label="angle to the limit")
    logarithmic(ax.xaxis, depth[there])
    logarithmic(ax.yaxis, angle[there])
    rate = limit.rate
    if rate is not None:
        late = there & (depth >= max(depth[-1] / 30, 1.0))
        x = depth[late]
        height = np.exp(np.mean(np.log(angle[late]) + rate * np.log(x)))
        ax.plot(x, height * x**-rate, "--", c=PLUS, label=f"fit: log(1/L)^({-rate:.2g})")
    if angle[there].min() < ROUNDING:
        ax.axhspan(angle[there].min() / 2, ROUNDING, color="0.92", label="rounding")
    ax.set(title=title, xlabel="log₁₀(1/L)", ylabel="angle (rad)")
    ax.legend(loc="best", fontsize=SMALL)
