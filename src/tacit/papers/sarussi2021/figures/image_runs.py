"""Networks on pairs of digits: what Figures 2, 6 and 7 share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.data import load
from tacit.numerics.max_margin import max_margin
from tacit.papers.sarussi2021.figures.torn_clusters import Tear, tear
from tacit.papers.sarussi2021.figures.trained_networks import (
    APART,
    TrainedSettings,
    measured,
    member_seeds,
    sgd,
    snapshot,
    train_by_updates,
)
from tacit.reproduction.artefact import Claim, Tell, ours
from tacit.reproduction.claims import true
from tacit.values import BadInput, Dataset


@dataclass(frozen=True)
class ImageRuns(TrainedSettings):
    width: int = ours(100, "as in Fig. 1")
    alpha: float = ours(0.5, "any slope between 0 and 1; Figure 2d shows what others change")
    small: float = ours(1e-6, "small against the weights that are learned, in 784 dimensions too")
    lr: float = ours(5e-4, "the paper gives none; Figure 2d shows what others change")
    n: int = ours(4000, "a random subset: all of MNIST 3/5 is not linearly separable")
    test: int = ours(1500, "points of the test set, which count too")
    epochs: int = ours(100, "the paper gives none")
    runs: int = ours(3, APART)
    few: float = ours(0.01, "share of the points that counts as none")
    stand_in: bool = ours(False, "whether scikit-learn's digits may stand in for missing MNIST")


QUICK_IMAGES = {"n": 400, "test": 400, "epochs": 80, "runs": 1, "stand_in": True}


def image_sets(
    s: ImageRuns, pairs: Sequence[str], d: int | None = None
) -> tuple[dict[str, Dataset], tuple[str, ...]]:
    """The data sets by name, with Gaussians of dimension d first, and what stands in for them."""
    sets, departures = {}, []
    if d is not None:
        sets["Gaussians"] = load(f"gaussians:n={s.n},d={d},test={s.test},seed={s.seed}")
    for pair in pairs:
        try:
            sets[f"MNIST {pair}"] = load(
                f"mnist:classes={pair},n={s.n},test={s.test},seed={s.seed}"
            )
        except BadInput as missing:
            if not (s.stand_in and str(missing).startswith("MNIST is not here")):
                raise
            few = min(s.n, 200), min(s.test, 150)
            text = f"digits:classes={pair},n={few[0]},test={few[1]},seed={s.seed}"
            sets[f"digits {pair}"] = load(text)
            departures.append(f"MNIST is not here: {text} stands in for it")
    return sets, tuple(departures)


class TrainedSets(NamedTuple):
    """Networks trained on several sets."""

    updates: dict[str, np.ndarray]
    """Set → the moments that were kept."""
    lines: dict[str, dict[str, np.ndarray]]
    """Measure → set → runs × moments."""
    tears: dict[str, list[Tear | None]]
    """Set → what tears a cluster of each run at the end."""


def train_on_all(
    s: ImageRuns, sets: dict[str, Dataset], std: float, measures: Sequence[str], tell: Tell
) -> TrainedSets:
    """Train on every set, and measure."""
    trained = TrainedSets({}, {measure: {} for measure in measures}, {})
    for name, data in sets.items():
        tell(f"{name}, std {std:g}")
        seeds = member_seeds(s, s.runs)
        many = train_by_updates(data, sgd(s, std, s.lr), s.epochs, seeds, 28)
        trained.updates[name] = many.at
        trained.tears[name] = [tear(snapshot(many, data, i)) for i in range(many.size)]
        for measure in measures:
            trained.lines[measure][name] = measured(many, data, measure)
    return trained


def separable(sets: dict[str, Dataset]) -> Claim:
    """What the paper assumes of its data."""
    margins = [max_margin(data.y[:, None] * data.X) for data in sets.values()]
    least = min(one.margin_bounds.lower for one in margins)
    text = "the training sets are linearly separable, smallest margin"
    return true("separable", text, all(one.status == "separable" for one in margins), least, "> 0")


def as_id(name: str) -> str:
    """The name of a set as part of a claim's id: `mnist_3_5`."""
    return name.lower().replace(" ", "_").replace("/", "_")
