"""Equations (128) and (130): the optimal neurons that the paper prints."""

from dataclasses import dataclass

import numpy as np

from tacit.certificates import optimum
from tacit.data import load
from tacit.papers.wang2022.figures import PAPER
from tacit.papers.wang2022.figures.two_points import EXACT, weighted_neurons
from tacit.plot import new_figure
from tacit.plot.plane import PLUS
from tacit.reproduction.artefact import Claim, Exhibit, Settings, Tell, Whose, ours
from tacit.reproduction.claims import at_most, explained, near


@dataclass(frozen=True)
class Numbers(Settings):
    tolerance: float = ours(0.005, "the paper prints two digits")


PRINTED = {
    "wang2022_f1": np.array([[0.58, -0.16], [-0.23, 0.66]]),  # (128)
    "wang2022_f2": np.array([[0.43, 0.59]]),  # (130)
}
MISPRINTS = {
    "wang2022_f1:0.58": "x₁·x₂ < 0, so the shortest v with v·x₁ ≥ 1 does not see x₂: it is "
    "x₁/‖x₁‖² = (0.5606, −0.1597), and optimal. In print or in our copy of it there is a wrong "
    "digit; 0.58 is the length of this neuron.",
    "wang2022_f2:0.43": "The shortest v with v·x₁ ≥ 1 and v·x₂ ≥ 1 meets both with equality: it is "
    "X⁻¹(1, 1) = (0.4386, 0.5881), and 0.4386 rounds to 0.44. But X has two digits only, "
    "and 1.65, 0.47, 1.35 ± 0.005 allow 0.4349: more digits of X would settle it.",
}


@PAPER.artefact("numbers", "(128) and (130), App. F", Numbers)
def numbers(s: Numbers, tell: Tell) -> Exhibit:
    """The optimal neurons of the two small data sets

    Crosses with arms as long as rounding to two digits allows are what is printed; black crosses
    are the certified solution of (14).
    """
    claims: list[Claim] = []
    data: dict[str, np.ndarray] = {}
    off = gap = 0.0
    figure, (row,) = new_figure(1, 2)
    for ax, (name, printed) in zip(row, PRINTED.items(), strict=True):
        tell(f"solving (14) on {name}")
        place, points = f"F.{name[-1]}", load(name)
        best = optimum(points)
        neurons, _ = weighted_neurons(best.network.W, best.network.a)
        # Every point has a neuron of its own where the angle is obtuse, else they share one.
        closed = points.X / (points.X**2).sum(axis=1)[:, None]
        if len(printed) == 1:
            closed = np.linalg.solve(points.X, np.ones(2))[None]
        away = float(np.abs(neurons - closed).max())
        off, gap = max(off, away), max(gap, best.gap)
        for k, c in np.ndindex(printed.shape):
            id, text = f"{name}:{printed[k, c]:g}", f"{place}: entry {c + 1} of neuron {k + 1}"
            claim = near(id, text, float(neurons[k, c]), float(printed[k, c]), s.tolerance)
            known = id in MISPRINTS and away <= EXACT
            whose = Whose.OPEN if id == "wang2022_f2:0.43" else Whose.PAPER
            claims.append(explained(claim, MISPRINTS.get(id, ""), whose, known))
        data |= {f"{name}_ours": neurons, f"{name}_printed": printed}
        ax.errorbar(*printed.T, s.tolerance, s.tolerance, "s", c=PLUS, mfc="none", label="printed")
        ax.plot(*neurons.T, "x", c="black", ms=9, label="ours, certified")
        for neuron in neurons:
            words = f"({neuron[0]:.4f}, {neuron[1]:.4f})"
            ax.annotate(words, neuron, (0, 12), textcoords="offset points", ha="center", size=8)
        ax.set(title=f"App. {place}: optimal neurons", xlabel="u₁", ylabel="u₂")
        ax.margins(0.35)
        ax.legend(loc="upper right", fontsize=8)
    text = "All neurons have their closed form; largest difference of an entry"
    claims.append(at_most("closed", text, off, EXACT))
    claims.append(at_most("gap", "Both optima are certified; larger relative gap", gap, EXACT))
    return Exhibit(tuple(claims), figure, data)
