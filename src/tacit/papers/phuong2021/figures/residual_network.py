"""Figure 2: a residual network on the data of Figure 1."""

from dataclasses import dataclass

import numpy as np

from tacit.papers.phuong2021.drawing import correlations, in_main_plane, singular_values
from tacit.papers.phuong2021.figures import PAPER
from tacit.papers.phuong2021.figures.synthetic import (
    HIGH,
    SHOWN,
    Synthetic,
    correlation_claim,
    drop_claim,
    fitted_claim,
    layer_of,
    max_margin_directions,
    rank_claim,
    train_networks,
    two_rays_claim,
)
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell, ours, paper
from tacit.values import BadInput


@dataclass(frozen=True)
class Fig2(Synthetic):
    depth: int = paper(4, "§5.2")
    runs: int = ours(8, "the paper shows one network; each has data of its own, the first is drawn")


@PAPER.artefact("fig2", "Figure 2, §5.2", Fig2, quick={"runs": 5, "epochs": 80})
def fig2(s: Fig2, tell: Tell) -> Exhibit:
    """A residual network on the same data: every layer has rank two and two rays.

    a–c) The singular values of the layers before the last: in each of them two have grown beyond
    all that the initial weights had. In the first layer the second value is a seventh of the first,
    and the third a third of the second: what the initial weights have left is not yet small there.

    d–f) Their rows in the plane of the two. The colour is the sign of the output weight of the
    unit that a row belongs to; the paper's figure has none.

    g) The correlation of every row of the first layer with the max-margin direction that is closer
    to it, w₊ or w₋: no theorem, a conjecture of the paper.
    """
    if s.depth < 3:
        raise BadInput(f"fig2: depth={s.depth} must be at least 3; fig1 has two layers")
    sets, many = train_networks(s, f"residual:{s.depth}", s.runs, tell)
    inner = s.depth - 1
    signs = [many.member(i)[f"W{s.depth}"][0] for i in range(s.runs)]
    layers = {
        l: [layer_of(many, i, f"W{l}", sign) for i, sign in enumerate(signs)]
        for l in range(1, inner + 1)
    }
    margins = [max_margin_directions(data) for data in sets]
    cosines = [
        layer.cosines(both).max(axis=0) for layer, both in zip(layers[1], margins, strict=True)
    ]
    letters = [chr(ord("a") + k) for k in range(2 * inner + 1)]
    figure, axes = new_figure(2, inner + 1)
    claims = [fitted_claim(sets, many)]
    for l, ax in zip(layers, axes[0], strict=False):
        shown = layers[l][0]
        title = f"{letters[l - 1]}) singular values of W{l}"
        singular_values(ax, shown.values[:SHOWN], shown.start, title)
        claims.append(rank_claim(letters[l - 1], f"W{l}", layers[l]))
    for l, ax in zip(layers, axes[1], strict=False):
        shown, letter = layers[l][0], letters[inner + l - 1]
        rays = dict(zip(("w₊", "w₋"), margins[0] @ shown.plane.T, strict=True)) if l == 1 else None
        title = f"{letter}) rows of W{l}, projected"
        in_main_plane(ax, shown.projected, shown.sign, f"W{s.depth}[j]", title, rays)
        claims.append(two_rays_claim(letter, f"rows of W{l}", layers[l]))
    claims.append(drop_claim("drop", {f"W{l}": ones for l, ones in layers.items()}))
    last = letters[-1]
    title = f"{last}) rows of W1 and max-margin directions"
    correlations(axes[0, inner], cosines[0], HIGH, title, "correlation with the closer one")
    axes[1, inner].set_axis_off()
    claims.append(correlation_claim(last, "the closer max-margin direction", cosines))
    data = {"correlations": np.array(cosines), "sign": layers[1][0].sign}
    for l, ones in layers.items():
        data[f"singular_values_{l}"] = np.array([one.values for one in ones])
        data[f"largest_at_start_{l}"] = np.array([one.start for one in ones])
        data[f"projected_{l}"] = ones[0].projected
    return Exhibit(tuple(claims), figure, data)
