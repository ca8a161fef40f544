"""A wide and a small network on a decoy set: what Figures 3 and 6 share."""

from dataclasses import dataclass

import numpy as np

from tacit.data import load
from tacit.papers.brutzkus2019.figures.intervals import share
from tacit.papers.brutzkus2019.figures.plane_networks import (
    DecoyEnds,
    draw_before_and_after,
    small_is_decoyed,
    train_decoy,
)
from tacit.papers.brutzkus2019.figures.seeds import network_seeds
from tacit.reproduction.artefact import Claim, Settings, Tell, ours, paper


@dataclass(frozen=True)
class Decoy(Settings):
    """Figure 3, and most of Figure 6."""

    k: int = paper(100, "§5")
    small_k: int = paper(2, "§5")
    c_eta: float = ours(1 / 410, "η = c_η/k; Theorem 6.3 asks for c_η ≤ 1/410")
    gamma: float = ours(8.0, "Theorem 6.3 asks for γ ≥ 8")
    sigma_share: float = ours(1.0, "§6.1: σ = c_η/(16k^{3/2}) at most; share of it")
    iterations: int = ours(100000, "Theorem 6.3 promises the end after that many")
    runs: int = ours(1000, "small networks, for the probability")
    large_runs: int = ours(100, "large networks, for the probability")


QUICK_DECOY = {"runs": 200, "large_runs": 20, "c_eta": 1 / 41}


def train_pair(s: Decoy, data: str, gamma: float, tell: Tell) -> tuple[DecoyEnds, DecoyEnds]:
    """The wide networks and the small ones."""

    def train(k: int, runs: int) -> DecoyEnds:
        tell(f"γ = {gamma:g}, k = {k}: {runs} networks")
        seeds = network_seeds(s, runs)
        return train_decoy(load(data), k, s.c_eta, gamma, s.iterations, seeds, s.sigma_share)

    return train(s.k, s.large_runs), train(s.small_k, s.runs)


def draw_and_judge(
    s: Decoy, large: DecoyEnds, small: DecoyEnds, panels: np.ndarray
) -> tuple[tuple[Claim, Claim, Claim], dict[str, np.ndarray]]:
    """The four panels that Figures 3 and 6 have in common, their claims, and the data."""
    first, shown = int(large.learned_all.argmax()), int(small.decoyed.argmax())
    draw_before_and_after(panels[:2], "ab", large.many, first, _how_it_ended(large, first))
    draw_before_and_after(panels[2:4], "cd", small.many, shown, _how_it_ended(small, shown))
    good, *above = share(int(large.learned_all.sum()), s.large_runs)
    seldom = share(int(large.decoyed.sum()), s.large_runs)
    often, *interval = share(int(small.decoyed.sum()), s.runs)
    wide = f"most networks of k = {s.k} fit all points and learn f* (99% interval above ½)"
    text = f"networks of k = {s.small_k} fit all points and miss f*, more often than those of "
    text += f"k = {s.k} ({seldom[0]:.2g}), beyond the 99% intervals"
    claims = (
        Claim("large", wide, "learns f*", good, above[0] > 0.5, (above[0], above[1])),
        Claim(
            "small", text, "does not", often, interval[0] > seldom[2], (interval[0], interval[1])
        ),
        small_is_decoyed(s.small_k, small),
    )
    arrays = {
        "large": large.many.weights["W"][:, first],
        "small": small.many.weights["W"][:, shown],
        "large_fits": large.fits,
        "large_learned": large.learned,
        "small_fits": small.fits,
        "small_learned": small.learned,
    }
    return claims, arrays


def _how_it_ended(ends: DecoyEnds, i: int) -> str:
    if not ends.fits[i]:
        return "does not fit"
    return "learned f*" if ends.learned[i] else "fits, misses f*"
