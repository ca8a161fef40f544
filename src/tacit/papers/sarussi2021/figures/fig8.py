"""Figure 8: on high-dimensional Gaussians every neuron enters the Perfect Agreement Regime."""

from dataclasses import dataclass

from tacit.data import load
from tacit.papers.sarussi2021.drawing import U_COLOUR, W_COLOUR, curves, mark_first_epoch
from tacit.papers.sarussi2021.figures import PAPER
from tacit.papers.sarussi2021.figures.trained_networks import (
    APART,
    TrainedSettings,
    by_neurons,
    member_seeds,
    sgd,
    shares_in_par,
    train_by_updates,
)
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell, ours, paper
from tacit.reproduction.claims import at_least, at_most


@dataclass(frozen=True)
class Fig8(TrainedSettings):
    n: int = paper(400, "Fig. 8")
    d: int = paper(50, "Fig. 8")
    lr: float = paper(1e-3, "Fig. 8")
    distance: float = ours(3.0, "the means are ±distance on the first axis")
    std: float = ours(1.0, "the spread of the Gaussians")
    margin: float = ours(1.0, "what makes the Gaussians separable")
    start: float = ours(1e-3, "as in Fig. 1; from 0.003 and 0.01 some runs needed longer")
    epochs: int = ours(200, "long after the entrance")
    runs: int = ours(10, APART)


@PAPER.artefact("fig8", "Figure 8, App. I", Fig8, quick={"epochs": 40, "runs": 5})
def fig8(s: Fig8, tell: Tell) -> Exhibit:
    """High-dimensional Gaussians: every neuron enters the Perfect Agreement Regime.

    The curves are the shares of w neurons that classify all training points like y, and of u
    neurons that classify them like −y; bands go from the smallest to the largest of the runs. The
    axis counts updates, as all of this happens within the first epoch (dotted).
    """
    spread = f"distance={s.distance},std={s.std},margin={s.margin}"
    data = load(f"gaussians:n={s.n},d={s.d},{spread},seed={s.seed}")
    tell(f"{s.runs} networks")
    setting, seeds = sgd(s, s.start, s.lr), member_seeds(s, s.runs)
    many = train_by_updates(data, setting, s.epochs, seeds, 40)
    share = shares_in_par(many, data)
    figure, ((ax,),) = new_figure(size=(6.4, 4.2))
    curves(ax, many.at, by_neurons(share), (W_COLOUR, U_COLOUR))
    mark_first_epoch(ax, data.n)
    ax.set(ylabel="share of the neurons in the PAR", ylim=(-0.05, 1.12))
    ax.set_title("entrance to the PAR")
    first, text = (
        max(float(one[:, 0].max()) for one in share.values()),
        "share in the PAR at the start",
    )
    claims = (
        at_most("start", f"largest {text}", first, 0.01, "enters"),
        at_least(
            "w", "smallest share of w neurons at the end", share["w"][:, -1].min(), 1.0, "enters"
        ),
        at_least(
            "u", "smallest share of u neurons at the end", share["u"][:, -1].min(), 1.0, "enters"
        ),
    )
    return Exhibit(claims, figure, {"updates": many.at, **share})
