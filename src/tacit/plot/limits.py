"""The limit of gradient flow and the way there: outputs, neurons, margins, loss, distance."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.flow import Limit, Limits
from tacit.flow.limits import ROUNDING, index_of_worst, layers_text
from tacit.flow.path import Moment
from tacit.messages import printable
from tacit.numerics.float64 import LN10
from tacit.plot.axes import LIMIT, SMALL, TITLE, draws, logarithmic, own_axes, say, widen
from tacit.plot.neuron_paths import neuron_paths
from tacit.plot.plane import MINUS, PLUS, network_outputs


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
    outputs(one, figure.add_subplot(grid[0, 0]))
    neuron_paths(one, figure.add_subplot(grid[0, 1:]))
    margins(one, figure.add_subplot(grid[1, 0]))
    loss(one, figure.add_subplot(grid[1, 1]))
    distance(one, figure.add_subplot(grid[1, 2]))
    for ax in figure.axes:
        ax.title.set_fontsize(TITLE)


@draws("limit", *LIMIT)
def outputs(limit: Limit | Limits, ax: Axes | None = None) -> Axes:
    """Draw the outputs of a limit, or of the path's last network where there is none."""
    one = limit.worst
    ax = network_outputs(one.network or one.last_network, one.data, ax)
    whose = "limit" if one.network is not None else "last moment"
    ax.set_title(f"{whose}: {ax.get_title()}")
    return ax


@draws("margins", *LIMIT)
def margins(limit: Limit | Limits, ax: Axes | None = None) -> Axes:
    """Draw the margins over log(1/L) from separation on, where they end, and the widest of all."""
    title = "margin, normalised by the weights' norm"
    limit, ax = limit.worst, own_axes(ax)
    measures = limit.measures
    first = measures.separation
    late = np.arange(len(measures.log10_loss)) >= (math.inf if first is None else first)
    late &= measures.log10_loss < 0
    if late.sum() < 2:
        return say(ax, title, "the path never gives\nevery point its label")
    depth = _depth_axis(ax, [limit.path.moments[k] for k in np.flatnonzero(late)])
    ax.plot(depth, measures.margin[late], c="black", lw=1.6, label="margin")
    ax.plot(depth, measures.smoothed_margin[late], "--", c="0.45", label="smoothed margin")
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
    ax.set(title=title, ylabel="margin")
    ax.legend(loc="best", fontsize=SMALL)
    return ax


@draws("loss", *LIMIT)
def loss(limit: Limit | Limits, ax: Axes | None = None) -> Axes:
    """Draw the loss over time; an axis that reaches beyond ±20 is logarithmic beyond ±1.

    So start and end are both seen, and the label of such an axis says how it is scaled.
    """
    title = "loss over the time of gradient flow"
    ax, measures, path = own_axes(ax), limit.worst.measures, limit.worst.path
    there = np.isfinite(measures.log10_time)
    if path.last.beyond:  # its moments there would all be drawn at one point
        there &= [moment.beyond == 0 for moment in path.moments]
        title += f"\n(it goes on to {path.last.loss_text()})"
    if there.sum() < 2:
        return say(ax, title, "the flow does not move")
    log_t, log_L = measures.log10_time[there], measures.log10_loss[there]
    ax.plot(log_t, log_L, c="black", lw=1.6)
    ax.set(title=title, xlabel="log₁₀ t", ylabel="log₁₀ L (sum over the points)")
    for axis, values in ((ax.xaxis, log_t), (ax.yaxis, log_L)):
        if np.abs(values).max() > 20:
            widen(axis, 1.0, values)
            axis.set_label_text(f"{axis.get_label_text()}\n(logarithmic beyond ±1)")
    return ax


@draws("distance", *LIMIT)
def distance(limit: Limit | Limits, ax: Axes | None = None) -> Axes:
    """Draw the angle between the path and its limit, and the fitted power of log(1/L)."""
    title = "distance of the path from the limit"
    limit, ax = limit.worst, own_axes(ax)
    if not limit.outcome.settled:
        return say(ax, title, f"no limit is claimed:\nthe path is {limit.outcome}")
    angle = limit.approach[:, 1]
    moments = [moment for moment in limit.path.moments if moment.log_L < 0]
    there = angle > 0
    if there.sum() < 2:
        return say(ax, title, "the path is at its limit")
    depth = _depth_axis(ax, [moments[k] for k in np.flatnonzero(there)])
    ax.plot(depth, angle[there], c="black", lw=1.6, label="angle to the limit")
    logarithmic(ax.yaxis, angle[there])
    rate = limit.rate
    if rate is not None:
        powers = np.array([moments[k].log10_depth for k in np.flatnonzero(there)])
        late = (powers > 0) & (powers >= min(powers[-1] - math.log10(30), *powers[-6:]))
        height = np.mean(np.log10(angle[there][late]) + rate * powers[late])
        fit = 10.0 ** (height - rate * powers[late])
        ax.plot(depth[late], fit, "--", c=PLUS, label=f"fit: log(1/L)^({-rate:.2g})")
    if angle[there].min() < ROUNDING:
        ax.axhspan(angle[there].min() / 2, ROUNDING, color="0.92", label="rounding")
    ax.set(title=title, ylabel="angle (rad)")
    ax.legend(loc="best", fontsize=SMALL)
    return ax


def _depth_axis(ax: Axes, moments: Sequence[Moment]) -> np.ndarray:
    """Where moments with a loss below 1 are on the horizontal axis, which is scaled and labelled.

    That is at log₁₀(1/L); at its logarithm where a path goes on beyond floating point.
    """
    if not moments[-1].beyond:
        depth = np.array([-moment.log_L / LN10 for moment in moments])
        logarithmic(ax.xaxis, depth)
        ax.set_xlabel("log₁₀(1/L)")
        return depth
    depth = np.array([moment.log10_depth for moment in moments])
    widen(ax.xaxis, 1.0, depth)
    ax.set_xlabel("log₁₀ log₁₀(1/L)\n(logarithmic beyond ±1)")
    return depth
