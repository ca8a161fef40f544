"""Filters of networks on MNIST: what Figures 4, 7 and 8 share."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import ks_2samp

from tacit.data import load
from tacit.data.clusters import cluster_centres
from tacit.models import parse_model
from tacit.models.initialisations import initial_weights
from tacit.papers.brutzkus2019.drawing import curves, histograms
from tacit.papers.brutzkus2019.figures.intervals import mean_errors
from tacit.papers.brutzkus2019.figures.seeds import network_seeds
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Settings, Tell, ours, paper
from tacit.reproduction.claims import at_most
from tacit.training import Many, train_many
from tacit.values import BadInput, Dataset, Setting


@dataclass(frozen=True)
class ImageFilters(Settings):
    """The values are those of Figure 4."""

    filter: int = paper(3, "§7")
    n: int = paper(6000, "§7: images of panel (a)")
    sizes: tuple[int, ...] = ours((1000, 2000, 4000, 6000), "§7: “various training set sizes”")
    channels: int = paper(120, "§7")
    centres: int = paper(4, "§7; also the channels of the small network")
    lr: float = paper(0.01, "App. H")
    sigma: float = paper(0.05, "App. H: truncated normal")
    batches: int = paper(10, "App. H: a batch is one tenth of the training set")
    rates: tuple[float, ...] = paper((0.01, 0.01, 0.05, 0.05, 0.1, 0.1), "App. H: the small one")
    sigmas: tuple[float, ...] = paper((0.01, 0.05, 0.05, 0.01, 0.5, 0.1), "App. H, in that order")
    runs: int = paper(20, "App. H: of every small network")
    epochs: int = ours(100, "the training error is then zero or nearly so")
    test: int = ours(10000, "all test images")
    stand_in: bool = ours(False, "small digits of scikit-learn where MNIST is missing (--quick)")


QUICK_IMAGES = {"n": 300, "sizes": (300,), "channels": 40, "runs": 3, "epochs": 30, "test": 1000}
QUICK_IMAGES |= {"rates": (0.01, 0.05), "sigmas": (0.05, 0.05), "stand_in": True}
OPEN = (
    "what the paper leaves open of the network: zeros around the image, a bias of the dense layer, "
    "cross-entropy of the softmax",
    "the filters are clustered at length 1, as for panel (a); the small network has these centres",
)
STAND_IN = "MNIST is not here: the digits of scikit-learn, 8 × 8 pixels, stand in"


def compare_filters(s: ImageFilters, tell: Tell) -> Exhibit:
    """Train the large network and the small ones at every size, and compare them."""
    if len(s.rates) != len(s.sigmas):
        raise BadInput(f"{len(s.rates)} rates and {len(s.sigmas)} sigmas; they must be pairs")
    angles: dict[str, np.ndarray] = {}
    errors: dict[str, list[np.ndarray]] = {"small": [], "clusters": [], "large": []}
    for n in sorted({*s.sizes, s.n}):
        data = _images(s, n)
        tell(f"{n} images: {s.channels} channels")
        large = train_images(s, data, s.channels, s.lr, s.sigma, network_seeds(s, 1))
        filters = {
            name: _unit(large.member(0, t)["W"]) for name, t in (("trained", -1), ("random", 0))
        }
        centres = {name: cluster_centres(W, s.centres, s.seed) for name, W in filters.items()}
        if n == s.n:
            angles = {name: _closest(W, centres[name]) for name, W in filters.items()}
        if n not in s.sizes:
            continue
        errors["large"].append(_test_errors(large, data))
        tell(f"{n} images: {s.centres} channels, {s.runs} times from the centres")
        seeds = network_seeds(s, s.runs)
        few = train_images(s, data, s.centres, s.lr, s.sigma, seeds, centres["trained"])
        errors["clusters"].append(_test_errors(few, data))
        usual = []
        for lr, sigma in zip(s.rates, s.sigmas, strict=True):
            tell(f"{n} images: {s.centres} channels, {s.runs} times, lr = {lr:g}, σ = {sigma:g}")
            usual.append(_test_errors(train_images(s, data, s.centres, lr, sigma, seeds), data))
        errors["small"].append(min(usual, key=np.mean))
    rows = {name: 100 * mean_errors(samples) for name, samples in errors.items()}
    rows["large"][:, 1:] = np.nan  # trained once
    return draw_and_judge(s, rows, angles, OPEN if data.d == 784 else (*OPEN, STAND_IN))


def draw_and_judge(
    s: ImageFilters,
    rows: dict[str, np.ndarray],
    angles: dict[str, np.ndarray],
    departures: tuple[str, ...],
) -> Exhibit:
    """The picture and the claims, from test errors (%) at each size and the filters' angles."""
    figure, ((left, right),) = new_figure(1, 2, size=(12, 4.6))
    title = f"(a) {s.channels} filters of {s.filter}×{s.filter}, {s.n} images"
    medians = {name: float(np.median(degrees)) for name, degrees in angles.items()}
    marks = {f"median, {name}": number for name, number in medians.items()}
    axes = ("angle to the closest centre (°)", "share of filters")
    histograms(left, angles, marks, title, axes)
    names = {"small": f"small, {s.centres} channels", "large": f"large, {s.channels} channels"}
    names["clusters"] = f"small, filters are {s.centres} centres of the large"
    named, axes = {names[k]: row for k, row in rows.items()}, ("training images", "test error (%)")
    curves(right, s.sizes, named, "(b) test error by training set size", axes)
    claims = (*_angle_claims(angles, medians), *_error_claims(s, rows))
    if STAND_IN in departures:  # the paper speaks of MNIST
        claims = tuple(c if c.holds or c.finding else replace(c, finding=STAND_IN) for c in claims)
    out = {"sizes": np.array(s.sizes), **rows, **{f"angles_{k}": v for k, v in angles.items()}}
    return Exhibit(claims, figure, out, departures)


