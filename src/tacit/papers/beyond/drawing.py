"""Drawing for pictures that no paper has: how far from the limit, how far from the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.plot.plane import MINUS, PLUS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VERDICTS = {"certified": ("o", MINUS), "suboptimal": ("D", PLUS), "undecided": ("o", "0.4")}
NOTHING = 1e-16
"""Smaller shortfalls are drawn here."""


def draw_runs(
    top: Axes,
    middle: Axes,
    bottom: Axes,
    epochs: np.ndarray,
    log10_loss: np.ndarray,
    angle: np.ndarray,
    share: np.ndarray,
) -> None:
    """Angles and margins of training runs over epochs, and where the runs end over the loss."""
    for i in range(angle.shape[1]):
        label = "training runs" if i == 0 else None
        top.plot(epochs, angle[:, i], c=MINUS, lw=0.9, alpha=0.6, label=label)
        middle.plot(epochs, share[:, i], c=MINUS, lw=0.9, alpha=0.6, label=label)
        deep = log10_loss[:, i] < -0.05
        bottom.plot(-log10_loss[deep, i], angle[deep, i], c=MINUS, lw=0.9, alpha=0.6)
    ends = "runs after their last epoch"
    bottom.plot(-log10_loss[-1], angle[-1], "o", c=MINUS, ms=5, mec="white", label=ends)
    middle.axhline(1, c="black", lw=1, ls="--", label="certified bound")
    middle.set(xscale="log", xlabel="epoch", ylim=(min(0, float(share[-1].min())), 1.08))
    top.set(xscale="log", yscale="log", xlabel="epoch")


def draw_flow(ax: Axes, approach: np.ndarray, r: float) -> None:
    """The angle of the flow over the depth (T × 2: log₁₀ loss, angle), and a slope."""
    deep = approach[:, 0] < -0.05
    depth, angle = -approach[deep, 0], approach[deep, 1]
    ax.plot(depth, angle, c="black", lw=1.4, label="gradient flow")
    ends = np.array([depth[-1] / 1e3, depth[-1]])
    line = 1.6 * angle[-1] * (ends / depth[-1]) ** -r
    ax.plot(ends, line, c=PLUS, ls="--", lw=1.2, label=f"predicted slope −{r:.3g}")
    ax.set(xscale="log", yscale="log", xlabel="log₁₀(1/L)")
    ax.legend(fontsize=8, loc="best")


def draw_map(
    ax: Axes,
    scales: np.ndarray,
    widths: Sequence[int],
    values: np.ndarray,
    name: str,
    most: float,
    transition: np.ndarray,
    width: int,
    small: float,
    large: float,
) -> None:
    """A number for every width (rows) and scale, the transition, and the paper's two runs."""
    shades = ax.pcolormesh(
        scales, range(len(widths)), values, cmap="viridis", vmin=0, vmax=most, shading="nearest"
    )
    beyond = "max" if values.max() > most else "neither"
    ax.figure.colorbar(shades, ax=ax, label=name, extend=beyond)
    rows = [k for k in range(len(widths)) if np.isfinite(transition[k]).all()]
    middle = [np.median(transition[k]) for k in rows]
    ax.plot(middle, rows, "o-", c="black", ms=4, lw=1.5, label="a first point leaves the region")
    row = int(np.abs(np.array(widths) - width).argmin())
    for scale, colour in ((small, MINUS), (large, PLUS)):
        where = f"Fig. 1: {scale:g}"
        ax.plot(scale, row, "*", c=colour, ms=13, mec="white", clip_on=False, label=where)
    ax.set(xscale="log", xlabel="initial standard deviation", ylabel="neurons")
    ax.set_yticks(range(len(widths)), [str(m) for m in widths])
    ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3)


