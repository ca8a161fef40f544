"""lyu2021, Gradient descent on two-layer nets: margin maximization and simplicity bias.

Everywhere f(x) = Σ a_k φ(w_k·x), φ(z) = max(z, αz), both layers are trained on the mean logistic
loss, and margins are q_min/‖θ‖². Where a figure speaks of convergence, gradient flow is followed to
losses that no descent reaches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from tacit.certificates import Best, optimum, two_layer_kkt
from tacit.data import load
from tacit.flow import Limit, find
from tacit.flow.ending import drawn
from tacit.flow.follow import Flow, begin
from tacit.flow.hyperplanes import walls_of
from tacit.flow.stage import advance
from tacit.flow.state import start
from tacit.measures.boundary import bend
from tacit.models import parse_activation
from tacit.numerics.max_margin import max_margin
from tacit.numerics.paper_margins import scaled_margin
from tacit.papers.lyu2021.drawing import (
    Window,
    grid,
    legend_below,
    output_colours,
    points,
    zero_line,
)
from tacit.papers.lyu2021.statements.left_example import printed_network
from tacit.plot import new_figure
from tacit.plot.plane import MINUS, PLUS
from tacit.reproduction.artefact import Claim, Paper, Result, Settings, Tell, ours, paper
from tacit.reproduction.claims import (
    at_least,
    at_most,
    mean_interval,
    near,
    probability_at_least,
    share_interval,
    true,
)
from tacit.training import train_many
from tacit.values import Dataset, Setting

PAPER = Paper("lyu2021")

LINEAR, BENT = "#e69f00", "black"
"""Figure 1 draws linear classifiers in orange and others in black."""
EXACT = 1e-6
"""Relative differences up to this are those of the solvers and of the flow's arithmetic."""
LN10 = math.log(10)


class Net(NamedTuple):
    """f(x) = Σ a_k φ(w_k·x)."""

    W: np.ndarray
    a: np.ndarray


# Figures 1 and 2


@dataclass(frozen=True, eq=False)
class Example:
    """One set of figure 1: the linear classifier, the other one, and the best of all networks."""

    name: str
    data: Dataset
    linear: Net
    other: Net
    kkt: Net
    """The one of the two that is a KKT point and not the best."""
    best: Best
    window: Window

    @property
    def hints(self) -> int:
        return 3 if self.name == "right" else 0


@dataclass(frozen=True)
class Fig1(Settings):
    alpha: float = paper(0.5, "Figure 1")
    width: int = ours(10, "any width will do; with 10 neurons one start in 512 is an exception")
    sigma: float = ours(1e-8, '"small"; from 0.01 most flows on two of the sets end elsewhere')
    runs: int = ours(5, "starts from which the flow is followed to its end, on each set")
    bent: float = ours(1.0, "degrees by which a boundary that is not linear must be bent")
    much: float = ours(0.5, 'the share of the global margin that is "much smaller"')


@PAPER.artefact("fig1", "Figure 1, App. I.1", Fig1, quick={"runs": 2})
def fig1(s: Fig1, tell: Tell) -> Result:
    """KKT margin against global max margin on three linearly separable sets.

    Every panel shows a linear classifier (orange) and one that is not (black). On the left, on
    symmetric data, the linear one has the widest margin of all networks, and the other satisfies
    the KKT conditions too. In the middle and on the right it is the other way round: the linear
    classifier satisfies the KKT conditions, and the widest margin belongs to a bent one. The flow
    from a small start ends at the linear classifier on all three.

    The widest margins are proved by the convex program over networks of every width, the KKT
    conditions by multipliers; the ends are those of gradient flow, followed until they are certain.
    """
    figure, (panels,) = new_figure(1, 3, size=(15.0, 4.6))
    data: dict[str, np.ndarray] = {}
    examples, ends = _examples(s.alpha), {}
    for ax, one in zip(panels, examples, strict=True):
        tell(f"the flow on the {one.name} set")
        init = f"pair:{s.sigma}:1" if one.name == "left" else f"balanced_gaussian:{s.sigma}"
        setting = _flow_setting(s.alpha, s.width, init)
        ends[one.name] = [_end(setting, one.data, s.seed + i) for i in range(s.runs)]
        widest = one.best.margin[0]
        points(ax, one.data, one.hints)
        for net, colour, kind in ((one.linear, LINEAR, "linear"), (one.other, BENT, "not linear")):
            zero_line(ax, one.window, one.data, _function(net, s.alpha), colour)
            mine = _margin(net, one.data, s.alpha)
            rank = "the widest" if mine >= (1 - EXACT) * widest else f"{mine / widest:.0%} of it"
            ax.plot([], [], c=colour, label=f"{kind}, margin {mine:.4f} ({rank})")
            key = f"{one.name}_{'linear' if net is one.linear else 'other'}"
            data |= {f"{key}_W": net.W, f"{key}_a": net.a}
        _frame(ax, one)
        data |= {f"{one.name}_X": one.data.X, f"{one.name}_y": one.data.y}
        data[f"{one.name}_ends"] = np.array([end.margin or math.nan for end in ends[one.name]])
    departures = (
        "the paper prints the points of the left set only; those of the middle and right one are "
        "ours and satisfy its conditions",
        *_left_out(np.array([_told(end) for some in ends.values() for end in some])),
    )
    return Result(_fig1_claims(s, examples, ends), figure, data, departures)


