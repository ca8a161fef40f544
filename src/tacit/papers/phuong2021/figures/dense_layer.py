"""Figure 4: the weights of the convolutional network's first dense layer."""

from dataclasses import dataclass

import numpy as np

from tacit.measures.layer import Layer
from tacit.papers.phuong2021.drawing import in_main_plane, singular_values
from tacit.papers.phuong2021.figures import PAPER
from tacit.papers.phuong2021.figures.image_network import (
    SMALL,
    ImageSettings,
    fitted_claim,
    trained_network,
)
from tacit.papers.phuong2021.figures.synthetic import SHOWN
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell, ours
from tacit.reproduction.claims import at_least, at_most, true
from tacit.values import BadInput


@dataclass(frozen=True)
class Fig4(ImageSettings):
    most: float = ours(0.95, "the singular values that count hold this share of ‖W₇‖²")


@PAPER.artefact("fig4", "Figure 4, App. D", Fig4, quick=SMALL, images=True)
def fig4(s: Fig4, tell: Tell) -> Exhibit:
    """The first dense layer of the convolutional network: few singular values, three clusters.

    a) The ten largest singular values of the 128 × 3136 matrix of layer 7.

    b) Its rows in the plane of the first two: neurons with positive and with negative output weight
    in clusters of their own, and those that have hardly grown in between, near 0.
    """
    if s.width < 2:
        raise BadInput(f"width={s.width} must be at least 2: two directions are shown")
    trained = trained_network(s, tell)
    sign = trained.end["W8"][0]
    layer = Layer(trained.start["W7"], trained.end["W7"], sign)
    values = layer.values
    held = np.cumsum(values**2) / (values**2).sum()
    many = int(np.searchsorted(held, s.most)) + 1
    figure, ((a, b),) = new_figure(1, 2, size=(10.5, 4.2))
    singular_values(a, values[:SHOWN], layer.start, "a) singular values of W₇")
    in_main_plane(b, layer.projected, sign, "W₈[j]", "b) rows of W₇, projected")
    longest = np.where(
        sign > 0, *(np.max(layer.lengths, where=sign * k > 0, initial=0) for k in (1, -1))
    )
    far = layer.lengths > 0.5 * longest
    own = _on_own_side(layer.projected[far], sign[far])
    text = f"singular values of W₇ that hold {s.most:g} of ‖W₇‖²: more than two, ten at most"
    outer = "neurons longer than half the longest of their sign are on the side of it (share)"
    inner = "among the others there are neurons of both signs (share of the rarer)"
    claims = (
        fitted_claim(trained),
        true("few", text, 2 < many <= SHOWN, many, "perhaps five or ten", "3 … 10"),
        at_most("lossy", "the projection keeps this share of ‖W₇‖²", held[1], 0.99, "lossy"),
        at_least("clusters", outer, own, 0.9, "two clusters"),
        at_least("mixed", inner, _rarer(sign[~far]), 0.1, "mixed"),
    )
    data = {"singular_values": values, "projected": layer.projected, "sign": sign}
    return Exhibit(claims, figure, data, trained.departures)


def _on_own_side(rows: np.ndarray, sign: np.ndarray) -> float:
    """The share of rows on the side of the mean of their sign; 0 where there is one sign only."""
    if not ((sign > 0).any() and (sign < 0).any()):
        return 0.0
    plus, minus = rows[sign > 0].mean(axis=0), rows[sign < 0].mean(axis=0)
    side = (rows - (plus + minus) / 2) @ (plus - minus)
    return float((side * sign > 0).mean())


def _rarer(sign: np.ndarray) -> float:
    """The share of the rarer sign; 0 of an empty set."""
    return float(min((sign > 0).mean(), (sign < 0).mean())) if len(sign) else 0.0
