"""lyu2021, Gradient descent on two-layer nets: margin maximization and simplicity bias.

Everywhere f(x) = Σ a_k φ(w_k·x), φ(z) = max(z, αz), both layers are trained on the mean logistic
loss, and margins are q_min/‖θ‖². Where a figure speaks of convergence, gradient flow is followed to
losses that no descent reaches.
"""

from tacit.reproduction.artefact import Paper

PAPER = Paper(
    "lyu2021", fig1="fig1", fig2="fig2", fig3="fig3", table1="table1", fig4="fig4", prob="prob"
)