def _examples(alpha: float) -> list[Example]:
    left = load(f"lyu2021_left:alpha={alpha}")
    linear = _linear(max_margin(left.y[:, None] * left.X).direction)
    bent, high = Net(*printed_network(alpha)), 1.5 * float(left.X[:, 1].max())
    window = (-2.0, 2.0, -high, high)
    found = [Example("left", left, linear, bent, bent, optimum(left, alpha), window)]
    for name, data, window in (
        ("middle", load("lyu2021_middle"), (-6.0, 10.0, -2.2, 2.2)),
        ("right", load(f"lyu2021_right:alpha={alpha}"), (-2.2, 3.2, -2.7, 2.7)),
    ):
        linear, best = _one_neuron(scaled_margin(data.X, data.y, alpha, 1).w), optimum(data, alpha)
        other = Net(best.problems[0].W, best.problems[0].a)
        found.append(Example(name, data, linear, other, linear, best, window))
    return found


def _left_margin(alpha: float, beta: float) -> float:
    """Of the KKT point that App. I.1.1 prints."""
    return (1 + alpha) * math.cos(beta) / (2 + 2 * math.cos(beta))


def _fig1_claims(
    s: Fig1, examples: list[Example], ends: dict[str, list[Limit]]
) -> tuple[Claim, ...]:
    """What the caption says; a widest margin is taken where it makes the claim harder."""
    kkts = [two_layer_kkt(*one.kkt, one.data.X, one.data.y, s.alpha) for one in examples]
    residual = max(max(k.stationarity, k.complementarity, k.feasibility) for k in kkts)
    exact = _left_margin(s.alpha, examples[0].data.parameters["beta"])
    text = "left: the widest margin of all networks is (1+α)/4 (Theorem 4.2)"
    claims = [
        at_most("kkt", "largest KKT residual of the three that are not best", residual, 1e-9, 0),
        near("left_kkt", "left: margin of the bent KKT point (I.1.1)", kkts[0].margin, exact, 1e-9),
        near("left_best", text, examples[0].best.margin[1], (1 + s.alpha) / 4, 1e-9),
    ]
    for one, kkt in zip(examples, kkts, strict=True):
        which = "linear" if one.kkt is one.linear else "bent"
        most, said = (s.much, "much smaller") if one.name == "middle" else (1 - EXACT, "< 1")
        text = f"{one.name}: {which} KKT point's margin over the widest"
        share = kkt.margin / one.best.margin[0]
        claims.append(at_most(f"{one.name}_share", text, share, most, said))
    least = min(bend(*one.other, s.alpha) for one in examples)
    text = "the classifiers in black are not linear; least bend, degrees"
    claims.append(at_least("bent", text, least, s.bent, "> 0"))
    told = [(one, end) for one in examples for end in ends[one.name] if _told(end)]
    hits = sum(_is_function_of(end, one.linear, s.alpha) for one, end in told)
    text = f"flows on the three sets, of {len(told)}, that end at the linear classifier"
    return *claims, at_least("flow", text, hits, len(told), len(told))


@dataclass(frozen=True)
class Fig2(Settings):
    alpha: float = paper(0.5, "Figure 1")
    factor: float = paper(1e-3, "App. I.1.3, times the He initialisation")
    width: int = ours(100, "the width of App. J")
    lr: float = ours(0.01, 'App. I.1.3 says "small"; ten times less gives the same pictures')
    loss: float = ours(1e-3, "where descent stops; the lower row shows the losses beyond")
    epochs: int = ours(1_000_000, "at most; the loss is reached earlier")
    smaller: float = ours(1e-5, "a start that is small enough; chosen after 0.001 was not")
    depth: float = ours(-1e5, "log₁₀ of the loss down to which the flow is followed")
    straight: float = ours(0.5, "degrees of bend up to which a drawn line looks straight")


@PAPER.artefact(
    "fig2", "Figure 2, App. I.1.3", Fig2, quick={"width": 20, "loss": 1e-2, "depth": -1e3}
)
def fig2(s: Fig2, tell: Tell) -> Result:
    """Training on the three sets of figure 1 ends in linear boundaries.

    The upper row shows what gradient descent has learned: lighter colours are higher outputs, and
    the boundary (white) is a straight line. The lower row shows by how many degrees the boundary is
    bent, against log₁₀(1/loss): along descent (dots), along gradient flow from the same weights
    (solid) and from a hundredth of them (dashed). Descent stops where all curves are low.

    The flow goes on, and there the scale decides. Where a few of the initial neurons are not yet
    aligned when the weights leave zero, they outgrow the others in the end, and the boundary bends
    at losses that no descent reaches. From a smaller start it stays straight.
    """
    figure, panels = new_figure(2, 3, size=(14.0, 8.4))
    claims: list[Claim] = []
    data: dict[str, np.ndarray] = {}
    smaller = []
    for (above, below), one in zip(panels.T, _examples(s.alpha), strict=True):
        tell(f"descent on the {one.name} set")
        descent, net = _descend(s, one)
        output_colours(above, one.window, one.data, _function(net, s.alpha))
        points(above, one.data, one.hints)
        _frame(above, one, f": descent to loss {10 ** descent[-1, 0]:.1g}")
        tell(f"flow on the {one.name} set")
        flows = [_flow_bends(s, one, factor) for factor in (s.factor, s.smaller)]
        for curve, style, factor in zip(flows, ("-", "--"), (s.factor, s.smaller), strict=True):
            below.plot(-curve[:, 0], curve[:, 1], style, c=PLUS, label=f"flow from {factor:g} × He")
            data[f"{one.name}_flow_{factor:g}"] = curve
        below.plot(-descent[:, 0], descent[:, 1], ".", c="black", label="descent, upper row")
        below.axhline(s.straight, c="0.6", lw=0.8, ls=":", label=f"{s.straight:g}°")
        below.set(xscale="log", yscale="log", xlabel="log₁₀(1/loss)", xlim=(0.2, -2 * s.depth))
        below.set(ylabel="bend of the boundary, degrees", title=f"{one.name}: the way on")
        below.legend(fontsize=8)
        data |= {f"{one.name}_W": net.W, f"{one.name}_a": net.a, f"{one.name}_descent": descent}
        claims += _fig2_claims(s, one, descent, *flows)
        smaller.append(float(flows[1][-1, 1]))
    text = f"largest bend, degrees, after the flow from {s.smaller:g} × He, about as far"
    claims.append(at_most("smaller", text, max(smaller), s.straight, 0))
    return Result(tuple(claims), figure, data)


