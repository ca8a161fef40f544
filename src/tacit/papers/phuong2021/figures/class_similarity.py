"""Figure 3: inner products of images and of their features, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import kendalltau

from tacit.papers.phuong2021.drawing import likeness
from tacit.papers.phuong2021.figures import PAPER
from tacit.papers.phuong2021.figures.image_network import (
    SMALL,
    ImageSettings,
    features,
    fitted_claim,
    top_features,
    trained_network,
)
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Tell, ours
from tacit.reproduction.claims import at_least, at_most
from tacit.values import BadInput

AS_IN_1 = "share of all pairs of images that are as in (1), layer 7"


@dataclass(frozen=True)
class Fig3(ImageSettings):
    sample: int = ours(300, "images of each class whose pairs are drawn; the paper does not say")


@PAPER.artefact("fig3", "Figure 3, App. D", Fig3, quick={**SMALL, "sample": 100}, images=True)
def fig3(s: Fig3, tell: Tell) -> Exhibit:
    """How alike a convolutional network finds the digits 0 and 1, layer by layer.

    Each panel has the inner products of pairs of images (the first) or of what layer l makes of
    them before its ReLU (after it none is negative): of a 0 and a 1 (blue), of two 0s (orange), of
    two 1s (green). The higher the layer, the further apart they are. In layer 7, the hidden layer
    of the two dense ones, the paper finds all pairs of one class positive and all pairs of
    different classes negative: its features are orthogonally separable (1). Where ours are not,
    the claim says so.
    """
    if s.sample < 2:
        raise BadInput(f"sample={s.sample} must be at least 2: pairs are drawn")
    trained = trained_network(s, tell)
    tell("features of the images")
    X, y = trained.data.X, trained.data.y
    rows = np.concatenate([np.flatnonzero(y == label)[: s.sample] for label in (1, -1)])
    blocks = list(features(trained.model, trained.end, X[rows]))
    layers = [X[rows], *(np.concatenate(parts) for parts in zip(*blocks, strict=True))]
    figure, axes = new_figure(2, 4, size=(15, 6.4))
    separation, order, data = [], [], {}
    for l, (F, ax) in enumerate(zip(layers, axes.ravel(), strict=True)):
        products, cosines = _pairs(F, y[rows])
        both = {"both 0": products[1], "both 1": products[2]}
        likeness(ax, products[0], both, f"layer {l}" if l else "images")
        same = np.concatenate(products[1:])
        order.append(float(np.searchsorted(np.sort(products[0]), same).mean() / len(products[0])))
        separation.append(float(np.concatenate(cosines[1:]).mean() - cosines[0].mean()))
        for name, values in zip(("different", "both_0", "both_1"), products, strict=True):
            data[f"layer{l}_{name}"] = values[:: max(len(values) // 20_000, 1)].astype(np.float32)
    axes[0, 0].legend(fontsize=8)
    before, after = (
        share_as_in_1(F, y) for F in (top_features(trained.model, trained.start, X), trained.top)
    )
    trend = float(kendalltau(np.arange(len(layers)), separation).statistic)
    alike = "two images of one class have a larger inner product than two of different classes"
    apart = "mean cosine of one class less that of different ones"
    lead = separation[-1] - max(separation[:-1])
    claims = (
        fitted_claim(trained),
        _orthogonally_separable(after, products),
        at_most("learned", f"{AS_IN_1}, before training", before, 0.6, "learned in training"),
        at_least("layer7", f"{alike}, layer 7 (probability)", order[-1], 0.99, "they part"),
        at_least("alike", f"{alike}, in the worst layer (probability)", min(order), 0.5),
        at_least("higher", f"{apart} by layer (Kendall's τ)", trend, 0.5, "grows (ours: ≥ 0.5)"),
        at_least("highest", f"{apart}, layer 7 less the next highest", lead, 0.0),
    )
    data |= {"separation": np.array(separation), "order": np.array(order)}
    data |= {"share_as_in_1": np.array([before, after])}
    return Exhibit(claims, figure, data, trained.departures)


def _pairs(F: np.ndarray, y: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Inner products and cosines of pairs: of different classes, both 0, both 1."""
    F = np.asarray(F, dtype=np.float64)
    G = F @ F.T
    lengths = np.maximum(np.sqrt(np.diag(G)), 1e-300)
    C = G / np.outer(lengths, lengths)
    i, j = np.triu_indices(len(y), 1)
    kinds = (y[i] != y[j], (y[i] == 1) & (y[j] == 1), (y[i] == -1) & (y[j] == -1))
    return [G[i[k], j[k]] for k in kinds], [C[i[k], j[k]] for k in kinds]


def share_as_in_1(F: np.ndarray, y: np.ndarray) -> float:
    """The share of pairs i ≠ j that satisfy (1)."""
    n, good = len(F), 0
    for first in range(0, n, 1000):
        block = slice(first, first + 1000)
        G = F[block] @ F.T
        good += int(np.where(y[block, None] == y, G > 0, G <= 0).sum())  # (1)
    return (good - int((F != 0).any(axis=1).sum())) / (n * (n - 1))


def _orthogonally_separable(share: float, products: Sequence[np.ndarray]) -> Claim:
    """(1) holds in layer 7 for every pair; else what we know where a 0 and a 1 break it."""
    claim = at_least("separable", AS_IN_1, share, 1.0, 1.0)
    different, same = float((products[0] > 0).mean()), np.concatenate(products[1:])
    if claim.holds or (same <= 0).mean() > 0.01:
        return claim
    finding = (
        f"Of all pairs {1 - share:.2g} are not as in (1); of those that are drawn, {different:.2g} "
        f"of different classes are above 0 and {(same <= 0).mean():.2g} of one class are not. The "
        "paper does not state the scale of the pixels or Adam's step size; how many such pairs "
        "there are differed with them and with the seed where we varied them."
    )
    return replace(claim, finding=finding)
