"""Figure 4: boundaries of the network and of the max-margin linear classifier."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tacit.flow import Limit
from tacit.numerics.max_margin import max_margin
from tacit.papers.lyu2021.drawing import (
    draw_outputs,
    draw_points,
    draw_zero_line,
    legend_above,
    plane_grid,
)
from tacit.papers.lyu2021.figures import PAPER
from tacit.papers.lyu2021.figures.appendix_j import DEPARTURES, AppendixJ
from tacit.papers.lyu2021.figures.flows import end_of_flow, flow_setting, is_decided, not_counted
from tacit.papers.lyu2021.networks import linear_network
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Tell, ours
from tacit.reproduction.claims import at_most, true
from tacit.values import Dataset


@dataclass(frozen=True)
class Fig4(AppendixJ):
    differ: float = ours(0.03, "share of a picture; lines that are 5 degrees apart differ there")
    reach: float = ours(3.5, "half the side of the pictures; nearly all points lie inside")
    flow_at: int = ours(10, "the size at which the flow is followed to its end; it takes seconds")
    limit_angle: float = ours(1.0, "degrees between directions that are the same")


@PAPER.artefact("fig4", "Figure 4, App. J", Fig4, quick={"sizes": (10, 50, 100)})
def fig4(s: Fig4, tell: Tell) -> Exhibit:
    """Boundaries of the network and of the max-margin linear classifier in a plane through 0.

    The plane is spanned by the first axis (horizontal; the true separator is the vertical line
    through 0) and the second one; all points are projected onto it. Colours are the network's
    output, lighter is higher, with its boundary in white; the red line is the max-margin linear
    classifier's. The two lie close together at every size.

    The paper concludes that the network converges to the max-margin linear classifier. At the
    smallest size the flow is followed to its end, which is near that classifier, but is not it: a
    network with a wider margin than any linear function has.
    """
    columns = min(5, len(s.sizes))
    rows = -(-len(s.sizes) // columns)
    figure, panels = new_figure(rows, columns, size=(3.3 * columns, 3.3 * rows + 0.5))
    window = (-s.reach, s.reach, -s.reach, s.reach)
    shares = []
    data: dict[str, np.ndarray] = {"n": np.array(s.sizes)}
    for ax, n in zip(panels.ravel(), s.sizes, strict=False):
        tell(f"a network on {n} points")
        (one,) = s.sets(n)
        (network,) = s.train([one])
        w = max_margin(one.y[:, None] * one.X).direction
        grid = plane_grid(window, one)[2]
        shares.append(float(np.mean((network.outputs(grid) > 0) != (grid @ w > 0))))
        draw_outputs(ax, window, one, network.outputs)
        label = "max-margin linear classifier" if n == s.sizes[0] else None
        draw_zero_line(ax, window, one, linear_network(w, s.alpha).outputs, "red", label)
        draw_points(ax, one)
        ax.set(title=f"n = {n}", xlim=window[:2], ylim=window[2:], aspect="equal")
        ax.set(xlabel="x₁", ylabel="x₂")
        data |= {f"W_{n}": network.W, f"a_{n}": network.a, f"w_{n}": w}
    for ax in panels.ravel()[len(s.sizes) :]:
        ax.set_axis_off()
    legend_above(panels[0, 0])
    tell("the flow to its end")
    (one,) = s.sets(s.flow_at)
    end = end_of_flow(flow_setting(s.alpha, s.width, f"he:{s.factor}"), one, s.seed)
    text = "largest share of a picture in which the network and the linear classifier differ"
    claims = [at_most("same", text, max(shares), s.differ)]
    if is_decided(end):
        claims.append(_claim_of_limit(s, one, end))
    departures = DEPARTURES + not_counted(np.array([is_decided(end)]))
    return Exhibit(tuple(claims), figure, data | {"shares": np.array(shares)}, departures)


def _claim_of_limit(s: Fig4, data: Dataset, end: Limit) -> Claim:
    """Whether the flow converges to the max-margin linear classifier, as the paper concludes."""
    best = max_margin(data.y[:, None] * data.X)
    text = f"n = {s.flow_at}: angle of the flow's limit to the linear classifier, in degrees"
    if end.network is None or end.margin is None:
        return true("limit", text, False, end.outcome, 0)
    u = end.network.a @ end.network.W  # along the odd part of f
    cosine = float(u @ best.direction / np.linalg.norm(u))
    claim = at_most("limit", text, math.degrees(math.acos(min(cosine, 1.0))), s.limit_angle, 0)
    linear = (1 + s.alpha) / 4 * best.margin_bounds.upper  # the widest of linear functions
    if not claim.holds and end.margin > linear:
        why = (
            f"The flow ends at a KKT point of margin {end.margin:.4f}, while networks that are "
            f"linear functions have {linear:.4f} at most: on these sets, which are not symmetric, "
            "the limit is near the max-margin linear classifier, but is not it."
        )
        claim = replace(claim, finding=why)
    return claim