def _fig2_claims(
    s: Fig2, one: Example, descent: np.ndarray, same: np.ndarray, smaller: np.ndarray
) -> list[Claim]:
    """Straight at the end of descent, and of the flow from the same start."""
    where = f"at a loss of 10^({same[-1, 0]:.4g})"
    claims = [
        at_most(f"{one.name}_{key}", f"{one.name}: degrees of bend {when}", degrees, s.straight, 0)
        for key, when, degrees in (
            ("descent", "after gradient descent", descent[-1, 1]),
            ("flow", f"after gradient flow from the same start, {where}", same[-1, 1]),
        )
    ]
    explained = not claims[1].holds and smaller[-1, 1] <= s.straight
    if explained and (restless := _restless(s, one)):
        why = (
            f"Where descent stops, {restless} of {s.width} neurons grow faster, for their size, "
            "than the neuron of the linear classifier does at its KKT point, and outgrow it in the "
            f"end; from {s.smaller:g} × He the boundary stays straight. Theorems 4.3 and A.7 ask "
            "for a start that is small enough."
        )
        claims[1] = replace(claims[1], finding=why)
    return claims


def _descend(s: Fig2, one: Example) -> tuple[np.ndarray, Net]:
    """T × 2, log₁₀ of the loss and the bend along gradient descent, and the network at its end."""
    flow = _flow_setting(s.alpha, s.width, f"he:{s.factor}")
    setting = replace(flow, rule="gd", lr=s.lr, stop=(f"loss:{s.loss}",))
    at = np.unique(np.geomspace(10, s.epochs, 40).astype(int)).tolist()
    many = train_many(setting, one.data, s.epochs, [s.seed], at)
    nets = [Net(**many.member(0, t)) for t in range(len(many.at))]
    way = []
    for net in nets:
        q = one.data.y * _function(net, s.alpha)(one.data.X)
        way.append((math.log10(max(np.logaddexp(0, -q).mean(), 1e-300)), bend(*net, s.alpha)))
    return np.array(way), nets[-1]


def _flow_bends(s: Fig2, one: Example, factor: float) -> np.ndarray:
    """The same along gradient flow."""
    setting = _flow_setting(s.alpha, s.width, f"he:{factor}")
    moments = _flow(setting, one.data, s.seed).run(s.depth * LN10, math.inf).moments
    log_n = math.log10(one.data.n)  # the flow has the sum of the losses
    return np.array(
        [(m.log_L / LN10 - log_n, bend(m.state.W, m.state.a, s.alpha)) for m in moments]
    )


def _restless(s: Fig2, one: Example) -> int:
    """Neurons that grow faster than those of the linear classifier, at its KKT point.

    There a small neuron of direction u and sign s grows at the relative rate s Σ λ_i y_i φ(u·x_i),
    and so do the classifier's own. Directions are those at the loss where descent stops.
    """
    data = one.data
    lam = two_layer_kkt(*one.linear, data.X, data.y, s.alpha).multipliers
    flow = _flow(_flow_setting(s.alpha, s.width, f"he:{s.factor}"), data, s.seed)
    state = flow.run(math.log(data.n * s.loss), math.inf).last.state

    def rates(W: np.ndarray, a: np.ndarray) -> np.ndarray:
        t = W / np.linalg.norm(W, axis=1)[:, None] @ data.X.T
        return np.sign(a) * (np.maximum(t, s.alpha * t) @ (lam * data.y))

    return int((rates(state.W, state.a) > (1 + EXACT) * rates(*one.linear).max()).sum())


# Figure 3

LANDSCAPE = {"projection": "3d", "computed_zorder": False}
"""Of panels; what is drawn later lies above."""
BACK = 1.0
"""w₂ where all trajectories start; they come to the front, where it is smaller."""
DRIFT = (((0.0, -0.25), 1), ((0.0, 0.25), -1))
"""Two points whose part of G is linear, so that neurons move along the edge too."""
EDGES = {
    "ridge": (((1.0, 0.0), 1), ((-1.0, 0.0), 1), *DRIFT),
    "valley": (((1.0, 0.0), -1), ((-1.0, 0.0), -1), *DRIFT),
    "refraction": (((1.0, 0.0), 1), *DRIFT),
}
"""Points and labels for which −G has that edge at w₁ = 0."""


@dataclass(frozen=True)
class Fig3(Settings):
    alpha: float = ours(0.5, "that of Figure 1; the paper's figure is a sketch")
    time: float = ours(14.0, "of the flow; neurons go about as far as the landscape is wide")
    apart: float = ours(1e-9, "distance of two neurons that start on either side of the edge")
    far: float = ours(0.1, "a distance that can be seen in the picture")
    n: int = ours(20, "points of the orthogonally separable sets")
    d: int = ours(5, "their dimension")
    width: int = ours(20, "neurons of the networks trained on them")
    runs: int = ours(10, "orthogonally separable sets, each with its own start")


