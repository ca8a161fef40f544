"""Figure 5: two neurons with Leaky ReLU decide linearly, with ReLU they do not."""

import numpy as np

from tacit.measures.plane import TURNS, bend, circle
from tacit.papers.sarussi2021.drawing import arrow, regions
from tacit.papers.sarussi2021.figures import PAPER
from tacit.papers.sarussi2021.figures.angles import angle
from tacit.papers.sarussi2021.figures.two_neurons import TwoNeurons, two_neurons
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell
from tacit.reproduction.claims import at_least, near


@PAPER.artefact("fig5", "Figure 5, App. D.1", TwoNeurons)
def fig5(s: TwoNeurons, tell: Tell) -> Exhibit:
    """Two neurons with Leaky ReLU decide linearly, with ReLU they do not.

    With ReLU the output is 0 (grey) wherever both neurons are silent. Whichever label is given to
    that quarter, the boundary is not a line: it bends by the 45 degrees that are left over.
    """
    x, w, u = circle(), np.array(s.w), np.array(s.u)
    figure, axes = new_figure(1, 2, size=(8.6, 4.4))
    networks = {"Leaky ReLU": two_neurons(s, s.alpha), "ReLU": two_neurons(s, 0.0)}
    for ax, (name, network) in zip(axes[0], networks.items(), strict=True):
        regions(ax, network.outputs, 1.5, zero=name == "ReLU")
        arrow(ax, w, "black", "w")
        arrow(ax, u, "0.45", "u")
        ax.set_title(f"{name}: sign of the output")
        ax.legend(fontsize=8, loc="lower left")
    leaky, relu = (network.outputs(x) for network in networks.values())
    # Both are silent on the cone −C with C = {w·x > 0, u·x > 0}, whose angle is π − ∠(w, u).
    silent = 0.5 - np.degrees(angle(w, u)) / 360
    bends = [bend(np.where(relu == 0, label, np.sign(relu))) for label in (1, -1)]
    zero, bent = float((relu == 0).mean()), "bend of the boundary in degrees"
    text = f"ReLU, the better label of 0: {bent}"
    claims = (
        near("leaky", f"Leaky ReLU: {bent}", bend(np.sign(leaky)), 0.0, 360 / TURNS, "linear"),
        near("zero", "ReLU: share of directions with output 0", zero, silent, 2 / TURNS, "grey"),
        at_least("relu", text, min(bends), 1.0, "bent"),
    )
    return Exhibit(claims, figure, {"leaky": leaky, "relu": relu})
