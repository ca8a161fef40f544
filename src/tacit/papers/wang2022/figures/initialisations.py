"""Figures 7 and 10: gradient descent and gradient flow from several random starts."""

import math
from dataclasses import dataclass

import numpy as np

from tacit.certificates import certify, optimum
from tacit.papers.wang2022.figures import PAPER
from tacit.papers.wang2022.figures.descent import (
    DescentSettings,
    convergence_claims,
    descend,
    draw_directions,
    draw_images,
    fates,
    marked,
    trajectory_data,
    unmoved_claim,
)
from tacit.papers.wang2022.figures.extreme_points import on_the_round_part
from tacit.papers.wang2022.figures.flows import is_compared, limit_of, seed_of
from tacit.papers.wang2022.figures.two_points import TwoPoints, two_points
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Tell, ours, paper
from tacit.reproduction.claims import at_least, at_most, true
from tacit.training import Many
from tacit.values import Network


@dataclass(frozen=True)
class Repeated(DescentSettings):
    runs: int = ours(4, "independent initialisations; Figure 7 has four panels")


@dataclass(frozen=True)
class SecondRepeated(Repeated):
    data: str = paper("wang2022_f2", "App. F.2")
    angle: float = ours(0.15, "rad; the angle falls like 1/log(1/loss) here, 0.02 is out of reach")


@PAPER.artefact("fig7", "Figure 7, App. F.1", Repeated)
def fig7(s: Repeated, tell: Tell) -> Exhibit:
    """Independent initialisations on the orthogonally separable data set

    As Figure 4, from several random starts. A start that has no neuron for one of the points, and
    gets none on the way, never fits it.
    """
    points, many = two_points(s), descend(s, tell)
    columns = math.ceil(s.runs / 2)
    figure, rows = new_figure(2, columns, (5.2 * columns, 10.6))
    for i, ax in enumerate(rows.flat):
        if i < s.runs:
            draw_directions(ax, points, many, i, s)
            ax.set_title(f"initialisation {i + 1}")
        else:
            ax.set_axis_off()
    flow, departures = _flow_claim(points, s, tell)
    claims = (*convergence_claims(points, many, s), unmoved_claim(points, many), *flow)
    return Exhibit(claims, figure, trajectory_data(points, many), departures)


@PAPER.artefact("fig10", "Figure 10, App. F.2", SecondRepeated)
def fig10(s: SecondRepeated, tell: Tell) -> Exhibit:
    """Independent initialisations on the second data set, with neurons that are stuck

    Above the directions of the neurons, below what they see. All neurons that learn go to the one
    optimal neuron. A neuron with a < 0 can only do harm: it turns away until it sees nothing, and
    stays there, as does one that sees nothing from the start. These are the spurious stationary
    points: nothing moves them, and the network of these neurons alone fits nothing.
    """
    points, many = two_points(s), descend(s, tell)
    figure, rows = new_figure(2, s.runs, (4.8 * s.runs, 10.6))
    for i in range(s.runs):
        draw_directions(rows[0, i], points, many, i, s)
        draw_images(rows[1, i], points, many, i, s)
        rows[0, i].set_title(f"initialisation {i + 1}: directions")
        rows[1, i].set_title(f"initialisation {i + 1}: what is seen")
    flow, departures = _flow_claim(points, s, tell)
    claims = (
        *convergence_claims(points, many, s),
        _angle_falls(points, many, s),
        on_the_round_part(points),
        *_stuck_claims(points, many, s),
        *flow,
    )
    return Exhibit(claims, figure, trajectory_data(points, many), departures)


def _angle_falls(points: TwoPoints, many: Many, s: DescentSettings) -> Claim:
    """The angle falls over the last iterations that the paper shows."""
    worst = fates(points, many, s).angles[marked(many, s)[-3:]].max(axis=1, initial=0.0)
    ratio = float((worst[1:] / np.maximum(worst[:-1], 1e-300)).max(initial=0.0))
    text = "The largest angle falls from one of the last three moments to the next; ratio"
    return at_most("falls", text, ratio, 0.999, "tend to converge")


def _stuck_claims(points: TwoPoints, many: Many, s: DescentSettings) -> tuple[Claim, ...]:
    """Dead neurons are stationary, and alone they are not optimal."""
    before, after = many.weights["W"][[0, *marked(many, s)][-2]], many.last["W"]
    dead = (before @ points.X.T < 0).all(axis=-1)
    moved = float(np.abs(after - before)[dead].max(initial=0.0))
    margin, widest = math.nan, optimum(points.data).margin
    if dead.any():
        margin = certify(points.data, Network(after[dead], many.last["a"][dead])).margin
    text = "They are not optimal: margin of the network of these neurons alone"
    return (
        at_least("stuck", "Neurons at spurious stationary points", int(dead.sum()), 1, "some"),
        at_most("stationary", "They do not move any more; largest step", moved, 0.0, "stuck"),
        true("spurious", text, margin < widest, margin, "spurious", f"< {widest:.4g}, the optimum"),
    )


def _flow_claim(
    points: TwoPoints, s: DescentSettings, tell: Tell
) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """Gradient flow from the same starts, and what is to be said of starts that do not count."""
    shortfalls = []
    for i in range(s.runs):
        tell(f"gradient flow from start {i + 1} of {s.runs}")
        limit = limit_of(points.data, s.width, s.scale, seed_of(s, i))
        shortfalls += (
            [limit.certificate.shortfall] if limit.certificate and is_compared(limit) else []
        )
    missing = s.runs - len(shortfalls)
    words = f"gradient flow: {missing} of {s.runs} starts have no limit that fits the data, or none"
    departures = (f"{words} in the time given; not counted",) if missing else ()
    if not shortfalls:
        return (), departures
    text = "Gradient flow that fits the data ends at the optimum"
    text = f"{text} from {len(shortfalls)} of {s.runs} starts; largest gap"
    return (at_most("flow", text, max(shortfalls), 1e-6, "optimal"),), departures