def draw_transition(ax: Axes, widths: np.ndarray, middle: np.ndarray, ends: np.ndarray) -> None:
    """A number for each width with its interval, and the slope −1."""
    ax.errorbar(
        widths,
        middle,
        yerr=np.abs(ends.reshape(-1, 2).T - middle),
        fmt="o",
        c=MINUS,
        capsize=3,
        label="mean over runs, 99% interval",
    )
    if len(widths):
        ax.plot(widths, middle[-1] * widths[-1] / widths, "--", c=PLUS, label="slope −1")
        ax.set(xscale="log", yscale="log")  # without data there is no logarithmic axis
    ax.set_xlabel("neurons")
    ax.set_ylabel("initial cluster radius at the transition")
    ax.legend(fontsize=8)


def draw_depths(ax: Axes, scales: Sequence[float], depth: np.ndarray) -> None:
    """How deep the flow must go, for every initial scale (rows) and run, and the slope 1."""
    for j, scale in enumerate(scales):
        label = "paths of gradient flow" if j == 0 else None
        ax.plot(np.full(depth.shape[1], scale), depth[j], "o", c=MINUS, alpha=0.7, label=label)
    ends, middle = np.array([min(scales), max(scales)]), float(np.median(depth[-1]))
    if np.isfinite(middle):
        ax.plot(ends, middle * ends / scales[-1], "--", c=PLUS, label="slope 1")
    # A flow that never came into the linear region has no depth: with none, no logarithmic axis.
    ax.set(xscale="log", yscale="log" if np.isfinite(depth).any() else "linear")
    ax.set(xlabel="initial standard deviation", ylabel="log₁₀(1/L)")
    ax.set_xticks(scales, [f"{scale:g}" for scale in scales])
    ax.set_xticks([], minor=True)
    ax.legend(fontsize=8)


def _inside(verdict: str, colour: str) -> str:
    return "white" if verdict == "undecided" else colour


def draw_verdicts(
    ax: Axes,
    results: Sequence[tuple[np.ndarray, np.ndarray]],
    names: Sequence[str],
    margins: Sequence[str],
    tolerance: float,
) -> None:
    """A row for each data set, a dot for each network: what its margin lacks of the widest.

    Results are the shortfalls of the networks and the verdicts on them.
    """
    for k, (shortfall, verdicts) in enumerate(results):
        for i, (x, verdict) in enumerate(zip(shortfall, verdicts, strict=True)):
            style, colour = VERDICTS[verdict]
            x, y = max(x, NOTHING), k + 0.5 * (i + 0.5) / len(shortfall) - 0.25
            ax.plot(x, y, style, c=colour, mfc=_inside(verdict, colour), ms=6)
    for verdict, (style, colour) in VERDICTS.items():
        ax.plot([], [], style, c=colour, mfc=_inside(verdict, colour), label=verdict)
    ax.axvline(tolerance, c="black", ls="--", lw=1)
    ax.set(xscale="log", xlim=(NOTHING / 3, 2), xlabel="1 − margin / widest margin of all networks")
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="y", alpha=0.3)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, fontsize=8, frameon=False)
    right = ax.twinx()
    right.set_ylim(ax.get_ylim())
    right.set_yticks(range(len(names)), margins, fontsize=8)
    right.set_ylabel("smallest margin of a limit, of the widest margin of all networks", fontsize=9)


def draw_lost(
    ax: Axes,
    K_factors: Sequence[float],
    eps_factors: Sequence[float],
    lost: np.ndarray,
    flow: np.ndarray,
) -> None:
    """The share of the margin lost over K, for every ε: certified (lines) and by flows (dots)."""
    for j, factor in enumerate(eps_factors):
        shade = _shade(j, len(eps_factors))
        ax.plot(K_factors, lost[j], c=shade, lw=1.3, label=f"ε = {factor:g} αγ")
        for run in flow[j].T:
            ax.plot(K_factors, run, "o", c=shade, ms=4, mec="white", mew=0.4)
    ax.plot([], [], "o", c="0.4", ms=4, label="limits of the flow")
    ax.axvline(1, c="black", ls="--", lw=1)
    ax.set(xscale="log", xlabel="K / ε√((3+α)/(1−α))", ylabel="1 − reached / widest margin")
    ax.set_title("margin lost to the hints")
    ax.legend(fontsize=8)


