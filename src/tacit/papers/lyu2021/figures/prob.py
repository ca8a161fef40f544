"""The probabilities of Theorems 4.3 and 6.2, over random starts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tacit.data import load
from tacit.flow import initial_network
from tacit.numerics.max_margin import max_margin
from tacit.papers.lyu2021.drawing import draw_shares
from tacit.papers.lyu2021.figures import PAPER
from tacit.papers.lyu2021.figures.flows import (
    end_of_flow,
    ends_at,
    flow_setting,
    is_decided,
    not_counted,
)
from tacit.papers.lyu2021.networks import linear_network, one_neuron
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Settings, Tell, ours, paper
from tacit.reproduction.claims import at_most, probability_at_least, share_interval
from tacit.values import Dataset, Network


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


class ProbableTheorem(NamedTuple):
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
    end: Network
    """The function at the end."""


class RandomStarts(NamedTuple):
    """Random starts of networks of several widths (rows), and what became of them."""

    widths: list[int]
    bounds: np.ndarray
    """The theorem's bound for each width."""
    shares: np.ndarray
    """The share of starts that the proof asks for, among many draws."""
    asked: np.ndarray
    """Whether the proof asks for the start of each flow …"""
    told: np.ndarray
    """… whether its end was found …"""
    hits: np.ndarray
    """… and whether it is the theorem's."""


@PAPER.artefact("prob", "Theorems 4.3 and 6.2", Prob, quick={"widths": (2, 3), "runs": 2})
def prob(s: Prob, tell: Tell) -> Exhibit:
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
    decided: list[np.ndarray] = []
    for ax, theorem in zip(panels, probable_theorems(s), strict=True):
        ensemble = _ensemble(s, theorem, tell)
        if not ensemble.widths:  # Theorem 4.3 has nothing to say of one neuron
            ax.set_axis_off()
            continue
        claims += _claims(s, theorem, ensemble)
        hits, counts = ensemble.hits.sum(axis=1), np.maximum(ensemble.told.sum(axis=1), 1)
        ends = [share_interval(int(k), int(n)) for k, n in zip(hits, counts, strict=True)]
        label = f"flows that end there ({s.runs} each)"
        reached, bounds, asked = hits / counts, ensemble.bounds, ensemble.shares
        draw_shares(ax, ensemble.widths, reached, np.array(ends), label, bounds, asked)
        ax.set_title(theorem.name)
        decided.append(ensemble.told.ravel())
        data |= {f"{theorem.id}_{key}": np.array(row) for key, row in ensemble._asdict().items()}
    return Exhibit(tuple(claims), figure, data, not_counted(np.concatenate(decided)))


def probable_theorems(s: Prob) -> tuple[ProbableTheorem, ProbableTheorem]:
    """Theorem 4.3 on symmetric data and Theorem 6.2 on hinted data."""
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

    return (
        ProbableTheorem(
            id="thm4.3",
            name="Theorem 4.3, symmetric data",
            data=pairs,
            init=f"pair:{s.sigma}:1",
            least=2,
            bound=lambda m: 1 - 2 ** (1.0 - m),
            asked=both_signs,
            end=linear_network(w, s.alpha),
        ),
        ProbableTheorem(
            id="thm6.2",
            name="Theorem 6.2, hinted data",
            data=hinted,
            init=f"balanced_gaussian:{s.sigma}",
            least=1,
            bound=lambda m: 1 - 2.0**-m,
            asked=one_positive,
            end=one_neuron(hint, s.alpha),
        ),
    )


def _ensemble(s: Prob, theorem: ProbableTheorem, tell: Tell) -> RandomStarts:
    widths = [m for m in s.widths if m >= theorem.least]
    asked, told, hits = np.zeros((3, len(widths), s.runs), dtype=bool)
    shares = np.zeros(len(widths))
    for row, m in enumerate(widths):
        tell(f"{theorem.name}: {s.runs} flows of width {m}")
        setting = flow_setting(s.alpha, m, theorem.init)
        for i in range(s.runs):
            seed = 10**6 * s.seed + 1000 * m + i
            end = end_of_flow(setting, theorem.data, seed)
            start = initial_network(theorem.data, setting, seed)
            asked[row, i] = theorem.asked(start.W, start.a)
            told[row, i] = is_decided(end)
            hits[row, i] = ends_at(end, theorem.end)
        wide = replace(setting, width=m * s.draws)
        drawn = initial_network(theorem.data, wide, s.seed + 1)
        W, a = drawn.W.reshape(s.draws, m, -1), drawn.a.reshape(s.draws, m)
        shares[row] = theorem.asked(W, a).mean()
    return RandomStarts(
        widths, np.array([theorem.bound(m) for m in widths]), shares, asked, told, hits
    )


def _claims(s: Prob, theorem: ProbableTheorem, ensemble: RandomStarts) -> list[Claim]:
    """The probability, and where it comes from: each start that the proof asks for ends there."""
    name, counts = theorem.name, ensemble.told.sum(axis=1)
    missed = (ensemble.asked & ensemble.told & ~ensemble.hits).sum()
    text = f"{name}: starts that the proof asks for and that end elsewhere"
    claims = [at_most(f"{theorem.id}_missed", text, missed, 0, "none, by the proof")]
    text = f"{name}: largest difference of the share of such starts from the bound"
    off = np.abs(ensemble.shares - ensemble.bounds).max()
    claims.append(at_most(f"{theorem.id}_starts", text, off, s.off))
    if total := int(counts.sum()):
        text = f"{name}: probability, over all widths, that the flow ends where it says"
        hits, bound = int(ensemble.hits.sum()), float(ensemble.bounds @ counts / total)
        claims.append(probability_at_least(theorem.id, text, hits, total, bound))
    return claims
