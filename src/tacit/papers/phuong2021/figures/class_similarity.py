"""Figure 3: inner products of images and of their features, layer by layer."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.stats import kendalltau

from tacit.papers.phuong2021.drawing import likeness
from tacit.papers.phuong2021.figures import PAPER
from tacit.papers.phuong2021.figures.image_network import (
    SMALL,
    ImageSettings,
    features,
    top_features,
    trained_network,
    training_error,
)
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Tell, Whose, ours
from tacit.reproduction.claims import at_least, at_most, explained, mean_interval
from tacit.values import BadInput


@dataclass(frozen=True)
class Fig3(ImageSettings):
    runs: int = ours(5, "networks with seeds of their own; the first is drawn")
    images: int = ours(1000, "of each class, from which pairs are sampled")
    pairs: int = ours(10_000, "sampled for each of the three distributions; the paper gives none")


class Similarity(NamedTuple):
    """What is measured on one network."""

    products: list[list[np.ndarray]]
    """For the images and every layer: inner products of sampled pairs of different classes, both 0,
    both 1."""
    separation: list[float]
    """The mean cosine of pairs of one class less that of different ones, by layer."""
    order: list[float]
    """How likely a pair of one class has a larger product than one of different classes."""
    before: float
    """The share of all pairs that are as in (1) in layer 7, before training."""
    after: float
    error: float
    """The share of training images that are misclassified."""
    departures: tuple[str, ...]

    @property
    def violated(self) -> int:
        """Sampled pairs that are not as in (1), layer 7."""
        different, *same = self.products[-1]
        return int((different > 0).sum() + sum((one <= 0).sum() for one in same))


@PAPER.artefact(
    "fig3",
    "Figure 3, App. D",
    Fig3,
    quick={**SMALL, "runs": 2, "images": 100, "pairs": 3000},
    images=True,
)
def fig3(s: Fig3, tell: Tell) -> Exhibit:
    """How alike a convolutional network finds the digits 0 and 1, layer by layer.

    Each panel has the inner products of sampled pairs of images (the first) or of what layer l
    makes of them before its ReLU (after it none is negative): of a 0 and a 1 (blue), of two 0s
    (orange), of two 1s (green). The higher the layer, the further apart they are. In layer 7, the
    hidden layer of the two dense ones, the paper finds all pairs of one class positive and all
    pairs of different classes negative: its features are orthogonally separable (1). This is judged
    by the pairs that are sampled, as in the paper, and by all pairs there are.
    """
    if s.images < 2 or s.runs < 1:
        raise BadInput(f"images={s.images}, runs={s.runs}: pairs of two images, one network")
    seeds = reversed(range(s.seed, s.seed + s.runs))  # the first one last: figure 4 is about it
    measured = [measure_similarity(replace(s, seed=seed), tell) for seed in seeds][::-1]
    return draw_similarity(s, measured)


def measure_similarity(s: Fig3, tell: Tell) -> Similarity:
    """Train a network and sample pairs of its features."""
    trained = trained_network(s, tell)
    tell("features of the images")
    X, y = trained.data.X, trained.data.y
    zeros, ones = (np.flatnonzero(y == label)[: s.images] for label in (1, -1))
    kinds = [(zeros, ones), (zeros, zeros), (ones, ones)]
    rng = np.random.default_rng([s.seed, 3])
    pairs = [_sampled(first, second, s.pairs, rng) for first, second in kinds]
    rows = np.concatenate([zeros, ones])
    place = np.zeros(len(y), dtype=int)
    place[rows] = np.arange(len(rows))
    blocks = list(features(trained.model, trained.end, X[rows]))
    layers = [X[rows], *(np.concatenate(parts) for parts in zip(*blocks, strict=True))]
    products, separation, order = [], [], []
    for F in layers:
        both = [_products(F, place[i], place[j]) for i, j in pairs]
        products.append([one for one, _ in both])
        same = np.concatenate([one for one, _ in both[1:]])
        below = np.searchsorted(np.sort(both[0][0]), same)
        order.append(float(below.mean() / len(both[0][0])))
        apart = np.concatenate([cosine for _, cosine in both[1:]]).mean() - both[0][1].mean()
        separation.append(float(apart))
    start = top_features(trained.model, trained.start, X)
    before, after = (share_as_in_1(F, y) for F in (start, trained.top))
    error = training_error(trained)
    return Similarity(products, separation, order, before, after, error, trained.departures)


def draw_similarity(s: Fig3, networks: list[Similarity]) -> Exhibit:
    """The panels of the first network, and the claims about all of them."""
    first, data = networks[0], {}
    figure, axes = new_figure(2, 4, size=(15, 6.4))
    for l, (products, ax) in enumerate(zip(first.products, axes.ravel(), strict=True)):
        both = {"both 0": products[1], "both 1": products[2]}
        likeness(ax, products[0], both, f"layer {l}" if l else "images")
        for name, values in zip(("different", "both_0", "both_1"), products, strict=True):
            data[f"layer{l}_{name}"] = values.astype(np.float32)
    axes[0, 0].legend(fontsize=8)
    data |= {"separation": np.array([one.separation for one in networks])}
    data |= {"order": np.array([one.order for one in networks])}
    data |= {"share_as_in_1": np.array([(one.before, one.after) for one in networks])}
    data |= {"violated": np.array([one.violated for one in networks])}
    return Exhibit(claims_of_similarity(s, networks), figure, data, first.departures)


def claims_of_similarity(s: Fig3, networks: list[Similarity]) -> tuple[Claim, ...]:
    """What the paper says of its network, of each of ours."""
    of = f"of {len(networks)}"
    trends = [kendalltau(np.arange(len(one.separation)), one.separation) for one in networks]
    leads = [one.separation[-1] - max(one.separation[:-1]) for one in networks]
    alike = "two images of one class have a larger inner product than two of different classes"
    apart = "mean cosine of one class less that of different ones"
    as_in_1 = "share of all pairs of images that are as in (1), layer 7"
    error = max(one.error for one in networks)
    before = max(one.before for one in networks)
    layer7, worst = (min(pick(one.order) for one in networks) for pick in (lambda o: o[-1], min))
    trend = min(float(one.statistic) for one in trends)
    said, last = "generally more strongly", networks[int(np.argmin(leads))].separation
    return (
        at_most("fitted", f"training error, largest {of}", error, 0.001),
        *_orthogonally_separable(s, networks, as_in_1),
        at_most("learned", f"{as_in_1}, before training, largest", before, 0.6, "learned"),
        at_least("layer7", f"{alike}, layer 7 (probability), least {of}", layer7, 0.99, "they do"),
        at_least("alike", f"{alike}, worst layer (probability), least {of}", worst, 0.5, "they do"),
        at_least("higher", f"{apart} by layer (Kendall's τ), least {of}", trend, 0.5, said),
        explained(
            at_least("highest", f"{apart}, layer 7 less the next, least {of}", min(leads), 0, said),
            f"By layer it is {', '.join(f'{value:.2f}' for value in last)} in that network. The "
            "paper says “generally”, which the claim before this one measures; that layer 7 is "
            "above all others is a criterion of ours.",
            Whose.OURS,
        ),
    )


def _orthogonally_separable(
    s: Fig3, networks: list[Similarity], as_in_1: str
) -> tuple[Claim, Claim]:
    """(1) holds in layer 7, for the pairs that are sampled and for all pairs."""
    violated = [one.violated for one in networks]
    good = sum(count == 0 for count in violated)
    text = f"networks of {len(networks)} whose sampled pairs ({3 * s.pairs}) are all as in (1), "
    said = "orthogonally separable"
    sampled = at_least("separable", f"{text}layer 7", good, len(networks), said)
    after = np.array([one.after for one in networks])
    every = at_least("all_pairs", f"{as_in_1}, mean {len(after)}", after.mean(), 1.0, said)
    every = replace(every, interval=mean_interval(after) if len(after) > 1 else None)
    why = (
        f"Of {3 * s.pairs} sampled pairs {', '.join(map(str, violated))} are not as in (1), and "
        f"{(1 - after).min():.2g} to {(1 - after).max():.2g} of all pairs. The paper states no "
        "seed, no scale of the pixels and no step size of Adam, on which this depends, nor how "
        "many pairs it drew; these would settle it."
    )
    few = bool((1 - after).max() <= 0.2)
    return explained(sampled, why, Whose.OPEN, few), explained(every, why, Whose.OPEN, few)


def _sampled(
    first: np.ndarray, second: np.ndarray, number: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of different images, one of each of the two sets."""
    i = rng.integers(len(first), size=number)
    j = rng.integers(len(second), size=number)
    if first is second:
        j = (i + 1 + rng.integers(len(first) - 1, size=number)) % len(first)
    return first[i], second[j]


def _products(F: np.ndarray, i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inner products and cosines of the rows i and j."""
    F = np.asarray(F).reshape(len(F), -1)
    lengths = np.sqrt(np.einsum("ij,ij->i", F, F, dtype=np.float64))
    products = np.empty(len(i))
    for first in range(0, len(i), 1000):
        rows = slice(first, first + 1000)
        products[rows] = np.einsum("ij,ij->i", F[i[rows]], F[j[rows]], dtype=np.float64)
    return products, products / np.maximum(lengths[i] * lengths[j], 1e-300)


def share_as_in_1(F: np.ndarray, y: np.ndarray) -> float:
    """The share of pairs i ≠ j that satisfy (1)."""
    n, good = len(F), 0
    for first in range(0, n, 1000):
        block = slice(first, first + 1000)
        G = F[block] @ F.T
        good += int(np.where(y[block, None] == y, G > 0, G <= 0).sum())  # (1)
    return (good - int((F != 0).any(axis=1).sum())) / (n * (n - 1))