@PAPER.artefact("fig3", "Figure 3, App. I.2", Fig3, quick={"runs": 3})
def fig3(s: Fig3, tell: Tell) -> Result:
    """Gradient flow at a ridge, in a valley and at a refraction edge.

    The paper's figure is a sketch; this one is computed. The landscapes are −G(w) of §5.1, what a
    small neuron with output weight 1 descends, for three or four points in the plane; each has its
    edge at w₁ = 0. Red are trajectories of the flow: on the ridge they may leave at any time and to
    either side, in the valley they meet and slide, at a refraction edge they cross and turn.

    A ridge is where neighbours part: two neurons that start 10⁻⁹ apart end far from each other. On
    orthogonally separable data all edges are refraction edges, so no flow slides or branches.
    """
    figure, (panels,) = new_figure(1, 3, size=(15.0, 5.2), subplot_kw=LANDSCAPE)
    claims: list[Claim] = []
    data: dict[str, np.ndarray] = {}
    for ax, (edge, labelled) in zip(panels, EDGES.items(), strict=True):
        X, y = (np.array(part) for part in zip(*labelled, strict=True))
        case = Dataset(X, y)
        paths = _edge_paths(s, edge, case)
        _draw_edge(ax, edge, s, case, paths)
        data |= {f"{edge}_path_{i}": path for i, path in enumerate(paths)}
        one, other = (_walk(s, case, (side * s.apart / 2, BACK))[-1] for side in (-1, 1))
        distance = float(np.linalg.norm(one - other))
        text = f"{edge}: distance, after the flow, of two neurons that start {s.apart:g} apart"
        if edge == "ridge":
            claims.append(at_least(edge, text, distance, s.far, "far apart"))
        else:
            claims.append(at_most(edge, text, distance, 10 * s.apart, "no branching"))
        claims.append(_edge_in_a_network(s, edge, case))
    tell("orthogonally separable data")
    slides = branched = 0
    for seed in range(s.seed, s.seed + s.runs):
        separable = load(f"orthogonal:n={s.n},d={s.d},seed={seed}")
        setting = _flow_setting(s.alpha, s.width, "balanced_gaussian:1e-3")
        path = _flow(setting, separable, seed).run(-100 * LN10)
        slides += sum(event.what == "slide" for event in path.events)
        branched += path.end == "branched"
    for key, what, count in (
        ("slides", "neurons that slide", slides),
        ("branches", "flows that branch", branched),
    ):
        text = f"orthogonally separable data: {what}, in {s.runs} networks"
        claims.append(at_most(f"orthogonal_{key}", text, count, 0, 0))
    departures = ("the paper sketches three surfaces without a formula; ours are −G of points",)
    return Result(tuple(claims), figure, data, departures)


def _edge_paths(s: Fig3, edge: str, case: Dataset) -> list[np.ndarray]:
    """Trajectories to draw; those on a ridge leave it at different times, to either side."""
    sideways = {"valley": (-0.8, -0.5, -0.2, 0.2, 0.5, 0.8), "refraction": (-1.2, -0.8, -0.4)}
    if edge in sideways:
        return [_walk(s, case, (w, BACK)) for w in sideways[edge]]
    speed = (1 + s.alpha) * case.X[-1, 1] / (2 * case.n)  # along the ridge: that of DRIFT
    paths = []
    for share in (0.0, 0.25, 0.5, 0.75):
        on_top = np.array([[0.0, BACK], [0.0, BACK - share * s.time * speed]])
        for side in (-1, 1):
            left = _walk(s, case, (side * s.apart, on_top[1, 1]), 1 - share)
            paths.append(np.vstack([on_top, left]))
    return paths


def _walk(s: Fig3, case: Dataset, at: tuple[float, float], share: float = 1.0) -> np.ndarray:
    """T × 2: a neuron with output weight 1 on its way along dw/dt ∈ ∂°G(w), a share of the time."""
    state = start(walls_of(case.X, case.y, s.alpha), np.array([at]), np.ones(1), both=False)
    path = [state.W[0].copy()]
    for _ in range(60):
        advance(state, case.y / (2 * case.n), share * s.time / 60)
        path.append(state.W[0].copy())
    return np.array(path)


def _edge_in_a_network(s: Fig3, edge: str, case: Dataset) -> Claim:
    """What the whole flow does that starts on such an edge (ridge), or near it."""
    expected = {"ridge": "branched", "valley": "slide", "refraction": "cross"}[edge]
    W = np.array([[0.0 if edge == "ridge" else -0.1, 0.5]])
    flow = begin(case.X, case.y, s.alpha, W, np.ones(1), True, "logistic")
    path = flow.run(-LN10)
    events = [event.what for event in path.events if event.wall == 0]
    did = path.end if path.end == "branched" else (events or ["nothing"])[0]
    text = f"{edge}: what the flow of a network does there"
    return true(f"{edge}_network", text, did == expected, did, expected)


def _draw_edge(ax: Any, edge: str, s: Fig3, case: Dataset, paths: list[np.ndarray]) -> None:
    front = min(0.0, *(float(path[:, 1].min()) for path in paths))
    wide = max(1.0, *(float(np.abs(path[:, 0]).max()) for path in paths))
    G = _function(Net(case.X, case.y / (2 * case.n)), s.alpha)  # §5.1, the points being the neurons
    U, V = np.meshgrid(np.linspace(-wide, wide, 41), np.linspace(front, BACK, 21))
    surface = -G(np.column_stack([U.ravel(), V.ravel()])).reshape(U.shape)
    ax.plot_surface(U, V, surface, cmap="cividis", alpha=0.8, lw=0)
    along = np.column_stack([np.zeros(21), V[:, 0]])
    ax.plot(*along.T, -G(along), c="0.2", lw=1.2, ls="--", label="edge w₁ = 0")
    for i, path in enumerate(paths):
        name = "trajectories" if i == 0 else None
        ax.plot(*path.T, -G(path), c="red", lw=1.8, label=name)
    starts = np.array([path[0] for path in paths])
    ax.plot(*starts.T, -G(starts), "o", c="red", ms=4, label="starts")
    ax.set(xlabel="w₁", ylabel="w₂", zlabel="−G(w)", xticks=[-1, 0, 1], yticks=[0, 0.5, 1])
    ax.set_title("refraction edge" if edge == "refraction" else edge, y=0.98)
    ax.set_zticks([])
    ax.zaxis.labelpad = -14
    ax.view_init(elev=32, azim=-72)
    ax.legend(fontsize=8, loc="upper left")


