"""phuong2021, The inductive bias of ReLU networks on orthogonally separable data: its figures.

Two-layer and residual networks on synthetic data (§5), a convolutional network on MNIST (App. D),
and the probability of Theorem 1. The paper says neither what the initial weights are before they
are multiplied by 0.05, nor whether the loss of a batch is its sum (3) or its mean. Ours are the
defaults of PyTorch: uniform in ±1/√fan_in, and the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import kendalltau

from tacit._jax import jax, jnp
from tacit.data import load
from tacit.flow.follow import follow
from tacit.geometry import check
from tacit.measures.layer import Layer
from tacit.models import SixConv
from tacit.numerics.paper_margins import class_margin
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Paper, Result, Settings, Tell, ours, paper
from tacit.reproduction.claims import (
    at_least,
    at_most,
    mean_interval,
    near,
    probability_at_least,
    probability_is,
    share_interval,
    true,
)
from tacit.training import Many, train_many
from tacit.training.initialisations import initial_weights
from tacit.values import BadInput, Dataset, Setting

PAPER = Paper("phuong2021")

HIGH = 0.9
"""§5.1: "the correlation is generally high, above 0.9 for most neurons"."""
NARROW = 5.0
"""Ours: rows align in a direction when they are this many degrees from it, on the mean."""
ZERO = 0.05
"""Ours: a singular value is effectively zero when it is at most this part of the largest."""
SHOWN = 10
"""Singular values in Fig. 1a, 2a–c and 4a."""
AS_IN_1 = "share of all pairs of images that are as in (1), layer 7"
BLOCK = 128
"""Images whose features are computed at once."""


@dataclass(frozen=True)
class Synthetic(Settings):
    """The training of §5.1, which §5.2 takes over."""

    n: int = paper(500, "§5.1")
    d: int = paper(20, "§5.1")
    width: int = paper(100, "§5.1, §5.2")
    batch: int = paper(50, "§5.1")
    lr: float = paper(0.1, "§5.1")
    epochs: int = paper(500, "§5.1")
    factor: float = paper(0.05, "§5.1: all weights are multiplied by it at initialisation")
    init: str = ours("uniform", "what is multiplied: PyTorch's default, uniform in ±1/√fan_in")
    loss: str = ours("logistic", "the mean over a batch; (3) is the sum over the data")


@dataclass(frozen=True)
class Fig1(Synthetic):
    runs: int = ours(
        20, "the paper shows one network; each has data of its own, the first is drawn"
    )


@PAPER.artefact("fig1", "Figure 1, §5.1", Fig1, quick={"runs": 5})
def fig1(s: Fig1, tell: Tell) -> Result:
    """Two layers on orthogonally separable data: rank two, two rays, max-margin directions.

    a) The singular values of the first layer: two have grown far beyond everything that the
    initial weights had, the others have not grown at all. What is left of the initial weights is
    never lost, it only becomes small beside what training adds.

    b) The neurons in the plane of the two: those with a > 0 lie on one ray, those with a < 0 on
    another; w₊ and w₋ of (6) and (7) are dashed and dotted. The axes have different scales.

    c) The correlation of every neuron with the max-margin direction of its sign. Neurons that have
    not grown keep some of their initial direction: they are the ones with low correlations.
    """
    from tacit.papers.phuong2021.drawing import correlations, in_main_plane, singular_values

    sets, many = _train(s, "two_layer", s.runs, tell)
    layers = [_layer(many, i, "W", many.member(i)["a"]) for i in range(s.runs)]
    margins = [_max_margin_directions(data) for data in sets]
    found = [
        np.where(layer.sign > 0, *layer.cosines(both))
        for layer, both in zip(layers, margins, strict=True)
    ]
    shown = layers[0]
    slack = min(_slack(one) for one in sets)
    figure, ((a, b, c),) = new_figure(1, 3)
    singular_values(a, shown.values[:SHOWN], shown.start, "a) singular values of W")
    rays = dict(zip(("w₊", "w₋"), margins[0] @ shown.plane.T, strict=True))
    in_main_plane(b, shown.projected, shown.sign, "a", "b) neurons, projected", rays)
    correlations(c, found[0], HIGH, "c) neurons and max-margin directions", "correlation")
    claims = (
        at_least("separable", "the data is orthogonally separable (its worst cosine)", slack, 0.0),
        _fitted(sets, many),
        _rank("rank", "W", layers),
        _zero("zero", layers),
        _two_rays("rays", "neurons", layers),
        _most("correlations", "the max-margin direction of their sign", found),
    )
    data = {
        "singular_values": np.array([layer.values for layer in layers]),
        "largest_at_start": np.array([layer.start for layer in layers]),
        "projected": shown.projected,
        "sign": shown.sign,
        "correlations": np.array(found),
    }
    return Result(claims, figure, data)


@dataclass(frozen=True)
class Fig2(Synthetic):
    depth: int = paper(4, "§5.2")
    runs: int = ours(8, "the paper shows one network; each has data of its own, the first is drawn")


@PAPER.artefact("fig2", "Figure 2, §5.2", Fig2, quick={"runs": 5, "epochs": 80})
def fig2(s: Fig2, tell: Tell) -> Result:
    """A residual network on the same data: every layer has rank two and two rays.

    a–c) The singular values of the layers before the last: in each of them two have grown beyond
    all that the initial weights had.

    d–f) Their rows in the plane of the two. The colour is the sign of the output weight of the
    unit that a row belongs to; the paper's figure has none.

    g) The correlation of every row of the first layer with the max-margin direction that is closer
    to it, w₊ or w₋: no theorem, a conjecture of the paper.
    """
    from tacit.papers.phuong2021.drawing import correlations, in_main_plane, singular_values

    if s.depth < 3:
        raise BadInput(f"fig2: depth={s.depth} must be at least 3; fig1 has two layers")
    sets, many = _train(s, f"residual:{s.depth}", s.runs, tell)
    inner = s.depth - 1
    signs = [many.member(i)[f"W{s.depth}"][0] for i in range(s.runs)]
    layers = {
        l: [_layer(many, i, f"W{l}", sign) for i, sign in enumerate(signs)]
        for l in range(1, inner + 1)
    }
    margins = [_max_margin_directions(data) for data in sets]
    found = [
        layer.cosines(both).max(axis=0) for layer, both in zip(layers[1], margins, strict=True)
    ]
    letters = [chr(ord("a") + k) for k in range(2 * inner + 1)]
    figure, axes = new_figure(2, inner + 1)
    claims = [_fitted(sets, many)]
    for l, ax in zip(layers, axes[0], strict=False):
        shown = layers[l][0]
        title = f"{letters[l - 1]}) singular values of W{l}"
        singular_values(ax, shown.values[:SHOWN], shown.start, title)
        claims.append(_rank(letters[l - 1], f"W{l}", layers[l]))
    for l, ax in zip(layers, axes[1], strict=False):
        shown, letter = layers[l][0], letters[inner + l - 1]
        rays = dict(zip(("w₊", "w₋"), margins[0] @ shown.plane.T, strict=True)) if l == 1 else None
        title = f"{letter}) rows of W{l}, projected"
        in_main_plane(ax, shown.projected, shown.sign, f"W{s.depth}[j]", title, rays)
        claims.append(_two_rays(letter, f"rows of W{l}", layers[l]))
    claims.append(_zero("zero", [layer for ones in layers.values() for layer in ones]))
    last = letters[-1]
    title = f"{last}) rows of W1 and max-margin directions"
    correlations(axes[0, inner], found[0], HIGH, title, "correlation with the closer one")
    axes[1, inner].set_axis_off()
    claims.append(_most(last, "the closer max-margin direction", found))
    data = {"correlations": np.array(found), "sign": layers[1][0].sign}
    for l, ones in layers.items():
        data[f"singular_values_{l}"] = np.array([one.values for one in ones])
        data[f"largest_at_start_{l}"] = np.array([one.start for one in ones])
        data[f"projected_{l}"] = ones[0].projected
    return Result(tuple(claims), figure, data)


@dataclass(frozen=True)
class Prob(Settings):
    n: int = paper(500, "§5.1, the data of Fig. 1")
    d: int = paper(20, "§5.1, the data of Fig. 1")
    widths: tuple[int, ...] = ours((1, 2, 4, 8), "the theorem is about every p; 2^(−p) can be seen")
    init: str = ours("balanced:1e-4", "§2: balanced and near zero")
    lr: float = ours(0.02, "no neuron turns by more than a degree or two in a step")
    epochs: int = ours(2500, "the weights have grown from 1e-4 to 1 by then")
    inits: int = ours(1000, "networks of each width on the pair of points")
    inits_fig1: int = ours(200, "networks of each width on the data of Fig. 1")
    flows: int = ours(10, "networks of each width whose gradient flow is followed exactly as well")


@PAPER.artefact(
    "prob",
    "Theorem 1, probability 1 − 1/2^p",
    Prob,
    quick={"inits": 200, "n": 200, "inits_fig1": 20, "flows": 1},
)
def prob(s: Prob, tell: Tell) -> Result:
    """How often a network dies, and how often neurons of both signs survive.

    Theorem 1 holds with probability 1 − 2^(−p): then at least one of the p neurons survives. A
    neuron survives when it sees a point of the class of its sign, for it never loses sight of it
    (Lemma B.1). On the pair of points e₁ (+) and e₂ (−) every neuron dies with probability ½, so
    the bound is met exactly: 2^(−p) of the networks die. On the data of Fig. 1 a neuron sees some
    of the many points of its class or is soon turned towards them, so that a network fits both
    classes unless all of its output weights have one sign, which has the probability 2^(1−p).

    Left: the share of networks that die; right: of those in which neurons of both signs survive,
    without which one class is never fitted. Bars are 99% intervals.
    """
    pair = Dataset(np.eye(2), np.array([1, -1]))
    fig1 = load(f"orthogonal:n={s.n},d={s.d},seed={s.seed}")
    cases = (
        _Case("pair", "the pair", pair, s.inits, "1 − 2(3/4)^p + 2^(−p)", _both_on_pair),
        _Case("fig1", "the data of Fig. 1", fig1, s.inits_fig1, "1 − 2^(1−p)", _both_on_fig1),
    )
    data: dict[str, np.ndarray] = {"widths": np.array(s.widths)}
    agree = []
    for case in cases:
        alive = []
        for p in s.widths:
            tell(f"{case.inits} networks of width {p} on {case.words}")
            first = case.inits * (s.seed * sum(s.widths) + p)
            setting = Setting(width=p, init=s.init, rule="gd", lr=s.lr)
            seeds = range(first, first + case.inits)
            many = train_many(setting, case.data, s.epochs, seeds, at=[0])
            alive.append(_signs_alive(many.last["W"], many.last["a"], case.data))
            if case.name == "pair":
                agree += [_flow_agrees(many, i, case.data, alive[-1][i]) for i in range(s.flows)]
        counts = [[signs.any(axis=1).sum(), signs.all(axis=1).sum()] for signs in alive]
        data |= {f"alive_{case.name}": np.array(counts), f"inits_{case.name}": np.array(case.inits)}
    claims = []
    for p, (survive, _) in zip(s.widths, data["alive_pair"].tolist(), strict=True):
        words = f"on the pair, some neuron of a network of width {p} survives (probability)"
        claims.append(probability_at_least(f"pair-{p}", words, survive, s.inits, 1 - 2.0**-p))
    words = "on the data of Fig. 1, some neuron survives (all widths together)"
    lived, total = int(data["alive_fig1"][:, 0].sum()), s.inits_fig1 * len(s.widths)
    bound = 1 - float(np.mean(2.0 ** -np.array(s.widths)))
    claims.append(probability_at_least("fig1", words, lived, total, bound))
    k = next((k for k, p in enumerate(s.widths) if p > 1), 0)
    for case in cases:
        words = f"on {case.words}, neurons of both signs survive, width {s.widths[k]} (probability)"
        both = int(data[f"alive_{case.name}"][k, 1])
        expected = case.both(s.widths[k])
        claims.append(probability_is(f"both-{case.name}", words, both, case.inits, expected))
    if agree:
        words = "gradient flow and small steps leave the same signs alive (share of networks)"
        claims.append(near("flow", words, float(np.mean(agree)), 1.0, 0.0))
    figure, ((left, right),) = new_figure(1, 2)
    _draw_shares(left, right, s.widths, cases, data)
    return Result(tuple(claims), figure, data)


@dataclass(frozen=True)
class Images(Settings):
    """The training of App. D."""

    n: int = ours(12_665, "App. D has the digits 0 and 1 of MNIST: all its training images")
    side: int = ours(28, "as MNIST is; a smaller side averages blocks of pixels")
    width: int = paper(128, "Table 1, layer 7")
    batch: int = paper(128, "App. D")
    epochs: int = paper(50, "App. D")
    factor: float = paper(0.05, "App. D: the weights of the dense layers are multiplied by it")
    biases: bool = ours(True, "the biases of the dense layers are multiplied as well")
    init: str = ours("uniform:1", "what is multiplied: PyTorch's default, uniform in ±1/√fan_in")
    lr: float = ours(1e-3, "Adam's default")
    standardise: bool = ours(
        True, "pixels have mean 0 and variance 1, as is usual; layer 7 depends on it"
    )
    stand_in: bool = ours(False, "where MNIST is missing, take the digits of scikit-learn")


@dataclass(frozen=True)
class Fig3(Images):
    sample: int = ours(300, "images of each class whose pairs are drawn; the paper does not say")


@dataclass(frozen=True)
class Fig4(Images):
    most: float = ours(0.95, "the singular values that count hold this share of ‖W₇‖²")


SMALL = {"n": 256, "side": 14, "batch": 16, "epochs": 10, "stand_in": True}
"""Images and training that take seconds."""


@PAPER.artefact("fig3", "Figure 3, App. D", Fig3, quick={**SMALL, "sample": 100}, images=True)
def fig3(s: Fig3, tell: Tell) -> Result:
    """How alike a convolutional network finds the digits 0 and 1, layer by layer.

    Each panel has the inner products of pairs of images (the first) or of what layer l makes of
    them before its ReLU (after it none is negative): of a 0 and a 1 (blue), of two 0s (orange), of
    two 1s (green). The higher the layer, the further apart they are. In layer 7, the hidden layer
    of the two dense ones, the paper finds all pairs of one class positive and all pairs of
    different classes negative: its features are orthogonally separable (1). Where ours are not,
    the claim says so.
    """
    from tacit.papers.phuong2021.drawing import likeness

    if s.sample < 2:
        raise BadInput(f"sample={s.sample} must be at least 2: pairs are drawn")
    trained = _trained_images(s, tell)
    tell("features of the images")
    X, y = trained.data.X, trained.data.y
    rows = np.concatenate([np.flatnonzero(y == label)[: s.sample] for label in (1, -1)])
    blocks = list(_features(trained.model, trained.end, X[rows]))
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
        _share_as_in_1(F, y) for F in (_top(trained.model, trained.start, X), trained.top)
    )
    trend = float(kendalltau(np.arange(len(layers)), separation).statistic)
    alike = "two images of one class have a larger inner product than two of different classes"
    apart = "mean cosine of one class less that of different ones"
    lead = separation[-1] - max(separation[:-1])
    claims = (
        _separates(trained),
        _orthogonally_separable(after, products),
        at_most("learned", f"{AS_IN_1}, before training", before, 0.6, "learned in training"),
        at_least("layer7", f"{alike}, layer 7 (probability)", order[-1], 0.99, "they part"),
        at_least("alike", f"{alike}, in the worst layer (probability)", min(order), 0.5),
        at_least("higher", f"{apart} by layer (Kendall's τ)", trend, 0.5, "grows (ours: ≥ 0.5)"),
        at_least("highest", f"{apart}, layer 7 less the next highest", lead, 0.0),
    )
    data |= {"separation": np.array(separation), "order": np.array(order)}
    data |= {"share_as_in_1": np.array([before, after])}
    return Result(claims, figure, data, trained.departures)


@PAPER.artefact("fig4", "Figure 4, App. D", Fig4, quick=SMALL, images=True)
def fig4(s: Fig4, tell: Tell) -> Result:
    """The first dense layer of the convolutional network: few singular values, three clusters.

    a) The ten largest singular values of the 128 × 3136 matrix of layer 7.

    b) Its rows in the plane of the first two: neurons with positive and with negative output weight
    in clusters of their own, and those that have hardly grown in between, near 0.
    """
    from tacit.papers.phuong2021.drawing import in_main_plane, singular_values

    if s.width < 2:
        raise BadInput(f"width={s.width} must be at least 2: two directions are shown")
    trained = _trained_images(s, tell)
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
        _separates(trained),
        true("few", text, 2 < many <= SHOWN, many, "perhaps 5 or 10"),
        at_most("lossy", "the projection keeps this share of ‖W₇‖²", held[1], 0.99, "lossy"),
        at_least("clusters", outer, own, 0.9, "two clusters (ours: ≥ 0.9)"),
        at_least("mixed", inner, _rarer(sign[~far]), 0.1, "mixed (ours: ≥ 0.1)"),
    )
    data = {"singular_values": values, "projected": layer.projected, "sign": sign}
    return Result(claims, figure, data, trained.departures)


def _layer(many: Many, i: int, part: str, sign: np.ndarray) -> Layer:
    return Layer(many.member(i, 0)[part], many.member(i)[part], sign)


def _train(s: Synthetic, model: str, runs: int, tell: Tell) -> tuple[list[Dataset], Many]:
    """Networks of the synthetic experiments, each on data of its own."""
    if s.width < 2 or s.d < 2:
        raise BadInput(f"width={s.width} and d={s.d} must be at least 2: two directions are shown")
    seeds = range(s.seed * runs, (s.seed + 1) * runs)
    sets = [load(f"orthogonal:n={s.n},d={s.d},seed={seed}") for seed in seeds]
    setting = Setting(
        model=model,
        width=s.width,
        init=f"{s.init}:{s.factor}",
        loss=s.loss,
        rule="sgd",
        lr=s.lr,
        batch=s.batch,
    )
    tell(f"training {runs} networks")
    many = train_many(
        setting, sets, s.epochs, seeds, at=[0], progress=lambda i, n: tell(f"network {i} of {n}")
    )
    return sets, many


def _max_margin_directions(data: Dataset) -> np.ndarray:
    """w₊ and w₋, two unit rows."""
    rows = []
    for label in (1, -1):
        w = class_margin(data.X, data.y, label).w  # (6), (7)
        if w is None or not w.any():
            raise BadInput(f"{data.name}: no max-margin vector for y = {label:+d}; take a larger n")
        rows.append(w / np.linalg.norm(w))
    return np.array(rows)


def _slack(data: Dataset) -> float:
    """Of (1): how far the worst cosine is from 0."""
    slack = check(data, ["orthogonally_separable"]).properties["orthogonally_separable"].slack
    assert slack is not None
    return slack


def _fitted(sets: Sequence[Dataset], many: Many) -> Claim:
    outputs = [many.outputs(data.X)[i] for i, data in enumerate(sets)]
    wrong = [float((f * data.y <= 0).mean()) for f, data in zip(outputs, sets, strict=True)]
    text = f"training error, the largest of {len(sets)} networks"
    return at_most("fitted", text, max(wrong), 0.0, "0")


def _rank(id: str, name: str, layers: Sequence[Layer]) -> Claim:
    ranks = np.array([layer.rank for layer in layers])
    text = f"singular values of {name} beyond every initial one, mean of {len(layers)} networks"
    return near(id, text, float(ranks.mean()), 2, 0.0)


def _zero(id: str, layers: Sequence[Layer]) -> Claim:
    left = [layer.values[2] / layer.values[0] if len(layer.values) > 2 else 0.0 for layer in layers]
    text = "the third singular value relative to the first, largest"
    claim = at_most(id, text, max(left), ZERO, f"effectively zero (ours: ≤ {ZERO:g})")
    if claim.holds or any(layer.rank != 2 for layer in layers):
        return claim
    finding = (
        "It is what the initial weights have left: only two singular values have grown. How large "
        "they are before they are multiplied by the factor is not said; smaller ones leave less."
    )
    return replace(claim, finding=finding)


def _two_rays(id: str, name: str, layers: Sequence[Layer]) -> Claim:
    off = float(np.mean([layer.off_rays for layer in layers]))
    text = f"{name} lie on two rays (degrees off, weighted by length, mean of {len(layers)})"
    return at_most(id, text, off, NARROW, f"two main directions (ours: ≤ {NARROW:g})")


def _most(id: str, what: str, found: Sequence[np.ndarray]) -> Claim:
    shares = np.array([(cosines > HIGH).mean() for cosines in found])
    mean = float(shares.mean())
    return Claim(
        id,
        f"share of neurons whose correlation with {what} is above {HIGH}, mean of {len(shares)}",
        "most: > 0.5",
        mean,
        mean > 0.5,
        mean_interval(shares) if len(shares) > 1 else None,
    )


def _both_on_pair(p: float) -> float:
    """The probability that neurons of both signs survive; each neuron does with ½."""
    return float(1 - 2 * 0.75**p + 0.5**p)


def _both_on_fig1(p: float) -> float:
    """The probability that there are neurons of both signs."""
    return float(1 - 2.0 ** (1 - p))


class _Case(NamedTuple):
    """Data on which networks may die."""

    name: str
    words: str
    data: Dataset
    inits: int
    formula: str
    both: Callable[[float], float]
    """Of the width p: `formula`."""


def _signs_alive(W: np.ndarray, a: np.ndarray, data: Dataset) -> np.ndarray:
    """… × 2 flags: some neuron with a > 0 (with a < 0) sees a point of its class; Lemma B.1."""
    sees = (np.matmul(W, data.X.T) > 0) & (a[..., None] * data.y > 0)
    alive = sees.any(axis=-1)
    return np.stack([(alive & (a * sign > 0)).any(axis=-1) for sign in (1, -1)], axis=-1)


def _flow_agrees(many: Many, i: int, data: Dataset, alive: np.ndarray) -> bool:
    """Gradient flow from the same weights leaves the same signs alive."""
    start = many.member(i, 0)
    path = follow(data.X, data.y, 0.0, start["W"], start["a"], log_L_end=-7.0)
    state = path.last.state
    return bool((_signs_alive(state.W, state.a, data) == alive).all())


def _draw_shares(
    left: Any,
    right: Any,
    widths: Sequence[int],
    cases: Sequence[_Case],
    data: dict[str, np.ndarray],
) -> None:
    """Shares of networks that die, and in which both signs survive, with their intervals."""
    from tacit.plot.plane import MINUS, PLUS

    p = np.linspace(min(widths), max(widths), 200)
    left.plot(p, 2.0**-p, c="black", lw=1, label="2^(−p), the bound of Theorem 1")
    for case, colour, shift in zip(cases, (PLUS, MINUS), (-1, 1), strict=True):
        survive, both = data[f"alive_{case.name}"].T
        for ax, counts in ((left, case.inits - survive), (right, both)):
            ends = np.array([share_interval(int(k), case.inits) for k in counts])
            shares = counts / case.inits
            label = f"{case.words}, {case.inits} networks each"
            at = np.array(widths) * (1 + 0.015 * shift)
            bars = np.abs(ends.T - shares)
            ax.errorbar(at, shares, bars, fmt="o", ms=4, c=colour, capsize=3, label=label)
        right.plot(p, [case.both(x) for x in p], c=colour, lw=1, label=case.formula)
    left.set_yscale("log")
    lowest = 2.0 ** -max(widths) / 10
    powers = 10.0 ** np.arange(np.ceil(np.log10(lowest)), 1)
    left.set(title="networks whose neurons all die", ylim=(lowest, 10), yticks=powers)
    right.set(title="networks with living neurons of both signs", ylim=(-0.05, 1.4))
    right.set_yticks(np.linspace(0, 1, 6))
    for ax, place in ((left, "upper right"), (right, "upper left")):
        ax.set_xscale("log", base=2)
        ax.set_xticks(widths, [str(width) for width in widths])
        ax.set(xlabel="width p", ylabel="share of networks")
        ax.legend(fontsize=8, loc=place)


@dataclass(frozen=True, eq=False)
class _Trained:
    """The convolutional network of App. D."""

    data: Dataset
    model: SixConv
    start: dict[str, np.ndarray]
    end: dict[str, np.ndarray]
    top: np.ndarray
    """f⁷ of every image, after training."""
    departures: tuple[str, ...]


def _trained_images(s: Images, tell: Tell) -> _Trained:
    """Fig. 3 and 4 are about one network: it is trained once."""
    tell("training the convolutional network")
    return _train_images(Images(**{f.name: getattr(s, f.name) for f in fields(Images)}))


@lru_cache(maxsize=1)
def _train_images(s: Images) -> _Trained:
    data, departures = _zeros_and_ones(s)
    side = round(data.d**0.5)
    model = SixConv(side)
    start = initial_weights(model, data.d, s.width, s.init, s.seed)
    for part in ("W7", "W8", *(("b7", "b8") if s.biases else ())):
        start[part] = s.factor * start[part]
    setting = Setting(
        model=f"six_conv:{side}", width=s.width, rule="adam", lr=s.lr, batch=min(s.batch, data.n)
    )
    first = {part: array[None] for part, array in start.items()}
    many = train_many(setting, data, s.epochs, [s.seed], start_at=first, single=True)
    end = many.member(0)
    return _Trained(data, model, start, end, _top(model, end, data.X), departures)


def _zeros_and_ones(s: Images) -> tuple[Dataset, tuple[str, ...]]:
    """The digits 0 (+1) and 1 (−1), and what has to be said about them."""
    departures: tuple[str, ...] = ()
    try:
        data = load(f"mnist:classes=0/1,n={s.n},seed={s.seed}")
        X = _shrink(data.X, s.side)
    except BadInput as reason:
        if not s.stand_in:
            raise
        most = load("digits:classes=0/1").n
        data = load(f"digits:classes=0/1,n={min(s.n, most)},seed={s.seed}")
        X = data.X
        departures = (f"scikit-learn's digits of 8 × 8 pixels instead of MNIST: {reason}",)
    if s.standardise:
        X = (X - X.mean()) / X.std()
    return Dataset(X, data.y, name=data.name), departures


def _shrink(X: np.ndarray, side: int) -> np.ndarray:
    """Images of 28 × 28 pixels, averaged over blocks."""
    block = 28 // max(side, 1)
    if side < 4 or block * side != 28:
        raise BadInput(f"side={side} must be 28, 14, 7 or 4")
    return X.reshape(-1, side, block, side, block).mean(axis=(2, 4)).reshape(len(X), -1)


_layers_of = jax.jit(lambda model, weights, X: model.features(weights, X), static_argnums=0)


def _features(
    model: SixConv, weights: dict[str, np.ndarray], X: np.ndarray
) -> Iterator[list[np.ndarray]]:
    """f¹, …, f⁷ of the images, a few at a time: all of them together would not fit in memory."""
    single = {part: jnp.asarray(array, jnp.float32) for part, array in weights.items()}
    for first in range(0, len(X), BLOCK):
        images = X[first : first + BLOCK]
        block = np.zeros((BLOCK, X.shape[1]), np.float32)  # of one size: it is compiled once
        block[: len(images)] = images
        yield [layer[: len(images)] for layer in _layers_of(model, single, block)]


def _top(model: SixConv, weights: dict[str, np.ndarray], X: np.ndarray) -> np.ndarray:
    """f⁷ of the images."""
    return np.concatenate([np.asarray(layers[-1]) for layers in _features(model, weights, X)])


def _separates(trained: _Trained) -> Claim:
    end = trained.end
    outputs = np.maximum(trained.top, 0) @ end["W8"][0] + end["b8"]
    wrong = float((trained.data.y * outputs <= 0).mean())
    return at_most("fitted", "training error", wrong, 0.001, "not stated (ours: ≤ 0.001)")


def _pairs(F: np.ndarray, y: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Inner products and cosines of pairs: of different classes, both 0, both 1."""
    F = np.asarray(F, dtype=np.float64)
    G = F @ F.T
    lengths = np.maximum(np.sqrt(np.diag(G)), 1e-300)
    C = G / np.outer(lengths, lengths)
    i, j = np.triu_indices(len(y), 1)
    kinds = (y[i] != y[j], (y[i] == 1) & (y[j] == 1), (y[i] == -1) & (y[j] == -1))
    return [G[i[k], j[k]] for k in kinds], [C[i[k], j[k]] for k in kinds]


