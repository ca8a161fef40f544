"""The probability of Theorem 1: how often networks die."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.data import load
from tacit.flow.follow import follow
from tacit.papers.phuong2021 import drawing as draw
from tacit.papers.phuong2021.figures import PAPER
from tacit.plot import new_figure
from tacit.plot.plane import MINUS, PLUS
from tacit.reproduction.artefact import Exhibit, Settings, Tell, ours, paper
from tacit.reproduction.claims import (
    NOT_STATED,
    near,
    probability_at_least,
    probability_is,
    share_interval,
)
from tacit.training import Many, train_many
from tacit.values import Dataset, Setting


@dataclass(frozen=True)
class Prob(Settings):
    n: int = paper(500, "§5.1, the data of Fig. 1")
    d: int = paper(20, "§5.1, the data of Fig. 1")
    widths: tuple[int, ...] = ours((1, 2, 4, 8), "the theorem is about every p; 2^(−p) can be seen")
    init: str = ours("balanced:1e-4", "§2: balanced and near zero")
    lr: float = ours(0.02, "no neuron turns by more than a degree or two in a step")
    epochs: int = ours(2500, "the weights have grown from 1e-4 to 1 by then")
    inits: int = ours(1000, "networks of each width on the pair of points")
    inits_fig1: int = ours(200, "networks of each width on the data of Fig. 1")
    flows: int = ours(10, "networks of each width whose gradient flow is followed exactly as well")


@PAPER.artefact(
    "prob",
    "Theorem 1, probability 1 − 1/2^p",
    Prob,
    quick={"inits": 200, "n": 200, "inits_fig1": 20, "flows": 1},
)
def prob(s: Prob, tell: Tell) -> Exhibit:
    """How often a network dies, and how often neurons of both signs survive.

    Theorem 1 holds with probability 1 − 2^(−p): then at least one of the p neurons survives. A
    neuron survives when it sees a point of the class of its sign, for it never loses sight of it
    (Lemma B.1). On the pair of points e₁ (+) and e₂ (−) every neuron dies with probability ½, so
    the bound is met exactly: 2^(−p) of the networks die. On the data of Fig. 1 a neuron sees some
    of the many points of its class or is soon turned towards them, so that a network fits both
    classes unless all of its output weights have one sign, which has the probability 2^(1−p).

    Left: the share of networks that die; right: of those in which neurons of both signs survive,
    without which one class is never fitted. Bars are 99% intervals.
    """
    pair = Dataset(np.eye(2), np.array([1, -1]))
    fig1 = load(f"orthogonal:n={s.n},d={s.d},seed={s.seed}")
    ensembles = (
        MortalNetworks("pair", "the pair", pair, s.inits, "1 − 2(3/4)^p + 2^(−p)", _both_on_pair),
        MortalNetworks(
            "fig1", "the data of Fig. 1", fig1, s.inits_fig1, "1 − 2^(1−p)", _both_on_fig1
        ),
    )
    data: dict[str, np.ndarray] = {"widths": np.array(s.widths)}
    agree = []
    for one in ensembles:
        alive = []
        for p in s.widths:
            tell(f"{one.inits} networks of width {p} on {one.words}")
            first = one.inits * (s.seed * sum(s.widths) + p)
            setting = Setting(width=p, init=s.init, rule="gd", lr=s.lr)
            seeds = range(first, first + one.inits)
            many = train_many(one.data, setting, s.epochs, seeds, at=[0])
            alive.append(signs_alive(many.last["W"], many.last["a"], one.data))
            if one.name == "pair":
                agree += [_flow_agrees(many, i, one.data, alive[-1][i]) for i in range(s.flows)]
        counts = [[signs.any(axis=1).sum(), signs.all(axis=1).sum()] for signs in alive]
        data |= {f"alive_{one.name}": np.array(counts), f"inits_{one.name}": np.array(one.inits)}
    claims = []
    for p, (survive, _) in zip(s.widths, data["alive_pair"].tolist(), strict=True):
        words = f"on the pair, some neuron of a network of width {p} survives (probability)"
        claims.append(probability_at_least(f"pair-{p}", words, survive, s.inits, 1 - 2.0**-p))
    words = "on the data of Fig. 1, some neuron survives (all widths together)"
    lived, total = int(data["alive_fig1"][:, 0].sum()), s.inits_fig1 * len(s.widths)
    bound = 1 - float(np.mean(2.0 ** -np.array(s.widths)))
    claims.append(probability_at_least("fig1", words, lived, total, bound))
    k = next((k for k, p in enumerate(s.widths) if p > 1), 0)
    for one in ensembles:
        words = f"on {one.words}, neurons of both signs survive, width {s.widths[k]} (probability)"
        both = int(data[f"alive_{one.name}"][k, 1])
        expected = one.both(s.widths[k])
        claims.append(
            probability_is(f"both-{one.name}", words, both, one.inits, expected, NOT_STATED)
        )
    if agree:
        words = "gradient flow and small steps leave the same signs alive (share of networks)"
        claims.append(near("flow", words, float(np.mean(agree)), 1.0, 0.0, NOT_STATED))
    figure, ((left, right),) = new_figure(1, 2)
    _draw_shares(left, right, s.widths, ensembles, data)
    return Exhibit(tuple(claims), figure, data)


def _both_on_pair(p: float) -> float:
    """The probability that neurons of both signs survive; each neuron does with ½."""
    return float(1 - 2 * 0.75**p + 0.5**p)


def _both_on_fig1(p: float) -> float:
    """The probability that there are neurons of both signs."""
    return float(1 - 2.0 ** (1 - p))


class MortalNetworks(NamedTuple):
    """Networks of random initial weights on one data set, any of which may die."""

    name: str
    words: str
    """What the data is called in sentences."""
    data: Dataset
    inits: int
    """The number of networks of each width."""
    formula: str
    both: Callable[[float], float]
    """The probability `formula` that neurons of both signs survive, as a function of the width."""


def signs_alive(W: np.ndarray, a: np.ndarray, data: Dataset) -> np.ndarray:
    """… × 2 flags: some neuron with a > 0 (with a < 0) is active on a point of its class.

    By Lemma B.1 it then survives.
    """
    sees = (np.matmul(W, data.X.T) > 0) & (a[..., None] * data.y > 0)
    alive = sees.any(axis=-1)
    return np.stack([(alive & (a * sign > 0)).any(axis=-1) for sign in (1, -1)], axis=-1)


def _flow_agrees(many: Many, i: int, data: Dataset, alive: np.ndarray) -> bool:
    """Gradient flow from the same weights leaves the same signs alive."""
    start = many.member(i, 0)
    path = follow(data.X, data.y, 0.0, start["W"], start["a"], log_L_end=-7.0)
    state = path.last.state
    return bool((signs_alive(state.W, state.a, data) == alive).all())


def _draw_shares(
    left: Any,
    right: Any,
    widths: Sequence[int],
    ensembles: Sequence[MortalNetworks],
    data: dict[str, np.ndarray],
) -> None:
    """Draw the shares of networks that die, and of those in which both signs survive."""
    p = np.linspace(min(widths), max(widths), 200)
    left.plot(p, 2.0**-p, c="black", lw=1, label="2^(−p), the bound of Theorem 1")
    for one, colour, shift in zip(ensembles, (PLUS, MINUS), (-1, 1), strict=True):
        survive, both = data[f"alive_{one.name}"].T
        at = np.array(widths) * (1 + 0.015 * shift)  # beside each other
        label = f"{one.words}, {one.inits} networks each"
        for ax, counts in ((left, one.inits - survive), (right, both)):
            ends = np.array([share_interval(int(k), one.inits) for k in counts])
            draw.shares(ax, at, counts / one.inits, ends, colour, label)
        right.plot(p, [one.both(x) for x in p], c=colour, lw=1, label=one.formula)
    draw.survival_axes(left, right, widths)