# Table 1 and figure 4

RAISED = (
    '"the learning rate is raised after interpolation": ours is lr divided by the loss, throughout',
    "the SVM separates the points that the network sees, with their constant coordinate",
)
TABLE = {
    10: (30.2, 30.5),
    20: (19.7, 18.9),
    30: (17.6, 15.6),
    40: (8.0, 7.1),
    50: (6.4, 5.9),
    60: (6.3, 5.1),
    70: (7.6, 6.5),
    80: (3.9, 3.1),
    90: (6.1, 5.2),
    100: (2.9, 2.9),
}
"""Table 1: n → test errors of the SVM and of the network, in percent."""


@dataclass(frozen=True)
class AppJ(Settings):
    sizes: tuple[int, ...] = paper((10, 20, 30, 40, 50, 60, 70, 80, 90, 100), "App. J")
    d: int = paper(50, "App. J")
    width: int = paper(100, "App. J")
    bias: float = paper(0.1, "App. J, the constant coordinate")
    factor: float = paper(1e-3, "App. J, times the He initialisation")
    lr: float = paper(0.01, "App. J, initial")
    alpha: float = ours(0.5, "that of Figure 1")
    margin: float = ours(0.4, '"mildly"; chosen so that the SVM has about the errors of Table 1')
    log10_loss: float = ours(-10.0, "where training stops")
    epochs: int = ours(50_000, "at most; the loss is reached earlier")

    def sets(self, n: int, runs: int = 1, test: int = 0) -> list[Dataset]:
        call = f"lyu2021_appJ:n={n},d={self.d},margin={self.margin},bias={self.bias},test={test}"
        first = 10**6 * self.seed + 1000 * n
        return [load(f"{call},seed={first + i}") for i in range(runs)]

    def train(self, sets: list[Dataset]) -> list[Net]:
        """Steps of lr/loss: the rate rises as the points are fitted."""
        setting = replace(
            _flow_setting(self.alpha, self.width, f"he:{self.factor}"),
            rule="gd",
            lr=self.lr,
            step="scaled",
            stop=(f"log10_loss:{self.log10_loss}",),
        )
        many = train_many(setting, sets, self.epochs, range(self.seed, self.seed + len(sets)))
        return [Net(**many.member(i)) for i in range(many.size)]


@dataclass(frozen=True)
class Table1(AppJ):
    test: int = paper(10_000, "App. J")
    runs: int = ours(30, "data sets of each size, for a mean with its interval; the paper has one")
    agree: float = ours(2.5, "points; the columns of Table 1 differ by up to 2.0")


@PAPER.artefact("table1", "Table 1, App. J", Table1, quick={"sizes": (10, 50, 100), "runs": 8})
def table1(s: Table1, tell: Tell) -> Result:
    """Test errors of the max-margin linear classifier and of two-layer nets.

    The paper has one data set of each size; here every number is a mean over many, with its 99%
    interval, so that the columns fall steadily. The table is drawn on the left; on the right both
    columns, the paper's and ours. How far single sets scatter says how near the paper's numbers
    must be to our means.
    """
    errors = np.zeros((len(s.sizes), 2, s.runs))
    for row, n in enumerate(s.sizes):
        tell(f"{s.runs} networks on {n} points")
        sets = s.sets(n, s.runs, s.test)
        for i, (one, net) in enumerate(zip(sets, s.train(sets), strict=True)):
            assert one.test is not None
            w = max_margin(one.y[:, None] * one.X).direction
            for column, f in enumerate((_plane(w), _function(net, s.alpha))):
                errors[row, column, i] = 100 * np.mean(~(one.test.y * f(one.test.X) > 0))
    said = np.array([TABLE.get(n, (np.nan, np.nan)) for n in s.sizes])
    data = {"n": np.array(s.sizes), "svm": errors[:, 0], "network": errors[:, 1], "paper": said}
    figure = _draw_table(s.sizes, errors, said)
    return Result(_table1_claims(s, errors, said), figure, data, RAISED)


def _table1_claims(s: Table1, errors: np.ndarray, said: np.ndarray) -> tuple[Claim, ...]:
    """The columns agree, fall from 30% to 3%, and are the paper's as nearly as one set can tell."""
    means, scatter = errors.mean(axis=2), _scatter(errors)
    worst = int(np.abs(means[:, 0] - means[:, 1]).argmax())
    larger = int(means[worst].argmax())
    apart = errors[worst, larger] - errors[worst, 1 - larger]
    n = s.sizes[worst]
    text = f"mean errors of the columns agree within {s.agree:g} points; furthest apart, at n = {n}"
    most = max(abs(svm - net) for svm, net in TABLE.values())
    agree = at_most("agree", text, float(apart.mean()), s.agree, round(most, 3))
    claims = [replace(agree, interval=mean_interval(apart))]
    known = np.array([n in TABLE for n in s.sizes])
    groups = {f"{n}": np.array(s.sizes) == n for n in (10, 100)} | {"all": known}
    for (key, rows), (i, name) in product(groups.items(), enumerate(("SVM", "network"))):
        if rows.any() and s.runs > 1:  # one set says nothing of the scatter
            off = float(np.linalg.norm(scatter[rows, i])) / rows.sum()
            where = "all sizes" if key == "all" else f"n = {key}"
            text = f"{name}, {where}: mean error in percent; single sets are within ± {off:.1f}"
            mine, printed = (float(table[rows, i].mean()) for table in (means, said))
            claim = near(f"{name}_{key}", text, mine, printed, off)
            claims.append(replace(claim, interval=mean_interval(errors[rows, i].mean(axis=0))))
    return tuple(claims)


