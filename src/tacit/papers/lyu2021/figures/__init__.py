"""lyu2021, Gradient descent on two-layer nets: margin maximization and simplicity bias.

Everywhere f(x) = Σ a_k φ(w_k·x), φ(z) = max(z, αz), both layers are trained on the mean logistic
loss, and margins are q_min/‖θ‖². Where a figure speaks of convergence, gradient flow is followed to
losses that no descent reaches.
"""

# Artefacts register in the order of these imports, which is that of the paper.
# isort: off
from tacit.papers.lyu2021.figures.paper import PAPER
from tacit.papers.lyu2021.figures import fig1, fig2, fig3, table1, fig4, prob

__all__ = ["PAPER", "fig1", "fig2", "fig3", "table1", "fig4", "prob"]