def _share_as_in_1(F: np.ndarray, y: np.ndarray) -> float:
    """The share of pairs i ≠ j that satisfy (1)."""
    n, good = len(F), 0
    for first in range(0, n, 1000):
        block = slice(first, first + 1000)
        G = F[block] @ F.T
        good += int(np.where(y[block, None] == y, G > 0, G <= 0).sum())  # (1)
    return (good - int((F != 0).any(axis=1).sum())) / (n * (n - 1))


def _orthogonally_separable(share: float, products: Sequence[np.ndarray]) -> Claim:
    """(1) in layer 7, for every pair; and what is known where almost only 0 with 1 spoils it."""
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


def _on_own_side(rows: np.ndarray, sign: np.ndarray) -> float:
    """The share of rows on the side of the mean of their sign, the two means apart; 0 if alone."""
    if not ((sign > 0).any() and (sign < 0).any()):
        return 0.0
    plus, minus = rows[sign > 0].mean(axis=0), rows[sign < 0].mean(axis=0)
    side = (rows - (plus + minus) / 2) @ (plus - minus)
    return float((side * sign > 0).mean())


def _rarer(sign: np.ndarray) -> float:
    """The share of the rarer sign; 0 of none."""
    return float(min((sign > 0).mean(), (sign < 0).mean())) if len(sign) else 0.0