def _scatter(errors: np.ndarray) -> np.ndarray:
    """How far from our means (over the last axis) one more data set lies with 99% confidence."""
    half = np.array([[mean_interval(cell)[1] - cell.mean() for cell in row] for row in errors])
    return half * math.sqrt(errors.shape[-1] + 1)


def _draw_table(sizes: tuple[int, ...], errors: np.ndarray, said: np.ndarray) -> Any:
    """The table with the paper's numbers, and the two columns as curves."""
    figure, ((left, right),) = new_figure(1, 2, size=(13.5, 4.8), width_ratios=(1.25, 1))
    means = errors.mean(axis=2)
    scatter = _scatter(errors)
    half = scatter / math.sqrt(errors.shape[-1] + 1)  # of the mean
    names = ["dataset size", "SVM", "2-layer net", "SVM, paper", "net, paper"]
    rows = [
        [
            str(n),
            *(f"{x:.1f} ± {e:.1f}%" for x, e in zip(mean, off, strict=True)),
            *(f"{x}%" for x in printed),
        ]
        for n, mean, off, printed in zip(sizes, means, half, said, strict=True)
    ]
    table = left.table(cellText=rows, colLabels=names, loc="center", cellLoc="center")
    table.auto_set_font_size(False)
    table.set_fontsize(9)
    table.scale(1, 1.35)
    left.set_axis_off()
    left.set_title(f"test error, mean of {errors.shape[2]} data sets with 99% interval")
    style: dict[str, Any] = {"capsize": 3, "marker": "o", "ms": 3}
    for i, (name, colour) in enumerate((("SVM", MINUS), ("2-layer net", PLUS))):
        right.errorbar(sizes, means[:, i], half[:, i], c=colour, label=f"{name}, ours", **style)
        right.plot(sizes, said[:, i], "x", c=colour, label=f"{name}, paper (one set)")
        low, high = means[:, i] - scatter[:, i], means[:, i] + scatter[:, i]
        right.fill_between(sizes, low, high, color=colour, alpha=0.1, lw=0, label="99% of sets")
    right.set(xlabel="dataset size n", ylabel="test error, percent", ylim=(0, None))
    right.set_title("the same as curves")
    right.legend()
    return figure


@dataclass(frozen=True)
class Fig4(AppJ):
    differ: float = ours(0.03, "share of a picture; lines that are 5 degrees apart differ there")
    reach: float = ours(3.5, "half the side of the pictures; nearly all points lie inside")
    flow_at: int = ours(10, "the size at which the flow is followed to its end; it takes seconds")
    limit_angle: float = ours(1.0, "degrees between directions that are the same")


@PAPER.artefact("fig4", "Figure 4, App. J", Fig4, quick={"sizes": (10, 50, 100)})
def fig4(s: Fig4, tell: Tell) -> Result:
    """Boundaries of the network and of the max-margin linear classifier in a plane through 0.

    The plane is spanned by the first axis (horizontal; the true separator is the vertical line
    through 0) and the second one; all points are projected onto it. Colours are the network's
    output, lighter is higher, with its boundary in white; the red line is the max-margin linear
    classifier's. The two lie close together at every size.

    The paper concludes that the network converges to the max-margin linear classifier. At the
    smallest size the flow is followed to its end, which is near that classifier, but is not it: a
    network with a wider margin than any linear function has.
    """
    columns = min(5, len(s.sizes))
    rows = -(-len(s.sizes) // columns)
    figure, panels = new_figure(rows, columns, size=(3.3 * columns, 3.3 * rows + 0.5))
    window = (-s.reach, s.reach, -s.reach, s.reach)
    shares = []
    data: dict[str, np.ndarray] = {"n": np.array(s.sizes)}
    for ax, n in zip(panels.ravel(), s.sizes, strict=False):
        tell(f"a network on {n} points")
        (one,) = s.sets(n)
        (net,) = s.train([one])
        w = max_margin(one.y[:, None] * one.X).direction
        f = _function(net, s.alpha)
        flat = grid(window, one)[2]
        shares.append(float(np.mean((f(flat) > 0) != (flat @ w > 0))))
        output_colours(ax, window, one, f)
        zero_line(ax, window, one, _plane(w), "red")
        points(ax, one)
        ax.set(title=f"n = {n}", xlim=window[:2], ylim=window[2:], aspect="equal")
        ax.set(xlabel="x₁", ylabel="x₂")
        data |= {f"W_{n}": net.W, f"a_{n}": net.a, f"w_{n}": w}
    for ax in panels.ravel()[len(s.sizes) :]:
        ax.set_axis_off()
    panels[0, 0].plot([], [], c="red", label="max-margin linear classifier")
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=4, fontsize=9)
    tell("the flow to its end")
    (one,) = s.sets(s.flow_at)
    end = _end(_flow_setting(s.alpha, s.width, f"he:{s.factor}"), one, s.seed)
    text = "largest share of a picture in which the network and the linear classifier differ"
    claims = [at_most("same", text, max(shares), s.differ)]
    if _told(end):
        claims.append(_limit_claim(s, one, end))
    departures = RAISED + _left_out(np.array([_told(end)]))
    return Result(tuple(claims), figure, data | {"shares": np.array(shares)}, departures)


