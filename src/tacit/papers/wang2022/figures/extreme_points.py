"""Figures 1 and 9: the rectified ellipsoid Q, with the optimal neurons at its extreme points."""

import math
from typing import Any

import numpy as np

from tacit.papers.wang2022 import drawing as draw
from tacit.papers.wang2022.figures import PAPER
from tacit.papers.wang2022.figures.two_points import (
    EXACT,
    Drawn,
    PlaneSettings,
    SecondPlane,
    TwoPoints,
    distance_from_one,
    outline_claim,
    panels,
    property_of,
    two_points,
)
from tacit.papers.wang2022.rectified_ellipsoid import cell_extremes, spikes
from tacit.papers.wang2022.statements.extreme import own_gradients
from tacit.reproduction.artefact import Claim, Exhibit, Tell
from tacit.reproduction.claims import at_least, at_most, true


@PAPER.artefact("fig1", "Figure 1, §2.2", PlaneSettings)
def fig1(s: PlaneSettings, tell: Tell) -> Exhibit:
    """The rectified ellipsoid and its spikes

    Purple is what neurons of length at most 1 can see of the two points: the part of an ellipse
    where both are seen, and on each axis what is seen of one point alone. The points are at an
    obtuse angle, so more is seen of a point by a neuron that does not see the other: there are
    spikes. Triangles are the best and the worst u of each cell for the optimal λ; the optimal
    neurons (stars) sit on the tips of the spikes.
    """
    tell("the optimum and its dual")
    points = two_points(s)
    return panels(points, lambda ax: extreme_points(ax, points, s))


@PAPER.artefact("fig9", "Figure 9, App. F.2", SecondPlane)
def fig9(s: SecondPlane, tell: Tell) -> Exhibit:
    """The rectified ellipsoid of the second data set and its extreme points

    Both labels are +1 and one neuron is optimal (star). It is on the round part of the outline: it
    sees both points. The extreme points of the other cells are at the corners and worth less.
    """
    tell("the optimum and its dual")
    points = two_points(s)
    return panels(points, lambda ax: _only_extreme_point(ax, points, s))


def extreme_points(ax: Any, points: TwoPoints, s: PlaneSettings) -> Drawn:
    """Figure 1: the extreme points are the tips of spikes."""
    claims, data = _draw_extremes(ax, points, s)
    tips = np.array([ends[1] for ends in spikes(points.X)]).reshape(-1, 2)
    away = np.linalg.norm(points.image(points.neurons)[:, None] - tips, axis=2)
    far = float(away.min(axis=1, initial=math.inf).max())
    free = property_of(points.data, "spike_free").holds
    measured = f"{len(tips)} spikes, {'' if free else 'not '}spike-free"
    text, holds = "Q has spikes, and the data is not spike-free", len(tips) > 0 and free is False
    own = (
        true("spikes", text, holds, measured, "spikes, not spike-free"),
        at_most(
            "tips",
            "Optimal neurons are at the tips of spikes; distance",
            far,
            EXACT,
            "at the spikes",
        ),
    )
    return (*claims, *own), data


def _only_extreme_point(ax: Any, points: TwoPoints, s: PlaneSettings) -> Drawn:
    """Figure 9: one extreme point, on the round part; no other direction is its own gradient."""
    claims, data = _draw_extremes(ax, points, s)
    rest = np.array([u for u, _ in own_gradients(points.X, points.dual)]).reshape(-1, 2)
    away = np.linalg.norm(rest[:, None] - points.neurons, axis=2).min(axis=1)
    tops = sorted(one.value for one in cell_extremes(points.X, points.dual) if one.largest)
    more, text = int((away > EXACT).sum()), "Directions that are their own gradient (12), but one"
    own = (
        on_the_round_part(points),
        at_most(
            "others",
            "λᵀ(Xu)₊ at the extreme points of other cells",
            tops[-2],
            0.999,
            "one is uniquely optimal",
        ),
        at_most("resting", text, more, 0),
    )
    return (*claims, *own), data


def _draw_extremes(ax: Any, points: TwoPoints, s: PlaneSettings) -> Drawn:
    """Draw Q, the extreme points of all cells along the optimal λ, and the optimal neurons."""
    outline, images = points.image(points.U), points.image(points.neurons)
    draw.rectified(ax, outline, spikes(points.X))
    draw.stars(ax, images, points.signs)
    extremes = [one for one in cell_extremes(points.X, points.dual) if one.u.any()]
    at = points.image(np.array([one.u for one in extremes]))
    draw.extremes(ax, at, np.array([one.largest for one in extremes]))
    draw.arrow(ax, points.dual, 0.8, "black", "direction of λ")
    ax.set_title("rectified ellipsoid and its extreme points")
    off = distance_from_one(points.signs * (images @ points.dual))
    top = max(abs(one.value) for one in extremes)
    claims = (
        outline_claim(points, s),
        at_most(
            "attained", "λᵀ(Xu)₊ of optimal neurons is ±1, off by", off, EXACT, "extreme (App. F.1)"
        ),
        at_most("extreme", "No cell has a larger |λᵀ(Xu)₊|; largest", top, 1 + EXACT, "≤ 1 (15)"),
    )
    return claims, {"rectified": outline, "extreme_points": at}


def on_the_round_part(points: TwoPoints) -> Claim:
    """The optimal neuron is active on both points: it is not on an axis."""
    least = float(points.image(points.neurons).min())
    text = "The optimal extreme point is on the two-dimensional part of Q; its smallest entry"
    return at_least("round", text, least, 1e-3, "not on the spikes")
