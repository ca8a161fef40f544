"""Figure 7: two measures of clustering go to 0 during training."""

from dataclasses import dataclass

import numpy as np

from tacit.papers.sarussi2021.drawing import curves, mark_first_epoch
from tacit.papers.sarussi2021.figures import PAPER
from tacit.papers.sarussi2021.figures.image_runs import (
    QUICK_IMAGES,
    ImageRuns,
    as_id,
    image_sets,
    train_on_all,
)
from tacit.papers.sarussi2021.figures.torn_clusters import why_wider
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Tell, Whose, ours
from tacit.reproduction.claims import at_most, explained


@dataclass(frozen=True)
class Fig7(ImageRuns):
    few: float = ours(0.01, "radians, and radii as a part of ‖w̄−ū‖, that count as 0")
    pairs: tuple[str, ...] = ours(("0/1", "3/5"), "as in Fig. 2")
    d: int = ours(50, "of the Gaussian data, as in Fig. 8: means ±3, std 1, margin 1")


PANELS = {
    "cluster_angle": ("(a) largest angle between neurons of one type", "angle (rad)"),
    "cluster_radius_relative": ("(b) radius of the clusters", "r/‖w̄−ū‖"),
}


@PAPER.artefact("fig7", "Figure 7, App. D.3", Fig7, quick=QUICK_IMAGES)
def fig7(s: Fig7, tell: Tell) -> Exhibit:
    """Two measures of clustering go to 0 during training.

    (a) the largest angle between two neurons of one type, (b) the radius r of the clusters
    relative to the distance ‖w̄−ū‖ of their centres. Both axes are logarithmic: the way to 0 is as
    slow as the growth of the weights, which is that of log(1/loss). On 3/5 both may rise again
    after 100,000 updates: the w neurons come to the hyperplane of an image that is misclassified
    still, and those on its positive side learn more from it than the others. Which run meets one is
    chance: with the points in other orders, none or all of three had by 400,000 updates, and of the
    first three two by 3,200,000, with other images.
    """
    sets, departures = image_sets(s, s.pairs, s.d)
    updates, lines, tears = train_on_all(s, sets, s.small, tuple(PANELS), tell)
    figure, axes = new_figure(1, 2, size=(10.4, 4.4))
    claims: list[Claim] = []
    arrays: dict[str, np.ndarray] = {}
    for ax, (measure, (title, label)) in zip(axes[0], PANELS.items(), strict=True):
        curves(ax, updates, lines[measure])
        mark_first_epoch(ax, s.n)
        ax.set(title=title, ylabel=label, yscale="log")
        arrays |= {f"{measure}_{as_id(name)}": line for name, line in lines[measure].items()}
        last = max(float(line[:, -1].max()) for line in lines[measure].values())
        fallen, name, run = max(
            (float(line[run, -1] / line[run, updates[name] == sets[name].n][0]), name, run)
            for name, line in lines[measure].items()
            for run in range(s.runs)
        )
        why = why_wider(name, lines[measure][name][run], tears[name][run])
        down = f"{label} at the end relative to the end of epoch 1, largest"
        falls = at_most(f"{measure}_falls", down, fallen, 0.5, "→ 0")
        claims += [
            at_most(measure, f"{label} at the end, largest", last, s.few, "→ 0"),
            explained(falls, why, Whose.OPEN),
        ]
    return Exhibit(
        tuple(claims), figure, {"updates": updates[next(iter(updates))], **arrays}, departures
    )
