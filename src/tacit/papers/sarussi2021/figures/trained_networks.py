"""The networks that the figures train, and what is measured on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tacit.measures import MEASURES, Snapshot
from tacit.models.losses import Logistic
from tacit.reproduction.artefact import Settings, ours, paper
from tacit.training import Many, train_many
from tacit.values import Dataset, Setting

APART = "runs differ in their initial weights and in the order of the points"


@dataclass(frozen=True)
class TrainedSettings(Settings):
    """What every trained network of the paper has."""

    width: int = paper(100, "Fig. 1, 4, 8, 9")
    alpha: float = ours(0.2, "any slope between 0 and 1")
    v: float = ours(0.1, "1/√100; only v·std and v²·lr matter")


def sgd(s: TrainedSettings, std: float, lr: float) -> Setting:
    """The network (1) and its training, §3."""
    return Setting(
        activation=f"leaky:{s.alpha}",
        train="first",
        width=s.width,
        init=f"gaussian:{std}",
        output_weight=s.v,
        rule="sgd",
        lr=lr,
    )


def member_seeds(s: Settings, runs: int) -> list[int]:
    """The seeds of the runs; artefacts with different seeds share none of them."""
    return [1000 * s.seed + i for i in range(runs)]


def log_spaced_epochs(epochs: int, about: int) -> list[int]:
    """Choose `about` so many epochs, evenly spread in log time, 1 and the last included."""
    return np.unique(np.geomspace(1, epochs, about).round().astype(int)).tolist()


def train_by_updates(
    data: Dataset, setting: Setting, epochs: int, seeds: Sequence[int], kept: int
) -> Many:
    """Networks whose `at` counts updates, with many moments within the first epoch.

    An epoch of SGD with batches of one visits every point once, in random order. The first one is
    cut into pieces, each an epoch on its own points: the order is as random as that of the whole.
    About `kept` moments are evenly spread in log time.
    """
    n, orders = data.n, [np.random.default_rng([seed, 1]).permutation(data.n) for seed in seeds]
    ends = np.unique(np.geomspace(1, n, kept // 2).round().astype(int))
    kept_weights, at, weights = [], [0], None
    for first, last in pairwise([0, *ends.tolist()]):
        parts = [Dataset(data.X[order[first:last]], data.y[order[first:last]]) for order in orders]
        piece = train_many(parts, setting, 1, seeds, (0,), weights)
        kept_weights += [piece.weights] if first == 0 else [_last(piece)]
        weights = piece.last
        at.append(last)
    later = [t - 1 for t in log_spaced_epochs(epochs, kept // 2) if t > 1]
    rest = train_many(data, setting, epochs - 1, seeds, later, weights)
    kept_weights.append(rest.weights)
    merged = {k: np.concatenate([one[k] for one in kept_weights]) for k in rest.weights}
    return replace(rest, at=np.array([*at, *(n * (rest.at + 1))]), weights=merged)


def _last(many: Many) -> dict[str, np.ndarray]:
    """The weights at the end, as one kept moment."""
    return {part: array[-1:] for part, array in many.weights.items()}


def snapshot(many: Many, data: Dataset, i: int, t: int = -1, kind: str = "") -> Snapshot:
    """One member at one kept epoch; with `kind` only its w or its u neurons."""
    weights = many.member(i, t)
    if kind:
        chosen = weights["a"] > 0 if kind == "w" else weights["a"] < 0
        weights = {part: array[chosen] for part, array in weights.items()}
    return Snapshot(many.model, Logistic(), weights, data)


def measured(many: Many, data: Dataset, name: str, kind: str = "") -> np.ndarray:
    """A measure of every member at every kept epoch: members × T."""
    times, compute = range(len(many.at)), MEASURES[name]
    return np.array(
        [[compute(snapshot(many, data, i, t, kind)) for t in times] for i in range(many.size)]
    )


def shares_in_par(many: Many, data: Dataset) -> dict[str, np.ndarray]:
    """The share of w and of u neurons that classify every point like y and −y: members × T."""
    kinds = {"w": "par_ratio_positive", "u": "par_ratio_negative"}
    return {kind: measured(many, data, name) for kind, name in kinds.items()}


def by_neurons(lines: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The lines of w and u with the names of a legend."""
    return {f"{kind} neurons": line for kind, line in lines.items()}
