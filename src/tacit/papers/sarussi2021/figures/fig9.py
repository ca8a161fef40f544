"""Figure 9: with an outlier, neurons agree, but not all of them on the right labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.data import load
from tacit.papers.sarussi2021.drawing import MINUS, PLUS, curves, points, rays, regions
from tacit.papers.sarussi2021.figures import PAPER
from tacit.papers.sarussi2021.figures.trained_networks import (
    TrainedSettings,
    by_neurons,
    log_spaced_epochs,
    measured,
    member_seeds,
    sgd,
    shares_in_par,
    snapshot,
)
from tacit.papers.sarussi2021.figures.worded_claims import by_our_bound, explained
from tacit.papers.sarussi2021.regime import regime_margin
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Tell, ours, paper
from tacit.reproduction.claims import at_least, at_most, true
from tacit.training import Many, train_many
from tacit.values import BadInput, Dataset


@dataclass(frozen=True)
class Fig9(TrainedSettings):
    start: float = paper(1e-4, "Fig. 9")
    lr: float = paper(1e-2, "Fig. 9")
    runs: int = paper(5, "Fig. 9")
    n: int = ours(100, "points of the two Gaussians, besides the outlier")
    height: float = ours(12.0, "the outlier is (−0.5, height), the Gaussians are at (±3, 0)")
    agreement: float = ours(
        0.2, "β of the NAR that the data must allow, else the next draw; ten seeds took 1 to 12"
    )
    against: float = ours(
        4.0, "by how much the data must rule out the PAR, else another draw; with 2, training lasts"
    )
    epochs: int = ours(10000, "the paper gives none; with 3000, neurons of some draws still move")


def with_outlier(s: Fig9) -> tuple[Dataset, tuple[float, float]]:
    """The first draw that allows an NAR and no PAR, and the margins of PAR and NAR."""
    for draw in range(1000):
        data = load(f"gaussians_outlier:n={s.n},d=2,height={s.height},seed={1000 * s.seed + draw}")
        X, y = data.X, data.y
        par = regime_margin(X, y, y, -y, s.alpha)
        nar = regime_margin(X, y, y, _sides_of_u(data), s.alpha)
        if par <= -s.against and nar >= s.agreement:
            return data, (par, nar)
    raise BadInput("sarussi2021:fig9: no draw rules out the PAR; choose another height")


def _sides_of_u(data: Dataset) -> np.ndarray:
    """The sides of the u neurons: those of the PAR, −y, except at the outlier."""
    return np.append(-data.y[:-1], 1)


def _claims(
    s: Fig9, data: Dataset, many: Many, share: dict[str, np.ndarray], differ: dict[str, np.ndarray]
) -> tuple[Claim, ...]:
    """The claims on the shares of neurons in the PAR and on the points two neurons differ on."""
    W, a = many.last["W"], many.last["a"]
    error = float(measured(many, data, "train_error")[:, -1].max())
    most = float(max(differ[kind][:, -1].max() for kind in differ))
    inside = (share["w"] == 1) & (share["u"] == 1)  # runs × epochs
    sides = np.where(a[..., None] > 0, data.y, _sides_of_u(data))
    there = ((W @ data.X.T) * sides > 0).all(axis=-1).mean()
    others = data.X[:-1].T * data.y[:-1] * np.sign(a)[..., None, None]
    agree_elsewhere = bool(((W[..., None, :] @ others) > 0).all())
    dispute = (
        f"They agree on all points but the outlier; after {s.epochs} epochs neurons of one type "
        "still stand on both sides of it. The paper does not say how long it trained."
    )
    foretold = "share of the neurons in the regime that was computed before training"
    in_par, w = "networks that are in the PAR at", float(share["w"][:, -1].mean())
    return (
        at_most("accuracy", "every network classifies all points: largest error", error, 0.0),
        explained(
            at_most("nar", "points that two neurons of a type disagree on, at the end", most, 0.0),
            agree_elsewhere,
            dispute,
        ),
        explained(
            by_our_bound(at_least, "foretold", foretold, there, 1.0, "not stated"),
            agree_elsewhere,
            dispute,
        ),
        at_most("par", f"{in_par} the end", inside[:, -1].sum(), 0),
        explained(
            at_most("never", f"{in_par} some epoch that is drawn", inside.any(axis=1).sum(), 0),
            not inside[:, -1].any(),
            "They pass through it: none is in it after epoch "
            f"{many.at[inside.any(axis=0)].max(initial=0)}. The solution of (7) lies outside: this "
            "rules out that they stay, not that they enter.",
        ),
        explained(
            true("w", "share of w neurons in the PAR at the end, mean", w < 1, w, "not → 1"),
            bool((W[a < 0] @ data.X[-1] > 0).all()),
            "With our outlier it is the u neurons that are outside: all of them have it on their "
            "positive side. The paper does not say where its outlier lies.",
        ),
    )


@PAPER.artefact("fig9", "Figure 9, App. J", Fig9, quick={"epochs": 5000})
def fig9(s: Fig9, tell: Tell) -> Exhibit:
    """Two Gaussians and an outlier: neurons agree, but not all of them on the right labels.

    (a) the decision of the first network, (b) directions of its neurons, (c) the largest number of
    points on which two neurons of one type disagree, (d) the share of neurons that classify the
    data perfectly. In the regime that is reached all neurons of one type agree, and one type
    agrees on the wrong side of the outlier. Whether the PAR can last is computed before training:
    its limit would be the solution of (7), which must then lie in the PAR. A draw of the Gaussians
    that does not rule it out is passed over.
    """
    data, _ = with_outlier(s)
    tell(f"{s.runs} networks")
    at, setting = (0, *log_spaced_epochs(s.epochs, 40)), sgd(s, s.start, s.lr)
    many = train_many(data, setting, s.epochs, member_seeds(s, s.runs), at=at)
    share = shares_in_par(many, data)
    differ = {kind: measured(many, data, "disagreements", kind) for kind in share}
    figure, ((a, b), (c, d)) = new_figure(2, 2, size=(9.8, 8.6))
    first = snapshot(many, data, 0)
    regions(a, first.outputs, 1.1 * float(np.abs(data.X).max()))
    points(a, data.X, data.y)
    a.plot(*data.X[-1], "*", c="black", ms=11, label="outlier, y = +1")
    a.set_title("(a) decision")
    rays(b, first.W, first.a)
    b.set_title("(b) directions of the neurons")
    for ax in (a, b):
        ax.legend(fontsize=8, loc="lower right")
    curves(c, many.at, by_neurons(differ), (PLUS, MINUS))
    c.set_yscale("symlog", linthresh=1)
    c.set_ylim(-0.2, 2 * data.n)
    c.set(ylabel="points that two neurons disagree on, at most", title="(c) entrance to the NAR")
    curves(d, many.at, by_neurons(share), (PLUS, MINUS))
    d.set(ylabel="share of the neurons in the PAR", ylim=(-0.05, 1.05))
    d.set_title("(d) the PAR is left, or not entered")
    arrays = {f"par_ratio_{kind}": share[kind] for kind in share}
    arrays |= {f"disagreements_{kind}": differ[kind] for kind in differ}
    arrays |= {"X": data.X, "y": data.y, "epochs": many.at}
    return Exhibit(_claims(s, data, many, share, differ), figure, arrays)
