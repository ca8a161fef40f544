"""The networks that the figures train, and what is measured on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.measures import MEASURES, Snapshot
from tacit.models.losses import Logistic
from tacit.reproduction.artefact import Settings, ours, paper
from tacit.training import Many
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
    """About so many epochs, evenly spread in log time, 1 and the last included."""
    return np.unique(np.geomspace(1, epochs, about).round().astype(int)).tolist()


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
