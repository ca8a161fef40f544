"""Somebody's network: the margins of its examples, and what they do along training."""

import numpy as np
from matplotlib.axes import Axes

from tacit.plot.axes import SMALL, draws, literal, own_axes
from tacit.plot.plane import MINUS, PLUS
from tacit.probing import Probe, Probed

LARGEST = 120.0
"""Area of the mark of the largest multiplier."""
DRAWN = ("log_loss", "margin", "smoothed_margin", "residual")


@draws("probed", "probed : Probed", "What `tacit.probe` returned.")
def sorted_margins(probed: Probed, ax: Axes | None = None) -> Axes:
    """Draw the margins of all examples in order, those that carry a multiplier by its size."""
    ax = own_axes(ax)
    order = np.argsort(probed.q, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(1, len(order) + 1)
    ax.plot(np.arange(1, len(order) + 1), probed.q[order], c=MINUS, lw=1.2, label="all examples")
    support, title = probed.support, f"smallest margin {probed.q_min:.3g}"
    if support is not None:
        lam = support.multipliers
        area = LARGEST * lam / max(float(lam.max(initial=0.0)), 1e-300)
        points = support.points
        ax.scatter(rank[points], probed.q[points], s=area, c=PLUS, alpha=0.6, lw=0, label="carry λ")
        title = f"off the cone of gradients by {support.stationarity:.2g}"
        if probed.homogeneity.holds:
            title = f"KKT residual {probed.residual:.2g}"
    ax.axhline(0, c="0.6", lw=0.8)
    ax.set_title(f"{literal(probed.name)}: {title}")
    ax.set(xlabel="examples, by margin", ylabel="margin q")
    if len(order) > 100:
        ax.set_xscale("log")
    ax.legend(loc="best", fontsize=SMALL)
    return ax


@draws("probe", "probe : Probe", "What a `tacit.Probe` has seen.")
def margin_and_residual(probe: Probe, ax: Axes | None = None) -> Axes:
    """Draw margin and KKT residual against log(1/L), as the network trains."""
    ax = own_axes(ax)
    rows = {name: np.array([row[name] for row in probe.records]) for name in DRAWN}
    depth = -rows["log_loss"]
    for name, style in (("margin", "-"), ("smoothed_margin", "--")):
        ax.plot(depth, rows[name], style, c=MINUS, marker=".", label=name.replace("_", " "))
    ax.set(title="along training", xlabel="log(1/L)", ylabel="normalised margin")
    right = ax.twinx()
    right.plot(depth, rows["residual"], c=PLUS, marker=".", label="KKT residual")
    right.set_ylabel("KKT residual", color=PLUS)
    right.set_ylim(0, 1.02)
    lines = [*ax.get_lines(), *right.get_lines()]
    ax.legend(lines, [str(line.get_label()) for line in lines], loc="best", fontsize=SMALL)
    return ax