def _shade(j: int, number: int) -> tuple[float, float, float]:
    part = j / max(number - 1, 1)
    return (0.12 + 0.64 * part, 0.37 - 0.1 * part, 0.66 - 0.6 * part)


def draw_threshold(ax: Axes, alphas: Sequence[float], threshold: np.ndarray) -> None:
    """K/ε at which the loss begins over the slope α, and the formula."""
    alpha = np.linspace(0, max(alphas), 200)
    ax.plot(alpha, np.sqrt((3 + alpha) / (1 - alpha)), "--", c=PLUS, label="√((3+α)/(1−α))")
    ax.plot(alphas, threshold, "o", c=MINUS, label="bisection with certified optima")
    ax.set(xlabel="slope α of the leaky ReLU", ylabel="K/ε from which on margin is lost")
    ax.set_title("the threshold of K")
    ax.legend(fontsize=8)


def draw_lost_over_H(
    ax: Axes,
    H: np.ndarray,
    bound: float,
    linear: np.ndarray,
    reached: np.ndarray,
    widest: np.ndarray,
) -> None:
    """The share of the margin lost over H, by the linear classifier and by the flow."""
    ax.plot(H, 1 - linear, c=PLUS, label="linear classifier ½φ(w*·x), certified")
    for run, margin in enumerate(reached.T):
        label = "limits of the flow" if run == 0 else None
        ax.plot(H, 1 - margin / widest, "o", c=MINUS, alpha=0.6, label=label)
    open_ = np.isnan(reached).any(axis=1)
    if open_.any():
        ax.plot(H[open_], np.full(open_.sum(), -0.02), "x", c="0.4", label="some limit not told")
    ax.axvline(1, c="black", ls="--", lw=1, label="H = ε")
    ax.axvline(bound, c="black", ls=":", lw=1, label="bound of App. A.2")
    ax.set(xscale="log", xlabel="H / ε", ylabel="1 − reached / widest margin")
    ax.set_title("the part of H")
    ax.legend(fontsize=8)


def draw_promise(
    ax: Axes, lengths: np.ndarray, promised: np.ndarray, widest: np.ndarray, reached: np.ndarray
) -> None:
    """Margins over the length of a point: promised, the widest of all, and of limits (dots)."""
    ax.plot(lengths, widest, c="black", lw=1.2, label="widest margin of all, certified")
    ax.plot(lengths, promised, "--", c=PLUS, lw=1.4, label="promised: ½γ⁺, one neuron")
    for run, margins in enumerate(reached.T):
        label = "limits of the flow" if run == 0 else None
        ax.plot(lengths, margins, "o", c=MINUS, ms=6, mec="white", mew=0.5, label=label)
    ax.axvline(1, c="0.4", ls=":", lw=1, label="ℓ = α²: our condition ends")
    ax.set(xlabel="length ℓ of the first point / α²", ylabel="normalised margin")
    ax.set_title("what is promised, and what happens")
    ax.legend(fontsize=8)


def draw_shares(ax: Axes, paths: Sequence[np.ndarray], scales: Sequence[float]) -> None:
    """The share of the negative neurons over ‖θ‖, for starts of several scales."""
    for j, (path, scale) in enumerate(zip(paths, scales, strict=True)):
        ax.plot(path[:, 0], path[:, 1], c=_shade(j, len(scales)), label=f"σ = {scale:g}")
    ax.axvline(1, c="0.4", ls=":", lw=1, label="‖θ‖ = 1")
    ax.set(xscale="log", yscale="log", xlabel="‖θ‖", ylabel="share of the neurons with a < 0")
    ax.set_title("negligible at first, not in the end")
    ax.legend(fontsize=8, loc="lower right")
