"""Appendix J: linearly separable Gaussian points, and networks trained on them."""

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.data import load
from tacit.papers.lyu2021.figures.flows import flow_setting
from tacit.reproduction.artefact import Settings, ours, paper
from tacit.training import train_many
from tacit.values import Dataset, Network

DEPARTURES = (
    '"the learning rate is raised after interpolation": ours is lr divided by the loss, throughout',
    "the SVM separates the points that the network sees, with their constant coordinate",
)


@dataclass(frozen=True)
class AppendixJ(Settings):
    """What table 1 and figure 4 share."""

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
        """Sets of n points; no two of them, of any size or seed, share a point."""
        call = f"lyu2021_appJ:n={n},d={self.d},margin={self.margin},bias={self.bias},test={test}"
        first = 10**6 * self.seed + 1000 * n
        return [load(f"{call},seed={first + i}") for i in range(runs)]

    def train(self, sets: Sequence[Dataset]) -> list[Network]:
        """A network for each set, by steps of lr/loss: the rate rises as the points are fitted."""
        setting = flow_setting(self.alpha, self.width, f"he:{self.factor}").replace(
            rule="gd", lr=self.lr, step="scaled", stop=(f"log10_loss:{self.log10_loss}",)
        )
        seeds = range(self.seed, self.seed + len(sets))
        many = train_many(list(sets), setting, self.epochs, seeds)
        return [Network(**many.member(i), alpha=self.alpha) for i in range(many.size)]
