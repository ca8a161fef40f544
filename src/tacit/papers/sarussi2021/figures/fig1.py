"""Figure 1: small initial weights learn a line and two clusters, large ones learn neither."""

from dataclasses import dataclass

import numpy as np

from tacit.data import load
from tacit.measures.plane import bend, circle
from tacit.papers.sarussi2021.drawing import points, rays, regions
from tacit.papers.sarussi2021.figures import PAPER
from tacit.papers.sarussi2021.figures.several_runs import mean_of_runs
from tacit.papers.sarussi2021.figures.trained_networks import (
    APART,
    TrainedSettings,
    measured,
    member_seeds,
    sgd,
    snapshot,
)
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell, ours, paper
from tacit.reproduction.claims import at_least, at_most
from tacit.training import train_many


@dataclass(frozen=True)
class Fig1(TrainedSettings):
    small: float = paper(1e-3, "Fig. 1")
    large: float = paper(30.0, "Fig. 1")
    n: int = ours(100, "the paper shows points and does not count them")
    distance: float = ours(3.0, "the means are ±distance on the first axis")
    std: float = ours(1.0, "the spread of the Gaussians")
    margin: float = ours(1.0, "points nearer than this to the second axis are excluded")
    lr: float = ours(0.05, "the large start is fitted, and no step is coarse")
    epochs: int = ours(3000, "every run fits its points by then")
    runs: int = ours(20, APART + "; the first is drawn")


@PAPER.artefact("fig1", "Figure 1, §1", Fig1, quick={"epochs": 1000, "runs": 8})
def fig1(s: Fig1, tell: Tell) -> Exhibit:
    """Small initial weights learn a line and two clusters, large ones learn neither.

    Above are the decisions of a network that was trained from large and from small initial
    weights, below the directions of its neurons. N is homogeneous, so its boundary is made of rays
    from 0: the bend is the angle by which it misses being a line. It is the share of directions
    that the best linear classifier labels differently, in degrees of the circle.
    """
    spread = f"distance={s.distance},std={s.std},margin={s.margin}"
    data = load(f"gaussians:n={s.n},d=2,{spread},seed={s.seed}")
    figure, axes = new_figure(2, 2, sharex="row", sharey="row")
    bends, angle, error = {}, {}, {}
    for column, (size, std) in enumerate({"large": s.large, "small": s.small}.items()):
        tell(f"{s.runs} networks from {size} initial weights")
        many = train_many(data, sgd(s, std, s.lr), s.epochs, member_seeds(s, s.runs))
        networks = [snapshot(many, data, i) for i in range(s.runs)]
        bends[size] = np.array([bend(np.sign(N.outputs(circle()))) for N in networks])
        angle[size] = np.degrees(measured(many, data, "cluster_angle")[:, -1])
        error[size] = measured(many, data, "train_error")[:, -1]
        above, below = axes[:, column]
        regions(above, networks[0].outputs, 1.1 * float(np.abs(data.X).max()))
        points(above, data.X, data.y)
        rays(below, networks[0].W, networks[0].a)
        above.set_title(f"decision, {size} start (std {std:g})")
        below.set_title(f"neurons, {size} start (std {std:g})")
        for ax in (above, below):
            ax.legend(fontsize=8, loc="upper right")
    worst = max(float(one.max()) for one in error.values())
    bent, wide = "bend of the boundary in degrees, mean", "widest angle in a cluster, mean"
    mean = mean_of_runs
    claims = (
        at_most("fits", "every network fits its points: largest error", worst, 0.0),
        mean(at_most, "linear", f"small start: {bent}", bends["small"], 1.0, "linear"),
        mean(at_least, "bent", f"large start: {bent}", bends["large"], 5.0, "not linear"),
        mean(at_most, "tight", f"small start: {wide}", angle["small"], 5.0, "tight"),
        mean(at_least, "loose", f"large start: {wide}", angle["large"], 90.0, "none"),
    )
    arrays = {f"bend_{size}": one for size, one in bends.items()}
    arrays |= {f"cluster_angle_{size}": one for size, one in angle.items()}
    return Exhibit(claims, figure, {"X": data.X, "y": data.y, **arrays})
