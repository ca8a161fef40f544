"""Figure 2: the share of points outside the linear region of Theorem 5.1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.papers.sarussi2021.drawing import curves, shares_down_to_zero
from tacit.papers.sarussi2021.figures import PAPER
from tacit.papers.sarussi2021.figures.image_runs import (
    QUICK_IMAGES,
    ImageRuns,
    as_id,
    image_sets,
    separable,
    train_on_all,
)
from tacit.papers.sarussi2021.figures.worded_claims import by_our_bound
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell, ours, paper
from tacit.reproduction.claims import at_least, at_most


@dataclass(frozen=True)
class Fig2(ImageRuns):
    large: float = ours(0.1, "large against the weights that are learned")
    pairs: tuple[str, ...] = paper(("0/1", "3/5"), "Fig. 2, App. D.2")
    d: int = ours(50, "of the Gaussian data, as in Fig. 8: means ±3, std 1, margin 1")


@PAPER.artefact("fig2", "Figure 2, §5.1", Fig2, quick={**QUICK_IMAGES, "epochs": 160})
def fig2(s: Fig2, tell: Tell) -> Exhibit:
    """The share of points outside the linear region of Theorem 5.1 falls to 0, or stays at 1.

    At each epoch r is the radius of the two clusters of neurons, and a point is in the linear
    region if |(w̄−ū)·x| ≥ 2r‖x‖. Training and test points count. From a small start (left) nearly
    all points are in it soon, from a large one (right) none ever is. Below 1% the axis is linear.
    Training need not have fitted every point by then: how many are wrong is among the claims.
    """
    sets, departures = image_sets(s, s.pairs, s.d)
    figure, axes = new_figure(1, 2, size=(10.4, 4.2), sharey=True)
    claims = [separable(sets)]
    arrays: dict[str, np.ndarray] = {}
    wrong: list[float] = []
    for ax, size, std in zip(axes[0], ("small", "large"), (s.small, s.large), strict=True):
        epochs, lines = train_on_all(s, sets, std, ("nonlinear_share", "train_error"), tell)
        shares = lines["nonlinear_share"]
        curves(ax, epochs, shares)
        shares_down_to_zero(ax, f"{size} start (std {std:g})")
        arrays |= {f"{size}_{as_id(name)}": share for name, share in shares.items()}
        wrong += [float(error[:, -1].max()) for error in lines["train_error"].values()]
        if size == "small":
            for name, share in shares.items():
                text, last = f"{name}, small start: share at the end, largest", share[:, -1].max()
                id = f"small_{as_id(name)}"
                claims.append(by_our_bound(at_most, id, text, last, s.few, "→ 0"))
        else:
            least = min(float(share.min()) for share in shares.values())
            text = "large start: smallest share of all sets and epochs"
            claims.append(by_our_bound(at_least, "large", text, least, 0.5, "not → 0"))
    text = "both starts are trained: largest training error at the end"
    claims.append(by_our_bound(at_most, "trained", text, max(wrong), 0.1, "not stated"))
    return Exhibit(tuple(claims), figure, {"epochs": epochs, **arrays}, departures)
