"""Figures 6 and 8: the ellipsoid {Xu} beside the rectified one, with spikes and without."""

from __future__ import annotations

from dataclasses import replace

from tacit.papers.wang2022 import drawing as draw
from tacit.papers.wang2022.figures import PAPER
from tacit.papers.wang2022.figures.two_points import (
    EXACT,
    PlaneSettings,
    SecondPlane,
    TwoPoints,
    outline_claim,
    property_of,
    two_points,
)
from tacit.papers.wang2022.rectified_ellipsoid import spikes
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell
from tacit.reproduction.claims import at_least, true


@PAPER.artefact("fig6", "Figure 6, App. F.1", PlaneSettings)
def fig6(s: PlaneSettings, tell: Tell) -> Exhibit:
    """The ellipsoid and the rectified ellipsoid of an orthogonally separable data set

    Left {Xu}, right {(Xu)₊} on top of it. The spikes leave the ellipsoid: no z of length at most 1
    has Xz there, so the data is not spike-free.
    """
    exhibit, points = _ellipsoids(s, tell)
    slack = property_of(points.data, "orthogonally_separable").slack or 0.0
    text = "Some (Xu)₊ needs a z longer than 1: the data is not spike-free; longest z"
    claims = (
        at_least("spikes", text, points.longest, 1 + EXACT, "> 1"),
        at_least("separable", "The data is orthogonally separable; slack", slack, 0.0),
    )
    return replace(exhibit, claims=(*exhibit.claims, *claims))


@PAPER.artefact("fig8", "Figure 8, App. F.2", SecondPlane)
def fig8(s: SecondPlane, tell: Tell) -> Exhibit:
    """The ellipsoid and the rectified ellipsoid of the second data set

    The two points are at an acute angle. What is seen of one point alone is within the ellipse, so
    there are no spikes: the data is spike-free. The heading of App. F.2 says so, its text and its
    captions say the opposite.
    """
    exhibit, points = _ellipsoids(s, tell)
    free = points.longest <= 1 + EXACT
    measured = "spike-free" if free else "not spike-free"
    text = "The data is spike-free (heading of App. F.2)"
    heading = true("heading", text, free, measured, "spike-free")
    text = "The data is not spike-free (text and captions of App. F.2)"
    caption = true("caption", text, not free, measured, "not spike-free")
    if free:
        why = (
            "The heading is right: every (Xu)₊ is Xz with ‖z‖ ≤ 1, because the points are at an "
            "acute angle. The text and the captions have a misprint."
        )
        caption = replace(caption, finding=why)
    return replace(exhibit, claims=(*exhibit.claims, heading, caption))


def _ellipsoids(s: PlaneSettings, tell: Tell) -> tuple[Exhibit, TwoPoints]:
    """Draw the two sets; the claim is the one that holds for every data set."""
    tell("the ellipsoid")
    points = two_points(s)
    outline, rectified = points.U @ points.X.T, points.image(points.U)
    figure, (row,) = new_figure(1, 2, (11, 5.6))
    for ax, title in zip(row, ("ellipsoid set", "rectified ellipsoid set"), strict=True):
        draw.ellipsoid(ax, outline)
        ax.set_title(title)
    draw.rectified(row[1], rectified, spikes(points.X))
    for ax in row:
        draw.legend(ax)
    data = {"ellipsoid": outline, "rectified": rectified}
    return Exhibit((outline_claim(points, s),), figure, data), points
