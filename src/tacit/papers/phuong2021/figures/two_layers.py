"""Figure 1: two layers on orthogonally separable data."""

from dataclasses import dataclass

import numpy as np

from tacit.geometry import check
from tacit.papers.phuong2021.drawing import correlations, in_main_plane, singular_values
from tacit.papers.phuong2021.figures import PAPER
from tacit.papers.phuong2021.figures.synthetic import (
    HIGH,
    SHOWN,
    Synthetic,
    correlation_claim,
    fitted_claim,
    layer_of,
    max_margin_directions,
    rank_claim,
    train_networks,
    two_rays_claim,
    zero_claim,
)
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell, ours
from tacit.reproduction.claims import at_least
from tacit.values import Dataset


@dataclass(frozen=True)
class Fig1(Synthetic):
    runs: int = ours(
        20, "the paper shows one network; each has data of its own, the first is drawn"
    )


@PAPER.artefact("fig1", "Figure 1, §5.1", Fig1, quick={"runs": 5})
def fig1(s: Fig1, tell: Tell) -> Exhibit:
    """Two layers on orthogonally separable data: rank two, two rays, max-margin directions.

    a) The singular values of the first layer: two have grown far beyond everything that the
    initial weights had, the others have not grown at all. What is left of the initial weights is
    never lost, it only becomes small beside what training adds.

    b) The neurons in the plane of the two: those with a > 0 lie on one ray, those with a < 0 on
    another; w₊ and w₋ of (6) and (7) are dashed and dotted. The axes have different scales.

    c) The correlation of every neuron with the max-margin direction of its sign. Neurons that have
    not grown keep some of their initial direction: they are the ones with low correlations.
    """
    sets, many = train_networks(s, "two_layer", s.runs, tell)
    layers = [layer_of(many, i, "W", many.member(i)["a"]) for i in range(s.runs)]
    margins = [max_margin_directions(data) for data in sets]
    cosines = [
        np.where(layer.sign > 0, *layer.cosines(both))
        for layer, both in zip(layers, margins, strict=True)
    ]
    shown = layers[0]
    slack = min(_slack(one) for one in sets)
    figure, ((a, b, c),) = new_figure(1, 3)
    singular_values(a, shown.values[:SHOWN], shown.start, "a) singular values of W")
    rays = dict(zip(("w₊", "w₋"), margins[0] @ shown.plane.T, strict=True))
    in_main_plane(b, shown.projected, shown.sign, "a", "b) neurons, projected", rays)
    correlations(c, cosines[0], HIGH, "c) neurons and max-margin directions", "correlation")
    claims = (
        at_least(
            "separable",
            "the data is orthogonally separable (its worst cosine)",
            slack,
            0.0,
            "it is",
        ),
        fitted_claim(sets, many),
        rank_claim("rank", "W", layers),
        zero_claim("zero", layers),
        two_rays_claim("rays", "neurons", layers),
        correlation_claim("correlations", "the max-margin direction of their sign", cosines),
    )
    data = {
        "singular_values": np.array([layer.values for layer in layers]),
        "largest_at_start": np.array([layer.start for layer in layers]),
        "projected": shown.projected,
        "sign": shown.sign,
        "correlations": np.array(cosines),
    }
    return Exhibit(claims, figure, data)


def _slack(data: Dataset) -> float:
    """How far the worst cosine of (1) is from 0."""
    name = "orthogonally_separable"
    slack = check(data, properties=name).properties[name].slack
    assert slack is not None
    return slack
