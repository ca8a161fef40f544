"""The three data sets of figures 1 and 2, each with a linear and a bent classifier."""

from dataclasses import dataclass

from tacit.certificates import Optimum, optimum
from tacit.data import load
from tacit.models import Leaky
from tacit.numerics.max_margin import max_margin
from tacit.papers.lyu2021.drawing import Window
from tacit.papers.lyu2021.networks import linear_network, one_neuron
from tacit.papers.lyu2021.scaled_margin import scaled_margin
from tacit.papers.lyu2021.statements.left_example import printed_network
from tacit.values import Dataset, Network, Setting


@dataclass(frozen=True, eq=False)
class ExampleSet:
    """One set of figure 1: the linear classifier, the other one, and the best of all networks."""

    name: str
    kind: str
    """What makes it special."""
    data: Dataset
    linear: Network
    bent: Network
    kkt: Network
    """The one of the two that is a KKT point and not the best."""
    best: Optimum
    window: Window
    hints: int = 0
    """How many of the first points are hints."""

    @property
    def title(self) -> str:
        """The name and kind of the data set, with the plane that is drawn."""
        return f"{self.name}: {self.kind}{' (on z = c)' if self.data.d > 2 else ''}"

    @property
    def far_hint(self) -> float | None:
        """The first coordinate of the hint (H, 0), which lies far outside the window."""
        return self.data.parameters["H"] if self.hints else None


def example_sets(alpha: float) -> list[ExampleSet]:
    """The left, middle and right set."""
    left, leaky = load(f"lyu2021_left:alpha={alpha}"), Setting(activation=Leaky(alpha))
    linear = linear_network(max_margin(left.y[:, None] * left.X).direction, alpha)
    printed, high = printed_network(alpha), 1.5 * float(left.X[:, 1].max())
    bent, window = Network(printed.W, printed.a, alpha), (-2.0, 2.0, -high, high)
    kind = "symmetric data"
    sets = [ExampleSet("left", kind, left, linear, bent, bent, optimum(left, leaky), window)]
    middle, right = load("lyu2021_middle"), load(f"lyu2021_right:alpha={alpha}")
    for name, kind, data, window, hints in (
        ("middle", "a principal direction", middle, (-6.0, 10.0, -2.2, 2.2), 0),
        ("right", "three hints", right, (-2.2, 3.2, -2.7, 2.7), 3),
    ):
        linear = one_neuron(scaled_margin(data.X, data.y, alpha, 1).direction, alpha)
        best = optimum(data, leaky)
        bent = best.network
        sets.append(ExampleSet(name, kind, data, linear, bent, linear, best, window, hints))
    return sets
