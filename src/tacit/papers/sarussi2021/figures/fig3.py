"""Figure 3: the boundary of two neurons is linear, their output is not."""

from dataclasses import dataclass

import numpy as np

from tacit.measures.plane import TURNS, bend, circle
from tacit.papers.sarussi2021.drawing import levels, regions
from tacit.papers.sarussi2021.figures import PAPER
from tacit.papers.sarussi2021.figures.two_neurons import TwoNeurons, two_neurons
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell, ours
from tacit.reproduction.claims import at_least, near


@dataclass(frozen=True)
class Fig3(TwoNeurons):
    w: tuple[float, ...] = ours((1.0, 0.0), "as in Fig. 5; Fig. 3 does not give its neurons")
    u: tuple[float, ...] = ours((0.0, 1.0), "as in Fig. 5; Fig. 3 does not give its neurons")


@PAPER.artefact("fig3", "Figure 3, §5.1", Fig3)
def fig3(s: Fig3, tell: Tell) -> Exhibit:
    """Two neurons: the boundary is linear, the output is not.

    On the left the sign of N(x) = σ(w·x) − σ(u·x), on the right its value. A linear function has
    N(x) + N(−x) = 0; here the sum is (1−α)(|w·x| − |u·x|), which is 0 only where the two agree.
    """
    N, x = two_neurons(s, s.alpha).outputs, circle()
    figure, ((left, right),) = new_figure(1, 2, size=(10.0, 4.2))
    regions(left, N, 1.5)
    left.legend(fontsize=8, loc="upper right")
    left.set_title("sign of the output")
    figure.colorbar(levels(right, N, 1.5), ax=right, label="N(x)")
    right.set_title("output N(x), with its level lines")
    linear = np.linalg.lstsq(x, N(x), rcond=None)[0]
    missed = float(np.linalg.norm(N(x) - x @ linear) / np.linalg.norm(N(x)))
    bent, text = "bend of the boundary in degrees", "part of N that no linear function has"
    claims = (
        near("linear", bent, bend(np.sign(N(x))), 0.0, 360 / TURNS, "linear"),
        at_least("nonlinear", text, missed, 0.1, "some"),
    )
    return Exhibit(claims, figure, {"x": x, "output": N(x)})
