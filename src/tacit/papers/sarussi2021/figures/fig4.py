"""Figure 4: in the Perfect Agreement Regime, the convex program (7) predicts what is learned."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.data import load
from tacit.flow import binary_limit
from tacit.measures import MEASURES
from tacit.measures.plane import bend, circle
from tacit.papers.sarussi2021.drawing import arrow, points, rays, regions
from tacit.papers.sarussi2021.figures import PAPER
from tacit.papers.sarussi2021.figures.angles import angle
from tacit.papers.sarussi2021.figures.trained_networks import (
    TrainedSettings,
    member_seeds,
    sgd,
    snapshot,
)
from tacit.papers.sarussi2021.figures.worded_claims import by_our_bound, explained
from tacit.papers.sarussi2021.perfect_agreement import par
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell, ours
from tacit.reproduction.claims import at_most, true
from tacit.training import train_many
from tacit.values import BadInput


@dataclass(frozen=True)
class Fig4(TrainedSettings):
    n: int = ours(200, "the paper shows points and does not count them")
    distance: float = ours(1.0, "means ±distance on the first axis; with 3, 10 degrees remained")
    std: float = ours(1.0, "the spread of the Gaussians")
    margin: float = ours(1.0, "points nearer than this to the second axis are excluded")
    start: float = ours(1e-3, "as the small start of Fig. 1")
    lr: float = ours(0.1, "the paper gives none")
    epochs: int = ours(5000, "the direction converges like 1/log(1/loss) in the end")
    near: float = ours(5.0, "degrees that count as excellent agreement")


GREEN = "#2a7f3f"


@PAPER.artefact("fig4", "Figure 4, §6.3", Fig4, quick={"epochs": 1000})
def fig4(s: Fig4, tell: Tell) -> Exhibit:
    """The Perfect Agreement Regime: what is learned is what the convex program (7) predicts.

    On the left the learned decision, and as a green arrow the normal of the boundary that (7)
    predicts without training. On the right the learned neurons and the two vectors of (7), all as
    unit vectors. Some degrees remain, as they must: with the default data and seed, even the w of
    least loss among all (w, u) of one norm is 5.5 degrees from (7) at a loss of e⁻²⁰ and within
    half a degree only at e⁻¹⁴⁰. The limit of gradient flow, which Theorem 6.2 is about, is computed
    as well.
    """
    spread = f"distance={s.distance},std={s.std},margin={s.margin}"
    data = load(f"gaussians:n={s.n},d=2,{spread},seed={s.seed}")
    predicted = par(data.X, data.y, s.alpha)  # (7)
    w, u, boundary = predicted.w, predicted.u, predicted.boundary
    if w is None or u is None or boundary is None:
        raise BadInput(f"sarussi2021:fig4: margin={s.margin} leaves no two classes to separate")
    tell(f"SGD for {s.epochs} epochs")
    setting, seeds = sgd(s, s.start, s.lr), member_seeds(s, 1)
    learned = snapshot(train_many(data, setting, s.epochs, seeds), data, 0)
    tell("the limit of gradient flow")
    limit = binary_limit(data, replace(setting, rule="flow"), seed=seeds[0], seconds=120.0)
    centres = [group.mean(axis=0) for group in learned.groups]
    off = np.degrees(angle(centres[0] - centres[1], boundary))
    pairs = zip(learned.groups, (w, u), strict=True)
    apart = np.degrees(max(angle(row, vector) for group, vector in pairs for row in group))
    reached = np.inf
    if limit.network is not None:
        both = np.where(limit.network.a[:, None] > 0, w, u)
        reached = float(np.degrees(angle(limit.network.W.ravel(), both.ravel())))

    figure, ((left, right),) = new_figure(1, 2, size=(9.6, 4.8))
    regions(left, learned.outputs, 1.1 * float(np.abs(data.X).max()))
    points(left, data.X, data.y)
    arrow(left, 2 * boundary, GREEN, "normal predicted by (7)")
    rays(right, learned.W, learned.a)
    arrow(right, w / np.linalg.norm(w), GREEN, "w of (7)")
    arrow(right, u / np.linalg.norm(u), "black", "u of (7)")
    for ax, whose in ((left, "decision"), (right, "neurons")):
        ax.set_title(f"learned {whose} and PAR solution")
        ax.legend(fontsize=8, loc="upper right")

    margin = float(MEASURES["par"](learned))
    bent = bend(np.sign(learned.outputs(circle())))
    to = "degrees to the solution of (7)"
    claims = (
        true("par", "smallest margin of a learned neuron in the PAR", margin > 0, margin, "> 0"),
        by_our_bound(at_most, "linear", "bend of the learned boundary", bent, 1.0, "linear"),
        by_our_bound(at_most, "boundary", f"learned boundary, {to}", off, s.near, "agrees"),
        explained(
            by_our_bound(at_most, "neurons", f"learned neurons, {to}", apart, s.near, "agree"),
            margin > 0 and reached <= 1e-4,
            "The loss is not small enough: the neurons are in the PAR, and the limit of gradient "
            "flow from the same weights is the solution of (7).",
        ),
        by_our_bound(at_most, "limit", f"limit of gradient flow, {to}", reached, 1e-4, "equal"),
    )
    arrays = {"X": data.X, "y": data.y, "W": learned.W, "a": learned.a, "w": w, "u": u}
    return Exhibit(claims, figure, arrays)
