"""Figures 6 and 8: the ellipsoid {Xu} beside the rectified one, with spikes and without."""

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
from tacit.reproduction.artefact import Exhibit, Tell, Whose
from tacit.reproduction.claims import at_least, explained, true


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
        at_least("spikes", text, points.longest, 1 + EXACT, "not spike-free"),
        at_least("separable", "The data is orthogonally separable; slack", slack, 0.0, "it is"),
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
    why = (
        "The heading is right. Let ‖u‖ ≤ 1 with x₁·u > 0 ≥ x₂·u and n ⟂ x₂ of length 1 with "
        "x₁·n > 0, so u = an − bx₂ with b ≥ 0. (Xu)₊ = (x₁·u, 0) is Xz for z = sn with s = a − "
        "b(x₁·x₂)/(x₁·n), and 0 ≤ s ≤ a ≤ 1 because x₁·x₂ > 0; the other cells are like it, or "
        "have z = u or 0. So ‖z‖ ≤ 1 always, which is spike-free."
    )
    caption = explained(caption, why, Whose.PAPER, free)
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
