"""sarussi2021, Towards understanding learning in neural networks with linear teachers: figures.

The network is N(x) = v Σ σ(w⁽ⁱ⁾·x) − v Σ σ(u⁽ⁱ⁾·x) (1) with a fixed v and Leaky ReLU σ, trained by
SGD with batches of one and the logistic loss. The paper says neither v nor the slope α of σ. As N
depends on vW only, v·std and v²·η are what matters: another v is another std and another η.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.data import load
from tacit.flow import find
from tacit.measures import MEASURES, Snapshot
from tacit.measures.plane import TURNS, bend, circle
from tacit.models.losses import parse_loss
from tacit.numerics.max_margin import max_margin
from tacit.numerics.paper_margins import par
from tacit.papers.sarussi2021.regime import regime_margin
from tacit.papers.sarussi2021.statements.risk import constants
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Paper, Result, Settings, Tell, ours, paper
from tacit.reproduction.claims import at_least, at_most, mean_interval, near, true
from tacit.theorems.theorem import Case
from tacit.training import Many, train_many
from tacit.values import BadInput, Dataset, Setting

PAPER = Paper("sarussi2021")

GREEN = "#2a7f3f"
APART = "runs differ in their initial weights and in the order of the points"


@dataclass(frozen=True)
class Trained(Settings):
    """What every trained network of the paper has."""

    width: int = paper(100, "Fig. 1, 4, 8, 9")
    alpha: float = ours(0.2, "any slope between 0 and 1")
    v: float = ours(0.1, "1/√100; only v·std and v²·lr matter")


@dataclass(frozen=True)
class Fig1(Trained):
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
def fig1(s: Fig1, tell: Tell) -> Result:
    """Small initial weights learn a line and two clusters, large ones learn neither.

    Above are the decisions of a network that was trained from large and from small initial
    weights, below the directions of its neurons. N is homogeneous, so its boundary is made of rays
    from 0: the bend is the angle by which it misses being a line. It is the share of directions
    that the best linear classifier labels differently, in degrees of the circle.
    """
    from tacit.papers.sarussi2021.drawing import points, rays, regions

    data = _gaussians(s, 2)
    figure, axes = new_figure(2, 2, sharex="row", sharey="row")
    bends, angle, error = {}, {}, {}
    for column, (size, std) in enumerate({"large": s.large, "small": s.small}.items()):
        tell(f"{s.runs} networks from {size} initial weights")
        nets = train_many(_setting(s, std, s.lr), data, s.epochs, _seeds(s, s.runs))
        plane = [_network(nets, data, i).outputs for i in range(s.runs)]
        bends[size] = np.array([bend(np.sign(N(circle()))) for N in plane])
        angle[size] = np.degrees(_measure(nets, data, "cluster_angle")[:, -1])
        error[size] = _measure(nets, data, "train_error")[:, -1]
        above, below = axes[:, column]
        regions(above, plane[0], 1.1 * float(np.abs(data.X).max()))
        points(above, data.X, data.y)
        rays(below, nets.member(0)["W"], nets.member(0)["a"])
        above.set_title(f"decision, {size} start (std {std:g})")
        below.set_title(f"neurons, {size} start (std {std:g})")
        for ax in (above, below):
            ax.legend(fontsize=8, loc="upper right")
    wrong = max(float(one.max()) for one in error.values())
    bent, wide = "bend of the boundary in degrees, mean", "widest angle in a cluster, mean"
    claims = (
        at_most("fits", "every network fits its points: largest error", wrong, 0.0),
        _mean(at_most, "linear", f"small start: {bent}", bends["small"], 1.0, "linear"),
        _mean(at_least, "bent", f"large start: {bent}", bends["large"], 5.0, "not linear"),
        _mean(at_most, "tight", f"small start: {wide}", angle["small"], 5.0, "tight"),
        _mean(at_least, "loose", f"large start: {wide}", angle["large"], 90.0, "none"),
    )
    found = {f"bend_{size}": one for size, one in bends.items()}
    found |= {f"cluster_angle_{size}": one for size, one in angle.items()}
    return Result(claims, figure, {"X": data.X, "y": data.y, **found})


@dataclass(frozen=True)
class Images(Trained):
    """What the figures on MNIST share."""

    width: int = ours(100, "as in Fig. 1")
    alpha: float = ours(0.5, "with 0.2 up to 4% of 400 points were left after 60 epochs")
    small: float = ours(1e-6, "small against the weights that are learned, in 784 dimensions too")
    lr: float = ours(5e-4, "the paper gives none; with 0.1 the neurons of 3/5 do not cluster")
    n: int = ours(4000, "a random subset: all of MNIST 3/5 is not linearly separable")
    test: int = ours(1500, "points of the test set, which count too")
    epochs: int = ours(100, "the paper gives none")
    runs: int = ours(3, APART)
    few: float = ours(0.01, "share of the points that counts as none")
    stand_in: bool = ours(False, "whether scikit-learn's digits may stand in for missing MNIST")


QUICK = {"n": 400, "test": 400, "epochs": 80, "runs": 1, "stand_in": True}


@dataclass(frozen=True)
class Fig2(Images):
    large: float = ours(0.1, "large against the weights that are learned")
    pairs: tuple[str, ...] = paper(("0/1", "3/5"), "Fig. 2, App. D.2")
    d: int = ours(50, "of the Gaussian data, as in Fig. 8: means ±3, std 1, margin 1")


@PAPER.artefact("fig2", "Figure 2, §5.1", Fig2, quick={**QUICK, "epochs": 160})
def fig2(s: Fig2, tell: Tell) -> Result:
    """The share of points outside the linear region of Theorem 5.1 falls to 0, or stays at 1.

    At each epoch r is the radius of the two clusters of neurons, and a point is in the linear
    region if |(w̄−ū)·x| ≥ 2r‖x‖. Training and test points count. From a small start (left) nearly
    all points are in it soon, from a large one (right) none ever is. Below 1% the axis is linear.
    Training need not have fitted every point by then: how many are wrong is among the claims.
    """
    from tacit.papers.sarussi2021.drawing import curves

    sets, said = _image_sets(s, s.pairs, s.d)
    figure, axes = new_figure(1, 2, size=(10.4, 4.2), sharey=True)
    claims = [_separable(sets)]
    found: dict[str, np.ndarray] = {}
    wrong: list[float] = []
    for ax, size, std in zip(axes[0], ("small", "large"), (s.small, s.large), strict=True):
        epochs, lines = _follow(s, sets, std, ("nonlinear_share", "train_error"), tell)
        shares = lines["nonlinear_share"]
        curves(ax, epochs, shares)
        _down_to_zero(ax, f"{size} start (std {std:g})")
        found |= {f"{size}_{_plain(name)}": share for name, share in shares.items()}
        wrong += [float(error[:, -1].max()) for error in lines["train_error"].values()]
        if size == "small":
            for name, share in shares.items():
                text, last = f"{name}, small start: share at the end, largest", share[:, -1].max()
                claims.append(_ours(at_most, f"small_{_plain(name)}", text, last, s.few, "→ 0"))
        else:
            least = min(float(share.min()) for share in shares.values())
            text = "large start: smallest share of all sets and epochs"
            claims.append(_ours(at_least, "large", text, least, 0.5, "not → 0"))
    text = "both starts are trained: largest training error at the end"
    claims.append(_ours(at_most, "trained", text, max(wrong), 0.1, "not stated"))
    return Result(tuple(claims), figure, {"epochs": epochs, **found}, said)


@dataclass(frozen=True)
class TwoNeurons(Settings):
    alpha: float = ours(0.2, "any slope between 0 and 1")
    w: tuple[float, ...] = paper((1.0, 0.0), "Fig. 5")
    u: tuple[float, ...] = paper((0.0, 1.0), "Fig. 5")


@dataclass(frozen=True)
class Fig3(TwoNeurons):
    w: tuple[float, ...] = ours((1.0, 0.0), "as in Fig. 5; Fig. 3 does not give its neurons")
    u: tuple[float, ...] = ours((0.0, 1.0), "as in Fig. 5; Fig. 3 does not give its neurons")


@PAPER.artefact("fig3", "Figure 3, §5.1", Fig3)
def fig3(s: Fig3, tell: Tell) -> Result:
    """Two neurons: the boundary is linear, the output is not.

    On the left the sign of N(x) = σ(w·x) − σ(u·x), on the right its value. A linear function has
    N(x) + N(−x) = 0; here the sum is (1−α)(|w·x| − |u·x|), which is 0 only where the two agree.
    """
    from tacit.papers.sarussi2021.drawing import levels, regions

    N = _two_neurons(s, s.alpha)
    x = circle()
    figure, ((left, right),) = new_figure(1, 2, size=(10.0, 4.2))
    regions(left, N, 1.5)
    left.legend(fontsize=8, loc="upper right")
    left.set_title("sign of the output")
    figure.colorbar(levels(right, N, 1.5), ax=right, label="N(x)")
    right.set_title("output N(x), with its level lines")
    linear = np.linalg.lstsq(x, N(x), rcond=None)[0]
    missed = float(np.linalg.norm(N(x) - x @ linear) / np.linalg.norm(N(x)))
    claims = (
        near("linear", "bend of the boundary in degrees", bend(np.sign(N(x))), 0.0, 360 / TURNS),
        _ours(at_least, "nonlinear", "part of N that no linear function has", missed, 0.1, "some"),
    )
    return Result(claims, figure, {"x": x, "output": N(x)})


@dataclass(frozen=True)
class Fig4(Trained):
    n: int = ours(200, "the paper shows points and does not count them")
    distance: float = ours(1.0, "means ±distance on the first axis; with 3, 10 degrees remained")
    std: float = ours(1.0, "the spread of the Gaussians")
    margin: float = ours(1.0, "points nearer than this to the second axis are excluded")
    start: float = ours(1e-3, "as the small start of Fig. 1")
    lr: float = ours(0.1, "the paper gives none")
    epochs: int = ours(5000, "the direction converges like 1/log(1/loss) in the end")
    near: float = ours(5.0, "degrees that count as excellent agreement")


@PAPER.artefact("fig4", "Figure 4, §6.3", Fig4, quick={"epochs": 1000})
def fig4(s: Fig4, tell: Tell) -> Result:
    """The Perfect Agreement Regime: what is learned is what the convex program (7) predicts.

    On the left the learned decision, and as a green arrow the normal of the boundary that (7)
    predicts without training. On the right the learned neurons and the two vectors of (7), all as
    unit vectors. Some degrees remain, as they must: with the default data and seed, even the w of
    least loss among all (w, u) of one norm is 5.5 degrees from (7) at a loss of e⁻²⁰ and within
    half a degree only at e⁻¹⁴⁰. The limit of gradient flow, which Theorem 6.2 is about, is computed
    as well.
    """
    from tacit.papers.sarussi2021.drawing import arrow, points, rays, regions

    data = _gaussians(s, 2)
    predicted = par(data.X, data.y, s.alpha)  # (7)
    w, u, boundary = predicted.w, predicted.u, predicted.boundary
    if w is None or u is None or boundary is None:
        raise BadInput(f"sarussi2021:fig4: margin={s.margin} leaves no two classes to separate")
    tell(f"SGD for {s.epochs} epochs")
    setting, seeds = _setting(s, s.start, s.lr), _seeds(s, 1)
    nets = train_many(setting, data, s.epochs, seeds)
    learned = _network(nets, data, 0)
    tell("the limit of gradient flow")
    limit = find(replace(setting, rule="flow"), data, seed=seeds[0], seconds=120.0)
    centres = [group.mean(axis=0) for group in learned.groups]
    off = np.degrees(_angle(centres[0] - centres[1], boundary))
    pairs = zip(learned.groups, (w, u), strict=True)
    apart = np.degrees(max(_angle(row, vector) for group, vector in pairs for row in group))
    reached = np.inf
    if limit.W is not None and limit.a is not None:
        both = np.where(limit.a[:, None] > 0, w, u)
        reached = float(np.degrees(_angle(limit.W.ravel(), both.ravel())))
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
        _ours(at_most, "linear", "bend of the learned boundary", bent, 1.0, "linear"),
        _ours(at_most, "boundary", f"learned boundary, {to}", off, s.near, "agrees"),
        _because(
            _ours(at_most, "neurons", f"learned neurons, {to}", apart, s.near, "agree"),
            margin > 0 and reached <= 1e-4,
            "The loss is not small enough: the neurons are in the PAR, and the limit of gradient "
            "flow from the same weights is the solution of (7).",
        ),
        _ours(at_most, "limit", f"limit of gradient flow, {to}", reached, 1e-4, "equal"),
    )
    found = {"X": data.X, "y": data.y, "W": learned.W, "a": learned.a, "w": w, "u": u}
    return Result(claims, figure, found)


@PAPER.artefact("fig5", "Figure 5, App. D.1", TwoNeurons)
def fig5(s: TwoNeurons, tell: Tell) -> Result:
    """Two neurons with Leaky ReLU decide linearly, with ReLU they do not.

    With ReLU the output is 0 (grey) wherever both neurons are silent. Whichever label is given to
    that quarter, the boundary is not a line: it bends by the 45 degrees that are left over.
    """
    from tacit.papers.sarussi2021.drawing import arrow, regions

    x = circle()
    figure, axes = new_figure(1, 2, size=(8.6, 4.4))
    nets = {"Leaky ReLU": _two_neurons(s, s.alpha), "ReLU": _two_neurons(s, 0.0)}
    for ax, (name, N) in zip(axes[0], nets.items(), strict=True):
        regions(ax, N, 1.5, zero=name == "ReLU")
        arrow(ax, np.array(s.w), "black", "w")
        arrow(ax, np.array(s.u), "0.45", "u")
        ax.set_title(f"{name}: sign of the output")
        ax.legend(fontsize=8, loc="lower left")
    leaky, relu = (N(x) for N in nets.values())
    # Both are silent on the cone −C with C = {w·x > 0, u·x > 0}, whose angle is π − ∠(w, u).
    apart = _angle(np.array(s.w), np.array(s.u))
    silent = 0.5 - np.degrees(apart) / 360
    bends = [bend(np.where(relu == 0, label, np.sign(relu))) for label in (1, -1)]
    zero, bent = float((relu == 0).mean()), "bend of the boundary in degrees"
    claims = (
        near("leaky", f"Leaky ReLU: {bent}", bend(np.sign(leaky)), 0.0, 360 / TURNS),
        near("zero", "ReLU: share of directions with output 0", zero, silent, 2 / TURNS),
        _ours(at_least, "relu", f"ReLU, the better label of 0: {bent}", min(bends), 1.0, "bent"),
    )
    return Result(claims, figure, {"leaky": leaky, "relu": relu})


@dataclass(frozen=True)
class Fig6(Images):
    pairs: tuple[str, ...] = ours(
        ("0/8", "1/7", "2/7", "3/8", "4/9", "5/6"), "the paper's legend is not in its text"
    )
    n: int = ours(2000, "a random subset that is linearly separable")
    runs: int = paper(5, "Fig. 6")


@PAPER.artefact(
    "fig6", "Figure 6, App. D.2", Fig6, quick={**QUICK, "runs": 2, "pairs": ("1/7", "3/8", "4/9")}
)
def fig6(s: Fig6, tell: Tell) -> Result:
    """More pairs of digits: the learned classifier becomes linear on the data.

    As on the left of Figure 2: the share of training and test points outside the linear region of
    Theorem 5.1. Lines are means over the initialisations, bands go from the smallest to the
    largest of them. Below 1% the axis is linear.
    """
    from tacit.papers.sarussi2021.drawing import curves

    sets, said = _image_sets(s, s.pairs)
    epochs, lines = _follow(s, sets, s.small, ("nonlinear_share",), tell)
    shares = lines["nonlinear_share"]
    figure, ((ax,),) = new_figure(size=(7.0, 4.6))
    curves(ax, epochs, shares)
    _down_to_zero(ax, f"mean of {s.runs} initialisations (std {s.small:g})")
    claims = [_separable(sets)]
    for name, share in shares.items():
        text = f"{name}: mean share at the end"
        claims.append(_mean(at_most, _plain(name), text, share[:, -1], s.few, "→ 0"))
    found = {_plain(name): share for name, share in shares.items()}
    return Result(tuple(claims), figure, {"epochs": epochs, **found}, said)


@dataclass(frozen=True)
class Fig7(Images):
    few: float = ours(0.01, "radians, and radii as a part of ‖w̄−ū‖, that count as 0")
    pairs: tuple[str, ...] = ours(("0/1", "3/5"), "as in Fig. 2")
    d: int = ours(50, "of the Gaussian data, as in Fig. 8: means ±3, std 1, margin 1")


@PAPER.artefact("fig7", "Figure 7, App. D.3", Fig7, quick=QUICK)
def fig7(s: Fig7, tell: Tell) -> Result:
    """Two measures of clustering go to 0 during training.

    (a) the largest angle between two neurons of one type, (b) the radius r of the clusters
    relative to the distance ‖w̄−ū‖ of their centres. Both axes are logarithmic: the way to 0 is as
    slow as the growth of the weights, which is that of log(1/loss).
    """
    from tacit.papers.sarussi2021.drawing import curves

    sets, said = _image_sets(s, s.pairs, s.d)
    panels = {
        "cluster_angle": ("(a) largest angle between neurons of one type", "angle (rad)"),
        "cluster_radius_relative": ("(b) radius of the clusters", "r/‖w̄−ū‖"),
    }
    epochs, lines = _follow(s, sets, s.small, tuple(panels), tell)
    figure, axes = new_figure(1, 2, size=(10.4, 4.4))
    claims: list[Claim] = []
    found: dict[str, np.ndarray] = {}
    for ax, (measure, (title, label)) in zip(axes[0], panels.items(), strict=True):
        curves(ax, epochs, lines[measure])
        ax.set(title=title, ylabel=label, yscale="log")
        found |= {f"{measure}_{_plain(name)}": line for name, line in lines[measure].items()}
        every = np.concatenate(list(lines[measure].values()))
        last, fallen = float(every[:, -1].max()), float((every[:, -1] / every[:, 1]).max())
        down = f"{label} at the end relative to epoch 1, largest"
        claims += [
            _ours(at_most, measure, f"{label} at the end, largest", last, s.few, "→ 0"),
            _ours(at_most, f"{measure}_falls", down, fallen, 0.5, "falls"),
        ]
    return Result(tuple(claims), figure, {"epochs": epochs, **found}, said)


@dataclass(frozen=True)
class Fig8(Trained):
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
def fig8(s: Fig8, tell: Tell) -> Result:
    """High-dimensional Gaussians: every neuron enters the Perfect Agreement Regime.

    The curves are the shares of w neurons that classify all training points like y, and of u
    neurons that classify them like −y; bands go from the smallest to the largest of the runs.
    """
    from tacit.papers.sarussi2021.drawing import MINUS, PLUS, curves

    data = _gaussians(s, s.d)
    tell(f"{s.runs} networks")
    at = _moments(s.epochs, 30)
    nets = train_many(_setting(s, s.start, s.lr), data, s.epochs, _seeds(s, s.runs), at=(0, *at))
    ratio = _in_par(nets, data)
    figure, ((ax,),) = new_figure(size=(6.4, 4.2))
    curves(ax, nets.at, _named(ratio), (PLUS, MINUS))
    ax.set(ylabel="share of the neurons in the PAR", ylim=(-0.05, 1.05))
    ax.set_title("entrance to the PAR")
    first = float(max(share[:, 0].max() for share in ratio.values()))
    claims = (
        _ours(at_most, "start", "largest share in the PAR at the start", first, 0.01, "enters"),
        at_least("w", "smallest share of w neurons at the end", ratio["w"][:, -1].min(), 1.0),
        at_least("u", "smallest share of u neurons at the end", ratio["u"][:, -1].min(), 1.0),
    )
    return Result(claims, figure, {"epochs": nets.at, **ratio})


@dataclass(frozen=True)
class Fig9(Trained):
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


@PAPER.artefact("fig9", "Figure 9, App. J", Fig9, quick={"epochs": 5000})
def fig9(s: Fig9, tell: Tell) -> Result:
    """Two Gaussians and an outlier: neurons agree, but not all of them on the right labels.

    (a) the decision of the first network, (b) directions of its neurons, (c) the largest number of
    points on which two neurons of one type disagree, (d) the share of neurons that classify the
    data perfectly. In the regime that is reached all neurons of one type agree, and one type
    agrees on the wrong side of the outlier. Whether the PAR can last is computed before training:
    its limit would be the solution of (7), which must then lie in the PAR. A draw of the Gaussians
    that does not rule it out is passed over.
    """
    from tacit.papers.sarussi2021.drawing import MINUS, PLUS, curves, points, rays, regions

    data, _ = _with_outlier(s)
    tell(f"{s.runs} networks")
    at = (0, *_moments(s.epochs, 40))
    nets = train_many(_setting(s, s.start, s.lr), data, s.epochs, _seeds(s, s.runs), at=at)
    ratio = _in_par(nets, data)
    differ = {kind: _measure(nets, data, "disagreements", kind) for kind in ratio}
    figure, ((a, b), (c, d)) = new_figure(2, 2, size=(9.8, 8.6))
    regions(a, _network(nets, data, 0).outputs, 1.1 * float(np.abs(data.X).max()))
    points(a, data.X, data.y)
    a.plot(*data.X[-1], "*", c="black", ms=11, label="outlier, y = +1")
    a.set_title("(a) decision")
    rays(b, nets.member(0)["W"], nets.member(0)["a"])
    b.set_title("(b) directions of the neurons")
    for ax in (a, b):
        ax.legend(fontsize=8, loc="lower right")
    curves(c, nets.at, _named(differ), (PLUS, MINUS))
    c.set_yscale("symlog", linthresh=1)
    c.set_ylim(-0.2, 2 * data.n)
    c.set(ylabel="points that two neurons disagree on, at most", title="(c) entrance to the NAR")
    curves(d, nets.at, _named(ratio), (PLUS, MINUS))
    d.set(ylabel="share of the neurons in the PAR", ylim=(-0.05, 1.05))
    d.set_title("(d) the PAR is left, or not entered")
    error = float(_measure(nets, data, "train_error")[:, -1].max())
    most = float(max(differ[kind][:, -1].max() for kind in differ))
    inside = (ratio["w"] == 1) & (ratio["u"] == 1)  # runs × epochs
    u = nets.last["W"][nets.last["a"] < 0]
    in_par, w = "networks that are in the PAR at", float(ratio["w"][:, -1].mean())
    sides = np.where(nets.last["a"][..., None] > 0, data.y, _but_the_outlier(data))
    there = ((nets.last["W"] @ data.X.T) * sides > 0).all(axis=-1).mean()
    text = "share of the neurons in the regime that was computed before training"
    others = data.X[:-1].T * data.y[:-1] * np.sign(nets.last["a"])[..., None, None]
    only = bool(((nets.last["W"][..., None, :] @ others) > 0).all())
    dispute = (
        f"They agree on all points but the outlier; after {s.epochs} epochs neurons of one type "
        "still stand on both sides of it. The paper does not say how long it trained."
    )
    claims = (
        at_most("accuracy", "every network classifies all points: largest error", error, 0.0),
        _because(
            at_most("nar", "points that two neurons of a type disagree on, at the end", most, 0.0),
            only,
            dispute,
        ),
        _because(_ours(at_least, "foretold", text, there, 1.0, "not stated"), only, dispute),
        at_most("par", f"{in_par} the end", inside[:, -1].sum(), 0),
        _because(
            at_most("never", f"{in_par} some epoch that is drawn", inside.any(axis=1).sum(), 0),
            not inside[:, -1].any(),
            "They pass through it: none is in it after epoch "
            f"{nets.at[inside.any(axis=0)].max(initial=0)}. The solution of (7) lies outside: this "
            "rules out that they stay, not that they enter.",
        ),
        _because(
            true("w", "share of w neurons in the PAR at the end, mean", w < 1, w, "not → 1"),
            bool((u @ data.X[-1] > 0).all()),
            "With our outlier it is the u neurons that are outside: all of them have it on their "
            "positive side. The paper does not say where its outlier lies.",
        ),
    )
    found = {f"par_ratio_{kind}": ratio[kind] for kind in ratio}
    found |= {f"disagreements_{kind}": differ[kind] for kind in differ}
    return Result(claims, figure, {"X": data.X, "y": data.y, "epochs": nets.at, **found})


@dataclass(frozen=True)
class Thm41(Trained):
    width: int = ours(20, "where it is not varied")
    v: float = ours(1.0, "only v·start and v²·lr matter")
    start: float = ours(1.0, "where it is not varied")
    lr: float = ours(0.01, "where it is not varied")
    widths: tuple[int, ...] = ours((2, 20, 200), "the theorem holds for every width,")
    starts: tuple[float, ...] = ours((1e-3, 1.0, 30.0), "every scale of the start")
    lrs: tuple[float, ...] = ours((1e-3, 1e-2, 1e-1), "and every step size")
    n: int = ours(40, "the bound grows like n⁴")
    d: int = ours(10, "of the data")
    margin: float = ours(0.5, "of the teacher")
    smallest: float = ours(1e-3, "the smallest loss ε that is waited for")
    epochs: int = ours(20000, "every run reaches it by then")
    runs: int = ours(3, APART)


@PAPER.artefact(
    "thm41", "Theorem 4.1, §4", Thm41, quick={"epochs": 2000, "smallest": 1e-2, "runs": 1}
)
def thm41(s: Thm41, tell: Tell) -> Result:
    """SGD reaches every loss ε, long before the M(n, ε) updates of Theorem 4.1.

    Solid lines: after how many updates the mean loss was below ε, the slowest of the runs. Dashed
    in the same colour: M(n, ε), the right side of (26) plus n, computed before training from the
    data, the initial weights and the step size. Each panel varies one of these; M hardly depends
    on the start. M ~ n⁴/ε² is a worst case.
    """
    data = load(f"linear:n={s.n},d={s.d},margin={s.margin},seed={s.seed}")
    targets = np.geomspace(0.5, s.smallest, 25)
    found, ratios, late = {"epsilon": targets}, [0.0], 0
    figure, axes = new_figure(1, 3, size=(13.5, 4.4), sharey=True)
    panels: dict[str, tuple[float, ...]] = {"lr": s.lrs, "start": s.starts, "width": s.widths}
    for ax, (key, values) in zip(axes[0], panels.items(), strict=True):
        words = {"lr": "step size"}.get(key, key)
        for j, value in enumerate(values):
            tell(f"{words} {value:g}")
            varied: dict[str, Any] = {key: value}
            now = replace(s, **varied)
            setting = _setting(now, now.start, now.lr)
            at = (0, *_moments(s.epochs, 60))
            nets = train_many(setting, data, s.epochs, _seeds(s, s.runs), at=at)
            below = np.exp(_measure(nets, data, "log_loss"))[:, :, None] < targets
            updates = np.where(below.any(axis=1), s.n * nets.at[below.argmax(axis=1)], np.inf)
            slowest = np.maximum(updates.max(axis=0), 1)
            R_0 = float(np.linalg.norm(nets.weights["W"][0], axis=-1).max())
            known = constants(Case(data, setting))
            bound = np.array([known.updates(float(epsilon), R_0) for epsilon in targets])  # (26)
            there = np.isfinite(slowest)
            late += int((~there).sum())
            ratios += (slowest / bound)[there].tolist()
            ax.plot(targets[there], slowest[there], c=f"C{j}", label=f"{value:g}")
            ax.plot(targets, bound, c=f"C{j}", ls="--")
            found |= {f"updates_{key}_{value:g}": slowest, f"bound_{key}_{value:g}": bound}
        ax.plot([], [], c="0.3", ls="--", label="M(n, ε)")
        ax.set(xscale="log", yscale="log", xlabel="mean loss ε", title=f"{words} is varied")
        ax.invert_xaxis()
        ax.legend(fontsize=8, loc="center right", title=words)
    axes[0, 0].set_ylabel("updates until the loss is below ε")
    small, large = np.geomspace(1e-7, 1e-6, 9), np.geomspace(1e6, 1e7, 9).round().astype(int)
    by_epsilon = _exponent(1 / small, np.array([known.updates(e, 1.0) for e in small]))
    by_n = _exponent(large, np.array([replace(known, n=n).updates(1e-3, 1.0) for n in large]))
    claims = (
        at_most("reached", "losses ε that SGD did not reach", float(late), 0.0),
        at_most("bound", "updates of SGD relative to M(n, ε), largest", max(ratios), 1.0),
        near("epsilon", "M(n, ε) grows like (1/ε)^p: p for small ε", by_epsilon, 2.0, 0.01),
        near("n", "M(n, ε) grows like n^p: p for large n", by_n, 4.0, 0.01),
    )
    return Result(claims, figure, found)


def _setting(s: Trained, std: float, lr: float) -> Setting:
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


def _gaussians(s: Fig1 | Fig4 | Fig8, d: int) -> Dataset:
    spread = f"distance={s.distance},std={s.std},margin={s.margin}"
    return load(f"gaussians:n={s.n},d={d},{spread},seed={s.seed}")


def _seeds(s: Settings, runs: int) -> list[int]:
    """Of the members; other seeds of an artefact share none of them."""
    return [1000 * s.seed + i for i in range(runs)]


def _moments(epochs: int, about: int) -> list[int]:
    """Epochs to look at, evenly spread in log time, 1 and the last included."""
    return np.unique(np.geomspace(1, epochs, about).round().astype(int)).tolist()


def _network(nets: Many, data: Dataset, i: int, t: int = -1, kind: str = "") -> Snapshot:
    """One member at one kept epoch; with `kind` its w or its u neurons only."""
    weights = nets.member(i, t)
    if kind:
        chosen = weights["a"] > 0 if kind == "w" else weights["a"] < 0
        weights = {part: array[chosen] for part, array in weights.items()}
    return Snapshot(nets.model, parse_loss("logistic"), weights, data)


def _measure(nets: Many, data: Dataset, name: str, kind: str = "") -> np.ndarray:
    """A measure of every member at every kept epoch: members × T."""
    times, compute = range(len(nets.at)), MEASURES[name]
    members = range(nets.size)
    return np.array([[compute(_network(nets, data, i, t, kind)) for t in times] for i in members])


def _in_par(nets: Many, data: Dataset) -> dict[str, np.ndarray]:
    """The share of w and of u neurons that classify every point like y and −y: members × T."""
    kinds = {"w": "par_ratio_positive", "u": "par_ratio_negative"}
    return {kind: _measure(nets, data, name) for kind, name in kinds.items()}


def _named(lines: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"{kind} neurons": line for kind, line in lines.items()}


def _two_neurons(s: TwoNeurons, alpha: float) -> Callable[[np.ndarray], np.ndarray]:
    def N(X: np.ndarray) -> np.ndarray:
        Z = X @ np.array([s.w, s.u]).T
        return np.maximum(Z, alpha * Z) @ np.array([1.0, -1.0])  # (1)

    return N


def _angle(one: np.ndarray, other: np.ndarray) -> float:
    """Radians between two vectors; accurate also when it is tiny."""
    u, v = one / np.linalg.norm(one), other / np.linalg.norm(other)
    return float(2 * np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v)))


def _mean(
    bounded: Callable[..., Claim], id: str, text: str, values: np.ndarray, bound: float, said: str
) -> Claim:
    """The claim that a mean is `at_most` or `at_least` a bound of ours, with its interval."""
    interval = mean_interval(values) if len(values) > 1 else None
    return replace(_ours(bounded, id, text, float(values.mean()), bound, said), interval=interval)


def _ours(
    bounded: Callable[..., Claim], id: str, text: str, value: float, bound: float, said: str
) -> Claim:
    """The claim that a number is what the paper `said` in words, by a bound of ours."""
    sign = "≤" if bounded is at_most else "≥"
    return bounded(id, text, value, bound, f"{said} (ours: {sign} {bound:g})")


def _with_outlier(s: Fig9) -> tuple[Dataset, tuple[float, float]]:
    """The first draw that allows an NAR and no PAR, and the margins of both regimes."""
    for draw in range(1000):
        data = load(f"gaussians_outlier:n={s.n},d=2,height={s.height},seed={1000 * s.seed + draw}")
        y = data.y
        other = _but_the_outlier(data)
        margins = (
            regime_margin(data.X, y, y, -y, s.alpha),
            regime_margin(data.X, y, y, other, s.alpha),
        )
        if margins[0] <= -s.against and margins[1] >= s.agreement:
            return data, margins
    raise BadInput("sarussi2021:fig9: no draw rules out the PAR; choose another height")


def _but_the_outlier(data: Dataset) -> np.ndarray:
    """The sides of the u neurons: those of the PAR, −y, except at the outlier."""
    return np.append(-data.y[:-1], 1)


def _because(claim: Claim, known: bool, finding: str) -> Claim:
    """With the finding, where the claim fails and what the finding says is so."""
    return claim if claim.holds or not known else replace(claim, finding=finding)


def _exponent(x: np.ndarray, values: np.ndarray) -> float:
    """p of values ~ x^p."""
    return float(np.polyfit(np.log(x), np.log(values), 1)[0])


def _image_sets(
    s: Images, pairs: Sequence[str], d: int | None = None
) -> tuple[dict[str, Dataset], tuple[str, ...]]:
    """The data sets by name, and what is to be said about them."""
    sets, said = {}, []
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
            said.append(f"MNIST is not here: {text} stands in for it")
    return sets, tuple(said)


def _follow(
    s: Images, sets: dict[str, Dataset], std: float, measures: Sequence[str], tell: Tell
) -> tuple[np.ndarray, dict[str, dict[str, np.ndarray]]]:
    """Train on every set: the epochs, and measure → set → runs × epochs."""
    lines: dict[str, dict[str, np.ndarray]] = {measure: {} for measure in measures}
    at = (0, *_moments(s.epochs, 18))
    for name, data in sets.items():
        tell(f"{name}, std {std:g}")
        nets = train_many(_setting(s, std, s.lr), data, s.epochs, _seeds(s, s.runs), at=at)
        for measure in measures:
            lines[measure][name] = _measure(nets, data, measure)
    return np.array(at), lines


def _down_to_zero(ax: Any, title: str) -> None:
    """Shares on an axis that is logarithmic above 1% and linear below."""
    ax.set_yscale("symlog", linthresh=0.01)
    ax.set(ylim=(-0.001, 1.6), ylabel="share of points outside the linear region", title=title)


def _separable(sets: dict[str, Dataset]) -> Claim:
    """What the paper assumes of its data."""
    found = [max_margin(data.y[:, None] * data.X) for data in sets.values()]
    least = min(one.lower for one in found)
    text = "the training sets are linearly separable, smallest margin"
    return true("separable", text, all(one.status == "separable" for one in found), least, "> 0")


def _plain(name: str) -> str:
    return name.lower().replace(" ", "_").replace("/", "_")
