"""Figures 3 and 4: the neurons along gradient descent, by what they see and by direction."""

import math
from typing import Any

import numpy as np

from tacit.papers.wang2022.figures import PAPER
from tacit.papers.wang2022.figures.descent import (
    DescentSettings,
    convergence_claims,
    descend,
    directions_of,
    draw_directions,
    draw_images,
    fates,
    neither_claim,
    trajectory_data,
    unmoved_claim,
)
from tacit.papers.wang2022.figures.two_points import Drawn, TwoPoints, panels, two_points
from tacit.reproduction.artefact import Exhibit, Tell
from tacit.reproduction.claims import at_most
from tacit.training import Many


@PAPER.artefact("fig3", "Figure 3, §2.2", DescentSettings)
def fig3(s: DescentSettings, tell: Tell) -> Exhibit:
    """What the neurons see on their way

    Ten neurons, gradient descent: (Xw)₊ of the normalised neurons; dots at iterations 1, 10, … grow
    with time. Neurons that learn end on the tips of the spikes; the others see nothing and end
    at 0.
    """
    points, many = two_points(s), descend(s, tell)
    return panels(points, lambda ax: images(ax, points, many, s))


@PAPER.artefact("fig4", "Figure 4, §2.2", DescentSettings)
def fig4(s: DescentSettings, tell: Tell) -> Exhibit:
    """The directions of the neurons on their way

    The same run as in Figure 3. Between the dashed lines the same points are seen. Neurons that see
    nothing from the start stay where they are; those that learn turn to the optimal neuron of their
    sign.
    """
    points, many = two_points(s), descend(s, tell)
    return panels(points, lambda ax: directions(ax, points, many, s))


def images(ax: Any, points: TwoPoints, many: Many, s: DescentSettings) -> Drawn:
    """Draw (Xw)₊/‖w‖ along the way."""
    draw_images(ax, points, many, 0, s)
    ax.set_title("what the neurons see: (Xw)₊ / ‖w‖")
    ends, ways = fates(points, many, s), points.image(directions_of(many))
    away = [np.linalg.norm(ways[-1][one] - points.image(u[None])) for one, u in ends.learned]
    allowed = s.angle * float(np.linalg.norm(points.X, 2))
    text = "What neurons that learn see ends at an optimal extreme point; distance"
    claim = at_most("images", text, float(max(away, default=math.inf)), allowed, "tend to it")
    return (claim, neither_claim(ends)), {"seen": ways[:, 0]}


def directions(ax: Any, points: TwoPoints, many: Many, s: DescentSettings) -> Drawn:
    """Draw w/‖w‖ along the way."""
    draw_directions(ax, points, many, 0, s)
    ax.set_title("directions of the neurons: w / ‖w‖")
    claims = (*convergence_claims(points, many, s), unmoved_claim(points, many))
    return claims, trajectory_data(points, many)
