"""Gradient descent on the two points: directions of the neurons, and what becomes of them."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.data import load
from tacit.papers.wang2022 import drawing as draw
from tacit.papers.wang2022.figures.flows import seed_of
from tacit.papers.wang2022.figures.two_points import PlaneSettings, TwoPoints
from tacit.papers.wang2022.rectified_ellipsoid import hyperplane_directions, spikes
from tacit.reproduction.artefact import Claim, Tell, ours, paper
from tacit.reproduction.claims import at_most
from tacit.training import Many, train_many
from tacit.values import Setting


@dataclass(frozen=True)
class DescentSettings(PlaneSettings):
    width: int = paper(10, "App. F.1")
    iterations: tuple[int, ...] = paper((1, 10, 100, 1000, 10_000), "App. F.1")
    scale: float = ours(1e-4, "‖w‖ = |a| of a neuron at the start; the theorems want it small")
    lr: float = ours(0.1, "step size of gradient descent; not stated")
    runs: int = ours(1, "the initialisation that is drawn")
    angle: float = ours(0.02, "rad; neurons so near an optimal neuron have converged to it")
    negligible: float = ours(1e-6, "neurons with a smaller share of Σ|a|‖w‖ play no part")


def descend(s: DescentSettings, tell: Tell) -> Many:
    """Train from every start; weights are kept often enough for smooth curves."""
    tell(f"gradient descent from {s.runs} starts")
    last = max(s.iterations)
    at = {*range(200), *s.iterations, *np.geomspace(200, max(last, 201), 30).astype(int).tolist()}
    setting = Setting(
        width=s.width, init=f"balanced:{s.scale}", lr=s.lr, loss="logistic:sum"
    )  # (3)
    seeds = [seed_of(s, i) for i in range(s.runs)]
    return train_many(load(s.data), setting, last, seeds, sorted(at))


def directions_of(many: Many) -> np.ndarray:
    """w/‖w‖ at all moments: moments × runs × neurons × 2."""
    W = many.weights["W"]
    return W / np.maximum(np.linalg.norm(W, axis=-1, keepdims=True), 1e-300)


def marked(many: Many, s: DescentSettings) -> list[int]:
    """The moments of the iterations that the paper shows."""
    return [int(np.searchsorted(many.at, t)) for t in s.iterations]


def draw_directions(ax: Any, points: TwoPoints, many: Many, i: int, s: DescentSettings) -> None:
    """Draw w/‖w‖ of run i on the circle."""
    draw.circle(ax, hyperplane_directions(points.X)[:2])
    signs = np.sign(many.member(i, 0)["a"])
    draw.trajectories(ax, directions_of(many)[:, i], signs, marked(many, s))
    draw.stars(ax, points.neurons, points.signs)
    draw.legend(ax)


def draw_images(ax: Any, points: TwoPoints, many: Many, i: int, s: DescentSettings) -> None:
    """Draw (Xw)₊/‖w‖ of run i on the rectified ellipsoid."""
    draw.rectified(ax, points.image(points.U), spikes(points.X))
    signs = np.sign(many.member(i, 0)["a"])
    draw.trajectories(ax, points.image(directions_of(many)[:, i]), signs, marked(many, s))
    draw.stars(ax, points.image(points.neurons), points.signs)
    draw.legend(ax)


class Fates(NamedTuple):
    """What becomes of the neurons of all runs."""

    learned: list[tuple[tuple[int, int], np.ndarray]]
    """(run, neuron) that has a part in the output, and the optimal neuron of its sign."""
    angles: np.ndarray
    """The angles between these two: moments × their number."""
    neither: int
    """Neurons with a part in the output and no optimal neuron to go to; the others are dead."""


def fates(points: TwoPoints, many: Many, s: DescentSettings) -> Fates:
    """Which neurons learn, and how far they are from the optimal one at every moment."""
    ways, W, a = directions_of(many), many.last["W"], many.last["a"]
    weight = np.abs(a) * np.linalg.norm(W, axis=-1)
    active = (W @ points.X.T > 0).any(axis=-1)
    living = active & (weight > s.negligible * weight.sum(axis=1, keepdims=True))
    learned, neither = [], 0
    for i, k in np.argwhere(living).tolist():
        own = points.neurons[points.signs == np.sign(a[i, k])]
        if len(own):
            learned.append(((i, k), own[0]))
        neither += not len(own)
    chords = [np.linalg.norm(ways[:, i, k] - u, axis=1) for (i, k), u in learned]
    angles = 2 * np.arcsin(np.clip(np.array(chords).reshape(-1, len(many.at)).T / 2, 0, 1))
    return Fates(learned, angles, neither)


def convergence_claims(points: TwoPoints, many: Many, s: DescentSettings) -> tuple[Claim, ...]:
    """Every neuron goes to the optimal neuron of its sign, or is dead in the end."""
    ends = fates(points, many, s)
    count, angle = len(ends.learned), float(max(ends.angles[-1], default=math.inf))
    text = f"{count} neurons learn, and end at the optimal one of their sign; largest angle (rad)"
    return at_most("angle", text, angle, s.angle, "tend to converge"), neither_claim(ends)


def neither_claim(ends: Fates) -> Claim:
    """No neuron has a part in the output and no optimal neuron of its sign."""
    return at_most("neither", "Neurons that neither learn nor go blind", ends.neither, 0)


def unmoved_claim(points: TwoPoints, many: Many) -> Claim:
    """Neurons that are inactive on both points at the start stay where they are."""
    W = many.weights["W"]
    dead = (W[0] @ points.X.T < 0).all(axis=-1)
    moved = float(np.abs(W[:, dead] - W[0, dead]).max(initial=0.0))
    text = f"Certain neurons do not move: {dead.sum()} of {dead.size} are blind; largest step"
    return at_most("unmoved", text, moved, 0.0, "do not move")


def trajectory_data(points: TwoPoints, many: Many) -> dict[str, np.ndarray]:
    """The numbers behind a picture of directions."""
    return {
        "iterations": many.at,
        "directions": directions_of(many),
        "sign": np.sign(many.weights["a"][0]),
        "optimal": points.neurons,
        "optimal_sign": points.signs,
    }
