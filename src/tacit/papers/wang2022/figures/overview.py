"""Figure 5: Figures 1 to 4 in one."""

from dataclasses import replace

from tacit.papers.wang2022.figures import PAPER
from tacit.papers.wang2022.figures.descent import DescentSettings, descend
from tacit.papers.wang2022.figures.extreme_points import extreme_points
from tacit.papers.wang2022.figures.polar_set import polar_set
from tacit.papers.wang2022.figures.trajectories import directions, images
from tacit.papers.wang2022.figures.two_points import panels, two_points
from tacit.reproduction.artefact import Exhibit, Tell


@PAPER.artefact("fig5", "Figure 5, §2.2, App. F.1", DescentSettings)
def fig5(s: DescentSettings, tell: Tell) -> Exhibit:
    """Figures 1 to 4 together: gradient descent on an orthogonally separable data set

    The claims are the main ones of the four figures.
    """
    points, many = two_points(s), descend(s, tell)
    exhibit = panels(
        points,
        lambda ax: extreme_points(ax, points, s),
        lambda ax: polar_set(ax, points, s),
        lambda ax: images(ax, points, many, s),
        lambda ax: directions(ax, points, many, s),
    )
    kept = ("spikes", "tips", "rectangle", "dual", "images", "angle", "neither", "unmoved")
    return replace(exhibit, claims=tuple(one for one in exhibit.claims if one.id in kept))