def _angle_claims(angles: dict[str, np.ndarray], medians: dict[str, float]) -> tuple[Claim, ...]:
    """Panel (a): trained filters are closer to their centres than random ones."""
    text = "median angle in degrees of a trained filter to its centre, against random filters"
    same = "probability of such a difference if both angles had one distribution (KS test)"
    p = float(ks_2samp(angles["trained"], angles["random"]).pvalue)
    return (
        at_most("closer", text, medians["trained"], medians["random"]),
        at_most("differ", same, p, 0.01),
    )


def _error_claims(s: ImageFilters, rows: dict[str, np.ndarray]) -> tuple[Claim, ...]:
    """Panel (b): from the centres of the large network, the small one nearly matches it."""
    few, small, large = (rows[name][:, 0] for name in ("clusters", "small", "large"))
    half = float(np.linalg.norm(rows["clusters"][:, 2] - few)) / len(few)
    mean, halfway = float(few.mean()), float(small.mean() + large.mean()) / 2
    sizes = "training sizes at which the small network is no better on average from the centres"
    text = "test error (%) of the small network from the centres of the large one, on average over "
    text += "the sizes at most halfway between the large and the small one (“nearly matches”)"
    nearly = replace(at_most("nearly", text, mean, halfway), interval=(mean - half, mean + half))
    better = at_most("better", sizes, int((few >= small).sum()), 0)
    undecided = f"Not decided: the 99% interval of {s.runs} runs from the centres reaches"
    if not nearly.holds and mean - half <= halfway:
        nearly = replace(nearly, finding=f"{undecided} halfway.")
    elif not nearly.holds and better.holds and s.filter != 3:
        gained = (small.mean() - mean) / (small.mean() - large.mean())
        nearly = replace(
            nearly,
            finding="The paper says so of 3×3 filters (Fig. 4) only. From the centres the small "
            f"network gains {gained:.0%} of what the large one is ahead, at every size something.",
        )
    if not better.holds and (rows["clusters"][:, 1] < small).all():
        better = replace(better, finding=f"{undecided} below the other average at every size.")
    return better, nearly


def _images(s: ImageFilters, n: int) -> Dataset:
    """n training images and the test images."""
    try:
        return load(f"mnist:n={n},test={s.test},seed={s.seed}")
    except BadInput:
        if not s.stand_in:
            raise
        return load(f"digits:n={n},test={min(s.test, 1797 - n)},seed={s.seed}")


def train_images(
    s: ImageFilters,
    data: Dataset,
    channels: int,
    lr: float,
    sigma: float,
    seeds: list[int],
    filters: np.ndarray | None = None,
) -> Many:
    """Adam on the cross-entropy, in float32; `filters`, where given, are kept as they are."""
    model = f"image_cnn:{s.filter}:{math.isqrt(data.d)}:10"
    setting = Setting(
        model=model if filters is None else f"{model}:0",
        width=channels,
        init=f"truncated:{sigma!r}",
        loss="softmax",
        rule="adam",
        lr=lr,
        batch=max(data.n // s.batches, 1),
    )
    start = None
    if filters is not None:
        whole = parse_model(model)
        drawn = [initial_weights(whole, data.d, channels, setting.init, seed) for seed in seeds]
        start = {part: np.stack([one[part] for one in drawn]) for part in drawn[0]}
        start["W"] = np.broadcast_to(filters, start["W"].shape)
    return train_many(data, setting, s.epochs, seeds, (0,), start, single=True)


def _test_errors(many: Many, data: Dataset) -> np.ndarray:
    assert data.test is not None
    outputs = many.outputs(data.test.X.astype(np.float32))
    return (outputs.argmax(axis=2) != data.test.y).mean(axis=1)


def _unit(W: np.ndarray) -> np.ndarray:
    W = W.astype(np.float64)
    return W / np.maximum(np.linalg.norm(W, axis=1, keepdims=True), 1e-300)


def _closest(filters: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """The angle in degrees of every filter (of length 1) to the centre it is closest to."""
    return np.degrees(np.arccos(np.clip(filters @ _unit(centres).T, -1, 1).max(axis=1)))
