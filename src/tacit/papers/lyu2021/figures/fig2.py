"""Figure 2: training on the sets of figure 1 ends in linear boundaries."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.certificates import two_layer_kkt
from tacit.measures.boundary import bend
from tacit.numerics.float64 import LN10
from tacit.papers.lyu2021.drawing import draw_bends, draw_outputs, draw_points, frame
from tacit.papers.lyu2021.figures import PAPER
from tacit.papers.lyu2021.figures.example_sets import ExampleSet, example_sets
from tacit.papers.lyu2021.figures.flows import EXACT, begin_flow, flow_setting
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Settings, Tell, ours, paper
from tacit.reproduction.claims import at_most
from tacit.training import train_many
from tacit.values import Network

ROUNDING = 1e-4
"""Degrees of bend that may be rounding error."""


@dataclass(frozen=True)
class Fig2(Settings):
    alpha: float = paper(0.5, "Figure 1")
    factor: float = paper(1e-3, "App. I.1.3, times the He initialisation")
    width: int = ours(100, "the width of App. J")
    lr: float = ours(0.01, 'App. I.1.3 says "small"; ten times less gives the same pictures')
    loss: float = ours(1e-3, "where descent stops; the lower row shows the losses beyond")
    epochs: int = ours(1_000_000, "at most; the loss is reached earlier")
    smaller: float = ours(1e-5, "a start that is small enough; chosen after 0.001 was not")
    depth: float = ours(
        -1e9, "log₁₀ of the loss down to which the flow is followed; bends come late"
    )
    straight: float = ours(0.5, "degrees of bend up to which a drawn line looks straight")


@PAPER.artefact("fig2", "Figure 2, App. I.1.3", Fig2, quick={"width": 20, "loss": 1e-2})
def fig2(s: Fig2, tell: Tell) -> Exhibit:
    """Training on the three sets of figure 1 ends in linear boundaries.

    The upper row shows what gradient descent has learned: lighter colours are higher outputs, and
    the boundary (white) is a straight line. The lower row shows by how many degrees the boundary is
    bent, against log₁₀(1/loss): along descent (dots), along gradient flow from the same weights
    (solid) and from a hundredth of them (dashed). Descent stops where all curves are low.

    The paper's nets are those of the upper row. The flow goes on, and there the scale decides.
    Where a few of the initial neurons are not yet aligned when the weights leave zero, they outgrow
    the others in the end, and the boundary bends at losses that no descent reaches (no paper says
    otherwise: Theorems 4.3 and A.7 ask for a start that is small enough). From a smaller start it
    stays straight.
    """
    figure, panels = new_figure(2, 3, size=(14.0, 8.4))
    claims: list[Claim] = []
    data: dict[str, np.ndarray] = {}
    bends, outgrown = [], []
    for (above, below), one in zip(panels.T, example_sets(s.alpha), strict=True):
        tell(f"descent on the {one.name} set")
        descent, network = bends_of_descent(s, one)
        tell(f"flow on the {one.name} set")
        flows = {factor: bends_of_flow(s, one, factor) for factor in (s.factor, s.smaller)}
        draw_outputs(above, one.window, one.data, network.outputs)
        draw_points(above, one.data, one.hints)
        title = f"{one.title}\ndescent to a loss of {10 ** descent[-1, 0]:.1g}"
        frame(above, one.window, title, one.far_hint)
        draw_bends(below, descent, flows, s.straight, -2 * s.depth, "along the way")
        data |= {f"{one.name}_flow_{factor:g}": curve for factor, curve in flows.items()}
        data |= {f"{one.name}_W": network.W, f"{one.name}_a": network.a}
        data |= {f"{one.name}_descent": descent}
        text = f"{one.name}: degrees of bend after gradient descent"
        bent = float(descent[-1, 1])
        claims.append(at_most(f"{one.name}_descent", text, bent, s.straight, "linear"))
        bends.append((bends_in_the_end(s, flows[s.factor]), float(flows[s.smaller][-1, 1])))
        outgrown.append(outgrowing_neurons(s, one))
    return Exhibit((*claims, *claims_of_flows(s, bends, outgrown)), figure, data)


def claims_of_flows(
    s: Fig2, bends: Sequence[tuple[bool, float]], outgrown: Sequence[int]
) -> tuple[Claim, Claim]:
    """What the theory says of small starts, and which sets bend from the start of descent.

    `bends` has for every set whether the boundary bends in the end of the flow from the start of
    descent, and the degrees at the end of the flow from the smaller one; `outgrown` the neurons
    that outgrow those of the linear classifier.
    """
    text = f"largest bend, degrees, after the flow from {s.smaller:g} × He to a loss below "
    text += f"10^({s.depth:g})"
    small = max(after for _, after in bends)
    foretold = "sets whose boundary is bent, or bends more and more, at the end of the flow from "
    foretold += "the start of descent, or has neurons that outgrow the linear classifier's at its "
    foretold += "KKT point, but not both"
    pairs = zip(bends, outgrown, strict=True)
    differ = sum(bent != (faster > 0) for (bent, _), faster in pairs)
    return (
        at_most("smaller", text, small, s.straight, "converges to it, from a small start"),
        at_most("outgrown", foretold, differ, 0),
    )


def bends_in_the_end(s: Fig2, curve: np.ndarray) -> bool:
    """Whether the end of a flow is bent, or twice as bent as at a thousandth of its log(1/loss).

    A neuron that grows only little faster than the others bends the boundary as slowly.
    """
    depth, degrees = -curve[:, 0], curve[:, 1]
    earlier = degrees[np.searchsorted(depth, depth[-1] / 1000)]
    return bool(degrees[-1] > min(s.straight, max(2 * earlier, ROUNDING)))


def bends_of_descent(s: Fig2, one: ExampleSet) -> tuple[np.ndarray, Network]:
    """T × 2, log₁₀ of the loss and the bend along gradient descent, and the network at its end."""
    flow = flow_setting(s.alpha, s.width, f"he:{s.factor}")
    setting = flow.replace(rule="gd", lr=s.lr, stop=(f"loss:{s.loss}",))
    at = np.unique(np.geomspace(10, s.epochs, 40).astype(int)).tolist()
    many = train_many(one.data, setting, s.epochs, [s.seed], at)
    networks = [Network(**many.member(0, t), alpha=s.alpha) for t in range(len(many.at))]
    curve = []
    for network in networks:
        losses = np.logaddexp(0, -network.margins(one.data.X, one.data.y))
        log10_loss = math.log10(max(losses.mean(), 1e-300))
        curve.append((log10_loss, bend(network.W, network.a, s.alpha)))
    return np.array(curve), networks[-1]


def bends_of_flow(s: Fig2, one: ExampleSet, factor: float) -> np.ndarray:
    """T × 2, log₁₀ of the loss and the bend along gradient flow."""
    setting = flow_setting(s.alpha, s.width, f"he:{factor}")
    moments = begin_flow(setting, one.data, s.seed).run(s.depth * LN10, math.inf).moments
    log_n = math.log10(one.data.n)  # the flow has the sum of the losses
    return np.array(
        [(m.log_L / LN10 - log_n, bend(m.state.W, m.state.a, s.alpha)) for m in moments]
    )


def outgrowing_neurons(s: Fig2, one: ExampleSet) -> int:
    """The number of neurons that grow faster than those of the linear classifier, at its KKT point.

    There a small neuron of direction u and sign s grows at the relative rate s Σ λ_i y_i φ(u·x_i),
    and so do the classifier's own. Directions are those at the loss where descent stops.
    """
    data, linear = one.data, one.linear
    lam = two_layer_kkt(data, linear).multipliers
    flow = begin_flow(flow_setting(s.alpha, s.width, f"he:{s.factor}"), data, s.seed)
    state = flow.run(math.log(data.n * s.loss), math.inf).last.state

    def rates(W: np.ndarray, a: np.ndarray) -> np.ndarray:
        t = W / np.linalg.norm(W, axis=1)[:, None] @ data.X.T
        return np.sign(a) * (np.maximum(t, s.alpha * t) @ (lam * data.y))

    return int((rates(state.W, state.a) > (1 + EXACT) * rates(linear.W, linear.a).max()).sum())
