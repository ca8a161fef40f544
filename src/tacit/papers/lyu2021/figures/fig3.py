"""Figure 3: gradient flow at a ridge, in a valley and at a refraction edge."""

from dataclasses import dataclass

import numpy as np

from tacit.data import load
from tacit.flow.follow import begin
from tacit.flow.hyperplanes import hyperplanes_of
from tacit.flow.stage import advance
from tacit.flow.state import start
from tacit.numerics.float64 import LN10
from tacit.papers.lyu2021.drawing import LANDSCAPE, draw_landscape
from tacit.papers.lyu2021.figures import PAPER
from tacit.papers.lyu2021.figures.flows import begin_flow, flow_setting
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Settings, Tell, ours
from tacit.reproduction.claims import at_least, at_most, true
from tacit.values import Dataset, Network

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
def fig3(s: Fig3, tell: Tell) -> Exhibit:
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
    for ax, edge in zip(panels, EDGES, strict=True):
        points = edge_points(edge)
        paths = _trajectories(s, edge, points)
        G = Network(points.X, points.y / (2 * points.n), s.alpha)  # §5.1, points being its neurons
        title = "refraction edge" if edge == "refraction" else edge
        draw_landscape(ax, G.outputs, paths, BACK, title)
        data |= {f"{edge}_path_{i}": path for i, path in enumerate(paths)}
        claims += [_do_neighbours_part(s, edge, points), _edge_in_a_network(s, edge, points)]
    tell("orthogonally separable data")
    claims += _orthogonally_separable(s)
    departures = ("the paper sketches three surfaces without a formula; ours are −G of points",)
    return Exhibit(tuple(claims), figure, data, departures)


def edge_points(edge: str) -> Dataset:
    """The points for which −G has this edge."""
    X, y = (np.array(part) for part in zip(*EDGES[edge], strict=True))
    return Dataset(X, y)


def _trajectories(s: Fig3, edge: str, points: Dataset) -> list[np.ndarray]:
    """Trajectories to draw; those on a ridge leave it at different times, to either side."""
    sideways = {"valley": (-0.8, -0.5, -0.2, 0.2, 0.5, 0.8), "refraction": (-1.2, -0.8, -0.4)}
    if edge in sideways:
        return [_follow_neuron(s, points, (w, BACK)) for w in sideways[edge]]
    speed = (1 + s.alpha) * points.X[-1, 1] / (2 * points.n)  # along the ridge: that of DRIFT
    paths = []
    for share in (0.0, 0.25, 0.5, 0.75):
        on_top = np.array([[0.0, BACK], [0.0, BACK - share * s.time * speed]])
        for side in (-1, 1):
            left = _follow_neuron(s, points, (side * s.apart, on_top[1, 1]), 1 - share)
            paths.append(np.vstack([on_top, left]))
    return paths


def _follow_neuron(
    s: Fig3, points: Dataset, at: tuple[float, float], share: float = 1.0
) -> np.ndarray:
    """T × 2: a neuron with output weight 1 along dw/dt ∈ ∂°G(w), for a share of the time."""
    state = start(
        hyperplanes_of(points.X, points.y, s.alpha), np.array([at]), np.ones(1), both=False
    )
    path = [state.W[0].copy()]
    for _ in range(60):
        advance(state, points.y / (2 * points.n), share * s.time / 60)
        path.append(state.W[0].copy())
    return np.array(path)


def _do_neighbours_part(s: Fig3, edge: str, points: Dataset) -> Claim:
    """Two neurons that start on either side of the edge part at a ridge only."""
    one, other = (_follow_neuron(s, points, (side * s.apart / 2, BACK))[-1] for side in (-1, 1))
    distance = float(np.linalg.norm(one - other))
    text = f"{edge}: distance, after the flow, of two neurons that start {s.apart:g} apart"
    if edge == "ridge":
        return at_least(edge, text, distance, s.far, "far apart")
    return at_most(edge, text, distance, 10 * s.apart, "no branching")


def _edge_in_a_network(s: Fig3, edge: str, points: Dataset) -> Claim:
    """What the whole flow does that starts on such an edge (ridge), or near it."""
    expected = {"ridge": "branched", "valley": "slide", "refraction": "cross"}[edge]
    W = np.array([[0.0 if edge == "ridge" else -0.1, 0.5]])
    path = begin(points.X, points.y, s.alpha, W, np.ones(1), True, "logistic").run(-LN10)
    events = [event.what for event in path.events if event.plane == 0]
    did = path.end if path.end == "branched" else (events or ["nothing"])[0]
    text = f"{edge}: what the flow of a network does there"
    return true(f"{edge}_network", text, did == expected, did, expected)


def _orthogonally_separable(s: Fig3) -> list[Claim]:
    """No neuron slides and no flow branches on orthogonally separable data."""
    slides = branched = 0
    for seed in range(s.seed, s.seed + s.runs):
        data = load(f"orthogonal:n={s.n},d={s.d},seed={seed}")
        setting = flow_setting(s.alpha, s.width, "balanced_gaussian:1e-3")
        path = begin_flow(setting, data, seed).run(-100 * LN10)
        slides += sum(event.what == "slide" for event in path.events)
        branched += path.end == "branched"
    return [
        at_most(
            f"orthogonal_{key}",
            f"orthogonally separable data: {what}, in {s.runs} networks",
            count,
            0,
            "none (I.2.1)",
        )
        for key, what, count in (
            ("slides", "neurons that slide", slides),
            ("branches", "flows that branch", branched),
        )
    ]
