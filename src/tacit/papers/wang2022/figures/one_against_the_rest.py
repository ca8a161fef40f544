"""Outputs of networks with three classes: which limits miss the optimum, and why they may."""

import math
from collections.abc import Sequence
from typing import Any

from tacit.certificates import optimum
from tacit.flow import Limit
from tacit.papers.wang2022 import drawing as draw
from tacit.papers.wang2022.figures.flows import kkt_residual
from tacit.papers.wang2022.figures.two_points import weighted_neurons
from tacit.plot.plane import MINUS, PLUS
from tacit.reproduction.artefact import Claim, Whose
from tacit.reproduction.claims import explained
from tacit.values import Dataset


def suboptimal(limits: Sequence[Limit]) -> list[Limit]:
    """Those that were shown not to be the optimum."""
    return [one for one in limits if one.certificate and one.certificate.optimality == "suboptimal"]


def by_theorem_2(claim: Claim, limits: Sequence[Limit]) -> Claim:
    """Say why the claim fails, where all limits that miss the optimum are KKT points."""
    finding = (
        "Theorem 2 does not hold for three classes: against the rest, two classes at obtuse angles "
        "have one label, so Theorem 4, on which its proof rests, does not apply. The limit is a "
        "KKT point, and a certificate shows that a wider margin exists. (Unit vectors at 180° and "
        "±50°: two neurons that see one point each have the margin 1/6, one neuron for both has "
        "1/(2(1 + 1/cos 50°)) = 0.1956.)"
    )
    known = max(map(kkt_residual, suboptimal(limits)), default=math.inf) <= 1e-6
    return explained(claim, finding, Whose.PAPER, known)


def draw_classes(ax: Any, data: Dataset, limit: Limit) -> None:
    """Draw the points of three classes, the learned and the optimal neurons of one output."""
    network = optimum(limit.data).network
    best, signs = weighted_neurons(network.W, network.a)
    for sign, colour, name in ((1, PLUS, "a > 0"), (-1, MINUS, "a < 0")):
        ends = [g.weight * g.direction[:2] for g in limit.groups if g.sign == sign]
        for k, end in enumerate(ends):
            label = f"learned, {name}" if k == 0 else None
            ax.plot([0, end[0]], [0, end[1]], c=colour, lw=2, label=label)
    draw.stars(ax, best[:, :2], signs)
    for k, marker in enumerate("osD"):
        points, name = data.X[data.y == k][:, :2], f"points of class {k}"
        ax.plot(*points.T, marker, c="0.25", ms=5, mfc="none", zorder=7, label=name)
    ax.set(title="points, learned and optimal neurons |a|w", xlabel="x₁", ylabel="x₂")
    ax.set_aspect("equal", adjustable="datalim")
    draw.legend(ax)