def _limit_claim(s: Fig4, data: Dataset, end: Limit) -> Claim:
    """Whether the flow converges to the max-margin linear classifier, as the paper concludes."""
    best = max_margin(data.y[:, None] * data.X)
    text = f"n = {s.flow_at}: angle of the flow's limit to the linear classifier, in degrees"
    if end.W is None or end.a is None or end.margin is None:
        return true("limit", text, False, end.outcome, 0)
    u = end.a @ end.W  # along the odd part of f
    cosine = float(u @ best.direction / np.linalg.norm(u))
    claim = at_most("limit", text, math.degrees(math.acos(min(cosine, 1.0))), s.limit_angle, 0)
    linear = (1 + s.alpha) / 4 * best.upper  # the widest of linear functions
    if not claim.holds and end.margin > linear:
        why = (
            f"The flow ends at a KKT point of margin {end.margin:.4f}, while networks that are "
            f"linear functions have {linear:.4f} at most: on these sets, which are not symmetric, "
            "the limit is near the max-margin linear classifier, but is not it."
        )
        claim = replace(claim, finding=why)
    return claim


# The probabilities of the theorems


@dataclass(frozen=True)
class Prob(Settings):
    alpha: float = paper(0.5, "Figure 1")
    widths: tuple[int, ...] = ours((1, 2, 3, 4, 5), "the bounds are near 1 for more")
    symmetric: str = ours("n=8,d=2", "the set of Theorem 4.3")
    hinted: str = ours("n=4,d=2", "the set of Theorem 6.2, before the three hints")
    sigma: float = ours(1e-9, "small enough for all starts of an ensemble")
    runs: int = ours(50, "flows of each width, for each theorem")
    draws: int = ours(100_000, "starts of which only the property is looked at, for each width")
    off: float = ours(0.01, "six standard deviations of a share of that many draws")


class Probable(NamedTuple):
    """A theorem that holds with a probability over the start."""

    id: str
    name: str
    data: Dataset
    init: str
    least: int
    """The least width that it speaks of."""
    bound: Callable[[int], float]
    asked: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """Whether initial weights (… × m × d and … × m) are such that the proof goes through."""
    end: Net
    """The function at the end."""


class Ensemble(NamedTuple):
    """Random starts of networks of several widths (rows), and what became of them."""

    widths: list[int]
    bounds: np.ndarray
    """The theorem's, one for each width."""
    shares: np.ndarray
    """Of starts that the proof asks for, among many draws."""
    asked: np.ndarray
    """Whether the proof asks for the start of each flow …"""
    told: np.ndarray
    """… whether its end was found …"""
    hits: np.ndarray
    """… and whether it is the theorem's."""


@PAPER.artefact("prob", "Theorems 4.3 and 6.2", Prob, quick={"widths": (2, 3), "runs": 2})
def prob(s: Prob, tell: Tell) -> Result:
    """The probabilities 1 − 2^(−(m−1)) and 1 − 2^(−m) with which the theorems' limits are reached.

    Dots are the shares of random starts from which gradient flow ends at the function that the
    theorem names, with 99% intervals; lines are the theorems' bounds. On symmetric data that is the
    max-margin linear classifier, and it needs neurons that pull to both sides; on hinted data one
    Leaky ReLU, and it needs a neuron with positive output weight. Crosses are the shares of starts
    with that property among many more. The two shares are the same thing: every flow whose start
    has the property ends where the theorem says.
    """
    figure, (panels,) = new_figure(1, 2, size=(11.0, 4.4))
    claims: list[Claim] = []
    data: dict[str, np.ndarray] = {}
    told: list[np.ndarray] = []
    for ax, theorem in zip(panels, _theorems(s), strict=True):
        found = _ensemble(s, theorem, tell)
        if not found.widths:  # Theorem 4.3 has nothing to say of one neuron
            ax.set_axis_off()
            continue
        claims += _prob_claims(s, theorem, found)
        _draw_shares(ax, theorem.name, found)
        told.append(found.told.ravel())
        data |= {f"{theorem.id}_{key}": np.array(row) for key, row in found._asdict().items()}
    return Result(tuple(claims), figure, data, _left_out(np.concatenate(told)))


def _ensemble(s: Prob, theorem: Probable, tell: Tell) -> Ensemble:
    widths = [m for m in s.widths if m >= theorem.least]
    asked, told, hits = np.zeros((3, len(widths), s.runs), dtype=bool)
    shares = np.zeros(len(widths))
    for row, m in enumerate(widths):
        tell(f"{theorem.name}: {s.runs} flows of width {m}")
        setting = _flow_setting(s.alpha, m, theorem.init)
        for i in range(s.runs):
            seed = 10**6 * s.seed + 1000 * m + i
            end = _end(setting, theorem.data, seed)
            asked[row, i] = theorem.asked(*drawn(setting, theorem.data, seed))
            told[row, i] = _told(end)
            hits[row, i] = _is_function_of(end, theorem.end, s.alpha)
        W, a = drawn(replace(setting, width=m * s.draws), theorem.data, s.seed + 1)
        shares[row] = theorem.asked(W.reshape(s.draws, m, -1), a.reshape(s.draws, m)).mean()
    return Ensemble(widths, np.array([theorem.bound(m) for m in widths]), shares, asked, told, hits)


def _theorems(s: Prob) -> tuple[Probable, Probable]:
    pairs = load(f"symmetric:{s.symmetric},seed={s.seed}")
    w = max_margin(pairs.y[:, None] * pairs.X).direction
    mean = pairs.y @ pairs.X / np.linalg.norm(pairs.y @ pairs.X)  # µ̄
    hinted = load(f"hinted:{s.hinted},alpha={s.alpha},seed={s.seed}")
    hint = hinted.X[0] / np.linalg.norm(hinted.X[0])  # w* of Definition 6.1

    def both_signs(W: np.ndarray, a: np.ndarray) -> np.ndarray:
        b = W @ mean + a  # b̄ of Lemma 5.2, up to a positive factor
        return (b.min(axis=-1) < 0) & (b.max(axis=-1) > 0)

    def one_positive(W: np.ndarray, a: np.ndarray) -> np.ndarray:
        return a.max(axis=-1) > 0

    name, init = "Theorem 4.3, symmetric data", f"pair:{s.sigma}:1"
    first = Probable(
        "thm4.3", name, pairs, init, 2, lambda m: 1 - 2 ** (1.0 - m), both_signs, _linear(w)
    )
    name, init = "Theorem 6.2, hinted data", f"balanced_gaussian:{s.sigma}"
    return first, Probable(
        "thm6.2", name, hinted, init, 1, lambda m: 1 - 2.0**-m, one_positive, _one_neuron(hint)
    )


