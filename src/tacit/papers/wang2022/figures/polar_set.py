"""Figure 2: the polar set of the rectified ellipsoid, in which the dual optimum is a corner."""

from typing import Any

import numpy as np

from tacit.papers.wang2022 import drawing as draw
from tacit.papers.wang2022.figures import PAPER
from tacit.papers.wang2022.figures.two_points import (
    EXACT,
    Drawn,
    PlaneSettings,
    TwoPoints,
    around,
    distance_from_one,
    panels,
    two_points,
)
from tacit.papers.wang2022.rectified_ellipsoid import gauge, largest_by_force, polar_radius, support
from tacit.reproduction.artefact import Exhibit, Tell
from tacit.reproduction.claims import STATED, at_least, at_most


@PAPER.artefact("fig2", "Figure 2, §2.2, App. F.1", PlaneSettings)
def fig2(s: PlaneSettings, tell: Tell) -> Exhibit:
    """The absolute polar set of the rectified ellipsoid

    Purple are all λ that the dual problem (15) allows, but for their signs. The tips of the two
    spikes alone allow the dashed rectangle, the ellipsoid before it is rectified the dotted
    ellipse; the paper says that the rectangle is the whole set. (It is, because the points are more
    than 120° apart; between 90° and 120° two corners would be cut off.) The dual optimum is the
    corner that lies furthest in the direction of y.
    """
    tell("the optimum and its dual")
    points = two_points(s)
    return panels(points, lambda ax: polar_set(ax, points, s))


def polar_set(ax: Any, points: TwoPoints, s: PlaneSettings) -> Drawn:
    """Draw Q*, and the rectangle that the two tips of Q allow."""
    X, dual, y = points.X, points.dual, points.data.y
    box = gauge(X, np.eye(2))
    corners = box * [[1, 1], [-1, 1], [-1, -1], [1, -1]]
    E = around(s.outline, corners)
    radius = polar_radius(X, E)  # (10)
    outline = E * radius[:, None]
    draw.polar(ax, outline, corners, E / np.linalg.norm(E @ X, axis=1)[:, None])
    size = float(np.linalg.norm(dual))
    draw.arrow(ax, y, 1.25 * size, "0.45", "direction of y")
    draw.arrow(ax, dual, size, "black", "dual optimum λ")
    ax.set_title("absolute polar set of Q")
    forced = distance_from_one(largest_by_force(X, outline, s.directions))
    edge = distance_from_one(np.abs(E / box).max(axis=1) * radius)
    both = distance_from_one(support(X, np.array([dual, -dual])))
    reached = float(max(abs((outline @ y).max() - y @ dual), abs(points.value - y @ dual)))
    text = "yᵀλ is the largest on Q*, and the optimum of (14); off by"
    claims = (
        at_most(
            "polar", "max |λᵀ(Xu)₊| = 1 on the boundary of Q*, off by", forced, EXACT, "Q* (10)"
        ),
        at_most(
            "rectangle", "Q* is the rectangle of the two tips, off by", edge, EXACT, "reduces to it"
        ),
        at_most("dual", text, reached, EXACT, "equal (14, 15)"),
        at_most("corner", "λ is a corner: λᵀ(Xu)₊ reaches 1 and −1; off by", both, EXACT),
        at_least("signs", "Yλ ≥ 0; smallest entry", float((y * dual).min()), 0.0, STATED),
    )
    return claims, {"polar": outline}