def _prob_claims(s: Prob, theorem: Probable, found: Ensemble) -> list[Claim]:
    """The probability, and where it comes from: each start that the proof asks for ends there."""
    name, counts = theorem.name, found.told.sum(axis=1)
    missed, off = (found.asked & found.told & ~found.hits).sum(), found.shares - found.bounds
    text = f"{name}: starts that the proof asks for and that end elsewhere"
    claims = [at_most(f"{theorem.id}_missed", text, missed, 0, 0)]
    text = f"{name}: largest difference of the share of such starts from the bound"
    claims.append(at_most(f"{theorem.id}_starts", text, np.abs(off).max(), s.off, 0))
    if total := int(counts.sum()):
        text = f"{name}: probability, over all widths, that the flow ends where it says"
        hits, bound = int(found.hits.sum()), float(found.bounds @ counts / total)
        claims.append(probability_at_least(theorem.id, text, hits, total, bound))
    return claims


def _draw_shares(ax: Any, name: str, found: Ensemble) -> None:
    hits, counts = found.hits.sum(axis=1), np.maximum(found.told.sum(axis=1), 1)
    ends = [share_interval(int(k), int(n)) for k, n in zip(hits, counts, strict=True)]
    away = np.abs(np.array(ends).T - hits / counts)
    ax.plot(found.widths, found.bounds, "-", c="0.5", label="the theorem's bound")
    label = f"flows that end there ({found.hits.shape[1]} each)"
    ax.errorbar(found.widths, hits / counts, away, fmt="o", c=PLUS, capsize=4, label=label)
    ax.plot(found.widths, found.shares, "x", c=MINUS, ms=8, label="starts that the proof asks for")
    ax.set(xlabel="width m", ylabel="share of random starts", ylim=(0, 1.05), xticks=found.widths)
    ax.set_title(name)
    ax.legend(loc="lower right", fontsize=8)


# Shared


def _end(setting: Setting, data: Dataset, seed: int) -> Limit:
    """The end of the flow; one that is open, maybe for want of time, is looked for further down."""
    found = find(setting, data, seed)
    return found if found.outcome != "undecided" else find(setting, data, seed, log10_loss=-1e7)


def _told(end: Limit) -> bool:
    """Whether it was found what becomes of the flow."""
    return end.outcome != "undecided"


def _left_out(told: np.ndarray) -> tuple[str, ...]:
    """What a reader must know of flows whose end was not found."""
    left = int((~told).sum())
    return (f"{left} of {told.size} flows had no end in the time given; not counted",) * (left > 0)


def _flow_setting(alpha: float, width: int, init: str) -> Setting:
    return Setting(activation=f"leaky:{alpha}", width=width, init=init, rule="flow")


def _flow(setting: Setting, data: Dataset, seed: int) -> Flow:
    alpha, (W, a) = parse_activation(setting.activation), drawn(setting, data, seed)
    return begin(data.X, data.y, alpha, W, a, True, "logistic")


def _linear(w: np.ndarray) -> Net:
    """(1+α)/4 w·x, of unit norm (Lemma F.3)."""
    return Net(np.array([w, -w]) / 2, np.array([0.5, -0.5]))


def _one_neuron(w: np.ndarray) -> Net:
    """½ φ(w·x), of unit norm (Lemma A.4)."""
    return Net(w[None] / math.sqrt(2), np.array([1 / math.sqrt(2)]))


def _plane(w: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda X: X @ w


def _function(net: Net, alpha: float) -> Callable[[np.ndarray], np.ndarray]:
    def f(X: np.ndarray) -> np.ndarray:
        t = X @ net.W.T
        return np.maximum(t, alpha * t) @ net.a

    return f


def _at_unit_norm(net: Net) -> Net:
    size = math.sqrt((net.W**2).sum() + (net.a**2).sum())
    return Net(net.W / size, net.a / size)


def _margin(net: Net, data: Dataset, alpha: float) -> float:
    return float((data.y * _function(_at_unit_norm(net), alpha)(data.X)).min())


def _is_function_of(found: Limit, wanted: Net, alpha: float) -> bool:
    """Whether the limit is the function of that network, both at unit norm."""
    if found.W is None or found.a is None:
        return False
    X = np.random.default_rng(0).standard_normal((200, wanted.W.shape[1]))
    nets = _at_unit_norm(Net(found.W, found.a)), _at_unit_norm(wanted)
    mine, target = (_function(net, alpha)(X) for net in nets)
    return bool(np.abs(mine - target).max() <= EXACT * np.abs(target).max())


def _frame(ax: Any, one: Example, more: str = "") -> None:
    a, b, c, d = one.window
    plane = " on z = c" if one.data.d > 2 else ""
    ax.set(xlim=(a, b), ylim=(c, d), xlabel="x₁", ylabel="x₂", title=one.name + plane + more)
    if one.name == "right":  # its first hint is far outside
        text, near_by = f"({one.data.parameters['H']:.3g}, 0)", {"textcoords": "offset points"}
        ax.annotate(text, (b, 0), (-8, 6), ha="right", size=8, color=PLUS, **near_by)
        arrow = {"arrowstyle": "->", "color": PLUS}
        ax.annotate("", (b, 0), (-45, 0), arrowprops=arrow, **near_by)
    legend_below(ax)
